"""What the window's memory does while a person works in it: round after round of all that it can do.

    python -m bench.memory [DATASET ...] [--minutes N] [--items N] [--trace]
    python -m bench.memory --loads 10 [--items 20000]

In each round it opens a dataset, searches it, judges some of its items in a new run, looks at all that the
Results page has, goes through the items on the Review page, compares the systems, writes a report. After each
round it says what the window holds, and in the end which objects became more. `--trace` also says which lines
of Python hold what was added since the second round (slow). It measures and judges nothing: exit code 0.

With `--loads` it opens two large runs in turn instead, looks at all that the Results page has of each, and
lets the window rest a little. It says how long Python's garbage collector stopped the window at most, and how
many figures and tables are still there of those that were there at a load and dropped after it.

Without a screen unless QT_QPA_PLATFORM says otherwise.
"""

import argparse
import ctypes
import gc
import math
import os
import sys
import tempfile
import time
import tracemalloc
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from matplotlib.figure import Figure
from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from engine.core.items import Order
from engine.core.judgments import JudgedItem, RawPrediction
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.settings.identity import RunIdentity
from engine.settings.rows import JudgeSettings, Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
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
_TITLES = ("resident", "anonymous", "in use", "free", "Arrow", "child")
_REST = 15.0  # seconds that a person looks at what he opened
_SHOWN = 25  # kinds of objects and lines that are listed


class _Allocator(ctypes.Structure):
    """What glibc's mallinfo2 gives; of these `arena`, `hblkhd`, `uordblks` and `fordblks` are used."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


@dataclass(frozen=True)
class Held:
    """Bytes: in all, anonymous, heaps used and free, Arrow's, the `child` at most; `objects` of Python."""

    resident: int
    anonymous: int
    used: int
    free: int
    arrow: int
    child: int
    objects: int
    widgets: int


class Pauses:
    """How long the collector stopped the window at most, since it was asked last."""

    def __init__(self) -> None:
        self._began = self._longest = 0.0
        gc.callbacks.append(self._hear)

    def taken(self) -> float:
        longest, self._longest = self._longest, 0.0
        return longest

    def _hear(self, phase: str, _info: dict[str, int]) -> None:
        now = time.perf_counter()
        if phase == "start":
            self._began = now
        else:
            self._longest = max(self._longest, now - self._began)


class Watch:
    """Looks at this process and at its children."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self.child = 0

    def look_at_children(self) -> None:
        """Keep the most that a child holds."""
        for child in self._process.children(recursive=True):
            with suppress(psutil.Error):
                self.child = max(self.child, child.memory_info().rss)

    def held(self) -> Held:
        """What is held now, after the collector has run."""
        gc.collect()
        memory = self._process.memory_info()
        used, free = _heaps()
        child, self.child = self.child, 0
        return Held(
            resident=memory.rss,
            anonymous=memory.rss - getattr(memory, "shared", 0),
            used=used,
            free=free,
            arrow=_arrow_bytes(),
            child=child,
            objects=len(gc.get_objects()),
            widgets=len(QApplication.allWidgets()),
        )


def _heaps() -> tuple[int, int]:
    """Bytes in use and free in the heaps of glibc; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0, 0
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        return 0, 0
    library.mallinfo2.restype = _Allocator
    info = library.mallinfo2()
    return info.uordblks + info.hblkhd, info.fordblks


def _arrow_bytes() -> int:
    arrow = sys.modules.get("pyarrow")
    return int(arrow.total_allocated_bytes()) if arrow else 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what the window holds while a person works.")
    parser.add_argument("datasets", type=Path, nargs="*", default=[demo_dataset()])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (%(default)s)")
    parser.add_argument("--items", type=int, help="judged in each round (20), or of a large run (20000)")
    parser.add_argument("--loads", type=int, help="open large runs so often instead")
    parser.add_argument("--trace", action="store_true", help="say which lines hold what was added")
    options = parser.parse_args()
    _app = make_application([])  # lives as long as its window
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder) / "window"
        if options.loads:
            _write_runs(home, options.items or 20_000)
        main_content = opened(home, home / "many.tsv" if options.loads else demo_dataset())
        try:
            if options.loads:
                _load(main_content, options.loads)
            else:
                _work(main_content, options, Path(folder))
        finally:
            end_window(main_content)


