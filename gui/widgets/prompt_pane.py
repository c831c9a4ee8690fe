"""The text that a model is shown, in colours of whose it is, below a legend of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QToolTip, QWidget

from engine.core.prompt_text import PlacedToken, Preview, Source
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import READABLE, tip
from gui.widgets.labels import STRETCH, in_column, in_row, name
from gui.widgets.theme import Colours, colours

VERDICT_HERE = "the verdict is read here"
_MOST_IN_TIP = 8  # tokens of one character
_WORDS = {
    Source.CONTROL: "control token",
    Source.TEMPLATE: "chat template",
    Source.OWN: "Tiebreak's words",
    Source.INSTRUCTION: "instruction",
    Source.RESPONSE_A: "response A",
    Source.RESPONSE_B: "response B",
    Source.CONTEXT: "context",
    Source.REFERENCE: "reference answer",
    Source.EXPLANATION: "explanation of an example",
    Source.THOUGHT: "the model's reasoning",
    Source.FOREIGN: "other text",
}
_Line = QtGui.QTextCharFormat.UnderlineStyle
# The ground; the line below, for those who do not tell the grounds apart, also as style sheets call it.
_LOOKS = {
    Source.INSTRUCTION: ("label_both_good", _Line.DashUnderline, "dashed"),
    Source.RESPONSE_A: ("label_a", _Line.SingleUnderline, "solid"),
    Source.RESPONSE_B: ("label_b", _Line.DotLine, "dotted"),
    Source.EXPLANATION: ("label_both_bad", _Line.DashDotLine, "dot-dash"),
}
_OTHER = ("unscored", _Line.DashDotDotLine, "dot-dot-dash")
_STRENGTH = {False: 46, True: 70}  # of the ground of foreign text, of 255; by whether the theme is dark


@dataclass(frozen=True)
class ShownPrompt(Preview):
    """Places are as Qt counts them. `as_read`: the text as the model gets it. `then`: what happens at its
    end.
    """

    as_read: str
    then: str = VERDICT_HERE


class PromptPane(QPlainTextEdit):
    """Tokens are drawn between its letters, and only those in sight, so that the text stays what it is."""

    token_changed = Signal(str)  # in words, the token at the text cursor

    def __init__(self) -> None:
        super().__init__(readOnly=True, undoRedoEnabled=False, tabChangesFocus=True)
        self.prompt: ShownPrompt | None = None
        self._starts: Sequence[int] = ()
        self._tokens_shown = False
        self.setAcceptDrops(False)
        self.setWordWrapMode(QtGui.QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(READABLE)
        self.document().setDocumentMargin(10)
        name(self, "Prompt of the model")
        self.cursorPositionChanged.connect(self._tell_token)

    def show_prompt(self, prompt: ShownPrompt | None, keep_place: bool = False) -> None:
        place = self.verticalScrollBar().value() if keep_place else 0
        self.prompt = prompt
        self._starts = [token.start for token in prompt.tokens] if prompt else ()
        self._write()
        self.moveCursor(QtGui.QTextCursor.MoveOperation.Start)
        self.verticalScrollBar().setValue(place)
        self._tell_token()

    def show_tokens(self, shown: bool) -> None:
        self._tokens_shown = shown
        self.viewport().update()

    def show_place(self, place: int) -> None:
        cursor = self.textCursor()
        cursor.setPosition(max(0, min(place, self.document().characterCount() - 1)))
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def show_verdict(self) -> None:
        self.moveCursor(QtGui.QTextCursor.MoveOperation.End)
        self.ensureCursorVisible()

    def tokens_at(self, place: int) -> Sequence[PlacedToken]:
        """The tokens of a character: several, where a tokenizer cuts it."""
        if self.prompt is None:
            return ()
        tokens = self.prompt.tokens
        last = bisect_right(self._starts, place)
        first = last
        # Those before may reach into it: a character of several tokens begins them all.
        while first and (tokens[first - 1].end > place or tokens[first - 1].start == place):
            first -= 1
        return tokens[first:last]

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "prompt"):
            self.show_prompt(self.prompt, keep_place=True)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QtGui.QHelpEvent):
            tokens = self.tokens_at(self._character_at(event.pos()))
            QToolTip.showText(event.globalPos(), tip(_in_words(tokens)), self.viewport())
            return True
        return bool(super().viewportEvent(event))

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        super().paintEvent(event)
        if self.prompt is None:
            return
        painter = QtGui.QPainter(self.viewport())
        used = colours(self.palette())
        if self._tokens_shown:
            painter.setPen(QtGui.QColor(used.accent))
            painter.setOpacity(0.5)
            for place in self._boundaries(event.rect().top(), event.rect().bottom()):
                painter.drawLine(place, place + QPointF(0, self.fontMetrics().height() - 1))
            painter.setOpacity(1)
        self._draw_verdict(painter, used)
        painter.end()

    # Writing

    def _write(self) -> None:
        document = self.document()
        document.clear()
        if self.prompt is None:
            return
        cursor = QtGui.QTextCursor(document)
        cursor.beginEditBlock()
        units = self.prompt.text.encode("utf-16-le")  # Qt counts these
        for span in self.prompt.spans:
            text = units[2 * span.start : 2 * span.end].decode("utf-16-le")
            cursor.insertText(text, _format(span.source, colours(self.palette())))
        cursor.endEditBlock()

    # Tokens

    def _tell_token(self) -> None:
        tokens = self.tokens_at(self.textCursor().position())
        self.token_changed.emit(_in_words(tokens).replace("\n", ";  "))

    def _character_at(self, place: QPoint) -> int:
        cursor = self.cursorForPosition(place)
        # The cursor is set beside the nearest edge of a letter, which may be its end.
        before = place.x() < self.cursorRect(cursor).left()
        return max(0, cursor.position() - before)

    def _boundaries(self, top: int, bottom: int) -> Iterator[QPointF]:
        for block, line, origin in self._lines(top, bottom):
            start = block.position() + line.textStart()
            first = bisect_left(self._starts, start)
            after = bisect_left(self._starts, start + line.textLength())
            for token in range(max(first, 1), after):
                place = self._starts[token] - block.position()
                left, _place = cast(tuple[float, int], line.cursorToX(place))
                yield origin + QPointF(left, line.y())

    def _lines(self, top: int, bottom: int) -> Iterator[tuple[QtGui.QTextBlock, QtGui.QTextLine, QPointF]]:
        block = self.firstVisibleBlock()
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if place.top() > bottom:
                return
            layout = block.layout()
            for number in range(layout.lineCount()):
                line = layout.lineAt(number)
                above = place.top() + line.y()
                if above > bottom:
                    return
                if above + line.height() >= top:
                    yield block, line, place.topLeft()
            block = block.next()

    # The verdict

    def _draw_verdict(self, painter: QtGui.QPainter, used: Colours) -> None:
        end = QtGui.QTextCursor(self.document())
        end.movePosition(QtGui.QTextCursor.MoveOperation.End)
        place = self.cursorRect(end)
        if not self.viewport().rect().intersects(place):
            return
        bar = QRectF(place.left() + 2, place.top(), 3, place.height())
        painter.fillRect(bar, QtGui.QColor(used.accent))
        font = QtGui.QFont(self.font())
        font.setWeight(QtGui.QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(QtGui.QColor(used.accent))
        text = f"◀ {self.prompt.then if self.prompt else VERDICT_HERE}"
        width = painter.fontMetrics().horizontalAdvance(text)
        room = self.viewport().width() - bar.right() - 6
        where = QRectF(bar.right() + 5, place.top(), width + 4, place.height())
        if width > room:  # there is nothing below the last line
            where.moveTo(max(0.0, self.viewport().width() - width - 6), place.bottom() + 1)
            if where.bottom() > self.viewport().height():  # nor any room: the bar alone
                return
        painter.drawText(where, int(Qt.AlignmentFlag.AlignVCenter), text)


class InkLegend(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._samples = FlowLayout(on=self, gap=8)

    def show_prompt(self, prompt: ShownPrompt | None) -> None:
        used = {span.source for span in prompt.spans} if prompt else set()
        samples = self.findChildren(InkSample)
        if {sample.source for sample in samples} == used:
            return
        for sample in samples:
            self._samples.removeWidget(sample)
            sample.setParent(None)
            sample.deleteLater()
        for source in Source:
            if source in used:
                self._samples.addWidget(InkSample(source))


class InkSample(QWidget):
    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self._label = QLabel(_WORDS[source], textFormat=Qt.TextFormat.PlainText)
        in_row(self._label, on=self)
        self._restyle()

    @property
    def text(self) -> str:
        return self._label.text()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_label"):
            self._restyle()

    def _restyle(self) -> None:
        used = colours(self.palette())
        style = _format(self.source, used)
        ground = style.background().color().name(QtGui.QColor.NameFormat.HexArgb)
        marked = style.background().style() is not Qt.BrushStyle.NoBrush
        colour, _, kind = _LOOKS.get(self.source, _OTHER)
        line = f"2px {kind} {getattr(used, colour)}" if marked else "0"
        self._label.setStyleSheet(
            f"color: {style.foreground().color().name()};"
            f" background: {ground if marked else 'transparent'};"
            f" font-style: {'italic' if style.fontItalic() else 'normal'};"
            f" border-bottom: {line};"
            f" font-weight: {600 if self.source is Source.CONTROL else 400};"
            " padding: 1px 6px; border-radius: 3px;"
        )


class PromptView(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.legend, self.pane = InkLegend(), PromptPane()
        in_column(self.legend, (self.pane, STRETCH), on=self)

    @property
    def prompt(self) -> ShownPrompt | None:
        return self.pane.prompt

    def show_prompt(self, prompt: ShownPrompt | None) -> None:
        """Show a prompt, scrolled to where the last one was, the first to its beginning."""
        self.pane.show_prompt(prompt, keep_place=self.prompt is not None)
        self.legend.show_prompt(prompt)


def _format(source: Source, used: Colours) -> QtGui.QTextCharFormat:
    style, marked = QtGui.QTextCharFormat(), source in (Source.CONTROL, Source.TEMPLATE)
    style.setForeground(QtGui.QColor(used.accent if marked else used.text))
    if source is Source.CONTROL:
        style.setFontWeight(QtGui.QFont.Weight.DemiBold)
    style.setFontItalic(source is Source.TEMPLATE)
    if not marked and source is not Source.OWN:
        colour, line, _ = _LOOKS.get(source, _OTHER)
        ground = QtGui.QColor(getattr(used, colour))
        style.setUnderlineStyle(line)
        style.setUnderlineColor(ground)
        ground.setAlpha(_STRENGTH[QtGui.QColor(used.field).lightness() < 128])
        style.setBackground(ground)
    return style


def _in_words(tokens: Sequence[PlacedToken]) -> str:
    lines = [
        f"{token.piece}   id {token.id:,}   {' and '.join(_WORDS[source] for source in token.sources)}"
        for token in tokens[:_MOST_IN_TIP]
    ]
    if len(tokens) > _MOST_IN_TIP:
        lines.append(f"and {len(tokens) - _MOST_IN_TIP:,} more")
    return "\n".join(lines)
