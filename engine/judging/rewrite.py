"""Explanations written again: those of a run that were written for another label than the effective one.

The model's first texts stay stored, and count again where the label is the first one again.

Knows: which these are, what must be as it was in the run, the order of things.
Does not know: how a text is written, SQL, windows.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from engine.core.errors import EngineBug, Hint, Setting, SetupError
from engine.core.events import Cancelled, JudgeEvent, MeasureProgress
from engine.data.dataset import Dataset
from engine.judging.item_judge import ExplanationsByCriterion, ItemJudge, LabelsByCriterion
from engine.judging.plan import RunPlan, asked_alike, check_same_format, machine_manifest
from engine.judging.run import make_item_judge
from engine.llama.library import library_version
from engine.models.checked_model import CheckedModel
from engine.models.opening import OpenModelFactory
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PROMPT_VERSION
from engine.results.run_dataset import judged_items
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import REWRITTEN, StoredRun, refuse_unasked
from engine.settings.rows import MachineSettings
from engine.store.run_store import RunStore

_Group = Sequence[tuple[int, LabelsByCriterion]]  # positions in the dataset, the labels to explain


@dataclass(frozen=True)
class Rewritten:
    """What came of it: of `stale` explanations `written` are new.

    `wordless`: how many stay as they were because the model wrote no words. `too_long`: ids of items that do
    not fit the context, of which nothing was written. `stopped`: whether it was asked to stop before the end.
    """

    stale: int
    written: int
    wordless: int
    too_long: tuple[str, ...]
    stopped: bool


def rewriting_plan(
    run: StoredRun,
    dataset: Dataset,
    model: CheckedModel,
    machine: MachineSettings,
    examples: ExamplePool | None = None,
) -> RunPlan:
    """The plan of a stored run, for `rewrite_explanations` and its opener.

    SetupError where dataset, model, examples or questions are not those of the run.
    """
    items = judged_items(run, dataset)
    plan = RunPlan(
        dataset=items,
        rubric=run.identity.asked,
        settings=run.identity.judge_settings,
        machine=machine,
        model=model,
        examples=examples or ExamplePool(),
    )
    _check_fits(plan, run)
    return plan


def rewrite_explanations(
    plan: RunPlan, store: RunStore, run_id: int, opener: OpenModelFactory
) -> Generator[MeasureProgress | JudgeEvent, None, Rewritten]:
    """Write again what is out of date in a run, for the effective labels; nothing else in it changes.

    Progress is in explanations. `opener` opens the model of the plan; it is called only where something is
    out of date, and its CancelToken stops the work: what was written is stored, and the same call continues.
    Items are in the groups that the run judged them in; a group is stored whole. The run's manifest says how
    many were written, and when.
    Raises SetupError where the plan is not of this run, RunBusyError, StoreError, and what `opener` raises.
    """
    with store.hold(run_id) as run:
        _check_fits(plan, run)
        groups = _stale_groups(load_results(store, run_id), plan.settings.items_at_once)
        tally = _RewriteCount(sum(len(labels) for group in groups for _, labels in group))
        yield MeasureProgress(0, tally.stale)
        stopped = False
        try:
            if groups:
                with opener() as opened:
                    check_same_format(run, opened.template)
                    judge = make_item_judge(plan, opened)
                    yield from _write_groups(plan, judge, groups, store=store, run=run, tally=tally)
        except Cancelled:
            stopped = True
        return tally.result(stopped)


@dataclass
class _RewriteCount:
    """Counts what is done."""

    stale: int
    written: int = 0
    wordless: int = 0
    done: int = 0
    too_long: list[str] = field(default_factory=list)

    def add(self, item_id: str, wanted: LabelsByCriterion, texts: ExplanationsByCriterion | None) -> None:
        """Count one item."""
        self.done += len(wanted)
        if texts is None:
            self.too_long.append(item_id)
        else:
            self.written += len(texts)
            self.wordless += len(wanted) - len(texts)

    def result(self, stopped: bool) -> Rewritten:
        """All that was counted."""
        return Rewritten(self.stale, self.written, self.wordless, tuple(self.too_long), stopped)


def _write_groups(
    plan: RunPlan,
    judge: ItemJudge,
    groups: Iterable[_Group],
    *,
    store: RunStore,
    run: StoredRun,
    tally: _RewriteCount,
) -> Iterator[MeasureProgress | JudgeEvent]:
    began = datetime.now(UTC).isoformat(timespec="seconds")
    for group in groups:
        placed = [((position, plan.dataset[position]), labels) for position, labels in group]
        made = yield from judge.explain(placed)
        written = {}
        for ((position, item), labels), texts in zip(placed, made, strict=True):
            tally.add(item.id, labels, texts)
            written[position] = texts or {}
        store.add_rewritten(run.id, written)
        store.describe(run.id, _manifest(plan, run, began, tally.written))
        yield MeasureProgress(tally.done, tally.stale)


def _stale_groups(results: RunResults, size: int) -> list[_Group]:
    """Items with an outdated explanation and the effective labels, those of one group of the run together."""
    found = []
    for index, item in enumerate(results.judged):
        judgments = {name: column[index] for name, column in results.judgments.items()}
        labels = {
            name: label
            for name, judgment in judgments.items()
            if results.is_stale(judgment) and (label := results.label(judgment)) is not None
        }
        if labels:
            found.append((item.position, labels))
    return [list(group) for _, group in groupby(found, key=lambda placed: placed[0] // size)]


def _manifest(plan: RunPlan, run: StoredRun, began: str, written: int) -> dict[str, Any]:
    """The run's manifest with what was written since `began`."""
    if not written:
        return dict(run.manifest)
    now = {
        "began": began,
        "explanations": written,
        "llama_cpp": library_version(),
        **machine_manifest(plan.machine),
    }
    return {**run.manifest, REWRITTEN: [*run.manifest.get(REWRITTEN, []), now]}


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
    _check_examples(plan.examples, run)
    if plan.settings != identity.judge_settings:
        raise EngineBug(f"the plan has other settings than run {run.id}")


def _check_examples(examples: ExamplePool, run: StoredRun) -> None:
    shown = run.identity.examples
    if examples.hash == shown:
        return
    if not shown:
        raise SetupError(
            f"Run {run.id} used no labelled examples.", Hint("Leave ", Setting.EXAMPLES, " out.")
        )
    others = "and these differ in content, number or selection"
    other = others if examples.hash else "and now there are none"
    raise SetupError(
        f"Run {run.id} used labelled examples, {other}.",
        Hint(
            "Name the same file with ",
            Setting.EXAMPLES,
            ", the same number with ",
            Setting.SHOTS,
            ", and the same selection with ",
            Setting.CHOICE,
            ".",
        ),
    )
