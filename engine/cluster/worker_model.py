"""The model of a run on a worker: found by its content, opened once, and asked group after group; what
workers say of themselves, which of them may judge a run together, and in what they differ. All of it belongs
to one thread, the one that first prepares it.
"""

import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

import msgspec

from engine.cluster.answers import JudgeWork, PlacedItem
from engine.core import VERSION
from engine.core.errors import Hint, ModelFileError, SetupError, Step
from engine.core.events import CancelToken, followed
from engine.core.formatting import amount, listed
from engine.core.judgments import JudgedItem
from engine.judging.item_judge import ItemJudge
from engine.judging.plan import format_hash, session_shape
from engine.llama.library import library_version, processor_features
from engine.llama.speed import ModelSpeed
from engine.models.checked_model import CheckedModel, checked_model
from engine.models.finder import default_folders, model_places
from engine.models.memory import check_memory
from engine.models.model_file import ModelFile, read_model_file
from engine.models.opening import OpenModel, machine_on, measure_speed, open_session, speed_of
from engine.prompt.judge_prompt import PROMPT_VERSION
from engine.settings.rows import MOST_THREADS, Device, MachineSettings
from engine.system.paths import PathKind, seen_at
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

Fact = Annotated[str, msgspec.Meta(max_length=4000)]


@dataclass(frozen=True)
class WorkerFacts:
    computer: Fact
    version: Fact
    prompt_version: Fact
    python: Fact
    llama_cpp: Fact
    processor: Fact
    device: Fact  # the key of what computes besides the processor, if anything
    driver: Fact  # its version
    threads: Annotated[int, msgspec.Meta(ge=1, le=MOST_THREADS)]  # at most

    @property
    def kind(self) -> Mapping[str, str]:
        made = {"llama_cpp": self.llama_cpp, "processor": self.processor}
        return {**made, **({"device": self.device, "driver": self.driver} if self.device else {})}


def facts_here(machine: MachineSettings) -> WorkerFacts:
    device = machine.device
    return WorkerFacts(
        computer=platform.node() or "an unnamed computer",
        version=VERSION,
        prompt_version=PROMPT_VERSION,
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        llama_cpp=library_version(),
        processor=f"{platform.machine()} {processor_features()}".strip(),
        device=device.key if device else "",
        driver=device.driver if device else "",
        threads=machine.threads,
    )


def refused(worker: WorkerFacts, own: WorkerFacts, mixed_builds: bool = False) -> SetupError | None:
    """Why a worker cannot judge a run of this computer, which is `own`; None where it can."""
    for what, theirs, ours in (
        ("Tiebreak", worker.version, own.version),
        ("version of the prompts", worker.prompt_version, own.prompt_version),
        ("Python", worker.python, own.python),
    ):
        if theirs != ours:
            return SetupError(
                f"{worker.computer}: its {what} is {theirs}, here it is {ours}.", "Install the same on both."
            )
    if worker.llama_cpp != own.llama_cpp and not mixed_builds:
        return SetupError(
            f"{worker.computer} judges with {worker.llama_cpp}, here it is {own.llama_cpp}: builds can differ"
            " in more than the last digits.",
            Hint(Step.ALLOW_MIXED_BUILDS),
        )
    return None


def device_of(workers: Sequence[WorkerFacts]) -> str | None:
    """What all compute with besides their processor; None for nothing. SetupError where it differs."""
    devices = {worker.device for worker in workers}
    if len(devices) > 1:
        names = listed(sorted(device or "the processor" for device in devices))
        raise SetupError(
            f"The workers of one run use different compute devices: {names}.",
            "Start all of them with the same device, or without one.",
        )
    return next(iter(devices), "") or None


