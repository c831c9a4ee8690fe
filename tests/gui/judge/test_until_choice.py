"""The Judge page with a run that stops once something is clear."""

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.settings.identity import StoredRun
from engine.settings.rows import Mode
from engine.settings.sampling import StoppingRule
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset
from gui.judge.dataset_line import UntilChoice
from gui.judge.judge_page import JudgePage
from gui.judge.run_control import default_setup
from gui.workspace.workspace import Workspace
from tests.gui.judge.pages import new_page, open_dataset, run_to_the_end, wait_for_plan
from tests.gui.labels import text_of
from tests.gui.steps import shown

WIDE = StoppingRule(70.0)
INSTRUCTIONS, FEWEST = 12, 10
PAIRS = 3  # of an instruction


@pytest.fixture
def comparisons(tmp_path: Path) -> Path:
    """The demo's contests of three candidates on a few instructions."""
    head, *rows = demo_dataset().with_name("demo-candidates.tsv").read_text("utf-8").splitlines(keepends=True)
    place = head.split("\t").index("instruction")
    instructions = list(dict.fromkeys(row.split("\t")[place] for row in rows))[:INSTRUCTIONS]
    path = tmp_path / "contests.tsv"
    kept = (row for row in rows if row.split("\t")[place] in instructions and "rowan" not in row.split())
    path.write_text("".join([head, *kept]), "utf-8")
    return path


def runs(page: JudgePage) -> list[StoredRun]:
    with RunStore(page.workspace.store_path) as store:
        return list(store.runs())


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> JudgePage:
    setup = replace(default_setup(), mode=Mode.LABELS, criteria=("overall_quality",), threads=1)
    return new_page(qtbot, workspace, setup)


def test_who_is_better_is_asked_only_where_candidates_have_names(qtbot: QtBot) -> None:
    choice = shown(qtbot, UntilChoice())
    assert not choice.until
    choice.choose(WIDE)
    assert choice.until == WIDE
    choice.choose(StoppingRule())
    assert not choice.until  # which is not offered here
    choice.offer(True)
    choice.choose(StoppingRule())
    assert choice.until == StoppingRule()
    with qtbot.waitSignal(choice.changed):
        choice.offer(False)
    assert not choice.until


@pytest.mark.slow
def test_a_run_stops_once_clear_and_goes_on(qtbot: QtBot, page: JudgePage, comparisons: Path) -> None:
    open_dataset(qtbot, page, comparisons)
    page.dataset_line.until.choose(WIDE)
    wait_for_plan(qtbot, page)
    assert page.plan_panel.plan.notices[-1].startswith("This is the maximum: the run goes on until intervals")
    run_to_the_end(qtbot, page)
    said = text_of(page.run_panel)
    assert "Run 1 stopped early: everything is resolved:" in said
    assert f"of {PAIRS * INSTRUCTIONS} items are judged" in said
    assert "Resolved: alder wins " in said
    (stored,) = runs(page)
    assert PAIRS * FEWEST <= stored.judged < PAIRS * INSTRUCTIONS
    assert stored.is_sample
    assert page.plan_panel.plan.notices[-1].startswith("Everything is resolved already.")
    page.dataset_line.until.choose(None)
    wait_for_plan(qtbot, page)
    run_to_the_end(qtbot, page)
    assert [run.complete for run in runs(page)] == [True]


def test_a_setup_says_how_long_it_goes_on(qtbot: QtBot, page: JudgePage, comparisons: Path) -> None:
    open_dataset(qtbot, page, comparisons)
    page.dataset_line.until.choose(StoppingRule())
    setup = page.setup()
    assert setup.dataset_in_words.endswith(".tsv, until it is significant which candidate is better")
    assert type(setup).of_json(setup.as_json(), default_setup()).until == StoppingRule()
    page.dataset_line.until.choose(None)
    page._describe(setup)
    assert page.setup().until == StoppingRule()
