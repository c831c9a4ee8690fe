"""A run: one dataset judged with one model and one set of settings, from the first item to the last.

Knows: the order of things, and what makes two runs the same. Does not know: llama.cpp's calls, SQL, windows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from engine.calibration_file import Calibration, calibration_of, judge_of_run
from engine.chat_template import ChatTemplate
from engine.core.cancel import Cancelled, CancelToken
from engine.core.errors import ModelFileError
from engine.core.events import ItemJudged, ModelOpened, RunEnded, RunEvent, RunStarted
from engine.core.items import digest
from engine.core.rubric import Rubric
from engine.core.run_records import RunIdentity, StoredRun
from engine.core.settings import JudgeSettings, MachineSettings
from engine.data.dataset import Dataset
from engine.examples import ExamplePool
from engine.item_judge import ItemJudge, Placed
from engine.llama.library import LlamaModel, library_version
from engine.llama.session import LlamaSession, SessionShape
from engine.model_trial import CheckedModel
from engine.prompts import PROMPT_VERSION
from engine.run_store import RunStore

REWRITTEN = "rewritten"
"""In the manifest of a run: when explanations were written again, how many, and with what."""

_CONTINUED = "continued_with"


@dataclass(frozen=True)
class RunPlan:
    """All that a run needs to know. SetupError where the calibration was made for another judge."""

    dataset: Dataset
    rubric: Rubric
    settings: JudgeSettings
    machine: MachineSettings
    model: CheckedModel
    examples: ExamplePool = field(default_factory=ExamplePool)
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if self.calibration is not None:
            self.calibration.check_fits(judge_of_run(self.identity()))

    def identity(self) -> RunIdentity:
        """What the store knows a run by: all that can change a result; no names, labels or threads."""
        settings = {**self.settings.as_json(), "examples": self.examples.hash}
        if self.calibration is not None and self.settings.explains:
            # Readings do not depend on it; explanations are written for what is decided.
            settings["explained_with_calibration"] = self.calibration.hash
        made_of = (self.dataset.hash, self.model.hash, library_version(), PROMPT_VERSION)
        return RunIdentity(
            key=_key(made_of, self.rubric, settings),
            dataset_path=self.dataset.path.resolve(),
            dataset_hash=self.dataset.hash,
            items=len(self.dataset),
            model_path=self.model.path.resolve(),
            model_name=self.model.name,
            model_hash=self.model.hash,
            prompt_version=PROMPT_VERSION,
            criteria=self.rubric.names,
            settings=settings,
        )


def _key(made_of: Sequence[str], rubric: Rubric, settings: Mapping[str, Any]) -> str:
    """`made_of`: the hashes of dataset and model, the build of llama.cpp, the prompt version."""
    asked = [[criterion.name, criterion.question] for criterion in rubric.criteria]
    return digest([*made_of, asked, settings])


def asked_alike(run: StoredRun, rubric: Rubric) -> bool:
    """Whether a run that has begun was asked the very questions of a rubric: its key tells."""
    identity = run.identity
    library = str(run.manifest.get("llama_cpp"))
    made_of = (identity.dataset_hash, identity.model_hash, library, identity.prompt_version)
    return identity.key == _key(made_of, rubric, identity.settings)


@dataclass(frozen=True)
class OpenModel:
    """A session with the chat template of its model."""

    session: LlamaSession
    template: ChatTemplate


OpenModelFactory = Callable[[], AbstractContextManager[OpenModel]]


@contextmanager
def open_model(plan: RunPlan, cancel: CancelToken) -> Iterator[OpenModel]:
    """The model of a plan, loaded, with room for the plan's settings. Raises ModelFileError or Cancelled."""
    with open_session(plan.model, plan.machine, partial(_shape, plan), cancel) as opened:
        yield opened


def check_context(plan: RunPlan, model: LlamaModel) -> None:
    """ModelFileError where the context of a plan is more than its model was trained with."""
    if plan.settings.context > model.trained_context:
        raise ModelFileError(
            f"{plan.model.path.name}: a context of {plan.settings.context:,} tokens is more than the"
            f" {model.trained_context:,} that the model was trained with.",
            f"Use --context {model.trained_context} or less.",
        )


def _shape(plan: RunPlan, model: LlamaModel) -> SessionShape:
    check_context(plan, model)
    settings = plan.settings
    slots = settings.items_at_once if settings.explains else 1
    return SessionShape(settings.context, slots, len(plan.rubric.criteria), settings.kv_type)


