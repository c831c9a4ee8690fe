"""One kill: a person works in a window, it is ended at a random moment, and what it had shown is sought."""

import re
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random

from bench.durability import windows
from bench.durability.folders import OLDEST, copy_of, fill, held, size_of, small_disk, write_old_store
from bench.durability.ledger import Key, Ledger, Refused, Said
from bench.durability.windows import Process, WindowFailed
from bench.hostile.sound_files import command, home_in
from engine.store.migrations import STEPS
from engine.system.paths import default_store, demo_dataset

ITEMS = 12  # of the run that is reviewed
_PATIENCE = 30.0  # seconds until a window has shown what was said
_REFUSAL = 2.0  # seconds until a window has said that the disk is full, or never will
_MOST = 4  # things shown as stored before a window is killed; with luck one or two more
_AROUND = 1.5  # so much of the time that one thing takes, at the most, it lives on then
_ROOM = 300_000  # bytes left to a window that opens on a small disk
_FULL = re.compile(r"\b(full|space|room)\b", re.IGNORECASE)


class Situation(StrEnum):
    """In which a window is ended."""

    ONE = "one window"
    TWO = "two windows"
    FULL = "full disk"
    CLOSED = "closed, store busy"


_SAYINGS = ("label", "explanation", "draft", "note", "state", "queue")
KINDS: Mapping[Situation, Sequence[str]] = {
    Situation.ONE: (*_SAYINGS, "typing on", "noting on", "run", "migration"),
    Situation.TWO: (*_SAYINGS, "run"),
    Situation.FULL: _SAYINGS,
    Situation.CLOSED: ("label", "explanation", "typing", "note", "state"),
}


@dataclass(frozen=True)
class Outcome:
    """`shown`: how many as stored; `missing`: of these, `silent`: neither shown nor impossible, in words."""

    shown: int
    missing: Sequence[str] = ()
    silent: Sequence[str] = ()


class Bench:
    """The data folder that all kills begin with: run 1 of the store `judged`, or made; words; the queue."""

    def __init__(self, folder: Path, judged: Path | None = None) -> None:
        self.folder, self.home = folder, folder / "begun"
        self._known: dict[int, Mapping[Key, str | None]] = {}
        self._lock = threading.Lock()
        with home_in(self.home):
            self._store = default_store().relative_to(self.home.absolute())
        if judged is None:
            self._judge()
        else:
            self.store_in(self.home).parent.mkdir(parents=True)
            shutil.copy(judged, self.store_in(self.home))
        for _received in windows.start(windows.leave_behind, self.home, demo_dataset()).hear_out():
            pass
        for version in range(OLDEST, len(STEPS)):
            self._write_old(version)

    def store_in(self, home: Path) -> Path:
        return home / self._store

    def _judge(self) -> None:
        asked = f"--model demo --mode labels --orders one --items {ITEMS} --out"
        with home_in(self.home):
            words = ["judge", str(demo_dataset()), *asked.split(), str(self.folder / "begun.tsv")]
            code, printed = command(words)
        if code:
            raise RuntimeError(printed)

    def _write_old(self, version: int) -> None:
        """A data folder with an earlier store, and all that was shown as stored in it."""
        home = copy_of(self.home, self.folder / f"version {version}")
        store = self.store_in(home)
        now = store.replace(store.with_name("now.sqlite"))
        write_old_store(now, store, version)
        now.unlink()

    def try_once(self, kind: str, situation: Situation, seed: str, place: Path) -> Outcome:
        outcome = Trial(self, kind, Random(seed), place).outcome(situation)
        if not (outcome.missing or outcome.silent):
            shutil.rmtree(place, ignore_errors=True)
        return outcome

    def known_of(self, version: int) -> Mapping[Key, str | None]:
        with self._lock:
            if version not in self._known:
                home = copy_of(self.folder / f"version {version}", self.folder / f"read {version}")
                self._known[version] = _found(home, None)["the export"]
            return self._known[version]