def _write_runs(home: Path, items: int) -> None:
    """A dataset and a store with two runs on it, whose labels are anything."""
    home.mkdir()
    path = home / "many.tsv"
    write_many(path, items)
    dataset = load_dataset(path, ELOQUENT)
    settings = {**JudgeSettings(mode=Mode.LABELS).as_json(), "examples": ""}
    with RunStore(home / "runs.sqlite") as store:
        for name in ("one", "other"):
            identity = RunIdentity(
                name, path, dataset.hash, items, demo_model(), name, "f" * 64, "7", ELOQUENT.names, settings
            )
            with store.begin(identity) as run:
                store.describe(run.id, {"llama_cpp": "none", "chat_template_hash": "c" * 64})
                judged = [_judged(place, item.id, item.content_hash) for place, item in enumerate(dataset)]
                store.add(run.id, judged)


def _judged(place: int, item_id: str, content_hash: str) -> JudgedItem:
    """An item with readings in both orders, which say A of some and B of others."""
    share = 0.1 + 0.6 * (place * 7919 % 1000) / 1000
    a, b, rest = math.log(share), math.log(0.8 - share), math.log(0.1)
    raw_predictions = (
        RawPrediction(Order.AB, (a, b, rest, rest)),
        RawPrediction(Order.BA, (b, a, rest, rest)),
    )
    return JudgedItem(place, item_id, content_hash, dict.fromkeys(ELOQUENT.names, raw_predictions))


def _load(main_content: MainContent, times: int) -> None:
    """Open two runs in turn, and look at all that the Results page has of each."""
    results, watch, pauses, began = main_content.results, Watch(), Pauses(), time.monotonic()
    dropped: list[weakref.ref[_Shown]] = []
    _line("after", "seconds", *_TITLES, "objects", "widgets", "pause", "kept")
    for number in range(1, times + 1):
        run, shown = 1 + number % 2, _Shown()
        main_content.workspace.open_run(run)
        wait(lambda run=run: _open_run(main_content) == run)  # type: ignore[misc]
        dropped.append(weakref.ref(shown))
        del shown
        main_content.frame.show_page(PageName.RESULTS)
        for tab in range(results.tabs.count()):
            results.tabs.setCurrentIndex(tab)
            _quiet(main_content)
        _pause(_REST)
        kept, pause = sum(each() is not None for each in dropped), pauses.taken()
        _say(f"load {number}", began, watch.held(), f"{1000 * pause:.0f} ms", str(kept))
        pauses.taken()


class _Shown:
    """A figure and a table as a page may have them while a run is loaded: in cycles, as matplotlib's are."""

    def __init__(self) -> None:
        self.figure = Figure()
        self.figure.subplots().plot(range(10_000))
        self.table = [str(number) for number in range(100_000)]
        self.figure.shown = self  # type: ignore[attr-defined]


def _open_run(main_content: MainContent) -> int | None:
    return main_content.workspace.run.id if main_content.workspace.run is not None else None


def _work(main_content: MainContent, options: argparse.Namespace, folder: Path) -> None:
    watch, began = Watch(), time.monotonic()
    _line("after", "seconds", *_TITLES, "objects", "widgets")
    _say("opened", began, watch.held())
    before: Counter[str] = Counter()
    start: tracemalloc.Snapshot | None = None
    number = 0
    while time.monotonic() - began < 60 * options.minutes or number < 2:
        number += 1
        dataset = options.datasets[number % len(options.datasets)]
        for part in _round(main_content, dataset, options.items or 20, folder, watch):
            if number == 1:
                _say(part, began, watch.held())
        _say(f"round {number}", began, watch.held())
        if number == 1:  # all is imported, all pages are made
            before = _kinds()
            if options.trace:
                tracemalloc.start(12)
        elif number == 2 and options.trace:
            start = tracemalloc.take_snapshot()
    print(f"\nObjects that became more in {number - 1} rounds")
    for kind, count in (_kinds() - before).most_common(_SHOWN):
        print(f"  {count:8,}  {kind}")
    if start is not None:
        print("\nLines that hold more than after the second round")
        for difference in tracemalloc.take_snapshot().compare_to(start, "lineno")[:_SHOWN]:
            more = f"{difference.size_diff / 1024:10,.0f} KB {difference.count_diff:8,}"
            print(f"  {more}  {difference.traceback}")


