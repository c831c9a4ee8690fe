"""What kind of file a file is: so that one in the wrong place is named for what it is.

A further kind is a member of FileKind and, if it is a JSON object that some keys name, a row of `_OBJECTS`.

Knows: by what each kind is distinguished from the others. Does not know: how a file of a kind is read, what
takes it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.core.column_map import ID, INSTRUCTION, OUTPUTS
from engine.core.errors import FileKind, InputError, SetupError, WrongKindError
from engine.core.rubric import ELOQUENT
from engine.data.column_content import look_into
from engine.data.column_guess import guess_columns
from engine.data.file_format import FileFormat, read_data_file
from engine.data.run_csv import is_run_csv
from engine.data.tables import open_table
from engine.system.files import plain_values
from engine.system.places import PathKind, look_at, reading
from engine.system.sandbox import sandboxed

_OBJECTS: Mapping[FileKind, frozenset[str]] = {
    # Before a calibration, which it holds.
    FileKind.RECIPE: frozenset(("tiebreak_recipe",)),
    FileKind.CALIBRATION: frozenset(("tiebreak_calibration",)),
    FileKind.LABELS_OF_ANNOTATORS: frozenset(("tiebreak_people",)),
    FileKind.RUN_JSON: frozenset(("run", "health", "items")),
    FileKind.WEIGHTS: frozenset(("fitted",)),
    FileKind.SCORES: frozenset(("overall_quality_accuracy", "details")),
}
"""The keys of the JSON object that a file of a kind holds."""
_OF_COMPARISONS = frozenset(("scores_a", "scores_b"))  # in each record of a list

_MODEL, _DATABASE, _OURS = b"GGUF", b"SQLite format 3\0", b"TBK1"
_MARK_OF_DATABASE = slice(68, 72)  # where SQLite keeps whose it is
_HEAD = 100  # bytes
_OF_TEXTS = (INSTRUCTION, *OUTPUTS)
_LABEL = "_preference"


@contextmanager
def expecting(path: Path, *kinds: FileKind) -> Iterator[None]:
    """Within the block `path` is read as one of these kinds. Where that fails, and it is of another one, the
    error is WrongKindError, which says so.
    """
    try:
        yield
    except SetupError as error:
        found = None
        with suppress(SetupError):
            found = kind_of(path)
        if found is None or found in kinds:
            raise
        raise WrongKindError(path, found, kinds[0]) from error


@sandboxed
def kind_of(path: Path) -> FileKind | None:
    """What a file is; None where it is no kind that is known. A table of pairs is a dataset, whatever its
    columns are called.

    SetupError where it cannot be read.
    """
    with reading(path):
        if look_at(path) is not PathKind.FILE:  # a pipe that nobody writes to would never end
            return None
        with path.open("rb") as file:
            head = file.read(_HEAD)
    if head.startswith(_MODEL) or path.suffix.lower() == ".gguf":
        return FileKind.MODEL
    if head.startswith(_DATABASE):
        return FileKind.RUN_STORE if head[_MARK_OF_DATABASE] == _OURS else None
    if path.suffix.lower() == ".toml":
        return FileKind.RUBRIC
    data_format, data = read_data_file(path)
    if data_format is FileFormat.JSON and (found := _kind_of_json(data)):
        return found
    return _kind_of_table(path)


def _kind_of_json(data: bytes) -> FileKind | None:
    try:
        value = plain_values(data)
    except ValueError:
        return None
    if isinstance(value, dict):
        for kind, keys in _OBJECTS.items():
            if keys <= value.keys():
                return kind
        value = next((inner for inner in value.values() if isinstance(inner, list)), None)
    is_scored = isinstance(value, list) and value and isinstance(value[0], dict)
    return FileKind.COMPARISONS if is_scored and value[0].keys() >= _OF_COMPARISONS else None


def _kind_of_table(path: Path) -> FileKind | None:
    table = open_table(path)
    names = set(table.first_columns())
    if is_run_csv(names):
        return FileKind.RUN_DATA
    if {ID, *_OF_TEXTS} <= names:
        return FileKind.DATASET
    with suppress(InputError):  # one with names of its own
        if not guess_columns(look_into(path, may_be_empty=True), ELOQUENT).open:
            return FileKind.DATASET
    labels = any(name.endswith(_LABEL) for name in names)
    return FileKind.SUBMISSION if table.has_header and labels and not names & {*_OF_TEXTS} else None
