"""How a file is read: its shape, what is read for each column of ours, what is asked, and what speaks
against it, with the first items as they would be judged.

Knows: which way of reading comes first. Does not know: how questions are put to a user.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from engine.core.column_map import (
    ANNOTATOR,
    ID,
    INSTRUCTION,
    OUTPUT,
    OUTPUTS,
    RANKED,
    RECORDS,
    ColumnMap,
    Confidence,
    annotators_among,
    parted,
)
from engine.core.events import CancelToken
from engine.core.formatting import counted, listed, quoted
from engine.core.items import Tie
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.catalogue import Known
from engine.data.column_content import Sample, filled_sample, said_meanings
from engine.data.column_guess import Guess, guess_columns
from engine.data.label_guess import may_be_label
from engine.data.mapped_table import MappedTable, is_label
from engine.data.recognition import holds_verdicts, known_as, remembered
from engine.data.signs import STRONG, ReadingSign, SignKind, Signs
from engine.data.tables import open_table
from engine.system.sandbox import sandboxed

_FIRST = 50  # items that a report holds
_MOST_SKIPPED = 1_000


class ReadFrom(msgspec.Struct, frozen=True):
    """`source`: what is read for a column of ours. `certain`: whether nothing else could be meant."""

    source: str
    certain: bool


class ReadingQuestion(msgspec.Struct, frozen=True):
    """What only the user knows. `about`: "labels", "direction" of numbers, or "column". `column`: of the file
    where labels are asked about, else of ours; `values`: of it, with how often each occurs.
    """

    about: str
    column: str
    values: Mapping[str, int]


class Skipped(msgspec.Struct, frozen=True):
    row: int
    why: str


class FirstItem(msgspec.Struct, frozen=True):
    """An item as it would be judged. `labels`: by criterion; `annotators`: by criterion, what each said."""

    id: str
    instruction: str
    output_a: str
    output_b: str
    labels: Mapping[str, str]
    annotators: Mapping[str, Mapping[str, str]]


class FileReport(msgspec.Struct, frozen=True):
    """How a file is read. `shape`: its name in the catalogue, None for others. `kind`: "pairs", "outputs" of
    one model, "verdicts" of another judge, "submission". `reading`: by column of ours. `items`: how many it
    gives. `skipped`: rows that cannot be read. `labels`: what values of labels mean.
    """

    shape: str | None
    kind: str
    reading: Mapping[str, ReadFrom]
    labels: Mapping[str, str] = {}
    questions: Sequence[ReadingQuestion] = ()
    signs: Sequence[ReadingSign] = ()
    items: int = 0
    skipped: Sequence[Skipped] = ()
    first: Sequence[FirstItem] = ()

    @property
    def is_certain(self) -> bool:
        """Whether the file may be read so without a word."""
        sure = all(each.certain for each in self.reading.values())
        return sure and not self.questions and not any(sign.strong for sign in self.signs)


@sandboxed
def report_on(
    path: Path,
    rubric: Rubric = ELOQUENT,
    columns: ColumnMap | None = None,
    cancel: CancelToken | None = None,  # noqa: ARG001 - of the gate
) -> FileReport:
    """How a file is read: by `columns`, else as remembered, as known, or as guessed.

    The errors are those of open_table; ColumnsError for columns that the file does not have.
    """
    table = open_table(path, columns.source_of.get(RECORDS, "") if columns else "")
    sample = filled_sample(table)
    known: Known | None = None
    guess: Guess | None = None
    texts, found = {INSTRUCTION, *OUTPUTS}, {*sample.columns}
    answers = (name == ID or name.endswith(("_preference", "_explanation")) for name in sample.columns)
    if ID in found and all(answers) and not texts & found:  # nothing else stands beside the id
        named = {name: ReadFrom(name, True) for name in sample.columns}
        return FileReport(None, "submission", named, items=len(sample.short))
    columns, said = parted(columns)
    columns = columns or remembered(sample.file_columns)
    if columns is None and not texts | {ID} <= found:
        if (known := known_as(sample)) is not None:
            columns = known.map_for(rubric)
        else:
            guess = guess_columns(sample, rubric)
            columns = guess.map
    columns = said.over(columns) if said else columns or ColumnMap()
    reading, questions = _reading(columns, guess)
    unknown_kind = "verdicts" if guess is not None and guess.open and holds_verdicts(sample) else "pairs"
    shape, kind = (known.name, known.kind) if known is not None else (None, unknown_kind)
    if kind == "verdicts":  # of which no texts are asked
        questions = [each for each in questions if each.about != "column"]
    report = FileReport(shape, kind, reading, columns.meaning_of, questions)
    if report.kind != "pairs":
        return report
    of_columns = signs_of_columns(sample, columns)
    if guess is not None and guess.open:
        return replace(report, signs=of_columns)
    mapped = MappedTable(table.again(), columns, rubric, strict=False)
    signs = Signs()
    first: list[FirstItem] = []
    count = 0
    for count, row in enumerate(mapped.rows(()), start=1):
        signs.add(row.cells)
        if count <= _FIRST:
            first.append(_first_item(row.cells, rubric))
    before = {value for question in questions for value in question.values}
    if unknown := {value: times for value, times in mapped.unknown.items() if value not in before}:
        questions.append(ReadingQuestion("labels", _label_sources(columns), unknown))
    return replace(
        report,
        signs=[*signs.found(), *_of_rows(mapped, count), *of_columns],
        items=count,
        skipped=[Skipped(number, why) for number, why in mapped.bad_rows[:_MOST_SKIPPED]],
        first=first,
    )


def _reading(columns: ColumnMap, guess: Guess | None) -> tuple[dict[str, ReadFrom], list[ReadingQuestion]]:
    sure = {} if guess is None else guess.confidence
    reading = {
        name: ReadFrom(source, sure.get(name, Confidence.SURE) is Confidence.SURE)
        for name, source in columns.sources
        if source
    }
    questions = []
    if guess is not None:
        questions += [ReadingQuestion("column", name, {}) for name in guess.open]
        if guess.values:
            questions.append(ReadingQuestion("labels", _label_sources(columns), dict(guess.values)))
        if guess.scale:
            questions.append(ReadingQuestion("direction", columns.source_of[guess.scale], {}))
    return reading, questions


def _label_sources(columns: ColumnMap) -> str:
    """The sources of all labels, with a bar between them."""
    return "|".join(source for name, source in columns.sources if is_label(name))


def _first_item(cells: Mapping[str, str], rubric: Rubric) -> FirstItem:
    labels, annotators = {}, {}
    for name in rubric.names:
        column = f"{name}_preference"
        if cells.get(column):
            labels[name] = cells[column]
        if given := {who: cells[of] for who, of in annotators_among(cells, column).items() if cells[of]}:
            annotators[name] = given
    item_id, instruction, one, other = (cells.get(name, "") for name in (ID, INSTRUCTION, *OUTPUTS))
    return FirstItem(item_id, instruction, one, other, labels, annotators)


def _of_rows(mapped: MappedTable, items: int) -> Iterator[ReadingSign]:
    """What the rows showed while they were read."""
    picture = "a picture, which no judge here sees"
    begun = "not in the dialogue that both responses begin with"
    told = {
        "parted": (
            *(SignKind.DIALOGUES_PART, "pair of dialogues parts", "pairs of dialogues part"),
            "before the last reply",
        ),
        "pictures": (SignKind.PICTURE, "item holds", "items hold", picture),
        "asked otherwise": (SignKind.ASKED_OTHERWISE, "instruction is", "instructions are", begun),
    }
    for what, (kind, one, several, rest) in told.items():
        if count := mapped.counts[what]:
            strong = kind is SignKind.ASKED_OTHERWISE and count > STRONG * items
            yield ReadingSign(kind, f"{counted(count, one, several)} {rest}", count, strong)


def signs_of_columns(sample: Sample, columns: ColumnMap) -> list[ReadingSign]:
    """Columns that could be labels and are not read, and labels that no person gave."""
    read = " ".join(columns.source_of.values())
    labels = [name for name, source in columns.sources if source and is_label(name)]
    labels += filter(is_label, sample.columns)
    signs = []
    if not labels and not {*RANKED, OUTPUT} & columns.source_of.keys():
        places = (*sample.scalars, *sample.lists)
        names = [name for name in places if name not in read and may_be_label(sample, name)]
        if names:
            text = f"no label is read, though {listed(names, shown=quoted)} could hold one"
            signs.append(ReadingSign(SignKind.LABEL_NOT_READ, text, len(names), strong=True))
    if RANKED[0] in columns.source_of and not labels:
        ties = [name for name in sample.scalars if name not in read and _names_ties(sample, name)]
        if ties:
            text = f"{listed(ties, shown=quoted)} may say that neither response is better, and is not read"
            signs.append(ReadingSign(SignKind.LABEL_NOT_READ, text, len(ties), strong=True))
    if ANNOTATOR in columns.source_of and not labels:
        text = "annotators are named, but no label of theirs is read"
        signs.append(ReadingSign(SignKind.LABEL_NOT_READ, text, 1, strong=True))
    sources = [columns.source_of.get(name, "") for name in labels]
    suggested = [source for source in sources if "suggestion" in source]
    if suggested:
        text = f"{listed(suggested, shown=quoted)} holds a model's suggestion, not a person's label"
        signs.append(ReadingSign(SignKind.SUGGESTION, text, len(suggested), strong=True))
    return signs


def _names_ties(sample: Sample, name: str) -> bool:
    values = sample.values(name) or {}
    return (len(values) > 1 and Tie.TIE in said_meanings(values).values()) or Tie.TIE in values
