"""Runs that ask in several ways: real models judge, stores keep what they said, nothing else changes."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import SetupError
from engine.core.items import Method, Order
from engine.core.judgments import JudgedItem, Judgment
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan, check_resumed
from engine.results.calibration import Calibration, JudgeIdentity, calibration_of, judge_of_run
from engine.results.decision import decide
from engine.results.second_order import orders_read
from engine.settings.rows import JudgeSettings, Mode, settings_of
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import ROOT
from tests.engine.judging.runs import counted, judged_until
from tests.steps import plan_with

SmallModel = Callable[[str], Path]
Judged = Callable[[JudgeSettings], list[JudgedItem]]

DEMO = load_dataset(ROOT / "examples" / "demo.tsv").head(3)
ALL = (Method.LABEL_TOKENS, Method.PERMUTED_LABELS, Method.POINTWISE_YES_NO, Method.POINTWISE_GRADE)
LABELS = JudgeSettings(mode=Mode.LABELS, context=1024)
EXPLAIN = JudgeSettings(context=2048, max_explanation_tokens=8, items_at_once=2)
THINK = replace(
    LABELS,
    context=8192,
    methods=(Method.LABEL_TOKENS, Method.CHAIN_OF_THOUGHT),
    reasoning_samples=2,
    max_reasoning_tokens=6,
)
QUESTIONS = dict(zip(ALL, (0, 4, 2, 2), strict=True))


def plan_of(settings: JudgeSettings, dataset: Dataset = DEMO, path: Path | None = None) -> RunPlan:
    return plan_with(path or demo_model(), dataset, settings)


def letters(item: JudgedItem) -> dict[tuple[str, Order], tuple[float, ...]]:
    return {
        (name, reading.order): tuple(np.exp(reading.log_probs))
        for name, raw_predictions in item.raw_predictions.items()
        for reading in raw_predictions
        if reading.method is Method.LABEL_TOKENS
    }


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """DEMO, judged once with some settings."""

    @cache
    def judged(settings: JudgeSettings) -> list[JudgedItem]:
        return judged_until(plan_of(settings), tmp_path_factory.mktemp("judged") / "runs.sqlite")[0]

    return judged


@pytest.mark.slow
def test_every_way_is_kept_with_its_answers_and_leaves_the_letters_as_they_are(judged: Judged) -> None:
    for item, plain in zip(judged(replace(LABELS, methods=ALL)), judged(LABELS), strict=True):
        assert set(item.raw_predictions) == set(ELOQUENT.names)
        for raw_predictions in item.raw_predictions.values():
            found = {(reading.order, reading.method): len(reading.answers) for reading in raw_predictions}
            assert found == {(order, method): count for order in Order for method, count in QUESTIONS.items()}
            assert all(0 < reading.answer_mass <= 1.001 for reading in raw_predictions)
        # But for the last digits: the places in the cache differ.
        for place, said in letters(plain).items():
            assert letters(item)[place] == pytest.approx(said, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        replace(LABELS, methods=ALL),
        replace(LABELS, methods=(Method.POINTWISE_YES_NO,), orders=(Order.AB,)),
        replace(EXPLAIN, methods=(Method.POINTWISE_YES_NO, Method.POINTWISE_GRADE)),
    ],
    ids=["all", "absolute, one order", "no letters, explained"],
)
def test_as_many_tokens_are_read_as_were_counted(judged: Judged, settings: JudgeSettings) -> None:
    planned, items = counted(plan_of(settings)), judged(settings)
    assert not any(item.unscored for item in items)
    stem = planned.tokens_to_read - sum(item.tokens_read for item in items)
    letters_alone = replace(settings, methods=(Method.LABEL_TOKENS,))
    without_methods, alone = counted(plan_of(letters_alone)), judged(letters_alone)
    # Items count their share of what a batch reads in whole tokens.
    assert stem == pytest.approx(
        without_methods.tokens_to_read - sum(item.tokens_read for item in alone), abs=len(items)
    )
    assert planned.raw_predictions == len(DEMO) * 5 * len(settings.orders) * len(settings.methods)
    assert set(planned.tokens_by_method) == set(settings.methods)
    assert sum(planned.tokens_by_method.values()) < planned.tokens_to_read


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        replace(EXPLAIN, methods=(Method.POINTWISE_YES_NO, Method.POINTWISE_GRADE)),
        replace(LABELS, methods=(Method.POINTWISE_YES_NO, Method.POINTWISE_GRADE), second_order_below=0.9),
    ],
    ids=["explained", "second order in doubt"],
)
def test_resumed_runs_equal_unbroken_ones(judged: Judged, tmp_path: Path, settings: JudgeSettings) -> None:
    plan, unbroken = plan_of(settings), judged(settings)
    stopped, _ = judged_until(plan, tmp_path / "stopped.sqlite", 1)
    assert len(stopped) < len(unbroken)
    assert judged_until(plan, tmp_path / "stopped.sqlite")[0] == unbroken
    if settings.explains:
        assert all(item.explanations for item in unbroken)
    else:
        assert all(orders_read(item) in {1, 2} for item in unbroken)


def test_other_ways_are_another_run_and_another_judge(tmp_path: Path) -> None:
    other = plan_of(replace(LABELS, methods=(Method.LABEL_TOKENS, Method.POINTWISE_YES_NO)))
    plain = plan_of(LABELS)
    assert plain.identity().key != other.identity().key
    assert "ways" not in plain.identity().settings
    assert settings_of(other.identity().settings) == other.settings
    with RunStore(tmp_path / "runs.sqlite") as store:
        with store.begin(plain.identity()) as run:
            pass
        with pytest.raises(SetupError, match="the elicitation methods"):
            check_resumed(other, run)
    assert judge_of_run(plain.identity()) != judge_of_run(other.identity())


def test_a_calibration_of_one_way_fits_no_other() -> None:
    old = Calibration(JudgeIdentity("demo", "x", "1", ("AB", "BA"), ""), "d", "y", {}, {})
    assert calibration_of(old.as_json()).judge == old.judge
    assert old.judge.methods == ("letters",)
    assert "ways" not in old.as_json()["made_for"]
    other = replace(old.judge, methods=("letters", "absolute"))
    assert calibration_of(replace(old, judge=other).as_json()).judge == other
    with pytest.raises(SetupError, match="methods label tokens, not for label tokens and pointwise yes/no"):
        old.check_fits(other)


@pytest.mark.slow
def test_the_label_is_decided_by_all_ways_together(judged: Judged) -> None:
    decided = decide(judged(replace(LABELS, methods=ALL))[0], "safety")
    assert isinstance(decided, Judgment)
    assert len(decided.raw_predictions) == 2 * len(ALL)
    # The mean over orders and ways of what each says of the item's own A and B.
    own = []
    for reading in decided.raw_predictions:
        a, b, good, bad = np.array(reading.log_probs) - np.log(reading.answer_mass)
        own.append([a, b, good, bad] if reading.order is Order.AB else [b, a, good, bad])
    mean = np.exp(np.mean(own, axis=0))
    assert decided.probabilities == pytest.approx((mean / mean.sum()).tolist())


@pytest.mark.slow
def test_a_model_that_reasons_thinks_before_its_verdict(tmp_path: Path, small_model: SmallModel) -> None:
    plan = plan_of(THINK, path=small_model("thinker"))
    planned = counted(plan)
    items, _ = judged_until(plan, tmp_path / "runs.sqlite")
    assert planned.tokens_to_write_at_most == 3 * 5 * 2 * 2 * 6
    for item in items:
        assert 0 < item.tokens_generated <= 5 * 2 * 2 * 6
        read = [reading for own in item.raw_predictions.values() for reading in own]
        thought = [reading for reading in read if reading.method is Method.CHAIN_OF_THOUGHT]
        reasoning_samples = [answer for reading in thought for answer in reading.answers]
        assert len(reasoning_samples) == 5 * 2 * 2
        assert [answer.question for answer in reasoning_samples[:2]] == ["1", "2"]
        assert any(answer.thought for answer in reasoning_samples)
        # Drawn with seeds of their own: they differ, and a run that goes on gives the same.
        assert len({answer.thought for answer in reasoning_samples}) > len(reasoning_samples) / 2
    stopped, _ = judged_until(plan, tmp_path / "stopped.sqlite", 1)
    assert len(stopped) < 3
    assert judged_until(plan, tmp_path / "stopped.sqlite")[0] == items


def test_a_model_without_a_place_for_thoughts_is_refused_before_it_judges(
    tmp_path: Path, small_model: SmallModel
) -> None:
    plan = plan_of(THINK, DEMO, small_model("headers"))
    with pytest.raises(SetupError, match="has no reasoning block"):
        counted(plan)
    with pytest.raises(SetupError, match="has no reasoning block"):
        judged_until(plan, tmp_path / "runs.sqlite")


def test_long_thoughts_take_room_that_an_item_must_have(tmp_path: Path, small_model: SmallModel) -> None:
    plan = plan_of(replace(THINK, max_reasoning_tokens=600), DEMO, small_model("thinker"))
    assert len(counted(plan).too_long) == 0
    crowded = replace(plan, settings=replace(plan.settings, max_reasoning_tokens=1700))
    assert len(counted(crowded).too_long) == len(DEMO)
    items, _ = judged_until(crowded, tmp_path / "runs.sqlite")
    assert all("needs" in reason for item in items for reason in item.unscored.values())


def test_ways_run_on_a_memory_that_cannot_be_cut_back(tmp_path: Path, small_model: SmallModel) -> None:
    settings = replace(LABELS, context=4096, methods=(Method.LABEL_TOKENS, Method.POINTWISE_YES_NO))
    plan = plan_of(settings, DEMO.head(2), small_model("mamba"))
    planned = counted(plan)
    items, evaluated = judged_until(plan, tmp_path / "runs.sqlite")
    assert {len(own) for item in items for own in item.raw_predictions.values()} == {4}
    assert planned.tokens_to_read == evaluated
