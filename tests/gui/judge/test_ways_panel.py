"""The ways of asking on the Judge page: chosen, remembered, planned, asked; what a model cannot do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.core.items import Method
from engine.store.run_store import RunStore
from gui.judge.judge_page import JudgePage
from gui.judge.settings_panel import MethodsPanel
from gui.runs.queue import Queued
from gui.workspace.workspace import Workspace
from tests.gui.judge.pages import LABELS, new_page, open_dataset, says, wait_for_plan
from tests.gui.labels import text_of
from tests.gui.steps import click

THOUGHT = replace(
    LABELS,
    methods=(Method.POINTWISE_GRADE, Method.CHAIN_OF_THOUGHT),
    reasoning_samples=2,
    max_reasoning_tokens=6,
    criteria=("safety",),
)


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, demo_gold: Path) -> JudgePage:
    page = new_page(qtbot, workspace, LABELS)
    open_dataset(qtbot, page, demo_gold, items=2)
    return page


def panel_of(page: JudgePage) -> MethodsPanel:
    return page.settings.methods


def test_label_tokens_are_asked_unless_others_are_chosen(qtbot: QtBot, page: JudgePage) -> None:
    panel = panel_of(page)
    assert panel.fold.title == "Elicitation methods: label tokens"
    assert not panel.fold.open
    assert page.setup().methods == (Method.LABEL_TOKENS,)
    plain = text_of(page.plan_panel)
    assert "2 items x 5 criteria x both orders = 20" in plain
    assert "Elicitation methods" not in plain
    panel.boxes[Method.POINTWISE_YES_NO].click()
    wait_for_plan(qtbot, page)
    said = text_of(page.plan_panel)
    assert panel.fold.title == "Elicitation methods: label tokens, pointwise yes/no"
    assert "2 items x 5 criteria x 2 methods x both orders = 40" in said
    assert "tokens that their questions add to the items: label tokens " in said
    assert ", pointwise yes/no " in said
    for method in (Method.LABEL_TOKENS, Method.POINTWISE_YES_NO):
        panel.boxes[method].click()
    assert "Choose at least one elicitation method." in text_of(panel)
    assert "Choose at least one elicitation method to see" in text_of(page.plan_panel)
    assert not page.run_button.isEnabled()
    with qtbot.waitSignal(page.workspace.note):
        assert page.wanted() is None
    panel.boxes[Method.POINTWISE_GRADE].click()
    wait_for_plan(qtbot, page)
    assert page.run_button.isEnabled()


def test_what_was_chosen_is_remembered_until_it_is_set_back(qtbot: QtBot, page: JudgePage) -> None:
    page.settings.show_setup(THOUGHT)
    again = new_page(qtbot, page.workspace)
    setup = again.setup()
    assert setup.methods == (Method.POINTWISE_GRADE, Method.CHAIN_OF_THOUGHT)
    assert (setup.reasoning_samples, setup.max_reasoning_tokens) == (2, 6)
    click(again.settings, "Back to defaults")
    assert again.setup().methods == (Method.LABEL_TOKENS,)
    assert again.setup().reasoning_samples == 1


def test_samples_count_where_the_model_is_to_reason_if_it_can(qtbot: QtBot, page: JudgePage) -> None:
    panel = panel_of(page)
    panel.fold.set_open(True)
    reasoning_samples, longest = panel.of_reasoning_samples.by_name.values()
    seed = page.settings.advanced.default.by_name["seed"]
    assert not reasoning_samples.isVisible()
    assert not seed.isEnabled()  # labels alone are never drawn
    assert "has no chain of thought" not in text_of(panel)
    panel.boxes[Method.CHAIN_OF_THOUGHT].click()
    assert reasoning_samples.isVisible()
    assert seed.isEnabled()
    reasoning_samples.setValue(3)
    longest.setValue(64)
    assert (page.setup().reasoning_samples, page.setup().max_reasoning_tokens) == (3, 64)
    queued = Queued(page.setup())
    assert "method: label tokens, chain of thought (3 reasoning samples)" in queued.how
    says(qtbot, panel, "demo-judge has no chain of thought")
    says(qtbot, page.plan_panel, "has no reasoning block")
    assert "“Elicitation methods”" in text_of(page.plan_panel)


@pytest.mark.slow
def test_a_model_that_reasons_thinks_in_a_run_of_the_window(
    qtbot: QtBot, page: JudgePage, tried_model: Callable[[str], Path]
) -> None:
    page.settings.show_setup(replace(THOUGHT, context=8192))
    page.choose_model(tried_model("thinker"))
    wait_for_plan(qtbot, page)
    assert "has no chain of thought" not in text_of(panel_of(page))
    said = text_of(page.plan_panel)
    assert "2 items x 1 criterion x 2 methods x both orders = 8" in said
    assert "at most 8 reasoning samples of 6 tokens" in said
    with qtbot.waitSignal(page.control.ended):
        page.run()
    with RunStore(page.workspace.store_path) as store:
        run = store.run(1)
        (raw_predictions,) = next(iter(store.judged(1))).raw_predictions.values()
    assert run.identity.settings["ways"] == ["graded", "thinking"]
    assert {reading.method for reading in raw_predictions} == {*THOUGHT.methods}
