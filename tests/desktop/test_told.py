"""Every control of every page, and of the dialogs that keys open, as it is told to a screen reader; what is
told without a desktop of all dialogs, `tests/gui/window/test_whole_window.py` looks at.
"""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.desktop.at_spi import Accessible, Reader, Reference
from tests.desktop.by_ear import Annotator, somebody
from tests.desktop.desk import ROOT, Desk, wait_for
from tests.gui.told import wrong_words

_DEMO = str(ROOT / "examples" / "demo.tsv")
_MAIN = "demo.tsv - Tiebreak"
_USED = {
    *("push button", "button menu", "check box", "radio button", "combo box", "spin box", "slider", "text"),
    *("page tab", "progress bar", "table", "list", "tree"),
}
_STATES = {"check box": "checkable", "radio button": "checkable", "button menu": "has-popup"}
_DIALOGS = {
    "Settings": ("ctrl+comma",),
    "What the words mean": ("F1",),
    "Keys": ("alt+h", "k"),
    "About": ("alt+h", "a"),
    "Self-test": ("alt+h", "t"),
    "Runs": ("ctrl+l",),
    "Export run 1 (": ("ctrl+e",),
    "Prompt of the model": ("ctrl+1", "p"),
    "Rubric task": ("F7", "Tab", "Tab", "Down", "e"),
}
_BY_ACTION = {"Find the best settings": "best settings"}
"""Buttons of the Judge page, pressed as a screen reader does it; what their dialogs are called."""


def judged(home: Path) -> None:
    """A run of the first items of the demo, in the store of that home."""
    words = ["judge", _DEMO, "--model", "demo", "--items", "12", "--out", str(home / "labels.tsv")]
    environment = {**os.environ, "TIEBREAK_HOME": str(home)}
    subprocess.run([sys.executable, str(ROOT / "main.py"), *words], env=environment, check=True, timeout=600)


def shown(annotator: Annotator) -> Iterator[tuple[Accessible, str]]:
    """All that is seen in the window with the keys, and the name of the nearest thing that it belongs to."""
    for window in annotator.windows():
        around: dict[Reference, str] = {}
        for told in annotator.reader.tree(window):
            group = around.get(told.at, "")
            around.update(dict.fromkeys(told.children, told.name or group))
            yield told, group


def wrong(annotator: Annotator) -> list[str]:
    """What is wrong with what is told of the controls that are seen, a line each."""
    found: list[str] = []
    alike: Counter[tuple[str, ...]] = Counter()
    for told, group in shown(annotator):
        if told.role not in _USED and ("focusable" not in told.states or told.role == "label"):
            continue
        if told.role == "filler" and not told.name:
            continue  # Qt tells so of what holds tabs, which hands the keys to them
        alike[(str(told), told.description, group)] += 1
        found += [f"{told}: {line}" for line in (*_wrong_with(told), *_wrong_cells(annotator.reader, told))]
    twice = [(count, what, group) for (what, _, group), count in alike.items() if count > 1]
    return found + [f"{count} of {what} in {group!r}" for count, what, group in twice]


def _wrong_with(told: Accessible) -> Iterator[str]:
    # A list that holds nothing has its purpose for a name, too: there Qt would tell what it is set to.
    yield from wrong_words(told.name, "" if told.role == "combo box" else told.description)
    if (state := _STATES.get(told.role)) is not None and state not in told.states:
        yield f"not {state}"
    if told.role == "combo box" and not told.description:
        yield "no purpose beside what it is set to"
    if told.role == "text" and ("editable" in told.states) == ("read-only" in told.states):
        yield "neither to be written in nor to be read alone"


def _wrong_cells(reader: Reader, told: Accessible) -> Iterator[str]:
    """The titles of the columns, and what its first cells say."""
    if told.role != "table":
        return
    columns = reader.property(told.at, "Table", "NColumns") or 0
    titles = [reader.call(told.at, "Table", "GetColumnHeader", "i", column) for column in range(columns)]
    for title in reader.told([(each[0], each[1]) for each in titles if each]):
        yield from (f"the title {title.name!r}: {line}" for line in wrong_words(title.name or "Row"))
    if reader.property(told.at, "Table", "NRows"):
        get = (told.at, "Table", "GetAccessibleAt", "ii", 0)
        cells = [reader.call(*get, column) for column in range(columns)]
        for cell in reader.told([(each[0], each[1]) for each in cells if each]):
            yield from (f"the cell {line}" for line in wrong_words(cell.name or "-") if "markup" in line)


def tabs(annotator: Annotator) -> Iterator[str]:
    """The tabs of a page, each opened by its action; the page itself where it has none."""
    here = [told for told, _ in shown(annotator) if told.role == "page tab"]
    for tab in here:
        annotator.reader.act(tab.at)
        annotator.received()
        yield tab.name
    if not here:
        yield ""


def wrong_in(annotator: Annotator, title: str) -> list[str]:
    """What is wrong in a dialog that opens, which is closed again."""
    wait_for(lambda: title in annotator.window(), title)
    found = wrong(annotator)
    annotator.press("Escape")
    wait_for(lambda: annotator.window() == _MAIN, "the main window")
    return found


def unfold(annotator: Annotator) -> None:
    for told, _ in list(shown(annotator)):
        if "shown below" in told.description and "checked" not in told.states:
            annotator.reader.act(told.at)
    annotator.received()


def test_every_control_of_each_page_and_dialog_is_told(a_desk: Desk, tmp_path: Path) -> None:
    judged(tmp_path)
    found: dict[str, list[str]] = {}
    with somebody(a_desk) as annotator, a_desk.program(_DEMO, home=tmp_path) as program:
        annotator.reader.program()
        annotator.lead_to("Judge, list item")
        annotator.hears("Run 1 is open")  # the latest of the dataset, by itself
        annotator.lead_to("Run 1 without a name, cell, selected", "ctrl+l")
        annotator.press("Escape")
        for number in range(1, 7):
            annotator.press(f"ctrl+{number}")
            unfold(annotator)
            for tab in tabs(annotator):
                found[f"page {number} {tab}"] = wrong(annotator)
        for title, keys in _DIALOGS.items():
            for key in ("ctrl+2", *keys):
                annotator.press(key)  # one after the other: a menu has to open before its letters are keys
            found[title] = wrong_in(annotator, title)
        for button, title in _BY_ACTION.items():
            annotator.press("ctrl+2")
            annotator.reader.act(next(told.at for told, _ in shown(annotator) if told.name == button))
            found[title] = wrong_in(annotator, title)
        a_desk.press("ctrl+q")
        assert program.wait(60) == 0
    lines = [f"{place}: {line}" for place, wrongs in found.items() for line in wrongs]
    assert not lines, "\n".join(lines)
