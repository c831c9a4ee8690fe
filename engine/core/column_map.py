"""ColumnMap: which columns of a foreign file are ours, and what the values of its label columns mean; how it
is written on one line. Does not know: files, what a source reads.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from engine.core.codec import record_or
from engine.core.errors import Hint, Setting, SetupError
from engine.core.items import BACKGROUND, HUMAN_LABELS
from engine.core.rubric import ELOQUENT, Rubric, criterion_problems

ID, INSTRUCTION = "id", "instruction"
OUTPUTS = ("output_a", "output_b")
RANKED = ("chosen", "rejected")
"""In the place of OUTPUTS where a file says which response is the better one."""
CANDIDATES = ("candidate_a", "candidate_b")
"""Which model wrote each response; with RANKED the first wrote the chosen one. No judge sees them."""
OUTPUT, CANDIDATE = "output", "candidate"
MADE_WITH = "generated_with"
"""By what a candidate's outputs were written: model file and settings, as `generate` notes them as JSON."""
GENERATED_WITH = (f"{MADE_WITH}_a", f"{MADE_WITH}_b")
SYSTEM = "system"
"""What the models were told before the instruction."""
ANNOTATOR = "annotator"
"""Who gave the labels of a row: rows of the same texts are one item with several annotators."""
SCORE, GROUP = "score", "group"
"""Next to OUTPUT, in the place of OUTPUTS: how good each of several responses is, more is better, less where
a minus stands before the source, the first of several places first; which rows hold responses to the same
instruction. With INSTRUCTION read from where OUTPUT is, GROUP is the ID of the message that a row answers.
"""
OMIT = "omit"
"""Where a row, or an annotation in it, says that it does not count: discarded, cancelled, a draft."""
RECORDS = "records"
"""The key of a JSON object under which the records lie."""
IF_NAMED = (*RANKED, SYSTEM, *BACKGROUND, ANNOTATOR, OUTPUT, CANDIDATE, SCORE, GROUP, OMIT, RECORDS)
"""What is read only where a map names it, though the file may have columns of these names."""
OF_OUTPUTS = (ID, INSTRUCTION, *BACKGROUND, OUTPUT, CANDIDATE)
"""What is read of a file with the outputs of one candidate, of which pairs are made."""

_OF_ROWS = (ANNOTATOR, OUTPUT, CANDIDATE, SCORE, GROUP, OMIT, RECORDS)
NO_LABEL = ""
_NO_LABEL_WORD = "none"
_MEANINGS = {**{label.value: label.value for label in HUMAN_LABELS}, _NO_LABEL_WORD: NO_LABEL}
MEANINGS_IN_WORDS = f"{', '.join(HUMAN_LABELS)} or {_NO_LABEL_WORD}"
GAP = "…"
"""Marks what the user has to fill in."""

_OF_LABELS = ("preference", "explanation")
_OF_AN_ANNOTATOR = "|"  # stands in no name of a criterion

Pairs = tuple[tuple[str, str], ...]


class Confidence(Enum):
    """How confident a guess is. The value: in words."""

    SURE = "confident"
    LIKELY = "likely"
    UNCERTAIN = "uncertain: please check"


