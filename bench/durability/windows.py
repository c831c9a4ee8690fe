"""Windows in forked processes: one where a person works until it is killed, one where is read."""

import json
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.*=false")  # a platform without a screen misses much

from PySide6.QtCore import QTimer

import gui.app
from bench.durability.ledger import Key
from bench.durability.person import NAME, Annotator, NothingShown, noted, pause
from bench.hostile.sound_files import command, home_in
from engine.core.items import Preference
from engine.system.paths import keep_caches_together
from gui.widgets.label_mark import LABEL_WORDS
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent

READY = "ready"
WORDS = "printed.txt"  # in the data folder
_PATIENCE = 120.0  # seconds for a window to open, or to end
_METHOD = "forkserver" if sys.platform.startswith("linux") else "spawn"
_CONTEXT: Any = multiprocessing.get_context(_METHOD)
_LAST_WORDS = 1000
_SIGNS = {"done": "✓", "skipped": "»"}


class WindowFailed(Exception):
    """A window ended by itself, or does nothing any more; with the end of what it printed."""


class Process:
    """A process that tells of what happens in it, until it ends or is killed."""

    def __init__(self, work: Callable[..., None], home: Path, *arguments: object) -> None:
        self._home = home
        self._received, told = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=work, args=(home, told, *arguments))
        self._process.start()
        told.close()

    def hear(self) -> object:
        """What it tells next. WindowFailed where that is nothing, or where it has ended."""
        try:
            if self._received.poll(_PATIENCE):
                return self._received.recv()
        except EOFError:
            raise WindowFailed(f"a window has ended: {self._words}") from None
        raise WindowFailed(f"a window tells nothing any more: {self._words}")

    def hear_for(self, seconds: float) -> Iterator[object]:
        """What it tells for a while, at the most until it ends."""
        until = time.monotonic() + seconds
        with suppress(EOFError):
            while self._received.poll(max(0.0, until - time.monotonic())):
                yield self._received.recv()

    def kill(self) -> Iterator[object]:
        """End it at once; what it had told, whole, until then."""
        self._process.kill()
        self._process.join()
        with suppress(EOFError, OSError):  # also where it was killed in the middle of a word
            while True:
                yield self._received.recv()

    def hear_out(self) -> Iterator[object]:
        """What it tells until it ends by itself. WindowFailed where that takes long, or fails."""
        yield from self.hear_for(_PATIENCE)
        self._process.join(_PATIENCE)
        if self._process.exitcode:
            raise WindowFailed(f"a window has failed: {self._words}")
        if self._process.exitcode is None:
            self._process.kill()
            raise WindowFailed(f"a window does not end: {self._words}")
        yield from self.hear_for(0)  # of a busy computer: what came while it was waited for

    @property
    def _words(self) -> str:
        return (self._home / WORDS).read_text("utf-8", "replace")[-_LAST_WORDS:]


def start(work: Callable[..., None], home: Path, *arguments: object) -> Process:
    _CONTEXT.set_forkserver_preload(["bench.durability.preloaded"])
    return Process(work, home, *arguments)


# In such a process


def work(home: Path, told: Connection, kind: str, seed: str, number: int, of: int, patience: float) -> None:
    """Do one thing again and again in a window, and tell of it."""

    def do(main_content: MainContent) -> None:
        annotator = Annotator(main_content, told.send, Random(seed), number, of, patience)
        if kind != "migration":
            annotator.begin()
        told.send(READY)
        while True:
            annotator.acts[kind]()

    _in_window(home, do)


def work_and_close(home: Path, told: Connection, kind: str, seed: str, acts: int) -> None:
    """Do a few things in a window, and close it as one does, at once."""

    def do(main_content: MainContent) -> None:
        annotator = Annotator(main_content, told.send, Random(seed), patience=0.3)
        annotator.begin()
        told.send(READY)
        pause(0.3)
        for _ in range(acts):
            annotator.acts[kind]()

    _in_window(home, do)


def leave_behind(home: Path, told: Connection, dataset: Path) -> None:
    """What a person left last time: a dataset, run 1, a name, the Review page, words of each kind."""

    def do(main_content: MainContent) -> None:
        main_content.workspace.set_author(NAME)
        main_content.workspace.open_dataset(dataset)
        main_content.workspace.open_run(1)
        annotator = Annotator(main_content, told.send, Random(1))
        annotator.begin()
        for kind in ("label", "explanation", "note", "state", "draft", "queue"):
            for _ in range(3):
                annotator.acts[kind]()

    _in_window(home, do)


def read(home: Path, told: Connection, keys: Sequence[Key] | None) -> None:
    """What a window shows of each key, and the exports; without keys these; else why no run opens."""

    def do(main_content: MainContent) -> None:
        annotator = Annotator(main_content, told.send, Random(1))
        try:
            annotator.begin()
        except NothingShown as error:
            told.send(str(error))
            os._exit(0)
        told.send({key: annotator.read(key) for key in keys or ()})

    _in_window(home, do)
    with home_in(home):
        told.send(dict(_exported(home, keys)))


def _exported(home: Path, keys: Sequence[Key] | None) -> Iterator[tuple[Key, str | None]]:
    """What `runs export --json` has of these keys, or all that it has."""
    runs = {key.item for key in keys or () if key.kind == "run"} | {"1"}
    held: dict[Key, str | None] = {}
    for run in sorted(runs):
        path = home / f"run-{run}.json"
        code, printed = command(["runs", "export", run, "--json", str(path)])
        if not path.is_file():
            raise RuntimeError(f"runs export {run} ended with {code}: {printed}")
        values = json.loads(path.read_text("utf-8"))
        held[Key("run", run)] = str(len(values["items"]))
        if run == "1":
            held.update(_annotators_say(values))
    if keys is None:
        yield from held.items()
        return
    for key in keys:
        if key.kind not in ("draft", "queue"):  # which are in no export
            yield key, held.get(key, "" if key.kind == "state" else None)


def _annotators_say(values: Mapping[str, Any]) -> Iterator[tuple[Key, str]]:
    for item in values["items"]:
        states = [mark["state"] for mark in item["reviews"] if mark["author"] == NAME]
        yield Key("state", item["id"]), _SIGNS.get(states[-1], "") if states else ""
        for note in item["notes"][-1:]:
            yield Key("note", item["id"]), noted(note["text"], note["tags"])
        for criterion, judgment in item["judgments"].items():
            override = judgment["override"] or {}
            if override.get("preference"):
                label = LABEL_WORDS[Preference(override["preference"])].capitalize()
                yield Key("label", item["id"], criterion), label
            if override.get("explanation"):
                yield Key("explanation", item["id"], criterion), override["explanation"]


def _in_window(home: Path, do: Callable[[MainContent], None]) -> None:
    """Open the window on a data folder as its user does, do something in it, and close it."""
    with (home / WORDS).open("a") as words:
        os.dup2(words.fileno(), 2)
    fill = gui.app.fill

    def filled(window: MainWindow) -> MainContent:
        main_content = fill(window)
        QTimer.singleShot(0, main_content, lambda: act(main_content))
        return main_content

    def act(main_content: MainContent) -> None:
        try:
            do(main_content)
        except BaseException:  # a slot would show it in the window, where nobody looks
            traceback.print_exc()
            os._exit(9)
        main_content.frame.close()

    gui.app.fill = filled
    with home_in(home):
        keep_caches_together()
        gui.app.open_window()
    gui.app.fill = fill
