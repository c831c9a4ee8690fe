"""The ways of asking on the Judge page: chosen, remembered, planned, asked; what a model cannot do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.core.items import Way
from engine.core.settings import Mode
from engine.store.run_store import RunStore
from gui.judge.judge_page import JudgePage
from gui.judge.usual_setup import usual_setup
from gui.judge.ways_panel import WaysPanel
from gui.runs.queued import Queued
from gui.work.workspace import Workspace
from tests.gui.judge.pages import A_WHILE, new_page, press, wait_for_plan
from tests.gui.labels import text_of

pytestmark = pytest.mark.usefixtures("demo_tried")

LABELS = replace(usual_setup(), mode=Mode.LABELS, threads=1)
THOUGHT = replace(
    LABELS, ways=(Way.GRADED, Way.THINKING), thoughts=2, max_thought_tokens=6, criteria=("safety",)
)


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, demo_gold: Path) -> JudgePage:
    """A page with a plan of two items, labels alone."""
    page = new_page(qtbot, workspace)
    page.settings.show_setup(LABELS)
    page.dataset_line.set_items(2)
    workspace.open_dataset(demo_gold)
    wait_for_plan(qtbot, page)
    page.dataset_line.set_items(2)
    wait_for_plan(qtbot, page)
    return page


def panel_of(page: JudgePage) -> WaysPanel:
    return page.settings.ways


def test_letters_are_asked_unless_a_person_chooses_others_but_one_at_least(
    qtbot: QtBot, page: JudgePage
) -> None:
    panel = panel_of(page)
    assert panel.fold.title == "Ways of asking: letters"
    assert not panel.fold.open
    assert page.setup().ways == (Way.LETTERS,)
    plain = text_of(page.plan_panel)
    assert "2 items x 5 criteria x both orders = 20" in plain
    assert "Ways of asking" not in plain
    panel.boxes[Way.ABSOLUTE].click()
    wait_for_plan(qtbot, page)
    said = text_of(page.plan_panel)
    assert panel.fold.title == "Ways of asking: letters, absolute"
    assert "2 items x 5 criteria x 2 ways x both orders = 40" in said
    assert "tokens that their questions add to the items: letters " in said
    assert ", absolute " in said
    for way in (Way.LETTERS, Way.ABSOLUTE):
        panel.boxes[way].click()
    assert "Choose at least one way of asking." in text_of(panel)
    assert "Choose at least one way of asking to see" in text_of(page.plan_panel)
    assert not page.run_button.isEnabled()
    with qtbot.waitSignal(page.workspace.note):
        assert page.wanted() is None
    panel.boxes[Way.GRADED].click()
    wait_for_plan(qtbot, page)
    assert page.run_button.isEnabled()


def test_what_was_chosen_is_remembered_until_it_is_set_back(qtbot: QtBot, page: JudgePage) -> None:
    page.settings.show_setup(THOUGHT)
    again = new_page(qtbot, page.workspace)
    setup = again.setup()
    assert (setup.ways, setup.thoughts, setup.max_thought_tokens) == ((Way.GRADED, Way.THINKING), 2, 6)
    press(again.settings, "Back to defaults")
    assert again.setup().ways == (Way.LETTERS,)
    assert again.setup().thoughts == 1


def test_thoughts_are_counted_only_where_the_model_is_to_think(qtbot: QtBot, page: JudgePage) -> None:
    panel = panel_of(page)
    panel.fold.set_open(True)
    thoughts, longest = panel.of_thoughts.by_name.values()
    seed = page.settings.advanced.usual.by_name["seed"]
    assert not thoughts.isVisible()
    assert not seed.isEnabled()  # labels alone are never drawn
    panel.boxes[Way.THINKING].click()
    assert thoughts.isVisible()
    assert seed.isEnabled()
    thoughts.setValue(3)
    longest.setValue(64)
    assert page.setup().thoughts == 3
    assert page.setup().max_thought_tokens == 64
    queued = Queued(page.setup())
    assert "asked by letters, thinking (3 thoughts)" in queued.how


def test_a_model_that_knows_no_thoughts_is_named_at_the_field(qtbot: QtBot, page: JudgePage) -> None:
    panel = panel_of(page)
    assert "cannot be asked to think" not in text_of(panel)
    panel.boxes[Way.THINKING].click()
    qtbot.waitUntil(lambda: "demo-judge cannot be asked to think" in text_of(panel), timeout=A_WHILE)
    qtbot.waitUntil(lambda: "knows no thoughts" in text_of(page.plan_panel), timeout=A_WHILE)
    assert "“Ways of asking”" in text_of(page.plan_panel)


@pytest.mark.slow
def test_a_model_that_reasons_thinks_in_a_run_of_the_window(
    qtbot: QtBot, page: JudgePage, tried_model: Callable[[str], Path]
) -> None:
    page.settings.show_setup(replace(THOUGHT, context=8192))
    page.choose_model(tried_model("thinker"))
    wait_for_plan(qtbot, page)
    assert "cannot be asked" not in text_of(panel_of(page))
    said = text_of(page.plan_panel)
    assert "2 items x 1 criterion x 2 ways x both orders = 8" in said
    assert "at most 8 thoughts of 6 tokens" in said
    with qtbot.waitSignal(page.control.ended, timeout=A_WHILE):
        page.run()
    with RunStore(page.workspace.store_path) as store:
        run = store.run(1)
        (readings,) = next(iter(store.judged(1))).readings.values()
    assert run.identity.settings["ways"] == ["graded", "thinking"]
    assert {reading.way for reading in readings} == {Way.GRADED, Way.THINKING}
