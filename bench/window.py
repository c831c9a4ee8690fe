"""How promptly the window answers: judging, opening, ranking, with many items, to another look.

    python -m bench.window [--starts N] [--items N]

Without a screen unless QT_QPA_PLATFORM says otherwise. It measures and judges nothing: the exit code is 0.

Knows: the window as its user meets it. Does not know: how any page works.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QEventLoop, QObject, QPoint, Qt, QTimer, Slot
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QTableView, QTabWidget

from engine.core.items import Preference
from engine.data.submission import write_submission
from engine.results.run_results import submission_of
from engine.system.paths import demo_dataset
from gui.app import make_application
from gui.widgets.actions import BusyLine
from gui.widgets.theme import ThemeChoice
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import PageName, State

TICK_MS = 10
LATE_P99_MS, LATE_MOST_MS = 50, 150
START_RATIO = 1.5
PAUSE_MS = 200
RANK_SECONDS = 10
LOOK_MS = 500
_TURNS = 6  # of the event loop, after which all is drawn
_PATIENCE = 600.0  # seconds for anything to come about
_STILL = 1.0  # seconds without a change after which a page has done what it was asked
_INSTRUCTION = 1  # the column

_FIRST_PICTURE = """
import sys, time, os
from PySide6.QtCore import QEvent, QObject, QTimer

class Watch(QObject):
    def eventFilter(self, seen, event):
        # The first picture is painted while this event is dealt with.
        if event.type() == QEvent.Type.Expose:
            QTimer.singleShot(0, self.tell)
        return False

    def tell(self):
        print(time.time(), flush=True)
        os._exit(0)

def show(app, window):
    window.show()
    watch = Watch()
    window.windowHandle().installEventFilter(watch)
    app.exec()
"""
_EMPTY_WINDOW = (
    _FIRST_PICTURE
    + """
from PySide6.QtWidgets import QApplication, QMainWindow, QTableWidget
app = QApplication([])
window = QMainWindow()
window.setCentralWidget(QTableWidget(20, 5))
window.resize(1280, 800)
show(app, window)
"""
)
_OUR_WINDOW = (
    _FIRST_PICTURE
    + """
