"""Learning curves: labels that help, labels that cannot, too few of them, Cancel, what stands beside."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.annotations.records import new_override
from engine.calibration.fitting import Views, fitted, views_of
from engine.calibration.learning import (
    LEAST_TO_LEARN,
    LearningCurve,
    OrderTokens,
    Thoroughness,
    learning,
    margin_report,
    run_curve,
)
from engine.calibration.run_calibration import DEFAULT, CalibrationInputs, Wishes
from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken, MeasureProgress, followed
from engine.core.numeric import log_softmax
from engine.metrics.matching import match, system_of_run
from engine.results.run_results import load_results
from engine.results.second_order import BothOrders
from engine.store.run_store import RunStore
from tests.judged import RATHER_A, SURE_A, SURE_B, A, B, calibrate_run, dataset, stored_run, system
from tests.steps import there

FEW = Thoroughness(folds=3, orders=1)
SKEW = (0.38, 0.32, 0.2, 0.1)


def drawn(items: int, signal: float, groups: Sequence[Hashable] | None = None, seed: int = 0) -> Views:
    """Items with readings signal x (1 for the label) + noise, too sure of themselves and fond of B."""
    random = np.random.default_rng(seed)
    labels = random.choice(4, items, p=SKEW)
    read = signal * np.eye(4)[labels] + random.normal(size=(items, 4)) + np.array([0, 2, 0, 0])
    return views_of(log_softmax(3 * read), labels, groups or range(items))


def made(thorough: Thoroughness = FEW, **seen: Views) -> LearningCurve:
    return followed(learning(seen, thorough=thorough))


def test_where_labels_help_the_curve_falls_and_beats_the_frequencies() -> None:
    curve = made(safety=drawn(90, 1.2))
    assert [point.labels for point in curve.points] == [15, 30, 60]
    losses = [point.log_loss.value for point in curve.points]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] - losses[-1] > 0.08
    assert curve.points[-1].ahead.significantly_above
    assert curve.points[-1].right.value > curve.points[-1].frequent.value + 0.2
    last = curve.last
    assert (last.from_labels, last.to_labels) == (30, 60)
    assert last.gained.value == pytest.approx(losses[-2] - losses[-1])
    assert last.more_right.value == pytest.approx(curve.points[-1].right.value - curve.points[-2].right.value)


def test_readings_that_know_nothing_are_at_no_point_surely_better_than_the_frequencies() -> None:
    for seed in range(3):
        curve = made(safety=drawn(60, 0.0, seed=seed))
        assert not any(point.ahead.significantly_above for point in curve.points)
        assert all(point.right.value < 0.55 for point in curve.points)


def test_the_most_frequent_label_is_not_helped_by_what_was_read() -> None:
    labels = np.array([0, 1] * 20)
    read = np.where(np.eye(4)[labels] == 1, -0.05, -4.0)
    alike = views_of(read, labels, range(40), read[:, [1, 0, 2, 3]])
    curve = made(safety=alike)
    assert curve.points[-1].right.value == 1.0
    assert curve.points[-1].frequent.value <= 0.5
    labels = np.array([0, 0, 0, 1] * 15)  # A is usual: it counts as it stands in the dataset
    read = np.random.default_rng(0).normal(size=(60, 4))
    curve = made(safety=views_of(read, labels, range(60), read[:, [1, 0, 2, 3]]))
    assert [point.frequent.value for point in curve.points] == [0.75] * len(curve.points)


def test_all_sizes_are_asked_the_same_items_and_taught_by_none_of_their_instructions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    groups = [number // 2 for number in range(60)]
    seen = drawn(60, 1.0, groups)
    trained_on: list[list[Hashable]] = []

    def noted(known: Views, cancel: CancelToken | None = None) -> object:
        trained_on.append(list(known.groups))
        return fitted(known, cancel)

    monkeypatch.setattr("engine.calibration.learning.fitted", noted)
    curve = made(safety=seen)
    sizes = [point.labels for point in curve.points]
    assert sizes == [10, 20, 40]
    assert [len(known) for known in trained_on] == sizes * FEW.folds
    for first in range(0, len(trained_on), len(sizes)):
        least, middle, most = trained_on[first : first + len(sizes)]
        assert most[: len(middle)] == middle  # the same labels, and as many again
        assert middle[: len(least)] == least
        assert len(set(groups) - set(most)) == 10  # which are asked
    asked = [set(groups) - set(most) for most in trained_on[2::3]]
    assert set.union(*asked) == set(groups)
    assert sum(map(len, asked)) == len(set(groups))


def test_too_few_labels_are_refused_with_their_number_and_a_submission_too() -> None:
    groups = [number % (LEAST_TO_LEARN - 1) for number in range(40)]
    with pytest.raises(SetupError, match=f"of {LEAST_TO_LEARN} different instructions; there are 19"):
        made(safety=drawn(40, 1.0, groups))
    gold = dataset({"safety": [A, B] * 20})
    with pytest.raises(SetupError, match="it holds labels, no probabilities"):
        followed(run_curve(match(system({"safety": [A, B] * 20}), gold)))


def test_a_criterion_with_too_few_labels_is_left_out_and_others_teach_by_all_of_theirs() -> None:
    curve = made(safety=drawn(60, 1.0), relevance=drawn(30, 1.0), overall_quality=drawn(12, 1.0))
    assert curve.left_out == {"overall_quality": 12}
    assert curve.labelled == {"safety": 60, "relevance": 30}
    found = {name: (last.from_labels, last.to_labels) for name, last in curve.by_criterion.items()}
    assert found == {"safety": (20, 40), "relevance": (10, 20)}
    assert (curve.last.from_labels, curve.last.to_labels) == (15, 30)
    gains = [last.gained.value for last in curve.by_criterion.values()]
    assert curve.last.gained.value == pytest.approx(np.mean(gains))


def test_it_stops_where_it_is_cancelled_and_tells_how_far_it_is() -> None:
    cancel = CancelToken()
    steps = learning({"safety": drawn(40, 1.0)}, cancel, FEW)
    assert next(steps) == MeasureProgress(0, 3)
    assert next(steps) == MeasureProgress(1, 3)
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(steps)


def test_a_run_is_learned_from_its_own_readings_beside_the_people_who_labelled_it(tmp_path: Path) -> None:
    human = [A, B, B] * 10
    gold = dataset({"safety": human, "relevance": [None] * 29 + [A]})
    read = [SURE_A if label is A else SURE_B for label in human]
    stored_run(tmp_path, gold, {"safety": [*read[:-1], None], "relevance": [*[SURE_A] * 29, None]})
    with RunStore(tmp_path / "runs.sqlite") as store:
        for annotator, label in (("Ada", A), ("Ben", A), ("Cy", B)):
            for item in "1234":
                store.annotate(1, new_override(item, "safety", label, None, annotator))
        run = system_of_run(load_results(store, 1))
    curve = followed(run_curve(match(run, gold), thorough=FEW))
    assert curve.labelled == {"safety": 29}  # one is unscored
    assert curve.left_out == {"relevance": 0}
    assert curve.points[-1].right.value == 1.0  # whatever people say
    held = [(each.annotator, each.items, each.own.value) for each in curve.annotators]
    assert held == [(None, 4, 0.0), ("Cy", 4, 0.0)]
    plain = curve.as_json()
    assert plain["people"][1]["the_others_label"]["value"] == 0.0
    assert plain["last_doubling"]["to_labels"] == curve.points[-1].labels


def test_what_people_overrode_teaches_nothing_and_is_no_reading(tmp_path: Path) -> None:
    human = [A, B, B] * 10
    gold = dataset({"safety": human})
    read = [SURE_A if label is A else SURE_B for label in human]
    said = [("30", "safety", A, None), ("3", "safety", A, None)]  # the first of them is unscored
    run = stored_run(tmp_path, gold, {"safety": [*read[:-1], None]}, overrides=said)
    alone = system_of_run(there(run.results).model_alone())
    curves = [followed(run_curve(match(each, gold), thorough=FEW)) for each in (run, alone)]
    assert curves[0] == curves[1]
    assert curves[0].labelled == {"safety": 29}
    assert curves[0].points[-1].right.value == 1.0
    raw_predictions = CalibrationInputs.of(match(run, gold), DEFAULT, "have a learning curve")
    assert not raw_predictions.results.overrides


@pytest.mark.parametrize("wishes", [DEFAULT, Wishes(places_matter=True), Wishes(lengths=True)])
def test_without_wishes_the_curve_is_to_a_calibration_like_the_run_s(tmp_path: Path, wishes: Wishes) -> None:
    gold = dataset({"safety": [A if place % 3 else B for place in range(30)]})
    stored = there(stored_run(tmp_path, gold, {"safety": [RATHER_A, SURE_B] * 15}).results)
    longer = [(100, 2) if place % 3 else (2, 100) for place in range(30)]
    known = [replace(item, lengths=each) for item, each in zip(stored.judged, longer, strict=True)]
    results = replace(stored, judged=tuple(known)).calibrated(None)
    plain = match(system_of_run(results), gold)
    made = calibrate_run(plain, wishes=wishes).calibration
    assert Wishes.of(made) == wishes
    calibrated = match(system_of_run(results.calibrated(made)), gold)
    curve = followed(run_curve(calibrated, thorough=FEW))
    assert curve == followed(run_curve(plain, None, wishes, FEW))
    if wishes != DEFAULT:
        assert curve != followed(run_curve(plain, thorough=FEW))


def read(margins: list[float], equal: list[bool]) -> BothOrders:
    ids = tuple(map(str, range(len(margins))))
    return BothOrders(("safety",), ids, np.array([margins]).T, np.array([equal]).T)


def test_the_least_margin_keeps_the_wanted_share() -> None:
    """Of 100 items the ten of the least margins would change."""
    margins = [place / 100 for place in range(100)]
    report = margin_report(read(margins, [place >= 10 for place in range(100)]), margins, keep=0.95)
    assert report.reached
    assert report.least.below == 0.05  # reads five of the ten, and keeps 95
    assert (report.least.read, report.least.equal, report.least.kept) == (0.05, 0.95, {"safety": 0.95})
    assert [point.below for point in report.points] == sorted(point.below or 0 for point in report.points)
    assert report.points[-1].below == 1.0


def test_tokens_are_saved_of_the_items_that_are_not_read_again() -> None:
    tokens = [OrderTokens(100, 60), OrderTokens(200, 40)]
    report = margin_report(read([0.2, 0.9], [True, True]), ["a", "b"], 0.99, tokens)
    by_margin = {point.below: point.saved for point in report.points}
    assert by_margin[0.1] == pytest.approx(100 / 400)
    assert by_margin[0.5] == pytest.approx(40 / 400)
    assert by_margin[1.0] == 0
    without = margin_report(read([0.2, 0.9], [True, True]), ["a", "b"], 0.99)
    assert {point.saved for point in without.points} == {None}


def test_the_choice_is_checked_on_items_that_it_was_not_made_by() -> None:
    """One item in doubt decides the margin; without it, it is lost."""
    margins, equal = [0.4] + [0.9] * 19, [False] + [True] * 19
    report = margin_report(read(margins, equal), list(range(20)), keep=1.0)
    assert report.least.equal == 1.0
    assert report.checked is not None
    assert report.checked.equal == pytest.approx(19 / 20)
    assert report.checked.below is None
    margins, equal = [0.4, 0.4] + [0.9] * 18, [False, False] + [True] * 18
    report = margin_report(read(margins, equal), [0, 0, *range(1, 19)], keep=1.0)
    assert there(report.checked).equal == pytest.approx(18 / 20)  # items of one instruction are on one side
    assert margin_report(read(margins, equal), [0] * 20, keep=1.0).checked is None


def test_where_the_first_order_is_surely_wrong_no_margin_helps_and_a_share_is_a_share() -> None:
    report = margin_report(read([1.0] * 20, [False] * 20), list(range(20)), keep=0.99)
    assert (report.reached, report.least.below) == (False, 1.0)
    for keep in (0, -0.5, 1.5):
        with pytest.raises(SetupError, match="share of labels to keep"):
            margin_report(read([0.5], [True]), [0], keep)
