"""The review list: doubt, order, filters, columns, and what is said of items."""

import itertools
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.analysis.review_order import (
    BY_COLUMN,
    NOTE,
    TAG,
    Remarks,
    ReviewItem,
    ReviewRow,
    by_column,
    by_item,
    filtered,
    review_rows,
)
from engine.annotations.records import NO_LABEL, Filters, ListOrder, new_note, new_override
from engine.core.items import Preference
from engine.core.judgments import Judgment, JudgmentKey, ReviewState
from engine.core.rubric import ELOQUENT, Criterion, Rubric
from engine.data.dataset import load_dataset
from engine.metrics.matching import system_of_run
from engine.ranking.weighted_scoring import scored_pairs_of, weigh
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import (
    BAD,
    GOOD,
    OWN,
    RATHER_A,
    SURE_A,
    SURE_GOOD,
    TIE,
    A,
    B,
    Columns,
    Probabilities,
    dataset,
    judged_run,
    results_of,
    with_texts,
)

# The review list: how doubtful a judgment is, what is filtered, which item comes first.


SURE_B = (0.03, 0.91, 0.03, 0.03)
RATHER_B = (0.2, 0.6, 0.1, 0.1)
GOLD = dataset({"safety": [A, B, None, GOOD, BAD]})


def judged(folder: Path, columns: Columns, **more: Any) -> RunResults:
    return judged_run(folder, GOLD, columns, **more)


def overridden(folder: Path, item_id: str, **what: Any) -> RunResults:
    """The run of `judged` with one override more."""
    with RunStore(folder / "runs.sqlite") as store:
        annotator = {"preference": None, "explanation": None, "author": "Ada"}
        store.annotate(1, new_override(item_id, "safety", **(annotator | what)))
        return load_results(store, 1)


def with_flips(results: RunResults, *item_ids: str) -> RunResults:
    columns = {
        name: tuple(
            replace(judgment, flipped=judgment.item_id in item_ids)
            if isinstance(judgment, Judgment)
            else judgment
            for judgment in column
        )
        for name, column in results.judgments.items()
    }
    return replace(results, judgments=columns)


def doubts(results: RunResults, criterion: str = "safety") -> list[float]:
    return [row.uncertainty for row in review_rows(results) if row.criterion == criterion]


def test_doubt_is_what_the_margin_leaves_and_whole_for_the_unscored(tmp_path: Path) -> None:
    results = judged(tmp_path, {"safety": [SURE_A, RATHER_A, None, SURE_GOOD, SURE_A]})
    assert doubts(results) == pytest.approx([0.12, 0.6, 1, 0.12, 0.12])
    # Where the orders disagree the margin counts half.
    assert doubts(with_flips(results, "2", "5")) == pytest.approx([0.12, 0.8, 1, 0.12, 0.56])


def test_where_the_explanation_is_for_another_label_the_margin_counts_half(tmp_path: Path) -> None:
    columns: Columns = {"safety": [SURE_A, SURE_B, SURE_B, None, SURE_GOOD]}
    results = with_flips(judged(tmp_path, columns, explanations={"safety": "A is better."}), "3")
    assert doubts(results) == pytest.approx([0.12, 0.56, 0.78, 1, 0.56])
    assert [row.stale for row in review_rows(results)] == [False, True, True, False, True]


def test_an_overall_label_against_the_weighted_winner_is_doubted_on_its_own_criterion(tmp_path: Path) -> None:
    columns: Columns = {
        "safety": [SURE_B, SURE_A, SURE_B, SURE_B, None],
        "relevance": [SURE_B, SURE_A, SURE_B, SURE_B, SURE_B],
        "overall_quality": [RATHER_A, RATHER_A, SURE_GOOD, RATHER_B, RATHER_A],
    }
    results = judged(tmp_path, columns)
    assert doubts(results, "overall_quality") == pytest.approx([0.8, 0.6, 0.12, 0.6, 0.6])
    assert doubts(results, "safety") == pytest.approx([0.12, 0.12, 0.12, 0.12, 1])


def test_the_winner_is_that_of_the_runs_own_weights_and_threshold(tmp_path: Path) -> None:
    columns: Columns = {"tact": [SURE_B] * 5, "wit": [SURE_A] * 5, "overall_quality": [RATHER_A] * 5}
    cases = ((9.0, 0.0, 0.0), 0.5, 0.8), ((0.0, 9.0, 0.0), 0.5, 0.6), ((9.0, 0.0, 0.0), 9.9, 0.6)
    for weights, threshold, uncertainty in cases:
        criteria = (Criterion(name, "Which?", weight) for name, weight in zip(columns, weights, strict=True))
        folder = tmp_path / f"{weights[0]}-{threshold}"
        folder.mkdir()
        results = judged(folder, columns, rubric=Rubric("mine", tuple(criteria), threshold))
        assert doubts(results, "overall_quality") == pytest.approx([uncertainty] * 5)


