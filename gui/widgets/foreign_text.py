"""Foreign text shown as text, wherever Qt would take what looks like HTML for HTML; harmless Markdown."""

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QUrl
from PySide6.QtGui import QPainter, QPaintEvent, QTextCharFormat, QTextCursor, QTextDocument, QTextFormat
from PySide6.QtWidgets import QLabel, QWidget

from engine.core.formatting import visible
from gui.widgets.labels import describe, label, longest_line

READABLE = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
# A tool tip cannot be scrolled: a response of many pages would cover the screen.
_LONGEST_TIP = 1500
_LONGEST_LINE = 240


def plain_label(text: str = "", role: str = "") -> QLabel:
    """A label that shows any text as it is, and lets it be selected."""
    made = label(text, role)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def tip(text: str) -> str:
    """A text as a tool tip: never read as HTML, cut where it is very long."""
    # The module html takes 10 ms to import, which the first picture of the window would wait for.
    escaped = _said(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<p style="white-space: pre-wrap">{escaped}</p>' if text else ""


def set_tip(widget: QWidget, text: str) -> None:
    """A widget's tool tip, and what a reader of the screen is told: Qt would take its markup."""
    widget.setToolTip(tip(text))
    describe(widget, _said(text))


def _said(text: str) -> str:
    return visible(text if len(text) <= _LONGEST_TIP else f"{text[:_LONGEST_TIP]}…")


def one_line(text: str) -> str:
    """The beginning of a text on one line, for a cell of a table."""
    # Cut first: a cell may hold millions of characters, and tables ask for it at every repaint.
    cut = text[: _LONGEST_LINE + 1]
    line = " ".join(visible(cut).split())
    return f"{line[:_LONGEST_LINE]}…" if len(text) > _LONGEST_LINE else line


class OneLine(QLabel):
    """One line that never asks for more room: its middle (`end`: its end) is left out, and in its tip."""

    def __init__(self, text: str = "", role: str = "hint", end: bool = False) -> None:
        super().__init__()
        self._elided = Qt.TextElideMode.ElideRight if end else Qt.TextElideMode.ElideMiddle
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._tip = ""
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def setText(self, text: str) -> None:
        own = self.toolTip() != self._tip
        self._tip = tip(text)
        super().setText(" ".join(visible(text).split()))
        if not own:
            set_tip(self, text)

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(min(hint.width(), longest_line(self)), hint.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 6, super().minimumSizeHint().height())

    def event(self, event: QEvent) -> bool:
        # Looked at first: events come before all of it is made. What is seen whole is in no tool tip.
        asked = event.type() == QEvent.Type.ToolTip
        if asked and self.toolTip() == self._tip and self._fitting() == self.text():
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        place = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.drawText(self.rect(), place, self._fitting())
        painter.end()

    def _fitting(self) -> str:
        return self.fontMetrics().elidedText(self.text(), self._elided, self.width())


def markdown_document(text: str, parent: QObject | None = None) -> QTextDocument:
    """Markdown rendered without HTML, links that lead anywhere, or images; nothing is loaded."""
    document = _DeafDocument(parent)
    document.setUndoRedoEnabled(False)
    feature = QTextDocument.MarkdownFeature
    features = feature.MarkdownDialectGitHub | feature.MarkdownNoHTML
    # Lines between two --- at the very beginning would be taken for properties, and not shown.
    document.setMarkdown(f"\n{visible(text)}", features)
    _disarm(document)
    return document


class _DeafDocument(QTextDocument):
    def loadResource(self, _kind: int, _name: QUrl | str) -> Any:
        return None


@dataclass(frozen=True)
class _Piece:
    start: int
    length: int
    text: str
    style: QTextCharFormat


def _disarm(document: QTextDocument) -> None:
    """Show links and images as text, and what Markdown's own spelling of characters (`&#x202e;`) hid."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    pieces = _pieces(document)
    # From the end on: what is written here moves the places behind it.
    for place in range(len(pieces) - 1, -1, -1):
        piece = pieces[place]
        cursor.setPosition(piece.start)
        cursor.setPosition(piece.start + piece.length, QTextCursor.MoveMode.KeepAnchor)
        shown, style = _harmless(piece), piece.style
        if style.isAnchor() and not (place + 1 < len(pieces) and _same_link(piece, pieces[place + 1])):
            target = visible(style.anchorHref())
            shown = shown if shown == target else f"{shown} ({target})"
        if shown != piece.text or style.isAnchor():
            cursor.insertText(shown, _unlinked(style))
    cursor.endEditBlock()


def _pieces(document: QTextDocument) -> list[_Piece]:
    found = []
    block = document.begin()
    while block.isValid():
        fragments = block.begin()
        while not fragments.atEnd():
            if (part := fragments.fragment()).isValid():
                found.append(_Piece(part.position(), part.length(), part.text(), part.charFormat()))
            fragments += 1
        block = block.next()
    return found


def _harmless(piece: _Piece) -> str:
    """What is shown for a piece: an image as its description and address."""
    if not piece.style.isImageFormat():
        return visible(piece.text)
    alternative = piece.style.stringProperty(QTextFormat.Property.ImageAltText)
    address = piece.style.toImageFormat().name()
    said = f"{alternative} ({address})" if alternative else address
    return visible(f"[image: {said}]") * piece.length  # one for each of several that are alike


def _same_link(piece: _Piece, after: _Piece) -> bool:
    follows = piece.start + piece.length == after.start
    return follows and after.style.isAnchor() and after.style.anchorHref() == piece.style.anchorHref()


def _unlinked(style: QTextCharFormat) -> QTextCharFormat:
    plain = QTextCharFormat() if style.isImageFormat() else QTextCharFormat(style)
    if style.isAnchor():
        plain.setAnchor(False)
        plain.setAnchorHref("")
        plain.clearForeground()
        plain.setFontUnderline(False)
    return plain
