"""The items that a run judged, found again in their file; its annotations as human labels of them."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from engine.annotations.effective import standing_notes, tags_together
from engine.core.column_map import ColumnMap, annotator_column, kept_column, label_column, label_columns
from engine.core.errors import Hint, Setting, SetupError, Step
from engine.core.events import CancelToken
from engine.core.formatting import capitalised, counted, listed
from engine.core.items import PREFERENCES, Gold, HumanLabel
from engine.core.judgments import AnyJudgment, JudgmentKey
from engine.core.rubric import Rubric, rubric_for_labels
from engine.data.arrow_arrays import text_array
from engine.data.dataset import REQUIRED_COLUMNS, Dataset, load_dataset
from engine.data.file_kinds import IN_SAMPLE, origin_cell, origin_column
from engine.data.other_columns import distinct_names
from engine.data.slices import Noted
from engine.data.submission import Cell
from engine.results.completeness import RandomPart, random_part
from engine.results.run_results import RunResults, load_reviews
from engine.settings.identity import StoredRun
from engine.store.row_validator import DamagedError
from engine.store.run_store import RunStore
from engine.system.paths import is_there, real_path


def dataset_of_run(
    run: StoredRun,
    path: Path | None = None,
    cancel: CancelToken | None = None,
    columns: ColumnMap | None = None,
) -> Dataset:
    """The items of a run out of its dataset's file, or out of `path`, where that file lies now. `columns`: by
    which a foreign file is read; None for those of the run, or, where these do not give its items, those
    remembered. SetupError where the file is missing, cannot be read or holds other items; Cancelled.
    """
    path = path or run.identity.dataset_path
    if not is_there(path):
        raise SetupError(
            f"{run.title} is of {run.identity.dataset_path.name}; {path} is not there.",
            Hint("Put the dataset back there, or ", Step.FIND_DATASET, "."),
        )
    own = run.columns if columns is None else None
    rubric = rubric_for_labels([run.identity.asked])
    try:
        return judged_items(run, load_dataset(path, rubric, cancel, columns=own or columns))
    except SetupError:
        # The file may have been written anew with other columns, and the same items.
        with suppress(SetupError):
            if own is not None:
                return judged_items(run, load_dataset(path, rubric, cancel))
        raise


def load_as_judged(
    path: Path,
    runs: Iterable[StoredRun],
    cancel: CancelToken | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    moved: bool = False,
    rubric: Rubric | None = None,
) -> Dataset:
    """A dataset that may be the file of one of some runs: read by the columns of the first such run, where
    these still fit it; else as any other. `moved`: also a file that lies elsewhere. `rubric`: on whose
    criteria its labels are; None for those that the runs were asked. Raises what load_dataset raises.
    """
    runs = list(runs)
    rubric = rubric or rubric_for_labels([run.identity.asked for run in runs])
    here = real_path(path)
    own = [run.columns for run in runs if moved or real_path(run.identity.dataset_path) == here]
    for columns in dict.fromkeys(filter(None, own)):
        with suppress(SetupError):
            return load_dataset(path, rubric, cancel, progress, columns)
    return load_dataset(path, rubric, cancel, progress)


def judged_items(run: StoredRun, dataset: Dataset) -> Dataset:
    """The part of a dataset that a run judged; SetupError where it holds other items."""
    items, chosen = run.identity.items, run.identity.chosen
    part = dataset
    if len(dataset) > items:
        part = dataset.only(frozenset(chosen)) if chosen else dataset.head(items)
    if part.hash != run.identity.dataset_hash:
        raise SetupError(
            f"{dataset.name} does not have the items of {run.called}: ids, texts or their order differ.",
            _hint(run, dataset),
        )
    return part


def _hint(run: StoredRun, dataset: Dataset) -> Hint:
    file = f"Use the dataset that was judged. Its file was {run.identity.dataset_path}"
    if dataset.columns is None:
        return Hint(file)
    how = Setting.COLUMNS.at(dataset.columns.columns_text)
    return Hint(f"{file}, and it must be read by the same columns as for the run; now they are ", how)


def cells_beside(dataset: Dataset, ids: Container[str]) -> dict[str, Mapping[str, str]]:
    """The cells of a dataset's other columns, by the ids of some items, in the order of its file."""
    of_all = zip(dataset.ids, dataset.cells_beside(), strict=True)
    return {item_id: cells for item_id, cells in of_all if item_id in ids}


def human_labels(results: RunResults, dataset: Dataset) -> dict[JudgmentKey, HumanLabel]:
    """Of the items that the run judged as they are in the dataset."""
    return {
        JudgmentKey(item.id, criterion): gold.label
        for item in dataset.same_items(results.content_hashes)
        for criterion, gold in item.gold.items()
        if gold.label is not None
    }


