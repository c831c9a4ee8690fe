"""The plan of a run: all that it needs, what makes two runs the same, and why one cannot resume another.
Judging until something is clear: instructions one after another as a seed draws them, and no item that no
open question needs.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from engine.core.codec import plain
from engine.core.errors import Hint, ModelFileError, Setting, SetupError
from engine.core.events import CancelToken, ItemJudged, Resolved
from engine.core.formatting import words
from engine.core.items import HumanLabel, digest
from engine.core.judgments import FittedOn, label_of
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.dataset import Dataset
from engine.llama.context import BATCH, SessionShape
from engine.llama.library import library_version
from engine.llama.model import LlamaModel
from engine.models.checked_model import CheckedModel
from engine.models.opening import OpenModel, open_session
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PROMPT_VERSION
from engine.prompt.template import ChatTemplate
from engine.results.calibration import Calibration, asked_by, judge_of_run
from engine.settings import identity as key
from engine.settings.identity import RunIdentity, StoredRun
from engine.settings.rows import SETTINGS, JudgeSettings, MachineSettings
from engine.settings.sampling import ItemSample
from engine.system.paths import real_path


class QuestionPlan(Protocol):
    """What a run is to answer. It can be sent to another process, and what it was told is not lost there."""

    @property
    def seed(self) -> int: ...  # by which instructions are drawn, one after another
    @property
    def criterion(self) -> str: ...  # by whose labels it is answered
    @property
    def width(self) -> float | None: ...  # of the intervals that it asks for, 0 to 1, if it does
    @property
    def leaves_out(self) -> bool: ...  # it has several parts: items of one that is clear are omitted
    @property
    def is_tuning(self) -> bool: ...  # it is about the best settings: the run reports nothing of it
    @property
    def is_answered(self) -> bool: ...
    @property
    def questions(self) -> Sequence[object]: ...
    @property
    def open(self) -> Sequence[object]: ...  # of these
    def wants(self, item_id: str) -> bool: ...  # an item could answer what is open
    def add(self, labels: Mapping[str, HumanLabel | None]) -> Sequence[str]:
        """What was said of items, None where nothing could be; what is clear now, in words."""


class Asking:
    """An inquiry, or none, alongside the groups of a run."""

    def __init__(self, question_plan: QuestionPlan | None, criteria: Sequence[str]) -> None:
        self._question_plan = question_plan
        self._column = criteria.index(question_plan.criterion) if question_plan is not None else 0
        self._labels: dict[str, HumanLabel | None] = {}

    @property
    def is_there(self) -> bool:
        return self._question_plan is not None

    @property
    def is_answered(self) -> bool:
        return self._question_plan is not None and self._question_plan.is_answered

    @property
    def open_of_all(self) -> tuple[int, int]:
        plan = self._question_plan
        return (0, 0) if plan is None else (len(plan.open), len(plan.questions))

    def wants(self, item_ids: Iterable[str]) -> bool:
        return self._question_plan is None or any(map(self._question_plan.wants, item_ids))

    def hear(self, event: object) -> None:
        if self._question_plan is not None and isinstance(event, ItemJudged):
            self._labels[event.judged.item_id] = label_of(event.judgments[self._column])

    def look(self) -> Iterator[Resolved]:
        labels, self._labels = self._labels, {}
        if self._question_plan is not None and labels:
            yield from map(Resolved, self._question_plan.add(labels))


def order_of(run: StoredRun, question_plan: QuestionPlan | None, judged: int) -> Mapping[str, Any] | None:
    """In which random order a run is judged, for its manifest: as it was before, else as an inquiry begins it
    after this many items were `judged`; None for the order of its file. SetupError for another seed.
    """
    if run.order_seed is None:
        if question_plan is None:
            return None
        return {"seed": question_plan.seed, "after": judged, **_asked_by(question_plan)}
    known: Mapping[str, Any] = run.manifest[key.RANDOM_ORDER]
    if question_plan is None:
        return known
    if question_plan.seed != run.order_seed:
        raise SetupError(
            f"Run {run.id} samples its instructions with seed {run.order_seed}, not {question_plan.seed}.",
            f"Use the seed {run.order_seed}, or start a new run.",
        )
    leaves_out = question_plan.leaves_out or known.get("leaves_out", False)
    beside = {name: value for name, value in known.items() if name != key.TUNING}
    return {**beside, **_asked_by(question_plan), "leaves_out": leaves_out}


def _asked_by(question_plan: QuestionPlan) -> dict[str, Any]:
    tuning = {key.TUNING: True} if question_plan.is_tuning else {}
    return {"leaves_out": question_plan.leaves_out, "width": question_plan.width, **tuning}


_FORMAT = "chat_format_hash"
_THIS = "this run"


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
    chosen: bool = False  # its items are a choice out of their file, not its first ones
    sample: ItemSample | None = None  # how they were drawn
    name: str | None = None  # what users call it when it begins or continues; None changes nothing
    note: str | None = None
    began_on: str | None = None  # the key of the device that it began on where another machine resumes it
    question_plan: QuestionPlan | None = None  # what it is to answer, and to stop once it is

    def __post_init__(self) -> None:
        if self.calibration is not None:
            identity = self.identity()
            self.calibration.check_fits(judge_of_run(identity))
            self.calibration.check_parts(asked_by(identity), _THIS)

    @property
    def parts_lacking(self) -> str:
        """A sentence on what its calibration looks at and the run will not read."""
        calibration = self.calibration
        return calibration.check_parts(asked_by(self.identity()), _THIS) if calibration else ""

    @property
    def device(self) -> str | None:
        """The key of the device whose run it is; None for the processor alone."""
        return self.began_on or (self.machine.device.key if self.machine.device else None)

    def by_processor(self) -> "RunPlan":
        machine = replace(self.machine, device=None, gpu_layers=0)
        return replace(self, machine=machine, began_on=self.device)

    def identity(self) -> RunIdentity:
        """What the store knows a run by: all that can change a result; no names, labels or threads."""
        settings = {**self.settings.as_json(), key.EXAMPLES: self.examples.hash}
        if shows := self.settings.shows:
            of_examples = [[getattr(item, name) for name in shows] for item in self.examples.ranked]
            settings[key.SHOWN] = digest([self.dataset.background_hash(shows), of_examples])
        if self.calibration is not None and self.settings.explains:
            # Raw predictions do not depend on it; explanations are written for what is decided.
            settings[key.EXPLAINED_WITH] = self.calibration.hash
        if self.device is not None:
            settings[key.DEVICE] = self.device
        if self.chosen:
            # The hash alone could not find them again in their file.
            settings[key.CHOSEN] = self.dataset.ids
        if self.sample is not None:
            settings[key.SAMPLE] = plain(self.sample)
        made_of = (self.dataset.hash, self.model.hash, library_version(), PROMPT_VERSION)
        return RunIdentity(
            key=_key(made_of, self.rubric, settings),
            dataset_path=real_path(self.dataset.path),
            dataset_hash=self.dataset.hash,
            items=len(self.dataset),
            # In the cache of Hugging Face names are links to hashes.
            model_path=real_path(self.model.path.parent) / self.model.path.name,
            model_name=self.model.name,
            model_hash=self.model.hash,
            prompt_version=PROMPT_VERSION,
            criteria=self.rubric.names,
            settings=settings,
            rubric=None if self.rubric.is_part_of(ELOQUENT) else self.rubric,
        )


def _key(made_of: Sequence[str], rubric: Rubric, settings: Mapping[str, Any]) -> str:
    """`made_of`: the hashes of dataset and model, the build of llama.cpp, the prompt version."""
    # How items were drawn takes no part: the same items make the same run.
    return digest([*made_of, rubric.asked, {name: settings[name] for name in settings if name != key.SAMPLE}])


def asked_alike(run: StoredRun, rubric: Rubric) -> bool:
    """Whether a run that has begun was asked the questions of a rubric; its key shows it."""
    identity = run.identity
    library = str(run.manifest.get("llama_cpp"))
    made_of = (identity.dataset_hash, identity.model_hash, library, identity.prompt_version)
    return identity.key == _key(made_of, rubric, identity.settings)


def open_model(plan: RunPlan, cancel: CancelToken, batch: int = BATCH) -> AbstractContextManager[OpenModel]:
    """Loaded, with room for the plan's settings. Raises ModelFileError or Cancelled."""

    def shape(model: LlamaModel) -> SessionShape:
        made = session_shape(plan.settings, len(plan.rubric.criteria), plan.model, model)
        return replace(made, batch=batch)

    return open_session(plan.model, plan.machine, shape, cancel)


