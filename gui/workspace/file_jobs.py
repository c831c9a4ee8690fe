"""Jobs on files: a dataset read, its items divided into slices and measured so, what is missing of a list.
All *_jobs.py run on worker threads, and import what is heavy there alone: the window is visible at once.
"""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.column_map import ColumnMap
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.rubric import ELOQUENT, Rubric, rubric_for_labels
from engine.core.tables import Column, Estimate, Kind, Row, Section, Table
from engine.system.paths import PathKind, seen_at
from gui.workspace.open_run import measured_mark
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.slices import Noted, Slice, Slicing
    from engine.metrics.evaluation import SlicedMeasures
    from engine.metrics.matching import Matched
    from engine.ranking.weighted_scoring import SlicedWeightedScoring
    from engine.results.run_results import RunResults
    from engine.settings.identity import StoredRun


@dataclass(frozen=True)
class Loading:
    path: Path
    rows: int


@job
def load(
    control: JobControl,
    path: Path,
    columns: ColumnMap | None = None,
    remember: bool | None = None,
    judged: "Sequence[StoredRun]" = (),
    *,
    moved: bool = False,
    rubric: Rubric = ELOQUENT,
) -> "Dataset":
    """Read a dataset; reports Loading. `columns`: by which a foreign file is read; `remember`: keep or forget
    them, None neither. Without `columns` the file of one of the `judged` runs is read as that run read it,
    with `moved` also where it lies elsewhere. `rubric`: whose criteria labels are on.
    """
    from engine.data.dataset import load_dataset
    from engine.results.run_dataset import load_as_judged

    def report(rows: int) -> None:
        control.report(Loading(path, rows))

    if columns is None:
        dataset = load_as_judged(path, judged, control.cancel, report, moved=moved, rubric=rubric)
    else:
        dataset = load_dataset(path, rubric, control.cancel, report, columns)
    keep_columns(dataset, remember)
    # Both are needed soon, and take a moment for many items.
    _ = dataset.hash, dataset.criteria
    control.cancel.raise_if_requested()
    return dataset


def keep_columns(dataset: "Dataset", remember: bool | None) -> None:
    from engine.data import recognition

    if dataset.columns is not None and remember is not None:
        if remember:
            recognition.remember(dataset.file_columns, dataset.columns)
        else:
            recognition.forget(dataset.file_columns)


def has_labels_for(dataset: "Dataset", asked: Sequence[Rubric], columns: ColumnMap | None = None) -> bool:
    """Whether all labels of a file on what runs were asked were read; `columns`: by which one read it."""
    wanted = rubric_for_labels(asked).names if asked else ()
    lacking = {f"{name}_preference" for name in wanted if name not in dataset.rubric.names}
    maps = (dataset.columns, columns)
    return not lacking & {*dataset.other_columns, *(name for one in maps if one for name in one.source_of)}


def with_labels_for(dataset: "Dataset", asked: Sequence[Rubric], cancel: CancelToken) -> "Dataset":
    """The same items with all labels of their file on what runs were asked, if it can be read again."""
    from engine.data.dataset import load_dataset

    if has_labels_for(dataset, asked):
        return dataset
    with suppress(SetupError):
        again = load_dataset(dataset.path, rubric_for_labels(asked), cancel, columns=dataset.columns)
        again = again if len(again) == len(dataset) else again.only(frozenset(dataset.ids))
        if again.hash == dataset.hash:
            return again
    return dataset


@dataclass(frozen=True)
class Divided:
    """By what items can be divided, with titles; how they are. `by_annotators`: by what annotators noted."""

    titles: Mapping[str, str]
    slicing: "Slicing | None"
    by_annotators: bool = False


@dataclass(frozen=True)
class Chosen:
    part: "Slice"
    words: str


@job
def divide(
    _control: JobControl,
    dataset: "Dataset",
    gold: "Dataset | None",
    by: str,
    *,
    store_path: Path,
    author: str | None,
) -> Divided:
    """Divide the items of a dataset, labels by those of `gold`; by nothing that the dataset does not have."""
    from engine.data.slices import LABEL, divisions, is_by_annotators, slicing

    noted = _noted(dataset, store_path, author)
    known = divisions(dataset, noted)
    own = {name: title for name, title in known.items() if not name.startswith(LABEL)}
    labels = divisions(dataset if gold is None else gold)
    human = {name: title for name, title in labels.items() if name.startswith(LABEL)}
    source = gold if gold is not None and by in human else dataset
    found = slicing(source, by, noted) if by in own or by in human else None
    return Divided({**own, **human}, found, found is not None and is_by_annotators(by))


def _noted(dataset: "Dataset", store_path: Path, author: str | None) -> "Noted":
    from engine.data.slices import Noted
    from engine.results.run_dataset import noted_of_items
    from engine.store import opening
    from engine.store.run_store import RunStore

    with suppress(SetupError):
        if opening.has_store(store_path):
            with RunStore(store_path) as store:
                return noted_of_items(store, dataset, author)
    return Noted()


