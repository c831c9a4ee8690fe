"""How far a person is: counted for a list, then one item at a time."""

import pytest
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_review
from engine.core.judgments import ReviewState
from gui.review.blind import Blind
from gui.review.progress import Progress
from gui.workspace.workspace import Workspace

TO_DO, DONE, SKIPPED = ReviewState.TO_DO, ReviewState.DONE, ReviewState.SKIPPED


@pytest.fixture
def progress(qtbot: QtBot, space: Workspace) -> Progress:
    """That of Ada with the 30 items of run 1, three of which are listed."""
    space.set_author("Ada")
    made = Progress(space, Blind(space), space)
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    made.follow_list(["1", "2", "3"])
    return made


def mark(qtbot: QtBot, space: Workspace, progress: Progress, item_id: str, state: ReviewState) -> None:
    """Mark an item, and hear that it is stored."""
    with qtbot.waitSignal(space.reviewed):
        progress.mark(item_id, state)


def test_each_mark_counts_at_once_and_not_twice(qtbot: QtBot, space: Workspace, progress: Progress) -> None:
    assert progress.in_words == "0 of 30 done, 3 left by this filter"
    steps = [
        ("1", DONE, "1 of 30 done, 2 left by this filter"),
        ("1", SKIPPED, "0 of 30 done, 1 skipped, 2 left by this filter"),
        ("9", DONE, "1 of 30 done, 1 skipped, 2 left by this filter"),
        ("1", TO_DO, "1 of 30 done, 3 left by this filter"),
    ]
    for item_id, state, words in steps:
        with qtbot.waitSignal(space.reviewed):
            progress.mark(item_id, state)
            assert progress.in_words == words
        assert progress.in_words == words
    progress.follow_list(["9", "2"])
    assert progress.in_words == "1 of 30 done, 1 left by this filter"
    assert progress.next_to_do(-1) == 1
    assert progress.next_to_do(1) is None


def test_another_person_and_a_run_read_again_are_counted_anew(
    qtbot: QtBot, space: Workspace, progress: Progress
) -> None:
    mark(qtbot, space, progress, "2", DONE)
    space.set_author("Ben")
    assert progress.in_words == "0 of 30 done, 3 left by this filter"
    space.set_author("Ada")
    with qtbot.waitSignal(space.run_changed):
        space.read_run_again()
    assert progress.in_words == "1 of 30 done, 2 left by this filter"


def test_what_is_not_stored_counts_no_more(space: Workspace, progress: Progress) -> None:
    progress.mark("1", DONE)
    progress.mark("2", DONE)
    space.unsaid.emit(new_review("1", "Ada", DONE))
    assert progress.in_words == "1 of 30 done, 2 left by this filter"


def test_a_mark_does_not_walk_the_whole_list(
    qtbot: QtBot, space: Workspace, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    state = progress.state
    progress.follow_list([str(number) for number in range(1, 31)])
    assert progress.in_words == "0 of 30 done, 30 left"

    def look_at(item_id: str) -> ReviewState:
        looked_at.append(item_id)
        return state(item_id)

    monkeypatch.setattr(progress, "state", look_at)
    mark(qtbot, space, progress, "1", DONE)
    assert progress.in_words == "1 of 30 done, 29 left"
    assert set(looked_at) == {"1"}
