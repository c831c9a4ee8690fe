"""Which labels belong to the random sample of a run, and what is said of those that were picked."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.core.judgments import JudgmentKey, NewOverride, NewReview, Origin
from engine.core.people import Reviews, picked_in_words
from engine.core.review_filters import ListOrder
from engine.data.sampling import in_drawn_order
from engine.data.slices import select
from engine.decisions.random_part import origins_beside_sample, random_part
from engine.decisions.run_dataset import RANDOM_SAMPLE, tags_of_items
from engine.decisions.run_results import load_reviews
from engine.review.doubt import ReviewRow, by_item
from engine.store.run_store import RunStore
from tests.judged import SURE_A, A, B, dataset, stored_run

ITEMS = 30
GOLD = dataset({"safety": [A] * ITEMS})
DRAWN = in_drawn_order(GOLD.ids, 0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    stored_run(tmp_path, GOLD, {"safety": [SURE_A] * ITEMS})
    with RunStore(tmp_path / "runs.sqlite") as opened:
        yield opened


def confirm(store: RunStore, item: str, origin: Origin | None, author: str = "Ada") -> None:
    store.review(1, NewReview(item, author, confirmed={"safety": A}, origin=origin))


def test_the_order_of_a_random_sample_is_the_seeds_whatever_else_is_listed() -> None:
    rows = [ReviewRow(place, item, "safety", doubt=place / 99) for place, item in enumerate(GOLD.ids)]
    found = [item.item_id for item in by_item(rows, ListOrder.RANDOM, seed=7)]
    assert found == in_drawn_order(GOLD.ids, 7)
    fewer = [item.item_id for item in by_item(rows[::2], ListOrder.RANDOM, seed=7)]
    assert fewer == [item for item in found if item in set(GOLD.ids[::2])]


def test_the_sample_goes_as_far_as_a_person_came_and_holds_what_was_labelled_before(store: RunStore) -> None:
    confirm(store, DRAWN[1], Origin.DOUBT)
    confirm(store, DRAWN[20], Origin.DOUBT)
    confirm(store, DRAWN[4], Origin.CHOSEN)
    for item in (DRAWN[0], DRAWN[2]):  # the second is labelled, so that it was passed over
        confirm(store, item, Origin.RANDOM)
    store.override(1, NewOverride(DRAWN[3], "safety", B, None, "Ben", Origin.DOUBT))
    reviews = load_reviews(store, 1)
    assert random_part(reviews, seed=0) == set(DRAWN[:3])
    assert random_part(reviews, seed=0, author="Ben") == frozenset()
    assert random_part(Reviews(), seed=0) == frozenset()
    # What was labelled in order of doubt before, and is of the sample, is no more of the hardest.
    counts = Counter(origins_beside_sample(reviews.origins, reviews, seed=0))
    assert counts == {Origin.RANDOM: 3, Origin.DOUBT: 2, Origin.CHOSEN: 1}
    tags = tags_of_items(store, GOLD)
    assert tags.keys() == set(DRAWN[:3])
    _, part = select(GOLD, f"tag={RANDOM_SAMPLE}", tags)
    assert part.known == set(DRAWN[:3])
    assert tags_of_items(store, GOLD, author="Ben") == {}


def test_where_a_label_came_from_is_stored(store: RunStore) -> None:
    confirm(store, "1", Origin.RANDOM)
    made = store.override(1, NewOverride("2", "safety", B, None, "Ada", Origin.DOUBT))
    assert made.origin is Origin.DOUBT
    assert store.overrides(1) == [made]
    assert [each.origin for each in store.confirmations(1)] == [Origin.RANDOM]
    assert store.run(1).review_seed == 0
    reviews = load_reviews(store, 1)
    assert reviews.labels == {"Ada": {JudgmentKey("1", "safety"): A, JudgmentKey("2", "safety"): B}}
    assert set(reviews.origins) == {("1", Origin.RANDOM), ("2", Origin.DOUBT)}


def test_labels_that_were_picked_are_counted() -> None:
    said = picked_in_words([Origin.DOUBT] * 38 + [Origin.RANDOM] * 10 + [Origin.CHOSEN] + [None])
    assert said[0] == "38 of these 50 labels were given in order of doubt: the hardest items."
    assert said[1].startswith("1 of these 50 labels was given to items that a person picked")
    assert said[-1] == "1 of these 50 labels was given in an order of the list that is not known."
    assert picked_in_words([Origin.RANDOM, Origin.DATASET]) == []
