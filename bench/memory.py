"""What the window's memory does while a person works in it: round after round of all that it can do.

    python -m bench.memory [DATASET ...] [--minutes N] [--items N]

In each round it opens a dataset, searches it, judges some of its items in a new run, looks at all that the
Results page has, goes through the items on the Review page, compares the systems, writes a report. After each
round it says what the window holds, and in the end which objects became more. It measures and judges nothing:
exit code 0. Without a screen unless QT_QPA_PLATFORM says otherwise.
"""

import argparse
import gc
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from bench.durability.person import pause, until
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_dataset, demo_model
from gui.app import make_application
from gui.results.export_jobs import Form
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import PageName, State
from gui.workspace.threads import ThreadName
from tests.gui.windows import end_window

MB = 1 << 20
STEPS = 60  # from item to item in each round
_PATIENCE = 600.0  # seconds for anything to come about
_QUIET = 0.4  # seconds without work after which a page has done what it was asked
_SHOWN = 25  # kinds of objects that are listed


class Watch:
    """Looks at this process and at its children."""

    def __init__(self) -> None:
        self._process, self._began = psutil.Process(), time.monotonic()
        self._child = 0  # the most bytes that one held since it was said last
        _line("after", "seconds", "resident", "child", "objects", "widgets")

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def look_at_children(self) -> None:
        for child in self._process.children(recursive=True):
            with suppress(psutil.Error):
                self._child = max(self._child, child.memory_info().rss)

    def say(self, what: str) -> None:
        gc.collect()
        sizes = (f"{size / MB:.0f} MB" for size in (self._process.memory_info().rss, self._child))
        counts = len(gc.get_objects()), len(QApplication.allWidgets())
        _line(what, f"{self.seconds:.0f}", *sizes, *(f"{count:,}" for count in counts))
        self._child = 0


def _line(first: str, *cells: str) -> None:
    print(first.ljust(16) + "".join(cell.rjust(10) for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what the window holds while a person works.")
    parser.add_argument("datasets", type=Path, nargs="*", default=[demo_dataset()])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (%(default)s)")
    parser.add_argument("--items", type=int, default=20, help="judged in each round (%(default)s)")
    options = parser.parse_args()
    _app = make_application([])  # lives as long as its window
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        main_content = _opened(Path(folder) / "window")
        try:
            _work(main_content, options, Path(folder) / "report.html")
        finally:
            end_window(main_content)


def _opened(home: Path) -> MainContent:
    """A window on a memory and a store of its own, once its dataset is there."""
    home.mkdir()
    frame = MainWindow(State(home))
    frame.resize(1280, 720)
    frame.show()
    main_content = MainContent(frame, home / "runs.sqlite")
    main_content.begin(demo_dataset())
    _wait(lambda: main_content.workspace.dataset is not None)
    return main_content


def _work(main_content: MainContent, options: argparse.Namespace, report: Path) -> None:
    watch, number = Watch(), 0
    watch.say("opened")
    before: Counter[str] = Counter()
    while watch.seconds < 60 * options.minutes or number < 2:
        number += 1
        dataset = options.datasets[number % len(options.datasets)]
        for part in _round(main_content, dataset, options.items, report, watch):
            if number == 1:
                watch.say(part)
        watch.say(f"round {number}")
        if number == 1:  # all is imported, all pages are made
            before = _kinds()
    print(f"\nObjects that became more in {number - 1} rounds")
    for kind, count in (_kinds() - before).most_common(_SHOWN):
        print(f"  {count:8,}  {kind}")


def _kinds() -> Counter[str]:
    return Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())


def _round(main_content: MainContent, dataset: Path, items: int, report: Path, watch: Watch) -> Iterator[str]:
    """What is done in a round, part by part."""
    pages, results = main_content.frame.show_page, main_content.results
    _look_at_dataset(main_content, dataset)
    yield "dataset"
    pages(PageName.JUDGE)
    _quiet(main_content)
    yield "plan"
    _judge(main_content, dataset, items, watch)
    yield "judge"
    pages(PageName.RESULTS)
    for tab in range(results.tabs.count()):
        results.tabs.setCurrentIndex(tab)
        _quiet(main_content)
    yield results.tabs.tabText(tab).replace("&", "").lower()
    results.export(Form.REPORT, report)
    _quiet(main_content)
    yield "report"
    _review(main_content)
    yield "review"
    pages(PageName.COMPARE)
    _quiet(main_content)
    main_content.compare.compare()
    _quiet(main_content)
    yield "compare"


def _look_at_dataset(main_content: MainContent, dataset: Path) -> None:
    space = main_content.workspace
    main_content.frame.show_page(PageName.DATASET)
    space.open_dataset(dataset)
    _wait(lambda: space.dataset is not None and space.dataset.path == dataset)
    search = main_content.dataset.findChild(QLineEdit)
    if search is not None:
        QTest.keyClicks(search, "the")
        _quiet(main_content)
        search.clear()
    _quiet(main_content)


def _judge(main_content: MainContent, dataset: Path, items: int, watch: Watch) -> None:
    main_content.frame.show_page(PageName.JUDGE)
    control = main_content.run_control
    control.start(RunSetup(dataset, demo_model(), items=items, mode=Mode.EXPLAIN, fresh=True))

    def ended() -> bool:
        watch.look_at_children()
        return not control.running

    _wait(ended)
    if control.progress is not None:
        main_content.workspace.open_run(control.progress.run_id)
    _quiet(main_content)


def _review(main_content: MainContent) -> None:
    """From item to item, back again, criterion by criterion, with another order of the list."""
    main_content.frame.show_page(PageName.REVIEW)
    _quiet(main_content)
    page, keys = main_content.review, Qt.Key
    page.take_focus()
    for step in range(STEPS):
        pressed = [keys.Key_J if step < 2 * STEPS // 3 else keys.Key_K]
        pressed.append((keys.Key_1, keys.Key_2, keys.Key_3, keys.Key_4, keys.Key_5)[step % 5])
        pressed += [keys.Key_V, keys.Key_D, keys.Key_Space] if step % 10 == 0 else []
        for key in pressed:
            QTest.keyClick(QApplication.focusWidget() or page, key)
            pause(0.02)
    _quiet(main_content)


def _quiet(main_content: MainContent) -> None:
    """Let the window work until none of its lanes has anything to do for a while."""
    since = time.monotonic()

    def quiet() -> bool:
        nonlocal since
        if any(map(main_content.threads.busy, ThreadName)):
            since = time.monotonic()
        return time.monotonic() - since > _QUIET

    _wait(quiet)


def _wait(condition: Callable[[], bool]) -> None:
    if not until(condition, _PATIENCE):
        raise TimeoutError("what was waited for did not come about")


if __name__ == "__main__":
    main()
