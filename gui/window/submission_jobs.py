"""Jobs on submission files: what dropped files are, which dataset one answers; the self-test; diagnostics."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.column_map import ColumnMap
from engine.core.errors import FileKind, SetupError
from engine.core.events import followed
from engine.core.formatting import short_name
from engine.settings.identity import StoredRun
from engine.system.files import file_hash
from engine.system.paths import PathKind, seen_at
from gui.workspace.file_jobs import keep_columns
from gui.workspace.store_jobs import opened
from gui.workspace.threads import JobControl, job, worker

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.submission import Submission
    from engine.results.run_results import RunResults


@job
def tell(
    control: JobControl, screen: Sequence[tuple[str, str]], settings: Sequence[tuple[str, str]], store: Path
) -> str:
    from engine.operations.diagnostics import OfWindow, tell_diagnostics

    with worker(tell_diagnostics, control) as teller:
        return followed(teller.do(store, OfWindow(screen, settings)), control.report)


@job
def check_all(control: JobControl) -> None:
    from engine.operations.self_test import internet_check, self_test

    with worker(self_test, control) as tester:
        followed(tester.do(), control.report)
    control.report(internet_check("internet, in the window"))


@dataclass(frozen=True)
class SortedFiles:
    """The first dataset, submission and file of another kind among some files; `others`: how many more."""

    dataset: Path | None
    submission: Path | None
    elsewhere: tuple[Path, FileKind] | None
    others: int


@dataclass(frozen=True)
class Answered:
    """A submission that is kept with its dataset; `findings`: what keeps it from being the official one.
    `path`: the file that was opened; the store may know the same content by another name.
    """

    path: Path
    results: "RunResults"
    dataset: "Dataset"
    findings: Sequence[str]

    @property
    def run(self) -> "StoredRun":
        return self.results.run


@dataclass(frozen=True)
class Unanswered:
    """A submission of `items` items; no dataset loaded has all their ids, `best` has `shared` of them."""

    path: Path
    items: int
    best: Path | None
    shared: int


@dataclass(frozen=True)
class OpenRequest:
    """A submission. Its `dataset` is one that the user chose, read by `columns` (`remember`: as all like it
    are from now on), else the `current` or a `recent` one. `judged`: runs, each with how its file is read.
    """

    path: Path
    dataset: Path | None
    columns: ColumnMap | None = None
    remember: bool | None = None
    current: "Dataset | None" = None
    recent: Sequence[Path] = ()
    judged: "Sequence[StoredRun]" = ()


@job
def tell_apart(_control: JobControl, paths: Sequence[Path]) -> SortedFiles:
    """What some files are. What is no known kind counts as a dataset: reading it says why it is none."""
    from engine.data.file_kinds import kind_of

    dataset = submission = elsewhere = None
    for path in paths:
        kind = None
        with suppress(SetupError):
            kind = FileKind.MODEL if seen_at(path) is PathKind.FOLDER else kind_of(path)  # one of models
        if kind is FileKind.SUBMISSION:
            submission = submission or path
        elif kind in (None, FileKind.DATASET, FileKind.RUN_DATA):
            dataset = dataset or path
        else:
            elsewhere = elsewhere or (path, kind)
    opened = sum(each is not None for each in (dataset, submission, elsewhere))
    return SortedFiles(dataset, submission, elsewhere, len(paths) - opened)


@job
def open_submission(control: JobControl, store_path: Path, request: OpenRequest) -> Answered | Unanswered:
    """Keep a submission with its dataset; reports the name of each file that is looked into. SetupError."""
    from engine.data.verdicts import read_system
    from engine.results.completeness import findings
    from engine.results.completeness import open_submission as keep
    from engine.results.run_results import load_results

    path = request.path
    submission = read_system(path)
    with opened(store_path) as store:
        # The dataset with which the same submission was opened before is the first to be looked into. By
        # content: the same submission may lie under another name today.
        content, runs = file_hash(path), store.runs()[::-1]
        same = (run.identity for run in runs if run.submitted and run.identity.model_hash == content)
        recent = tuple(dict.fromkeys([*(identity.dataset_path for identity in same), *request.recent]))
        found = _dataset_of(submission, replace(request, recent=recent, judged=runs), control)
        if isinstance(found, Unanswered):
            return found
        results = load_results(store, keep(path, found, store).id)
    return Answered(path, results, found, findings(results, found))


@job
def find_gaps(_control: JobControl, results: "RunResults", dataset: "Dataset") -> list[str]:
    """What keeps a run, as it is now, from being the official submission for its dataset."""
    from engine.results.completeness import findings

    return findings(results, dataset)


def _dataset_of(
    submission: "Submission", request: OpenRequest, control: JobControl
) -> "Dataset | Unanswered":
    """The dataset that was named, else the first that has all ids of a submission. ColumnsError."""
    from engine.data.dataset import load_dataset
    from engine.results.completeness import share_answered
    from engine.results.run_dataset import load_as_judged

    current, chosen = request.current, request.dataset
    if chosen is not None and request.columns is not None:
        dataset = load_dataset(chosen, cancel=control.cancel, columns=request.columns)
        keep_columns(dataset, request.remember)
        return dataset
    if chosen is not None:
        is_open = current is not None and current.path.absolute() == chosen.absolute()
        return current if current and is_open else load_as_judged(chosen, request.judged, control.cancel)
    best, shared = None, 0.0
    for dataset in _datasets(request, control):
        share = share_answered(submission, set(dataset.ids))
        if share == 1:
            return dataset
        if share > shared:
            best, shared = dataset.path, share
    count = len(submission.rows)
    return Unanswered(request.path, count, best, round(shared * count))


def _datasets(request: OpenRequest, control: JobControl) -> "Iterator[Dataset]":
    from engine.results.run_dataset import load_as_judged

    current = request.current
    if current is not None:
        yield current
    for path in request.recent:
        if current is None or path.absolute() != current.path.absolute():
            control.report(short_name(path.name))
            with suppress(SetupError):
                yield load_as_judged(path, request.judged, control.cancel)
