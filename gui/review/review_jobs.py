"""Jobs of the review: the list of judgments to look at, one item of it again, runs to read beside, two texts
compared; annotations of a run exported to a file, those of others counted and imported; what may be shown to
who labels blind.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.annotations.records import Filters, ListOrder, search_pattern
from engine.core.formatting import counted, listed
from engine.core.items import Gold, HumanLabel
from engine.core.judgments import JudgedItem, JudgmentKey, ReviewState
from engine.core.tables import Column, Kind, Row, Section, Sheet, Table
from engine.settings.sampling import DEFAULT_SEED, hidden_place
from engine.system.files import check_targets
from gui.workspace.garbage import many_records
from gui.workspace.open_run import Opened
from gui.workspace.store_jobs import opened
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from engine.analysis.review_order import Remarks, ReviewItem, ReviewRow
    from engine.core.rubric import Rubric
    from engine.data.dataset import Dataset
    from engine.results.annotation_file import AnnotationFile
    from engine.results.annotation_import import Joining
    from engine.results.run_results import RunResults
    from engine.settings.identity import StoredRun
    from engine.settings.sampling import ItemSample

HIDDEN = "Hidden while you label blind. Your own label: A, B, G or X."
HIDDEN_WHILE_BLIND = "All other labels are hidden while you label blind."


@dataclass(frozen=True)
class Review:
    criteria: tuple[str, ...]
    rows: "list[ReviewRow]"  # item by item, each in `criteria`; for no one's eyes, see `shown`
    places: Mapping[str, int]  # by item id, which of the judged items
    gold_rows: Mapping[str, int]  # by item id, which row of the dataset with human labels
    labelled: bool = False  # whether any has a human label
    escalated: Mapping[str | None, set[str]] = field(default_factory=dict)
    """By criterion, None for all, the ids of items that may not stand; empty where that is not known."""
    seed: int = DEFAULT_SEED  # of the random sample of it
    shown: "Callable[[ReviewRow], ReviewRow] | None" = None  # a row as it may be shown, see `Blind`

    def of_item(self, item_id: str) -> "Sequence[ReviewRow]":
        rows = self.rows[self._rows_of(item_id)]
        return rows if self.shown is None else [self.shown(row) for row in rows]

    def listed(self, criterion: str | None, item_id: str) -> "Sequence[ReviewRow]":
        return [row for row in self.of_item(item_id) if criterion in (None, row.criterion)]

    def change_item(self, item_id: str, rows: "Sequence[ReviewRow]") -> None:
        self.rows[self._rows_of(item_id)] = rows
        again = _escalated(rows, self.criteria)
        for criterion, ids in self.escalated.items():
            ids.discard(item_id)
            ids.update(again.get(criterion, ()))

    def _rows_of(self, item_id: str) -> slice:
        start = self.places[item_id] * len(self.criteria)
        return slice(start, start + len(self.criteria))


@dataclass(frozen=True)
class Listing:
    """The items that pass."""

    items: "list[ReviewItem]"
    places: Mapping[str, int]  # in `items`, by item id
    passing: Mapping[str, Sequence[str]]  # by item id, criteria; empty where the request leaves nothing out
    spread: float = 0.0  # how far the uncertainties of the items lie apart, 0 to 1
    hits: int = 0  # of a search in their texts and in what is said of them
    remarks: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # by item id, what is found first


@dataclass(frozen=True)
class ReviewScope:
    results: "RunResults"
    dataset: "Dataset | None"
    author: str
    seen: frozenset[JudgmentKey] | None = None  # the judgments that may be shown; None for all, see `Blind`
    states: Mapping[str, ReviewState] = field(default_factory=dict)  # by item id, if the order asks for them
    only: frozenset[str] | None = None  # the ids of the items among which is listed; None for all


@job
def review(
    control: JobControl, results: "RunResults", gold: "Dataset | None", own: "Dataset | None" = None
) -> Review:
    """All judgments of a run; `gold`: where the human labels are, `own`: its dataset, for all others."""
    from engine.analysis.review_order import review_rows

    with many_records():
        rows = review_rows(results, gold, own)
    control.cancel.raise_if_requested()
    places = {item.item_id: place for place, item in enumerate(results.judged)}
    gold_rows = {item_id: row for row, item_id in enumerate(gold.ids if gold is not None else ())}
    labelled = any(row.human is not None for row in rows)
    names = tuple(results.judgments)
    escalated = _escalated(rows, names)
    return Review(names, rows, places, gold_rows, labelled, escalated, results.run.review_seed)


def _escalated(rows: "Sequence[ReviewRow]", criteria: Sequence[str]) -> dict[str | None, set[str]]:
    if all(row.escalated is None for row in rows):
        return {}
    return {
        of: {row.item_id for row in rows if row.escalated and of in (None, row.criterion)}
        for of in (None, *criteria)
    }


@job
def list_items(
    control: JobControl, of: Review, request: Filters, order: ListOrder, sight: ReviewScope
) -> Listing:
    from engine.analysis.review_order import Remarks
    from engine.data.dataset_views import count_hits

    remarks = Remarks(sight.results, sight.author, sight.seen)
    found, only = _matching_ids(request.text, sight, remarks, control), sight.only
    ids = only if found is None else found if only is None else only & found
    with many_records():
        listing = _listing(of, request, order, ids, sight)
    if not (pattern := search_pattern(request.text)):
        return listing
    looked_for, hits = re.compile(pattern, re.IGNORECASE), 0
    first: dict[str, tuple[str, str]] = {}
    for item in listing.items:
        for what, text in remarks.of(of.places[item.item_id]):
            if count := len(looked_for.findall(text)):
                hits += count
                first.setdefault(item.item_id, (what, text))
    if sight.dataset is not None:
        hits += count_hits(sight.dataset, [item.position for item in listing.items], pattern)
    return replace(listing, hits=hits, remarks=first)


def _listing(
    of: Review, request: Filters, order: ListOrder, ids: Container[str] | None, sight: ReviewScope
) -> Listing:
    from engine.analysis.review_order import BY_COLUMN, by_column, by_item, filtered

    rows = of.rows
    passing: dict[str, list[str]] = {}
    if request.narrows or ids is not None:
        rows = filtered(rows, request, ids)
        for row in rows:
            passing.setdefault(row.item_id, []).append(row.criterion)
    if order in BY_COLUMN:
        items = by_item(rows, ListOrder.DATASET)
        items = by_column(items, order, partial(of.listed, request.criterion), sight.states, sight.dataset)
    else:
        own = sight.results.reviews.labels.get(sight.author, {})
        items = by_item(rows, order, of.seed, own.keys())
    doubts = [item.uncertainty for item in items]
    spread = max(doubts, default=0.0) - min(doubts, default=0.0)
    return Listing(items, {item.item_id: place for place, item in enumerate(items)}, passing, spread)


def _matching_ids(text: str, sight: ReviewScope, remarks: "Remarks", control: JobControl) -> set[str] | None:
    """The ids of the items in which all words occur, here or there; None for all."""
    from engine.data.arrow_arrays import text_array
    from engine.data.dataset_views import matching, matching_rows

    if not text.split():
        return None
    judged, dataset, said = sight.results.judged, sight.dataset, []
    for place in range(len(judged)):
        control.cancel.raise_if_requested()
        said.append("\n".join(text for _what, text in remarks.of(place)))
    if dataset is None:
        columns = [text_array([item.item_id for item in judged]), text_array(said)]
        return {judged[row].item_id for row in matching(columns, text, control.cancel)}
    beside, ids = [""] * len(dataset), dataset.ids
    for item, of_item in zip(judged, said, strict=True):
        beside[item.position] = of_item
    return {ids[row] for row in matching_rows(dataset, text, control.cancel, beside=beside)}


@job
def item_again(
    _control: JobControl,
    results: "RunResults",
    gold: Sequence["Dataset | None"],
    place: int,
    request: Filters,
) -> "tuple[ReviewItem, Sequence[ReviewRow]]":
    """One item as it is now, with its rows; `gold`: `gold` and `own` of `review`; `place`: of the item."""
    from engine.analysis.review_order import by_item, filtered, review_rows

    judged = results.judged[place]
    judgments = {name: (column[place],) for name, column in results.judgments.items()}
    alone = replace(results, judged=(judged,), judgments=judgments)
    rows = review_rows(alone, *(one and one.only({judged.item_id}) for one in gold))
    [item] = by_item(filtered(rows, replace(request, text=""))) or by_item(rows)
    return item, rows


@dataclass(frozen=True)
class OtherRun:
    """A run that answers items of the open one. `places`: of its items, by item id and content hash."""

    results: "RunResults"
    places: Mapping[tuple[str, str], int]


@job
def answering_runs(_control: JobControl, store_path: Path, run_id: int) -> "Sequence[tuple[StoredRun, int]]":
    """The other runs with items of a run, and how many; those with the most first, the newest of them."""
    with opened(store_path) as store, store.reading():
        shared = store.shared_items(run_id)
        runs = (run for run in store.runs()[::-1] if not run.archived)
        found = [(run, shared[run.id]) for run in runs if run.id in shared]
    return sorted(found, key=lambda pair: -pair[1])


@job
def other_runs(control: JobControl, store_path: Path, run_ids: Sequence[int]) -> Mapping[int, OtherRun]:
    """Runs by their ids, to be read beside the open one; what is not there any more is left out."""
    from contextlib import suppress

    from engine.core.errors import StoreError
    from engine.results.run_results import load_results

    found = {}
    with opened(store_path) as store:
        for run_id in run_ids:
            control.cancel.raise_if_requested()
            with suppress(StoreError):
                results = load_results(store, run_id).answered
                keys = ((item.item_id, item.content_hash) for item in results.judged)
                found[run_id] = OtherRun(results, {key: place for place, key in enumerate(keys)})
    return found


@dataclass(frozen=True)
class Highlights:
    """Where two texts as they are shown agree and differ: (start, end) in Qt's units, half an emoji each."""

    shared: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
    own: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
    whole: bool  # False where a text was too long to be compared to its end
    share: float  # of the words, those shared