def noted_of_items(store: RunStore, dataset: Dataset, author: str | None = None) -> Noted:
    """The annotations of whatever run by which the items of a dataset can be divided, or an `author`'s."""
    with store.reading():
        part = _random_part(store, author)
        if not part.labelled and not store.tags():
            return Noted()
        hashes = {item.id: item.content_hash for item in dataset}
        notes = store.notes(hashes.values())
    tags: dict[str, tuple[str, ...]] = {}
    for item_id, content in hashes.items():
        standing = standing_notes(notes.get(content, ()))
        if given := tags_together(note for note in standing if author in (None, note.author)):
            tags[item_id] = given
    return Noted(
        tags,
        frozenset(item_id for item_id, content in hashes.items() if content in part.labelled),
        frozenset(item_id for item_id, content in hashes.items() if content in part.skipped),
    )


def _random_part(store: RunStore, author: str | None) -> RandomPart:
    """The random samples of all runs, by the hashes of the contents of items."""
    labelled: set[str] = set()
    skipped: set[str] = set()
    for run in store.runs():
        with suppress(DamagedError):  # reported if that run is opened
            part = random_part(load_reviews(store, run.id), author)
            hashes = store.content_hashes(run.id) if part.labelled else {}
            labelled |= {hashes[item_id] for item_id in part.labelled}
            skipped |= {hashes[item_id] for item_id in part.skipped}
    return RandomPart(frozenset(labelled), frozenset(skipped - labelled))


@dataclass(frozen=True)
class LabelledDataset:
    """`columns`: what is to be written, each with a cell for each item. `sentences`: what is to be known."""

    columns: Mapping[str, Sequence[Cell]]
    sentences: Sequence[str]


# What the judge alone said is no human label: it is omitted, unless it is asked for, and then a column says
# of each label whose it is.
def labelled_dataset(results: RunResults, dataset: Dataset, with_judge: bool = False) -> LabelledDataset:
    """The items of a run with the effective labels as human labels, and all other columns of the dataset.

    A label counts that an annotator gave or confirmed; without one the cell is empty, or with `with_judge`
    the judge's. So do explanations, but one that was written for another label is omitted. Beside them stand,
    for each criterion of the run:

    - `<criterion>_preference|<name>`: what each annotator said, read back as one of several annotators;
    - `<criterion>_share_<label>`: how many of them gave each label, 0 to 1;
    - `<criterion>_label_by`, `<criterion>_explanation_by`: whose they are;
    - `<criterion>_origin`: how annotators came to the item, as `label_origins` reads it.

    Labels that the dataset had itself on these criteria are kept under other names, `_before` after theirs;
    those on other criteria stay what they are. SetupError where no label is an annotator's and `with_judge`
    is not given.
    """
    made = {name: _Criterion(results, dataset, name, with_judge) for name in results.judgments}
    if not with_judge and not any(one.of_annotators for one in made.values()):
        raise SetupError(
            f"There are no human labels in {results.run.called} to write.",
            Hint("Label or accept some first, on the page Review; or ", Step.WITH_JUDGE, "."),
        )
    columns: dict[str, Sequence[Cell]] = {name: _texts(dataset, name) for name in REQUIRED_COLUMNS}
    for one in made.values():
        columns |= one.labels
    for one in made.values():
        columns |= one.beside
    sampled = list(map(random_part(results.reviews).of, dataset.ids))
    columns |= {IN_SAMPLE: sampled} if any(sampled) else {}
    old = [name for name in dataset.table.column_names if label_column(name) in label_columns(made)]
    kept = [name for name in dataset.table.column_names if name not in {*columns, *old}]
    columns |= {name: _texts(dataset, name) for name in kept}
    before = {kept_column(name): _texts(dataset, name) for name in old if any(_texts(dataset, name))}
    columns |= before
    # What it says of how annotators came to the labels that it had is not said of these.
    taken = [*columns, *label_columns(made), *map(origin_column, made)]
    beside = distinct_names(dataset.other_columns, taken)
    columns |= {called: _texts(dataset, name) for name, called in beside.items()}
    return LabelledDataset(columns, list(_sentences(results, dataset, made, list(before))))


def labels_as_dataset(results: RunResults, dataset: Dataset) -> Dataset:
    """The items of a run with its annotators' labels as their human labels, under the run's number: its
    name may be none of a file. SetupError where no label is an annotator's.
    """
    made = labelled_dataset(results, dataset).columns
    wanted = {*REQUIRED_COLUMNS, *label_columns(results.judgments)}
    kept = {name: cells for name, cells in made.items() if name in wanted or label_column(name) in wanted}
    texts = {name: text_array([str(cell or "") for cell in cells]) for name, cells in kept.items()}
    path = dataset.path.with_name(capitalised(results.run.in_short))
    return replace(dataset, path=path, table=pa.table(texts), notices=(), columns=None)


def written_otherwise(path: Path, made: LabelledDataset, dataset: Dataset) -> list[str]:
    """What is read of the file otherwise than it was written, by remembered columns; a sentence each."""
    try:
        found = load_dataset(path, dataset.rubric)
    except SetupError as error:
        return [f"It cannot be read again: {error.problem}"]
    labels = [name for name in made.columns if label_column(name) in label_columns(dataset.rubric.names)]
    if found.hash == dataset.hash and all(
        found.texts(name).to_pylist() == [cell or "" for cell in made.columns[name]] for name in labels
    ):
        return []
    how = f": by the remembered columns, {found.columns.in_words}" if found.columns else ""
    return [f"It is read differently from how it was written{how}."]


