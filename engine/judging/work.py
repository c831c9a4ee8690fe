"""What is done with the model of a plan, as works that a process of its own can do: each opens the store and
the model itself, and needs nothing but what can be sent there. Where the device of a run fails, the processor
resumes it, for good.
"""

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from pathlib import Path

from engine.core import events
from engine.core.errors import DeviceFailed, ProcessEnded
from engine.core.formatting import amount, counted, listed, percent
from engine.core.tables import Facts
from engine.judging.forecast import Forecast, Rate, time_some_items
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import Rewritten, make_item_judge, rewrite_explanations, run_judging
from engine.llama.context import OTHER_BATCH
from engine.models.checked_model import in_use
from engine.models.memory import memory_needed
from engine.models.model_file import ModelFile
from engine.prompt.tokens import most_of_one_prompt
from engine.results.run_results import keep_read_again, load_results
from engine.settings.identity import DEVICE_LEFT
from engine.settings.rows import DEFAULT_METHODS, neutral
from engine.store.run_store import RunStore
from engine.system.computer import Memory
from engine.system.subprocess_worker import Worker

PlanJudge = Worker[[RunPlan, Path, bool, int | None], events.RunEvent, events.RunEnded]
_GONE = "it is not found on this computer"


def judging_by(
    worker: PlanJudge,
    another: Callable[[], PlanJudge],
    plan: RunPlan,
    store_path: Path,
    *,
    fresh: bool = False,
    resumes: int | None = None,
) -> Generator[events.RunEvent, None, events.RunEnded]:
    """Have `judge_plan` done by `worker`, where its device fails by `another`. Raises what that raises."""
    if resumes is not None and plan.began_on is not None:
        with RunStore(store_path) as store:
            left_before = store.run(resumes).device_left
        if not left_before:
            _leave(store_path, resumes, plan.began_on, _GONE)
            yield events.DeviceLeft(plan.began_on, _GONE)
    run_id: int | None = None
    try:
        with worker, in_use(plan.model):
            reports = events.Reports(worker.do(plan, store_path, fresh, resumes))
            for event in reports:
                if isinstance(event, events.RunStarted):
                    run_id = event.run_id
                yield event
            return reports.result
    except (DeviceFailed, ProcessEnded) as error:
        device = plan.machine.device
        # Ended from outside, by the user or for lack of memory, says nothing of the device.
        if device is None or run_id is None or (isinstance(error, ProcessEnded) and not error.broke_down):
            raise
        why = error.as_clause
    _leave(store_path, run_id, device.title, why)
    yield events.DeviceLeft(device.title, why)
    return (yield from judging_by(another(), another, plan.by_processor(), store_path, resumes=run_id))


def _leave(store_path: Path, run_id: int, device: str, reason: str) -> None:
    with RunStore(store_path) as store, store.hold(run_id) as run:
        left = f"{device}, after {run.judged:,} of {run.identity.items:,} items: {reason}"
        store.describe(run_id, {**run.manifest, DEVICE_LEFT: left})


def settled_machine(plan: RunPlan, store_path: Path, fresh: bool, resumes: int | None) -> RunPlan:
    """The plan with the machine that resumes its run: the processor where the device was left before."""
    if plan.machine.device is None or fresh:
        return plan
    with RunStore(store_path) as store:
        run = store.find(plan.identity().key) if resumes is None else store.run(resumes)
    return plan.by_processor() if run is not None and run.device_left else plan


def plan_facts(forecast: Forecast, model: ModelFile, memory: Memory | None) -> Facts:
    """All but the time, which may be known later. `memory`: of this computer, None where others judge."""
    settings, most = forecast.settings, forecast.tokens_to_write_at_most
    to_write = f", at most {most:,} to write" if most else ""
    needed = memory_needed(model, settings.context, kv_type=settings.kv_type)
    free = f"; {amount(memory.available)} are free" if memory is not None else ""
    facts = {
        "in the store": forecast.stored if forecast.judged else "",
        "raw predictions": _raw_predictions(forecast),
        "too long": _too_long(forecast),
        "tokens": f"{forecast.tokens_to_read:,} to read{to_write}",
        "elicitation methods": _methods(forecast) if settings.methods != DEFAULT_METHODS else "",
        "memory": f"about {amount(needed.total)} with {settings.context:,} tokens of context{free}",
    }
    return Facts(tuple((name, text) for name, text in facts.items() if text))


