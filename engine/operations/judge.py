"""Judging: a request becomes a plan, which is forecast and judged; stale explanations are written again. Does
not know: who asks, how anything is shown.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.analysis.recipe import Recipe, load_recipe
from engine.core import events
from engine.core.errors import Given, Hint, SetupError
from engine.core.events import CancelToken, MeasureProgress, Note, RunEvent
from engine.core.formatting import counted, visible
from engine.core.rubric import default_criterion
from engine.core.tables import Facts
from engine.data.dataset import Dataset, load_dataset
from engine.data.id_list import read_ids
from engine.data.rubrics.files import find_rubric
from engine.judging.forecast import Forecast, forecast
from engine.judging.plan import RunPlan
from engine.judging.prepare import PreparedRun, example_pool, prepare_run
from engine.judging.run import Rewritten, rewriting_plan
from engine.judging.work import judge_plan, judging_by, plan_facts, rewrite_run, time_plan
from engine.models.checked_model import checked_model, in_use
from engine.models.memory import check_memory
from engine.models.model_file import read_model_file
from engine.models.opening import machine_settings
from engine.operations.judge_request import JudgeRequest, Orders, example_settings, orders_of
from engine.operations.judged_again import (
    EarlierRun,
    Escalation,
    RegressionCheck,
    escalation_of,
    planned,
    regression_check_of,
)
from engine.operations.opening import find_model, remember_columns
from engine.prompt.examples import ExamplePool
from engine.ranking.stopping import UntilSignificant, told_of, until_significant
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import StoredRun, refuse_unasked
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import StoppingRule
from engine.store.run_store import RunStore
from engine.system.computer import Memory
from engine.system.files import check_targets
from engine.system.paths import PathKind, is_there, seen_at
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker


@dataclass(frozen=True)
class ReadyRun:
    """A run that can be judged. `fresh`: as a new run; `regression`: what it checks, if it checks a run;
    `escalation`: whose items it judges, if these may not stand in another run.
    """

    prepared: PreparedRun
    fresh: bool
    regression: RegressionCheck | None = None
    escalation: Escalation | None = None

    @property
    def plan(self) -> RunPlan:
        return self.prepared.plan

    @property
    def part_in_words(self) -> str:
        """The items of the plan: `240 items of demo.tsv`, `5 of 240 items of demo.tsv`."""
        items, dataset, sample = self.prepared.items_in_file, self.plan.dataset, self.plan.sample
        part = f"{len(dataset):,} of " if len(dataset) < items else ""
        how = f" {visible(sample.how)}" if sample is not None else ""
        return f"{part}{counted(items, 'item', 'items')} of {visible(dataset.name)}{how}"

    def facts(self, found: Forecast, memory: Memory | None) -> Facts:
        """What the run takes; `memory`: of this computer, None where others judge."""
        return plan_facts(found, self.prepared.model, memory)


def prepare(
    request: JudgeRequest, cancel: CancelToken
) -> Generator[Note | events.FilesRead | events.Preparing, None, ReadyRun]:
    """The plan of a request. SetupError where values exclude each other; ModelFileError, Cancelled."""
    # What is quick to refuse comes before the check of the model.
    request.check()
    until = request.stopping_rule
    recipe = None if request.recipe is None else load_recipe(request.recipe)
    regression = yield from regression_check_of(request, cancel)
    escalation = escalation_of(request, cancel)
    earlier = regression or escalation
    model = yield from _model(request, recipe, regression)
    if request.written:
        check_targets(request.written, _files_read(request, recipe, earlier, model))
    setup, orders = yield from _setup(request, model, earlier, recipe)
    judged_on = None if request.judged_on is None else request.judged_on()
    dataset = None if request.load is None else request.load(setup.rubric, cancel)
    if earlier is None:
        dataset, ids = _chosen(request, setup, dataset, cancel)
        setup = replace(setup, ids=ids)
    made = yield from prepare_run(setup, cancel, dataset)
    if not request.accept_reading:
        _check_reading(made.plan.dataset)
    # A regression check asks whether the judge of an earlier run is the same still, whomever it favours.
    if made.favours and regression is None and not request.accept_own_candidates:
        how = Hint("Use another judge. To judge by this one: ", Given("accept_own_candidates"), ".")
        raise SetupError(made.favours, how)
    plan, fresh = made.plan, request.fresh
    if judged_on is not None:
        plan = replace(plan, began_on=judged_on)
    if regression is not None:
        plan, anew = yield from planned(regression, plan, request)
        fresh = fresh or anew
    if escalation is not None:
        plan = replace(plan, name=f"escalated from run {escalation.run.id}")
    orders.check_fits(plan.identity())
    if request.save_columns and (told := remember_columns(plan.dataset)):
        yield Note(told)
    return ReadyRun(replace(made, plan=stopping(plan, until)), fresh, regression, escalation)


def _check_reading(dataset: Dataset) -> None:
    """SetupError where much speaks against how a foreign file was read: judging would cost hours."""
    strong = [sign.text for sign in dataset.signs if sign.strong]
    if strong:
        raise SetupError(
            f"{visible(dataset.name)} seems to be read wrong: {'; '.join(strong)}.",
            Hint(f"See: check {visible(str(dataset.path))}. To judge it so: ", Given("accept_reading"), "."),
        )


def _model(
    request: JudgeRequest, recipe: Recipe | None, regression: RegressionCheck | None
) -> Generator[Note, None, Path]:
    """The model file: the one named, else that of the recipe or of the earlier run."""
    if request.model is not None:
        return (yield from find_model(request.model))
    if recipe is not None:
        path, whose = recipe.judge.model_path, str(request.recipe)
    elif regression is not None:
        path, whose = regression.run.identity.model_path, regression.run.title
    else:
        raise SetupError(
            Hint(Given("model"), " is missing."),
            Hint("Name one, or a recipe that has one: ", Given("recipe", "FILE"), "."),
        )
    if not is_there(path):
        raise SetupError(
            f"{whose}: the model {visible(str(path))} is missing.",
            Hint("Name a model with ", Given("model"), ", or put that one back."),
        )
    return path


def _files_read(
    request: JudgeRequest, recipe: Recipe | None, earlier: EarlierRun | None, model: Path
) -> dict[str, Path]:
    given = {
        "dataset": request.dataset if earlier is None else earlier.items.path,
        "model": model,
        "run store": request.store,
        "examples": request.examples,
        "calibration": request.calibration,
        "ids": request.ids if isinstance(request.ids, Path) else None,
        "recipe": request.recipe,
        "gold": request.gold,
        "examples of the recipe": recipe.examples_at(request.recipe) if recipe and request.recipe else None,
    }
    if request.rubric and seen_at(Path(request.rubric)) is PathKind.FILE:
        given["rubric"] = Path(request.rubric)
    return {what: path for what, path in given.items() if path is not None}


def _setup(
    request: JudgeRequest, model: Path, earlier: EarlierRun | None, recipe: Recipe | None
) -> Generator[Note, None, tuple[RunSetup, Orders]]:
    """The run that is requested; where its items are those of an earlier run, the defaults are, too."""
    if earlier is not None:
        default = earlier.default
    elif request.dataset is None:
        raise SetupError("The dataset is missing.", "Name its file.")
    else:
        default = RunSetup(request.dataset, model)
    rubric = default.rubric if request.rubric is None else find_rubric(request.rubric)
    criteria = request.criteria or rubric.names
    if earlier is not None:
        shared = earlier.criteria_of(rubric.only(criteria))
        criteria = request.criteria or shared
    asked = rubric.only(criteria).names
    orders, notes = orders_of(request, asked, earlier.orders if earlier else None)
    yield from notes
    examples = example_settings(request.examples, request.few_shot, request.few_shot_selection)
    setup = replace(
        default,
        model_path=model,
        items=request.items if earlier is None else None,
        sample=request.item_sample(),
        both_orders=orders.both,
        second_order_below=orders.below,
        methods=request.methods or default.methods,
        rubric=rubric,
        criteria=criteria,
        calibration_path=request.calibration,
        device=request.device or default.device,
        fresh=request.fresh,
        columns=request.columns_for(rubric) or default.columns,
        name=request.name,
        note=request.note,
        **examples,
        **request.settings,
    )
    if recipe is not None and request.recipe is not None:
        setup = recipe.in_setup(setup, request.recipe)
    return setup, orders


def _chosen(
    request: JudgeRequest, setup: RunSetup, dataset: Dataset | None, cancel: CancelToken
) -> tuple[Dataset | None, tuple[str, ...]]:
    """The ids of a list or of a file, with the dataset where it was read for them."""
    if request.ids is None or isinstance(request.ids, tuple):
        return dataset, request.ids or ()
    known = dataset or load_dataset(setup.dataset_path, setup.rubric, cancel, columns=setup.columns)
    if isinstance(request.ids, bytes):
        return known, read_ids(Path("standard input"), known, request.ids)
    return known, read_ids(request.ids, known)


def stopping(plan: RunPlan, until: StoppingRule | None, run: StoredRun | None = None) -> RunPlan:
    """A plan that stops once it is answered, in the order of the `run` that it resumes. SetupError."""
    if until is None:
        return plan
    if run is not None and run.order_seed is not None:
        until = replace(until, seed=run.order_seed)
    question = until_significant(plan.dataset, default_criterion(plan.rubric.names), until)
    return replace(plan, question_plan=question)


def forecast_of(
    ready: ReadyRun, store: Path, cancel: CancelToken
) -> Generator[MeasureProgress | Note, None, Forecast]:
    """What a run takes, with its time if the model's speed is known."""
    found = yield from forecast(ready.plan, store, cancel, ready.fresh)
    if found.template_note:
        yield Note(found.template_note)
    return found


