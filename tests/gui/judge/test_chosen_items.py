"""The Judge page with chosen and drawn items: what it describes, runs, resumes and lets go."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from engine.settings.sampling import ItemSample
from engine.store.run_store import RunStore
from gui.judge.judge_page import JudgePage
from gui.workspace.workspace import Workspace
from tests.able import longest_name
from tests.gui.judge.pages import (
    EXPLAINED,
    LABELS,
    cut_off,
    kept,
    new_page,
    plan_of,
    remember_unfinished,
    run_to_the_end,
    says,
    stop,
    wait_for_plan,
)
from tests.gui.labels import text_of
from tests.gui.steps import click, open_dataset

CHOSEN = ("20", "3", "17", "5")
SAMPLE = ItemSample(8, 5, "overall_quality_preference")


@pytest.fixture
def ready(qtbot: QtBot, workspace: Workspace, demo_gold: Path) -> JudgePage:
    """A page with 30 items, of which CHOSEN are to be judged, labels alone, on one thread."""
    page = new_page(qtbot, workspace, LABELS)
    choose(qtbot, page, demo_gold, CHOSEN)
    return page


def choose(qtbot: QtBot, page: JudgePage, path: Path, ids: Sequence[str]) -> None:
    page.choose_items(path, ids)
    qtbot.waitUntil(lambda: not page.workspace.loading)
    wait_for_plan(qtbot, page)


def ids_of_runs(page: JudgePage) -> list[tuple[str, ...]]:
    with RunStore(page.workspace.store_path) as store:
        return [run.identity.chosen for run in store.runs()]


@pytest.mark.slow
def test_chosen_items_are_judged_again_also_with_other_settings(qtbot: QtBot, ready: JudgePage) -> None:
    run_to_the_end(qtbot, ready)
    assert "Run 1 of 4 chosen items of gold.tsv" in text_of(ready.run_panel)
    assert ids_of_runs(ready) == [("3", "5", "17", "20")]
    assert ready.run_button.text() == "Judge again"
    assert "all 4 items are judged in run 1" in text_of(ready.plan_panel)
    qtbot.waitUntil(lambda: ready.workspace.run is not None)
    assert ready.workspace.run.dataset.ids == ["3", "5", "17", "20"]
    run_to_the_end(qtbot, ready)
    ready.settings.show_setup(replace(LABELS, criteria=("safety",)))
    qtbot.waitUntil(lambda: ready.run_button.text() == "Run")
    wait_for_plan(qtbot, ready)
    run_to_the_end(qtbot, ready)
    assert ids_of_runs(ready) == [("3", "5", "17", "20")] * 3


def test_a_choice_is_planned_alone_and_ends_with_its_button_and_with_another_dataset(
    qtbot: QtBot, ready: JudgePage, demo_gold: Path, tmp_path: Path
) -> None:
    assert "Only 4 chosen items (3, 5, 17, …)" in text_of(ready.dataset_line)
    assert "4 items x 5 criteria x both orders = 40" in text_of(ready.plan_panel)
    assert not ready.dataset_line.part.isVisible()
    click(ready, "All items")
    assert ready.setup().ids == ()
    says(qtbot, ready.plan_panel, "30 items x 5")
    assert "30 items" in text_of(ready.dataset_line)
    ready.choose_items(demo_gold, CHOSEN)
    open_dataset(qtbot, ready.workspace, Path(shutil.copy(demo_gold, tmp_path / "other.tsv")))
    assert ready.setup().ids == ()
    choose(qtbot, ready, demo_gold, CHOSEN)
    assert (ready.setup().dataset_path, len(ready.setup().ids)) == (demo_gold, 4)


@pytest.mark.slow
def test_all_items_are_no_choice_lacking_ones_are_named(
    qtbot: QtBot, ready: JudgePage, demo_gold: Path
) -> None:
    choose(qtbot, ready, demo_gold, ready.workspace.dataset.ids)
    assert (ready.setup().ids, ready.setup().items) == ((), None)
    choose(qtbot, ready, demo_gold, ["9"])
    assert "Only 1 chosen item (9)" in text_of(ready.dataset_line)
    assert "1 item x 5 criteria" in text_of(ready.plan_panel)
    run_to_the_end(qtbot, ready)
    assert "the item is judged in run 1" in text_of(ready.plan_panel)
    ready.choose_items(demo_gold, ["3", "999"])
    says(qtbot, ready.plan_panel, "gold.tsv lacks 1 chosen item: 999")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "items", "said"),
    [
        ({"ids": CHOSEN}, 4, "of 4 chosen items of gold.tsv, was not finished: "),
        ({"sample": SAMPLE}, 8, "of 8 items of gold.tsv evenly over overall_quality_preference, seed 5"),
    ],
    ids=["chosen", "drawn"],
)
def test_a_stopped_run_goes_on_with_its_items(
    qtbot: QtBot, workspace: Workspace, demo_gold: Path, part: dict[str, Any], items: int, said: str
) -> None:
    setup = replace(EXPLAINED, criteria=("safety",), dataset_path=demo_gold, **part)
    cut_off(plan_of(setup), workspace.store_path)
    remember_unfinished(workspace, 1, setup)
    page = new_page(qtbot, workspace)
    workspace.refresh_runs()
    qtbot.waitUntil(lambda: said in text_of(page.banner))
    with qtbot.waitSignal(page.control.ended):
        click(page.banner, "Resume")
    assert page.control.unfinished is None
    # The dataset is read beside the run, which may be the first to end.
    qtbot.waitUntil(lambda: {*page.setup().ids} == {*setup.ids} and page.setup().sample == setup.sample)
    with RunStore(workspace.store_path) as store:
        (run,) = store.runs()
    assert (run.judged, run.complete, run.identity.sample) == (items, True, setup.sample)


@pytest.mark.slow
def test_a_choice_during_a_run_waits_for_its_end_and_the_stopped_run_of_another_dataset_is_named(
    qtbot: QtBot, page: JudgePage, demo_gold: Path, tmp_path: Path
) -> None:
    page.settings.show_setup(EXPLAINED)
    open_dataset(qtbot, page.workspace, demo_gold)
    wait_for_plan(qtbot, page)
    page.run()
    qtbot.waitUntil(lambda: kept(page) >= 2)
    other = Path(shutil.copy(demo_gold, tmp_path / "other.tsv"))
    open_dataset(qtbot, page.workspace, other)
    with qtbot.waitSignal(page.workspace.note) as note:
        page.choose_items(other, CHOSEN)
    assert note.args == ["The chosen items can be judged when the current run has ended."]
    assert "Run 1 of gold.tsv" in text_of(page.run_panel)
    assert not page.banner.isVisible()
    assert stop(qtbot, page.control).stopped
    wait_for_plan(qtbot, page)
    assert "4 items x 5 criteria" in text_of(page.plan_panel)
    assert "The last run, of gold.tsv, was not finished" in text_of(page.banner)
    assert page.banner.isVisible()


def test_long_and_hostile_names_and_ids_widen_nothing(
    qtbot: QtBot, page: JudgePage, save: Callable[[str, bytes], Path], tmp_path: Path
) -> None:
    ids = ["<b>x</b>\u202eabc", "n" * 3000, "c"]
    rows = "".join(f"{item_id}\tq\ta\tb\n" for item_id in ids)
    long_name = "n" * (longest_name(tmp_path) - 4) + ".tsv"
    path = save(long_name, f"id\tinstruction\toutput_a\toutput_b\n{rows}".encode())
    page.choose_items(path, ids[:2])
    says(qtbot, page.dataset_line, "2 chosen items")
    shown = text_of(page.dataset_line)
    assert "<b>x</b>\\u202eabc" in shown
    assert "n" * 300 not in shown
    assert "<b>" not in page.dataset_line._chosen.toolTip()
    assert page.dataset_line.minimumSizeHint().width() < 500


def field(page: JudgePage, name: str) -> Any:
    return next(found for found in page.findChildren(QWidget) if found.accessibleName() == name)


def choose_method(page: JudgePage, text: str) -> None:
    field(page, "Which items to judge").setCurrentText(text)


def set_number(page: JudgePage, name: str, value: int) -> None:
    assert field(page, name).isVisible()
    field(page, name).setValue(value)


def test_items_are_drawn_evenly_over_a_column(qtbot: QtBot, page: JudgePage, demo_gold: Path) -> None:
    choose(qtbot, page, demo_gold, ())
    choose_method(page, "Evenly over a column")
    columns = field(page, "The column over whose values items are drawn evenly")
    columns.setCurrentText("human label: overall quality")
    set_number(page, "How many items to judge", 8)
    set_number(page, "Seed of the draw", 5)
    assert page.setup().sample == SAMPLE
    said = "gold.tsv: 8 of 30 items are sampled evenly over overall_quality_preference, seed 5."
    says(qtbot, page.plan_panel, said)
    choose_method(page, "All items")
    assert (page.setup().sample, page.setup().items) == (None, None)


@pytest.mark.slow
def test_the_first_items_of_a_sorted_file_are_named_with_the_field_to_change(
    qtbot: QtBot, page: JudgePage, save: Callable[[str, bytes], Path]
) -> None:
    rows = "".join(f"{place}\tq\ta\tb\t{'AB'[place >= 60]}\n" for place in range(120))
    head = "id\tinstruction\toutput_a\toutput_b\tsafety_preference\n"
    choose(qtbot, page, save("sorted.tsv", (head + rows).encode()), ())
    choose_method(page, "Only the first")
    set_number(page, "How many items to judge", 40)
    said = "seems to be sorted: safety is A in 100.0 % of the first 40 items, and in 50.0 % of all."
    says(qtbot, page.plan_panel, f"sorted.tsv {said}")
    assert "Sample them instead: “Random sample”: 40." in text_of(page.plan_panel)
    choose_method(page, "Random sample")
    assert page.setup().sample == ItemSample(40)
    says(qtbot, page.plan_panel, "are sampled at random, seed 0.")
    assert said not in text_of(page.plan_panel)