def _raw_predictions(forecast: Forecast) -> str:
    items = counted(forecast.items, "item", "items")
    each = f"{items} x {counted(forecast.criteria, 'criterion', 'criteria')}"
    methods = len(forecast.settings.methods)
    each += f" x {methods} methods" if methods > 1 else ""
    second, orders = forecast.second, "both orders" if forecast.orders > 1 else "one order"
    if second is None:
        return f"{each} x {orders} = {forecast.raw_predictions:,}"
    if second.run_id is None:
        below = forecast.settings.second_order_below
        why = f"at most; no run tells how many items have a margin below {below:g}"
        return f"{each} x both orders if uncertain = {forecast.raw_predictions:,} {why}"
    share = f"the second order for {percent(second.share)} of the items, as in run {second.run_id}"
    return f"about {forecast.raw_predictions:,}: {each}, and {share}"


def _too_long(forecast: Forecast) -> str:
    item_id, tokens = forecast.largest
    if not forecast.too_long and not forecast.shortened:
        return f"none: every item fits. The largest, {item_id}, needs {tokens:,} tokens of context."
    said = [
        f"{len(ids):,} of {counted(forecast.items, 'item', 'items')} will be {what}: {listed(ids)}."
        for what, ids in (("unscored", forecast.too_long), ("shortened", forecast.shortened))
        if ids
    ]
    fits_all = forecast.context_that_fits_all
    enough = f"{fits_all:,} are enough" if fits_all else "the model was trained with less"
    is_bound = fits_all is None and tokens > most_of_one_prompt(forecast.settings.context)
    least = "at least " if is_bound else ""
    return f"{' '.join(said)} The largest, {item_id}, needs {least}{tokens:,} tokens of context; {enough}."


def _methods(forecast: Forecast) -> str:
    settings, tokens = forecast.settings, forecast.tokens_by_method
    of_each = ", ".join(f"{method.title} {tokens.get(method, 0):,}" for method in settings.methods)
    added = f"tokens that their questions add to the items: {of_each}"
    if not settings.reasons:
        return added
    items = forecast.items - len(forecast.too_long)
    samples = items * forecast.criteria * forecast.orders * settings.reasoning_samples
    return f"{added}; at most {samples:,} reasoning samples of {settings.max_reasoning_tokens:,} tokens"


_SECONDS_BETWEEN_TOKENS = 0.1


def judge_plan(
    cancel: events.CancelToken, plan: RunPlan, store_path: Path, fresh: bool, resumes: int | None
) -> Generator[events.RunEvent, None, events.RunEnded]:
    """As `run_judging`, with RunEnded returned too; the events of tokens come ten times a second at most."""
    plan = settled_machine(plan, store_path, fresh, resumes)
    tokens, last = 0, time.monotonic()
    with RunStore(store_path) as store:
        opener = partial(open_model, plan, cancel)
        for event in run_judging(plan, store, opener, fresh, resumes=resumes, ending=lambda: cancel.ending):
            if isinstance(event, events.TokensEvaluated):
                tokens += event.tokens
                if time.monotonic() - last >= _SECONDS_BETWEEN_TOKENS:
                    yield events.TokensEvaluated(tokens)
                    tokens, last = 0, time.monotonic()
                continue
            yield event
            if isinstance(event, events.RunEnded):
                ended = event
    return ended


def time_plan(cancel: events.CancelToken, plan: RunPlan) -> Generator[events.RunEvent, None, Rate]:
    """Judge some items of a plan and store nothing, as `time_some_items` does it; without events."""
    yield from ()
    return time_some_items(plan, lambda: open_model(plan, cancel))


def rewrite_run(
    cancel: events.CancelToken, plan: RunPlan, store_path: Path, run_id: int
) -> Generator[events.MeasureProgress, None, Rewritten]:
    """Write again what is out of date in a run, as `rewrite_explanations` does it; tells no tokens."""
    with RunStore(store_path) as store:
        writing = events.Reports(rewrite_explanations(plan, store, run_id, lambda: open_model(plan, cancel)))
        for event in writing:
            if isinstance(event, events.MeasureProgress):
                yield event
        return writing.result


def read_again(
    cancel: events.CancelToken, plan: RunPlan, store_path: Path, run_id: int
) -> Generator[events.MeasureProgress, None, None]:
    """Read the items of a run that is whole once more, in batches of another shape, and keep what is said
    then: all of it, or nothing where this is stopped (Cancelled). Writes no explanations.
    """
    # Where only doubt has the second order read, rounding decides that too: so both are read of all.
    settings = replace(plan.settings, **neutral())
    plan, judged = replace(plan, settings=settings, calibration=None), []
    with open_model(plan, cancel, OTHER_BATCH) as opened:
        judge = make_item_judge(plan, opened)
        for position, item in enumerate(plan.dataset):
            if cancel.ending:
                raise events.Cancelled
            yield events.MeasureProgress(position, len(plan.dataset))
            judged += events.followed(judge.judge([(position, item)]))
    with RunStore(store_path) as store:
        keep_read_again(store, load_results(store, run_id), judged)
