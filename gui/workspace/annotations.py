"""How annotations reach the run store, and how changes by others are noticed. An annotation counts once it is
in the write-ahead log of this process: nobody waits for a busy store, and what it does not take now, whatever
opens it next stores.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from engine.annotations import records
from engine.annotations.effective import AnnotatorStep
from engine.core.errors import EngineError
from engine.core.formatting import counted
from engine.core.judgments import JudgedItem, JudgmentKey
from engine.system.paths import shown
from engine.system.write_ahead_log import WriteAheadLog
from gui.widgets.actions import timer
from gui.widgets.notice import Message, problem_of
from gui.workspace import store_jobs
from gui.workspace.open_run import OpenRun
from gui.workspace.threads import EngineThreads, LatestTask, ThreadName

_TICK_MS = 700


class AnnotationWatch(QObject):
    # Polled: no system tells of all changes on all disks. It is opened only where the times of its files
    # differ.
    found = Signal(object)  # a store_jobs.FoundWords with reviews

    def __init__(self, threads: EngineThreads, store_path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store_path = store_path
        self._run_id: int | None = None
        self._seen = store_jobs.SeenWords()
        # What fails is tried again, and said by whatever the user wants of the store.
        self._looking = LatestTask(threads, ThreadName.STORE, self, self._take)
        self._timer = timer(self, _TICK_MS, self.look, once=False)

    def follow(self, run_id: int | None) -> None:
        # What was annotated while it was read may not be in what was read.
        self._run_id, self._seen = run_id, store_jobs.SeenWords()
        if run_id is None:
            self._timer.stop()
        else:
            self._timer.start()

    def look(self) -> None:
        if self._run_id is not None and not self._looking.busy:
            self._looking.start(store_jobs.look_for_words(self._store_path, self._run_id, self._seen))

    def _take(self, found: store_jobs.FoundWords) -> None:
        if found.run_id == self._run_id:
            self._seen = found.seen
            if found.reviews is not None:
                self.found.emit(found)


@dataclass(frozen=True)
class SaidSince:
    """What is different: judgments by their keys, items by their ids, notes by the hash of the content."""

    keys: frozenset[JudgmentKey]
    items: frozenset[str]
    noted: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.keys or self.items or self.noted)


def brought_up(run: OpenRun | None, found: store_jobs.FoundWords) -> tuple[OpenRun, SaidSince] | None:
    """The open run with what was found, and what is different; None for another run, or where nothing is."""
    if run is None or run.id != found.run_id or found.reviews is None:
        return None
    results, before, now = run.results, run.results.notes, found.notes
    words = frozenset(results.reviews.all) ^ frozenset(found.reviews.all)
    since = SaidSince(
        frozenset(word.key for word in words if word.kind is records.AnnotationKind.OVERRIDE),
        frozenset(word.item_id for word in words),
        frozenset(content for content in {*before, *now} if before.get(content, ()) != now.get(content, ())),
    )
    results = results.with_annotators(found.reviews, {**before, **now})
    return (replace(run, results=results), since) if since else None


WAITING_WORDS = "waiting words"
"""What the notice of waiting annotations is about."""
_AGAIN_MS, _LONGEST_MS = 3000, 30_000  # until the next try, after the first failure and after many
_SLOW_MS = 2000  # after which the user is told


class StoredAnnotations(QObject):
    stored = Signal(object)  # a store_jobs.Stored
    failed = Signal(object)  # an EngineError: they are in the store, but cannot be read there
    waiting = Signal(object)  # a Message: annotations wait for the store
    all_stored = Signal()  # none waits any more, after `waiting`

    def __init__(self, threads: EngineThreads, store_path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store_path = store_path
        self._write_ahead_log = WriteAheadLog(store_path)
        followers = (self._follow_success, self._follow_failure)
        self._storing = LatestTask(threads, ThreadName.STORE, self, *followers)
        self._storing.busy_changed.connect(self._follow_busy)
        self._told: tuple[int, str] | None = None  # how many were reported as waiting, and why
        self._why = ""
        self._waiting: list[records.Said] = []  # of this window, for the store
        self._again = timer(self, _AGAIN_MS, self._deliver)
        self._slow = timer(self, _SLOW_MS, self._tell)

    @property
    def count(self) -> int:
        return len(self._write_ahead_log.waiting)

    def say(self, said: records.Said) -> str:
        """Put an annotation on the disk; its name. SetupError where it is unfit, or the disk is full."""
        records.refuse_unfit(said.what)
        name = self._write_ahead_log.say(said.as_values())
        self._waiting.append(said)
        if not self._slow.isActive():
            self._slow.start()
        self._deliver()
        return name

    def last_said(self, places: Container[str]) -> datetime | None:
        """When the last waiting annotation at these `places` (an item's id, its content's hash) was made."""
        times = [said.at for said in self._waiting if records.place_of(said.what) in places]
        return max(times, default=None)

    def with_waiting(
        self, stored: Iterable[AnnotatorStep], item: JudgedItem, author: str, run_id: int
    ) -> list[AnnotatorStep]:
        """What the user did with an item of a run, as it is stored and as it waits, the oldest first."""
        found = {step.at: step for step in stored}
        for said in self._waiting:
            what = said.what
            if isinstance(what, records.Undo):
                if (step := found.get(what.step)) is not None:
                    found[what.step] = replace(step, undone=None if what.again else said.at)
            elif _is_of(said, item, author, run_id):
                found[said.at] = AnnotatorStep(said.at, None, records.annotations_in(what))
        return [found[at] for at in sorted(found)]

    def close(self) -> None:
        self._again.stop()
        self._slow.stop()
        self._write_ahead_log.close()

    def _deliver(self) -> None:
        if self.count and not self._storing.busy:
            self._storing.start(store_jobs.store_words(self._store_path, self._write_ahead_log))

    def _follow_success(self, stored: store_jobs.Stored) -> None:
        self._why = ""
        self._again.setInterval(_AGAIN_MS)
        taken = [*stored.words, *(said for said, _ in stored.refused)]
        self._waiting = [said for said in self._waiting if said not in taken]
        self.stored.emit(stored)

    def _follow_failure(self, error: EngineError) -> None:
        if self.count:
            self._why = problem_of(error)[0]
            self._tell()
        else:
            self.failed.emit(error)

    def _follow_busy(self, busy: bool) -> None:
        if busy:
            return
        if not self.count:
            self._slow.stop()
            self._again.stop()
            told, self._told = self._told, None
            if told:
                self.all_stored.emit()
        elif self._why:
            self._again.start()
            self._again.setInterval(min(2 * self._again.interval(), _LONGEST_MS))
        else:
            self._deliver()  # what was annotated meanwhile

    def _tell(self) -> None:
        count = self.count
        if count and self._told != (count, self._why):
            words = counted(count, "annotation of yours waits", "annotations of yours wait")
            text = f"{words} for the run store. {self._why}".rstrip()
            folder = shown(self._store_path.parent)
            kept = (
                f"Nothing is lost: it is on the disk, in {folder}, and will be stored as"
                " soon as possible. You can go on, and also close the window."
            )
            quiet, self._told = self._told is not None, (count, self._why)
            self.waiting.emit(Message(text, kept, about=WAITING_WORDS, quiet=quiet))


def _is_of(said: records.Said, item: JudgedItem, author: str, run_id: int) -> bool:
    """Whether an annotation is what the user did with an item of a run."""
    word = next(iter(records.annotations_in(said.what)), None)
    if word is None or word.kind is records.AnnotationKind.DRAFT or word.author != author:
        return False
    if word.kind is records.AnnotationKind.NOTE:
        return word.content_hash == item.content_hash
    return (said.run_id, word.item_id) == (run_id, item.item_id)
