"""Jobs on files of rubrics: which there are, one read or written, a draft out of a dataset's own columns.

Knows: where the user's rubrics lie, when a file has changed meanwhile. Does not know: windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import EngineError, SetupError
from engine.core.rubric import Rubric
from engine.system.files import file_hash
from engine.system.paths import PathKind, rubrics_folder, seen_at
from gui.workspace.threads import Job, JobControl

SUFFIX = ".toml"
_MOST_FILES = 200  # all are read whenever the list is seen


@dataclass(frozen=True)
class RubricFile:
    """A file of a rubric as it was read. `error`: why there is no rubric in it; `digest`: of its bytes."""

    path: Path
    rubric: Rubric | None
    digest: str = ""
    error: EngineError | None = None


@dataclass(frozen=True)
class RubricsFound:
    """Those that come with the program, and those in files, in the order in which they are offered."""

    shipped: tuple[Rubric, ...]
    files: tuple[RubricFile, ...]


@dataclass(frozen=True)
class RubricWritten:
    """`file`: as it is now; None where it was not written, because it holds something else than was read."""

    file: RubricFile | None


def find_rubrics(others: Sequence[Path]) -> Job[RubricsFound]:
    """All rubrics: those of the program, of the user's folder, and some other files that are still there."""

    def work(control: JobControl) -> RubricsFound:
        from engine.data.rubrics.files import shipped_rubrics

        found = []
        for path in _paths(others):
            control.cancel.raise_if_requested()
            found.append(_read(path))
        return RubricsFound(shipped_rubrics(), tuple(found))

    return work


def read_rubric(path: Path) -> Job[RubricFile]:
    """One file; SetupError where no rubric is in it."""

    def work(_control: JobControl) -> RubricFile:
        found = _read(path)
        if found.error is not None:
            raise found.error
        return found

    return work


def write_rubric(path: Path, rubric: Rubric, digest: str | None) -> Job[RubricWritten]:
    """Write a rubric whole or not at all; not over a file whose bytes are not those of `digest`.

    None for `digest`: whatever is there. SetupError where it cannot be written.
    """

    def work(_control: JobControl) -> RubricWritten:
        from engine.data.rubrics.files import save_rubric
        from engine.system.files import make_folder

        if digest is not None and (there := _digest(path)) and there != digest:
            return RubricWritten(None)
        if path.parent == rubrics_folder():
            make_folder(path.parent)
        save_rubric(path, rubric)
        return RubricWritten(RubricFile(path, rubric, _digest(path)))

    return work


def look_at(path: Path) -> Job[str]:
    """The digest of a file as it is now; empty where it is gone."""

    def work(_control: JobControl) -> str:
        return _digest(path)

    return work


def draft_of(columns: Sequence[str], name: str) -> Job[Rubric | None]:
    """A draft of the criteria that a dataset has labels on; None where it names none of its own."""

    def work(_control: JobControl) -> Rubric | None:
        from engine.data.rubrics.files import draft_rubric

        return draft_rubric(columns, name)

    return work


def _paths(others: Sequence[Path]) -> list[Path]:
    from engine.data.rubrics.files import own_rubrics

    own = own_rubrics()[:_MOST_FILES]
    return [path for path in dict.fromkeys([*own, *others]) if seen_at(path) is PathKind.FILE]


def _read(path: Path) -> RubricFile:
    from engine.data.rubrics.files import load_rubric

    digest = _digest(path)
    try:
        return RubricFile(path, load_rubric(path), digest)
    except SetupError as error:
        return RubricFile(path, None, digest, error)


def _digest(path: Path) -> str:
    try:
        return file_hash(path)
    except OSError:
        return ""
