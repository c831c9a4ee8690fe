"""The rubric on the Judge page: chosen, opened, offered, remembered, part of what is judged."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.core.rubric import ELOQUENT, Criterion, Rubric
from engine.data.rubrics.files import save_rubric, shipped_rubrics
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_dataset, demo_model, rubrics_folder
from gui.judge.judge_page import JudgePage
from gui.judge.rubric_choice import RubricChoice
from gui.runs.queue import Queued
from gui.workspace.state import State
from gui.workspace.workspace import Workspace
from tests.gui.judge.pages import new_page, run_to_the_end, wait_for_plan
from tests.gui.steps import offered, open_dataset, shown

MANNERS = Rubric(
    "Manners",
    (
        Criterion("politeness", "Which response is more polite?", 50),
        Criterion("brevity", "Which response is shorter?", 30),
        Criterion("on_topic", "Which response speaks of what was asked?", 20),
    ),
    1.0,
    "Made up.",
)
ROWS = """id\tinstruction\toutput_a\toutput_b\tpoliteness_preference\tbrevity_preference\ton_topic_preference
1\tWhat is hot?\tFire, thank you.\tIce.\tA\tB\tA
2\tWhat is cold?\tFire.\tIce, thank you.\tB\tA\tboth_good
3\tWhat is wet?\tWater.\tSand.\tboth_good\tboth_bad\tA
"""


@pytest.fixture
def own() -> Path:
    """In the user's folder."""
    path = rubrics_folder() / "manners.toml"
    path.parent.mkdir(parents=True)
    save_rubric(path, MANNERS)
    return path


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "manners.tsv"
    path.write_text(ROWS, encoding="utf-8")
    return path


@pytest.fixture
def choice(qtbot: QtBot, page: JudgePage) -> RubricChoice:
    return choice_of(qtbot, page)


def choice_of(qtbot: QtBot, page: JudgePage) -> RubricChoice:
    """As it is at the head of the window, once it knows what there is."""
    made = shown(qtbot, RubricChoice(page.workspace, page.setup), (300, 40))
    qtbot.waitUntil(lambda: bool(made._found.shipped))
    return made


def listed(choice: RubricChoice) -> list[str]:
    return [text for text, entry in offered(choice).items() if entry.isCheckable()]


def choose(choice: RubricChoice, name: str) -> None:
    offered(choice)[name].trigger()


def test_all_that_there_are_can_be_chosen_say_where_they_come_from_and_are_remembered(
    qtbot: QtBot, own: Path, page: JudgePage, choice: RubricChoice, workspace: Workspace
) -> None:
    assert listed(choice) == [*(rubric.name for rubric in shipped_rubrics()), "Manners"]
    assert choice.text() == f"Rubric {ELOQUENT.name}"
    assert ELOQUENT.source[:40] in choice.toolTip()
    choose(choice, "Manners")
    assert (page.workspace.rubric.rubric, page.workspace.rubric.path) == (MANNERS, own)
    assert choice.accessibleName() == "Rubric Manners"
    assert "politeness, brevity, on topic\nMade up." in choice.accessibleDescription()
    boxes = page.settings.criteria.boxes
    assert [box.text() for box in boxes.values()] == ["Politeness", "Brevity", "On topic"]
    assert (page.setup().rubric, page.setup().criteria) == (MANNERS, MANNERS.names)
    boxes["brevity"].setChecked(False)
    assert page.setup().criteria == ("politeness", "on_topic")
    workspace.state.save()
    later = Workspace(workspace.threads, State(workspace.state.path.parent), workspace.store_path)
    again = new_page(qtbot, later)
    assert (again.setup().rubric, again.setup().criteria) == (MANNERS, ("politeness", "on_topic"))
    assert choice_of(qtbot, again).text() == "Rubric Manners"


def test_a_file_that_was_changed_is_read_again_one_that_is_gone_is_named_so(
    qtbot: QtBot, own: Path, page: JudgePage, choice: RubricChoice, workspace: Workspace
) -> None:
    choose(choice, "Manners")
    changed = replace(MANNERS, criteria=(*MANNERS.criteria, Criterion("wit", "Which is wittier?")))
    page.settings.criteria.boxes["brevity"].setChecked(False)
    qtbot.waitUntil(lambda: not choice._finding.busy)  # else it may see the file as it is from now on
    save_rubric(own, changed)
    with qtbot.waitSignal(workspace.note) as note:
        choice.look()
    assert note.args == ["manners.toml was changed and is read again."]
    assert page.setup().rubric == changed
    assert page.setup().criteria == ("politeness", "on_topic", "wit")  # what was left out stays so
    own.unlink()
    choice.look()
    qtbot.waitUntil(lambda: choice.text() == "Rubric Manners (not in manners.toml any more)")
    assert page.setup().rubric == changed


