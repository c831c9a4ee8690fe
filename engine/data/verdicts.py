"""What another judge said, as a submission: a submission file that may say `tie`, the log of a benchmark, a
table of ids and verdicts, or a column of a dataset that a judge filled.

Knows: how such a file is recognised and read, and how its verdicts find the items of a dataset. Does not
know: what they are compared with.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.core.column_map import (
    ANNOTATOR,
    CANDIDATES,
    ID,
    INSTRUCTION,
    NO_COLUMN,
    OUTPUTS,
    RANKED,
    ColumnMap,
    JudgeColumn,
)
from engine.core.errors import FileKind, Hint, InputError, JudgeColumnError, Setting
from engine.core.formatting import did_you_mean, listed, quoted, words
from engine.core.items import HUMAN_LABELS, Prediction, content_hash
from engine.core.rubric import ELOQUENT, default_criterion, rubric_of_names
from engine.data.catalogue import Known
from engine.data.column_content import (
    Sample,
    filled_sample,
    finite_number,
    look_into,
    meanings_of,
    said_meanings,
)
from engine.data.column_guess import guess_columns
from engine.data.column_words import EXPLANATIONS, NAMES_CANDIDATES, SIDES, column_pairs, is_id, plain_name
from engine.data.dataset import Dataset, check_id
from engine.data.file_format import FileFormat
from engine.data.file_kinds import expecting
from engine.data.label_guess import may_be_label
from engine.data.mapped_table import MappedTable
from engine.data.outputs import single_outputs
from engine.data.pairs import pair_id
from engine.data.recognition import known_as
from engine.data.submission import Submission, SubmissionRow, predictions_in, read_submission
from engine.data.tables import SourceTable, open_table
from engine.system.sandbox import sandboxed

_LABEL, _EXPLANATION = "_preference", "_explanation"
_OVERALL = default_criterion(ELOQUENT.names)
_CONFIDENCES = ("confidence", "certainty")
_BY_HALF = "1.5>"  # before a preference from 1 to 2, as AlpacaEval writes it: a probability of the second + 1


@dataclass(frozen=True)
class VerdictOf:
    """What one verdict is of, as far as the file says it: the digest of the three texts (empty without), that
    with the responses exchanged, and the two candidates.
    """

    texts: str = ""
    exchanged: str = ""
    candidates: tuple[str, str] | None = None

    @property
    def turned(self) -> "VerdictOf":
        """The same with the responses exchanged."""
        return VerdictOf(self.exchanged, self.texts, self.candidates and self.candidates[::-1])


@dataclass(frozen=True)
class Verdicts(Submission):
    """`subjects`: by id of a row. `said`: how the file was read, in sentences. `called`: the judge's name.
    `numbered`: the file has no ids, those of its rows are their numbers.
    """

    subjects: Mapping[str, VerdictOf] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    called: str = ""
    numbered: bool = False


def read_system(path: Path, column: JudgeColumn = NO_COLUMN) -> Submission:
    """What another judge said: a submission, or Verdicts of any other file.

    Raises what read_submission raises; InputError where it is not known which column holds verdicts, or what
    a value means, with how to say it.
    """
    with expecting(path, FileKind.SUBMISSION, FileKind.VERDICTS):
        try:
            return _read(path, column) or read_submission(path, ties=True)
        except JudgeColumnError as error:  # a dataset may hold a judge's verdicts: no file of a wrong kind
            asked = error
    raise asked


@sandboxed
def judge_columns(path: Path) -> dict[str, dict[str, str | None]]:
    """The columns of a file that may hold verdicts: what each value means, None where that is not known."""
    sample = look_into(path, may_be_empty=False)
    found: dict[str, dict[str, str | None]] = {}
    for name in _possible(sample):
        values = sample.values(name) or {}
        known = {value: value if value in HUMAN_LABELS else None for value in values}
        found[name] = {**known, **said_meanings(values)}
    return found


@sandboxed
def has_column(path: Path, name: str) -> bool:
    return name in look_into(path, may_be_empty=True).places


def _possible(sample: Sample) -> list[str]:
    """The columns of a few values, but for people's labels as this program writes them; those that look like
    labels come first.
    """
    few = [
        name
        for name in sample.columns
        if len(sample.values(name) or {}) > 1 and not is_id(name) and not name.endswith(_LABEL)
    ]
    return sorted(few, key=lambda name: not may_be_label(sample, name))


def placed(submission: Submission, dataset: Dataset) -> Submission:
    """The same with the ids of a dataset: found by the texts where the file has them, else by id (and
    candidates); exchanged where the dataset has the responses exchanged. A row that is of other texts or
    candidates than the item of its id gets an id that says so. A submission without these is given back as it
    is. InputError for several verdicts on one item.
    """
    if not isinstance(submission, Verdicts) or not submission.subjects:
        return submission
    hold_texts = any(of.texts for of in submission.subjects.values())
    find = _by_texts(submission, dataset) if hold_texts else _by_candidates(dataset)
    rows, subjects, numbers = [], {}, Counter[str]()
    for row in submission.rows:
        of = submission.subjects[row.id]
        item_id, turned = find(row.id, of)
        rows.append(SubmissionRow(item_id, _turned(row.predictions) if turned else row.predictions))
        subjects[item_id] = of.turned if turned else of
        numbers[item_id] += 1
    if several := [item_id for item_id, number in numbers.items() if number > 1]:
        found = f"has several verdicts on one item of {dataset.name}: {listed(several)}."
        raise InputError(
            submission.path or dataset.path, [found], "Keep one of them, for instance those of one annotator."
        )
    return replace(submission, rows=tuple(rows), subjects=subjects, numbered=False)


_Find = Callable[[str, VerdictOf], tuple[str, bool]]


def _by_texts(submission: Verdicts, dataset: Dataset) -> _Find:
    """The id of an item, and whether it has the responses exchanged. The number of a row is no id."""
    contents = {item.id: item.content_hash for item in dataset}
    candidates = _candidates_of(dataset)

    def is_own(own: str, of: VerdictOf) -> bool:
        return not submission.numbered and contents.get(own) in (of.texts, of.exchanged)

    taken = {row.id for row in submission.rows if is_own(row.id, submission.subjects[row.id])}
    # Several items may have the same texts: each gets a row, that of its candidates where these are named.
    free: dict[tuple[str, tuple[str, str] | None], list[str]] = {}
    for item_id, content in contents.items():
        for names in {None, candidates.get(item_id)}:
            free.setdefault((content, names), []).extend([item_id] if item_id not in taken else [])

    def find(own: str, of: VerdictOf) -> tuple[str, bool]:
        if is_own(own, of):
            by_name = of.texts == of.exchanged and candidates.get(own) not in (None, of.candidates)
            return own, contents[own] != of.texts or (by_name and candidates[own] == of.turned.candidates)
        ways = [(each.texts, each.candidates, each is not of) for each in (of, of.turned)]
        ways += [(texts, None, is_turned) for texts, _, is_turned in ways]
        for content, names, is_turned in ways:
            if (content, names) in free:
                found = next(iter(free[content, names]), own)
                for ids in (free.get((content, key), []) for key in {None, candidates.get(found)}):
                    if found in ids and len(ids) > 1:
                        ids.remove(found)
                return found, is_turned
        if submission.numbered:
            return f"row {own}", False
        return (f"{own} (other texts)" if own in contents else own), False

    return find


def _candidates_of(dataset: Dataset) -> dict[str, tuple[str, str]]:
    if not dataset.names_candidates:
        return {}
    one, other = (dataset.texts(side).to_pylist() for side in CANDIDATES)
    return dict(zip(dataset.ids, zip(one, other, strict=True), strict=True))


def _by_candidates(dataset: Dataset) -> _Find:
    """The same for a file without texts."""
    ids, candidates = {*dataset.ids}, _candidates_of(dataset)

    def find(own: str, of: VerdictOf) -> tuple[str, bool]:
        if of.candidates is None:
            return own, False
        paired = pair_id(own, *of.candidates)
        item_id = paired if own not in ids and paired in ids else own
        written = candidates.get(item_id)
        if written is not None and {*written} != {*of.candidates}:
            return paired, False  # of other candidates
        return item_id, written is not None and written != of.candidates

    return find


def _turned(predictions: Mapping[str, Prediction]) -> dict[str, Prediction]:
    return {
        name: replace(each, preference=each.preference and each.preference.swapped)
        for name, each in predictions.items()
    }


def _is_submission(table: SourceTable) -> bool:
    """Whether a file is to be read as one, also to say what is wrong with it."""
    columns = table.first_columns()
    labels = [name for name in columns if name.endswith(_LABEL)]
    rest = [name for name in columns if name != ID and not name.endswith((_LABEL, _EXPLANATION))]
    return table.data_format is FileFormat.TSV and bool(labels) and not rest


@sandboxed
def _read(path: Path, column: JudgeColumn) -> Verdicts | None:
    """None for a submission."""
    inner = open_table(path)
    if not column.name and _is_submission(inner):
        return None
    sample = filled_sample(inner)
    known = known_as(sample)
    columns = _with_column(sample, known, column) if column.name else _of_file(sample, known)
    if column.labels:
        columns = ColumnMap.of(columns.source_of, {**columns.meaning_of, **dict(column.labels)})
    criteria = [name.removesuffix(_LABEL) for name in columns.source_of if name.endswith(_LABEL)]
    criteria = criteria or [_OVERALL]  # which of two responses was chosen
    rubric = ELOQUENT if {*criteria} <= {*ELOQUENT.names} else rubric_of_names(tuple(criteria))
    texts = {INSTRUCTION, *OUTPUTS} <= {*columns.source_of} or RANKED[0] in columns.source_of
    table = MappedTable(inner.again(), columns, rubric, strict=False, with_texts=texts)
    rows, subjects = _rows(table, columns, criteria, texts)
    if table.unknown:
        raise _unknown(path, table.unknown, columns)
    table.raise_problems()
    if not rows:
        raise table.no_rows()
    read_as = [f"{path.name} is read as {known.name}."] if known else []
    read_as += [
        f"Its verdicts on {words(name)} are read from {quoted(columns.source_of[name + _LABEL])}."
        for name in criteria
        if name + _LABEL in columns.source_of
    ]
    explained = any(each.explanation for row in rows for each in row.predictions.values())
    numbered = ID not in columns.source_of and ID not in inner.first_columns()
    if numbered and not texts:
        read_as.append("It has no ids: its rows are numbered, and must be in the order of the dataset.")
    called = column.names(path)
    return Verdicts(tuple(rows), tuple(criteria), explained, path, subjects, tuple(read_as), called, numbered)


def _rows(
    table: MappedTable, columns: ColumnMap, criteria: Sequence[str], texts: bool
) -> tuple[list[SubmissionRow], dict[str, VerdictOf]]:
    cells_of = list(table.rows())
    shares = next((name for name in _CONFIDENCES if _holds_shares([row.cells for row in cells_of], name)), "")
    named = all(name in columns.source_of for name in CANDIDATES)
    counts = Counter(row.cells[ID] for row in cells_of)
    first_rows: dict[str, int] = {}
    rows, subjects = [], {}
    for row in cells_of:
        pair = (row.cells[CANDIDATES[0]], row.cells[CANDIDATES[1]]) if named else None
        if counts[row.cells[ID]] > 1 and pair is not None:  # one instruction, several pairs of candidates
            row.cells[ID] = pair_id(row.cells[ID], *pair)
        check_id(table, row, first_rows)
        instruction, one, other = (row.cells.get(name, "") for name in (INSTRUCTION, *OUTPUTS))
        sides = (content_hash(instruction, one, other), content_hash(instruction, other, one))
        subjects[row.cells[ID]] = VerdictOf(*(sides if texts else ("", "")), pair)
        sure = _confidence(row.cells, columns, shares)
        rows.append(SubmissionRow(row.cells[ID], predictions_in(row.cells, criteria, sure)))
    return rows, subjects


def _holds_shares(rows: Sequence[Mapping[str, str]], name: str) -> bool:
    """Whether all that a column says are numbers from 0 to 1; of 1 to 5 a 1 would be the least sure."""
    said = [finite_number(cells[name]) for cells in rows if cells.get(name)]
    return bool(said) and all(value is not None and 0 <= value <= 1 for value in said)


def _confidence(cells: Mapping[str, str], columns: ColumnMap, shares: str) -> float | None:
    """How sure the judge says that it is of its label, 0 to 1; None where the file does not say it. `shares`:
    the column that says it.
    """
    for source in columns.source_of.values():
        if source.startswith(_BY_HALF):
            value = finite_number(cells.get(source.removeprefix(_BY_HALF), ""))
            # A whole number is a bare choice, and the middle a tie: how sure the judge was is not in it.
            return None if value is None or value in (1, 1.5, 2) else max(value - 1, 2 - value)
    return finite_number(cells.get(shares, ""))


def _of_file(sample: Sample, known: Known | None) -> ColumnMap:
    """How the verdicts of a file are read where nobody named a column."""
    if known is not None and (known.kind == "verdicts" or known.labelled_by_model):
        return _without_annotator(known.map_for(ELOQUENT))
    if known is not None and known.kind == "pairs":
        raise _ask(sample, f"is {known.name}: pairs of responses. Whose labels are a judge's is not known")
    own = [name for name in sample.columns if name.endswith(_LABEL)]
    if own and ID in sample.columns and not {INSTRUCTION, *OUTPUTS} & {*sample.columns}:
        sources = {name: name for name in (ID, *own)}
        told = [name.removesuffix(_LABEL) + _EXPLANATION for name in own]
        sources |= {name: name for name in told if name in sample.columns}
        return ColumnMap.of(sources | _candidate_columns(sample))
    guess = guess_columns(sample, ELOQUENT)
    if (single := single_outputs(sample, guess)) is not None:
        raise single
    if not {*OUTPUTS} & {*guess.open} and INSTRUCTION not in guess.open:
        raise _ask(sample, "holds pairs of responses. Which column holds a judge's verdicts is not known")
    sure = {name for name in sample.columns if plain_name(name) in _CONFIDENCES}
    meant = {name: meanings_of(sample.values(name) or {}) for name in _possible(sample)}
    labels = [
        name
        for name, meanings in meant.items()
        if (meanings is not None and name not in sure) or may_be_label(sample, name)
    ]
    if len(labels) != 1:
        raise _ask(sample, "holds no texts, and which column holds verdicts is not known")
    own_id = guess.map.source_of.get(ID, "")
    explains = next((name for name in sample.columns if plain_name(name) in EXPLANATIONS), "")
    sources = {ID: own_id, _OVERALL + _LABEL: labels[0], _OVERALL + _EXPLANATION: explains}
    sources = {name: source for name, source in sources.items() if source} | _candidate_columns(sample)
    return ColumnMap.of(sources, meant[labels[0]] or {})


def _candidate_columns(sample: Sample) -> dict[str, str]:
    """The two columns that name who wrote the responses; none where there are none."""
    for pair in column_pairs(sample.columns, SIDES):
        words = {*pair.tokens}
        is_filled = all(map(sample.is_filled, pair.columns)) and not any(map(sample.is_number, pair.columns))
        if words and words <= NAMES_CANDIDATES and not words <= {"name", "id"} and is_filled:
            return dict(zip(CANDIDATES, pair.columns, strict=True))
    return {}


def _with_column(sample: Sample, known: Known | None, column: JudgeColumn) -> ColumnMap:
    """The same file with the verdicts in a column that the user named; its other labels are not read."""
    if column.name not in sample.places:
        raise JudgeColumnError(
            sample.table.path,
            [f"has no column {quoted(column.name)}: {listed(sample.columns)}."],
            Hint(did_you_mean(column.name, sample.places), "Name one of them: ", Setting.JUDGE_COLUMN),
        )
    base = known.map_for(ELOQUENT) if known is not None else guess_columns(sample, ELOQUENT).map
    sources = {
        name: source
        for name, source in _without_annotator(base).sources
        if not name.endswith((_LABEL, _EXPLANATION)) and source
    }
    if ID not in sources and ID in sample.columns:
        sources[ID] = ID
    if CANDIDATES[0] not in sources:
        sources |= _candidate_columns(sample)
    values = sample.values(column.name) or {}
    return ColumnMap.of({**sources, _OVERALL + _LABEL: column.name}, said_meanings(values))


def _without_annotator(columns: ColumnMap) -> ColumnMap:
    """Rows stay rows: the judge is one, whatever it is called in each."""
    return ColumnMap.of({k: v for k, v in columns.sources if k != ANNOTATOR}, columns.meaning_of)


def _ask(sample: Sample, found: str) -> InputError:
    may_be = _possible(sample)
    if not may_be and {INSTRUCTION, *OUTPUTS} <= {*sample.columns}:
        return InputError(sample.table.path, [f"{found}."], "Open it as a dataset.")
    if not may_be:
        none = "no column names a criterion (such as 'relevance_preference'), and none holds verdicts."
        return InputError(sample.table.path, [none], "Verdicts are a few values, such as A, B and tie.")
    hint = Hint(f"Name it, such as {listed(may_be, shown=quoted)}: ", Setting.JUDGE_COLUMN)
    return JudgeColumnError(sample.table.path, [f"{found}."], hint)


def _unknown(path: Path, values: Mapping[str, int], columns: ColumnMap) -> JudgeColumnError:
    column = next((source for name, source in columns.sources if name.endswith(_LABEL)), "")
    shown = listed(list(values), shown=quoted)
    # One that begins with a dash comes last: it would be taken for an option.
    ordered = sorted(values, key=lambda value: value.startswith("-"))
    gaps = ",".join(f"{value}=…" for value in ordered[:8])
    return JudgeColumnError(
        path,
        [f"what these verdicts in {quoted(column)} mean is not known: {shown}."],
        Hint("Say it, each as A, B, both_good, both_bad, tie or none: ", Setting.JUDGE_LABELS.at(gaps)),
    )
