"""Jobs on model files: which there are on this computer, and whether they fit its memory.

Knows: what the choice of a model depends on. Does not know: windows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.settings import KvType, default_context
from engine.system.paths import demo_model
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.gguf.finder import FoundModel
    from engine.gguf.memory import Fit, MemoryEstimate
    from engine.system.computer import Memory

DEMO_SOURCE = "Tiebreak"


@dataclass(frozen=True)
class MemoryWish:
    """What the memory of a model depends on. `context`: in tokens, None for what is usual for each model."""

    context: int | None
    kv_type: KvType


@dataclass(frozen=True)
class Candidate:
    """A file to choose from. `estimate`, `fit`: None where it cannot judge; `free`: memory now, in bytes."""

    found: "FoundModel"
    is_demo: bool
    context: int = 0
    estimate: "MemoryEstimate | None" = None
    fit: "Fit | None" = None
    free: int = 0

    @property
    def path(self) -> Path:
        """The file."""
        return self.found.path

    @property
    def files(self) -> tuple[Path, ...]:
        """All its files: the parts, where the model is split."""
        return self.found.model.files if self.found.model else (self.found.path,)

    @property
    def name(self) -> str:
        """What people call the file."""
        return self.found.name

    @property
    def usable(self) -> bool:
        """Whether it can judge."""
        return self.found.model is not None


def find(files: Sequence[Path], folders: Sequence[Path], wish: MemoryWish) -> Job[int]:
    """Tell a Candidate for the demo model, each of the files, and each model in the usual folders and these.

    The result: how many there are.
    """

    def work(control: JobControl) -> int:
        from engine.gguf.finder import find_models, usual_folders
        from engine.system.computer import available_memory

        memory = available_memory()
        seen: set[Path] = set()

        def all_found() -> "Iterator[FoundModel]":
            yield replace(_described(demo_model()), source=DEMO_SOURCE)
            yield from map(_described, files)
            yield from find_models([*usual_folders(), *folders])

        for found in all_found():
            control.cancel.raise_if_requested()
            target = found.path.resolve()
            if target not in seen:
                seen.add(target)
                control.report(_candidate(found, wish, memory))
        return len(seen)

    return work


def fits(candidates: Sequence[Candidate], wish: MemoryWish) -> Job[list[Candidate]]:
    """The same candidates with the memory that they need now."""

    def work(_control: JobControl) -> list[Candidate]:
        from engine.system.computer import available_memory

        memory = available_memory()
        return [_candidate(candidate.found, wish, memory) for candidate in candidates]

    return work


def gpu_supported() -> Job[bool]:
    """True where llama.cpp can use a GPU."""

    def work(_control: JobControl) -> bool:
        from engine.llama.library import gpu_offload_supported

        return gpu_offload_supported()

    return work


def _described(path: Path) -> "FoundModel":
    from engine.gguf.finder import found_model

    return found_model(path, path.parent.name or str(path.parent))


def _candidate(found: "FoundModel", wish: MemoryWish, memory: "Memory") -> Candidate:
    from engine.gguf.memory import memory_fit, memory_needed

    is_demo = found.path.resolve() == demo_model().resolve()
    if found.model is None:
        return Candidate(found, is_demo)
    context = wish.context or default_context(found.model.trained_context)
    estimate = memory_needed(found.model, context, kv_type=wish.kv_type)
    return Candidate(found, is_demo, context, estimate, memory_fit(estimate, *memory), memory.available)