def test_no_rubric_cannot_be_chosen_one_elsewhere_can(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path
) -> None:
    rubrics_folder().mkdir(parents=True)
    (rubrics_folder() / "bad.toml").write_text("name = 7\n", encoding="utf-8")
    choice = choice_of(qtbot, new_page(qtbot, workspace))
    bad = offered(choice)["bad.toml (cannot be read)"]
    assert not bad.isEnabled()
    assert "criteria" in bad.toolTip()
    with qtbot.waitSignal(workspace.problem) as problem:
        choice.open_named(rubrics_folder() / "bad.toml")
    assert "bad.toml" in problem.args[0].problem
    assert choice.text() == f"Rubric {ELOQUENT.name}"
    path = tmp_path / "elsewhere" / "mine.toml"
    path.parent.mkdir()
    save_rubric(path, MANNERS)
    choice.open_named(path)
    qtbot.waitUntil(lambda: "Manners" in listed(choice))
    choose(choice, ELOQUENT.name)
    choice.look()
    qtbot.waitUntil(lambda: not choice._finding.busy)
    assert "Manners" in listed(choice)


def test_the_dataset_is_read_by_the_rubric(qtbot: QtBot, page: JudgePage, dataset: Path) -> None:
    open_dataset(qtbot, page.workspace, dataset)
    assert page.workspace.dataset.criteria == ()
    page.dataset_line.set_items(2)
    with qtbot.waitSignal(page.workspace.dataset_changed):
        page.workspace.rubric.choose(MANNERS)
    assert page.workspace.dataset.criteria == MANNERS.names
    assert page.dataset_line.items == 2
    with qtbot.waitSignal(page.workspace.dataset_changed):  # the newest rubric counts, also while it is read
        page.workspace.open_dataset(dataset)
        page.workspace.rubric.choose(replace(MANNERS.only(("brevity",)), name="Short"))
    assert page.workspace.dataset.rubric.names == ("brevity",)


def test_it_follows_what_a_dataset_has_labels_on_unless_a_person_chose_one_for_it(
    qtbot: QtBot, own: Path, workspace: Workspace, choice: RubricChoice, dataset: Path
) -> None:
    def is_read_by(names: tuple[str, ...]) -> bool:
        return not workspace.loading and workspace.dataset.rubric.names == names

    open_dataset(qtbot, workspace, demo_dataset())
    assert choice.text() == f"Rubric {ELOQUENT.name}"
    open_dataset(qtbot, workspace, dataset)
    qtbot.waitUntil(lambda: is_read_by(MANNERS.names))
    assert (choice.text(), workspace.rubric.path) == ("Rubric Manners", own)
    assert not workspace.rubric.is_chosen
    choose(choice, ELOQUENT.name)
    qtbot.waitUntil(lambda: is_read_by(ELOQUENT.names))
    open_dataset(qtbot, workspace, demo_dataset())
    open_dataset(qtbot, workspace, dataset)
    assert is_read_by(ELOQUENT.names)  # what was chosen for it stays
    other = Workspace(workspace.threads, workspace.state, workspace.store_path)
    choose(choice, "Manners")
    assert other.rubric.rubric == ELOQUENT  # another window keeps its own


def test_what_a_dataset_has_labels_on_is_drafted(
    qtbot: QtBot, workspace: Workspace, choice: RubricChoice, dataset: Path
) -> None:
    with qtbot.waitSignal(workspace.notice) as told:
        workspace.open_dataset(dataset)
    [(step, draft)] = told.args[0].steps.items()
    assert "manners.tsv has labels on politeness, brevity, on topic" in told.args[0].text
    assert step == "Draft a rubric with its 3 criteria…"
    assert step in offered(choice)
    draft()
    qtbot.waitUntil(lambda: choice.dialog is not None)
    dialog = choice.dialog
    assert tuple(criterion.name for criterion in dialog.draft.rubric.criteria) == MANNERS.names
    assert dialog.draft.rubric.name == "manners"
    path = rubrics_folder() / "manners.toml"
    path.parent.mkdir(parents=True)
    dialog.path = path
    with qtbot.waitSignal(workspace.dataset_changed):
        dialog.save_button.click()
    dialog.accept()
    assert workspace.rubric.path == path
    assert step not in offered(choice)


