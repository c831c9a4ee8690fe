"""The items of a run read once more, in another batch shape: how far rounding moves what the judge says."""

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.core.events import Cancelled, CancelToken, followed
from engine.core.items import Item, Order
from engine.core.judgments import CriterionCalibration, JudgedItem, Judgment, Shortening
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import make_item_judge
from engine.judging.work import read_again
from engine.llama.context import OTHER_BATCH
from engine.results.calibration import Calibration, judge_of_run
from engine.results.run_results import RunResults, keep_read_again, load_results, results_read_again
from engine.store.run_store import RunStore
from tests.engine.judging.runs import Judged, MakePlan
from tests.steps import there

RUN = 1


@pytest.fixture
def plan(make_plan: MakePlan) -> RunPlan:
    return make_plan("headers")


@pytest.fixture
def store(judged_once: Judged, plan: RunPlan, tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(Path(shutil.copy(judged_once(plan), tmp_path))) as opened:
        yield opened


def log_probs(results: RunResults) -> list[tuple[float, ...]]:
    names = results.run.identity.criteria
    return [each.log_probs for own in results.judged for name in names for each in own.raw_predictions[name]]


def moved(item: JudgedItem, nats: float) -> JudgedItem:
    """The same with other log-probabilities of the first label."""
    raw_predictions = {
        name: tuple(replace(each, log_probs=(each.log_probs[0] + nats, *each.log_probs[1:])) for each in own)
        for name, own in item.raw_predictions.items()
    }
    return replace(item, raw_predictions=raw_predictions)


@pytest.mark.slow
def test_a_run_is_read_again_in_smaller_batches_and_stays_as_it_was(plan: RunPlan, store: RunStore) -> None:
    before = load_results(store, RUN)
    assert results_read_again(store, before) is None
    followed(read_again(CancelToken(), plan, store.path, RUN))
    assert load_results(store, RUN).judged == before.judged
    again = there(results_read_again(store, before))
    apart = np.abs(np.array(log_probs(again)) - np.array(log_probs(before)))
    assert 0 < apart.max() < 0.1


def test_a_prompt_takes_more_than_one_of_the_other_batches(plan: RunPlan) -> None:
    with open_model(plan, CancelToken(), OTHER_BATCH) as opened:
        sizer = make_item_judge(plan, opened)._sizer
        short = sizer.sized(Item("1", "?", "a", "b"), Item("1", "?", "a", "b"))
    for order in Order:
        assert len(short.tokens[order].branches[0].prompt) - len(sizer.stem) > OTHER_BATCH


def test_what_is_stopped_keeps_nothing(plan: RunPlan, store: RunStore) -> None:
    cancel = CancelToken()
    cancel.end_soon()
    with pytest.raises(Cancelled):
        followed(read_again(cancel, plan, store.path, RUN))
    assert results_read_again(store, load_results(store, RUN)) is None


def test_what_was_read_again_is_decided_as_the_run_is(store: RunStore) -> None:
    results = load_results(store, RUN)
    keep_read_again(store, results, [moved(item, 0.25) for item in results.judged])
    again = there(results_read_again(store, results))
    apart = np.array(log_probs(again)) - np.array(log_probs(results))
    assert apart[:, 0] == pytest.approx(0.25)
    assert apart[:, 1:] == pytest.approx(0)
    name = results.run.identity.criteria[0]
    always_b = CriterionCalibration(0.0, (0.0, 1.0, 0.0, 0.0), None, 4)
    fitted = Calibration(judge_of_run(results.run.identity), "gold.tsv", "h", {name: always_b}, {})
    decided = there(results_read_again(store, results.calibrated(fitted)))
    assert {judgment.preference.value for judgment in decided.judgments[name]} == {"B"}  # type: ignore[union-attr]


def test_another_prompt_an_order_not_read_again_and_what_is_no_number_leave_the_item_unscored(
    store: RunStore,
) -> None:
    results = load_results(store, RUN)
    first, second, third, *rest = results.judged
    one_order = first.only(lambda reading: reading.order is Order.AB)
    endless, shortened = moved(second, -math.inf), replace(third, shortening=Shortening(5, 0))
    keep_read_again(store, results, [one_order, endless, shortened, *rest])
    again = there(results_read_again(store, results))
    column = again.judgments[results.run.identity.criteria[0]]
    scored = [isinstance(each, Judgment) for each in column]
    assert scored == [False, False, False, *([True] * len(rest))]


def test_what_was_read_again_goes_with_its_run(store: RunStore) -> None:
    results = load_results(store, RUN)
    keep_read_again(store, results, results.judged)
    assert results_read_again(store, replace(results, run=replace(results.run, id=2))) is None
    store.remember({"of a model": [1.0]})
    store.delete([RUN], with_decisions=True)
    assert results_read_again(store, results) is None
    assert store.recall(["of a model"])
