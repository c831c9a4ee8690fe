"""Sheets in the window: a frame for each section, filled anew in place as more becomes known.

Knows: how each part of a section is shown. Does not know: what it says.
"""

from collections.abc import Mapping
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QFrame, QSizePolicy, QVBoxLayout, QWidget

from engine.core.formatting import visible
from engine.core.sheets import Facts, Part, Picture, Section, Sentences, Sheet, Tone
from engine.core.value_tables import Table
from gui.kit.labels import heading, hint, label, set_role
from gui.kit.value_table import TableModel
from gui.kit.views import measure_view
from gui.reading.glossary import Topic
from gui.reading.help_dialog import beside_help


class SheetView(QWidget):
    """The sections of a sheet, one below the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._views: dict[str, SectionView] = {}
        self._above: dict[str, QWidget] = {}
        self._inside: dict[str, QWidget] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(10)

    def put_above(self, key: str, widget: QWidget) -> None:
        """Show something of the page's own above a section; at the end while the section is not there."""
        self._above[key] = widget
        self._layout.addWidget(widget)

    def put_inside(self, key: str, widget: QWidget) -> None:
        """Show something of the page's own in a section, above its tables."""
        self._inside[key] = widget

    def show_sheet(self, sheet: Sheet | None) -> None:
        """Show these sections and no others; nothing for None."""
        sections = sheet.sections if sheet else ()
        place = 0
        for section in sections:
            if section.key not in self._views:
                made = SectionView(section.help[0] if section.help else "", self._inside.get(section.key))
                self._views[section.key] = made
                if section.key in self._above:
                    place = self._layout.indexOf(self._above[section.key]) + 1
                self._layout.insertWidget(place, made)
            view = self._views[section.key]
            view.show_section(section)
            place = self._layout.indexOf(view) + 1
        for key in self._views.keys() - {section.key for section in sections}:
            self._views[key].hide()
        self._chain()

    def section(self, key: str) -> "SectionView | None":
        """Where a section is shown now; None where it is not."""
        view = self._views.get(key)
        return None if view is None or view.isHidden() else view

    def _chain(self) -> None:
        """Let Tab go down the page: Qt would come last to what was made last."""
        items = (self._layout.itemAt(place) for place in range(self._layout.count()))
        views = [item.widget() for item in items if item]
        inside = [widget for view in views if view for widget in view.findChildren(QWidget)]
        stops = [widget for widget in inside if widget.focusPolicy() & Qt.FocusPolicy.TabFocus]
        for one, other in pairwise([self, *stops]):
            self.setTabOrder(one, other)


class SectionView(QFrame):
    """A section in a frame. `topic`: the heading in the help that the mark beside its title opens."""

    def __init__(self, topic: str = "", inside: QWidget | None = None) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._parts: list[_PartView] = []
        self._title, self._note = heading(""), hint("")
        self._titled = beside_help(self._title, Topic(topic)) if topic else self._title
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, 10, 12, 10)
        self._layout.setSpacing(8)
        for widget in filter(None, (self._titled, self._note, inside)):
            self._layout.addWidget(widget)

    def show_section(self, section: Section) -> None:
        """Show a section, this one as it is now or another."""
        self._title.setText(visible(section.title))
        self._titled.setVisible(bool(section.title))
        many = f"F1 explains: {', '.join(section.help)}." if len(section.help) > 1 else ""
        self._note.setText(visible(f"{section.note} {many}".strip()))
        self._note.setVisible(bool(section.note))
        parts = [part for part in section.parts if not isinstance(part, Picture)]
        kinds = [_VIEWS[type(part)] for part in parts]
        if kinds != [type(view) for view in self._parts]:
            for view in self._parts:
                view.deleteLater()
            self._parts = [kind() for kind in kinds]
            for view in self._parts:
                self._layout.addWidget(view)
        for part, view in zip(parts, self._parts, strict=True):
            view.show_part(part)
        for place, table in enumerate(self._tables):
            rows_of = f": {table.model.headerData(0, Qt.Orientation.Horizontal)}" if place else ""
            table.view.setAccessibleName(f"{visible(section.title)}{rows_of}")
        self.show()

    @property
    def tables(self) -> list[TableModel]:
        """The tables that are shown."""
        return [table.model for table in self._tables]

    @property
    def said(self) -> list[str]:
        """The sentences that are shown, those of each part together."""
        return [view.text for view in self._parts if isinstance(view, _SentencesView)]

    @property
    def _tables(self) -> "list[_TableView]":
        return [view for view in self._parts if isinstance(view, _TableView)]


class _PartView(QFrame):
    """One part of a section, of one kind; another part of this kind may follow in its place."""

    def __init__(self) -> None:
        super().__init__()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)

    def show_part(self, part: Part) -> None:
        """Show a part."""
        raise NotImplementedError


class _TableView(_PartView):
    def __init__(self) -> None:
        super().__init__()
        self.model = TableModel(self)
        self.view, self._note = measure_view(self.model, ""), hint("")
        self._layout.addWidget(self.view)
        self._layout.addWidget(self._note)

    def show_part(self, part: Part) -> None:
        assert isinstance(part, Table)
        self.model.show_table(part)
        self._note.setText(part.note)
        self._note.setVisible(bool(part.note))


class _SentencesView(_PartView):
    def __init__(self) -> None:
        super().__init__()
        self._label = label("")
        self._layout.addWidget(self._label)

    @property
    def text(self) -> str:
        return self._label.text()

    def show_part(self, part: Part) -> None:
        assert isinstance(part, Sentences)
        self._label.setText(visible("\n".join(part.texts)))
        warns = part.tone is Tone.CAVEAT
        set_role(self, "note" if warns else "")
        self._layout.setContentsMargins(*((12, 10, 12, 10) if warns else (0, 0, 0, 0)))


class _FactsView(_PartView):
    def __init__(self) -> None:
        super().__init__()
        self._form = QFormLayout()
        self._layout.addLayout(self._form)

    def show_part(self, part: Part) -> None:
        assert isinstance(part, Facts)
        while self._form.rowCount():
            self._form.removeRow(0)
        for name, value in part.pairs:
            self._form.addRow(hint(name), label(value))


_VIEWS: Mapping[type, type[_PartView]] = {Table: _TableView, Sentences: _SentencesView, Facts: _FactsView}
