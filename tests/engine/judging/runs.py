"""A run of the sample as tests judge it: whole, or stopped after some items."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.core.events import CancelToken, ItemJudged, RunEnded, RunEvent, TokensEvaluated, followed
from engine.core.judgments import JudgedItem
from engine.judging.forecast import Forecast, forecast
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.settings.rows import JudgeSettings
from engine.store.run_store import RunStore
from tests.commands import ROOT

SmallModel = Callable[[str], Path]
Judged = Callable[[RunPlan], Path]
MakePlan = Callable[..., RunPlan]

SAMPLE = ROOT / "examples" / "sample.tsv"
SETTINGS = JudgeSettings(context=8192, max_explanation_tokens=12, items_at_once=2)


def judged_by(plan: RunPlan, store_path: Path) -> list[JudgedItem]:
    """All items of a run, after it has ended."""
    with RunStore(store_path) as store:
        *_, ended = run_judging(plan, store, lambda: open_model(plan, CancelToken()))
        assert isinstance(ended, RunEnded)
        assert not ended.stopped
        return [without_time(item) for item in store.judged(ended.run_id)]


def judged_until(plan: RunPlan, store_path: Path, most: int | None = None) -> tuple[list[JudgedItem], int]:
    """Judge a plan, to its end or until `most` items more are judged; what is stored, without times, and the
    tokens that were evaluated now.
    """
    cancel, done, tokens = CancelToken(), 0, 0
    with RunStore(store_path) as store:
        for event in run_judging(plan, store, partial(open_model, plan, cancel)):
            done += isinstance(event, ItemJudged)
            tokens += event.tokens if isinstance(event, TokensEvaluated) else 0
            if done == most:
                cancel.cancel()
            if isinstance(event, RunEnded):
                return list(map(without_time, store.judged(event.run_id))), tokens
    raise AssertionError("a run ends with RunEnded")


def counted(plan: RunPlan, store: Path | None = None, fresh: bool = False) -> Forecast:
    """What a plan is forecast to take."""
    return followed(forecast(plan, store, CancelToken(), fresh))


def counts_and_resumes(plan: RunPlan, folder: Path, stops: int = 1) -> list[JudgedItem]:
    """The items of a plan's run, which reads what was counted, and is the same after stops."""

    def written(items: list[JudgedItem]) -> int:
        return sum(item.tokens_generated for item in items)

    unbroken, tokens = judged_until(plan, folder / "unbroken.sqlite")
    # What two items write together is shared out in whole tokens: some may be lost.
    assert tokens - written(unbroken) - counted(plan).tokens_to_read in range(len(unbroken))
    broken = folder / "broken.sqlite"
    for _ in range(stops):
        judged_until(plan, broken, most=2)
    left = counted(plan, broken)
    assert 0 < left.judged < len(unbroken)
    resumed, tokens = judged_until(plan, broken)
    assert abs(tokens - written(resumed[left.judged :]) - left.tokens_left_to_read) < len(unbroken)
    for one, other in zip(resumed, unbroken, strict=True):
        assert (one.raw_predictions, one.explanations) == (other.raw_predictions, other.explanations)
    return unbroken


def without_time(item: JudgedItem) -> JudgedItem:
    return replace(item, seconds=0.0)


def stop_after(items: int, events: Iterable[RunEvent], cancel: CancelToken) -> RunEnded:
    """Ask a run to stop once some items are judged; how it ended."""
    judged = 0
    for event in events:
        judged += isinstance(event, ItemJudged)
        if judged == items:
            cancel.cancel()
        if isinstance(event, RunEnded):
            ended = event
    return ended
