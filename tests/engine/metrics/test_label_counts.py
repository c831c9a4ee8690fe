"""What labels say by themselves: how often each is given, flips, format mass."""

from pathlib import Path

from engine.core.items import Preference
from engine.core.judgments import Judgment, Unscored
from engine.metrics.accuracy import LabelCounts, count_labels, count_run
from tests.judged import GOOD, SURE_A, SURE_GOOD, A, B, Columns, dataset, stored_run


def judgment(item_id: str, preference: Preference, flipped: bool | None = False) -> Judgment:
    return Judgment(item_id, "safety", preference, (0.25, 0.25, 0.25, 0.25), flipped, 0.8, ())


def test_an_unscored_item_is_no_label() -> None:
    found = count_labels("safety", [A, None], [judgment("1", A), Unscored("2", "safety", "too long")])
    assert (found.items, found.unscored, found.predicted) == (2, 1, {A: 1})


def test_flips_are_counted_where_there_were_two_orders() -> None:
    judgments = [judgment("1", A, True), judgment("2", A, False), judgment("3", A, None)]
    found = count_labels("safety", [A, A, A], judgments)
    assert (found.flipped, found.in_both_orders, found.partly_in_both_orders) == (0.5, (2, 3), True)
    for alike in (judgments[:2], judgments[2:]):  # all in both orders, all in one
        assert not count_labels("safety", [A] * len(alike), alike).partly_in_both_orders


def test_a_label_in_force_is_counted_in_the_place_of_the_judgment() -> None:
    judgments: list[Judgment | Unscored] = [judgment("1", A, True), Unscored("2", "safety", "too long")]
    assert count_labels("safety", [B, GOOD], judgments) == LabelCounts(
        "safety",
        items=2,
        unscored=0,
        predicted={B: 1, GOOD: 1},
        flipped=1,
        in_both_orders=(1, 1),
        answer_mass=0.8,
    )


def test_labels_without_a_model_have_neither_flips_nor_format_mass() -> None:
    found = count_labels("safety", [A, B], [None, None])
    assert (found.flipped, found.answer_mass) == (None, None)


def test_a_run_is_counted_by_criterion(tmp_path: Path) -> None:
    columns: Columns = {"safety": [SURE_A, None], "relevance": [SURE_GOOD, SURE_GOOD]}
    run = stored_run(
        tmp_path, dataset({"safety": [None, None]}), columns, overrides=[("2", "safety", B, None)]
    )
    assert run.results is not None
    counts = count_run(run.results)
    assert [(count.criterion, count.items, count.unscored, count.predicted) for count in counts] == [
        ("safety", 2, 0, {A: 1, B: 1}),
        ("relevance", 2, 0, {GOOD: 2}),
    ]