def differences(kinds: Sequence[Mapping[str, str]]) -> str:
    """In what kinds of workers differ, as a clause; empty for one kind."""
    words = {
        "llama_cpp": "the build of llama.cpp",
        "processor": "the processor",
        "device": "the device",
        "driver": "the driver",
    }
    differ = [word for name, word in words.items() if len({kind.get(name, "") for kind in kinds}) > 1]
    return listed(differ)


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker was started; what computes as commands take it, without `device` the processor."""

    models: tuple[Path, ...] = ()  # a file or folders in place of the default folders
    threads: int | None = None
    device: Device | None = None
    gpu_layers: int | None = None

    def machine(self, model: ModelFile) -> MachineSettings:
        return machine_on(self.device, self.threads, self.gpu_layers, model)


class ModelOnWorker:
    """Opens the model of one run at a time. `cancel`: ends whatever it is at, for good."""

    def __init__(self, options: WorkerOptions, cancel: CancelToken) -> None:
        self._options = options
        self._cancel = cancel
        self._work: JudgeWork | None = None
        self._found: tuple[ModelFile, CheckedModel] | None = None
        self._held = ExitStack()
        self._judge: ItemJudge | None = None
        self._series: set[int] = set()

    def prepare(self, work: JudgeWork) -> str:
        """Open the model of a run, unless it is open, in place of another run's; the hash of the chat format
        of its prompts. ModelFileError where it is not on this computer, does not fit or cannot be used;
        Cancelled.
        """
        if self._work is None or self._work.key != work.key:
            self.close()
            self._work = work
        return format_hash(self._opened(work).template, work.settings)

    def knows(self, key: str) -> bool:
        return self._work is not None and self._work.key == key

    def judge(
        self, groups: Sequence[Sequence[PlacedItem]], wanted: Callable[[], bool]
    ) -> list[list[JudgedItem]] | None:
        """Judge groups of the prepared run, one after the other; None once nobody wants them any more.
        `wanted` is asked several times a second. Raises ModelFileError, DeviceFailed, Cancelled.
        """
        if self._work is None:
            raise ValueError("nothing is prepared")
        self._opened(self._work)
        assert self._judge is not None
        self._series.clear()
        self._series.update(each.position for group in groups for each in group if each.in_series)
        judged = []

        def stop_unless_wanted(_event: object) -> None:
            if not wanted():
                raise _NotWanted

        for group in groups:
            placed = [(each.position, each.item) for each in group]
            try:
                judged.append(followed(self._judge.judge(placed), stop_unless_wanted))
            except _NotWanted:
                self._drop()  # in the middle of a group: what its cache holds is not known
                return None
        return judged

    def speed(self, work: JudgeWork) -> ModelSpeed:
        model, _ = self._file(work)
        self._drop()  # it would have the memory, and the threads
        worker = partial(
            SubprocessWorker if self._options.device else InProcessWorker, measure_speed, self._cancel
        )
        measuring = speed_of(model, self._options.machine(model), self._cancel, worker)
        return followed(measuring).speed

    def close(self) -> None:
        self._drop()
        self._work = self._found = None

    def _drop(self) -> None:
        self._judge = None
        self._held.close()

    def _opened(self, work: JudgeWork) -> OpenModel:
        if self._judge is None:
            model, checked = self._file(work)
            check_memory(model, work.settings.context, kv_type=work.settings.kv_type)
            shape = partial(session_shape, work.settings, len(work.rubric.criteria), checked)
            opening = open_session(checked, self._options.machine(model), shape, self._cancel)
            self._open = self._held.enter_context(opening)
            self._judge = ItemJudge(
                self._open.session,
                self._open.template,
                work.rubric,
                work.settings,
                work.examples,
                calibration=work.calibration,
                series=self._series,
            )
        return self._open

    def _file(self, work: JudgeWork) -> tuple[ModelFile, CheckedModel]:
        if self._found is None or self._found[1].hash != work.model_hash:
            self._found = found_by_content(work, self._options.models, self._cancel)
        return self._found


class _NotWanted(Exception):
    """Nobody waits for what is judged now."""


def found_by_content(
    work: JudgeWork, models: Sequence[Path], cancel: CancelToken
) -> tuple[ModelFile, CheckedModel]:
    """The model with the content that a run asks for, tried. Only files of its size are read whole.
    ModelFileError where there is none among `models`, or in the default folders where these are none.
    """
    folders = [path for path in models if seen_at(path) is PathKind.FOLDER] if models else default_folders()
    named = (path for path in models if path not in folders)
    for path in chain(named, (place.path for place in model_places(folders))):
        with suppress(ModelFileError):  # another one may be sound
            model = read_model_file(path)
            if model.size_bytes == work.model_bytes:
                checked = checked_model(model, cancel)
                if checked.hash == work.model_hash:
                    return model, checked
    raise ModelFileError(
        f"There is no model with the content of {work.model_name} ({amount(work.model_bytes)}, SHA-256"
        f" {work.model_hash[:12]}…).",
        Hint(Step.NAME_WORKER_MODEL),
    )