def check_context(settings: JudgeSettings, checked: CheckedModel, model: LlamaModel) -> None:
    """ModelFileError where the context of these settings is more than the model was trained with."""
    if settings.context > model.trained_context:
        raise ModelFileError(
            f"{checked.path.name}: a context of {settings.context:,} tokens is more than the"
            f" {model.trained_context:,} that the model was trained with.",
            Hint("Use ", Setting.CONTEXT.at(model.trained_context), " or less."),
        )


def session_shape(
    settings: JudgeSettings, criteria: int, checked: CheckedModel, model: LlamaModel
) -> SessionShape:
    check_context(settings, checked, model)
    # Explanations continue AB, which stays in its slot while BA is read in one more.
    aside = 1 if settings.may_read_one_order else 0
    slots = settings.items_at_once + aside if settings.explains else 1
    return SessionShape(settings.context, slots, criteria, settings.kv_type)


def worked_alike(manifest: Mapping[str, Any], machine: MachineSettings) -> bool:
    """Whether all sessions of a run used this many threads, adapted or not, and this device."""
    now = machine_manifest(machine)
    names = {*now, key.THREADS_ADAPT, key.COMPUTED_ON, key.DRIVER}
    sessions = (manifest, *manifest.get(key.CONTINUED, []))
    return all(session.get(name) == now.get(name) for session in sessions for name in names)


