"""What kind of file a file is: so that one in the wrong place is named for what it is.

All data of a run, as its CSV holds them, read as a dataset: the labels of annotators as human labels.

How cells say which labels annotators gave to an item and how they came to it: in a run's CSV, in datasets.

Such a file has a row for each item and criterion; here each item is one row, with a column for each label,
for what each annotator said, and for how annotators came to the item. What the judge alone said is omitted.

A further kind is a member of FileKind and, if it is a JSON object that some keys name, a row of `_OBJECTS`.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from engine.annotations.records import LAST
from engine.core.codec import plain_values
from engine.core.column_map import ID, INSTRUCTION, OUTPUTS, annotator_column, kept_column
from engine.core.errors import FileKind, InputError, SetupError, WrongKindError
from engine.core.formatting import counted, listed, quoted
from engine.core.items import HUMAN_LABELS
from engine.core.judgments import Origin
from engine.core.rubric import ELOQUENT
from engine.data.column_content import look_into
from engine.data.column_guess import guess_columns
from engine.data.file_format import FileFormat, read_data_file
from engine.data.recognition import holds_verdicts
from engine.data.tables import SourceRow, SourceTable, open_table
from engine.system.paths import PathKind, look_at, reading
from engine.system.sandbox import sandboxed

ORIGINS_BY_ANNOTATORS, LABELS_BY_ANNOTATORS, IN_SAMPLE = (
    "origins_by_people",
    "labels_by_people",
    "random_sample",
)
"""Columns of a run's CSV: by name, how each annotator came to the item, and which label they gave; whether it
is of a random sample.
"""
SAMPLED, SKIPPED = "labelled", "skipped"
"""What stands in IN_SAMPLE of an item of a random sample."""
_UNKNOWN = "unknown"
_LEAST_CHOICE = (Origin.RANDOM, Origin.DATASET, Origin.CHOSEN, Origin.DISAGREEMENT, Origin.UNCERTAINTY, None)


def origin_column(criterion: str) -> str:
    """The column of a dataset that tells how annotators came to the items that they labelled on a
    criterion.
    """
    return f"{criterion}_origin"


def origin_cell(origins: Collection[Origin | None], in_sample: str) -> str:
    """What stands in that column of an item to which annotators came so; `in_sample`: its cell in
    IN_SAMPLE.
    """
    return origin_of_several(origins, in_sample) or _UNKNOWN if origins else ""


def origin_of_several(origins: Collection[Origin | None], in_sample: str) -> Origin | None:
    """Of several annotators the one counts who came to the item by the least choice; `origins`: not empty."""
    return Origin.RANDOM if in_sample == SAMPLED else min(origins, key=_LEAST_CHOICE.index)


def origins_in_row(cells: Mapping[str, str]) -> dict[str, Origin | None]:
    """By name, how each annotator came to the item of a row of a run's CSV who labelled it."""
    known = _record(cells.get(ORIGINS_BY_ANNOTATORS, ""))
    return {name: origin_in(known.get(name)) for name in {**labels_in_row(cells), **known}}


def labels_in_row(cells: Mapping[str, str]) -> dict[str, object]:
    """By name, what each annotator said in a row of a run's CSV."""
    return _record(cells.get(LABELS_BY_ANNOTATORS, ""))


def origin_in(value: object) -> Origin | None:
    """The origin that is written so; None for anything else."""
    return Origin(value) if isinstance(value, str) and value in [*Origin] else None


