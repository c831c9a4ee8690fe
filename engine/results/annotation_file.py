"""The annotation file, by which a run's annotations go to another computer: without the texts of items. What
people labelled with another tool (Argilla, Label Studio, Potato, a survey), as annotations of a run's items.

Knows: whose label each is, and of which item. Does not know: to which run its annotations belong elsewhere.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from engine.annotations import records
from engine.annotations.effective import annotators_of
from engine.annotations.records import Annotation, AnnotationKind, checked_author, new_override
from engine.core.column_map import (
    ANNOTATOR,
    ID,
    INSTRUCTION,
    OUTPUT,
    OUTPUTS,
    RANKED,
    RECORDS,
    ColumnMap,
    annotators_among,
    label_columns,
    parted,
)
from engine.core.errors import ColumnsError, FileKind, Hint, InputError, SetupError, Step
from engine.core.formatting import listed, quoted
from engine.core.items import HumanLabel, Item, content_hash, grouped, written_label
from engine.core.rubric import Rubric, default_criterion
from engine.data.assignment import PLACE
from engine.data.column_content import filled_sample, meanings_of
from engine.data.column_guess import guess_columns
from engine.data.column_words import PEOPLE, is_id, tokens_of
from engine.data.dataset import Dataset
from engine.data.file_kinds import kind_of
from engine.data.json_records import load_record
from engine.data.label_guess import may_be_label
from engine.data.mapped_table import MappedTable, annotator_name
from engine.data.recognition import holds_verdicts, known_as, remember, remembered
from engine.data.tables import SourceRow, open_table
from engine.settings.sampling import checked_seed
from engine.store.annotation_rows import annotation_of, time_in_file
from engine.store.row_validator import DamagedError, RowValidator
from engine.store.run_store import RunStore
from engine.system.files import write_json
from engine.system.sandbox import sandboxed

FORMAT = 1
"""The version of these files; a newer program may write a later one."""
WHAT = "an annotation file"
_MARK = "tiebreak_people"
_TEXTS = ("instruction", "output_a", "output_b")
_EXPORT_AGAIN = "Ask its sender to export it again."
_SHA256 = re.compile("[0-9a-f]{64}")
_TIMES = {"said": "created", "undone": "undone", "redone": "redone"}
_JUDGED = ("criterion", "label", "origin", "seed", "blind")
_LISTS: Mapping[str, tuple[AnnotationKind, tuple[str, ...]]] = {
    "overrides": (AnnotationKind.OVERRIDE, (*_JUDGED, "explanation", "written_for", "settles")),
    "confirmations": (AnnotationKind.CONFIRMATION, _JUDGED),
    "repeats": (AnnotationKind.REPEAT, _JUDGED),
    "marks": (AnnotationKind.STATE, ("state",)),
    "notes": (AnnotationKind.NOTE, ("text", "tags")),
}
"""The lists of the file, by name: what each holds, and what it says beside the item, the author and times."""
_ALWAYS = {
    AnnotationKind.OVERRIDE: ("said", "criterion"),
    AnnotationKind.CONFIRMATION: ("said", "criterion", "label"),
    AnnotationKind.REPEAT: ("said", "criterion", "label"),
    AnnotationKind.STATE: ("said", "state"),
    AnnotationKind.NOTE: ("said", "text", "tags"),
}
_FIELDS = _TIMES | {"label": "preference"}  # what the record calls it, where that is another name
_NAMES = {field: name for name, field in _FIELDS.items()}

Made = TypeVar("Made")


@dataclass(frozen=True)
class RunFacts:
    """The run of the annotations: its `title`, who judged, its criteria, the dataset by name and hash."""

    title: str
    judge: str
    criteria: tuple[str, ...]
    dataset: str
    dataset_hash: str


@dataclass(frozen=True)
class AnnotationFile:
    """What such a file holds. `words`: of its own items, notes too, and only of these.

    `store`: the id of the run store that it was written by, at `written` (UTC). `items`: the hash of the
    content of each item of which anything is said, by its id. `known_as`: by name, how that annotator is
    called in other stores, each by its id. `texts`: of items, where these were asked for. `skipped`: rows of
    another tool's file that cannot be read and were left out, with the reason. `undated`: it says no times,
    and its annotations have that of the file.
    """

    store: str
    written: datetime
    run: RunFacts
    items: Mapping[str, str]
    words: tuple[Annotation, ...]
    known_as: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    texts: Mapping[str, Item] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    undated: bool = False

    @property
    def annotators(self) -> tuple[str, ...]:
        return annotators_of(self.words)

    @property
    def texts_in_words(self) -> str:
        """A sentence on whether texts of the dataset are included: this decides who may read the file."""
        if self.texts:
            return "It holds the instruction and both responses of each of them."
        return "It holds no texts of the dataset."


def annotation_file(
    store: RunStore, run_id: int, annotators: Iterable[str] = (), dataset: Dataset | None = None
) -> AnnotationFile:
    """The annotations of a run; of all, or of those named alone. `dataset`: whose texts are included.
    StoreError for no run, SetupError where nobody, or one of those named, has said anything.
    """
    own_id = store.own_id()
    with store.reading():
        run, words = store.run(run_id), store.all_annotations(run_id)
        hashes, met = store.content_hashes(run_id), store.imported_annotators()
    known, wanted = annotators_of(words), frozenset(annotators)
    if unknown := sorted(wanted - set(known)):
        by = f"It has annotations of {listed(known)}." if known else "It has no annotations."
        raise SetupError(f"{run.title} has no annotations of {listed(unknown)}.", by)
    if not known:
        raise SetupError(f"There are no annotations of {run.called}.", "Review it first.")
    words = [word for word in words if not wanted or word.author in wanted]
    places = _first_ids(hashes)
    ids = {places.get(word.content_hash, word.item_id) for word in words}
    items = {item_id: content for item_id, content in hashes.items() if item_id in ids}
    known_as = grouped(met, key=met.__getitem__)
    identity = run.identity
    dataset_name, dataset_hash = identity.dataset_path.name, identity.dataset_hash
    return AnnotationFile(
        own_id,
        records.now(),
        RunFacts(run.title, identity.model_name, identity.criteria, dataset_name, dataset_hash),
        items,
        tuple(words),
        {name: known_as[name] for name in annotators_of(words) if name in known_as},
        {item.id: item for item in dataset if item.id in items} if dataset is not None else {},
    )


def _first_ids(hashes: Mapping[str, str]) -> dict[str, str]:
    """By the hash of its content, the first item that has it: where a note is stored."""
    return {content: item_id for item_id, content in reversed([*hashes.items()])}


def save_annotation_file(path: Path, made: AnnotationFile) -> None:
    """Write it, whole or not at all. SetupError where that cannot be."""
    write_json(path, as_json(made))


def as_json(made: AnnotationFile) -> dict[str, Any]:
    run, places = made.run, _first_ids(made.items)
    lists: dict[str, list[dict[str, Any]]] = {name: [] for name in _LISTS}
    for word in made.words:
        name, (_, names) = next(each for each in _LISTS.items() if each[1][0] is word.kind)
        values = {"item": places.get(word.content_hash, word.item_id), "author": word.author}
        given = {each: getattr(word, _FIELDS.get(each, each)) for each in (*_TIMES, *names)}
        given |= {each: given[each].isoformat() for each in _TIMES if given[each] is not None}
        known = {each: value for each, value in given.items() if value is not None}
        if not known.get("settles", True):
            del known["settles"]  # said of an adjudicator's alone
        lists[name].append(values | known)
    if not lists["repeats"]:  # files of before had no such list
        del lists["repeats"]
    texts = {item_id: {name: getattr(item, name) for name in _TEXTS} for item_id, item in made.texts.items()}
    known_as = {
        name: [{"store": store, "name": there} for store, there in met] for name, met in made.known_as.items()
    }
    return {
        _MARK: FORMAT,
        "store": made.store,
        "written": made.written.isoformat(),
        "run": {
            "title": run.title,
            "judge": run.judge,
            "criteria": list(run.criteria),
            "dataset": {"name": run.dataset, "sha256": run.dataset_hash},
        },
        "people": [{"name": name, "known_as": known_as.get(name, [])} for name in made.annotators],
        "items": [
            {"id": item_id, "sha256": content, **texts.get(item_id, {})}
            for item_id, content in made.items.items()
        ],
        **lists,
    }


@sandboxed
def load_annotation_file(path: Path) -> AnnotationFile:
    """SetupError where it cannot be read, InputError with all that is wrong in it."""
    return load_record(path, WHAT, partial(_annotation_file_of, path), _EXPORT_AGAIN)


def _annotation_file_of(path: Path, values: Any) -> AnnotationFile:
    """What `as_json` gave. InputError with the problems found; KeyError or TypeError for another kind."""
    version = values[_MARK]
    if version != FORMAT:
        raise InputError(
            path,
            [f"is {WHAT} of version {quoted(str(version))}; this program knows {FORMAT}."],
            "Use a newer Tiebreak.",
        )
    reader = _Reader()
    made = reader.read(values)
    if reader.problems or made is None:
        raise InputError(path, reader.problems, _EXPORT_AGAIN)
    return made


class _Reader:
    """Reads the values of a file; `problems`: all that is wrong with them, each with its place."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def read(self, values: Mapping[str, Any]) -> AnnotationFile | None:
        head = self._try(lambda: _head(values))
        facts = self._try(lambda: _facts_of(values["run"]))
        known_as = dict(self._each("people", values, _annotator))
        pairs = self._each("items", values, _item)
        items = {item_id: content for item_id, content, _ in pairs}
        if len(items) < len(pairs):
            self.problems.append("items: an id occurs twice.")
        words: list[Annotation] = []
        self._items, self._annotators = items, known_as
        for name, (kind, names) in _LISTS.items():
            words += self._each(name, values, partial(self._annotation, kind, names))
        if self.problems or head is None or facts is None:
            return None
        texts = {item_id: item for item_id, _, item in pairs if item is not None}
        known_as = {name: there for name, there in known_as.items() if there}
        return AnnotationFile(*head, facts, items, tuple(words), known_as, texts)

    def _each(
        self, name: str, values: Mapping[str, Any], made_of: Callable[[RowValidator, Mapping[str, Any]], Made]
    ) -> list[Made]:
        """What is made of each row of a list, but for those that have a problem."""
        rows = values.get(name, [] if name == "repeats" else None)
        if not isinstance(rows, list):
            self.problems.append(f"{name}: this list is missing.")
            return []
        found = []
        for number, row in enumerate(rows, start=1):
            validator = RowValidator(f"{name}, entry {number}")
            if not isinstance(row, dict):
                self.problems.append(f"{validator.of}: it is not an object.")
                continue
            made = self._try(partial(validator.made, "values", row, partial(made_of, validator, row)))
            if made is not None:
                found.append(made)
        return found

    def _try(self, make: Callable[[], Made]) -> Made | None:
        try:
            return make()
        except DamagedError as error:
            self.problems.append(error.problem)
            return None

    def _annotation(
        self, kind: AnnotationKind, names: Sequence[str], validator: RowValidator, row: Mapping[str, Any]
    ) -> Annotation:
        item_id, author = validator.text("item", row["item"]), validator.text("author", row["author"])
        if item_id not in self._items:
            validator.refuse("item", item_id, "one of the items of the file")
        if author not in self._annotators:
            validator.refuse("author", author, "one of the annotators of the file")
        is_note = kind is AnnotationKind.NOTE
        values: dict[str, object] = {"author": author}
        values |= {"content_hash": self._items[item_id]} if is_note else {"item_id": item_id}
        for name in (*_TIMES, *names):
            values[_FIELDS.get(name, name)] = row[name] if name in _ALWAYS[kind] else row.get(name)
        word = records.checked(annotation_of(validator, kind, values, _NAMES))
        if word.seed is not None:
            checked_seed(word.seed)
        times: dict[str, Any] = {
            of: row.get(name) and time_in_file(validator, name, row[name]) for name, of in _TIMES.items()
        }
        return replace(word, **times)