import main, gui.app
app = gui.app.make_application([])
window = gui.app.MainWindow()
show(app, window)
"""
)


class Lateness(QObject):
    """A timer on the thread of the window, and by how many milliseconds each of its ticks was late."""

    def __init__(self) -> None:
        super().__init__()
        self._late: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    @Slot()
    def _tick(self) -> None:
        now = time.perf_counter()
        self._late.append(max(0.0, 1000 * (now - self._last) - TICK_MS))
        self._last = now

    def taken(self) -> list[float]:
        """All lateness since the last call, sorted; never empty."""
        found, self._late = sorted(self._late), []
        return found or [0.0]


def main() -> None:
    """Measure all, each in its own window."""
    parser = argparse.ArgumentParser(description="Measure how promptly the window answers.")
    parser.add_argument("--starts", type=int, default=7, help="how often each window is opened (%(default)s)")
    parser.add_argument("--items", type=int, default=100_000, help="of the large dataset (%(default)s)")
    options = parser.parse_args()
    measure_starts(options.starts)
    _app = make_application([])  # lives as long as its windows
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        measure_judging(Path(folder))
        measure_looks(Path(folder))
        measure_labels(Path(folder))
        measure_ranking(Path(folder))
        measure_many_items(Path(folder), options.items)


def measure_starts(times: int) -> None:
    """From the start of the process to the first picture: ours, and a window with nothing but a table."""
    ours, empty = [], []
    for _ in range(times):
        empty.append(_seconds_to_first_picture(_EMPTY_WINDOW))
        ours.append(_seconds_to_first_picture(_OUR_WINDOW))
    ratio = statistics.median(ours) / statistics.median(empty)
    print(f"Start to first picture, median of {times} (bar: {START_RATIO:.1f} times the empty window)")
    print(f"  {'empty window':24}{statistics.median(empty):8.2f} s   {min(empty):.2f} to {max(empty):.2f}")
    print(f"  {'Tiebreak':24}{statistics.median(ours):8.2f} s   {min(ours):.2f} to {max(ours):.2f}")
    print(f"  {'ratio':24}{ratio:8.2f}\n", flush=True)


def _seconds_to_first_picture(code: str) -> float:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        started = time.time()
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"TIEBREAK_HOME": home},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return float(done.stdout.split()[-1]) - started


def measure_judging(folder: Path) -> None:
    """Lateness on the thread of the window while the demo model judges, page by page."""
    main_content = opened(folder / "judging", demo_dataset())
    late = Lateness()
    print(f"A {TICK_MS} ms timer while the demo model judges: late by, in ms")
    print(f"(bars: p99 {LATE_P99_MS}, most {LATE_MOST_MS})")
    print(f"  {'page shown':24}{'ticks':>8}{'p50':>8}{'p99':>8}{'most':>8}")
    main_content.run()
    total = len(demo_dataset().read_bytes().splitlines()) - 1
    shown = (PageName.JUDGE, PageName.REVIEW, PageName.RESULTS, PageName.DATASET, PageName.COMPARE)
    for number, page in enumerate(shown, start=1):
        if page is PageName.REVIEW:
            wait(lambda: _run_of(main_content) is not None)
            main_content.workspace.open_run(_run_of(main_content) or 0)
        main_content.frame.show_page(page)
        wait(_Judged(main_content, total * number / len(shown)))
        found = late.taken()
        p50, p99 = found[len(found) // 2], found[int(len(found) * 0.99)]
        print(f"  {page:24}{len(found):8,}{p50:8.1f}{p99:8.1f}{found[-1]:8.1f}", flush=True)
    wait(lambda: not main_content.run_control.running)
    closed(main_content)
    print()


def measure_looks(folder: Path) -> None:
    """How long another text size and theme take, page by page, all having been looked at.

    The window has the run of `measure_judging`.
    """
    home = folder / "judging"
    main_content = opened(home, demo_dataset())
    frame, space, comparing = main_content.frame, main_content.workspace, main_content.compare
    space.open_run(1)
    wait(lambda: space.run is not None)
    assert space.run is not None
    write_submission(home / "same.tsv", submission_of(space.run.results))
    comparing.choosing.systems.restore({"runs": [1], "files": [[str(home / "same.tsv"), True]]})
    comparing.compare()
    wait(lambda: comparing.compared is not None)
    for page in PageName:
        frame.show_page(page)
        _rest(frame)
        for tabs in [tabs for tabs in frame.findChildren(QTabWidget) if tabs.isVisible()]:
            for number in range(tabs.count()):
                tabs.setCurrentIndex(number)
    print(f"Another text size or theme, {len(QApplication.allWidgets()):,} widgets: ms (bar: {LOOK_MS})")
    print(f"  {'page shown':24}{'larger':>8}{'smaller':>8}{'dark':>8}{'light':>8}")
    for page in PageName:
        frame.show_page(page)
        QApplication.processEvents()
        steps = (
            *(partial(frame.step_text_size, step) for step in (1, -1)),
            *(partial(frame.set_theme, theme) for theme in (ThemeChoice.DARK, ThemeChoice.LIGHT)),
        )
        times = [_until_drawn(step) for step in steps]
        print(f"  {page:24}" + "".join(f"{time:8.0f}" for time in times), flush=True)
    closed(main_content)
    print()


def _rest(frame: MainWindow) -> None:
    """Let the window work until it has shown no progress for a while."""
    since = time.perf_counter()

    def rested() -> bool:
        nonlocal since
        if any(line.isVisible() for line in frame.findChildren(BusyLine)):
            since = time.perf_counter()
        return time.perf_counter() - since > _STILL

    wait(rested)


def _until_drawn(action: Callable[[], object]) -> float:
    """Milliseconds until an action is done, and what it changed is drawn."""
    started = time.perf_counter()
    action()
    for _ in range(_TURNS):
        QApplication.processEvents()
    return 1000 * (time.perf_counter() - started)


class _Judged:
    """True once so many items are judged, or the run has ended."""

    def __init__(self, main_content: MainContent, items: float) -> None:
        self._control = main_content.run_control
        self._items = items

    def __call__(self) -> bool:
        progress = self._control.progress
        return not self._control.running or (progress is not None and progress.judged >= self._items)


def _run_of(main_content: MainContent) -> int | None:
    """The number of the run that is under way, once it has one."""
    progress = main_content.run_control.progress
    return progress.run_id if progress else None


def measure_labels(folder: Path, labels: int = 40) -> None:
    """From the key of a label until the store has it and the card shows it.

    The window has the run of `measure_judging`.
    """
    main_content = opened(folder / "judging", demo_dataset())
    frame, space = main_content.frame, main_content.workspace
    space.set_author("Ada")
    space.open_run(1)
    wait(lambda: space.run is not None)
    frame.show_page(PageName.REVIEW)
    _rest(frame)
    stored: list[object] = []
    space.overrides_changed.connect(stored.append)
    times = []
    for number in range(labels):
        before, started = len(stored), time.perf_counter()
        main_content.review.desk.override_label(Preference.BOTH_BAD if number % 2 else Preference.BOTH_GOOD)
        while len(stored) == before:  # without a tick, which would be what is measured
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 5)
        times.append(1000 * (time.perf_counter() - started))
    closed(main_content)
    times.sort()
    print(f"From the key of a label until it is stored and shown, {labels} labels: ms")
    print(
        f"  median {statistics.median(times):.1f}, 9 of 10 below {times[int(labels * 0.9)]:.1f}\n", flush=True
    )


def measure_ranking(folder: Path, candidates: int = 20, items: int = 10_000) -> None:
    """From the page Ranking being chosen to the ranking, and the longest pause of the window meanwhile."""
    path = folder / "contests.tsv"
    write_many(path, items)
    lines = path.read_text("utf-8").splitlines()
    first, second = ["candidate_a"], ["candidate_b"]
    for number in range(items):
        one = number % candidates
        first.append(f"model-{one:02}")
        second.append(f"model-{(one + 1 + number // candidates % (candidates - 1)) % candidates:02}")
    rows = ("\t".join(cells) for cells in zip(lines, first, second, strict=True))
    path.write_text("\n".join(rows) + "\n", "utf-8")
    main_content = opened(folder / "ranking", path)
    _rest(main_content.frame)
    late, started = Lateness(), time.perf_counter()
    main_content.frame.show_page(PageName.RANKING)
    wait(lambda: main_content.ranking.ranked is not None)
    seconds = time.perf_counter() - started
    _rest(main_content.frame)
    print(f"{candidates} candidates, {items:,} items (bar: {RANK_SECONDS} s, no pause of {PAUSE_MS} ms)")
    print(f"  ranked in {seconds:.1f} s, the longest pause {late.taken()[-1]:.0f} ms\n", flush=True)
    closed(main_content)


def measure_many_items(folder: Path, items: int) -> None:
    """The longest pause of the window while it opens, sorts, searches and scrolls a large dataset."""
    path = folder / "many.tsv"
    write_many(path, items)
    main_content = opened(folder / "many", demo_dataset())
    main_content.frame.show_page(PageName.DATASET)
    table = main_content.dataset.findChild(QTableView)
    search = main_content.dataset.findChild(QLineEdit)
    assert isinstance(table, QTableView)
    assert isinstance(search, QLineEdit)
    late = Lateness()
    print(f"{items:,} items: the longest pause, in ms (bar: {PAUSE_MS} after loading)")

    def measure(what: str, action: Callable[[], object]) -> None:
        _wait_until_still(table)
        late.taken()
        started = time.perf_counter()
        action()
        seconds = _wait_until_still(table) - started
        print(f"  {what:24}{late.taken()[-1]:8.1f}   done in {seconds:.1f} s", flush=True)

    def load() -> None:
        main_content.workspace.open_dataset(path)
        wait(
            lambda: (
                main_content.workspace.dataset is not None and len(main_content.workspace.dataset) == items
            )
        )

    def click_header() -> None:
        header = table.horizontalHeader()
        place = QPoint(header.sectionViewportPosition(_INSTRUCTION) + 20, header.height() // 2)
        QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)

    measure("open", load)
    measure("sort by instruction", click_header)
    measure("sort the other way", click_header)
    measure("search: a word", lambda: QTest.keyClicks(search, "quick"))
    measure("search: two words", lambda: QTest.keyClicks(search, " 99"))
    measure("clear the search", search.clear)
    measure("scroll", lambda: _scroll(table))
    closed(main_content)


def _scroll(table: QTableView) -> None:
    """Page by page near the top, then in great steps to the end."""
    bar = table.verticalScrollBar()
    for step in range(300):
        bar.setValue(step * bar.pageStep() if step < 150 else (step - 150) * bar.maximum() // 150)
        QApplication.processEvents()


def write_many(path: Path, items: int) -> None:
    """A dataset of items that all differ, of a usual length."""
    lines = demo_dataset().read_text("utf-8").splitlines()
    cells = [line.split("\t") for line in lines[1:]]
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{lines[0]}\n")
        for number in range(items):
            _id, instruction, *rest = cells[number % len(cells)]
            file.write("\t".join([str(number), f"{instruction} Why {number * 7919 % items}?", *rest]) + "\n")


def opened(home: Path, dataset: Path) -> MainContent:
    """A window on a memory and a store of its own, once its dataset is there."""
    home.mkdir(exist_ok=True)
    frame = MainWindow(State(home))
    frame.resize(1280, 720)
    frame.show()
    main_content = MainContent(frame, home / "runs.sqlite")
    main_content.begin(dataset)
    wait(lambda: main_content.workspace.dataset is not None)
    return main_content


def closed(main_content: MainContent) -> None:
    main_content.frame.close()
    wait(lambda: not main_content.frame.isVisible())
    main_content.end()
    main_content.frame.deleteLater()  # else it takes part in the changes of the next one's look
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def wait(condition: Callable[[], bool]) -> None:
    """Let the window work, in an event loop as it always has, until something has come about."""
    loop, poll = QEventLoop(), QTimer()
    deadline = time.perf_counter() + _PATIENCE

    def look() -> None:
        if condition() or time.perf_counter() > deadline:
            loop.quit()

    poll.timeout.connect(look)
    poll.start(5)
    loop.exec()
    poll.stop()
    if not condition():
        raise TimeoutError("what was waited for did not come about")


def _wait_until_still(table: QTableView) -> float:
    """Let the window work until its table changes no more; when it last changed."""
    seen: object = None
    since = time.perf_counter()

    def is_still() -> bool:
        nonlocal seen, since
        model = table.model()
        now = (model.rowCount(), model.index(0, _INSTRUCTION).data(), table.verticalScrollBar().value())
        if now != seen:
            seen, since = now, time.perf_counter()
        return time.perf_counter() - since > _STILL

    wait(is_still)
    return since


if __name__ == "__main__":
    main()
