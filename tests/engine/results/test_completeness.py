"""What a run lacks, and which labels belong to its random samples."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.analysis.review_order import ReviewRow, by_item
from engine.annotations.effective import Reviews, picked_in_words
from engine.annotations.records import AnnotationKind, ListOrder, new_note, new_override, new_review
from engine.core.errors import SetupError
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from engine.data.label_origins import in_drawn_order
from engine.data.slices import RANDOM_SAMPLE, TAG, select, slicing
from engine.results import completeness
from engine.results.run_dataset import noted_of_items
from engine.results.run_results import load_reviews
from engine.store.run_store import RunStore
from tests.judged import SURE_A, A, B, Overridden, dataset, results_of, stored_run, write_old_store

UNSCORED = "1 judgment is unscored; its cell is empty."
STALE = "1 explanation was written for another label than the effective one (stale): a submission omits it."
UNEXPLAINED = "1 judgment has no explanation: the model generated no text."


@pytest.mark.parametrize(
    ("overrides", "sentences"),
    [
        ([], [UNSCORED, STALE]),
        (
            [("3", "safety", B, None)],
            ["1 judgment of run 1 is overridden by annotators: 1 label, by Ada.", UNEXPLAINED, STALE],
        ),
        (
            [("1", "safety", B, None), ("2", "safety", None, "Why.")],
            [
                "2 judgments of run 1 are overridden by annotators: 1 label and 1 explanation, by Ada.",
                UNSCORED,
                "2 explanations were written for another label than the effective one (stale): a"
                " submission omits them.",
            ],
        ),
        (
            [(item, "safety", B, "B is safe.") for item in "1234"],
            ["4 judgments of run 1 are overridden by annotators: 4 labels and 4 explanations, by Ada."],
        ),
    ],
)
def test_each_gap_is_a_sentence(tmp_path: Path, overrides: Overridden, sentences: list[str]) -> None:
    assert [gap.sentence for gap in completeness.gaps(results_of(tmp_path, overrides))] == sentences


def test_the_models_own_has_no_gap_for_what_people_overrode(tmp_path: Path) -> None:
    results = results_of(tmp_path, [("1", "safety", B, "B is safe.")])
    kinds = [[gap.kind for gap in completeness.gaps(each)] for each in (results, results.model_alone())]
    own = [completeness.IncompleteKind.UNSCORED, completeness.IncompleteKind.STALE]
    assert kinds == [[completeness.IncompleteKind.OVERRIDDEN, *own], own]


def test_how_far_a_run_is(tmp_path: Path) -> None:
    results = results_of(tmp_path, [])
    assert completeness.incomplete(results) == "The run is not complete: 4 of 4 items are judged."
    assert completeness.incomplete(results, "Run 7") == "Run 7 is not complete: 4 of 4 items are judged."


# Which labels belong to the random sample of a run, and what is said of those that were picked.


ITEMS = 30
GOLD = dataset({"safety": [A] * ITEMS})
DRAWN = in_drawn_order(GOLD.ids, 0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    stored_run(tmp_path, GOLD, {"safety": [SURE_A] * ITEMS})
    with RunStore(tmp_path / "runs.sqlite") as opened:
        yield opened


def confirm(store: RunStore, item: str, origin: Origin | None, author: str = "Ada") -> None:
    store.annotate(1, new_review(item, author, confirmed={"safety": A}, origin=origin))


def test_the_order_of_a_random_sample_is_the_seeds_whatever_else_is_listed() -> None:
    rows = [ReviewRow(place, item, "safety", uncertainty=place / 99) for place, item in enumerate(GOLD.ids)]
    found = [item.item_id for item in by_item(rows, ListOrder.RANDOM, seed=7)]
    assert found == in_drawn_order(GOLD.ids, 7)
    fewer = [item.item_id for item in by_item(rows[::2], ListOrder.RANDOM, seed=7)]
    assert fewer == [item for item in found if item in set(GOLD.ids[::2])]


def test_the_sample_goes_as_far_as_a_person_came_and_holds_what_was_labelled_before(store: RunStore) -> None:
    confirm(store, DRAWN[1], Origin.UNCERTAINTY)
    confirm(store, DRAWN[20], Origin.UNCERTAINTY)
    confirm(store, DRAWN[4], Origin.CHOSEN)
    for item in (DRAWN[0], DRAWN[2]):  # the second is labelled, so that it was passed over
        confirm(store, item, Origin.RANDOM)
    store.annotate(1, new_override(DRAWN[3], "safety", B, None, "Ben", origin=Origin.UNCERTAINTY))
    reviews = load_reviews(store, 1)
    assert completeness.random_part(reviews) == completeness.RandomPart(frozenset(DRAWN[:3]))
    assert completeness.random_part(reviews, author="Ben") == completeness.RandomPart()
    assert completeness.random_part(Reviews()) == completeness.RandomPart()
    hardest, picked, *_ = completeness.origins_in_words(reviews.origins, reviews)
    assert hardest.startswith("2 of these 6 labels were given in order of uncertainty")
    assert picked.startswith("1 of these 6 labels was given to items that the annotator picked")
    noted = noted_of_items(store, GOLD)
    _, part = select(GOLD, f"{RANDOM_SAMPLE}=labelled", noted)
    assert part.known == noted.sampled == set(DRAWN[:3])
    assert part.caveat == ""
    assert noted_of_items(store, GOLD, author="Ben").sampled == frozenset()


def test_a_sample_that_items_were_skipped_in_is_not_random_any_more_and_says_so(store: RunStore) -> None:
    for item in (DRAWN[0], DRAWN[3]):
        confirm(store, item, Origin.RANDOM)
    for item in (DRAWN[1], DRAWN[2], DRAWN[9]):  # the last is skipped beyond the sample
        store.annotate(1, new_review(item, "Ada", ReviewState.SKIPPED))
    store.annotate(1, new_review(DRAWN[1], "Ada", ReviewState.TO_DO))  # still it has no label
    reviews = load_reviews(store, 1)
    assert completeness.random_part(reviews).skipped == set(DRAWN[1:3])
    [said] = completeness.origins_in_words(reviews.origins, reviews)
    assert said.startswith("2 items of the random sample were skipped and have no label, 2 have one")
    assert completeness.origins_in_words([("x", Origin.DATASET)], reviews) == []
    division = slicing(GOLD, RANDOM_SAMPLE, noted_of_items(store, GOLD))
    parts = [(part.key, len(part)) for part in division.slices]
    assert parts == [("labelled", 2), ("skipped", 2), ("others", ITEMS - 4)]
    assert division.slices[0].caveat == said
    confirm(store, DRAWN[1], Origin.CHOSEN)
    assert completeness.random_part(load_reviews(store, 1)).skipped == {DRAWN[2]}


def test_a_persons_own_tag_is_not_the_random_sample(store: RunStore) -> None:
    confirm(store, DRAWN[0], Origin.RANDOM)
    hashes = {item.id: item.content_hash for item in GOLD}
    store.annotate(None, new_note(hashes[DRAWN[5]], "", ["random sample"], "Ada"))
    noted = noted_of_items(store, GOLD)
    assert select(GOLD, "tag=random sample", noted)[1].ids == (DRAWN[5],)
    assert slicing(GOLD, TAG, noted).slices[0].ids == (DRAWN[5],)
    assert select(GOLD, f"{RANDOM_SAMPLE}=labelled", noted)[1].ids == (DRAWN[0],)


def test_labels_keep_the_sample_that_they_were_given_in(store: RunStore) -> None:
    store.annotate(1, new_override(DRAWN[0], "safety", B, None, "Ada", origin=Origin.RANDOM))
    store.draw_sample_by(1, 7)
    assert store.run(1).review_seed == 7
    other = in_drawn_order(GOLD.ids, 7)
    confirm(store, other[0], Origin.RANDOM)
    confirm(store, other[20], Origin.UNCERTAINTY)
    # Who still had the list of the other seed before him gave a label of that sample.
    store.annotate(1, new_review(DRAWN[1], "Ben", confirmed={"safety": A}, origin=Origin.RANDOM, seed=0))
    assert [each.seed for each in store.annotations(1, AnnotationKind.OVERRIDE)] == [0]
    assert [each.seed for each in store.annotations(1, AnnotationKind.CONFIRMATION)] == [7, None, 0]
    found = completeness.random_part(load_reviews(store, 1)).labelled
    assert found == {DRAWN[0], other[0], DRAWN[1]} | ({other[20]} if other[20] in DRAWN[:2] else set())
    with pytest.raises(SetupError, match="The seed is -1"):
        store.draw_sample_by(1, -1)


def test_labels_of_a_sample_of_an_earlier_version_are_by_the_seed_of_their_run(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    write_old_store(path, version=8)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE run SET review_seed = 5")
        db.execute(
            "INSERT INTO confirmation (run_id, item_id, criterion, preference, author, created, origin)"
            " VALUES (7, 'one', 'safety', 'A', 'Ada', '2026-01-01T00:00:00+00:00', 'random'),"
            " (7, 'one', 'safety', 'B', 'Ada', '2026-01-02T00:00:00+00:00', 'doubt')"
        )
    with RunStore(path) as opened:
        assert [each.seed for each in opened.annotations(7, AnnotationKind.CONFIRMATION)] == [5, None]


def test_where_a_label_came_from_is_stored(store: RunStore) -> None:
    confirm(store, "1", Origin.RANDOM)
    made = store.annotate(1, new_override("2", "safety", B, None, "Ada", origin=Origin.UNCERTAINTY))
    assert made.origin is Origin.UNCERTAINTY
    assert store.annotations(1, AnnotationKind.OVERRIDE) == [made]
    assert [each.origin for each in store.annotations(1, AnnotationKind.CONFIRMATION)] == [Origin.RANDOM]
    assert store.run(1).review_seed == 0
    reviews = load_reviews(store, 1)
    assert reviews.labels == {"Ada": {JudgmentKey("1", "safety"): A, JudgmentKey("2", "safety"): B}}
    assert set(reviews.origins) == {("1", Origin.RANDOM), ("2", Origin.UNCERTAINTY)}


def test_labels_that_were_picked_are_counted() -> None:
    said = picked_in_words([Origin.UNCERTAINTY] * 38 + [Origin.RANDOM] * 10 + [Origin.CHOSEN] + [None])
    assert said[0] == "38 of these 50 labels were given in order of uncertainty: the hardest items."
    assert said[1].startswith("1 of these 50 labels was given to items that the annotator picked")
    assert said[-1] == "1 of these 50 labels was given in an unknown order."
    assert picked_in_words([Origin.RANDOM, Origin.DATASET]) == []
