"""The model of a work on a worker: found by its content, opened once, and asked group after group; what
workers say of themselves, which of them may work together, and in what they differ. All of it belongs
to one thread, the one that first prepares it.
"""

import platform
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import msgspec

from engine.cluster.answers import JudgeWork, ModelWork, PlacedItem, WriteWork
from engine.core import VERSION
from engine.core.errors import Hint, ModelFileError, SetupError, Step
from engine.core.events import CancelToken, JudgeEvent, followed
from engine.core.formatting import amount, listed
from engine.core.judgments import JudgedItem
from engine.judging.generation import write_group
from engine.judging.item_judge import ItemJudge
from engine.judging.plan import format_hash, session_shape
from engine.llama.context import SessionShape
from engine.llama.library import library_version, processor_features
from engine.llama.model import LlamaModel
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


def refused(worker: WorkerFacts, own: WorkerFacts, mixed_builds: bool | None = False) -> SetupError | None:
    """Why a worker cannot work for this computer, which is `own`; None where it can. `mixed_builds`: whether
    builds of llama.cpp may differ; None where that cannot be allowed.
    """
    build = [("llama.cpp", worker.llama_cpp, own.llama_cpp)] if mixed_builds is None else []
    for what, theirs, ours in (
        ("Tiebreak", worker.version, own.version),
        ("version of the prompts", worker.prompt_version, own.prompt_version),
        ("Python", worker.python, own.python),
        *build,
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
        self._work: JudgeWork | WriteWork | None = None
        self._found: tuple[ModelFile, CheckedModel] | None = None
        self._held = ExitStack()
        self._do: Callable[[Sequence[Any]], Generator[Any, None, list[Any]]] | None = None

    def prepare(self, work: JudgeWork | WriteWork) -> str:
        """Open the model of a work, unless it is open, in place of another's; the hash of the chat format
        where prompts are made here. ModelFileError where it is not on this computer, does not fit or cannot
        be used; Cancelled.
        """
        if self._work is None or self._work.key != work.key:
            self.close()
            self._work = work
        template = self._opened(work).template
        return format_hash(template, work.settings) if isinstance(work, JudgeWork) else ""

    def knows(self, key: str) -> bool:
        return self._work is not None and self._work.key == key

    def do(self, groups: Sequence[Sequence[Any]], wanted: Callable[[], bool]) -> list[list[Any]] | None:
        """Do groups of the prepared work, one after the other; None once nobody wants them any more.
        `wanted` is asked several times a second. Raises ModelFileError, DeviceFailed, Cancelled.
        """
        if self._work is None:
            raise ValueError("nothing is prepared")
        self._opened(self._work)
        assert self._do is not None
        done = []

        def stop_unless_wanted(_event: object) -> None:
            if not wanted():
                raise _NotWanted

        for group in groups:
            try:
                done.append(followed(self._do(group), stop_unless_wanted))
            except _NotWanted:
                self._drop()  # in the middle of a group: what its cache holds is not known
                return None
        return done

    def speed(self, work: ModelWork) -> ModelSpeed:
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
        self._do = None
        self._held.close()

    def _opened(self, work: JudgeWork | WriteWork) -> OpenModel:
        if self._do is None:
            model, checked = self._file(work)
            if isinstance(work, WriteWork):
                check_memory(model, work.shape.context)
                self._open = self._opening(checked, model, lambda _model: work.shape)
                self._do = partial(write_group, self._open.session, work.settings)
                return self._open
            check_memory(model, work.settings.context, kv_type=work.settings.kv_type)
            shape = partial(session_shape, work.settings, len(work.rubric.criteria), checked)
            self._open, series = self._opening(checked, model, shape), set[int]()
            judge = ItemJudge(
                self._open.session,
                self._open.template,
                work.rubric,
                work.settings,
                work.examples,
                calibration=work.calibration,
                series=series,
            )
            self._do = partial(_judged, judge, series)
        return self._open

    def _opening(
        self, checked: CheckedModel, model: ModelFile, shape: Callable[[LlamaModel], SessionShape]
    ) -> OpenModel:
        machine = self._options.machine(model)
        return self._held.enter_context(open_session(checked, machine, shape, self._cancel))

    def _file(self, work: ModelWork) -> tuple[ModelFile, CheckedModel]:
        if self._found is None or self._found[1].hash != work.model_hash:
            self._found = found_by_content(work, self._options.models, self._cancel)
        return self._found


def _judged(
    judge: ItemJudge, series: set[int], group: Sequence[PlacedItem]
) -> Generator[JudgeEvent, None, list[JudgedItem]]:
    series.clear()
    series.update(each.position for each in group if each.in_series)
    return (yield from judge.judge([(each.position, each.item) for each in group]))


class _NotWanted(Exception):
    """Nobody waits for what is judged now."""


def found_by_content(
    work: ModelWork, models: Sequence[Path], cancel: CancelToken
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
