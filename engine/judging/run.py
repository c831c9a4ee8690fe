"""A run: one dataset judged with one model and one set of settings, from the first item to the last; and its
explanations written again, where they are for another label than the effective one.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, groupby, islice
from typing import TypeVar

from engine.core import events
from engine.core.errors import EngineBug, Hint, Setting, SetupError
from engine.core.items import Preference
from engine.core.judgments import AnyJudgment, JudgedItem
from engine.data.dataset import Dataset
from engine.data.label_origins import drawn_instructions
from engine.judging.item_judge import ExplanationsByCriterion, ItemJudge, LabelsByCriterion
from engine.judging.item_reader import Judging, Remaining
from engine.judging.plan import (
    Asking,
    RunPlan,
    asked_alike,
    check_same_format,
    continued_manifest,
    machine_manifest,
    order_of,
    session_manifest,
)
from engine.llama.library import library_version
from engine.models.checked_model import CheckedModel
from engine.models.opening import OpenModel, OpenModelFactory
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PROMPT_VERSION
from engine.results.calibration import calibration_of
from engine.results.decision import decide_all
from engine.results.health import LEAST_ITEMS, MOST_ITEMS, HealthWatch
from engine.results.run_dataset import judged_items
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import RANDOM_ORDER, REWRITTEN, StoredRun, refuse_unasked
from engine.settings.rows import MachineSettings
from engine.store.run_store import RunStore

_AT_ONCE = 1000  # stored items that are passed to an inquiry together: their raw predictions are large


def record_plan(plan: RunPlan, store: RunStore, run: StoredRun) -> RunPlan:
    """Store what a plan says of its run next to items; the plan with the calibration that the run has then.
    SetupError, with nothing stored, where that looks at lengths of responses that the run does not know.
    """
    calibration = plan.calibration
    if calibration is None and run.calibration is not None:
        calibration = calibration_of(run.calibration)
    if calibration is not None:
        with closing(store.judged(run.id)) as judged:  # it holds the store while it is read
            calibration.check_lengths(judged, run.title)
    if plan.name is not None:
        store.name(run.id, plan.name)
    if plan.note is not None:
        store.note_run(run.id, plan.note)
    if plan.calibration is not None:
        store.calibrate(run.id, plan.calibration.as_json())
    return replace(plan, calibration=calibration)


def missing_groups(plan: RunPlan, judged: set[int]) -> list[range]:
    size, items = plan.settings.items_at_once, len(plan.dataset)
    groups = (range(start, min(start + size, items)) for start in range(0, items, size))
    # A group is stored whole, so its first item stands for all.
    return [group for group in groups if group.start not in judged]


class RunWriter:
    """Stores the groups of a run, and tells what is decided of them; the run is held meanwhile."""

    def __init__(self, plan: RunPlan, store: RunStore, run_id: int) -> None:
        self._plan = plan
        self._store = store
        self._run_id = run_id
        self._calibrations = plan.calibration.criteria if plan.calibration else {}
        self._watch = HealthWatch(plan.rubric, plan.settings.explains)

    def begin(self) -> Iterator[events.HealthSeen]:
        """Continue with what is stored; out of the archive, for what continues is looked for."""
        self._store.restore([self._run_id])
        stored = list(islice(self._store.judged(self._run_id), MOST_ITEMS))
        for judgments in zip(*self._columns(stored), strict=True):
            self._watch.add(judgments)
        if self._watch.items >= LEAST_ITEMS:
            yield events.HealthSeen(self._watch.health)

    def told_again(self, asking: Asking) -> Iterator[events.Resolved]:
        if not asking.is_there:
            return
        stored = self._store.judged(self._run_id)
        while group := list(islice(stored, _AT_ONCE)):
            for event in self._decided(group):
                asking.hear(event)
        yield from asking.look()

    def keep(self, group: Sequence[JudgedItem]) -> Iterator[events.ItemJudged | events.HealthSeen]:
        """Store a group; then its items with what is decided of them, by the calibration of the plan."""
        self._store.add(self._run_id, group)
        for event in self._decided(group):
            yield event
            self._watch.add(event.judgments)
            if self._watch.is_due:
                yield events.HealthSeen(self._watch.health)

    def end(self) -> Iterator[events.HealthSeen]:
        if not self._watch.is_due:  # else it was said
            yield events.HealthSeen(self._watch.health)

    def _decided(self, group: Sequence[JudgedItem]) -> Iterator[events.ItemJudged]:
        for item, *judgments in zip(group, *self._columns(group), strict=True):
            yield events.ItemJudged(item, tuple(judgments))

    def _columns(self, judged: Sequence[JudgedItem]) -> list[tuple[AnyJudgment, ...]]:
        """What is decided of items, a column for each criterion."""
        return [decide_all(judged, name, self._calibrations.get(name)) for name in self._plan.rubric.names]


Result = TypeVar("Result")


def run_judging(
    plan: RunPlan,
    store: RunStore,
    opener: OpenModelFactory,
    fresh: bool = False,
    *,
    resumes: int | None = None,
    ending: Callable[[], bool] = lambda: False,
) -> Iterator[events.RunEvent]:
    """Judge what the store does not hold yet; the last event is RunEnded, also where the run was stopped.
    `opener` is called only where something is left to judge; its CancelToken stops the run. `ending`: asked
    after each group whether the run is to stop there. Groups of items are fixed by their position, and stored
    together, so that a resumed run meets the same batches as an unbroken one. A run keeps the calibration,
    name and note that it has, unless the plan has others. `resumes`: the number of the run to resume; None
    for the latest of the plan's identity, or a new one. With an inquiry instructions are judged in a random
    order, also by later sessions, and the run ends once it is answered. Raises StoreError, RunBusyError,
    ModelFileError, SetupError.
    """
    held = store.begin(plan.identity(), fresh) if resumes is None else store.hold(resumes)
    with held as run:
        plan = record_plan(plan, store, run)
        judged = store.positions(run.id)
        groups = missing_groups(plan, judged)
        order = order_of(run, plan.question_plan, len(judged))
        if order is not None:
            # Each in the place of that of its instructions which the seed draws first.
            places = drawn_instructions(plan.dataset.group_column, order["seed"])
            groups = sorted(groups, key=lambda group: min(places[position] for position in group))
        yield events.RunStarted(run.id, len(plan.dataset), len(judged))
        keeper = RunWriter(plan, store, run.id)
        asking = Asking(plan.question_plan, plan.rubric.names)
        yield from keeper.told_again(asking)
        stopped = False
        try:
            if groups and not asking.is_answered:
                with opener() as opened:
                    check_same_format(run, opened.template)
                    manifest = continued_manifest(run.manifest, session_manifest(plan, opened.template))
                    drawn = {} if order is None else {RANDOM_ORDER: order}
                    store.describe(run.id, {**manifest, **drawn})
                    yield events.ModelOpened(opened.template.frame.note)
                    judge = make_item_judge(plan, opened)
                    letters = plan.dataset.letters[list(chain.from_iterable(groups))]
                    of_each = (judge.tokens_without_letters, judge.texts)
                    remaining = Remaining(letters, list(map(len, groups)), *of_each)
                    yield from keeper.begin()
                    for number, group in enumerate(groups):
                        if not asking.wants(plan.dataset.ids[position] for position in group):
                            continue
                        if ending():
                            stopped = True
                            break
                        placed = [(position, plan.dataset[position]) for position in group]
                        left = remaining.after(number, judge.time_estimate)
                        results = yield from _until_the_end(judge.judge(placed), left)
                        for event in keeper.keep(results):
                            asking.hear(event)
                            yield event
                        yield from asking.look()
                    yield from keeper.end()
        except events.Cancelled:
            stopped = True
        count = len(store.positions(run.id))
        yield events.RunEnded(run.id, len(plan.dataset), count, stopped, *asking.open_of_all)


def make_item_judge(plan: RunPlan, opened: OpenModel) -> ItemJudge:
    """SetupError where the stem fills the context."""
    return ItemJudge(
        opened.session,
        opened.template,
        plan.rubric,
        plan.settings,
        plan.examples,
        calibration=plan.calibration,
        series=plan.dataset.series,
    )


def _until_the_end(judging: Judging[Result], left: float | None) -> Judging[Result]:
    """The same work, telling how long the run takes whose later groups take `left` seconds."""
    reports = events.Reports(judging)
    for event in reports:
        if isinstance(event, events.GroupUnderWay) and left is not None and event.seconds_left is not None:
            yield replace(event, run_seconds_left=event.seconds_left + left)
        else:
            yield event
    return reports.result


_Group = Sequence[tuple[int, LabelsByCriterion]]  # positions in the dataset, the labels to explain


@dataclass(frozen=True)
class Rewritten:
    stale: int  # explanations
    written: int
    wordless: int  # that stay because the model wrote no words
    too_long: tuple[str, ...]  # ids of items that do not fit the context
    stopped: bool  # before the end


def rewriting_plan(
    run: StoredRun,
    dataset: Dataset,
    model: CheckedModel,
    machine: MachineSettings,
    examples: ExamplePool | None = None,
) -> RunPlan:
    """The plan of a stored run, for `rewrite_explanations`. SetupError where it is not of that run."""
    items, identity = judged_items(run, dataset), run.identity
    asked = (identity.asked, identity.judge_settings)
    plan = RunPlan(items, *asked, machine, model, examples or ExamplePool())
    _check_fits(plan, run)
    return plan


def rewrite_explanations(
    plan: RunPlan, store: RunStore, run_id: int, opener: OpenModelFactory
) -> Generator[events.MeasureProgress | events.JudgeEvent, None, Rewritten]:
    """Write again what is out of date in a run, for the effective labels; nothing else in it changes.
    `opener` is called only where something is out of date, and its CancelToken stops the work: what was
    written is stored, and the same call continues. Items are in the groups that the run judged them in. The
    manifest says how many were written, and when. SetupError where the plan is not of this run, RunBusyError,
    StoreError, and what `opener` raises.
    """
    with store.hold(run_id) as run:
        _check_fits(plan, run)
        groups = _stale_groups(load_results(store, run_id), plan.settings.items_at_once)
        stale = sum(len(labels) for group in groups for _, labels in group)
        written = wordless = done = 0
        too_long: list[str] = []
        stopped = False
        yield events.MeasureProgress(0, stale)
        try:
            if groups:
                with opener() as opened:
                    check_same_format(run, opened.template)
                    judge = make_item_judge(plan, opened)
                    began = datetime.now(UTC).isoformat(timespec="seconds")
                    for group in groups:
                        placed = [((position, plan.dataset[position]), labels) for position, labels in group]
                        made = yield from judge.explain(placed)
                        new: dict[int, ExplanationsByCriterion] = {}
                        for ((position, item), labels), texts in zip(placed, made, strict=True):
                            done += len(labels)
                            new[position] = texts or {}
                            if texts is None:
                                too_long.append(item.id)
                            else:
                                written += len(texts)
                                wordless += len(labels) - len(texts)
                        store.add_rewritten(run.id, new)
                        if written:
                            now = {
                                "began": began,
                                "explanations": written,
                                "llama_cpp": library_version(),
                                **machine_manifest(plan.machine),
                            }
                            before = run.manifest.get(REWRITTEN, [])
                            store.describe(run.id, {**run.manifest, REWRITTEN: [*before, now]})
                        yield events.MeasureProgress(done, stale)
        except events.Cancelled:
            stopped = True
        return Rewritten(stale, written, wordless, tuple(too_long), stopped)


def _stale_groups(results: RunResults, size: int) -> list[_Group]:
    """Items with an outdated explanation and the effective labels, those of one group of the run together."""
    found = []
    for index, item in enumerate(results.judged):
        judgments = {name: column[index] for name, column in results.judgments.items()}
        labels = {
            name: label
            for name, judgment in judgments.items()
            if results.is_stale(judgment) and isinstance(label := results.label(judgment), Preference)
        }
        if labels:
            found.append((item.position, labels))
    return [list(group) for _, group in groupby(found, key=lambda placed: placed[0] // size)]


def _check_fits(plan: RunPlan, run: StoredRun) -> None:
    """SetupError where a plan has another dataset, model, prompt or other examples than a run."""
    identity = run.identity
    refuse_unasked(run, "have its explanations rewritten")
    judged_items(run, plan.dataset)
    if plan.model.hash != identity.model_hash:
        raise SetupError(
            f"{plan.model.path.name} ({plan.model.hash[:12]}) is not the model of run {run.id}, which is"
            f" {identity.model_name} ({identity.model_hash[:12]}).",
            f"Use the judge model of the run. Its file was {identity.model_path}",
        )
    if identity.prompt_version != PROMPT_VERSION or not asked_alike(run, plan.rubric):
        raise SetupError(
            f"Run {run.id} used another prompt wording than this version of Tiebreak (prompt version"
            f" {identity.prompt_version}, now {PROMPT_VERSION}).",
            "Judge the dataset again: explanations of both versions in one run could not be distinguished.",
        )
    if plan.settings != identity.judge_settings:
        raise EngineBug(f"the plan has other settings than run {run.id}")
    shown = identity.examples
    if plan.examples.hash == shown:
        return
    if not shown:
        raise SetupError(
            f"Run {run.id} used no labelled examples.", Hint("Leave ", Setting.EXAMPLES, " out.")
        )
    others = "and these differ in content, number or selection"
    other = others if plan.examples.hash else "and now there are none"
    named = ("Name the same file with ", Setting.EXAMPLES, ", the same number with ", Setting.SHOTS)
    raise SetupError(
        f"Run {run.id} used labelled examples, {other}.",
        Hint(*named, ", and the same selection with ", Setting.CHOICE, "."),
    )
