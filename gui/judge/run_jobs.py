"""Jobs that plan, time and judge runs.

Knows: the steps from a setup to a plan, and to the last item. Does not know: windows.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.events import Preparing, RunEnded, followed
from engine.core.run_setup import RunSetup
from engine.core.sheets import Facts
from engine.core.until import StoppingRule
from gui.judge.devices.device_jobs import Computing, blamed, computing
from gui.kit.remedies import IN_THE_WINDOW
from gui.work.apart_jobs import worker
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.core.run_records import StoredRun
    from engine.data.dataset import Dataset
    from engine.gguf.memory import Fit
    from engine.judge.forecast import Forecast
    from engine.judge.plan import RunPlan
    from engine.judge.prepare import PreparedRun


_READING = Preparing("Reading the files")
"""Reported before anything is imported, which takes a second."""


@dataclass(frozen=True)
class Planned:
    """What a run would take, in `facts` for display, and what would compute it."""

    setup: RunSetup
    forecast: "Forecast"
    facts: Facts
    fit: "Fit"
    notices: tuple[str, ...]
    computing: Computing = field(default_factory=Computing)


def plan(setup: RunSetup, store_path: Path, current: "Dataset | None") -> Job[Planned]:
    """What a run would take; `current`: the dataset that is open.

    Reports Preparing, FilesRead and MeasureProgress.
    """

    def work(control: JobControl) -> Planned:
        control.report(_READING)
        from engine.gguf.memory import memory_fit, memory_needed
        from engine.judge.forecast import forecast
        from engine.judge.plan_facts import plan_facts
        from engine.store.opening import has_store
        from engine.system.computer import available_memory

        prepared = _prepared(setup, current, control)
        store = store_path if has_store(store_path) else None
        run = None if setup.fresh else _run_of(prepared.plan, store)
        going_on = None if run is not None and run.complete else run  # it may be judged again
        made = _asking(_adjudicated(prepared.plan, going_on), setup.until, going_on)
        counting = forecast(made, store, control.cancel, setup.fresh)
        counted = followed(counting, control.report)
        settings, computes = made.settings, computing(setup, made, going_on)
        notices = [*map(IN_THE_WINDOW.of, prepared.notices), counted.template_note]
        if setup.until is not None and _is_clear(made, going_on, store):
            notices.append("Everything is resolved already. “To the end” judges the rest.")
        elif setup.until is not None:
            notices.append(f"This is the maximum: the run goes on {setup.until.in_words}.")
        estimate = memory_needed(prepared.model, settings.context, kv_type=settings.kv_type)
        memory = available_memory()
        return Planned(
            setup=setup,
            forecast=counted,
            facts=plan_facts(counted, prepared.model, memory),
            fit=memory_fit(estimate, memory),
            notices=tuple(note for note in notices if note and note != computes.remark),
            computing=computes,
        )

    return work


def _is_clear(made: "RunPlan", run: "StoredRun | None", store_path: Path | None) -> bool:
    """Whether what a plan is to answer is clear by what its run has judged."""
    from engine.decisions.run_results import load_results
    from engine.rank.until_sure import UntilSignificant, told_of
    from engine.store.run_store import RunStore

    if (
        run is None
        or not run.judged
        or store_path is None
        or not isinstance(made.question_plan, UntilSignificant)
    ):
        return False
    with RunStore(store_path) as store:
        return told_of(made.question_plan, load_results(store, run.id).model_alone()).is_answered


def time_first(planned: Planned, current: "Dataset | None") -> "Job[Forecast]":
    """The forecast with the time that some items took, judged now and stored nowhere."""

    def work(control: JobControl) -> "Forecast":
        control.report(_READING)
        from engine.judge.work import time_plan
        from engine.loading.checked_model import in_use

        with worker(time_plan, control) as timer:
            made = _prepared(planned.setup, current, control).plan
            if not planned.computing.device:
                made = made.by_processor()
            control.report(Preparing("Judging some items"))
            with in_use(made.model), blamed(made.machine.device):
                rate = followed(timer.do(made), control.report)
        return planned.forecast.with_rate(rate)

    return work


def judge(setup: RunSetup, store_path: Path, current: "Dataset | None") -> Job[RunEnded]:
    """Judge what the store does not hold yet.

    Reports Preparing, FilesRead, what is Computing, and the events of the run, tokens at most ten times a
    second.
    SetupError where a run to resume is not that of the setup any more.
    """

    def work(control: JobControl) -> RunEnded:
        control.report(_READING)
        from engine.judge.on_device import judging_by
        from engine.judge.work import judge_plan
        from engine.store.opening import has_store

        with worker(judge_plan, control) as judging:
            resumed = _resumed(setup, store_path)
            made = _prepared(setup, current, control, resumed).plan
            going_on = resumed
            if resumed is None and not setup.fresh and has_store(store_path):
                going_on = _run_of(made, store_path)
            made = _asking(_adjudicated(made, going_on), setup.until, going_on)
            control.report(computing(setup, made, going_on))
            control.report(Preparing("Loading the model"))
            another = partial(worker, judge_plan, control)
            fresh, resumes = setup.fresh, setup.resumes
            going = judging_by(judging, another, made, store_path, fresh=fresh, resumes=resumes)
            return followed(going, control.report)

    return work


def _resumed(setup: RunSetup, store_path: Path) -> "StoredRun | None":
    """The run to go on with, None where the setup names none. StoreError where the store does not hold it."""
    from engine.store.run_store import RunStore

    if setup.resumes is None:
        return None
    with RunStore(store_path) as store:
        return store.run(setup.resumes)


def _run_of(made: "RunPlan", store_path: Path | None) -> "StoredRun | None":
    """The run in the store that a plan would go on with; None where there is no store."""
    from engine.store.run_store import RunStore

    if store_path is None:
        return None
    with RunStore(store_path) as store:
        return store.find(made.identity().key)


def _adjudicated(made: "RunPlan", run: "StoredRun | None") -> "RunPlan":
    """A plan with what goes on with its run: the processor where that has left its device."""
    return made.by_processor() if run is not None and run.device_left else made


def _prepared(
    setup: RunSetup, current: "Dataset | None", control: JobControl, resumed: "StoredRun | None" = None
) -> "PreparedRun":
    """The plan of a setup. SetupError where something chosen cannot be used, Cancelled."""
    from engine.judge.prepare import prepare_run

    return followed(prepare_run(setup, control.cancel, current, resumed), control.report)


def _asking(made: "RunPlan", until: StoppingRule | None, run: "StoredRun | None") -> "RunPlan":
    """A plan that stops once something is clear, of instructions as the run that goes on draws them.

    SetupError where the dataset cannot tell what is asked.
    """
    from engine.core.rubric import default_criterion
    from engine.rank.until_sure import until_significant

    if until is None:
        return made
    if run is not None and run.order_seed is not None:
        until = replace(until, seed=run.order_seed)
    return replace(
        made, question_plan=until_significant(made.dataset, default_criterion(made.rubric.names), until)
    )
