"""Judging until something is clear: the order, when it stops, how it goes on, and that the store says so."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import SetupError
from engine.core.events import CancelToken, ItemJudged, ModelOpened, Resolved, RunEnded, RunEvent
from engine.core.judgments import label_of
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.label_origins import drawn_instructions
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.metrics.matching import system_of_run
from engine.ranking.stopping import until_significant
from engine.report.rankings import RankedBy
from engine.results.completeness import incomplete
from engine.results.run_results import load_results
from engine.settings.rows import Mode
from engine.settings.sampling import StoppingRule
from engine.store.run_store import RunStore
from tests.engine.judging.runs import SAMPLE, MakePlan, judged_by
from tests.judged import text_table

WIDE = 70.0  # points: a dozen instructions


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(SAMPLE).head(40)


@pytest.fixture(scope="module")
def plan(make_plan: MakePlan, dataset: Dataset) -> RunPlan:
    rubric = ELOQUENT.only(("overall_quality",))
    return replace(make_plan(dataset=dataset, mode=Mode.LABELS, items_at_once=2), rubric=rubric)


def until(plan: RunPlan, width: float = WIDE, seed: int = 0) -> RunPlan:
    return replace(
        plan, question_plan=until_significant(plan.dataset, "overall_quality", StoppingRule(width, seed))
    )


def events_of(plan: RunPlan, store: RunStore) -> list[RunEvent]:
    return list(run_judging(plan, store, partial(open_model, plan, CancelToken())))


def judged_in(events: list[RunEvent]) -> list[int]:
    return [event.judged.position for event in events if isinstance(event, ItemJudged)]


def test_it_stops_by_itself_within_one_group_and_says_so(plan: RunPlan, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        asked = until(plan)
        events = events_of(asked, store)
        judged, ended = judged_in(events), events[-1]
        assert isinstance(ended, RunEnded)
        assert not ended.stopped
        assert (ended.open, ended.asked) == (0, 1)
        assert 10 <= len(judged) == ended.judged < 40
        assert asked.question_plan is not None
        assert asked.question_plan.is_answered
        # All but the last group were not enough.
        told = [event for event in events if isinstance(event, ItemJudged)]
        fewer = until_significant(plan.dataset, "overall_quality", StoppingRule(WIDE))
        fewer.add({event.judged.item_id: label_of(event.judgments[0]) for event in told[:-2]})
        assert not fewer.is_answered
        assert events.index(told[-1]) < [isinstance(event, Resolved) for event in events].index(True)
        places = drawn_instructions(plan.dataset.texts("instruction").to_pylist(), 0)
        first = [min(places[at], places[at + 1]) for at in judged[::2]]
        assert first == sorted(first)
        run = store.run(ended.run_id)
        assert run.is_sample
        assert run.sample_in_words == f"a random sample, {len(judged)} of 40 items, seed 0"
        assert incomplete(load_results(store, run.id)) == f"The run is {run.sample_in_words}."
        assert run.manifest_in_short["random_order"] == "seed 0"


@pytest.mark.slow
def test_it_goes_on_with_a_smaller_width_and_then_without(plan: RunPlan, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        first = judged_in(events_of(until(plan), store))
        again = events_of(until(plan), store)
        assert not judged_in(again)
        assert not any(isinstance(event, ModelOpened) for event in again)
        with pytest.raises(SetupError, match="with seed 0, not 7"):
            events_of(until(plan, seed=7), store)
        more = judged_in(events_of(until(plan, 35), store))
        assert more
        assert not set(more) & set(first)
        assert store.run(1).is_sample
        rest = judged_in(events_of(plan, store))
        assert sorted([*first, *more, *rest]) == list(range(40))
        assert not store.run(1).is_sample
        known = list(store.judged(1))
    whole = judged_by(plan, tmp_path / "whole.sqlite")
    assert [item.raw_predictions for item in known] == [item.raw_predictions for item in whole]


def test_where_no_item_is_left_that_could_answer_it_does_not_end_as_clear(
    plan: RunPlan, dataset: Dataset, tmp_path: Path
) -> None:
    """Eight contests are too few to be sure, and the other items are none."""
    names = {"candidate_a": ["llama"] * 40, "candidate_b": ["opt"] * 8 + ["llama"] * 32}
    named = replace(plan, dataset=replace(dataset, others=text_table(names)))
    asked = replace(named, question_plan=until_significant(named.dataset, "overall_quality", StoppingRule()))
    with RunStore(tmp_path / "runs.sqlite") as store:
        ended = events_of(asked, store)[-1]
    assert isinstance(ended, RunEnded)
    assert ended.judged < 40
    assert (ended.stopped, ended.open) == (False, 1)


def test_what_was_judged_in_the_order_of_the_file_is_no_sample(plan: RunPlan, tmp_path: Path) -> None:
    cancel = CancelToken()
    with RunStore(tmp_path / "runs.sqlite") as store:
        for event in run_judging(plan, store, partial(open_model, plan, cancel)):
            if isinstance(event, ItemJudged):
                cancel.cancel()
        before = store.run(1).judged
        events_of(until(plan), store)
        run = store.run(1)
        assert not run.is_sample
        assert run.stopped_early
        assert run.manifest_in_short["random_order"] == f"seed 0, after {before} items"
        ranked = RankedBy.by_system(system_of_run(load_results(store, 1)), plan.dataset, "overall_quality")
        assert ranked.remark


def test_who_is_better_needs_names(plan: RunPlan) -> None:
    with pytest.raises(SetupError, match="does not name the models that wrote") as refused:
        until_significant(plan.dataset, "overall_quality", StoppingRule())
    assert "--until 10" in OPTIONS.of(refused.value.hint)  # which needs none
    assert until_significant(plan.dataset, "overall_quality", StoppingRule(10.0)).questions


def test_what_a_run_can_go_on_until_is_read_and_nothing_else() -> None:
    for text, width in (("significant", None), (" SIGNIFICANT", None), ("10", 10.0), ("2.5", 2.5)):
        assert StoppingRule.of_text(text, 3) == StoppingRule(width, 3)
    for text in ("maybe", "0", "100", "nan", "-3", ""):
        with pytest.raises(SetupError):
            StoppingRule.of_text(text)