def machine_manifest(machine: MachineSettings) -> Mapping[str, Any]:
    """How the computer works, for the manifest of a run. Of threads that adapt: the most."""
    adapts = {key.THREADS_ADAPT: True} if machine.adapts else {}
    made = {"threads": machine.threads, **adapts, key.GPU_LAYERS: machine.gpu_layers}
    if machine.device is None:
        return made
    return {**made, key.COMPUTED_ON: machine.device.title, key.DRIVER: machine.device.driver or "not told"}


_WORDS = {
    **{row.key: row.noun for row in SETTINGS},
    key.DEVICE: "compute device",
    key.EXAMPLES: "labelled examples",
    key.EXPLAINED_WITH: "calibration",
    key.SHOWN: "contexts or reference answers",
}


def check_resumed(plan: RunPlan, run: StoredRun) -> None:
    """SetupError where a plan would not resume this run: what differs from how the run began."""
    now, then, differs = plan.identity(), run.identity, []
    if now.key == then.key:
        return
    if now.dataset_hash != then.dataset_hash:
        count = f" ({then.items:,} then, {now.items:,} now)" if now.items != then.items else ""
        differs.append(f"the items of {plan.dataset.name}{count}")
    if now.model_hash != then.model_hash:
        differs.append(f"the content of the model file {plan.model.path.name}")
    # The store keeps plain values: lists for tuples.
    settings = json.loads(json.dumps(now.settings))
    for name in sorted({*settings, *then.settings} - {key.CHOSEN, key.SAMPLE}):  # these are the dataset
        if settings.get(name) != then.settings.get(name):
            differs.append(f"the {_WORDS.get(name, words(name))}")
    if plan.rubric.names != then.criteria:
        differs.append("the criteria")
    hint = "Restore that and resume again, or start a new run."
    if not differs:
        began = run.manifest.get("llama_cpp", "another build")
        differs = [f"llama.cpp or the prompts ({began} then, {library_version()} now)"]
        hint = "Resume it with the version of Tiebreak that started it, or start a new run."
    raise SetupError(
        f"Run {run.id} cannot be resumed. Changed since its start: {'; '.join(differs)}.",
        f"{hint} The judgments of run {run.id} are stored.",
    )


def check_same_format(run: StoredRun, template: ChatTemplate) -> None:
    """SetupError where a run began with another chat format than its model has now."""
    sessions = (run.manifest, *run.manifest.get(key.CONTINUED, []))
    began = next((session[_FORMAT] for session in sessions if _FORMAT in session), None)
    if began is not None and began != format_hash(template, run.identity.judge_settings):
        raise SetupError(
            f"Run {run.id} cannot be resumed: its prompts used another chat format than"
            f" {run.identity.model_name} has now.",
            "Resume it with the version of Tiebreak that started it, or start a new run."
            f" The judgments of run {run.id} are stored.",
        )


def format_hash(template: ChatTemplate, settings: JudgeSettings) -> str:
    frame, thinking = template.frame, template.frame.thinking
    own = [thinking.pieces, thinking.slots] if thinking is not None and settings.reasons else []
    return digest([frame.pieces, frame.slots, *own])


def session_manifest(
    plan: RunPlan, template: ChatTemplate, worked: Mapping[str, Any] | None = None
) -> Mapping[str, Any]:
    """How a run was made, beyond what identifies it. `worked`: how, where not as this computer does."""
    columns = plan.dataset.columns
    return {
        "llama_cpp": library_version(),
        _FORMAT: format_hash(template, plan.settings),
        "chat_template_note": template.frame.note,
        "replies_begin": template.frame.pieces[-2],
        "system_message_merged": template.merges_system,
        "model_bytes": plan.model.size_bytes,
        **(machine_manifest(plan.machine) if worked is None else worked),
        **({key.COLUMNS: columns.as_json()} if columns is not None else {}),
        **({key.EXAMPLES_SHOWN: plain(FittedOn.of(plan.examples.ranked))} if plan.examples.hash else {}),
    }


def continued_manifest(before: Mapping[str, Any], now: Mapping[str, Any]) -> Mapping[str, Any]:
    """With one more session: what differs from the first is stored next to it."""
    if not before:
        return now
    beside = (
        *(key.CONTINUED, key.REWRITTEN, key.DEVICE_LEFT, key.CLUSTER, key.RANDOM_ORDER),
        *(key.TRUST, key.EXAMPLES_SHOWN),
    )
    first = {name: value for name, value in before.items() if name not in beside}
    now = {name: value for name, value in now.items() if name not in beside}
    later = list(before.get(key.CONTINUED, []))
    return before if now in (first, *later) else {**before, key.CONTINUED: [*later, now]}