def contradicted_by_the_whole_weighting(results: RunResults) -> set[str]:
    """Whose overall label is A and weighted winner B, or the reverse, as `weigh` decides the whole run."""
    system = system_of_run(results)
    weights = {each.name: each.weight for each in ELOQUENT.criteria if each.name in results.judgments}
    weighed = weigh(scored_pairs_of(system, list(weights)), weights, ELOQUENT.tie_threshold)
    winners = {winner["id"]: winner["winner"] for winner in weighed.result["results"]}
    labels = {row.id: row.predictions["overall_quality"].preference for row in system.submission.rows}
    return {item_id for item_id, label in labels.items() if {label, winners.get(item_id)} == {"A", "B"}}


@pytest.mark.parametrize("seed", range(3))
def test_contradictions_are_those_of_the_whole_weighing(tmp_path: Path, seed: int) -> None:
    """Probabilities are tenths, so that many differences are 0 or the very tie threshold."""
    random = Random(seed)
    criteria, gold = ("safety", "overall_quality"), dataset({"safety": [None] * 150})
    shares = [share for share in itertools.product(range(1, 8), repeat=4) if sum(share) == 10]
    tenths = [share for share in shares if share.count(max(share)) == 1]

    def probabilities() -> Probabilities | None:
        a, b, good, bad = random.choice(tenths)
        return (a / 10, b / 10, good / 10, bad / 10) if random.random() < 0.9 else None

    columns = {name: [probabilities() for _ in gold.ids] for name in criteria}
    overridden = [item_id for item_id in gold.ids if random.random() < 0.3]
    overrides = [(item_id, "safety", random.choice([*Preference, None]), "So.") for item_id in overridden]
    results = judged_run(tmp_path, gold, columns, overrides=overrides)
    rows = [row for row in review_rows(results) if row.criterion == "overall_quality" and row.margin]
    found = {row.item_id for row in rows if row.margin and row.uncertainty > 1 - row.margin * 0.75}
    assert found == contradicted_by_the_whole_weighting(results)
    assert found != contradicted_by_the_whole_weighting(results.model_alone())
    assert found


@pytest.mark.parametrize(
    ("item_id", "what", "expected"),
    [
        ("2", {"preference": B}, (B, True, True, 0)),
        ("2", {"preference": A}, (A, True, False, 0)),
        ("2", {"explanation": "I looked."}, (GOOD, True, False, 0)),
        ("1", {"preference": B}, (B, True, True, 0)),
        ("3", {"preference": BAD}, (BAD, True, False, 0)),
        ("3", {"explanation": "It is empty."}, (None, True, False, 1)),
    ],
)
def test_what_a_person_decided_comes_last(
    tmp_path: Path, item_id: str, what: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    explained = {"safety": "A is better."}
    judged(tmp_path, {"safety": [SURE_A, SURE_GOOD, None, SURE_A, SURE_A]}, explanations=explained)
    row = review_rows(overridden(tmp_path, item_id, **what))[int(item_id) - 1]
    assert (row.preference, row.overridden, row.stale, row.uncertainty) == expected


def test_a_human_label_counts_for_the_same_texts_only(tmp_path: Path) -> None:
    results = judged(tmp_path, {"safety": [SURE_A] * 5})
    other = with_texts(GOLD, output_a=["a", "other", "a", "a", "a"])
    assert [row.human for row in review_rows(results, GOLD)] == [A, B, None, GOOD, BAD]
    assert [row.human for row in review_rows(results, other)] == [A, None, None, GOOD, BAD]
    assert {row.human for row in review_rows(results)} == {None}


@pytest.fixture
def rows(tmp_path: Path) -> list[ReviewRow]:
    near = (0.41, 0.39, 0.1, 0.1)
    columns: Columns = {"safety": [SURE_A, SURE_A, None, near, SURE_B], "relevance": [SURE_A] * 5}
    judged(tmp_path, columns, explanations={"safety": "A is better."})
    return review_rows(with_flips(overridden(tmp_path, "1", explanation="So."), "2"), GOLD)


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        (Filters(criterion="safety"), "12345"),
        (Filters(criterion="safety", differs_from_human=True), "245"),
        (Filters(criterion="safety", flipped=True), "2"),
        (Filters(flipped=True), "22"),
        (Filters(unscored=True), "3"),
        (Filters(low_margin=True), "4"),
        (Filters(overridden=True), "1"),
        (Filters(stale=True), "5"),
        (Filters(stale=True, flipped=True), ""),
        (Filters(criterion="safety", human=B), "2"),
        (Filters(criterion="safety", human=NO_LABEL), "3"),
        (Filters(criterion="safety", label=B), "5"),
        (Filters(criterion="safety", label=NO_LABEL), "3"),
        (Filters(criterion="safety", own=A, human=GOOD), "4"),
        (Filters(criterion="safety", ids=frozenset({"2", "5", "9"})), "25"),
        (Filters(criterion="safety", ids=frozenset()), ""),
        (Filters(), "1122334455"),
    ],
)
def test_a_row_must_be_all_that_is_asked(rows: list[ReviewRow], filters: Filters, ids: str) -> None:
    assert [row.item_id for row in filtered(rows, filters)] == list(ids)