def timed(
    ready: ReadyRun, found: Forecast, cancel: CancelToken, *, apart: bool = False
) -> Generator[Note, None, Forecast]:
    """A forecast with its time: if nothing shows it, some items are judged for it and dropped."""
    if found.seconds is not None or len(found.too_long) >= found.items:
        return found
    yield Note("No run in the store shows the speed of this model: judging some items to measure it ...")
    kind = SubprocessWorker if apart or ready.plan.machine.device else InProcessWorker
    with kind(time_plan, cancel) as worker:
        return replace(found, rate=events.followed(worker.do(ready.plan)))


@dataclass(frozen=True)
class Judged:
    """A run as it ended. `results`: None if it was stopped; of an escalation those of both judges together.
    `until`: what was to be answered.
    """

    ended: events.RunEnded
    results: RunResults | None
    until: UntilSignificant | None = None

    def stopped_in_words(self, same: str) -> str:
        """How far it is, and that the `same` command or call resumes it."""
        ended = self.ended
        return (
            f"Run {ended.run_id} stopped: {ended.judged} of {ended.items} items are judged and stored.\n"
            f"The same {same} resumes it."
        )


def judged_here(
    plan: RunPlan, store: Path, fresh: bool, cancel: CancelToken, *, apart: bool = False
) -> Generator[RunEvent, None, events.RunEnded]:
    """The run, judged on this computer; `apart`: in a process of its own, whose crash affects no other."""
    # A GPU driver may crash the process that uses it.
    kind: Any = SubprocessWorker if apart or plan.machine.device else InProcessWorker
    worker = partial(kind, judge_plan, cancel)
    return judging_by(worker(), worker, plan, store, fresh=fresh)