@job
def missing(control: JobControl, paths: Sequence[Path]) -> frozenset[Path]:
    gone = set()
    for path in paths:
        control.cancel.raise_if_requested()
        if seen_at(path) is PathKind.NOTHING:
            gone.add(path)
    return frozenset(gone)


DRAWN = "drawn"
"""The key of the column in which the window draws accuracies and their intervals."""

_DRAWN = Column(DRAWN, "0 to 100 %", Kind.ESTIMATE, "The accuracy as a point, its 95 % interval as a line.")


@dataclass(frozen=True)
class Sliced:
    """Systems on each slice. `table`: a row for each; `below`: as many rows for each of them. `measured`,
    `weighed`: of each system, by its place and by its name. `of`: what was measured, by value or itself.
    `in_short`: what to do by it; `said`: of the best slice. `shares`: of labels, corrected by human ones.
    """

    division: "Slicing"
    table: Table
    below: Table | None
    of: "Hashable | Sequence[Matched]"
    in_short: str
    measured: "Sequence[SlicedMeasures]"
    weighed: "Mapping[str, SlicedWeightedScoring]" = field(default_factory=dict)
    said: Sequence[str] = ()
    shares: Sequence[Section] = ()

    @property
    def parts(self) -> "Sequence[Slice]":
        return [found.part for found in self.measured[0].slices]


@job
def measure_slices(
    control: JobControl,
    results: "RunResults",
    gold: "Dataset | None",
    slicing: "Slicing",
    known: Sliced | None = None,
) -> Sliced:
    """All slices of a run; what is `known` where that would be the same."""
    from engine.metrics import evaluation
    from engine.report.slices import criterion_slice_table, slice_table, slices_in_short, slices_in_words

    mark, matched = measured_mark(results, gold), _matched(results, gold)
    shares = _shares(matched, slicing) if matched is not None else []
    if known is not None and (known.of, known.division) == (mark, slicing):
        # A label that is accepted changes no measure, but corrects the shares.
        return known if known.shares == shares else replace(known, shares=shares)
    if matched is None:
        measured = evaluation.count_slices(results.answered, slicing)
    else:
        measured = evaluation.measure_slices(matched, slicing, control.cancel)
    table, below = slice_table(measured), None
    if any(found.measures for found in measured.slices):
        below = criterion_slice_table(measured)
        # With a column to draw in, after the interval.
        place = [column.key for column in table.columns].index("interval") + 1
        columns = (*table.columns[:place], _DRAWN, *table.columns[place:])
        rows: list[Row] = []
        for row, found in zip(table.rows, measured.slices, strict=True):
            drawn = None if found.accuracy is None else Estimate(found.accuracy, found.interval)
            rows.append([*row[:place], drawn, *row[place:]])
        table = replace(table, columns=columns, rows=rows)
    in_short, said = slices_in_short(measured), slices_in_words(measured)
    return Sliced(slicing, table, below, mark, in_short, [measured], said=said, shares=shares)


@job
def compare_slices(
    control: JobControl, matched: "Sequence[Matched]", slicing: "Slicing", known: Sliced | None = None
) -> Sliced:
    """All slices of systems that are compared; below, how often A and B win. `known`: as above."""
    from engine.metrics.evaluation import measure_slices
    from engine.ranking.weighted_scoring import weigh_by_default
    from engine.report import slices as reports

    if known is not None and known.of is matched and known.division == slicing:
        return known
    measured = [measure_slices(one, slicing, control.cancel) for one in matched]
    weighed = {}
    for one in matched:
        control.cancel.raise_if_requested()
        if (found := weigh_by_default(one, slicing)) is not None:
            weighed[one.system.name] = found
    table = reports.compared_slice_table(matched, measured)
    below = reports.compared_win_table(measured[0], weighed) if weighed else None
    in_short = reports.compared_slices_in_short(matched, measured)
    said = reports.compared_slices_in_words(matched, measured)
    return Sliced(slicing, table, below, matched, in_short, measured, weighed, said)


def _matched(results: "RunResults", gold: "Dataset | None") -> "Matched | None":
    from engine.metrics.matching import match, system_of_run

    if gold is not None and results.judged:
        with suppress(SetupError):  # the scores say why
            return match(system_of_run(results), gold, partial=True)
    return None


def _shares(matched: "Matched", slicing: "Slicing") -> list[Section]:
    """The shares of labels, corrected by human ones; nothing where no slice has a random part labelled."""
    from engine.ranking.labelled_part import CorrectedShares, corrected_shares
    from engine.report.correction import share_sections

    found = corrected_shares(matched.system, matched.dataset, [slicing]).items()
    by_slice = ((name, one) for name, one in found if isinstance(one, CorrectedShares))
    return share_sections({name: one for name, one in by_slice if len(one.shares) > 1})
