"""The items that a run judged, found again in the file that they came from; the annotations of them.

Knows: what makes items those of a run. Does not know: models, how a run was made, windows.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.column_map import ColumnMap
from engine.core.errors import SetupError
from engine.core.items import HumanLabel
from engine.core.judgments import JudgmentKey
from engine.core.people import standing_notes, tags_together
from engine.core.remedies import Hint, Setting, Step
from engine.core.rubric import Rubric, rubric_for_labels
from engine.core.run_records import StoredRun
from engine.data.dataset import Dataset, load_dataset
from engine.data.slices import Noted
from engine.decisions.random_part import RandomPart, random_part
from engine.decisions.run_results import RunResults, load_reviews
from engine.store.row_gate import DamagedError
from engine.store.run_store import RunStore
from engine.system.places import is_there, real_path


def dataset_of_run(
    run: StoredRun,
    path: Path | None = None,
    cancel: CancelToken | None = None,
    columns: ColumnMap | None = None,
) -> Dataset:
    """The items of a run out of its dataset's file, or out of `path`, where that file lies now.

    `columns`: by which a foreign file is read; None for those that the run was judged with, or, where these
    do not give its items, for what is remembered.
    SetupError where the file is missing, cannot be read or holds other items; Cancelled.
    """
    path = path or run.identity.dataset_path
    if not is_there(path):
        raise SetupError(
            f"{run.title} is of {run.identity.dataset_path.name}; {path} is not there.",
            Hint("Put the dataset back there, or ", Step.FIND_DATASET, "."),
        )
    own = run.columns if columns is None else None
    rubric = rubric_for_labels([run.identity.asked])
    if own is not None:
        try:
            return judged_items(run, load_dataset(path, rubric, cancel, columns=own))
        except SetupError as refused:
            # The file may have been written anew with other columns, and the same items.
            with suppress(SetupError):
                return judged_items(run, load_dataset(path, rubric, cancel))
            raise refused
    return judged_items(run, load_dataset(path, rubric, cancel, columns=columns))


def load_as_judged(
    path: Path,
    runs: Iterable[StoredRun],
    cancel: CancelToken | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    moved: bool = False,
    rubric: Rubric | None = None,
) -> Dataset:
    """A dataset that may be the file of one of some runs: read by the columns that the first such run was
    judged with, where these still fit it; else as any other. `moved`: also a file that lies elsewhere.
    `rubric`: on whose criteria its labels are; None for those that the runs were asked.

    Raises what load_dataset raises.
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
    return {
        item_id: cells
        for item_id, cells in zip(dataset.ids, dataset.cells_beside(), strict=True)
        if item_id in ids
    }


def human_labels(results: RunResults, dataset: Dataset) -> dict[JudgmentKey, HumanLabel]:
    """Of the items that the run judged as they are in the dataset."""
    return {
        JudgmentKey(item.id, criterion): gold.label
        for item in dataset.same_items(results.content_hashes)
        for criterion, gold in item.gold.items()
        if gold.label is not None
    }


def noted_of_items(store: RunStore, dataset: Dataset, author: str | None = None) -> Noted:
    """The annotations of the items of a dataset by which these can be divided, of whatever run; with an
    `author` the tags that they gave last, and their own random samples.
    """
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
    """The random samples of all runs, by the hashes of the contents of items instead of their ids."""
    labelled: set[str] = set()
    skipped: set[str] = set()
    for run in store.runs():
        with suppress(DamagedError):  # reported if that run is opened
            part = random_part(load_reviews(store, run.id), author)
            hashes = store.content_hashes(run.id) if part.labelled else {}
            labelled |= {hashes[item_id] for item_id in part.labelled}
            skipped |= {hashes[item_id] for item_id in part.skipped}
    return RandomPart(frozenset(labelled), frozenset(skipped - labelled))
