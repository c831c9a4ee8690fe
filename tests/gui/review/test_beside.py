"""Several systems beside the open run: which can be chosen, what columns say, the person's own column."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidgetItem

from engine.core.items import Prediction, Preference
from engine.data.dataset import load_dataset
from engine.data.submission import read_submission, write_submission
from engine.results.completeness import open_submission
from engine.store.run_store import RunStore
from gui.review.comparison_columns import MOST_BESIDE
from gui.widgets.label_mark import LABEL_WORDS
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import Open, Page

LONG_TEXT = " ".join(f"word{number}" for number in range(400))
A, B, GOOD, BAD = Preference


@pytest.fixture
def add(store: Path, demo_gold: Path, demo_store: Path, tmp_path: Path) -> Callable[..., int]:
    """Keeps a submission in the store that answers the demo items with one label; the id of its run."""

    def add(name: str, label: Preference | None = B, text: str = LONG_TEXT, items: int = 30) -> int:
        whole = read_submission(demo_store.with_name("submission.tsv"))
        said = {criterion: Prediction(label, text or None) for criterion in whole.criteria}
        rows = tuple(replace(row, predictions=said) for row in whole.rows[:items])
        path = tmp_path / name
        write_submission(path, replace(whole, rows=rows, with_explanations=bool(text)))
        with RunStore(store) as opened:
            return open_submission(path, load_dataset(demo_gold), opened).id

    return add


def listed(page: Page, run: int) -> list[QListWidgetItem]:
    """The entry of a run in the list of what can be read beside."""
    view = page.beside.button.list
    entries = [view.item(row) for row in range(view.count())]
    return [entry for entry in entries if entry.data(Qt.ItemDataRole.UserRole) == run]


def _is_listed(page: Page, run: int) -> bool:
    return bool(listed(page, run))


def tick(page: Page, *runs: int) -> None:
    page.beside._list()
    for run in runs:
        page.until(partial(_is_listed, page, run))
        listed(page, run)[0].setCheckState(Qt.CheckState.Checked)
    page.until(lambda: not page.beside._reading.busy)


def systems(page: Page) -> list[str]:
    return [text.system for text in page.beside.columns.texts]


def test_v_shows_the_open_run_the_human_label_and_the_own_column(page: Page) -> None:
    assert page.beside.panel.isHidden()
    page.press("V")
    assert page.beside.panel.isVisible()
    assert not page.desk.card.isVisible()
    assert page.desk.strip.isVisible()
    run, human = page.beside.columns.texts
    assert run.system.startswith("Run 1: ")
    assert run.text == page.desk.card.explanation.text()
    assert run.marks[0][0].endswith(" %")
    assert human.text == page.desk.card.human.text()
    page.press("3")
    shown = page.session.shown
    assert page.session.criterion == "truthfulness"
    assert page.beside.columns.texts[1].text == shown.human.explanation
    page.press("V")
    assert page.desk.card.isVisible()
    assert page.beside.panel.isHidden()


def test_ticked_systems_stand_beside_and_follow_items_and_criteria(
    page: Page, add: Callable[..., int]
) -> None:
    bad = add("bad.tsv", BAD)
    short = add("labels only.tsv", GOOD, text="", items=1)
    tick(page, bad)
    assert systems(page)[1:] == ["Human labels", "bad.tsv"]
    page.beside.button.ticked.emit(0, False)
    tick(page, short)
    assert systems(page)[1:] == ["bad.tsv", "labels only.tsv"]
    shown = page.beside.columns.texts[1]
    assert (shown.label, shown.text, shown.marks) == (BAD, LONG_TEXT, [])
    page.list.choose("1")
    page.until(lambda: page.item == "1")
    assert page.beside.columns.texts[2].label is GOOD
    assert page.beside.columns.texts[2].remark == "No explanation."
    page.press("J")
    if page.item == "1":
        page.press("K")
    assert page.beside.columns.texts[2].remark == "Does not answer this item."


def test_a_long_explanation_is_read_to_its_end_also_as_markdown(page: Page, add: Callable[..., int]) -> None:
    tick(page, add("long.tsv", text=f"**bold** {LONG_TEXT}"))
    column = page.beside.columns.systems[2]
    page.until(lambda: column.text.view.verticalScrollBar().maximum() > 0)
    assert column.text.text.startswith("**bold** ")
    assert column.text.text.endswith("word399")
    assert column.text.view.horizontalScrollBar().maximum() == 0
    column.text.view.verticalScrollBar().setValue(50)
    page.desk.show_changes()
    assert column.text.view.verticalScrollBar().value() == 50
    page.press("M")
    assert column.text.text.startswith("bold ")


def test_no_more_can_be_ticked_than_there_is_room_for(page: Page, add: Callable[..., int]) -> None:
    ids = [add(f"{label}.tsv", label) for label in (A, B, GOOD)]
    tick(page, *ids[: MOST_BESIDE - 1])  # the human labels are another
    chooser = page.beside.button.list
    states = {
        chooser.item(row).text().split(",")[0]: bool(chooser.item(row).flags() & Qt.ItemFlag.ItemIsEnabled)
        for row in range(chooser.count())
    }
    assert states == {"Human labels of gold.tsv": True, "A.tsv": True, "B.tsv": False, "both_good.tsv": False}
    assert len(systems(page)) == 1 + MOST_BESIDE


def test_what_is_beside_is_remembered_for_the_dataset(
    page: Page, add: Callable[..., int], open_page: Open, workspace: Workspace
) -> None:
    tick(page, add("bad.tsv", BAD))
    page.left()
    again = open_page()
    page.until(lambda: systems(again)[1:] == ["Human labels", "bad.tsv"])
    assert again.beside.panel.isVisible()
    assert workspace.state.record("review/beside")


def test_other_runs_are_read_only_where_somebody_looks(page: Page, add: Callable[..., int]) -> None:
    tick(page, add("bad.tsv", BAD))
    for away, back in ((partial(page.press, "V"), partial(page.press, "V")), (page.hide, page.show)):
        away()
        with page.signal(page.workspace.run_changed):
            page.workspace.read_run_again()
        assert (page.beside._reading.busy, page.beside._others) == (False, {})
        if page.isVisible():
            page.until(lambda: page.list.follows and not page.list._reading.busy)
        back()
        assert page.beside._reading.busy
        page.until(lambda: systems(page)[1:] == ["Human labels", "bad.tsv"])


def test_the_own_column_is_written_with_the_same_keys_and_the_field_moves_there(
    page: Page, workspace: Workspace
) -> None:
    workspace.state.set_text("author", "Ada")
    editor, own = page.desk.card.editor, page.beside.columns.own
    page.write("half a thou")
    page.beside.toggle()
    assert (page.desk.writing, own.isAncestorOf(editor)) == (True, True)
    page.beside.toggle()
    assert (page.desk.writing, page.desk.card.isAncestorOf(editor)) == (True, True)
    assert editor.text == "half a thou"
    page.qtbot.keyClick(editor.field, Qt.Key.Key_Escape)
    page.press("V")
    assert own.shown.remark.startswith("Nothing yet")
    page.override("G")
    page.until(own.buttons.labels[GOOD].isChecked)
    page.press("E")
    assert own.isAncestorOf(editor)
    assert editor.isVisible()
    assert editor.field.hasFocus()
    editor.field.setPlainText("Mine.")
    page.overriding(lambda: page.save(editor.field))
    page.until(lambda: own.text.text == "Mine.")
    assert not editor.isVisible()
    assert page.beside.columns.texts[0].label is not GOOD or page.beside.columns.texts[0].text != "Mine."
    page.override("U")
    page.overriding(own.buttons.undo.click)
    page.until(lambda: not own.buttons.labels[GOOD].isChecked())
    assert {override.author for override in page.overrides} == {"Ada"}


def test_a_judgment_is_never_headed_by_the_name_of_another_run(page: Page, add: Callable[..., int]) -> None:
    other = add("other.tsv")
    page.press("V")
    before = page.beside.columns.texts[0]
    page.open_run(other)
    assert page.beside.columns.texts[0] == before  # until the list of the other run is made
    page.until(lambda: systems(page)[0] == "other.tsv")
    assert page.beside.columns.texts[0].text == LONG_TEXT


def test_the_own_column_says_what_was_confirmed_after_an_override_and_nothing_that_others_gave(
    page: Page, workspace: Workspace
) -> None:
    page.press("V")
    own, item = page.beside.columns.own, page.item
    effective = Preference(page.session.effective_labels()[page.session.criterion])
    other = next(label for label in Preference if label is not effective)
    page.overriding(own.buttons.labels[other].click)
    page.until(own.buttons.labels[other].isChecked)
    page.override("U")
    with page.signal(page.workspace.reviewed):
        page.confirm()
    page.press("K")
    page.until(lambda: page.session.item_id == item)
    assert own.buttons.labels[effective].isChecked()
    assert not own.buttons.labels[other].isChecked()
    page.overriding(own.buttons.labels[other].click)
    workspace.state.set_text("author", "Ben")
    page.desk.show_changes()
    assert not own.buttons.labels[other].isChecked()
    assert f"Label {LABEL_WORDS[other]} by Ada, " in page.beside.columns.texts[0].remark
