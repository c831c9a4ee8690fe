"""What people say of a run: overrides, states of items, confirmed labels, notes; stores that had none."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.annotations import effective, records
from engine.core.errors import StoreError
from engine.core.items import HumanLabel, Preference, Tie
from engine.core.judgments import JudgmentKey, ReviewState
from engine.results.run_results import load_reviews
from engine.store.run_store import RunStore
from tests.commands import said_by
from tests.judged import IDENTITY, judged_item
from tests.steps import refused, there
from tests.taking_back import take_back

A, B, GOOD, BAD = Preference
KEY = JudgmentKey("id 0", "safety")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """Holds run 1, of which items `id 0` and `id 1` are judged on safety."""
    with RunStore(tmp_path / "runs.sqlite") as opened:
        with opened.begin(IDENTITY) as run:
            opened.add(run.id, [judged_item(0), judged_item(1)])
        yield opened


def override(
    store: RunStore,
    preference: HumanLabel | None = B,
    explanation: str | None = None,
    author: str = "Ada",
    item_id: str = "id 0",
    **how: Any,
) -> records.Annotation:
    return store.annotate(1, records.new_override(item_id, "safety", preference, explanation, author, **how))


def review(
    store: RunStore, author: str, state: ReviewState | None = None, item_id: str = "id 0", **given: Preference
) -> None:
    store.annotate(1, records.new_review(item_id, author, state, given))


def test_the_newest_that_is_not_undone_is_in_force_and_nothing_is_lost(store: RunStore) -> None:
    first = override(store, A)
    pause()
    override(store, None, "A reason.")
    other = override(store, BAD, item_id="id 1")
    assert standing(store) == {"id 0": (None, "A reason."), "id 1": (BAD, None)}
    undone = there(take_back(store, 1, KEY))
    assert undone.undone is not None
    assert standing(store)["id 0"] == (A, None)
    assert store.annotations(1, records.AnnotationKind.OVERRIDE) == [first, undone, other]
    override(store, GOOD)
    assert standing(store)["id 0"] == (GOOD, None)


def test_where_nothing_is_in_force_nothing_is_undone_and_runs_do_not_share(store: RunStore) -> None:
    override(store)
    with store.begin(IDENTITY, fresh=True) as run:
        store.add(run.id, [judged_item(0)])
    assert store.annotations(run.id, records.AnnotationKind.OVERRIDE) == []
    assert take_back(store, run.id, KEY) is None
    assert take_back(store, 1, KEY) is not None
    before = store.annotations(1, records.AnnotationKind.OVERRIDE)
    for item_id in ("id 0", "id 1", "no such id"):
        assert take_back(store, 1, JudgmentKey(item_id, "safety")) is None
    assert store.annotations(1, records.AnnotationKind.OVERRIDE) == before
    assert stands(store) == {}


@pytest.mark.parametrize(
    ("run_id", "item_id", "criterion", "problem"),
    [
        (1, "id 2", "safety", "Run 1 has not judged the item 'id 2'"),
        (1, "id 0", "relevance", "Run 1 has no criterion relevance"),
        (7, "id 0", "safety", "has no run 7"),
    ],
)
def test_what_the_run_has_not_judged_cannot_be_overridden(
    store: RunStore, run_id: int, item_id: str, criterion: str, problem: str
) -> None:
    with pytest.raises(StoreError, match=problem):
        store.annotate(run_id, records.new_override(item_id, criterion, A, None, "Ada"))
    assert store.annotations(1, records.AnnotationKind.OVERRIDE) == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ((None, None, "Ada"), "changes nothing"),
        ((None, " \n\t", "Ada"), "changes nothing"),
        ((A, "None", "Ada"), "cannot contain the explanation 'None'"),
        ((None, "a lone \ud800", "Ada"), "cannot contain the explanation"),
        ((A, None, "  "), "needs the annotator's name"),
        ((A, None, "Ada\nBen"), "needs the annotator's name"),
    ],
)
def test_what_cannot_be_an_override_is_refused_whole(
    store: RunStore, said: tuple[Any, Any, str], problem: str
) -> None:
    refused(lambda: override(store, *said), problem)
    assert store.annotations(1, records.AnnotationKind.OVERRIDE) == []


def test_an_override_of_another_process_comes_back_with_its_author_and_time(store: RunStore) -> None:
    with store.begin(IDENTITY), RunStore(store.path) as window:  # which goes on meanwhile
        made = override(window, B, "  B is safer.\n", " Ada Lovelace ")
    assert (made.preference, made.explanation, made.author) == (B, "B is safer.", "Ada Lovelace")
    assert made.created.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - made.created) < timedelta(minutes=1)
    assert store.annotations(1, records.AnnotationKind.OVERRIDE) == [made]
    assert next(store.judged(1)) == judged_item(0)


@pytest.mark.parametrize(
    ("overrides", "expected", "in_words"),
    [
        ([], effective.OverrideCount(0, 0, ()), "nothing"),
        ([(A, None, "Ada")], effective.OverrideCount(1, 0, ("Ada",)), "1 label, by Ada"),
        (
            [(None, "Why.", "Ben"), (A, "Why.", "Ada"), (B, None, "Ada")],
            effective.OverrideCount(2, 2, ("Ada", "Ben")),
            "2 labels and 2 explanations, by Ada, Ben",
        ),
    ],
)
def test_overrides_are_counted_in_words(
    overrides: list[tuple[Preference | None, str | None, str]],
    expected: effective.OverrideCount,
    in_words: str,
) -> None:
    made = [
        records.new_override(str(number), "safety", label, text, author)
        for number, (label, text, author) in enumerate(overrides)
    ]
    standing = effective.Reviews(tuple(made)).standing_by(records.LAST)
    assert effective.count_overrides(standing.values()) == expected
    assert expected.by_whom == in_words


def test_a_store_opens_without_what_only_reads_tables() -> None:
    code = "import sys, engine.store.run_store; print({'numpy', 'pandas', 'pyarrow'} & set(sys.modules))"
    assert said_by(code) == "set()"


# States, confirmed labels, notes


def steps(store: RunStore, author: str = "Ada") -> list[effective.AnnotatorStep]:
    reviews, notes = load_reviews(store, 1), store.notes(["hash"])
    return effective.steps_of([*reviews.words_of("id 0"), *notes.get("hash", ())], author)


def undo(store: RunStore, again: bool = False) -> bool:
    step = effective.to_redo(steps(store)) if again else effective.to_undo(steps(store))
    pause()
    return step is not None and store.take_back(1, records.Undo("id 0", "hash", "Ada", step.at, again))


def test_one_step_after_the_other_is_taken_back_and_done_again(store: RunStore) -> None:
    def seen() -> tuple[HumanLabel | None, ReviewState, int]:
        reviews = load_reviews(store, 1)
        label = reviews.labels.get("Ada", {}).get(KEY)
        return (
            label,
            reviews.state("id 0", "Ada"),
            len(effective.standing_notes(store.notes(["hash"]).get("hash", ()))),
        )

    override(store, BAD, author="Ben")
    looked = [seen()]
    for run_id, what in (
        (1, records.new_review("id 0", "Ada", confirmed={"safety": A})),
        (1, records.new_override("id 0", "safety", B, None, "Ada")),
        (None, records.new_note("hash", "Odd.", [], "Ada")),
        (1, records.new_review("id 0", "Ada", ReviewState.DONE, {"safety": B})),
    ):
        pause()
        store.annotate(run_id, what)
        looked.append(seen())
    assert looked[-1] == (B, ReviewState.DONE, 1)
    for before in looked[-2::-1]:
        assert undo(store)
        assert seen() == before
    assert not undo(store)
    for after in looked[1:]:
        assert undo(store, again=True)
        assert seen() == after
    assert not undo(store, again=True)
    assert load_reviews(store, 1).labels["Ben"] == {KEY: BAD}


def test_words_that_follow_each_other_at_once_are_steps_of_their_own(store: RunStore) -> None:
    times = [records.now() for _ in range(100)]
    assert sorted(set(times)) == times
    for label in (A, B, GOOD):
        override(store, label)
    assert [step.keys for step in steps(store)] == [{KEY}] * 3
    assert undo(store)
    assert standing(store)["id 0"] == (B, None)
    assert undo(store, again=True)
    assert standing(store)["id 0"] == (GOOD, None)
    undo(store)
    pause()
    override(store, BAD)  # what was taken back is not done again after something else was said
    assert effective.to_redo(steps(store)) is None
    assert load_reviews(store, 1).labels == {"Ada": {KEY: BAD}}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (records.LabelSource(), (GOOD, ("Eve",), "Settled.")),
        (records.LabelSource(records.LabelSourceKind.ADJUDICATED), (GOOD, ("Eve",), "Settled.")),
        (records.LabelSource(records.LabelSourceKind.MAJORITY), (A, ("Ada", "Cleo"), "For A.")),
        (records.LabelSource(records.LabelSourceKind.ANNOTATOR, "Ben"), (B, ("Ben",), "For B.")),
        (records.LabelSource(records.LabelSourceKind.ANNOTATOR, "Cleo"), (A, ("Cleo",), None)),
        (records.LabelSource(records.LabelSourceKind.JUDGE), None),
    ],
)
def test_whose_labels_stand(
    store: RunStore, source: records.LabelSource, expected: tuple[object, object, object] | None
) -> None:
    override(store, A, "For A.", "Ada")
    override(store, B, "For B.", "Ben")
    review(store, "Cleo", safety=A)
    override(store, GOOD, "Settled.", "Eve", settles=True)
    override(store, BAD, author="Ben", item_id="id 1")
    reviews = load_reviews(store, 1)
    found = reviews.standing_by(source).get(KEY)
    said = (found.preference, found.label_by, found.explanation) if found else None
    assert said == expected
    assert set(reviews.labels) == {"Ada", "Ben", "Cleo"}  # who settles is none of those who labelled


@pytest.mark.parametrize("other", [Tie.TIE, GOOD, BAD])
def test_a_majority_of_ties_is_a_tie_and_not_the_judges_label(store: RunStore, other: HumanLabel) -> None:
    override(store, Tie.TIE, author="Ada")
    override(store, other, author="Ben")
    majority = records.LabelSource(records.LabelSourceKind.MAJORITY)
    found = load_reviews(store, 1).standing_by(majority)[KEY]
    assert (found.preference, found.label_by) == (Tie.TIE, ("Ada", "Ben"))


def test_a_settled_label_stands_whatever_is_said_later(store: RunStore) -> None:
    override(store, GOOD, author="Eve", settles=True)
    override(store, B, "For B.", "Ben")
    found = stands(store)[KEY]
    assert (found.preference, found.adjudicated, found.label_by) == (GOOD, True, ("Eve",))
    assert (found.text_by, found.fits(GOOD)) == ("Ben", False)
    take_back(store, 1, KEY, "Eve")
    assert stands(store)[KEY].preference is B


@pytest.mark.parametrize(
    "source", [records.LabelSource(), records.LabelSource(records.LabelSourceKind.ADJUDICATED)]
)
def test_of_two_adjudicators_the_last_label_stands(store: RunStore, source: records.LabelSource) -> None:
    override(store, A, author="Ada")
    for adjudicator, label in (("Eve", GOOD), ("Fay", BAD), ("Eve", B)):
        pause()
        override(store, label, author=adjudicator, settles=True)
    standing = load_reviews(store, 1).standing_by(source)[KEY]
    assert (standing.preference, standing.label_by) == (B, ("Eve",))
    take_back(store, 1, KEY, "Eve")
    assert load_reviews(store, 1).standing_by(source)[KEY].preference is BAD


def test_an_item_is_to_do_until_a_person_says_something_else(store: RunStore) -> None:
    review(store, "Ada", ReviewState.DONE, safety=B)
    review(store, "Ada", ReviewState.SKIPPED, item_id="id 1")
    for state in (ReviewState.DONE, ReviewState.TO_DO):
        review(store, "Ben", state, item_id="id 1")
    reviews = load_reviews(store, 1)
    states = [[reviews.state(item, name) for item in ("id 0", "id 1")] for name in ("Ada", "Ben")]
    assert states == [[ReviewState.DONE, ReviewState.SKIPPED], [ReviewState.TO_DO, ReviewState.TO_DO]]
    assert [mark.author for mark in reviews.marks_of("id 1")] == ["Ada"]
    assert (len(reviews.marks), reviews.annotators) == (4, ("Ada", "Ben"))


def test_the_last_word_of_a_person_counts_and_what_confirmed_a_label_goes_with_it(store: RunStore) -> None:
    for say, label in ((review, GOOD), (override, A), (review, GOOD)):
        if say is review:
            review(store, "Ada", safety=label)
        else:
            override(store, label)
        pause()
        assert load_reviews(store, 1).labels == {"Ada": {KEY: label}}
    take_back(store, 1, KEY, "Ada")
    assert load_reviews(store, 1).labels == {"Ada": {KEY: GOOD}}
    override(store, B, author="Ben")
    pause()
    review(store, "Ben", ReviewState.DONE, safety=B)
    pause()
    take_back(store, 1, KEY, "Ben")
    assert load_reviews(store, 1).labels == {"Ada": {KEY: GOOD}}


def test_label_and_explanation_may_be_of_two_people_the_last_of_each_counts(store: RunStore) -> None:
    override(store, BAD, "His words.", author="Ben")
    override(store, None, "Only my words.", author="Ada")
    found = stands(store)[KEY]
    assert (found.preference, found.explanation, found.author) == (BAD, "Only my words.", "Ben and Ada")
    override(store, A, "Her words.", author="Ada")
    override(store, B, None, author="Ada")
    found = stands(store)[KEY]
    assert (found.preference, found.explanation, found.author) == (B, "His words.", "Ada and Ben")
    assert not found.fits(B)  # they are of his label


def test_an_explanation_alone_is_no_label_and_taken_back_leaves_a_confirmed_one(store: RunStore) -> None:
    override(store, None, "A reason.", author="Ben")
    assert load_reviews(store, 1).labels == {}
    review(store, "Ada", ReviewState.DONE, safety=A)
    pause()
    override(store, None, "A reason.", author="Ada")
    take_back(store, 1, KEY, "Ada")
    assert load_reviews(store, 1).labels == {"Ada": {KEY: A}}


def test_a_person_takes_back_only_what_he_said(store: RunStore) -> None:
    override(store, A, author="Ada")
    override(store, B, author="Ben")
    undone = there(take_back(store, 1, KEY, "Ada"))
    assert (undone.author, undone.preference) == ("Ada", A)
    assert stands(store)[KEY].author == "Ben"
    assert take_back(store, 1, KEY, "Ada") is None


@pytest.mark.parametrize(
    ("item_id", "author", "problem"),
    [("id 7", "Ada", "not judged"), ("id 0", " ", "needs the annotator's name")],
)
def test_what_nobody_says_of_no_item_is_refused_whole(
    store: RunStore, item_id: str, author: str, problem: str
) -> None:
    refused(lambda: review(store, author, ReviewState.DONE, item_id=item_id, safety=A), problem)
    assert load_reviews(store, 1).marks == ()


def test_notes_of_many_items_are_found_at_once_and_a_tag_of_two_lines_is_refused(store: RunStore) -> None:
    for number in (0, 1234):
        store.annotate(None, records.new_note(f"hash {number}", "A word.", [], "Ada"))
    odd = records.new_note("hash 1", "A word.", ["two\nlines"], "Ada")
    refused(lambda: store.annotate(None, odd), "cannot be a tag")
    assert set(store.notes(f"hash {number}" for number in range(2000))) == {"hash 0", "hash 1234"}


def standing(store: RunStore) -> dict[str, tuple[HumanLabel | None, str | None]]:
    """By item, label and explanation that stand on safety."""
    return {key.item_id: (each.preference, each.explanation) for key, each in stands(store).items()}


def stands(store: RunStore) -> dict[JudgmentKey, effective.EffectiveAnnotation]:
    """What people said last."""
    return load_reviews(store, 1).standing_by(records.LAST)


def pause() -> None:
    """Until another millisecond begins: what is said within one has no order."""
    time.sleep(0.002)
