"""A run on a device that fails: the processor goes on with it, and the run says so."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.core.errors import ProcessEnded
from engine.core.events import CancelToken, DeviceLeft, RunEnded, RunEvent, followed
from engine.core.judgments import JudgedItem
from engine.judging.plan import RunPlan
from engine.judging.prepare import prepare_run
from engine.judging.work import PlanJudge, judge_plan, judging_by, settled_machine
from engine.settings.rows import Device, DeviceKind, MachineSettings, Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset, demo_model
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker
from tests.engine.judging.runs import MakePlan, without_time

GONE = Device("Vulkan7", "A card that was sold", "Vulkan", DeviceKind.GPU, driver="00000001")
ON_IT = MachineSettings(1, 2, device=GONE)


@pytest.fixture
def plan(make_plan: MakePlan) -> RunPlan:
    made = make_plan(mode=Mode.LABELS)
    return replace(made, machine=ON_IT, dataset=made.dataset.head(2))


def judged(
    plan: RunPlan, store: Path, kind: type = InProcessWorker, **how: object
) -> tuple[RunEnded, list[RunEvent]]:
    told: list[RunEvent] = []
    worker: Callable[[], PlanJudge] = partial(kind, judge_plan, CancelToken())
    return followed(judging_by(worker(), worker, plan, store, **how), told.append), told  # type: ignore[arg-type]


def items(store: Path, run_id: int) -> list[JudgedItem]:
    with RunStore(store) as opened:
        return [without_time(item) for item in opened.judged(run_id)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [InProcessWorker, SubprocessWorker])
def test_the_processor_goes_on_and_the_run_says_why(plan: RunPlan, tmp_path: Path, kind: type) -> None:
    path = tmp_path / "runs.sqlite"
    ended, told = judged(plan, path, kind)
    reason = "it is no longer found on this computer"
    assert [event for event in told if isinstance(event, DeviceLeft)] == [DeviceLeft(GONE.title, reason)]
    assert (ended.judged, ended.items, ended.stopped) == (2, 2, False)
    with RunStore(path) as store:
        (run,) = store.runs()
    assert run.device_left
    assert run.manifest["device_left"] == f"{GONE.title}, after 0 of 2 items: {reason}"
    assert run.identity.settings["device"] == "Vulkan: A card that was sold"
    by_processor = replace(plan, machine=MachineSettings(1))
    other, _ = judged(by_processor, path)
    assert other.run_id != ended.run_id
    assert items(path, ended.run_id) == items(path, other.run_id)


def test_a_device_that_was_left_is_not_taken_up_again(plan: RunPlan, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    judged(plan, path)
    assert settled_machine(plan, path, fresh=False, resumes=None).machine.device is None
    assert settled_machine(plan, path, fresh=False, resumes=None).identity() == plan.identity()
    assert settled_machine(plan, path, fresh=True, resumes=None) == plan
    ended, told = judged(plan, path)
    assert not [event for event in told if isinstance(event, DeviceLeft)]
    assert ended.run_id == 1


@pytest.mark.parametrize(("on_device", "why"), [(True, "ended from outside"), (False, "SIGSEGV")])
def test_the_end_from_outside_and_one_by_the_processor_are_no_fault_of_a_device(
    plan: RunPlan, tmp_path: Path, on_device: bool, why: str
) -> None:
    class Ended(InProcessWorker):  # type: ignore[type-arg]
        def do(self, *args: object, **kwargs: object):  # type: ignore[no-untyped-def]
            yield next(super().do(*args, **kwargs))  # the run has started
            raise ProcessEnded(f"It broke down: {why}.", "Go on with it.", broke_down=not on_device)

    path = tmp_path / "runs.sqlite"
    with pytest.raises(ProcessEnded, match=why):
        judged(plan if on_device else replace(plan, machine=MachineSettings(1)), path, Ended)
    with RunStore(path) as store:
        assert not store.run(1).device_left


@pytest.mark.usefixtures("demo_tried")
def test_a_run_of_a_device_that_is_gone_is_resumed_by_the_processor(tmp_path: Path) -> None:
    setup = RunSetup(demo_dataset(), demo_model(), items=2, mode=Mode.LABELS, threads=1)
    plan = followed(prepare_run(setup, CancelToken())).plan
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store, store.begin(replace(plan, machine=ON_IT).identity()) as run:
        pass
    made = followed(prepare_run(setup, CancelToken(), resumed=run)).plan
    assert made.machine.device is None
    assert made.identity().key == run.identity.key
    ended, told = judged(made, path, resumes=run.id)
    assert (ended.run_id, ended.judged) == (run.id, 2)
    assert DeviceLeft("Vulkan: A card that was sold", "it is not found on this computer") in told
    with RunStore(path) as store:
        assert store.run(run.id).device_left
