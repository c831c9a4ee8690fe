"""Runs that are judged one after another, each its own run; kept, so that nothing of it is lost in a crash.

A queue goes on only while the user wants it: after a restart it waits. A run that fails says why, and the
next one begins. Stop stops the queue, too: what was under way stays at its place and goes on there later.
"""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from engine.core.codec import record_or
from engine.core.errors import EngineError, SetupError
from engine.core.events import RunEnded
from engine.core.formatting import counted, duration, short_name
from engine.core.judgments import is_seconds
from engine.core.rubric import ELOQUENT
from engine.settings.identity import checked_name, checked_note
from engine.settings.rows import CPU, settings_in_words
from engine.settings.run_setup import Positive, RunSetup
from gui.judge.run_control import RunControl, default_setup
from gui.widgets.notice import problem_of
from gui.workspace.workspace import Workspace


class QueueState(StrEnum):
    WAITING = "waits"
    UNDER_WAY = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def ended(self) -> bool:
        return self in (QueueState.DONE, QueueState.FAILED, QueueState.SKIPPED)


@dataclass(frozen=True)
class Queued:
    """A run that waits in the queue, is under way there or has ended there; how it is kept and worded."""

    setup: RunSetup  # as it was asked for
    state: QueueState = QueueState.WAITING
    run_id: int | None = None  # the run of the store that it is or goes on with, None before it began
    said: str = ""  # how it ended, or how far it came
    seconds: float = 0.0  # in the queue, all its beginnings together
    name: str = ""  # of the user, like the note: it gets them when it begins
    note: str = ""

    @property
    def next_setup(self) -> RunSetup:
        """What is to be started: the run that it began goes on, and is called as it is by now."""
        if self.run_id is not None:
            return replace(self.setup, fresh=False, resumes=self.run_id)
        return replace(self.setup, name=self.name or None, note=self.note or None)

    @property
    def resumable(self) -> bool:
        """Whether it was begun and is not done: it can go on where it stopped."""
        return self.run_id is not None and self.state not in (QueueState.UNDER_WAY, QueueState.DONE)

    def is_in(self, other: "Queued") -> bool:
        """Whether another one judges it anyway: the same run, or where it names none, one of its setup."""
        return self.setup == other.setup if self.run_id is None else self.run_id == other.run_id

    @property
    def what(self) -> str:
        first = "" if self.setup.items is None else f"first {self.setup.items:,} of "
        return f"{first}{self.setup.dataset_in_words}"

    @property
    def title(self) -> str:
        """`what`, with its name before it where it has one; long names without middle."""
        what = short_name(self.what)
        return f"“{short_name(self.name)}” {what}" if self.name else what

    @property
    def how(self) -> str:
        setup = self.setup
        # Which rubric's only where that is not the task's: `3 criteria of manners`.
        rubric = "" if setup.rubric == ELOQUENT else f" of {short_name(setup.rubric.name)}"
        asked = f"{counted(len(setup.criteria), 'criterion', 'criteria')}{rubric}"
        device = "" if setup.device is None else f"on {short_name(setup.device)}"
        where = "processor only" if setup.device == CPU else device
        calibrated = "" if setup.calibration_path is None else "calibrated"
        return ", ".join(filter(None, (asked, settings_in_words(setup), calibrated, where)))

    @property
    def outcome(self) -> Sequence[str]:
        """Its state and its run, and what is to be said of it, where that is known: a line each."""
        run = f", run {self.run_id}" if self.run_id is not None else ""
        took = duration(self.seconds) if self.seconds and self.state.ended else ""
        return [*filter(None, (f"{self.state}{run}", ", ".join(filter(None, (self.said, took)))))]

    @property
    def in_words(self) -> str:
        model = short_name(self.setup.model_path.name)
        return f"{self.title}, {model}, {self.how}: {': '.join(self.outcome)}"

    def as_json(self) -> dict[str, Any]:
        return {
            "setup": replace(self.setup, name=self.name or None, note=self.note or None).as_json(),
            "state": self.state.name,
            "run": self.run_id,
            "said": self.said,
            "seconds": self.seconds,
        }

    @classmethod
    def of_json(cls, values: object, default: RunSetup) -> "Queued | None":
        """What was kept; None where it is damaged. What was under way then waits again."""
        if not isinstance(values, dict) or not isinstance(values.get("setup"), dict):
            return None
        setup = RunSetup.of_json(values["setup"], default)
        state = next((one for one in QueueState if one.name == values.get("state")), QueueState.WAITING)
        said, seconds = record_or(values.get("said"), str, ""), values.get("seconds")
        if state is QueueState.UNDER_WAY:
            state, said = QueueState.WAITING, "interrupted; will be resumed"
        return cls(
            replace(setup, name=None, note=None),
            state,
            record_or(values.get("run"), Positive, None),
            said,
            float(seconds) if is_seconds(seconds) else 0.0,
            setup.name or "",
            setup.note or "",
        )


_COUNTED = {
    QueueState.UNDER_WAY: "under way",
    QueueState.WAITING: "waiting",
    QueueState.DONE: "done",
    QueueState.FAILED: "failed",
    QueueState.SKIPPED: "skipped",
}
QUEUE = "queue"  # by which it is kept: the work of the user, which is not forgotten with the layout
MOST_QUEUED = 500  # each change writes all of them to the disk