def _kinds() -> Counter[str]:
    return Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())


def _line(*cells: str) -> None:
    print(
        "".join(cell.rjust(10 if place else 1).ljust(16 * (not place)) for place, cell in enumerate(cells)),
        flush=True,
    )


def _say(what: str, began: float, held: Held, *more: str) -> None:
    sizes = (held.resident, held.anonymous, held.used, held.free, held.arrow, held.child)
    _line(
        what,
        f"{time.monotonic() - began:.0f}",
        *(f"{size / MB:.0f} MB" for size in sizes),
        f"{held.objects:,}",
        f"{held.widgets:,}",
        *more,
    )


def _round(main_content: MainContent, dataset: Path, items: int, folder: Path, watch: Watch) -> Iterator[str]:
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
    results.export(Form.REPORT, folder / "report.html")
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
    main_content.frame.show_page(PageName.DATASET)
    main_content.workspace.open_dataset(dataset)
    wait(
        lambda: main_content.workspace.dataset is not None and main_content.workspace.dataset.path == dataset
    )
    search = main_content.dataset.findChild(QLineEdit)
    if search is not None:
        QTest.keyClicks(search, "the")
        _quiet(main_content)
        search.clear()
    _quiet(main_content)


def _judge(main_content: MainContent, dataset: Path, items: int, watch: Watch) -> None:
    """A new run, on the Judge page with its latest judgments."""
    main_content.frame.show_page(PageName.JUDGE)
    control = main_content.run_control
    control.start(RunSetup(dataset, demo_model(), items=items, mode=Mode.EXPLAIN, fresh=True))

    def ended() -> bool:
        watch.look_at_children()
        return not control.running

    wait(ended)
    progress = control.progress
    if progress is not None:
        main_content.workspace.open_run(progress.run_id)
    _quiet(main_content)


def _review(main_content: MainContent) -> None:
    """From item to item, back again, criterion by criterion, with another order of the list."""
    main_content.frame.show_page(PageName.REVIEW)
    _quiet(main_content)
    page = main_content.review
    page.take_focus()
    for step in range(STEPS):
        _press(page, Qt.Key.Key_J if step < 2 * STEPS // 3 else Qt.Key.Key_K)
        _press(page, (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_4, Qt.Key.Key_5)[step % 5])
        if step % 10 == 0:
            _press(page, Qt.Key.Key_V)
            _press(page, Qt.Key.Key_D)
            _press(page, Qt.Key.Key_Space)
    _quiet(main_content)


def _press(page: QApplication | object, key: Qt.Key) -> None:
    QTest.keyClick(QApplication.focusWidget() or page, key)  # type: ignore[call-overload]
    _pause(0.02)


def _pause(seconds: float) -> None:
    until = time.monotonic() + seconds
    wait(lambda: time.monotonic() >= until)


def _quiet(main_content: MainContent) -> None:
    """Let the window work until none of its lanes has anything to do for a while."""
    since = time.monotonic()
    busy: list[str] = []

    def quiet() -> bool:
        nonlocal since
        busy[:] = [thread_name.value for thread_name in ThreadName if main_content.threads.busy(thread_name)]
        if busy:
            since = time.monotonic()
        return time.monotonic() - since > _QUIET

    try:
        wait(quiet)
    except TimeoutError as error:
        raise TimeoutError(f"there is no end to the work on the lanes {busy}") from error


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


if __name__ == "__main__":
    main()
