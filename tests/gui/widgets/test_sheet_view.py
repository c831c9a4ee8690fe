"""Sheets in the window: sections come, grow and go in place."""

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from engine.core.tables import Column, Facts, Kind, Picture, Section, Sentences, Sheet, Table, Tone
from gui.widgets.actions import controls
from gui.widgets.help_dialog import HelpMark
from gui.widgets.labels import shown_text
from gui.widgets.text_views import SheetView

TABLE = Table((Column("name", "name", Kind.NAME, "A name."),), [["one"], ["two"]])
SAID = Section("said", "In short", [Sentences(["So it is."]), Picture("it"), Facts([("a", "b")])])
MEASURED = Section("measured", "Measured", [TABLE], "What it is.", ("Kappa", "Macro-F1"))


def shown(qtbot: QtBot, *sections: Section) -> SheetView:
    view = SheetView()
    qtbot.addWidget(view)
    view.show_sheet(Sheet("", sections))
    view.show()
    return view


def test_a_section_shows_what_a_window_can_show_of_it(qtbot: QtBot) -> None:
    view = shown(qtbot, SAID, MEASURED)
    text = shown_text(view)
    assert text.startswith("In short\nSo it is.\nMeasured\n")
    assert "What it is. F1 explains: Kappa, Macro-F1." in text
    assert [mark.topic.value for mark in view.findChildren(HelpMark)] == ["Kappa"]  # the first of them
    section = view.section("measured")
    assert section is not None
    assert [table.rowCount() for table in section.tables] == [2]


def test_a_section_grows_in_place_and_goes(qtbot: QtBot) -> None:
    uncertainty = Sentences(["Few items."], Tone.CAVEAT)
    view = shown(qtbot, Section("measured", "Measured", []))
    first = view.section("measured")
    assert first is not None
    assert not first.tables
    view.show_sheet(Sheet("", [SAID, Section("measured", "Measured", [uncertainty, TABLE])]))
    assert view.section("measured") is first
    assert [shown_text(part) for part in first.parts] == ["Few items.", ""]
    assert len(first.tables) == 1
    above = view.section("said")
    assert above is not None
    assert above.y() <= first.y()
    view.show_sheet(None)
    assert view.section("measured") is None


def test_tab_goes_down_the_page_also_to_what_came_later(qtbot: QtBot) -> None:
    above, inside = QPushButton("above"), QPushButton("inside")
    view = SheetView({"measured": inside}, {"measured": above})
    qtbot.addWidget(view)
    view.show_sheet(Sheet("", [SAID]))
    view.show_sheet(Sheet("", [Section("first", "First", [TABLE]), SAID, MEASURED]))
    view.show()
    assert controls(view)[1:4] == [above, view.findChild(HelpMark), inside]
