"""A run on a device that may fail: then the processor resumes it, for good, and the run says why.

Knows: what is a device's fault. Does not know: how a run is judged, processes, windows.
"""

from collections.abc import Callable, Generator
from pathlib import Path

from engine.core.errors import DeviceFailed, ProcessEnded
from engine.core.events import DeviceLeft, Reports, RunEnded, RunEvent, RunStarted
from engine.core.run_records import DEVICE_LEFT
from engine.judge.plan import RunPlan
from engine.loading.checked_model import in_use
from engine.store.run_store import RunStore
from engine.system.apart import Worker

PlanJudge = Worker[[RunPlan, Path, bool, int | None], RunEvent, RunEnded]
_GONE = "it is not found on this computer"


def judging_by(
    worker: PlanJudge,
    another: Callable[[], PlanJudge],
    plan: RunPlan,
    store_path: Path,
    *,
    fresh: bool = False,
    resumes: int | None = None,
) -> Generator[RunEvent, None, RunEnded]:
    """Have a plan judged by `worker`, which does `judge_plan`; where its device fails, continue by `another`.

    Raises what `judge_plan` raises, ProcessEnded.
    """
    if resumes is not None and plan.began_on is not None and not _left_before(store_path, resumes):
        _leave(store_path, resumes, plan.began_on, _GONE)
        yield DeviceLeft(plan.began_on, _GONE)
    run_id: int | None = None
    try:
        with worker, in_use(plan.model):
            events = Reports(worker.do(plan, store_path, fresh, resumes))
            for event in events:
                if isinstance(event, RunStarted):
                    run_id = event.run_id
                yield event
            return events.result
    except (DeviceFailed, ProcessEnded) as error:
        device = plan.machine.device
        # Ended from outside, by the user or for lack of memory, says nothing of the device.
        if device is None or run_id is None or (isinstance(error, ProcessEnded) and not error.broke_down):
            raise
        why = error.as_clause
    _leave(store_path, run_id, device.title, why)
    yield DeviceLeft(device.title, why)
    return (yield from judging_by(another(), another, plan.by_processor(), store_path, resumes=run_id))


def _left_before(store_path: Path, run_id: int) -> bool:
    with RunStore(store_path) as store:
        return store.run(run_id).device_left


def _leave(store_path: Path, run_id: int, device: str, reason: str) -> None:
    """Write into a run that its device is left, and why."""
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