class _Row(NamedTuple):
    """What is written of one item on a criterion; `behind`: who gave the label, nobody for the judge's."""

    given: Mapping[str, HumanLabel] = {}
    behind: Sequence[str] = ()
    label: HumanLabel | None = None
    explanation: str | None = None
    explained_by: str | None = None
    origin: str | None = None
    stale: bool = False  # an explanation is omitted, which was written for another label


class _Criterion:
    """What is written of one criterion, a row for each item of the dataset."""

    def __init__(self, results: RunResults, dataset: Dataset, name: str, with_judge: bool) -> None:
        self._name, self._judge = name, f"{results.run.identity.model_name} (the judge)"
        there = {item.id for item in dataset.same_items(results.content_hashes)}
        by_id = {judgment.item_id: judgment for judgment in results.judgments[name]}
        part = random_part(results.reviews)
        self._rows = [
            self._row(results, by_id[item_id], with_judge, part.of(item_id)) if item_id in there else _Row()
            for item_id in dataset.ids
        ]
        self.authors = set().union(*(row.behind for row in self._rows))
        self.of_annotators = sum(bool(row.behind) for row in self._rows)
        self.of_judge = sum(row.label is not None for row in self._rows) - self.of_annotators
        self.stale = sum(row.stale for row in self._rows)

    def _row(self, results: RunResults, judgment: AnyJudgment, with_judge: bool, in_sample: str) -> _Row:
        key, override = judgment.key, results.overrides.get(judgment.key)
        labels = results.reviews.labels
        given = {name: of_one[key] for name, of_one in labels.items() if key in of_one}
        behind = results.label_by(judgment)
        label = results.label(judgment) if with_judge or behind else None
        told = with_judge or (override is not None and override.explanation is not None)
        stale = told and results.is_stale(judgment)
        text = results.explanation(judgment) if told and not stale else None
        by = text and ((override.text_by if override else None) or self._judge)
        origins = [each.origin for each in results.reviews.given_on(key).values()]
        origin = origin_cell(origins, in_sample) or None
        return _Row(given, behind if label else (), label, text, by, origin, stale)

    @property
    def labels(self) -> Mapping[str, Sequence[Cell]]:
        return {
            f"{self._name}_preference": [row.label for row in self._rows],
            f"{self._name}_explanation": [row.explanation for row in self._rows],
        }

    @property
    def beside(self) -> Mapping[str, Sequence[Cell]]:
        """What each annotator said, how many gave each label, whose label and explanation these are."""
        label, golds = f"{self._name}_preference", [Gold(annotators=row.given) for row in self._rows]
        names = sorted(set().union(*(row.given for row in self._rows)))
        columns: dict[str, Sequence[Cell]] = {
            annotator_column(label, name): [row.given.get(name) for row in self._rows] for name in names
        }
        for each in PREFERENCES if names else ():
            columns[f"{self._name}_share_{each}"] = [
                gold.shares.get(each, 0.0) if gold.annotators else None for gold in golds
            ]
        facts: dict[str, Sequence[Cell]] = {
            f"{self._name}_label_by": [
                (", ".join(row.behind) or self._judge) if row.label else None for row in self._rows
            ],
            f"{self._name}_explanation_by": [row.explained_by for row in self._rows],
            origin_column(self._name): [row.origin for row in self._rows],
        }
        return columns | {name: cells for name, cells in facts.items() if any(cells)}


def _texts(dataset: Dataset, column: str) -> list[str]:
    texts: list[str] = dataset.texts(column).to_pylist()
    return texts


def _sentences(
    results: RunResults, dataset: Dataset, made: Mapping[str, _Criterion], kept: Sequence[str]
) -> Iterator[str]:
    cells = len(dataset) * len(made)
    annotator_names = sorted(set().union(*(one.authors for one in made.values())))
    of_annotators = sum(one.of_annotators for one in made.values())
    of_judge = sum(one.of_judge for one in made.values())
    by = f", by {listed(annotator_names, shown=str)}" if annotator_names else ""
    yield f"{of_annotators:,} of {cells:,} labels are human ones{by}."
    if of_judge:
        judge = results.run.identity.model_name
        yield (
            f"{of_judge:,} labels are of {judge}, the judge, as requested: the columns _label_by show which."
        )
    if empty := cells - of_annotators - of_judge:
        yield f"{counted(empty, 'cell is', 'cells are')} empty: no annotator gave or accepted a label there."
    if stale := sum(one.stale for one in made.values()):
        were = counted(stale, "explanation was", "explanations were")
        yield f"{were} omitted as stale: written for another label than the effective one."
    if kept:
        yield f"The dataset's own values are kept in separate columns: {listed(kept, 2, str)}."