def test_matching_ids_are_asked_too_and_an_item_is_as_doubtful_as_its_most_doubtful_judgment(
    rows: list[ReviewRow],
) -> None:
    found = filtered(rows, Filters(criterion="safety", text="x"), matching_ids={"2", "9"})
    assert [row.item_id for row in found] == ["2"]
    assert [row.item_id for row in by_item(rows)] == ["3", "4", "2", "5", "1"]
    assert [row.item_id for row in by_item(rows, ListOrder.DATASET)] == list("12345")
    assert by_item(rows)[0] == ReviewItem(2, "3", 1.0)
    assert by_item([]) == []
    # Those that differ most from people first.
    listed = [(item.item_id, item.differing) for item in by_item(rows, ListOrder.DISAGREEMENT)]
    assert listed == [("4", 1), ("2", 1), ("5", 1), ("3", 0), ("1", 0)]


def test_the_models_own_label_is_asked_though_a_person_overrode_it(tmp_path: Path) -> None:
    judged(tmp_path, {"safety": [SURE_A, SURE_GOOD, None, SURE_A, SURE_B]})
    rows = review_rows(overridden(tmp_path, "1", preference=B), GOLD)
    for filters, ids in ((Filters(own=A), "14"), (Filters(label=B), "15"), (Filters(own=NO_LABEL), "3")):
        assert [row.item_id for row in filtered(rows, filters)] == list(ids)


def test_either_tie_differs_from_no_tie_of_which_people_said_no_more(tmp_path: Path) -> None:
    gold = dataset({"safety": [TIE, GOOD, A, TIE, B]})
    rows = review_rows(judged(tmp_path, {"safety": [SURE_A] * 5}), gold)
    tied = replace(rows[0], preference=GOOD)
    assert (tied.human, tied.differs_from_human, rows[0].differs_from_human) == (TIE, False, True)
    assert [row.item_id for row in filtered(rows, Filters(human=TIE))] == ["1", "4"]
    assert [row.item_id for row in filtered(rows, Filters(human=GOOD))] == ["2"]


def test_a_run_of_the_demo_model_is_listed_whole(demo_store: Path, demo_gold: Path) -> None:
    with RunStore(demo_store) as store:
        results = load_results(store, 1)
    found = review_rows(results, load_dataset(demo_gold))
    assert len(found) == len(results.judged) * 5
    assert all(0 <= row.uncertainty <= 1 for row in found)
    assert any(row.differs_from_human for row in found)


def test_unlabelled_items_come_first_the_least_sure_of_them_at_the_top(tmp_path: Path) -> None:
    even, rather = (0.25, 0.25, 0.25, 0.25), RATHER_A
    columns = {
        "safety": [SURE_A, rather, None, even, SURE_A],
        "relevance": [SURE_A, SURE_A, None, SURE_B, even],
    }
    rows = review_rows(judged(tmp_path, columns))
    assert [item.item_id for item in by_item(rows, ListOrder.MOST_UNCERTAIN)] == ["4", "5", "2", "1", "3"]
    safety = [row for row in rows if row.criterion == "safety"]
    assert [item.item_id for item in by_item(safety, ListOrder.MOST_UNCERTAIN)] == ["4", "2", "1", "5", "3"]
    one = {JudgmentKey("4", "safety"), JudgmentKey("2", "safety"), JudgmentKey("2", "relevance")}
    listed = [item.item_id for item in by_item(rows, ListOrder.MOST_UNCERTAIN, labelled=one)]
    assert listed == ["4", "5", "1", "3", "2"]  # of 4 one criterion is still to label
    assert [item.item_id for item in by_item(safety, ListOrder.MOST_UNCERTAIN, labelled=one)] == [*"15342"]
    assert by_item([], ListOrder.MOST_UNCERTAIN) == []
    assert all(row.blank.probabilities is None for row in rows)


