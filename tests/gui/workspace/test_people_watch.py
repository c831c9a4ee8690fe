"""Two windows of one store: what is said in one is shown in the other, without being asked for."""

import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.annotations.records import Undo, new_override, new_review
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, ReviewState
from engine.store.opening import files_mark
from engine.store.run_store import RunStore
from gui.workspace.state import State
from gui.workspace.threads import EngineThreads
from gui.workspace.workspace import Workspace

KEY = JudgmentKey("1", "safety")
SOON = 5000  # a busy computer takes its time; the look itself comes after 700 ms


@pytest.fixture
def windows(qtbot: QtBot, space: Workspace, threads: EngineThreads, tmp_path: Path) -> list[Workspace]:
    """Two workspaces on one store, each with the demo run open; Ada and Ben."""
    other = Workspace(threads, State(tmp_path / "other"), space.store_path)
    for window, name in ((space, "Ada"), (other, "Ben")):
        window.set_author(name)
        with qtbot.waitSignal(window.run_changed):
            window.open_run(1)
    return [space, other]


def test_a_label_of_another_window_is_shown(qtbot: QtBot, windows: list[Workspace]) -> None:
    here, there = windows
    with qtbot.waitSignal(here.reviewed, timeout=SOON) as told:
        there.override(KEY, Preference.BOTH_BAD, None)
    assert told.args == ["1"]
    assert here.run is not None
    assert here.run.results.overrides[KEY].author == "Ben"
    assert there.run is not None
    [step] = there.steps(there.run.results.judged[0])
    with qtbot.waitSignal(here.overrides_changed, timeout=SOON):
        there.take_back(Undo("1", "", "Ben", step.at))
    assert KEY not in here.run.results.overrides


def test_a_note_of_another_window_is_shown(qtbot: QtBot, windows: list[Workspace]) -> None:
    here, there = windows
    assert here.run is not None
    content = here.run.results.judged[0].content_hash
    with qtbot.waitSignal(here.noted, timeout=SOON):
        there.note_item(content, "odd", ["rare"])
    assert [note.author for note in here.run.results.notes_on(content)] == ["Ben"]


def test_what_another_process_says_is_shown(qtbot: QtBot, windows: list[Workspace]) -> None:
    code = (
        "import sys; from pathlib import Path; from engine.store.run_store import RunStore;"
        "from engine.annotations.records import new_review;from engine.core.judgments import ReviewState;"
        "RunStore(Path(sys.argv[1])).annotate(1, new_review('2', 'Cy', ReviewState.DONE))"
    )
    here = windows[0]
    with qtbot.waitSignal(here.reviewed) as told:
        subprocess.run([sys.executable, "-c", code, str(here.store_path)], check=True)
    assert told.args == ["2"]
    assert here.run is not None
    assert here.run.results.reviews.state("2", "Cy") is ReviewState.DONE


def test_many_changes_are_told_at_once(
    qtbot: QtBot, windows: list[Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.workspace.annotations._MOST_TOLD", 1)
    here = windows[0]
    with qtbot.waitSignal(here.run_changed, timeout=SOON), RunStore(here.store_path) as store:
        for item in ("1", "2", "3"):
            store.annotate(1, new_override(item, "safety", Preference.A, None, "Cy"))
    qtbot.waitUntil(lambda: here.run is not None and "Cy" in here.run.results.reviews.annotators)


def test_looking_changes_nothing_that_is_looked_at(space: Workspace) -> None:
    before = files_mark(space.store_path)
    assert before is None or before
    with RunStore(space.store_path) as store:
        mark = store.words_mark(1)
    assert files_mark(space.store_path) == before
    with RunStore(space.store_path) as store:
        store.annotate(1, new_review("1", "Cy", ReviewState.DONE))
        assert before is None or files_mark(space.store_path) != before
        assert store.words_mark(1) != mark
