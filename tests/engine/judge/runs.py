"""A run of the sample as tests judge it: whole, or stopped after some items.

Knows: runs and stores. Does not know: what a test is about.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.events import ItemJudged, RunEnded, RunEvent
from engine.core.judgments import JudgedItem
from engine.core.settings import JudgeSettings
from engine.judge.plan import RunPlan, open_model
from engine.judge.run import run_judging
from engine.store.run_store import RunStore
from tests.commands import ROOT

SmallModel = Callable[[str], Path]
Judged = Callable[[RunPlan], Path]

SAMPLE = ROOT / "examples" / "sample.tsv"
SETTINGS = JudgeSettings(context=8192, max_explanation_tokens=12, items_at_once=2)


def judged_by(plan: RunPlan, store_path: Path) -> list[JudgedItem]:
    """All items of a run, after it has ended."""
    with RunStore(store_path) as store:
        *_, ended = run_judging(plan, store, lambda: open_model(plan, CancelToken()))
        assert isinstance(ended, RunEnded)
        assert not ended.stopped
        return [without_time(item) for item in store.judged(ended.run_id)]


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
