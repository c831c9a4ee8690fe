"""How annotations reach the run store: on the disk at once, in the store as soon as it takes them.

An annotation counts once it is in the write-ahead log of this process. What the store does not take now it
takes later; where the window closes meanwhile, whatever opens the store next stores it. So nobody waits for a
busy store.

Knows: the write-ahead log, when to try again, what is reported of waiting annotations. Does not know: what
the annotations mean.
"""

from collections.abc import Container, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine.core.errors import EngineError
from engine.core.formatting import counted
from engine.core.judgments import JudgedItem, NewOverride, NewReview
from engine.core.people import AnnotatorStep
from engine.core.said import NewNote, Said, Undo, place_of, refuse_unfit
from engine.system.outbox import WriteAheadLog
from engine.system.places import shown
from gui.kit.notice import Message, problem_of
from gui.work import store_jobs
from gui.work.lanes import EngineThreads, Task, ThreadName

WAITING_WORDS = "waiting words"
"""What the notice of waiting annotations is about."""
_AGAIN_MS, _LONGEST_MS = 3000, 30_000  # until the next try, after the first failure and after many
_SLOW_MS = 2000  # after which the user is told


class StoredAnnotations(QObject):
    """The annotations made in this window."""

    stored = Signal(object)  # a store_jobs.Stored
    failed = Signal(object)  # an EngineError: they are in the store, but cannot be read there
    waiting = Signal(object)  # a Message: annotations wait for the store
    adjudicated = Signal()  # none waits any more, after `waiting`

    def __init__(self, threads: EngineThreads, store_path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._threads, self._store_path = threads, store_path
        self._write_ahead_log = WriteAheadLog(store_path)
        self._task: Task | None = None
        self._told: tuple[int, str] | None = None  # how many were reported as waiting, and why
        self._why = ""
        self._waiting: list[Said] = []  # of this window, for the store
        self._again = self._timer(_AGAIN_MS, self._deliver)
        self._slow = self._timer(_SLOW_MS, self._tell)

    @property
    def count(self) -> int:
        """How many annotations wait."""
        return len(self._write_ahead_log.waiting)

    def say(self, said: Said) -> str:
        """Put an annotation on the disk; its name. SetupError where it is unfit, or the disk takes
        nothing.
        """
        refuse_unfit(said.what)
        name = self._write_ahead_log.say(said.as_values())
        self._waiting.append(said)
        if not self._slow.isActive():
            self._slow.start()
        self._deliver()
        return name

    def last_said(self, places: Container[str]) -> datetime | None:
        """When the last waiting annotation of an item was made; `places`: its id and the hash of its
        content.
        """
        times = [said.at for said in self._waiting if place_of(said.what) in places]
        return max(times, default=None)

    def with_waiting(
        self, stored: Iterable[AnnotatorStep], item: JudgedItem, author: str, run_id: int
    ) -> list[AnnotatorStep]:
        """What the user did with an item of a run, as it is stored and as it waits, the oldest first."""
        found = {step.at: step for step in stored}
        for said in self._waiting:
            what = said.what
            if isinstance(what, Undo):
                if (step := found.get(what.step)) is not None:
                    found[what.step] = replace(step, undone=None if what.again else said.at)
            elif _is_of(said, item, author, run_id):
                assert isinstance(what, NewOverride | NewReview | NewNote)
                found[said.at] = AnnotatorStep(said.at, None, (what,))
        return [found[at] for at in sorted(found)]

    def close(self) -> None:
        """Leave the waiting annotations to the next process that opens the store."""
        self._again.stop()
        self._slow.stop()
        self._write_ahead_log.close()

    @Slot()
    def _deliver(self) -> None:
        if self._task is None and self.count:
            job = store_jobs.store_words(self._store_path, self._write_ahead_log)
            self._task = task = self._threads.start(ThreadName.STORE, job)
            task.finished.connect(self._follow_success)
            task.failed.connect(self._follow_failure)
            task.ended.connect(self._follow_end)

    @Slot(object)
    def _follow_success(self, stored: store_jobs.Stored) -> None:
        self._why = ""
        self._again.setInterval(_AGAIN_MS)
        taken = [*stored.words, *(said for said, _ in stored.refused)]
        self._waiting = [said for said in self._waiting if said not in taken]
        self.stored.emit(stored)

    @Slot(object)
    def _follow_failure(self, error: EngineError) -> None:
        if self.count:
            self._why = problem_of(error)[0]
            self._tell()
        else:
            self.failed.emit(error)

    @Slot()
    def _follow_end(self) -> None:
        self._task = None
        if not self.count:
            self._slow.stop()
            self._again.stop()
            told, self._told = self._told, None
            if told:
                self.adjudicated.emit()
        elif self._why:
            self._again.start()
            self._again.setInterval(min(2 * self._again.interval(), _LONGEST_MS))
        else:
            self._deliver()  # what was annotated meanwhile

    @Slot()
    def _tell(self) -> None:
        """Report that annotations wait; later changes of that quietly."""
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

    def _timer(self, milliseconds: int, then: object) -> QTimer:
        made = QTimer(self, singleShot=True, interval=milliseconds)
        made.timeout.connect(then)
        return made


def _is_of(said: Said, item: JudgedItem, author: str, run_id: int) -> bool:
    """Whether an annotation is what the user did with an item of a run."""
    what = said.what
    if isinstance(what, NewNote):
        return (what.content_hash, what.author) == (item.content_hash, author)
    if not isinstance(what, NewOverride | NewReview):
        return False
    return (said.run_id, what.item_id, what.author) == (run_id, item.item_id, author)