def _head(values: Mapping[str, Any]) -> tuple[str, datetime]:
    validator = RowValidator("The file")
    return validator.text("store", values["store"]), time_in_file(validator, "written", values["written"])


def _facts_of(run: Any) -> RunFacts:
    validator = RowValidator("run")

    def make() -> RunFacts:
        title, judge = (validator.text(name, run[name]) for name in ("title", "judge"))
        criteria, dataset = validator.texts("criteria", run["criteria"]), run["dataset"]
        name, sha256 = validator.text("dataset", dataset["name"]), validator.text("sha256", dataset["sha256"])
        return RunFacts(title, judge, criteria, name, sha256)

    return validator.made("values", run, make)


def _annotator(validator: RowValidator, row: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    known_as = [
        (validator.text("store", each["store"]), validator.text("name", each["name"]))
        for each in row["known_as"]
    ]
    name = validator.text("name", row["name"])
    if records.checked_author(name) != name:
        validator.refuse("name", name, "a name without white space around it")
    return name, known_as


def _item(validator: RowValidator, row: Mapping[str, Any]) -> tuple[str, str, Item | None]:
    item_id, content = validator.text("id", row["id"]), validator.text("sha256", row["sha256"])
    if not _SHA256.fullmatch(content):
        validator.refuse("sha256", content, "a SHA-256")
    if not any(name in row for name in _TEXTS):
        return item_id, content, None
    instruction, output_a, output_b = (validator.text(name, row[name]) for name in _TEXTS)
    item = Item(item_id, instruction, output_a, output_b)
    if item.content_hash != content:
        validator.refuse("sha256", content, "the hash of its texts")
    return item_id, content, item


def load_annotations(
    path: Path,
    store: RunStore,
    run_id: int,
    by: str = "",
    columns: ColumnMap | None = None,
    *,
    save_columns: bool = False,
) -> AnnotationFile:
    """An annotation file, or the labels of another tool's file for the items of a run.

    `by`: who labelled, where the file does not say it. `columns`: how it is read, where nobody knows that;
    `save_columns`: from now on, too. SetupError where it cannot be read, InputError with what is not known of
    it.
    """
    with store.reading():
        run, hashes = store.run(run_id), store.content_hashes(run_id)
    rubric = run.identity.asked
    if path.suffix.lower() in (".html", ".htm"):
        raise SetupError(
            f"{path.name} is a page, such as a labelling sheet, and no annotation file.",
            "Open it in a browser, download the annotations there, and import that file.",
        )
    try:
        is_ours = kind_of(path) is FileKind.LABELS_OF_ANNOTATORS
        found = _ToolFile() if is_ours else _rows(path, rubric, columns)
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
    known: dict[tuple[str, str, str], str] = {}  # the row of each label: one more is a hidden repeat
    for row in found.rows:
        content, turned = _content(row.cells, hashes, here)
        own_id = row.cells[ID]
        place = first.setdefault(content, own_id) if here[content] == 1 else own_id
        items[place] = content
        for criterion, said in _labels(row.cells, rubric, by).items():
            for author, label in said.items():
                again = own_id != known.setdefault((place, criterion, author), own_id)
                item_id = own_id if again and own_id.startswith(PLACE) else place
                items[item_id] = content
                given = label.swapped if turned else label
                word = new_override(item_id, criterion, given, None, checked_author(author))
                words.append(replace(word, created=made))
    if not words:
        raise InputError(path, ["holds no label of a person whose name it says."], _NAME_THEM)
    if save_columns:
        remember(found.file_columns, found.columns)
    of = f"labels of {found.slug or path.name}"
    return AnnotationFile(of, made, facts, items, tuple(words), skipped=tuple(found.skipped), undated=True)


_NAME_THEM = Hint("Say who labelled, or how its columns are read: ", Step.NAME_ANNOTATOR)


class _ToolFile(NamedTuple):
    """`slug`: the short name of the tool's file, empty where it is not known. `rows`: in columns of ours;
    `skipped`: those that are left out. `columns`: how it is read, of `file_columns`.
    """

    slug: str = ""
    rows: Sequence[SourceRow] = ()
    skipped: Sequence[str] = ()
    columns: ColumnMap = ColumnMap()
    file_columns: Sequence[str] = ()


@sandboxed
def _rows(path: Path, rubric: Rubric, columns: ColumnMap | None) -> _ToolFile:
    inner = open_table(path, columns.source_of.get(RECORDS, "") if columns else "")
    sample = filled_sample(inner)
    known = known_as(sample)
    if known is not None and known.labelled_by_model:
        found = f"is {known.name}: the labels are a model's, no person's."
        raise InputError(path, [found], Hint(FileKind.VERDICTS))
    columns, said = parted(columns)
    if columns is None:
        main = default_criterion(rubric.names)
        columns = known.map_for(rubric, main) if known is not None else remembered(sample.file_columns)
    if columns is None and holds_verdicts(sample):  # ids and labels, without texts
        own_id = next(filter(is_id, sample.columns))
        label = next(name for name in sample.columns if may_be_label(sample, name))
        sources = {ID: own_id, f"{default_criterion(rubric.names)}_preference": label}
        columns = ColumnMap.of(sources, meanings_of(sample.values(label) or {}))
    own = {ID} < {*sample.columns} & {ID, *_TEXTS, *label_columns(rubric.names)}
    if columns is None and own and not {*_TEXTS} & {*sample.columns}:
        columns = ColumnMap()
    if columns is None:
        guess = guess_columns(sample, rubric)
        if guess.open:
            raise InputError(path, ["holds no labels of pairs of responses."], _NAME_THEM)
        columns = guess.map
    columns = said.over(columns) if said else columns
    sources = columns.source_of
    texts = bool({*OUTPUTS, *RANKED, OUTPUT} & sources.keys()) or {*OUTPUTS} <= {*sample.columns}
    people = (name for name in sample.columns if {*tokens_of(name)} & {*PEOPLE})
    if not texts and not sources.get(ANNOTATOR):
        sources[ANNOTATOR] = next(people, "")
    read = ColumnMap.of(sources, columns.meaning_of)
    table = MappedTable(inner.again(), read, rubric, with_texts=texts, keep_annotators=True)
    rows = list(table.rows())
    skips = columns.skip_bad_rows and bool(rows) and not table.is_broken_off
    if not skips:
        table.raise_problems()
    slug = known.slug if known else ""
    skipped = table.problems if skips else ()
    return _ToolFile(slug, rows, skipped, columns, [*sample.file_columns])


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
        alone = annotator_name(cells.get(ANNOTATOR, "")) or by
        if not given and alone and cells.get(column):
            given = {alone: cells[column]}
        if given:
            found[name] = {who: written_label(label) for who, label in given.items()}
    return found
