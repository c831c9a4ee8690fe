"""Jobs on the run store: which runs there are, one run with its dataset, what people say of it.

Knows: what a run is opened with. Does not know: windows.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError, StoreError
from engine.core.health import Health
from engine.core.judgments import ItemNote, JudgmentKey, NewOverride, NewReview
from engine.core.people import Reviews
from gui.work.file_jobs import has_labels_for
from gui.work.garbage import many_records
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.core.run_records import AnyRun, StoredRun
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults
    from engine.store.run_store import RunStore

Result = TypeVar("Result")
ReviewsJob = Job[Reviews]
"""Changes what people say of a run, and gives all that is said of it then."""


@dataclass(frozen=True)
class NotedItem:
    """What is noted of an item now; `note` is None where nothing is."""

    content_hash: str
    note: ItemNote | None


def in_store(store_path: Path, ask: "Callable[[RunStore], Result]", or_none: bool = False) -> "Job[Result]":
    """What becomes of asking the store, or changing it; `or_none`: see RunStore."""

    def work(_control: JobControl) -> Result:
        from engine.store.run_store import RunStore

        with RunStore(store_path, or_none=or_none) as store:
            return ask(store)

    return work


def list_runs(store_path: Path) -> "Job[Sequence[AnyRun]]":
    """All runs, the newest first; none where there is no store yet."""

    def work(_control: JobControl) -> "Sequence[AnyRun]":
        from engine.store.opening import is_there
        from engine.store.run_store import RunStore

        if not is_there(store_path):
            return []
        with RunStore(store_path) as store, store.reading():
            return [*store.runs()[::-1], *store.damaged_runs()[::-1]]

    return work


@dataclass(frozen=True)
class SeenStore:
    """A store that is there; `refusal`: what is said to whoever would change it, where nobody can."""

    refusal: StoreError | None


def look_at_store(store_path: Path) -> "Job[SeenStore | None]":
    """What the window must know of the store at its start; None where there is none yet."""

    def work(_control: JobControl) -> SeenStore | None:
        from engine.store.opening import is_there
        from engine.store.run_store import RunStore

        if not is_there(store_path):
            return None
        with RunStore(store_path) as store:
            return SeenStore(store.refusal)

    return work


def open_run(
    store_path: Path, run_id: int, at_hand: "Dataset | None"
) -> "Job[tuple[RunResults, Dataset | None, Health]]":
    """A run, the items that it judged, out of the file that the run names, else out of `at_hand`, and what
    speaks against its judge.
    """

    def work(control: JobControl) -> "tuple[RunResults, Dataset | None, Health]":
        from engine.decisions.health import run_health
        from engine.decisions.run_results import load_results
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store, many_records():
            results = load_results(store, run_id)
        return results, _judged_items(results.run, at_hand, control.cancel), run_health(results)

    return work


def _judged_items(run: "StoredRun", at_hand: "Dataset | None", cancel: CancelToken) -> "Dataset | None":
    from engine.decisions.run_dataset import dataset_of_run, judged_items

    own = run.identity.dataset_path
    is_own = at_hand is not None and at_hand.path.absolute() == own.absolute()
    if at_hand is not None and is_own and has_labels_for(at_hand, [run.identity.asked], run.columns):
        with suppress(SetupError):
            return judged_items(run, at_hand)
    # Before what is at hand: another file may hold the same texts with other labels, or with none.
    with suppress(SetupError):
        return dataset_of_run(run, cancel=cancel)
    if at_hand is not None:
        with suppress(SetupError):
            return judged_items(run, at_hand)
    return None  # gone or changed: the page says so and asks for the file


def override(store_path: Path, run_id: int, new: NewOverride) -> ReviewsJob:
    """Store an override."""
    return _said(store_path, run_id, lambda store: store.override(run_id, new))


def undo_override(store_path: Path, run_id: int, key: JudgmentKey, author: str) -> ReviewsJob:
    """Take a person's last override of a judgment back."""
    return _said(store_path, run_id, lambda store: store.undo_override(run_id, key, author))


def review(store_path: Path, run_id: int, new: NewReview) -> ReviewsJob:
    """Store how far a person is with an item, and what he confirms."""
    return _said(store_path, run_id, lambda store: store.review(run_id, new))


def draw_sample_by(store_path: Path, run_id: int, seed: int) -> Job[None]:
    """Draw the random sample of a run by another seed from now on."""
    return in_store(store_path, lambda store: store.draw_sample_by(run_id, seed))


def _said(store_path: Path, run_id: int, change: "Callable[[RunStore], object]") -> ReviewsJob:
    def work(_control: JobControl) -> Reviews:
        from engine.decisions.run_results import load_reviews
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store, many_records():
            change(store)
            return load_reviews(store, run_id)

    return work


def note(store_path: Path, content_hash: str, text: str, tags: Sequence[str], author: str) -> Job[NotedItem]:
    """Note something of an item."""

    def change(store: "RunStore") -> NotedItem:
        store.note(content_hash, text, tags, author)
        return NotedItem(content_hash, store.notes([content_hash]).get(content_hash))

    return in_store(store_path, change)


def known_tags(store_path: Path) -> Job[Sequence[str]]:
    """The tags in use, the most frequent first."""
    return in_store(store_path, lambda store: store.tags(), or_none=True)
