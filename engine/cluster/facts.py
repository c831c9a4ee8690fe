"""What workers say of themselves, which of them may judge a run together, and in what they differ.

Knows: versions, builds, processors, devices. Does not know: Dask, models.
"""

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from engine.core import VERSION
from engine.core.errors import Hint, SetupError, Step
from engine.core.formatting import listed
from engine.llama.library import library_version, processor_features
from engine.prompt.judge_prompt import PROMPT_VERSION
from engine.settings.rows import MOST_THREADS, MachineSettings

_LONGEST = 4000  # letters of a fact


@dataclass(frozen=True)
class WorkerFacts:
    """What a worker is. `device`: the key of what computes besides the processor, `driver` its version; both
    empty for the processor alone. `threads`: at most.
    """

    computer: str
    version: str
    prompt_version: str
    python: str
    llama_cpp: str
    processor: str
    device: str
    driver: str
    threads: int

    @property
    def kind(self) -> Mapping[str, str]:
        """What can make its last digits differ from another worker's."""
        made = {"llama_cpp": self.llama_cpp, "processor": self.processor}
        return {**made, **({"device": self.device, "driver": self.driver} if self.device else {})}


def facts_here(machine: MachineSettings) -> WorkerFacts:
    """Those of this process, where it judges with such a machine."""
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


def facts_of(value: object) -> WorkerFacts:
    """Facts out of their plain values. ValueError for anything else."""
    value = value if isinstance(value, Mapping) else {}
    made: dict[str, Any] = {}
    for field in fields(WorkerFacts):
        fact = value.get(field.name)
        sound = (
            _is_threads(fact) if field.name == "threads" else isinstance(fact, str) and len(fact) <= _LONGEST
        )
        if not sound:
            raise ValueError(f"fact {field.name}")
        made[field.name] = fact
    return WorkerFacts(**made)


def _is_threads(fact: object) -> bool:
    return type(fact) is int and 1 <= fact <= MOST_THREADS


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
    """What all workers compute with besides their processor; None for nothing. SetupError where it differs.

    The device is part of what a run is.
    """
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
