"""Two windows of one account, over one store and one memory: what one of them shows is what it does."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.annotations.effective import Reviews
from engine.results.run_results import load_reviews
from engine.store.run_store import RunStore
from gui.results.run_weights import BY_HAND, RunWeights, WeightsChoice
from gui.review.annotators import NoteDialog
from gui.workspace.state import BLIND, NEXT_CRITERION, State
from gui.workspace.threads import EngineThreads
from gui.workspace.workspace import Workspace
from tests.commands import ROOT
from tests.gui.review.steps import Open, Page


@pytest.fixture
def first(workspace: Workspace, store: Path, open_page: Open) -> Page:
    return open_page()


@pytest.fixture
def second(first: Page) -> Iterator[Workspace]:
    """A window that is opened beside it, in which Ben labels from now on."""
    space = first.workspace
    space.state.save()
    threads = EngineThreads()
    made = Workspace(threads, State(space.state.path.parent), space.store_path)
    assert made.author == "Ada"
    made.set_author("Ben")
    made.state.save()
    yield made
    made.close()
    assert threads.stop()


def said(page: Page, act: Callable[[], object]) -> Reviews:
    """What people have said of the run, once what is done has come to the store."""
    with page.signal(page.workspace.words.stored):
        act()
    with RunStore(page.workspace.store_path) as opened:
        return load_reviews(opened, 1)


def test_the_name_that_a_window_shows_is_the_author_of_all_that_is_said_in_it(
    first: Page, second: Workspace
) -> None:
    space = first.workspace
    with first.signal(space.run_changed):
        space.open_run(1)
    first.until(lambda: first.list.review is not None and bool(first.desk.card.badge.text))
    assert first.reviewer.who.text() == "You are Ada"
    item = first.item
    label = "B" if first.session.effective_labels()[first.session.criterion] == "A" else "A"
    said(first, lambda: first.press(label))
    first.write("Both say it.")
    said(first, lambda: first.save(first.desk.card.editor.field))
    first.press("N")
    dialog = first.reviewer.note.dialog
    assert isinstance(dialog, NoteDialog)
    dialog.field.setPlainText("Look again.")
    said(first, lambda: first.save(dialog.field))
    reviews = said(first, first.queue.confirm)
    assert {each.author for each in reviews.words_of(item)} == {"Ada"}
    assert [note.author for note in space.run.results.all_notes] == ["Ada"]
    assert State(space.state.path.parent).text("author") == "Ben"


def test_blind_or_not_what_follows_a_label_and_weights_are_a_windows_own(
    first: Page, second: Workspace
) -> None:
    space, run = first.workspace, first.run.results.run
    first.reviewer.switch_blind(True)
    weights, default = RunWeights(space.state), RunWeights(space.state).of(run)
    sevens, ones = (WeightsChoice(dict.fromkeys(default.weights, each), each, BY_HAND) for each in (7.0, 1.0))
    for name in (BLIND, NEXT_CRITERION):
        second.state.set_text(name, "" if name == BLIND else "on")
    RunWeights(second.state).keep(run, sevens)
    second.state.save()
    weights.keep(replace(run, id=99), ones)  # another run: that one's stay
    space.state.save()
    assert (space.state.text(BLIND), space.state.text(NEXT_CRITERION)) == ("on", "")
    assert weights.of(run) == default
    following = State(space.state.path.parent)
    assert (following.text(BLIND), following.text(NEXT_CRITERION)) == ("", "on")
    assert RunWeights(following).of(run) == sevens


def test_what_windows_save_under_names_and_open_is_there_for_all_of_them(
    first: Page, second: Workspace, tmp_path: Path
) -> None:
    request = WeightsChoice({"relevance": 2.0}, 1.0)
    for place, state in enumerate((first.workspace.state, second.state)):
        RunWeights(state).save(f"by {place}", request)
        state.add_recent("datasets", tmp_path / f"{place}.tsv")
    assert list(RunWeights(first.workspace.state).saved) == ["by 0", "by 1"]
    assert [path.name for path in first.workspace.state.recent("datasets")][:2] == ["1.tsv", "0.tsv"]


def test_what_another_process_saved_is_kept(tmp_path: Path) -> None:
    state = State(tmp_path)
    RunWeights(state).save("first", WeightsChoice({"relevance": 1.0}, 1.0))
    save = (
        "import sys; from pathlib import Path; from PySide6.QtCore import QCoreApplication;"
        "from gui.results.run_weights import RunWeights, WeightsChoice;"
        "from gui.workspace.state import State;"
        "app = QCoreApplication([]); state = State(Path(sys.argv[1]));"
        "RunWeights(state).save('second', WeightsChoice({'relevance': 2.0}, 1.0)); state.save()"
    )
    subprocess.run([sys.executable, "-c", save, tmp_path], cwd=ROOT, check=True)
    RunWeights(state).save("third", WeightsChoice({"relevance": 3.0}, 1.0))
    assert list(RunWeights(State(tmp_path)).saved) == ["first", "second", "third"]
