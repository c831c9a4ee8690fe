"""Sheets, filled anew in place; one foreign text to read, plain or as Markdown: nothing in it is loaded."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QUrl, Signal
from PySide6.QtGui import QResizeEvent, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QFrame, QTextBrowser, QTextEdit, QWidget

from engine.core.formatting import visible
from engine.core.items import Preference
from engine.core.tables import Section, Sentences, Sheet, Table, Tone
from gui.widgets import labels
from gui.widgets.foreign_text import READABLE, OneLine, markdown_document
from gui.widgets.glossary import Topic, beside_help
from gui.widgets.label_mark import LabelSquare, Pill
from gui.widgets.labels import STRETCH, button, heading, hint, in_column, in_row, label, name, set_role
from gui.widgets.views import TableModel, measure_view

CUT_AFTER = 20_000  # characters: more takes long to lay out


class TextBrowser(QTextBrowser):
    def __init__(self) -> None:
        super().__init__(openLinks=False, openExternalLinks=False)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(READABLE)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = max(0, self.width() - labels.longest_line(self))
        if room != self.viewportMargins().right():
            self.setViewportMargins(0, 0, room, 0)

    def loadResource(self, _kind: int, _name: QUrl | str) -> Any:
        return None


class TextPane(QWidget):
    """A heading, if there is a `title`, and a text to copy. `line_height`: percent of the font's."""

    changed = Signal()  # another text is shown, or the same in another way

    def __init__(
        self,
        title: str,
        mark: Preference | None = None,
        parent: QWidget | None = None,
        line_height: int = 100,
    ) -> None:
        super().__init__(parent)
        self._line_height, self._titled = line_height, bool(title)
        self._text = ""
        self._markdown = False
        self._whole = False
        self._document: QTextDocument | None = None
        self._note = OneLine(end=True)
        self.pill = Pill()
        self.pill.hide()
        self.view = TextBrowser()
        name(self.view, title)
        self._more = button("Show the whole text", self._show_whole, f"{title}: show the whole text")
        head = in_row(spacing=8)
        if mark is not None:
            head.addWidget(LabelSquare(mark))
        for widget in (heading(title), self._note, self.pill):
            head.addWidget(widget)
            if not title:
                widget.hide()
        head.addStretch(1)
        self._head = head
        in_column(head, (self.view, STRETCH), self._more, on=self, spacing=4)
        self._render()

    def put_beside(self, widget: QWidget) -> None:
        self._head.setStretch(self._head.count() - 1, 0)
        self._head.addWidget(widget, 1)

    @property
    def text(self) -> str:
        return self.view.toPlainText()

    def show_text(self, text: str, note: str = "") -> None:
        self._text, self._whole = text, False
        self.say(note)
        self._render()
        self.view.verticalScrollBar().setValue(0)

    def say(self, note: str) -> None:
        self._note.setText(note)

    @property
    def note(self) -> str:
        return self._note.text()

    def set_markdown(self, on: bool) -> None:
        if on != self._markdown:
            self._markdown = on
            self._render()

    def mark(self, *marks: tuple[Sequence[tuple[int, int]], QTextCharFormat]) -> None:
        """Show stretches of the text, as it is shown, in styles; the last is above the others."""
        selections = []
        length = self.view.document().characterCount() - 1
        for spans, style in marks:
            for start, end in spans:
                selection = QTextEdit.ExtraSelection()
                cursor = QTextCursor(self.view.document())
                cursor.setPosition(min(start, length))
                cursor.setPosition(min(end, length), QTextCursor.MoveMode.KeepAnchor)
                selection.cursor, selection.format = cursor, style
                selections.append(selection)
        self.view.setExtraSelections(selections)

    def bring_into_view(self, place: int) -> None:
        """Scroll to a place of the text as it is shown, if it is not to be seen."""
        cursor = QTextCursor(self.view.document())
        cursor.setPosition(min(place, self.view.document().characterCount() - 1))
        where, height = self.view.cursorRect(cursor), self.view.viewport().height()
        if where.top() < 0 or where.bottom() > height:
            bar = self.view.verticalScrollBar()
            bar.setValue(bar.value() + where.top() - height // 3)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_more"):
            self._render()

    def _show_whole(self) -> None:
        self._whole = True
        self._render()
        self.view.setFocus()

    def _render(self) -> None:
        shown = self._text if self._whole else self._text[:CUT_AFTER]
        self._more.setVisible(len(shown) < len(self._text))
        if self._markdown:
            document = markdown_document(shown)
        else:
            document = QTextDocument(undoRedoEnabled=False)
            document.setPlainText(visible(shown))
        document.setDefaultFont(self.font())
        document.setDocumentMargin(8 if self._titled else 2)
        if self._line_height != 100:
            spread = QTextBlockFormat()
            spread.setLineHeight(self._line_height, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            whole = QTextCursor(document)
            whole.select(QTextCursor.SelectionType.Document)
            whole.mergeBlockFormat(spread)
        self.view.setExtraSelections([])
        self.view.setDocument(document)
        self._document = document  # the view does not keep it
        self.changed.emit()


_WIDEST = 40  # characters of a column: a longer name is whole in its tip, and pushes nothing out of sight


class SheetView(QWidget):
    """Sections, one below the other. `inside`, `above`: what the page has of its own in and above some."""

    listed = Signal(object)  # an ItemsBehind: the user wants to see the items of a row of a table

    def __init__(self, inside: Mapping[str, QWidget] = {}, above: Mapping[str, QWidget] = {}) -> None:
        super().__init__()
        self._inside, self._above = inside, above
        self._views: dict[str, SectionView] = {}
        self._layout = in_column(*above.values(), on=self, spacing=10)

    def show_sheet(self, sheet: Sheet | None) -> None:
        shown = {section.key: section for section in sheet.sections} if sheet else {}
        place = 0
        for key, section in shown.items():
            if key not in self._views:
                self._views[key] = SectionView(section.help[0] if section.help else "", self._inside.get(key))
                if key in self._above:
                    place = self._layout.indexOf(self._above[key]) + 1
                self._layout.insertWidget(place, self._views[key])
                self._views[key].listed.connect(self.listed)
            self._views[key].show_section(section)
            place = self._layout.indexOf(self._views[key]) + 1
        for key, view in self._views.items():
            view.setVisible(key in shown)

    def section(self, key: str) -> "SectionView | None":
        view = self._views.get(key)
        return None if view is None or view.isHidden() else view


class SectionView(QFrame):
    listed = Signal(object)  # an ItemsBehind

    def __init__(self, topic: str = "", inside: QWidget | None = None) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.parts: list[_TableView | _SentencesView] = []
        self._title, self._note = heading(""), hint("")
        self._titled = beside_help(self._title, Topic(topic)) if topic else self._title
        self._layout = in_column(
            *filter(None, (self._titled, self._note, inside)), on=self, margins=(12, 10, 12, 10), spacing=8
        )

    def show_section(self, section: Section) -> None:
        self._title.setText(visible(section.title))
        self._titled.setVisible(bool(section.title))
        many = f"F1 explains: {', '.join(section.help)}." if len(section.help) > 1 else ""
        self._note.setText(visible(f"{section.note} {many}".strip()))
        self._note.setVisible(bool(section.note))
        parts: list[Any] = [part for part in section.parts if type(part) in _VIEWS]  # each by its view
        kinds = [_VIEWS[type(part)] for part in parts]
        if kinds != [type(view) for view in self.parts]:
            for old in self.parts:
                old.deleteLater()
            self.parts = [kind() for kind in kinds]
            for new in self.parts:
                self._layout.addWidget(new)
                if isinstance(new, _TableView):
                    new.listed.connect(self.listed)
        names = iter(_table_names(section.title, [part for part in parts if isinstance(part, Table)]))
        for part, view in zip(parts, self.parts, strict=True):
            view.show_part(part, visible(next(names)) if isinstance(part, Table) else "")

    @property
    def tables(self) -> list[TableModel]:
        return [view.model for view in self.parts if isinstance(view, _TableView)]


class _TableView(QFrame):
    listed = Signal(object)  # an ItemsBehind: the user wants to see the items of a row

    def __init__(self) -> None:
        super().__init__()
        self._part: Table | None = None
        self.model = TableModel(self)
        self._view = measure_view(self.model, "", _WIDEST)
        self._view.activated.connect(self._list)
        in_column(self._view, on=self)

    def _list(self, index: QModelIndex) -> None:
        behind = self.model.behind(index.row(), index.column())
        if behind is not None and behind.ids:
            self.listed.emit(behind)

    def show_part(self, part: Table, called: str) -> None:
        self._view.setAccessibleName(called)
        if part == self._part:  # while more is measured most tables stay, and Qt asks for each cell anew
            return
        self._part = part
        self.model.show_table(part)


class _SentencesView(QFrame):
    def __init__(self) -> None:
        super().__init__()
        self._label = label("")
        self._inside = in_column(self._label, on=self)

    def show_part(self, part: Sentences, _called: str) -> None:
        self._label.setText(visible("\n".join(part.texts)))
        warns = part.tone is Tone.CAVEAT
        set_role(self, "note" if warns else "")
        self._inside.setContentsMargins(*((12, 10, 12, 10) if warns else (0, 0, 0, 0)))


def _table_names(title: str, tables: Sequence[Table]) -> list[str]:
    """What the tables of a section are called: of several by number and what each is by."""
    if len(tables) < 2:
        return [title] * len(tables)
    by = [table.columns[0].title for table in tables]
    told = len(set(by)) == len(by)
    return [
        f"{title}, table {number} of {len(tables)}{f': {what}' if told else ''}"
        for number, what in enumerate(by, start=1)
    ]


_VIEWS: Mapping[type, type[_TableView | _SentencesView]] = {Table: _TableView, Sentences: _SentencesView}