def judge(
    ready: ReadyRun,
    store_path: Path,
    cancel: CancelToken,
    *,
    apart: bool = False,
    elsewhere: Callable[[RunPlan, bool], Generator[RunEvent, None, events.RunEnded]] | None = None,
) -> Generator[RunEvent, None, Judged]:
    """Judge what the store does not hold yet; `elsewhere`: by other computers."""
    plan = ready.plan
    if elsewhere is not None:
        ended = yield from elsewhere(plan, ready.fresh)
    else:
        ended = yield from judged_here(plan, store_path, ready.fresh, cancel, apart=apart)
    if ended.stopped:
        return Judged(ended, None)
    with RunStore(store_path) as store:
        results = load_results(store, ended.run_id)
        if ready.escalation is not None:
            results = ready.escalation.kept_with(results, store)
    until = told_of(plan.question_plan, results) if isinstance(plan.question_plan, UntilSignificant) else None
    return Judged(ended, results, until)


@dataclass(frozen=True)
class RewriteRequest:
    """The stale explanations of a run, to be written again for its effective labels. `dataset`: its items.
    `model`: None for its own. `examples`: that it was shown, as `example_settings` has them.
    """

    store: Path
    run: StoredRun
    dataset: Dataset
    model: Path | None = None
    threads: int | None = None
    examples: dict[str, Any] | None = None


def rewrite(
    request: RewriteRequest, cancel: CancelToken, *, apart: bool
) -> Generator[MeasureProgress | Note, None, Rewritten]:
    """Write again what is stale; a stop keeps what was written. SetupError where dataset, model, questions or
    examples are not those of the run; ModelFileError, RunBusyError, Cancelled.
    """
    run, shown = request.run, request.examples or {}
    refuse_unasked(run, "have its explanations regenerated")
    pool = ExamplePool()
    if shown.get("examples_path") is not None:
        pool = example_pool(
            shown["examples_path"], shown["shots"], run.identity.asked, cancel, choice=shown["example_choice"]
        )
    path = request.model or run.identity.model_path
    if request.model is None and not is_there(path):
        raise SetupError(
            f"{run.title} was judged by {visible(run.identity.model_name)}; {path} is missing.",
            Hint("Put the model back, or name its file with ", Given("model"), "."),
        )
    described, settings = read_model_file(path), run.identity.judge_settings
    if warning := check_memory(described, settings.context, kv_type=settings.kv_type):
        yield Note(warning)
    model = checked_model(described, cancel)
    plan = rewriting_plan(run, request.dataset, model, machine_settings(request.threads), pool)
    with (SubprocessWorker if apart else InProcessWorker)(rewrite_run, cancel) as writer, in_use(model):
        writing = events.Reports(writer.do(plan, request.store, run.id))
        yield from writing
        return writing.result