class RunQueue(QObject):
    changed = Signal()
    ended = Signal(str)  # nothing is left to do: what became of it, in a sentence

    def __init__(self, control: RunControl, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._control, self._workspace = control, workspace
        self.current: int | None = None  # the place of the run that is under way
        self.going = False  # one run after another is begun
        self._skipping = self._starting = False
        self._begun = self._begun_run = 0.0
        self._ended_before = 0  # runs that had ended when the queue was started
        found = (Queued.of_json(entry, default_setup()) for entry in workspace.begun.entries(QUEUE))
        self._entries = [entry for entry in found if entry is not None][:MOST_QUEUED]
        self.kept = True  # on the disk, the last time
        control.started.connect(self._follow_start)
        control.progressed.connect(self._follow)
        control.ending_asked.connect(self.pause)
        control.ended.connect(self._take_end)
        workspace.runs_changed.connect(self._take_names)
        self._take_names()

    @property
    def entries(self) -> Sequence[Queued]:
        return tuple(self._entries)

    @property
    def waiting(self) -> int:
        return sum(entry.state is QueueState.WAITING for entry in self._entries)

    @property
    def part(self) -> tuple[int, int] | None:
        """Which run of how many is under way since the queue was started; None where none is."""
        if self.current is None:
            return None
        done = sum(entry.state.ended for entry in self._entries) - self._ended_before
        return done + 1, done + 1 + self.waiting

    @property
    def summary(self) -> str:
        count = Counter(entry.state for entry in self._entries)
        return ", ".join(f"{count[state]} {words}" for state, words in _COUNTED.items() if count[state])

    # What the user does with it

    def add(self, setup: RunSetup) -> bool:
        """Put a run at the end; False where just this one waits already, too many do, or no disk takes it."""
        name, note, kept = setup.name or "", setup.note or "", replace(setup, resumes=None)
        added = self._as_stored(Queued(kept, run_id=setup.resumes, name=name, note=note))
        # Several of one setup may wait, where each goes on with another run.
        waits = any(added.is_in(entry) for entry in self._entries if not entry.state.ended)
        if waits or len(self._entries) >= MOST_QUEUED:
            return False
        return self._change([*self._entries, added])

    def call(self, place: int, name: str, note: str) -> None:
        """Name a run and note this of it; SetupError for what is no name, and where the note is too long."""
        name, note = checked_name(name), checked_note(note)
        entry = self._entries[place]
        if entry.run_id is None:
            self._change(self._with(place, replace(entry, name=name, note=note)))
        elif (name, note) != (entry.name, entry.note):
            self._store_words(entry.run_id, name, note)

    def remove(self, place: int) -> None:
        """Take a run out of the queue, unless it is under way; what was judged of it is kept."""
        if self._is_free(place):
            self._change(self._with(place))

    def move(self, place: int, step: int) -> bool:
        """Let a run that waits change places with its neighbour, where that waits, too."""
        other = place + step
        if not all(self._is_free(spot) and not self._entries[spot].state.ended for spot in (place, other)):
            return False
        entries = self._with(place, self._entries[other])
        entries[other] = self._entries[place]
        return self._change(entries)

    def clear_ended(self) -> None:
        self._change([entry for entry in self._entries if not entry.state.ended])

    def repeat(self, place: int) -> None:
        """Let a run that failed or was skipped wait again; one that is gone from the store begins anew."""
        if self._is_free(place) and (entry := self._entries[place]).state.ended:
            run_id = entry.run_id if self.is_stored(place) else None
            waiting = replace(entry, state=QueueState.WAITING, run_id=run_id, said="")
            self._change(self._with(place, waiting))

    def resume(self, place: int) -> None:
        """Go on with a run that was begun: before all others that wait, and with these after it."""
        if self._is_free(place) and self._entries[place].resumable:
            entries = self._with(place)
            waiting = (spot for spot, each in enumerate(entries) if each.state is QueueState.WAITING)
            entry = replace(self._entries[place], state=QueueState.WAITING, said="")
            entries.insert(next(waiting, len(entries)), entry)
            if self._change(entries):
                self.start()

    def is_stored(self, place: int) -> bool:
        return any(run.id == self._entries[place].run_id for run in self._workspace.runs)

    def start(self) -> None:
        """Begin one run after another; where another run is under way, once that has ended."""
        if not self.going and self.waiting:
            self._workspace.tell_begun()
            self.going = True
            self._begun = time.monotonic()
            self._ended_before = sum(entry.state.ended for entry in self._entries)
            self._next()
            self._tell()

    def pause(self) -> None:
        self.going = False
        self._tell()

    def skip(self) -> None:
        if self.current is not None:
            self._skipping = True
            self._control.stop()

    def forget_runs(self, run_ids: Sequence[int]) -> None:
        # What would go on with a run that was deleted begins anew.
        for place, entry in enumerate(self._entries):
            if entry.run_id in run_ids and place != self.current:
                self._entries[place] = replace(entry, run_id=None)
        self._tell()

    # What becomes of it

    def _is_free(self, place: int) -> bool:
        return 0 <= place < len(self._entries) and place != self.current

    def _as_stored(self, entry: Queued) -> Queued:
        # With the words that the store has of its run: whoever changed them last, wherever that was.
        run = next((run for run in self._workspace.runs if run.id == entry.run_id), None)
        return entry if run is None else replace(entry, name=run.name, note=run.note)

    def _take_names(self) -> None:
        entries = [self._as_stored(entry) for entry in self._entries]
        if entries != self._entries:
            self._entries = entries
            self._tell()

    def _store_words(self, run_id: int, name: str, note: str) -> None:
        # They are shown once they are stored.
        try:
            self._workspace.call_run(run_id, name, note)
        except SetupError as error:
            self._workspace.problem.emit(error)

    def _with(self, place: int, *entry: Queued) -> list[Queued]:
        return [*self._entries[:place], *entry, *self._entries[place + 1 :]]

    def _change(self, entries: list[Queued]) -> bool:
        # What the user wants counts once the disk has it; False where that takes nothing, as is told.
        if not self._keep(entries):
            return False
        if self.current is not None:
            current = self._entries[self.current]
            same = (place for place, entry in enumerate(entries) if entry is current)
            self.current = next(same, self.current)  # where it is named now, it is another record
        self._entries = entries
        self._ended_before = min(self._ended_before, sum(entry.state.ended for entry in entries))
        self.changed.emit()
        return True

    def _keep(self, entries: Sequence[Queued], again: bool = True) -> bool:
        # Write it to the disk; False where that fails. Where it failed before, that is told `again`.
        was_kept, self.kept = self.kept, True
        try:
            # At once: whatever ends the program, what is queued is there again.
            self._workspace.begun.keep(QUEUE, [entry.as_json() for entry in entries])
        except SetupError as error:
            self.kept = False
            if was_kept or again:
                self._workspace.failures.fail(QUEUE, error)
        else:
            self._workspace.failures.end(QUEUE)
        return self.kept

    def _put(self, place: int, entry: Queued) -> None:
        self._entries[place] = entry
        self._tell()

    def _tell(self) -> None:
        self._keep(self._entries, again=False)
        self.changed.emit()

    def _next(self) -> None:
        if not self.going or self._control.running:
            return
        states, now = [entry.state for entry in self._entries], time.monotonic()
        if QueueState.WAITING not in states:
            self.going = False
            self._tell()
            self.ended.emit(f"The queue has ended after {duration(now - self._begun)}: {self.summary}.")
            return
        self.current = place = states.index(QueueState.WAITING)
        entry, self._begun_run, self._starting = self._entries[place], now, True
        self._put(place, replace(entry, state=QueueState.UNDER_WAY, said=""))
        self._control.start(entry.next_setup, goes_on=True)
        self._starting = False

    def _follow_start(self) -> None:
        if not self._starting:
            self.current = None

    def _follow(self) -> None:
        # The number of the run is kept as soon as it has one.
        if self.current is not None and self._control.running:
            self._keep_number(self.current)

    def _keep_number(self, place: int) -> None:
        progress, asked, entry = self._control.progress, self._control.setup, self._entries[place]
        if progress is None or asked is None or entry.run_id == progress.run_id:
            return
        if (entry.name, entry.note) != (asked.name or "", asked.note or ""):
            self._store_words(progress.run_id, entry.name, entry.note)  # called so since it was started
        self._put(place, replace(entry, run_id=progress.run_id))

    def _take_end(self, how: RunEnded | EngineError | None) -> None:
        place, self.current = self.current, None
        skipped, self._skipping = self._skipping, False
        stopped = not isinstance(how, EngineError) and (how is None or how.stopped)
        self.going = self.going and (skipped or not stopped)
        if place is not None:
            self._keep_number(place)  # of one that was too short to tell how far it is
            entry = self._entries[place]
            seconds = entry.seconds + time.monotonic() - self._begun_run
            self._put(place, self._ending(replace(entry, seconds=seconds), how, skipped))
        if self.going:
            # Not at once: others hear of this end, too, and the window may be closing.
            QTimer.singleShot(0, self._next)

    def _ending(self, entry: Queued, how: RunEnded | EngineError | None, skipped: bool) -> Queued:
        if isinstance(how, EngineError):
            return replace(entry, state=QueueState.FAILED, said=" ".join(problem_of(how)))
        stopped = QueueState.SKIPPED if skipped else QueueState.WAITING
        if how is None:
            return replace(entry, state=stopped, said="stopped before it began")
        if how.stopped:
            said = f"stopped after {how.judged:,} of {how.items:,} items"
            return replace(entry, state=stopped, run_id=how.run_id, said=said)
        health = self._control.health
        uncertainty = f", {health.in_short}" if health is not None and health.doubted else ""
        by = ", continued on the processor without the GPU" if self._control.computing.failed else ""
        said = f"{counted(how.judged, 'item', 'items')}{by}{uncertainty}".rstrip(".")
        return replace(entry, state=QueueState.DONE, run_id=how.run_id, said=said)
