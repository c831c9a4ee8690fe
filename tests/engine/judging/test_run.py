"""Whole runs with real llama.cpp: what comes out, that it repeats, and what does not fit."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import ModelFileError
from engine.core.events import (
    CancelToken,
    Drafted,
    GroupUnderWay,
    ItemJudged,
    LabelsRead,
    ModelOpened,
    RunEnded,
    RunEvent,
    RunStarted,
    TokensEvaluated,
)
from engine.core.items import Order
from engine.core.judgments import Judgment, Unscored
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import make_item_judge, run_judging
from engine.metrics.accuracy import run_accuracy
from engine.models.checked_model import CheckedModel
from engine.prompt.examples import choose_examples
from engine.results.decision import decide
from engine.results.run_results import load_results, submission_of
from engine.settings.rows import Mode
from engine.store.run_store import RunStore
from tests.engine.judging.runs import SAMPLE, Judged, judged_by


@pytest.mark.parametrize(
    "family", ["chatml", "instructions", "no_system", "no_template", "split_letters", "mamba"]
)
def test_every_family_of_models_judges_and_explains(
    make_plan: Callable[..., RunPlan], sample: Dataset, tmp_path: Path, family: str
) -> None:
    (item,) = judged_by(make_plan(family, dataset=sample.head(1)), tmp_path / "runs.sqlite")
    for criterion in ELOQUENT.names:
        judgment = decide(item, criterion)
        assert isinstance(judgment, Judgment)
        assert sum(judgment.probabilities) == pytest.approx(1)
        assert judgment.answer_mass is not None
        assert 0 < judgment.answer_mass < 1
        assert {reading.order for reading in judgment.raw_predictions} == set(Order)
        assert judgment.explanation
        assert judgment.explanation.preference is judgment.preference


@pytest.mark.models
@pytest.mark.parametrize("pair", ["llama-3.1", "qwen2.5", "phi-3.5"])
def test_real_tokenizers_and_templates_judge(
    make_plan: Callable[..., RunPlan],
    sample: Dataset,
    real_tokenizer_model: Callable[[str], Path],
    tmp_path: Path,
    pair: str,
) -> None:
    path = real_tokenizer_model(pair)
    state = path.stat()
    model = CheckedModel(path, pair, pair, state.st_size, state.st_mtime_ns)
    plan = replace(make_plan(dataset=sample.head(1)), model=model)
    (item,) = judged_by(plan, tmp_path / "runs.sqlite")
    assert set(item.explanations) == set(ELOQUENT.names)
    assert not item.unscored


@pytest.fixture(scope="module")
def events(make_plan: Callable[..., RunPlan], tmp_path_factory: pytest.TempPathFactory) -> list[RunEvent]:
    """All that a run with explanations tells."""
    plan = make_plan()
    with RunStore(tmp_path_factory.mktemp("events") / "runs.sqlite") as store:
        return list(run_judging(plan, store, partial(open_model, plan, CancelToken())))


def test_a_run_tells_its_story_in_order(events: list[RunEvent]) -> None:
    assert [type(event) for event in events[:2]] == [RunStarted, ModelOpened]
    assert events[-1] == RunEnded(run_id=1, items=5, judged=5, stopped=False)
    assert [event.judged.position for event in events if isinstance(event, ItemJudged)] == [0, 1, 2, 3, 4]
    counted = sum(event.tokens for event in events if isinstance(event, TokensEvaluated))
    judged = [event.judged for event in events if isinstance(event, ItemJudged)]
    assert counted >= sum(item.tokens_read + item.tokens_generated for item in judged) > 0


def test_a_repeated_run_gives_exactly_the_same(make_plan: Callable[..., RunPlan], tmp_path: Path) -> None:
    """Also where it draws; one that does not is repeated where stopped runs go on to the unbroken result."""
    plan = make_plan(temperature=0.8, seed=7)
    plan = replace(plan, dataset=plan.dataset.head(3))
    once, again = (judged_by(plan, tmp_path / name) for name in ("once.sqlite", "again.sqlite"))
    assert once == again


def test_what_is_read_is_told_before_it_is_stored_and_will_be_decided_so(events: list[RunEvent]) -> None:
    kinds = [type(event) for event in events]
    assert kinds.index(TokensEvaluated) < kinds.index(LabelsRead) < kinds.index(ItemJudged)
    previews = [event for event in events if isinstance(event, LabelsRead)]
    assert [(event.position, event.whole) for event in previews[:4]] == [
        (0, False),
        (0, True),
        (1, False),
        (1, True),
    ]
    whole = {event.position: event for event in previews if event.whole}
    for event in events:
        if isinstance(event, ItemJudged):
            decided = [
                replace(each, explanations=()) for each in event.judgments if isinstance(each, Judgment)
            ]
            assert list(whole[event.judged.position].judgments) == decided
    drafts = [event for event in events if isinstance(event, Drafted)]
    assert drafts
    assert {draft.criterion for draft in drafts} <= set(ELOQUENT.names)


@pytest.mark.slow
def test_a_long_prompt_tells_how_far_it_is(make_plan: Callable[..., RunPlan], tmp_path: Path) -> None:
    plan = make_plan("slow", mode=Mode.LABELS)
    item = replace(plan.dataset[0], output_a="A long response. " * 120)
    told: list[GroupUnderWay] = []
    steps = 0
    with open_model(plan, CancelToken()) as opened:
        for event in make_item_judge(plan, opened).judge([(0, item)]):
            assert not isinstance(event, LabelsRead)
            steps += isinstance(event, TokensEvaluated)
            told += [event] if isinstance(event, GroupUnderWay) else []
            if len(told) > 2:
                break
    assert steps > 2
    assert [event.done for event in told] == sorted(event.done for event in told)
    assert all(event.done <= event.total for event in told)
    assert told[-1].seconds_left is not None


def test_labels_are_those_of_a_run_with_explanations(
    make_plan: Callable[..., RunPlan], judged_once: Judged
) -> None:
    plans = make_plan(mode=Mode.LABELS), make_plan()
    labels, explained = (judged_by(plan, judged_once(plan)) for plan in plans)
    for without, with_text in zip(labels, explained, strict=True):
        for criterion in ELOQUENT.names:
            one, other = decide(without, criterion), decide(with_text, criterion)
            assert isinstance(one, Judgment)
            assert isinstance(other, Judgment)
            # Another batch shape: equal up to the rounding of the cache.
            assert np.allclose(one.probabilities, other.probabilities, atol=0.02)
    assert not any(item.explanations or item.tokens_generated for item in labels)


def test_one_order_reads_about_half_as_much(
    make_plan: Callable[..., RunPlan], judged_once: Judged, tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    both = judged_by(plan, judged_once(plan))
    one = judged_by(make_plan(mode=Mode.LABELS, orders=(Order.AB,)), tmp_path / "one.sqlite")
    share = sum(item.tokens_read for item in one) / sum(item.tokens_read for item in both)
    assert 0.45 < share < 0.55
    judgment = decide(one[0], "safety")
    assert isinstance(judgment, Judgment)
    assert judgment.flipped is None


@pytest.mark.slow
def test_what_does_not_fit_is_unscored_with_the_numbers_or_shortened_where_that_is_wanted(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan("bytes", mode=Mode.LABELS, context=1800, items_at_once=1)
    judged = judged_by(plan, tmp_path / "runs.sqlite")
    outcomes = [decide(item, "safety") for item in judged]
    unscored = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
    assert 0 < len(unscored) < len(outcomes)
    assert unscored[0].reason.startswith("needs ")
    assert unscored[0].reason.endswith("tokens, the context holds 1,800")
    shortening = replace(plan, settings=replace(plan.settings, shorten=True))
    again = judged_by(shortening, tmp_path / "short.sqlite")
    assert any(item.shortening for item in again)
    for item, before in zip(again, judged, strict=True):
        assert bool(item.shortening or item.unscored) == bool(before.unscored)


@pytest.mark.parametrize("context", range(1280, 2817, 512))
def test_what_is_counted_to_fit_does_fit(
    make_plan: Callable[..., RunPlan], tmp_path: Path, context: int
) -> None:
    """At every size of context: no item that is counted to fit overflows, alone or with others.

    Runs in doubt are held to it at the sizes between these.
    """
    plan = make_plan(context=context, items_at_once=4, max_explanation_tokens=30)
    for item in judged_by(plan, tmp_path / "runs.sqlite"):
        assert bool(item.unscored) != bool(item.explanations)


@pytest.mark.slow
def test_examples_are_read_once_and_change_the_result(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS, items_at_once=1)
    pool = choose_examples(load_dataset(SAMPLE), ELOQUENT, shots=1)
    shown = replace(plan, examples=pool)
    without = judged_by(plan, tmp_path / "without.sqlite")
    with_examples = judged_by(shown, tmp_path / "with.sqlite")
    assert shown.identity().key != plan.identity().key
    assert [item.raw_predictions for item in without] != [item.raw_predictions for item in with_examples]
    read_more = sum(item.tokens_read for item in with_examples) - sum(item.tokens_read for item in without)
    assert read_more < 0.1 * sum(item.tokens_read for item in without)


def test_a_context_above_the_trained_one_is_refused(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan("short_context")
    with (
        RunStore(tmp_path / "runs.sqlite") as store,
        pytest.raises(ModelFileError, match="trained with") as caught,
    ):
        list(run_judging(plan, store, lambda: open_model(plan, CancelToken())))
    assert "--context 1024" in OPTIONS.of(caught.value.hint)


def test_a_model_that_changed_since_it_was_checked_is_refused(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan()
    stale = replace(plan, model=replace(plan.model, size_bytes=plan.model.size_bytes + 1))
    with (
        RunStore(tmp_path / "runs.sqlite") as store,
        pytest.raises(ModelFileError, match="has changed since it was checked"),
    ):
        list(run_judging(stale, store, lambda: open_model(stale, CancelToken())))


def test_a_run_becomes_a_submission_and_scores(
    make_plan: Callable[..., RunPlan], judged_once: Judged, sample: Dataset
) -> None:
    with RunStore(judged_once(make_plan())) as store:
        results = load_results(store, 1)
    submission = submission_of(results)
    assert [row.id for row in submission.rows] == sample.ids
    assert submission.with_explanations
    right = sum(
        row.predictions["safety"].preference is item.gold["safety"].label
        for row, item in zip(submission.rows, sample, strict=True)
    )
    assert run_accuracy(results, sample)["safety"].share == right / 5
