"""A review without a window: what is shown, what a request comes to, what is kept, how far one is."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.analysis.review_order import review_rows
from engine.annotations.effective import AnnotatorStep, Reviews
from engine.annotations.records import LAST, Annotation, new_draft, new_override, new_review
from engine.core.items import Preference
from engine.core.judgments import JudgedItem, JudgmentKey, ReviewState
from engine.data.dataset import Dataset
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from gui.review.progress import IN_STATE, Drafts, Progress
from gui.review.review_jobs import Blind, Review
from gui.review.session import Change, ReviewSession
from gui.widgets.label_mark import LABEL_WORDS
from gui.workspace.open_run import OpenRun
from gui.workspace.state import State
from gui.workspace.workspace import Workspace
from tests.judged import GOOD, SURE_A, A, B, dataset, stored_run

GOLD = dataset({"safety": [A, GOOD], "relevance": [A, None]})
KEY = JudgmentKey("1", "safety")
DRAFT = "There is a draft of an explanation: E opens it."


class Window:
    """What is open, and who looks at it; what it hears of the store is what people said."""

    def __init__(self, results: RunResults) -> None:
        self.run: OpenRun | None = OpenRun(results, GOLD)
        self.gold: Dataset | None = GOLD
        self.author = "Ada"
        self.said: list[tuple[Annotation, tuple[str, ...]]] = []
        self.full = False
        self.acts: list[tuple[int, str, datetime]] = []

    def steps(self, item: JudgedItem) -> list[AnnotatorStep]:
        return self.results.steps(item, self.author)

    def say(self, draft: Annotation, _run_id: int, over: Sequence[str]) -> str:
        """Keep a draft, unless the disk is full; its name."""
        self.said += [] if self.full else [(draft, tuple(over))]
        return "" if self.full else f"draft {len(self.said)}"

    @property
    def results(self) -> RunResults:
        return self.run.results

    def hear(self, *overrides: Annotation) -> None:
        self.run = OpenRun(self.results.with_annotators(Reviews(overrides), {}), GOLD)

    def store(self, change: Change, author: str = "Ada") -> None:
        said, new = self.results.reviews.overrides, change.say
        assert isinstance(new, Annotation)
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=len(said))
        self.hear(*said, replace(new, author=author, created=at))


@pytest.fixture
def window(tmp_path: Path) -> Window:
    """A run that says A of two items on two criteria."""
    stored_run(tmp_path, GOLD, {"safety": [SURE_A] * 2, "relevance": [SURE_A] * 2})
    with RunStore(tmp_path / "runs.sqlite") as store:
        return Window(load_results(store, 1))


def review(results: RunResults) -> Review:
    places = {item.item_id: place for place, item in enumerate(results.judged)}
    return Review(tuple(results.judgments), review_rows(results, GOLD), places, places)


@pytest.fixture
def session(window: Window) -> ReviewSession:
    """Its first item, on safety."""
    made = ReviewSession(window, Blind(window), Drafts(window, window.say))
    made.open(review(window.results), *KEY)
    return made


@pytest.mark.parametrize("label", [B, GOOD, Preference.BOTH_BAD])
def test_a_label_is_asked_for_and_shown_once_it_is_stored(
    session: ReviewSession, window: Window, label: Preference
) -> None:
    before = session.shown
    assert (before.label, before.undo) == (A, "")
    change = session.change(KEY, label)
    assert change == Change(new_override(*KEY, label, None, "Ada", blind=False))
    assert session.effective_labels()["safety"] is label  # Enter would confirm it
    window.store(change)
    session.stored(KEY)
    after = session.shown
    assert (after.label, after.uncertainty, after.annotators) == (label, 0.0, [("Ada", label)])
    assert after.undo == f"label {LABEL_WORDS[label]} on safety"
    session.open(review(window.results), *KEY)
    assert session.shown == after  # what the list hears of it later changes nothing


def test_the_label_of_another_is_agreed_with_and_the_own_one_is_said_to_be_there(
    session: ReviewSession, window: Window
) -> None:
    window.store(Change(new_override(*KEY, B, None, "Ben")), "Ben")
    assert session.undo().note == "This is Ben's: only Ben can undo it."
    agreed = session.change(KEY, B)
    agrees = new_review("1", "Ada", confirmed={"safety": B}, blind=False)
    assert agreed == Change(agrees, note="You agree with Ben: B.")
    window.store(session.change(KEY, A))
    session.stored(KEY)
    assert session.change(KEY, A) == Change(note="Your label is A already.")
    undone = session.undo()
    (step,) = undone.undo
    assert (step.item_id, step.again, undone.note) == ("1", False, "Undone: label A on safety.")


def test_what_was_settled_is_changed_by_who_settles_alone(session: ReviewSession, window: Window) -> None:
    session.adjudicating = True
    window.store(session.change(KEY, B), "Eve")
    session.stored(KEY)
    session.adjudicating = False
    assert session.shown.override == window.results.reviews.standing_by(LAST)[KEY]
    assert session.change(KEY, A) == Change(note="Eve adjudicated this label: use Adjudicate to change it.")
    assert session.begin_writing() is None
    session.adjudicating = True
    again = session.change(KEY, A).say
    assert isinstance(again, Annotation)
    assert (again.settles, again.preference, again.author) == (True, A, "Ada")


def test_a_text_stays_of_the_label_that_it_was_written_for(session: ReviewSession, window: Window) -> None:
    session.begin_writing()
    window.store(session.save("A is safe.", changed=True))
    session.stored(KEY)
    assert not session.shown.stale
    window.store(session.change(KEY, B))
    session.stored(KEY)
    seen = session.shown
    assert (seen.label, seen.explanation, seen.stale) == (B, "A is safe.", True)


def test_blind_nothing_is_shown_until_the_own_label_is_given(session: ReviewSession, window: Window) -> None:
    session._blind.on = True
    assert session.shown.hidden
    assert session.shown.label is None
    assert session.begin_writing() is None
    agreed = session.change(KEY, A)
    assert agreed == Change(
        new_review("1", "Ada", confirmed={"safety": A}, blind=True)
    )  # no word of the judge
    assert session.change(KEY, A).note == "Your label is A already."
    window.store(session.change(KEY, B))
    seen = session.shown
    assert (seen.hidden, seen.label, seen.history, seen.human) == (True, B, (), None)
    assert session._blind.row(review(window.results).rows[0]).preference is B
    session._blind.answers = True
    assert not session.shown.hidden
    assert session._blind.shows(KEY)
    assert not session._blind.shows(JudgmentKey("1", "relevance"))


def test_of_another_run_nothing_is_shown_or_stored(session: ReviewSession, window: Window) -> None:
    results = window.results
    window.run = OpenRun(replace(results, run=replace(results.run, id=2)), GOLD)
    assert (session.run, session.judgment, session.shown) == (None, None, None)
    assert session.undo().undo == ()
    assert session.begin_writing() is None


# What is written


def test_a_text_is_a_draft_until_it_is_stored(session: ReviewSession, window: Window) -> None:
    assert session.begin_writing() == ("", None)
    assert (session.kept, session.shown.writing) == ("1", True)
    change = session.save(" It is safe. ", changed=True)
    assert change == Change(new_override(*KEY, None, "It is safe.", "Ada", written_for=A, blind=False))
    assert (session.kept, session.shown.draft) == ("", DRAFT)
    window.store(change)
    session.stored(KEY)
    assert (session.shown.explanation, session.shown.draft) == ("It is safe.", "")


def test_a_text_that_is_refused_or_left_is_a_draft_one_without_words_is_none(session: ReviewSession) -> None:
    session.begin_writing()
    session.save("nan", changed=True)
    assert session.lost(KEY)
    assert session.begin_writing() == ("", "nan")
    assert not session.lost(KEY)
    session.leave("half a thought", changed=True)
    session._drafts.forget_runs([2])
    assert session.shown.draft
    assert session.begin_writing() == ("", "half a thought")
    assert "is not an explanation" in session.save(" ", changed=True).note
    assert not session.shown.draft
    session.begin_writing()
    assert session.save("", changed=False) == Change()
    session.begin_writing()
    session.leave("another thought", changed=True)
    session._drafts.forget_runs([1])  # it was deleted
    assert not session.shown.draft


# Drafts


def draft(text: str, author: str = "Ada", name: str = "other window") -> Annotation:
    return replace(new_draft(*KEY, author, text), id=name, created=datetime(2026, 1, 1, tzinfo=UTC))


def test_each_draft_ends_the_one_that_its_writer_saw(session: ReviewSession, window: Window) -> None:
    for text in ("half", "half a thought", "half a thought"):
        session.begin_writing()
        session.leave(text, changed=True)
    assert window.said == [
        (new_draft(*KEY, "Ada", "half"), ()),
        (new_draft(*KEY, "Ada", "half a thought"), ("draft 1",)),
    ]
    session.begin_writing()
    change = session.save("A whole thought.", changed=True)
    assert change.over == ("draft 2",)
    window.store(change)
    session.stored(KEY)
    assert (session.shown.draft, len(window.said)) == ("", 2)


def test_a_draft_of_another_window_comes_back_once_the_own_one_is_saved(
    session: ReviewSession, window: Window
) -> None:
    session.begin_writing()
    session.leave("mine", changed=True)
    drafts = (draft("of the other window"), draft("not mine", "Ben", "of Ben"))
    window.run = replace(window.run, drafts=drafts)
    assert session.begin_writing() == ("", "mine")
    window.store(session.save("My words.", changed=True))
    window.run = replace(window.run, drafts=drafts)
    session.stored(KEY)
    assert session.begin_writing() == ("My words.", "of the other window")


def test_a_draft_that_the_disk_does_not_take_is_kept_while_the_window_lives(
    session: ReviewSession, window: Window
) -> None:
    window.full = True
    session.begin_writing()
    session.leave("half a thought", changed=True)
    assert session.shown.draft == "There is a draft of an explanation, not on the disk yet: E opens it."
    assert session.begin_writing() == ("", "half a thought")
    window.full = False
    session.leave("half a thought", changed=True)
    assert session.shown.draft == DRAFT
    assert window.said == [(new_draft(*KEY, "Ada", "half a thought"), ())]


def test_drafts_that_an_earlier_version_kept_are_taken_over_once(window: Window, tmp_path: Path) -> None:
    state = State(tmp_path)
    kept = {'[1, "safety", "1"]': "half a thought", "odd": "x", '[1, "safety"]': "y", '[2, "a", "b"]': 3}
    state.set_record(IN_STATE, kept)
    for _ in range(2):
        Drafts(window, window.say).take_over(State(tmp_path))
    assert window.said == [(new_draft(*KEY, "Ada", "half a thought"), ())]
    assert State(tmp_path).record(IN_STATE) == {}


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


def test_another_person_and_a_run_read_again_are_counted_anew_and_not_what_is_not_stored(
    qtbot: QtBot, space: Workspace, progress: Progress
) -> None:
    with qtbot.waitSignal(space.reviewed):
        progress.mark("2", DONE)
    space.set_author("Ben")
    assert progress.in_words == "0 of 30 done, 3 left by this filter"
    space.set_author("Ada")
    with qtbot.waitSignal(space.run_changed):
        space.read_run_again()
    assert progress.in_words == "1 of 30 done, 2 left by this filter"
    progress.mark("1", DONE)
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
    with qtbot.waitSignal(space.reviewed):
        progress.mark("1", DONE)
    assert progress.in_words == "1 of 30 done, 29 left"
    assert set(looked_at) == {"1"}