def test_setup_and_queue_keep_the_rubric(
    qtbot: QtBot, own: Path, page: JudgePage, choice: RubricChoice, dataset: Path
) -> None:
    setup = RunSetup(dataset, demo_model(), rubric=MANNERS, criteria=("brevity",))
    kept = Queued.of_json(json.loads(json.dumps(Queued(setup).as_json())), RunSetup(dataset, demo_model()))
    assert kept.setup == setup
    assert "1 criterion of Manners" in kept.how
    page.settings.show_setup(kept.setup)
    assert (page.setup().rubric, page.setup().criteria) == (MANNERS, ("brevity",))
    assert choice.text() == "Rubric Manners"
    page.settings._reset.click()  # what is asked is no setting
    assert (page.setup().rubric, page.setup().criteria) == (MANNERS, MANNERS.names)


def test_what_a_run_asked_is_found_among_the_rubrics(
    own: Path, page: JudgePage, choice: RubricChoice
) -> None:
    for part in (("brevity", "on_topic"), ("brevity",)):  # of what is in a file, of what is at hand
        page.workspace.rubric.ask(MANNERS.only(part))
        assert page.workspace.rubric.rubric == MANNERS
    other = replace(MANNERS, name="Other")
    page.workspace.rubric.ask(other)
    assert page.workspace.rubric.rubric == other
    assert choice.text() == "Rubric Other (as in a run)"


def test_a_shipped_one_is_edited_as_a_copy_and_a_new_one_is_empty(choice: RubricChoice) -> None:
    for entry, name in (("Edit…", ELOQUENT.name), ("New…", ""), ("Duplicate…", f"{ELOQUENT.name} (copy)")):
        offered(choice)[entry].trigger()
        dialog = choice.dialog
        assert dialog.draft.rubric.name == name
        assert dialog.path is None
        dialog.reject()  # nothing was changed: nobody is asked


@pytest.mark.slow
def test_an_own_rubric_is_judged(qtbot: QtBot, own: Path, page: JudgePage, dataset: Path) -> None:
    open_dataset(qtbot, page.workspace, dataset)
    with qtbot.waitSignal(page.workspace.dataset_changed):
        page.workspace.rubric.choose(MANNERS, own)
    wait_for_plan(qtbot, page)
    run_to_the_end(qtbot, page)
    qtbot.waitUntil(lambda: page.workspace.run is not None)
    run = page.workspace.run
    assert run.results.run.identity.asked == MANNERS
    assert set(run.results.judgments) == set(MANNERS.names)
    assert page.workspace.gold.criteria == MANNERS.names
    # Another wording is another run.
    page.workspace.rubric.choose(replace(MANNERS, wording=replace(MANNERS.wording, verdict="Urteil:")))
    wait_for_plan(qtbot, page)
    assert page.plan_panel.plan.forecast.run_id is None
    page.workspace.rubric.choose(MANNERS, own)
    wait_for_plan(qtbot, page)
    assert page.plan_panel.plan.forecast.run_id == run.id


def test_names_of_any_length_and_script_widen_nothing(page: JudgePage, choice: RubricChoice) -> None:
    before, letter = page.settings.minimumSizeHint().width(), choice.fontMetrics().averageCharWidth()
    criteria = tuple(Criterion(name, "<b>Which?</b>") for name in ("n" * 255, "الأدب", "礼貌"))
    page.workspace.rubric.choose(Rubric("R" * 255, criteria, source="s" * 4000))
    assert page.settings.minimumSizeHint().width() <= before
    assert choice.minimumSizeHint().width() < 20 * letter
    assert choice.sizeHint().width() < 70 * letter
    assert page.settings.criteria.boxes["礼貌"].text() == "礼貌"
    assert "&lt;b&gt;" in page.settings.criteria.boxes["礼貌"].toolTip()


def test_a_damaged_memory_is_the_rubric_of_the_task(workspace: Workspace) -> None:
    for kept in ({"rubric": 7}, {"rubric": {"name": "x"}}, {"rubric": MANNERS.as_json() | {"criteria": []}}):
        workspace.state.set_record("rubric", {**kept, "path": 3})
        again = Workspace(workspace.threads, workspace.state, workspace.store_path)
        assert (again.rubric.rubric, again.rubric.path) == (ELOQUENT, None)
