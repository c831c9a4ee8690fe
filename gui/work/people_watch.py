"""Notices that another window, or a command, changed annotations of the open run.

The store is looked at again and again, as no system tells of all changes on all disks: by the times of its
files, which takes next to nothing; only where these have changed, it is opened.

Knows: when to look, what is different then. Does not know: the store, who shows it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance, Slot

from engine.core.judgments import Confirmation, ItemNote, JudgmentKey, Override, ReviewMark
from engine.core.people import Reviews
from gui.work import store_jobs
from gui.work.lanes import EngineThreads, Task, ThreadName
from gui.work.open_run import OpenRun

if TYPE_CHECKING:
    from engine.decisions.run_results import RunResults

_TICK_MS = 700
_MOST_TOLD = 40  # items; of more than these a page is told once


class AnnotationWatch(QObject):
    """Looks at one run, as long as it is open."""

    found = Signal(object)  # a store_jobs.FoundWords with reviews

    def __init__(self, threads: EngineThreads, store_path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._threads, self._store_path = threads, store_path
        self._run_id: int | None = None
        self._seen = store_jobs.SeenWords()
        self._task: Task | None = None
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self.look)

    def follow(self, run_id: int | None) -> None:
        """Look at a run that was read just now; at none for None."""
        # What was annotated while it was read may not be in what was read.
        self._run_id, self._seen = run_id, store_jobs.SeenWords()
        if run_id is None:
            self._timer.stop()
        else:
            self._timer.start()

    @Slot()
    def look(self) -> None:
        """Look now, unless that is under way."""
        if self._run_id is not None and self._task is None:
            job = store_jobs.look_for_words(self._store_path, self._run_id, self._seen)
            self._task = task = self._threads.start(ThreadName.STORE, job)
            # What fails is tried again, and said by whatever the user wants of the store.
            task.finished.connect(self._take)
            task.ended.connect(self._follow_end)

    @Slot(object)
    def _take(self, found: store_jobs.FoundWords) -> None:
        if found.run_id == self._run_id:
            self._seen = found.seen
            if found.reviews is not None:
                self.found.emit(found)

    @Slot()
    def _follow_end(self) -> None:
        self._task = None


class _Told(Protocol):
    run_changed: SignalInstance
    overrides_changed: SignalInstance
    reviewed: SignalInstance
    noted: SignalInstance


@dataclass(frozen=True)
class SaidSince:
    """What is different: judgments by their keys, items by their ids, notes by the hash of the content."""

    keys: frozenset[JudgmentKey]
    items: frozenset[str]
    noted: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.keys or self.items or self.noted)

    def tell(self, space: "_Told") -> None:
        """Let the pages know."""
        if len(self.items) > _MOST_TOLD:
            space.run_changed.emit()
        else:
            for key in sorted(self.keys):
                space.overrides_changed.emit(key)
            for item_id in sorted(self.items):
                space.reviewed.emit(item_id)
        for content_hash in sorted(self.noted):
            space.noted.emit(content_hash)


def brought_up(run: OpenRun | None, found: store_jobs.FoundWords) -> tuple[OpenRun, SaidSince] | None:
    """The open run with what was found, and what is different; None where it is of another run, or nothing
    is.
    """
    if run is None or run.id != found.run_id or found.reviews is None:
        return None
    since = said_since(run.results, found.reviews, found.notes)
    notes = {**run.results.notes, **found.notes}
    return (replace(run, results=run.results.with_annotators(found.reviews, notes)), since) if since else None


def said_since(
    results: "RunResults", reviews: Reviews, notes: Mapping[str, tuple[ItemNote, ...]]
) -> SaidSince:
    """What is different from what is shown of a run."""
    words = frozenset(_words(results.reviews)) ^ frozenset(_words(reviews))
    return SaidSince(
        frozenset(word.key for word in words if isinstance(word, Override)),
        frozenset(word.item_id for word in words),
        frozenset(
            content
            for content in {*results.notes, *notes}
            if results.notes.get(content, ()) != notes.get(content, ())
        ),
    )


def _words(reviews: Reviews) -> Iterator[Override | ReviewMark | Confirmation]:
    return chain(reviews.overrides, reviews.marks, reviews.confirmations)
