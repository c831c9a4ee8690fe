"""Jobs on files of rubrics: found, read, written, looked at for changes of other programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import EngineError, SetupError
from engine.core.rubric import Rubric
from engine.system.files import file_hash, make_folder
from engine.system.paths import PathKind, rubrics_folder, seen_at
from gui.workspace.threads import JobControl, job

SUFFIX = ".toml"
KIND = f"Rubrics (*{SUFFIX})"
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


@job
def find_rubrics(control: JobControl, others: Sequence[Path]) -> RubricsFound:
    """All rubrics: those of the program, of the user's folder, and some other files that are still there."""
    from engine.data.rubrics.files import own_rubrics, shipped_rubrics

    found = []
    for path in dict.fromkeys([*own_rubrics()[:_MOST_FILES], *others]):
        control.cancel.raise_if_requested()
        if seen_at(path) is PathKind.FILE:
            found.append(_read(path))
    return RubricsFound(shipped_rubrics(), tuple(found))


@job
def read_rubric(_control: JobControl, path: Path) -> RubricFile:
    """One file; SetupError where no rubric is in it."""
    found = _read(path)
    if found.error is not None:
        raise found.error
    return found


@job
def write_rubric(_control: JobControl, path: Path, rubric: Rubric, digest: str | None) -> RubricFile | None:
    """Write a rubric whole or not at all; None: not over a file whose bytes are not those of `digest`.

    None for `digest`: whatever is there. SetupError where it cannot be written.
    """
    from engine.data.rubrics.files import save_rubric

    if digest is not None and (there := _digest(path)) and there != digest:
        return None
    if path.parent == rubrics_folder():
        make_folder(path.parent)
    save_rubric(path, rubric)
    return RubricFile(path, rubric, _digest(path))


@job
def look_at(_control: JobControl, path: Path) -> str:
    """The digest of a file as it is now; empty where it is gone."""
    return _digest(path)


@job
def draft_of(_control: JobControl, columns: Sequence[str], name: str) -> Rubric | None:
    """A draft of the criteria that a dataset has labels on; None where it names none of its own."""
    from engine.data.rubrics.files import draft_rubric

    return draft_rubric(columns, name)


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
