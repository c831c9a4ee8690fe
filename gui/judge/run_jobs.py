"""Jobs that plan, time and judge runs, describe an audit as one, and find the best settings."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.core.events import Preparing, RunEnded, RunEvent, followed
from engine.core.formatting import file_stem
from engine.core.items import Method, digest
from engine.core.tables import Facts, Sheet
from engine.settings.identity import StoredRun
from engine.settings.run_setup import RunSetup
from engine.system.computer import available_memory
from engine.system.files import make_folder
from engine.system.paths import is_there, recipes_folder, text_of_path
from gui.models.model_jobs import Computing, blamed, computing
from gui.widgets.notice import IN_THE_WINDOW
from gui.workspace.store_jobs import opened
from gui.workspace.threads import JobControl, job, worker

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.judging.forecast import Forecast
    from engine.judging.plan import RunPlan
    from engine.judging.prepare import PreparedRun
    from engine.models.memory import Fit

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
    favours: str = ""  # which candidates the judge may favour, as a sentence


@job
def plan(control: JobControl, store_path: Path, setup: RunSetup, current: "Dataset | None") -> Planned:
    """What a run would take; `current`: the open dataset. Reports Preparing, FilesRead, MeasureProgress."""
    control.report(_READING)
    from engine.judging.forecast import forecast
    from engine.judging.work import plan_facts
    from engine.models.memory import memory_fit, memory_needed
    from engine.store.opening import has_store

    prepared = _prepared(setup, current, control)
    run = _run_of(prepared.plan, setup, store_path)
    going_on = None if run is not None and run.complete else run  # it may be judged again
    made = _going_on(prepared.plan, setup, going_on)
    store = store_path if has_store(store_path) else None
    counted = followed(forecast(made, store, control.cancel, setup.fresh), control.report)
    settings, computes = made.settings, computing(setup, made, going_on)
    notices = [prepared.favours, *map(IN_THE_WINDOW.of, prepared.notices), counted.template_note]
    if setup.until is not None and _is_clear(made, going_on, store_path):
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
        favours=prepared.favours,
    )


def _is_clear(made: "RunPlan", run: "StoredRun | None", store_path: Path) -> bool:
    """Whether what a plan is to answer is clear by what its run has judged."""
    from engine.ranking.stopping import UntilSignificant, told_of
    from engine.results.run_results import load_results

    if run is None or not run.judged or not isinstance(made.question_plan, UntilSignificant):
        return False
    with opened(store_path) as store:
        return told_of(made.question_plan, load_results(store, run.id).model_alone()).is_answered


@job
def time_first(control: JobControl, planned: Planned, current: "Dataset | None") -> "Forecast":
    """The forecast with the time that some items took, judged now and stored nowhere."""
    control.report(_READING)
    from engine.judging.work import time_plan
    from engine.models.checked_model import in_use

    with worker(time_plan, control) as timer:
        made = _prepared(planned.setup, current, control).plan
        if not planned.computing.device:
            made = made.by_processor()
        control.report(Preparing("Judging some items"))
        with in_use(made.model), blamed(made.machine.device):
            rate = followed(timer.do(made), control.report)
    return replace(planned.forecast, rate=rate)


@job
def judge(control: JobControl, setup: RunSetup, store_path: Path, current: "Dataset | None") -> RunEnded:
    """Judge what the store does not hold yet. SetupError where a run to resume is another one by now.
    Reports Preparing, FilesRead, Computing, and the events of the run, tokens at most ten times a second.
    """
    control.report(_READING)
    from engine.judging.work import judge_plan, judging_by

    with worker(judge_plan, control) as judging:
        going_on = None
        if setup.resumes is not None:
            with opened(store_path) as store:
                going_on = store.run(setup.resumes)
        made = _prepared(setup, current, control, going_on).plan
        going_on = going_on or _run_of(made, setup, store_path)
        made = _going_on(made, setup, going_on)
        control.report(computing(setup, made, going_on))
        control.report(Preparing("Loading the model"))
        another = partial(worker, judge_plan, control)
        fresh, resumes = setup.fresh, setup.resumes
        going = judging_by(judging, another, made, store_path, fresh=fresh, resumes=resumes)
        return followed(going, control.report)


def _run_of(made: "RunPlan", setup: RunSetup, store_path: Path) -> "StoredRun | None":
    """The run in the store that a plan would go on with; None for a fresh one, and without a store."""
    from engine.store.opening import has_store

    if setup.fresh or not has_store(store_path):
        return None
    with opened(store_path) as store:
        return store.find(made.identity().key)


def _going_on(made: "RunPlan", setup: RunSetup, run: "StoredRun | None") -> "RunPlan":
    """A plan as it goes on with its run: by the processor where that has left its device."""
    from engine.operations.judge import stopping

    made = made.by_processor() if run is not None and run.device_left else made
    return stopping(made, setup.until, run)


def _prepared(
    setup: RunSetup, current: "Dataset | None", control: JobControl, resumed: "StoredRun | None" = None
) -> "PreparedRun":
    """The plan of a setup. SetupError where something chosen cannot be used, Cancelled."""
    from engine.judging.prepare import prepare_run

    return followed(prepare_run(setup, control.cancel, current, resumed), control.report)


class DescribedAudit(NamedTuple):
    """The run that an audit is; `lacking`: a sentence on perturbations that could not be made, if any."""

    setup: RunSetup
    lacking: str


@job
def describe_audit(
    _control: JobControl, setup: RunSetup, dataset: "Dataset", store_path: Path
) -> DescribedAudit:
    """The audit of the judge of a setup with items of a dataset, whose perturbations are written."""
    from engine.analysis.audit_run import audit_setup, default_place
    from engine.analysis.perturbations import make_perturbations

    perturbations = make_perturbations(dataset)
    path = default_place(perturbations, store_path)
    perturbations.write(path)
    return DescribedAudit(audit_setup(setup, path.absolute(), dataset.name), perturbations.lacking)


_LONGEST_STEM = 60  # bytes, of each of the two names in that of a recipe
_DIGITS = 6  # of a hash


@dataclass(frozen=True)
class TuneAsked:
    setup: RunSetup  # as the page describes a run
    minutes: float
    methods: tuple[Method, ...]
    items: int | None  # how many are judged at most, None for all


@dataclass(frozen=True)
class FoundSettings:
    """What came of it, as a sheet; `path`: the recipe."""

    path: Path
    sheet: Sheet


@job
def find(control: JobControl, asked: TuneAsked, store_path: Path, current: "Dataset | None") -> FoundSettings:
    """Find the best settings and keep them as a recipe; reports and raises what `tuning` does."""
    control.report(_READING)
    from engine.analysis.recipe import save_recipe
    from engine.analysis.tuning import TuneRequest, tuning
    from engine.judging.work import judge_plan, judging_by
    from engine.report.tuning import told, tuning_sheet

    def judge(plan: "RunPlan") -> "Iterable[RunEvent]":
        another = partial(worker, judge_plan, control)
        return judging_by(another(), another, plan, store_path)

    path = _recipe_of(asked.setup)
    make_folder(path.parent)
    request = TuneRequest(asked.setup, 60 * asked.minutes, asked.items, methods=asked.methods)
    tuning_result = followed(tuning(request, store_path, judge, control.cancel, current), control.report)
    save_recipe(path, told(tuning_result), tuning_result.own_examples)
    return FoundSettings(path, tuning_sheet(tuning_result))


def _recipe_of(setup: RunSetup) -> Path:
    """A name for the recipe of this dataset, model and rubric, which no others share."""
    paths = (setup.dataset_path, setup.model_path)
    dataset, model = (file_stem(path.stem, _LONGEST_STEM) for path in paths)
    asked = digest([*map(text_of_path, paths), setup.criteria, setup.rubric.asked])
    return recipes_folder() / f"{dataset}-{model}-{asked[:_DIGITS]}.json"


@job
def open_recipe(_control: JobControl, path: Path, setup: RunSetup) -> RunSetup:
    """A run of a setup's items by a recipe, with its model where that is still there. SetupError for none."""
    from engine.analysis.recipe import load_recipe

    recipe = load_recipe(path)
    made = recipe.in_setup(setup, path.absolute())
    model = recipe.judge.model_path
    return replace(made, model_path=model) if is_there(model) else made