@contextmanager
def open_session(
    checked: CheckedModel,
    machine: MachineSettings,
    shape: Callable[[LlamaModel], SessionShape],
    cancel: CancelToken,
) -> Iterator[OpenModel]:
    """A model, loaded, with a session as large as `shape` makes it for this model.

    Raises ModelFileError where the file cannot be used or has changed, Cancelled where `cancel` is set.
    """
    checked.check_unchanged()
    with (
        LlamaModel(checked.path, machine.gpu_layers, cancel=cancel) as model,
        LlamaSession(model, shape(model), machine.threads, cancel) as session,
    ):
        yield OpenModel(session, ChatTemplate(model.chat_template, session.vocabulary))


def run_judging(
    plan: RunPlan, store: RunStore, opener: OpenModelFactory, fresh: bool = False, resumes: int | None = None
) -> Iterator[RunEvent]:
    """Judge what the store does not hold yet; the last event is RunEnded, also where the run was stopped.

    `opener` is called only where something is left to judge; its CancelToken stops the run. Groups of
    items are fixed by their position, and stored together, so that a resumed run meets the same batches
    as an unbroken one. A run keeps the calibration that it has, unless the plan has another.
    `resumes`: the number of the run to go on with, of the very identity of the plan; None for the latest
    such run, or a new one. Raises StoreError, RunBusyError, ModelFileError.
    """
    held = store.begin(plan.identity(), fresh) if resumes is None else store.hold(resumes)
    with held as run:
        if plan.calibration is not None:
            store.calibrate(run.id, plan.calibration.as_json())
        if plan.calibration is None and run.calibration is not None:
            plan = replace(plan, calibration=calibration_of(run.calibration))
        judged = store.positions(run.id)
        groups = _missing_groups(plan, judged)
        yield RunStarted(run.id, len(plan.dataset), len(judged))
        stopped = False
        try:
            if groups:
                with opener() as opened:
                    store.describe(run.id, _with_session(run.manifest, _manifest(plan, opened.template)))
                    yield ModelOpened(opened.template.note)
                    yield from _judge_groups(plan, opened, groups, store, run.id)
        except Cancelled:
            stopped = True
        yield RunEnded(run.id, len(plan.dataset), len(store.positions(run.id)), stopped)


def item_judge(plan: RunPlan, opened: OpenModel) -> ItemJudge:
    """What judges the items of a plan. Raises SetupError where the stem fills the context."""
    return ItemJudge(
        opened.session,
        opened.template,
        plan.rubric,
        plan.settings,
        plan.examples,
        calibration=plan.calibration,
    )


def _judge_groups(
    plan: RunPlan, opened: OpenModel, groups: Sequence[Sequence[int]], store: RunStore, run_id: int
) -> Iterator[RunEvent]:
    judge = item_judge(plan, opened)
    for group in groups:
        placed: list[Placed] = [(position, plan.dataset[position]) for position in group]
        results = yield from judge.judge(placed)
        store.add(run_id, results)
        for result in results:
            yield ItemJudged(result)


def _missing_groups(plan: RunPlan, judged: set[int]) -> list[range]:
    """Groups of positions of which none is stored; a group is stored whole."""
    size, items = plan.settings.items_at_once, len(plan.dataset)
    groups = (range(start, min(start + size, items)) for start in range(0, items, size))
    return [group for group in groups if group.start not in judged]


def _manifest(plan: RunPlan, template: ChatTemplate) -> Mapping[str, Any]:
    """How a run was made, beyond what identifies it."""
    return {
        "llama_cpp": library_version(),
        "chat_template_hash": digest(template.source),
        "chat_template_note": template.note,
        "system_message_merged": template.merges_system,
        "model_bytes": plan.model.size_bytes,
        "threads": plan.machine.threads,
        "gpu_layers": plan.machine.gpu_layers,
    }


def worked_alike(manifest: Mapping[str, Any], machine: MachineSettings) -> bool:
    """Whether all sessions of a run used this many threads and GPU layers."""
    used = [
        (session.get("threads"), session.get("gpu_layers"))
        for session in (manifest, *manifest.get(_CONTINUED, []))
    ]
    return set(used) == {(machine.threads, machine.gpu_layers)}


def _with_session(before: Mapping[str, Any], now: Mapping[str, Any]) -> Mapping[str, Any]:
    """The manifest of a run with one more session: what differs from the first is kept beside it."""
    if not before:
        return now
    first = {name: value for name, value in before.items() if name not in (_CONTINUED, REWRITTEN)}
    later = list(before.get(_CONTINUED, []))
    return before if now in (first, *later) else {**before, _CONTINUED: [*later, now]}
