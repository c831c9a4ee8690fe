"""What is done with the model of a plan, as works that a process of its own can do.

Each opens the store and the model itself, and needs nothing but what can be sent to that process
(engine/system/apart.py).

Knows: which work needs what. Does not know: in which process it is done, windows.
"""

import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path

from engine.core.cancel import Cancelled, CancelToken
from engine.core.events import MeasureProgress, Reports, RunEnded, RunEvent, TokensEvaluated, followed
from engine.core.settings import Mode
from engine.decisions.read_again import keep_read_again
from engine.decisions.run_results import load_results
from engine.judge.forecast import Rate, time_some_items
from engine.judge.on_device import settled_machine
from engine.judge.plan import RunPlan, open_model
from engine.judge.rewrite import Rewritten, rewrite_explanations
from engine.judge.run import make_item_judge, run_judging
from engine.llama.context import OTHER_BATCH
from engine.store.run_store import RunStore

_SECONDS_BETWEEN_TOKENS = 0.1


def judge_plan(
    cancel: CancelToken, plan: RunPlan, store_path: Path, fresh: bool, resumes: int | None
) -> Generator[RunEvent, None, RunEnded]:
    """Judge what the store does not hold yet, as `run_judging` does it; RunEnded is returned, too.

    The events of tokens come at most ten times a second.
    """
    plan = settled_machine(plan, store_path, fresh, resumes)
    with RunStore(store_path) as store:
        events = run_judging(
            plan,
            store,
            lambda: open_model(plan, cancel),
            fresh,
            resumes=resumes,
            ending=lambda: cancel.ending,
        )
        for event in _with_rare_tokens(events):
            yield event
            if isinstance(event, RunEnded):
                ended = event
    return ended


def time_plan(cancel: CancelToken, plan: RunPlan) -> Generator[RunEvent, None, Rate]:
    """Judge some items of a plan and store nothing, as `time_some_items` does it; without events."""
    yield from ()
    return time_some_items(plan, lambda: open_model(plan, cancel))


def rewrite_run(
    cancel: CancelToken, plan: RunPlan, store_path: Path, run_id: int
) -> Generator[MeasureProgress, None, Rewritten]:
    """Write again what is out of date in a run, as `rewrite_explanations` does it; tells no tokens."""
    with RunStore(store_path) as store:
        writing = Reports(rewrite_explanations(plan, store, run_id, lambda: open_model(plan, cancel)))
        for event in writing:
            if isinstance(event, MeasureProgress):
                yield event
        return writing.result


def read_again(
    cancel: CancelToken, plan: RunPlan, store_path: Path, run_id: int
) -> Generator[MeasureProgress, None, None]:
    """Read the items of a run that is whole once more, in batches of another shape, and keep what is said
    then: all of it, or nothing where this is stopped (Cancelled). Writes no explanations.
    """
    # Where only doubt has the second order read, rounding decides that too: so both are read of all.
    settings = replace(plan.settings, mode=Mode.LABELS, second_order_below=None)
    plan, judged = replace(plan, settings=settings, calibration=None), []
    with open_model(plan, cancel, OTHER_BATCH) as opened:
        judge = make_item_judge(plan, opened)
        for position, item in enumerate(plan.dataset):
            if cancel.ending:
                raise Cancelled
            yield MeasureProgress(position, len(plan.dataset))
            judged += followed(judge.judge([(position, item)]), lambda _event: None)
    with RunStore(store_path) as store:
        keep_read_again(store, load_results(store, run_id), judged)


def _with_rare_tokens(events: Iterator[RunEvent]) -> Iterator[RunEvent]:
    """The same events, but those of tokens a tenth of a second apart, each with all tokens since the last."""
    tokens, last = 0, time.monotonic()
    for event in events:
        if not isinstance(event, TokensEvaluated):
            yield event
            continue
        tokens += event.tokens
        if time.monotonic() - last >= _SECONDS_BETWEEN_TOKENS:
            yield TokensEvaluated(tokens)
            tokens, last = 0, time.monotonic()