@job
def compare_wording(control: JobControl, a: str, b: str) -> Highlights:
    from engine.analysis.wording_diff import wording_diff

    diff = wording_diff(a, b, control.cancel)
    return Highlights(
        shared=(in_units(a, diff.a.shared), in_units(b, diff.b.shared)),
        own=(in_units(a, diff.a.own), in_units(b, diff.b.own)),
        whole=(diff.a.compared, diff.b.compared) == (len(a), len(b)),
        share=diff.share,
    )


def in_units(text: str, spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Places in characters as places in UTF-16 units, in which Qt counts."""
    if text.isascii():
        return spans

    def count(part: str) -> int:
        return len(part.encode("utf-16-le", "surrogatepass")) // 2

    found, units, last = [], 0, 0
    for start, end in spans:
        first = units + count(text[last:start])
        units, last = first + count(text[start:end]), end
        found.append((first, units))
    return found


def human_label(
    rows: "Sequence[tuple[Dataset | None, int | None]]", judged: JudgedItem, criterion: str
) -> tuple[Gold | None, Sequence[Path]]:
    """What the first of the datasets with a label says of an item, and which one that is; else an explanation
    alone or nothing, and all that were looked into.
    """
    found: list[tuple[Gold, Path]] = []
    there = [(dataset, row) for dataset, row in rows if dataset is not None]
    for dataset, row in there:
        item = dataset[row] if row is not None and row < len(dataset) else None
        if item is not None and (item.id, item.content_hash) == (judged.item_id, judged.content_hash):
            found += [(human, dataset.path)] if (human := item.gold.get(criterion)) else []
    if not found:
        return None, tuple(dict.fromkeys(dataset.path for dataset, _ in there))
    human, path = next((pair for pair in found if pair[0].label is not None), found[0])
    return human, (path,)


@dataclass(frozen=True)
class CountedFiles:
    files: "Sequence[tuple[str, AnnotationFile]]"  # each with its name
    joining: "Joining"  # what they would add to a run
    sheet: Sheet  # the same, as it is shown


@job
def export_words(
    _control: JobControl,
    store_path: Path,
    run_id: int,
    annotators: Sequence[str],
    path: Path,
    texts: "Dataset | None" = None,
) -> str:
    """Write the annotations of a run by these annotators, all where none is named; what was written."""
    from engine.results.annotation_file import annotation_file, save_annotation_file

    with opened(store_path) as store:
        identity = store.run(run_id).identity
        in_use = {"dataset": identity.dataset_path, "model": identity.model_path, "run store": store_path}
        check_targets({"The file": path}, in_use)
        made = annotation_file(store, run_id, annotators, texts)
    save_annotation_file(path, made)
    words, items = counted(len(made.words), "annotation", "annotations"), len(made.items)
    where = f"{listed(made.annotators)} on {counted(items, 'item', 'items')}"
    return f"Written: {path.name}\n{words} of {where}. {made.texts_in_words}"


@job
def write_sheet(
    _control: JobControl,
    path: Path,
    dataset: "Dataset",
    rubric: "Rubric",
    blind: bool,
    sample: "ItemSample | None",
) -> str:
    """Write a labelling sheet; what was written."""
    from engine.results.labelling_sheet import write_labelling_sheet

    return f"Written: {write_labelling_sheet(path, dataset, rubric, blind, sample)}"


@job
def plan_assignment(
    _control: JobControl, dataset: "Dataset", annotators: tuple[str, ...], numbers: Mapping[str, int]
) -> Sheet:
    """How many items each annotator would get; `numbers`: fields of AssignmentDesign. SetupError."""
    from engine.data.assignment import AssignmentDesign, Purpose, assign

    found = assign(dataset, AssignmentDesign(annotators, **numbers))
    counts = {name: Counter(each.purpose for each in own) for name, own in found.items()}
    numbers_of_each = (Column(each, each.in_words, Kind.COUNT) for each in Purpose)
    columns = [Column("annotator", "annotator", Kind.TEXT), *numbers_of_each]
    rows: list[Row] = [(name, *(of_one[each] for each in Purpose)) for name, of_one in counts.items()]
    return Sheet("", [Section("plan", "Who gets what", [Table(columns, rows)])])


@job
def assign_items(
    _control: JobControl,
    dataset: "Dataset",
    annotators: tuple[str, ...],
    numbers: Mapping[str, int],
    folder: Path,
) -> str:
    """Write the files of an assignment; what was written. SetupError as `write_assignment`."""
    from engine.data.assignment import AssignmentDesign, write_assignment

    said = write_assignment(dataset, AssignmentDesign(annotators, **numbers), folder)
    return "\n".join([f"Written: {folder.name}", *said])


@job
def count_files(_control: JobControl, store_path: Path, run_id: int, paths: Sequence[Path]) -> CountedFiles:
    """What files of others would add to a run. SetupError where one is none."""
    from engine.results.annotation_file import load_annotations

    with opened(store_path) as store:
        files = [(path.name, load_annotations(path, store, run_id)) for path in paths]
    return _counted(store_path, run_id, files, {})


@job
def add_files(
    _control: JobControl,
    store_path: Path,
    run_id: int,
    counted_files: CountedFiles,
    answers: Mapping[tuple[str, str], str],
) -> str:
    """Add them; `answers` as `look_at` takes them. A sentence on what was added."""
    from engine.report.annotators import joined_sentence
    from engine.results.annotation_import import join

    # Once more: the run may have changed while the user read what was counted.
    joining = _counted(store_path, run_id, counted_files.files, answers).joining
    with opened(store_path) as store:
        join(store, joining)
    return joined_sentence(joining)


def _counted(
    store_path: Path,
    run_id: int,
    files: "Sequence[tuple[str, AnnotationFile]]",
    answers: Mapping[tuple[str, str], str],
) -> CountedFiles:
    from engine.report.annotators import joining_sections
    from engine.results.annotation_import import look_at

    with opened(store_path) as store:
        joining = look_at(store, run_id, files, answers)
    shown = Sheet(f"Annotations for {joining.run.called}", joining_sections(joining))
    return CountedFiles(files, joining, shown)


class Blind:
    """Whether this annotator labels blind, `on`: then all that the judge and others said is hidden, with
    `answers` only until they have given their own label; so it is on a random `share` of a judge's items,
    which measures how far its labels move theirs, but while they adjudicate (`paused`). Who shows any of it
    asks `shows`, also for tips and accessible names.
    """

    def __init__(self, opened: Opened, on: bool = False, answers: bool = False, share: float = 0.0) -> None:
        self._opened, self.on, self.answers, self.share = opened, on, answers, share
        self.paused = False
        self.given: dict[JudgmentKey, HumanLabel] = {}  # labels of this annotator that are not stored yet

    def shows(self, key: JudgmentKey) -> bool:
        return not self.hides(key.item_id) or ((self.answers or not self.on) and self.labelled(key))

    def hides(self, item_id: str) -> bool:
        """Whether an item is labelled before anything of others is shown of it."""
        run = self._opened.run
        if self.on or run is None or not self.limits:
            return self.on
        return hidden_place(item_id, run.results.run.review_seed) < self.share

    @property
    def limits(self) -> bool:
        """Whether lists keep to themselves what tells of labels: of one item at least they are hidden."""
        run = self._opened.run
        judged = run is not None and not run.results.run.by_hand
        return self.on or (judged and self.share > 0 and not self.paused)

    def labelled(self, key: JudgmentKey) -> bool:
        return key in self._labels or key in self.given

    def label(self, key: JudgmentKey) -> HumanLabel | None:
        """This annotator's own."""
        return self.given.get(key) or self._labels.get(key)

    @property
    def seen(self) -> frozenset[JudgmentKey] | None:
        """The judgments that may be shown, for a job, whose search finds nothing else; None for all."""
        run = self._opened.run
        if run is not None and self.limits and not self.on:
            judged = (each.key for column in run.results.judgments.values() for each in column)
            return frozenset(filter(self.shows, judged))
        return frozenset({*self._labels, *self.given} if self.answers else ()) if self.on else None

    @property
    def _labels(self) -> Mapping[JudgmentKey, HumanLabel]:
        run = self._opened.run
        return run.results.reviews.labels.get(self._opened.author, {}) if run else {}

    def forget_stored(self) -> None:
        self.given = {key: label for key, label in self.given.items() if key not in self._labels}

    def forget(self) -> None:
        self.given.clear()

    def forget_item(self, item_id: str) -> None:
        self.given = {key: label for key, label in self.given.items() if key.item_id != item_id}

    def row(self, row: "ReviewRow") -> "ReviewRow":
        if self.shows(row.key):
            return row
        own = self.label(row.key)
        return row.blank if own is None else replace(row.blank, preference=own, hidden=False)