def _record(text: str) -> dict[str, object]:
    """A JSON object of a cell; nothing for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_TEXTS = (INSTRUCTION, *OUTPUTS)
_ITEM, _CRITERION, _RUN = "item_id", "criterion", "run"
_LABEL, _EXPLANATION, _STALE = "preference", "explanation", "outdated"
_OVERRIDDEN, _LABELS_OF = "overridden", "labels_of"
_AUTHORS = ("label_author", "override_author")  # now, and in earlier versions
_MARKS = frozenset((_RUN, _ITEM, _CRITERION, _LABEL, "model_preference", _OVERRIDDEN, _EXPLANATION))
_HUMAN = {"human_preference": "preference", "human_explanation": "explanation"}
_LAST_OF_OURS = "human_explanation"  # after it stand the further columns of the dataset
_OF_ITEMS = ("note", "notes_by_people", "tags", IN_SAMPLE)


def is_run_csv(columns: Collection[str]) -> bool:
    return set(columns) >= _MARKS


@dataclass
class _Item:
    """`line`: its first. `cells`: what it becomes in a dataset. `criteria`: of which there were rows."""

    line: int
    cells: dict[str, str]
    criteria: set[str] = field(default_factory=set)


class RunCsvTable(SourceTable):
    """Reads `inner` at once. InputError where it holds no texts, or a label that is none."""

    def __init__(self, inner: SourceTable) -> None:
        super().__init__(inner.path, inner.data_format)
        self.row_word = inner.row_word
        self._inner = inner
        names = inner.first_columns()
        after = names.index(_LAST_OF_OURS) + 1 if _LAST_OF_OURS in names else len(names)
        self._beside = [*(name for name in _OF_ITEMS if name in names), *names[after:]]
        self._items: dict[str, _Item] = {}
        self._runs: set[str] = set()
        self._annotators: set[str] = set()
        self._rows = self._labels = self._without_texts = 0
        for row in inner.rows(self._wanted(names)):
            self._take(row)
        inner.raise_problems()
        if self._rows and not self._items:
            raise InputError(
                inner.path,
                [
                    "contains all data of a run, but no texts: its dataset was missing when the file was"
                    " written."
                ],
                "Export it again where the dataset is available.",
            )
        self.columns = list(dict.fromkeys(name for item in self._items.values() for name in item.cells))

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[SourceRow]:
        """A row for each item, by the number of its first one."""
        empty = dict.fromkeys(name for name in self.columns if wanted is None or name in wanted)
        for item in self._items.values():
            yield SourceRow(item.line, {name: item.cells.get(name, "") for name in empty})

    @property
    def read_as(self) -> str:
        annotators = sorted(self._annotators)
        run = f"run {', '.join(sorted(self._runs))}"
        if not annotators:
            return (
                f"All data of {run}: it has no human labels, and the judge's own labels are not human ones."
            )
        given = f"{self._labels:,} of {self._rows:,}, by {listed(annotators, shown=str)}"
        return (
            f"All data of {run}: its human labels are those that annotators gave or accepted ({given}), not"
            " the judge's own."
        )

    @property
    def notices(self) -> list[str]:
        left_out = counted(self._without_texts, "row has", "rows have")
        no_texts = f"{left_out} no texts, and are omitted: the dataset lacked them when the file was written."
        return [self.read_as, *([no_texts] if self._without_texts else ())]

    def _wanted(self, names: Iterable[str]) -> set[str]:
        ours = {
            *_MARKS,
            *_AUTHORS,
            _LABELS_OF,
            *_TEXTS,
            *_HUMAN,
            _STALE,
            LABELS_BY_ANNOTATORS,
            ORIGINS_BY_ANNOTATORS,
            IN_SAMPLE,
        }
        return {name for name in names if name in ours} | {*self._beside}

    def _take(self, row: SourceRow) -> None:
        cells = {name: row.cells.get(name, "") for name in (*_MARKS, *_TEXTS, *_HUMAN)} | row.cells
        self._rows += 1
        if not any(cells[name] for name in _TEXTS):
            self._without_texts += 1
            return
        item_id, criterion = cells[_ITEM], cells[_CRITERION]
        item = self._items.get(item_id)
        if item is None:
            texts = {name: cells[name] for name in _TEXTS}
            beside = {name: cells.get(name, "") for name in self._beside}
            item = self._items[item_id] = _Item(row.number, {ID: item_id, **texts, **beside})
        if criterion in item.criteria:
            self._inner.report(
                row.number, f"{quoted(criterion)} of item {quoted(item_id)} occurs twice.", _CRITERION
            )
        item.criteria.add(criterion)
        self._runs.add(cells[_RUN])
        item.cells |= self._said(row.number, criterion, cells)

    def _said(self, line: int, criterion: str, cells: Mapping[str, str]) -> Mapping[str, str]:
        """The columns of one criterion: the label, the explanation, each annotator's label, its origin."""
        label, overridden = cells[_LABEL], cells[_OVERRIDDEN]
        given = {name: str(value) for name, value in labels_in_row(cells).items()}
        by_override = overridden in ("label", "both")
        if by_override and LABELS_BY_ANNOTATORS not in cells:  # of an earlier version
            given = {next((cells[name] for name in _AUTHORS if name in cells), ""): label}
        for each in filter(None, (label, *given.values())):
            if each not in HUMAN_LABELS:
                self._inner.report(line, f"unknown label {quoted(each)}.", _LABEL)
        of_all = cells.get(_LABELS_OF, LAST.in_words) == LAST.in_words
        of_annotators = by_override or (of_all and label in given.values())  # of others nothing counts
        self._labels += of_annotators
        self._annotators.update(given)
        told = overridden in ("explanation", "both") and cells.get(_STALE) != "yes"
        name = f"{criterion}_preference"
        origins = origins_in_row(cells) or dict.fromkeys(given)
        origin = origin_cell(origins.values(), cells.get(IN_SAMPLE, ""))
        return {
            name: label if of_annotators else "",
            f"{criterion}_explanation": cells[_EXPLANATION] if told else "",
            **{annotator_column(name, annotator): each for annotator, each in given.items()},
            **({origin_column(criterion): origin} if origin else {}),
            **{kept_column(f"{criterion}_{part}"): cells[own] for own, part in _HUMAN.items() if cells[own]},
        }


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
    except ValueError:  # an annotation file comes from elsewhere, and may be cut short
        return FileKind.LABELS_OF_ANNOTATORS if b'"tiebreak_people"' in data[:_HEAD] else None
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
    if {ID, *_TEXTS} <= names:
        return FileKind.DATASET
    with suppress(InputError):  # one with names of its own
        sample = look_into(path, may_be_empty=True)
        if not guess_columns(sample, ELOQUENT).open:
            return FileKind.DATASET
        if holds_verdicts(sample):
            return FileKind.VERDICTS
    labels = any(name.endswith("_preference") for name in names)
    return FileKind.SUBMISSION if table.has_header and labels and not names & {*_TEXTS} else None
