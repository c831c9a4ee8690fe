"""Jobs on the run store: all runs, one run with its dataset, its annotations and stale explanations."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.annotations.effective import Reviews
from engine.annotations.records import Annotation, AnnotationKind, Said, Undo, annotations_in
from engine.core.errors import SetupError, StoreError
from engine.core.events import CancelToken, followed
from engine.core.health import Health
from engine.core.rubric import Rubric
from engine.core.tables import Sheet, Table
from engine.settings.identity import AnyRun, StoredRun
from engine.system.write_ahead_log import WriteAheadLog
from gui.workspace.file_jobs import has_labels_for
from gui.workspace.garbage import many_records
from gui.workspace.open_run import OpenRun
from gui.workspace.threads import Job, JobControl, job

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.judging.run import Rewritten
    from engine.results.run_results import RunResults
    from engine.store.run_store import RunStore

Result = TypeVar("Result")


@dataclass(frozen=True)
class Stored:
    """What the store has taken, or never will, with the reason; all that is said now, by run and content's
    hash.
    """

    words: Sequence[Said] = ()
    refused: Sequence[tuple[Said | None, SetupError]] = ()
    reviews: Mapping[int, Reviews] = field(default_factory=dict)
    notes: Mapping[str, tuple[Annotation, ...]] = field(default_factory=dict)


@contextmanager
def opened(store_path: Path, or_none: bool = False) -> "Iterator[RunStore]":
    """The store; what is read of it while it is open may be very many records."""
    from engine.store.run_store import RunStore

    with RunStore(store_path, or_none=or_none) as store, many_records():
        yield store


def in_store(store_path: Path, ask: "Callable[[RunStore], Result]", or_none: bool = False) -> "Job[Result]":
    def work(_control: JobControl) -> Result:
        with opened(store_path, or_none) as store:
            return ask(store)

    return work


@job
def begin_by_hand(_control: JobControl, store_path: Path, dataset: "Dataset", rubric: "Rubric") -> int:
    """The number of the run in which a dataset is labelled by hand."""
    from engine.results.completeness import begin_by_hand as begin

    with opened(store_path) as store:
        return begin(dataset, rubric, store).id


@job
def labels_of_run(control: JobControl, store_path: Path, run_id: int) -> "Dataset":
    """A run's items with its annotators' labels as human labels."""
    from engine.results.run_dataset import dataset_of_run, labels_as_dataset
    from engine.results.run_results import load_results

    with opened(store_path) as store:
        results = load_results(store, run_id)
    return labels_as_dataset(results, dataset_of_run(results.run, cancel=control.cancel))


@job
def list_runs(_control: JobControl, store_path: Path) -> "Sequence[AnyRun]":
    from engine.store.opening import has_store

    if not has_store(store_path):
        return []
    with opened(store_path) as store, store.reading():
        return [*store.runs()[::-1], *store.damaged_runs()[::-1]]


@dataclass(frozen=True)
class SeenStore:
    refusal: StoreError | None


@job
def look_at_store(_control: JobControl, store_path: Path) -> SeenStore | None:
    from engine.store.opening import has_store

    if not has_store(store_path):
        return None
    with opened(store_path) as store:
        return SeenStore(store.refusal)


@job
def open_run(control: JobControl, store_path: Path, run_id: int, current: "Dataset | None") -> OpenRun:
    """A run with the items that it judged, out of the file that the run names, else out of `current`."""
    from engine.results.health import run_health
    from engine.results.run_results import load_results

    with opened(store_path) as store:
        results = load_results(store, run_id)
        results.reviews.made_ready()
        drafts = store.drafts(run_id)
    dataset, whole = _judged_items(results.run, current, control.cancel)
    if results.run.submitted and dataset is not None and len(results.judged) < len(dataset):
        results = _with_unanswered(store_path, results, dataset)
    return OpenRun(results, dataset, run_health(results), drafts, whole)


def _with_unanswered(store_path: Path, results: "RunResults", dataset: "Dataset") -> "RunResults":
    # As it is where the store cannot take them now.
    from engine.results.completeness import add_unanswered
    from engine.results.run_results import load_results

    with suppress(StoreError), opened(store_path) as store:
        with store.hold(results.run.id) as run:
            add_unanswered(store, run, dataset)
        return load_results(store, run.id)
    return results


def _judged_items(
    run: "StoredRun", current: "Dataset | None", cancel: CancelToken
) -> "tuple[Dataset | None, Dataset | None]":
    """The items of a run, None where they are gone or changed, and the whole of the file that they are in."""
    from engine.results.run_dataset import judged_items, load_as_judged

    own, whole = run.identity.dataset_path, None
    is_own = current is not None and current.path.absolute() == own.absolute()
    if current is not None and is_own and has_labels_for(current, [run.identity.asked], run.columns):
        with suppress(SetupError):
            return judged_items(run, current), current
    # Before what is loaded: another file may hold the same texts with other labels. Not before it where it
    # alone has any: gold that annotators made of this run, say.
    found = None
    with suppress(SetupError):
        whole = load_as_judged(own, [run], cancel)
        found = judged_items(run, whole)
    if current is not None and (found is None or (current.criteria and not found.criteria)):
        with suppress(SetupError):
            return judged_items(run, current), current
    return found, whole


@job
def store_words(_control: JobControl, store_path: Path, write_ahead_log: WriteAheadLog) -> Stored:
    """Store what waits in a write-ahead log, and read what annotators say then. StoreError: not now."""
    from engine.results.run_results import load_reviews
    from engine.store.annotation_rows import OF_RUN, said_of

    pending = write_ahead_log.pending  # at once: the window may be closing
    words = pending.words
    if not words:
        return Stored()
    with opened(store_path) as store:
        refused = store.take_words(pending.name, words)
        write_ahead_log.stored(words[-1].number)
        errors = {word.number: word.error for word in refused}
        said = [said_of(word.values) for word in words if word.number not in errors]
        undone = [(each.run_id, each.what.content_hash) for each in said if isinstance(each.what, Undo)]
        new = [(each.run_id, word) for each in said for word in annotations_in(each.what)]
        runs = {run_id for run_id, word in new if word.kind in OF_RUN} | {run_id for run_id, _ in undone}
        hashes = [word.content_hash for _, word in new if word.kind is AnnotationKind.NOTE]
        hashes += [content_hash for _, content_hash in undone]
        noted = store.notes(hashes)
        return Stored(
            said,
            [(word.said, word.error) for word in refused],
            {run_id: load_reviews(store, run_id).made_ready() for run_id in runs if run_id is not None},
            {content_hash: noted.get(content_hash, ()) for content_hash in hashes},
        )


@dataclass(frozen=True)
class SeenWords:
    files: Hashable = None
    mark: Hashable = None


@dataclass(frozen=True)
class FoundWords:
    """`reviews`, `notes` (by the hash of the content): all that is said now; None: no change."""

    run_id: int
    seen: SeenWords
    reviews: Reviews | None = None
    notes: Mapping[str, tuple[Annotation, ...]] = field(default_factory=dict)


@job
def look_for_words(_control: JobControl, store_path: Path, run_id: int, seen: SeenWords) -> FoundWords:
    from engine.results.run_results import load_reviews
    from engine.store.opening import files_mark, has_store

    files = files_mark(store_path)  # first: what is written while it is read is seen next time
    if (files is not None and files == seen.files) or not has_store(store_path):
        return FoundWords(run_id, seen)
    with opened(store_path) as store, store.reading():
        now = SeenWords(files, store.words_mark(run_id))
        if now.mark == seen.mark:
            return FoundWords(run_id, now)
        hashes = store.content_hashes(run_id)
        reviews = load_reviews(store, run_id).made_ready()
        return FoundWords(run_id, now, reviews, store.notes(hashes.values()))


@job
def differences(_control: JobControl, store_path: Path, first: int, other: int) -> Table:
    from engine.report.run import differences_table

    with opened(store_path) as store, store.reading():
        runs = store.run(first), store.run(other)
        efforts = {run.id: store.efforts(run.id) for run in runs}
        return differences_table(*runs, efforts, store.shared_items(first).get(other, 0))


@job
def drift(control: JobControl, store_path: Path, first: int, other: int) -> Sheet:
    from engine.metrics.run_drift import stored_drift
    from engine.report.drift import drift_sections

    with opened(store_path) as store:
        found = stored_drift(store, first, other, cancel=control.cancel)
    return Sheet("Regression check", tuple(drift_sections(found)))


@job
def health(_control: JobControl, store_path: Path, run_id: int) -> tuple[int, Health]:
    from engine.results.health import run_health
    from engine.results.run_results import load_results

    with opened(store_path) as store:
        return run_id, run_health(load_results(store, run_id))


@job
def count_stale(control: JobControl, results: "RunResults") -> int:
    found = 0
    for judgments in results.judgments.values():
        control.cancel.raise_if_requested()
        found += sum(results.is_stale(judgment) for judgment in judgments)
    return found


@job
def rewrite(control: JobControl, store_path: Path, run_id: int, dataset: "Dataset") -> "Rewritten":
    """Write again what is stale in a run, by the model that it names; reports MeasureProgress, and a stop
    keeps what was written. SetupError where dataset, model file, questions or examples are not the run's;
    ModelFileError; RunBusyError.
    """
    from engine.operations.judge import RewriteRequest
    from engine.operations.judge import rewrite as rewriting

    with opened(store_path) as store:
        run = store.run(run_id)
    # The window names no other model: that of the run is asked for as it is, gone or not.
    request = RewriteRequest(store_path, run, dataset, model=run.identity.model_path)
    return followed(rewriting(request, control.cancel, apart=control.apart), control.progress)