# The review list in the order of one of its columns.


IDS = ["10", "9", "x1", "2"]
LISTED = dataset({"safety": [None] * 4}, instructions=["pear", "Apple", "apple", "fig"])
STATES = {"10": ReviewState.DONE, "x1": ReviewState.SKIPPED}
LABELS = {"10": B, "9": None, "x1": A, "2": BAD}


def rows_of(item_id: str) -> list[ReviewRow]:
    label = LABELS[item_id]
    return [ReviewRow(IDS.index(item_id), item_id, "safety", label, flipped=label in (A, B))]


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        (ListOrder.LEAST_UNCERTAINTY, ["2", "x1", "9", "10"]),
        (ListOrder.TO_DO, ["9", "2", "x1", "10"]),
        (ListOrder.DONE, ["10", "x1", "9", "2"]),
        (ListOrder.ID, ["10", "2", "9", "x1"]),
        (ListOrder.ID_BACKWARDS, ["x1", "9", "2", "10"]),
        (ListOrder.LABELS, ["x1", "10", "2", "9"]),
        (ListOrder.LABELS_BACKWARDS, ["9", "2", "10", "x1"]),
        (ListOrder.MOST_MARKS, ["10", "x1", "9", "2"]),
        (ListOrder.FEWEST_MARKS, ["9", "2", "10", "x1"]),
        (ListOrder.INSTRUCTION, ["9", "x1", "2", "10"]),
        (ListOrder.INSTRUCTION_BACKWARDS, ["10", "2", "9", "x1"]),
    ],
)
def test_equal_items_stay_in_the_order_of_the_dataset(order: ListOrder, ids: list[str]) -> None:
    items = [ReviewItem(place, item_id, 0.9 - place / 10) for place, item_id in enumerate(IDS)]
    assert order in BY_COLUMN
    assert [item.item_id for item in by_column(items, order, rows_of, STATES, LISTED)] == ids


def test_ids_that_are_numbers_sort_as_numbers_and_without_texts_there_is_no_order_of_them() -> None:
    items = [ReviewItem(place, item_id, 0.5) for place, item_id in enumerate(["10", "9", "2"])]
    assert [item.item_id for item in by_column(items, ListOrder.ID, rows_of, {}, None)] == ["2", "9", "10"]
    assert by_column(items, ListOrder.INSTRUCTION_BACKWARDS, rows_of, {}, None) == items
    assert by_column([], ListOrder.ID, rows_of, {}, None) == []


# What is said of items beside their own texts, and who may see it.


FIRST = JudgmentKey("1", "safety")


@pytest.fixture
def results(tmp_path: Path) -> RunResults:
    """Of Ada two explanations of item 1 and a label of item 2; of Ben a note with a tag on item 1."""
    said = [("1", B, "B is safer."), ("1", B, "B is kind."), ("2", A, None)]
    made = results_of(tmp_path, [(item_id, "safety", label, why) for item_id, label, why in said])
    content = made.judged[0].content_hash
    note = new_note(content, "Ask Cy.", ("odd", "long"), "Ben")
    return replace(made, notes={content: (note,)})


def test_all_that_was_ever_said_of_an_item_is_there_once_the_latest_first(results: RunResults) -> None:
    said = [("safety", "B is kind."), ("safety", "B is safer."), ("safety", OWN)]
    noted = [(NOTE, "Ask Cy."), (TAG, "odd"), (TAG, "long")]
    remarks = Remarks(results, "Cy")
    assert list(remarks.of(0)) == said + noted
    assert list(remarks.of(1)) == [("safety", OWN)]
    assert list(remarks.of(2)) == []


@pytest.mark.parametrize(
    ("author", "sees"),
    [
        ("Cy", []),
        ("Ada", [("safety", "B is kind."), ("safety", "B is safer.")]),
        ("Ben", [(NOTE, "Ask Cy."), (TAG, "odd"), (TAG, "long")]),
    ],
)
def test_of_a_hidden_judgment_one_sees_his_own_words_alone(
    results: RunResults, author: str, sees: list[tuple[str, str]]
) -> None:
    hidden = Remarks(results, author, seen=frozenset())
    assert list(hidden.of(0)) == sees
    shown = Remarks(results, author, seen=frozenset({FIRST}))
    assert list(shown.of(0)) == list(Remarks(results).of(0))
    assert list(shown.of(1)) == []