@dataclass(frozen=True)
class ColumnMap:
    """`sources`: for a column of ours, what is read for it, nothing where it is empty; one that is not named
    is read from the file's column of that name. `labels`: for a value of the file's label columns, one of our
    labels, or NO_LABEL. Both are in the order of their keys, so that equal maps are equal. `skip_bad_rows`:
    rows that cannot be read are left out by name; else one such row refuses the file.
    """

    sources: Pairs = ()
    labels: Pairs = ()
    skip_bad_rows: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(sorted(self.sources)))
        object.__setattr__(self, "labels", tuple(sorted(self.labels)))

    @classmethod
    def of(cls, sources: Mapping[str, str], labels: Mapping[str, str] | None = None) -> "ColumnMap":
        """A map out of dictionaries. SetupError for a column that is not one of a dataset."""
        check_targets(sources)
        return cls(tuple(sources.items()), tuple((labels or {}).items()))

    def over(self, other: "ColumnMap | None") -> "ColumnMap":
        """The same, which names no columns, for a file that is read by another map."""
        if other is None:
            return self
        labels = {**other.meaning_of, **self.meaning_of}
        return ColumnMap(other.sources, tuple(labels.items()), self.skip_bad_rows or other.skip_bad_rows)

    @property
    def source_of(self) -> dict[str, str]:
        return dict(self.sources)

    @property
    def meaning_of(self) -> dict[str, str]:
        return dict(self.labels)

    @property
    def columns_text(self) -> str:
        """`id=uid,instruction=prompt`, in the default order of our columns; `parse_columns` reads it."""
        order = {name: place for place, name in enumerate(targets(ELOQUENT))}
        pairs = sorted(self.sources, key=lambda pair: (order.get(pair[0], len(order)), pair))
        return _joined((f"{ours}={theirs}" for ours, theirs in pairs), ",")

    @property
    def labels_text(self) -> str:
        """`1=A,2=B,0=tie,bad=none`; `parse_labels` reads it."""
        return _joined((f"{value}={label or _NO_LABEL_WORD}" for value, label in self.labels), ",")

    @property
    def in_words(self) -> str:
        """All of it on one line: `id=uid,instruction=prompt; labels 1=A,2=B`."""
        said = "; labels ".join(filter(None, (self.columns_text, self.labels_text)))
        return "; ".join(filter(None, (said, "bad rows left out" if self.skip_bad_rows else "")))

    def as_json(self) -> dict[str, dict[str, str] | bool]:
        skipped = {"skip_bad_rows": True} if self.skip_bad_rows else {}
        return {"columns": self.source_of, "labels": self.meaning_of, **skipped}

    @classmethod
    def of_json(cls, value: object) -> "ColumnMap | None":
        """What `as_json` gave; None for anything else."""
        found = record_or(value, _Form, None)
        if found is None or not all(map(_is_target, found.columns)):
            return None
        return cls(tuple(found.columns.items()), tuple(found.labels.items()), found.skip_bad_rows)


class _Form(msgspec.Struct):
    columns: dict[str, str]
    labels: dict[str, Literal["A", "B", "both_good", "both_bad", "tie", ""]]
    skip_bad_rows: bool = False


def label_columns(criteria: Iterable[str]) -> list[str]:
    """`<criterion>_preference` and `<criterion>_explanation` of each, in order."""
    return [f"{name}_{part}" for name in criteria for part in _OF_LABELS]


def targets(rubric: Rubric) -> tuple[str, ...]:
    """Every column that a map may give a source, in the default order."""
    beside = (*OUTPUTS, *RANKED, *CANDIDATES, *label_columns(rubric.names), *_OF_ROWS)
    return (ID, SYSTEM, INSTRUCTION, *BACKGROUND, *beside)


def parse_columns(text: str, only: Collection[str] = ()) -> dict[str, str]:
    r"""`id=uid,instruction=prompt` as sources, labels of any criterion among them; `\,` is a comma in a name.
    SetupError for anything else. `only`: the columns are these, such as OF_OUTPUTS, not those of a dataset.
    """
    example = "output_a=response_1,output_b=response_2"
    if only:
        example = "output=response" if OUTPUT in only else "system=system_prompt"
    sources: dict[str, str] = {}
    for part in filter(str.strip, _split(text, ",")):
        name, equals, source = part.partition("=")
        name = name.strip()
        if not equals or name in sources:
            raise SetupError(
                f"Columns: cannot read {part!r}.",
                Hint(
                    "Write each column once, as OURS=THEIRS, with commas between: ",
                    Setting.COLUMNS.at(f"id=uid,instruction=prompt,{example}"),
                ),
            )
        sources[name] = source
    if only and (unknown := [name for name in sources if name not in only]):
        what = "model outputs" if OUTPUT in only else "prompts"
        raise SetupError(
            f"Columns: {unknown[0]!r} is not a column of {what}.", f"Columns are {', '.join(only)}."
        )
    if not only:
        check_targets(sources)
    return sources


def parse_labels(text: str) -> dict[str, str]:
    r"""`1=A,2=B,0=tie` as meanings by value; `\,` is a comma in a value. SetupError for others."""
    labels: dict[str, str] = {}
    for part in filter(str.strip, _split(text, ",")):
        value, equals, label = part.rpartition("=")
        if not equals or label.strip() not in _MEANINGS or value in labels:
            raise SetupError(
                f"Label values: cannot read {part!r}.",
                Hint(
                    f"Write each value once, as VALUE=LABEL, with commas between; labels are"
                    f" {', '.join(_MEANINGS)}: ",
                    Setting.LABELS.at("1=A,2=B,0=tie"),
                ),
            )
        labels[value] = _MEANINGS[label.strip()]
    return labels