class Trial:
    def __init__(self, bench: Bench, kind: str, random: Random, place: Path) -> None:
        self._bench, self._kind, self._random, self._place = bench, kind, random, place
        self._ledger = Ledger()

    def outcome(self, situation: Situation) -> Outcome:
        self._place.mkdir(parents=True)
        one = self._migrated if self._kind == "migration" else lambda: self._killed(1)
        try:
            return {
                Situation.ONE: one,
                Situation.TWO: lambda: self._killed(2),
                Situation.FULL: self._filled,
                Situation.CLOSED: self._closed,
            }[situation]()
        except WindowFailed as error:
            return Outcome(self._ledger.count, silent=[str(error)])

    def _work(self, home: Path, number: int, of: int, patience: float = _PATIENCE) -> Process:
        seed = f"{self._random.random()}"
        return windows.start(windows.work, home, self._kind, seed, number, of, patience)

    def _killed(self, of: int) -> Outcome:
        home = copy_of(self._bench.home, self._place / "home")
        working = [self._work(home, number, of) for number in range(of)]
        for window in working:
            _wait_until_ready(window, self._ledger)
        for window in self._random.sample(working, of):
            self._listen_to_some(window)
            _take(self._ledger, window.kill())
        return self._outcome(home)

    def _listen_to_some(self, window: Process) -> None:
        """Until some things are shown as stored, then for about as long as the next one takes."""
        began, things = time.monotonic(), self._random.randint(1, _MOST)
        until = self._ledger.count + things
        while self._ledger.count < until:
            _take(self._ledger, iter([window.hear()]))
        self._listen(window, self._random.uniform(0, _AROUND * (time.monotonic() - began) / things))

    def _listen(self, window: Process, seconds: float) -> None:
        _take(self._ledger, window.hear_for(seconds))

    def _migrated(self) -> Outcome:
        """Killed as it opens a store of an earlier version: at any time, or when something is written."""
        version = self._random.randrange(OLDEST, len(STEPS))
        for key, value in self._bench.known_of(version).items():
            self._ledger.take(Said(key, value, shown=True))
        home = copy_of(self._bench.folder / f"version {version}", self._place / "home")
        store = self._bench.store_in(home)
        before = _state(store)
        window = self._work(home, 0, 1)
        if self._random.random() < 0.25:
            self._listen(window, self._random.uniform(0, 2.0))
        else:
            until = time.monotonic() + _PATIENCE
            while _state(store) == before and time.monotonic() < until:
                time.sleep(0.0002)
            time.sleep(self._random.uniform(0, 0.02))
        _take(self._ledger, window.kill())
        return self._outcome(home)

    def _filled(self) -> Outcome:
        """Killed some time after its disk is full; then somebody makes room."""
        with small_disk(self._place / "disk", size_of(self._bench.home) + _ROOM) as disk:
            home = copy_of(self._bench.home, disk / "home")
            window = self._work(home, 0, 1, _REFUSAL)
            _wait_until_ready(window, self._ledger)
            self._listen(window, self._random.uniform(0, 0.2))
            fill(disk / "ballast", int(self._random.choice((0, 4_000, 40_000))))
            until = time.monotonic() + _REFUSAL
            while not self._ledger.refused and time.monotonic() < until:
                self._listen(window, 0.1)
            self._listen(window, self._random.uniform(0, 0.3))
            _take(self._ledger, window.kill())
            (disk / "ballast").unlink()
            return self._outcome(home)

    def _closed(self) -> Outcome:
        """Closed, not killed, while another program writes into the store; it may take its time."""
        home = copy_of(self._bench.home, self._place / "home")
        acts = 1 if self._kind == "typing" else self._random.randint(1, 3)
        with ExitStack() as holding:
            seed = f"{self._random.random()}"
            window = windows.start(windows.work_and_close, home, self._kind, seed, acts)
            _wait_until_ready(window, self._ledger)
            holding.enter_context(held(self._bench.store_in(home)))
            _take(self._ledger, window.hear_out())
        self._ledger.count_all_said()
        return self._outcome(home, refusals_count=False)

    def _outcome(self, home: Path, refusals_count: bool = True) -> Outcome:
        missing: dict[Key, str] = {}
        for where, found in _found(home, self._ledger.keys).items():
            missing = self._ledger.missing(found, where) | missing
        silent = [
            f"{refused.key}: the window said only {refused.words!r}"
            for refused in self._ledger.refused
            if refusals_count and not _FULL.search(refused.words)
        ]
        return Outcome(self._ledger.count, list(missing.values()), silent)


def _found(home: Path, keys: Sequence[Key] | None) -> Mapping[str, Mapping[Key, str | None]]:
    """What a window shows of these keys, and what exports hold of them; None: of all."""
    shown, *exported = windows.start(windows.read, home, keys).hear_out()
    if not exported:
        return {str(shown): dict.fromkeys(keys or ())}
    return {"the window": shown, "the export": exported[0]}  # type: ignore[dict-item]


def _wait_until_ready(window: Process, ledger: Ledger) -> None:
    while (received := window.hear()) != windows.READY:
        _take(ledger, iter([received]))


def _take(ledger: Ledger, received: Iterator[object]) -> None:
    for each in received:
        if isinstance(each, Said | Refused):
            ledger.take(each)


def _state(store: Path) -> object:
    """Changes whenever something of a store does."""
    return [
        (file.name, file.stat().st_mtime_ns, file.stat().st_size)
        for file in sorted(store.parent.iterdir())
        if file.name.startswith(store.name)
    ]
