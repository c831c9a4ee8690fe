"""What people labelled with another tool (Argilla, Label Studio, Potato, a survey), as annotations of the
items of a run.

Knows: whose label each is, and of which item. Does not know: how the files are read, what is new in a run.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from engine.annotations.records import Annotation, checked_author, new_override
from engine.core.column_map import (
    ANNOTATOR,
    ID,
    INSTRUCTION,
    OUTPUT,
    OUTPUTS,
    RANKED,
    ColumnMap,
    annotators_among,
)
from engine.core.errors import ColumnsError, FileKind, Hint, InputError, Step
from engine.core.items import HumanLabel, content_hash, written_label
from engine.core.rubric import Rubric, default_criterion
from engine.data.column_content import filled_sample, meanings_of
from engine.data.column_guess import guess_columns
from engine.data.column_memory import remembered
from engine.data.column_words import PEOPLE, is_id, tokens_of
from engine.data.file_kinds import kind_of
from engine.data.label_guess import may_be_label
from engine.data.mapped_table import MappedTable
from engine.data.recognition import holds_verdicts, known_as
from engine.data.tables import SourceRow, open_table
from engine.results.annotation_file import AnnotationFile, RunFacts, load_annotation_file
from engine.store.run_store import RunStore
from engine.system.sandbox import sandboxed


def load_annotations(
    path: Path, store: RunStore, run_id: int, by: str = "", columns: ColumnMap | None = None
) -> AnnotationFile:
    """An annotation file, or the labels of another tool's file for the items of a run.

    `by`: who labelled, where the file does not say it. `columns`: how it is read, where nobody knows that.
    SetupError where it cannot be read, InputError with what is not known of it.
    """
    with store.reading():
        run, hashes = store.run(run_id), store.content_hashes(run_id)
    rubric = run.identity.asked
    try:
        is_ours = kind_of(path) is FileKind.LABELS_OF_ANNOTATORS
        slug, rows = ("", []) if is_ours else _rows(path, rubric, columns)
    except ColumnsError:
        raise
    except InputError as error:
        problem, *more = error.problems
        problem = f"is no annotation file; read as another tool's labels: {problem}"
        raise InputError(path, [problem, *more], error.hint) from error
    if is_ours:
        return load_annotation_file(path)
    facts = RunFacts(path.name, "people", tuple(rubric.names), path.name, "")
    made = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)  # the same again, if it is imported again
    items: dict[str, str] = {}
    words: list[Annotation] = []
    here = Counter(hashes.values())
    first: dict[str, str] = {}  # by content: each annotator may have a row for an item
    for row in rows:
        content, turned = _content(row.cells, hashes, here)
        item_id = first.setdefault(content, row.cells[ID]) if here[content] == 1 else row.cells[ID]
        items[item_id] = content
        for criterion, said in _labels(row.cells, rubric, by).items():
            for author, label in said.items():
                given = label.swapped if turned else label
                word = new_override(item_id, criterion, given, None, checked_author(author))
                words.append(replace(word, created=made))
    if not words:
        raise InputError(path, ["holds no label of a person whose name it says."], _NAME_THEM)
    return AnnotationFile(f"labels of {slug or path.name}", made, facts, items, tuple(words))


_NAME_THEM = Hint("Say who labelled, or how its columns are read: ", Step.NAME_ANNOTATOR)


@sandboxed
def _rows(path: Path, rubric: Rubric, columns: ColumnMap | None) -> tuple[str, list[SourceRow]]:
    """The short name of the tool's file, empty where it is not known, and its rows in columns of ours."""
    inner = open_table(path)
    sample = filled_sample(inner)
    known = known_as(sample)
    if known is not None and known.labelled_by_model:
        found = f"is {known.name}: the labels are a model's, no person's."
        raise InputError(path, [found], Hint(FileKind.VERDICTS))
    columns = columns or (known.map_for(rubric) if known is not None else remembered(sample.file_columns))
    if columns is None and holds_verdicts(sample):  # ids and labels, without texts
        own_id = next(filter(is_id, sample.columns))
        label = next(name for name in sample.columns if may_be_label(sample, name))
        sources = {ID: own_id, f"{default_criterion(rubric.names)}_preference": label}
        columns = ColumnMap.of(sources, meanings_of(sample.values(label) or {}))
    if columns is None:
        guess = guess_columns(sample, rubric)
        if guess.open:
            raise InputError(path, ["holds no labels of pairs of responses."], _NAME_THEM)
        columns = guess.map
    sources = columns.source_of
    texts = bool({*OUTPUTS, *RANKED, OUTPUT} & sources.keys()) or {*OUTPUTS} <= {*sample.columns}
    people = (name for name in sample.columns if {*tokens_of(name)} & {*PEOPLE})
    who = "" if texts else sources.pop(ANNOTATOR, "") or next(people, "")
    read = ColumnMap.of(sources, columns.meaning_of)
    table = MappedTable(inner.again(), read, rubric, with_texts=texts, keep_annotators=True)
    rows = list(table.rows())
    table.raise_problems()
    for row in rows if who else ():
        row.cells[ANNOTATOR] = row.cells.get(who, "")
    return known.slug if known else "", rows


def _content(cells: Mapping[str, str], hashes: Mapping[str, str], here: Collection[str]) -> tuple[str, bool]:
    """The hash of an item's texts, in the order in which the run has the responses, and whether that is the
    other one. A file without texts names the items by their ids.
    """
    if OUTPUTS[0] not in cells:
        return hashes.get(cells[ID], ""), False
    asked, one, other = (cells[name] for name in (INSTRUCTION, *OUTPUTS))
    content, exchanged = content_hash(asked, one, other), content_hash(asked, other, one)
    turned = content not in here and exchanged in here
    return (exchanged if turned else content), turned


def _labels(cells: Mapping[str, str], rubric: Rubric, by: str) -> dict[str, dict[str, HumanLabel]]:
    """By criterion and annotator what each said."""
    found = {}
    for name in rubric.names:
        column = f"{name}_preference"
        given = {who: cells[of] for who, of in annotators_among(cells, column).items() if cells[of]}
        alone = cells.get(ANNOTATOR) or by
        if not given and alone and cells.get(column):
            given = {alone: cells[column]}
        if given:
            found[name] = {who: written_label(label) for who, label in given.items()}
    return found
