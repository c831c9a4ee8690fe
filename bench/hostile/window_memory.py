"""What the window keeps from one day to the next, its settings and its queue, damaged by another hand.

What is held: the whole window opens on it, without a screen, shows all its pages and ends again; nothing is a
fault of the program. What is damaged counts as not kept.
"""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.sound_files import SoundFiles, copy_of_store, home_in, sound_files
from bench.hostile.stores import ODD_VALUES
from bench.hostile.texts import with_odd_value
from engine.settings.run_setup import RunSetup
from engine.system.paths import log_folder

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

_SECONDS = 1.5  # for what is read when the window opens
_NAMES = (
    *("judge/settings", "queue", "unfinished", "models", "last/columns", "dataset/columns", "compare"),
    *("review/beside", "review/chosen", "review/filters", "review/drafts", "review/person", "rubric"),
    *("weights/runs", "weights/saved", "recent/datasets", "recent/models", "recent/rubrics"),
    *("text_size", "last/run", "results/tab", "review/beside height", "review/card", "page", "theme"),
    *("last/dataset", "last/model", "last/submission", "last/export", "author", "keep_awake", "review/blind"),
    "review/next criterion",
)
_ODD_NUMBERS = ("1e999", "-1e308", "1e308", "9" * 400, "-5.5", "2147483648")
_ODD_TEXTS = tuple(value for value in ODD_VALUES if isinstance(value, str))


def try_case(attempt: Attempt) -> Outcome:
    random, sound = attempt.random, sound_files(attempt.folder.parent)
    kept = _sound_memory(sound)
    damages = []
    for name in random.sample(_NAMES, random.randint(1, 4)):
        kept[name] = _odd_record(kept[name], random) if name in kept else random.choice(_ODD_TEXTS)
        damages.append(f"{name} = {kept[name][:60]!r}")
    what = "; ".join(damages)
    attempt.step(Step(what, processes=True))
    with home_in(attempt.folder / "home"):
        faults = _opened(attempt.folder, copy_of_store(sound, attempt.folder), kept)
        log = log_folder() / "tiebreak.log"
        logged = log.read_text("utf-8", "replace") if log.is_file() else ""
    if faults or logged:
        return Outcome(Ending.FAULT, what, "\n".join([*faults, logged[-3000:]]))
    return Outcome(Ending.TAKEN, what)


def _sound_memory(sound: SoundFiles) -> dict[str, str]:
    """What a window may have kept, as it writes it."""
    setup = RunSetup(sound.dataset, sound.model).as_json()
    entry = {"setup": setup, "state": "DONE", "run": 1, "said": "all of it", "seconds": 3.5}
    kept: dict[str, Any] = {
        "judge/settings": setup,
        "queue": {"entries": [entry, {**entry, "state": "WAITING", "run": None}]},
        "unfinished": {"runs": [1, 2]},
        "models": {"files": [str(sound.model)], "folders": [str(sound.folder)]},
        "dataset/columns": {"widths": {"id": 90}, "hidden": ["instruction"]},
        "recent/datasets": [str(sound.dataset)],
        "recent/models": [str(sound.model)],
        "last/columns": {"columns": {"id": "uid"}, "labels": {"1": "A"}},
    }
    return {name: json.dumps(value) for name, value in kept.items()} | {"last/dataset": str(sound.dataset)}


def _odd_record(text: str, random: Random) -> str:
    with suppress(ValueError, IndexError):  # no JSON, or nothing in it
        return with_odd_value(json.loads(text), (*_ODD_NUMBERS, *_ODD_TEXTS, "true"), random)[0]
    return random.choice(_ODD_TEXTS)


def _opened(folder: Path, store: Path, kept: dict[str, str]) -> list[str]:
    from PySide6.QtWidgets import QApplication

    from gui.window.frame import MainWindow
    from gui.window.main_content import MainContent
    from gui.workspace.state import PageName, State
    from tests.gui.windows import end_window

    app = QApplication.instance() or QApplication([])
    state = State(folder / "state")
    for name, text in kept.items():
        state.set_text(name, text)
    state.save()
    faults: list[str] = []
    before, sys.excepthook = (
        sys.excepthook,
        lambda kind, error, _trace: faults.append(f"{kind.__name__}: {error}"),
    )
    try:
        frame = MainWindow(State(folder / "state"))
        frame.show()
        main_content = MainContent(frame, store)
        main_content.begin()
        for page in PageName:
            frame.show_page(page)
            until = time.monotonic() + _SECONDS / len(PageName)
            while time.monotonic() < until:
                app.processEvents()
        end_window(main_content)
    finally:
        sys.excepthook = before
    return faults
