"""What the window shows of items that are judged and not kept yet."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.core.events import Drafted, GroupUnderWay, ItemJudged, LabelsRead
from engine.core.items import Preference
from engine.core.judgments import JudgedItem, Judgment
from gui.judge.run_panel import GroupPanel, LatestTableModel
from tests.gui.judge.pages import press

GROUP = GroupUnderWay(
    first=0,
    last=1,
    position=0,
    item_id="x7",
    writing=False,
    done=512,
    total=1200,
    seconds=40,
    seconds_left=80,
)
HOSTILE = "<b>x</b>" + 255 * "W"


@pytest.fixture
def shown(qtbot: QtBot) -> GroupPanel:
    panel = GroupPanel()
    qtbot.addWidget(panel)
    panel.resize(400, 100)
    return panel


def test_a_slow_group_is_shown_with_what_a_stop_would_lose(qtbot: QtBot, shown: GroupPanel) -> None:
    shown.show_group(replace(GROUP, seconds=0.2), ending=False)
    assert not shown.isVisible()
    shown.show_group(GROUP, ending=False)
    assert shown.isVisible()
    assert "Reading item x7: 512 of 1,200 tokens" in shown.text
    assert (
        "Stopping now loses 40 s of work on the 2 items judged now; in about 80 s it is stored." in shown.text
    )
    with qtbot.waitSignal(shown.soon_wanted):
        press(shown, "Stop after these items")
    shown.show_group(GROUP, ending=True)
    assert "The run stops after the 2 items judged now, in about 80 s." in shown.text
    shown.end()
    assert not shown.isVisible()


def test_an_explanation_grows_and_widens_nothing(shown: GroupPanel) -> None:
    shown.show_group(replace(GROUP, item_id=HOSTILE), ending=False)
    wide = shown.minimumSizeHint().width()
    shown.show_group(replace(GROUP, writing=True), ending=False)
    shown.show_draft(Drafted("x7", "overall_quality", Preference.A, f"Response A is {HOSTILE} kind"))
    assert "Writing explanations: 512 of about 1,200 tokens" in shown.text
    assert "Overall quality, A: …" in shown.text
    assert shown.text.count("kind") == 1
    assert shown.minimumSizeHint().width() <= wide < 400


def judgment(item_id: str, label: Preference) -> Judgment:
    return Judgment(item_id, "safety", label, (0.7, 0.1, 0.1, 0.1), False, 0.9, ())


def kept(position: int) -> ItemJudged:
    item_id = str(position)
    return ItemJudged(JudgedItem(position, item_id, "", {}), (judgment(item_id, Preference.A),))


def read(position: int, whole: bool, label: Preference = Preference.A) -> LabelsRead:
    return LabelsRead(position, str(position), (judgment(str(position), label),), whole)


def ids(table: LatestTableModel) -> list[str]:
    return [table.item_id(row) for row in range(table.rowCount())]


def test_items_that_are_read_are_on_top_in_italics_until_they_are_kept(qtbot: QtBot) -> None:
    table = LatestTableModel()
    table.begin(("safety",))
    table.add([kept(0), kept(1)])
    table.preview([read(2, False, Preference.B), read(3, False), read(2, True)])
    assert ids(table) == ["3", "2", "1", "0"]
    assert [table.is_preview(row) for row in range(4)] == [True, True, False, False]
    assert table.index(1, 1).data() == "A"
    assert table.index(1, 1).data(Qt.ItemDataRole.FontRole).italic()
    assert table.index(2, 1).data(Qt.ItemDataRole.FontRole) is None
    assert "one order" in table.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "stored once" in table.index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    # The next items are read by the time that the window hears of these.
    table.preview([read(4, False)])
    table.add([kept(2), kept(3)])
    assert ids(table) == ["4", "3", "2", "1", "0"]
    table.drop_previews()
    assert ids(table) == ["3", "2", "1", "0"]