def annotators_of(source: str) -> tuple[str, ...]:
    r"""The sources of a label that several annotators gave, `first|second|third`; else the source alone. `\|`
    is a bar in a name, and where there are several, `\\` a stroke.
    """
    parts = _split(source, _OF_AN_ANNOTATOR)
    return tuple(parts) if len(parts) > 1 else (source.replace(r"\|", "|"),)


def of_annotators(sources: Sequence[str]) -> str:
    """The source of a label that these annotators gave; `annotators_of` reads it."""
    return _joined(sources, _OF_AN_ANNOTATOR) if len(sources) > 1 else "".join(sources)


def annotator_column(label: str, annotator: str) -> str:
    """The column of what one of several annotators said: `overall_quality_preference|annotator1`."""
    return f"{label}{_OF_AN_ANNOTATOR}{annotator}"


def label_column(column: str) -> str:
    """The column of the label that one annotator's column is about; any other column as it is."""
    return column.partition(_OF_AN_ANNOTATOR)[0]


def annotator_of(column: str) -> str:
    return column.partition(_OF_AN_ANNOTATOR)[2]


def kept_column(column: str) -> str:
    """`safety_preference_before|Ada`: where what a dataset said itself is stored next to other the users'."""
    label, bar, annotator = column.partition(_OF_AN_ANNOTATOR)
    return f"{label}_before{bar}{annotator}"


def annotators_among(columns: Iterable[str], label: str) -> dict[str, str]:
    """The annotators of a label, each with their column among some columns of a dataset."""
    start = annotator_column(label, "")
    return {name.removeprefix(start): name for name in columns if name.startswith(start)}


def parted(columns: ColumnMap | None) -> tuple[ColumnMap | None, ColumnMap | None]:
    """The map by which a file is read, if it names columns; else what it says `over` that which is found."""
    return (columns, None) if columns is None or columns.sources else (None, columns)


def check_targets(names: Sequence[str] | Mapping[str, str], rubric: Rubric | None = None) -> None:
    """Raise SetupError where a column is not one of a dataset; with `rubric`, of one with its criteria."""
    known = targets(rubric or ELOQUENT)
    unknown = [name for name in names if name not in known and (rubric or not _is_target(name))]
    if unknown:
        raise SetupError(
            f"Columns: {unknown[0]!r} is not a column of a dataset.", f"Columns are {', '.join(known)}."
        )


def _is_target(name: str) -> bool:
    criterion, _, part = name.removesuffix(_OF_AN_ANNOTATOR).rpartition("_")
    if part in _OF_LABELS:
        return not any(criterion_problems({"name": criterion}))
    return name in (ID, SYSTEM, INSTRUCTION, *BACKGROUND, *OUTPUTS, *RANKED, *CANDIDATES, *_OF_ROWS)


def _split(text: str, mark: str) -> list[str]:
    """The parts between marks, without the strokes that stand before a mark, or a stroke, inside of one."""
    parts = re.findall(rf"(?:\\[\\{mark}]|[^{mark}])+", text)
    return [re.sub(rf"\\([\\{mark}])", r"\1", part) for part in parts]


def _joined(parts: Iterable[str], mark: str) -> str:
    return mark.join(re.sub(rf"[\\{mark}]", r"\\\g<0>", part) for part in parts)


@dataclass(frozen=True)
class JudgeColumn:
    """What a user says of a file: in which column a judge's verdicts are, and what their values mean."""

    name: str = ""
    labels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str | None, labels: str | None) -> "JudgeColumn":
        """`labels`: such as `1=A,2=B,0=tie`. SetupError for anything else."""
        return cls(name or "", tuple(parse_labels(labels).items()) if labels else ())

    @property
    def key(self) -> list[object]:
        """What tells it from every other; nothing where nothing was said."""
        return [self.name, dict(self.labels)] if self.name or self.labels else []

    def names(self, path: Path) -> str:
        """What the judge is called."""
        return f"{self.name} of {path.name}" if self.name else path.name


NO_COLUMN = JudgeColumn()


class JudgeFile(NamedTuple):
    """A file of a judge, and what the user says of it."""

    path: Path
    column: JudgeColumn = NO_COLUMN

    @property
    def name(self) -> str:
        return self.column.names(self.path)
