"""Sheets in the window: a frame for each section, filled anew in place as more becomes known.

Knows: how each part of a section is shown. Does not know: what it says.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from engine.core.formatting import visible
from engine.core.sheets import Section, Sentences, Sheet, Tone
from engine.core.value_tables import Table
from gui.kit.labels import heading, hint, label, set_role
from gui.kit.layouts import in_column
from gui.kit.value_table import TableModel
from gui.kit.views import measure_view
from gui.reading.glossary import Topic
from gui.reading.help_dialog import beside_help

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
        """Show these sections and no others; nothing for None."""
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
        """Where a section is shown now; None where it is not."""
        view = self._views.get(key)
        return None if view is None or view.isHidden() else view


class SectionView(QFrame):
    """A section in a frame, its `parts` below its words. `topic`: what of the help its mark opens."""

    listed = Signal(object)  # an ItemsBehind

    def __init__(self, topic: str = "", inside: QWidget | None = None) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.parts: list[_TableView | _SentencesView] = []
        self._title, self._note = heading(""), hint("")
        self._titled = beside_help(self._title, Topic(topic)) if topic else self._title
        self._layout = in_column(
            *filter(None, (self._titled, self._note, inside)), on=self, margins=(12, 10, 12, 10), spacing=8
        )

    def show_section(self, section: Section) -> None:
        """Show a section, this one as it is now or another; its facts and pictures stand elsewhere."""
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
        """The tables that are shown."""
        return [view.model for view in self.parts if isinstance(view, _TableView)]


class _TableView(QFrame):
    """A table of a section; another may follow in its place."""

    listed = Signal(object)  # an ItemsBehind: the user wants to see the items of a row

    def __init__(self) -> None:
        super().__init__()
        self._part: Table | None = None
        self.model = TableModel(self)
        self._view = measure_view(self.model, "", _WIDEST)
        self._view.activated.connect(self._list)
        in_column(self._view, on=self)

    @Slot(QModelIndex)
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
    """Sentences of a section; others may follow in their place."""

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
    """What the tables of a section are called: as it is, and of several by their numbers and what each of
    them is by, where that tells them apart.
    """
    if len(tables) < 2:
        return [title] * len(tables)
    by = [table.columns[0].title for table in tables]
    told = len(set(by)) == len(by)
    return [
        f"{title}, table {number} of {len(tables)}{f': {what}' if told else ''}"
        for number, what in enumerate(by, start=1)
    ]


_VIEWS: Mapping[type, type[_TableView | _SentencesView]] = {Table: _TableView, Sentences: _SentencesView}
