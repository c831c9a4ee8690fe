"""Hostile cases tried in child processes that may hang or break down, and what became of each.

A child takes many cases, because to start one costs more than most cases take. Each case depends on its kind,
the seed and its number alone, so that one can be tried again by itself.
"""

import multiprocessing
import os
import shutil
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

LIMIT = 20.0
"""Seconds after which a step of a case counts as a hang; three times as many where it starts processes."""

_START_LIMIT = 120.0
_MEMORY = 12 << 30  # so that one absurd size does not take the computer down
_spawn = multiprocessing.get_context("spawn")


class Ending(StrEnum):
    """How the program took a case; the value is its name in the figures."""

    TAKEN = "taken, and rightly"
    REFUSED = "refused with an error for people"
    BROKE_IN_TRIAL = "refused: ended the trial's child process"
    REFUSED_LATE = "refused with an error for people, but only after a good trial"
    FAULT = "fault of the program (exit 3)"
    CRASH = "crash outside the trial"
    HANG = "hang"
    LOSS = "silent loss, or another text than the file has"
    WRONGLY_REFUSED = "sound, and refused"
    LET_IN = "control or structure token from foreign text"
    CONTROL_CHARACTER = "raw control character in the output"


SOUND = frozenset((Ending.TAKEN, Ending.REFUSED, Ending.REFUSED_LATE, Ending.BROKE_IN_TRIAL))


@dataclass(frozen=True)
class Outcome:
    """How a case ended. `case`: what it was, in words; `words`: what was found, for whoever mends it."""

    ending: Ending
    case: str = ""
    words: str = ""

    @property
    def sound(self) -> bool:
        return self.ending in SOUND


@dataclass
class ValueCounts:
    kind: str
    counts: Counter[Ending] = field(default_factory=Counter)
    unsound: list[tuple[int, Outcome]] = field(default_factory=list)
    seconds: float = 0.0
    slowest: tuple[float, int] = (0.0, -1)

    def add(self, number: int, outcome: Outcome, seconds: float) -> None:
        self.counts[outcome.ending] += 1
        self.seconds += seconds
        self.slowest = max(self.slowest, (seconds, number))
        if not outcome.sound:
            self.unsound.append((number, outcome))

    def lines(self) -> Iterator[str]:
        slowest, number = self.slowest
        yield (
            f"{self.kind}: {self.counts.total():,} cases in {self.seconds:,.0f} s,"
            f" the slowest (number {number}) in {slowest:.1f} s"
        )
        for ending in Ending:
            yield f"  {self.counts[ending]:7,}  {ending}"


@dataclass(frozen=True)
class Step:
    """`in_trial`: in the child process of a trial. `processes`: it starts others, which takes time."""

    words: str
    in_trial: bool = False
    processes: bool = False


@dataclass(frozen=True)
class Attempt:
    """One case: chance, a folder, whom to tell; `step` says what comes next and starts the clock."""

    number: int
    random: Random
    folder: Path
    step: Callable[["Step"], None]


def attempt(kind: str, seed: int, number: int, folder: Path, step: Callable[[Step], None]) -> Outcome:
    """Try one case here; what it raises is a fault of the program, or of the bench."""
    trier: Callable[[Attempt], Outcome] = import_module(f"bench.hostile.{kind}").try_case
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return trier(Attempt(number, Random(f"{seed}/{kind}/{number}"), folder, step))
    except Exception:  # whatever it is, it is to be counted
        return Outcome(Ending.FAULT, "", traceback.format_exc())


def tried(
    kind: str,
    seed: int,
    numbers: Iterable[int],
    folder: Path,
    seen: Callable[[int], None] | None = None,
    worker: "Worker | None" = None,
) -> ValueCounts:
    """Cases of a module with `try_case`; folders of sound ones go. `seen`: told how many are tried. `worker`:
    who takes them, and stays.
    """
    tally = ValueCounts(kind)
    with nullcontext(worker) if worker else closing(Worker(folder)) as takes:
        for count, number in enumerate(numbers, start=1):
            own = folder / f"{kind}-{seed}-{number}"
            started = time.monotonic()
            outcome = takes.take(kind, seed, number, own)
            tally.add(number, outcome, time.monotonic() - started)
            if outcome.sound:
                shutil.rmtree(own, ignore_errors=True)
            else:
                own.mkdir(parents=True, exist_ok=True)
                report = f"{outcome.ending}\n{outcome.case}\n{outcome.words}\n"
                (own / "report.txt").write_text(report, encoding="utf-8", errors="backslashreplace")
            if seen is not None:
                seen(count)
    return tally


class Worker:
    """A child that takes cases, started anew where one ended it; a step over `limit` seconds is a hang."""

    def __init__(self, folder: Path, limit: float = LIMIT) -> None:
        self._folder = folder
        self._limit = limit
        self._process: Any = None
        self._pipe: Connection | None = None

    def take(self, kind: str, seed: int, number: int, folder: Path) -> Outcome:
        pipe = self._pipe or self._start()
        pipe.send((kind, seed, number, folder))
        step = Step("the start")
        while (message := self._message(pipe, step)) is not None:
            if isinstance(message, Outcome):
                return message
            step = message
        ended = self._process.exitcode
        self.close()
        if ended is None:
            return Outcome(Ending.HANG, step.words, f"too long at: {step.words}")
        if step.in_trial:
            return Outcome(Ending.BROKE_IN_TRIAL, step.words, f"exit code {ended}")
        return Outcome(Ending.CRASH, step.words, f"exit code {ended} at: {step.words}")

    def _message(self, pipe: Connection, step: Step) -> Step | Outcome | None:
        """The next step, or the outcome; None where the child ends, or is too slow with this step."""
        try:
            if pipe.poll(self._limit * (3 if step.processes else 1)):
                message: Step | Outcome = pipe.recv()
                return message
        except (EOFError, ConnectionError):
            self._process.join()
        return None

    def _start(self) -> Connection:
        pipe, theirs = _spawn.Pipe()
        self._process = _spawn.Process(target=_serve, args=(theirs, self._folder), daemon=True)
        self._process.start()
        theirs.close()
        if not pipe.poll(_START_LIMIT):
            raise RuntimeError("a worker does not start")
        pipe.recv()
        self._pipe = pipe
        return pipe

    def close(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._process.kill()
            self._process.join()
        self._pipe = None


def _serve(pipe: Connection, folder: Path) -> None:
    os.environ["TIEBREAK_HOME"] = str(folder / "home")
    os.environ["GGML_NO_BACKTRACE"] = "1"  # else a debugger is started for each break-down
    _limit_memory()
    with (folder / "stderr.txt").open("ab") as errors:
        os.dup2(errors.fileno(), 2)
    pipe.send(None)
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            kind, seed, number, own = pipe.recv()
            pipe.send(attempt(kind, seed, number, own, pipe.send))


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
