"""What grows with the rows of a file: memory and processor time of commands, as ratios within one run.

    python -m bench.rows [check evaluate report pairs audit window] [--rows N] [--seed 1]

The files are made by a seed. Each command runs in a process of its own; `largest` is the most memory that one
of its processes held, `together` what all of them held at one moment, as it was seen fifty times a second.
Next to them stand what pyarrow takes to read the same file, and what `evaluate` takes for the same items. Of
the window: until it shows the items, and the longest time in which it did not answer meanwhile. It judges
nothing: exit code 0.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import sub
from pathlib import Path
from random import Random

import psutil

from engine.core.rubric import ELOQUENT

MB = 1 << 20
_LABELS = ("A", "B", "both_good", "both_bad")
_PATIENCE = 1200.0  # seconds for the window to show all items
_TICK = 0.02  # seconds between two looks at the memory of processes
_WORDS = ("plain", "words", "of", "a", "text", "that", "nobody", "reads", "in", "full", "but", "counts")
_READ_JSON = "import sys, pyarrow.json as reader; print(reader.read_json(sys.argv[1]).num_rows)"


@dataclass(frozen=True)
class Cost:
    """Of a command and all processes that it started: seconds, and bytes of memory."""

    seconds: float
    processor: float
    largest: int
    together: int

    def __str__(self) -> str:
        memory = f"{self.largest / MB:6,.0f} MB largest, {self.together / MB:6,.0f} MB together"
        return f"{self.seconds:7.1f} s, {self.processor:7.1f} s of processor, {memory}"


def cost_of(command: Sequence[str | Path], home: Path) -> Cost:
    """What a command takes; CalledProcessError where it fails."""
    began, together = time.monotonic(), 0
    environment = {**os.environ, "TIEBREAK_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # nobody compiles the program anew for each command
    child = psutil.Popen([sys.executable, *map(str, command)], stdout=subprocess.DEVNULL, env=environment)
    while True:
        with suppress(psutil.Error):
            family = (child, *child.children(recursive=True))
            together = max(together, sum(each.memory_info().rss for each in family))
        number, status, used = os.wait4(child.pid, os.WNOHANG)
        if number:
            break
        time.sleep(_TICK)
    if status:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), list(map(str, command)))
    # Linux tells kilobytes, macOS bytes.
    largest = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Cost(time.monotonic() - began, used.ru_utime + used.ru_stime, largest, max(together, largest))


def _text(random: Random, letters: int) -> str:
    words = random.choices(_WORDS, k=letters // 5)
    return f"{random.randrange(1 << 40)} {' '.join(words)}"[:letters]


def items(rows: int, letters: int, seed: int) -> Iterator[dict[str, str]]:
    """Labelled items with about so many letters of text each; six of ten have an instruction of their own."""
    random = Random(seed)
    for number in range(rows):
        instruction = Random(f"{seed} {number * 6 // 10}")
        texts = _text(instruction, letters // 5), *(_text(random, letters * 2 // 5) for _ in "AB")
        labels = {f"{name}_preference": random.choice(_LABELS) for name in ELOQUENT.names}
        yield (
            dict(zip(("id", "instruction", "output_a", "output_b"), (str(number), *texts), strict=True))
            | labels
        )


def write_tsv(path: Path, rows: Iterator[Mapping[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, row in enumerate(rows):
            if not number:
                file.write("\t".join(row) + "\n")
            file.write("\t".join(row.values()) + "\n")
    return path


def write_json_lines(path: Path, rows: Iterator[Mapping[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def submission(rows: int, seed: int) -> Iterator[dict[str, str]]:
    random = Random(seed + 1)
    for number in range(rows):
        labels = {f"{name}_preference": random.choice(_LABELS) for name in ELOQUENT.names}
        yield {"id": str(number), **labels}


def _line(what: str, cost: Cost) -> None:
    print(f"{what:<44}{cost}", flush=True)


def check(folder: Path, rows: int, seed: int) -> None:
    """`check` of rows of 1.4 KB beside pyarrow's reader of JSON Lines."""
    path = write_json_lines(folder / "check.jsonl", items(rows, 1150, seed))
    print(f"\ncheck: {rows:,} rows of {path.stat().st_size // rows:,} bytes")
    plain = cost_of(["-c", _READ_JSON, path], folder)
    _line("pyarrow.json.read_json", plain)
    own = cost_of(["main.py", "check", path], folder)
    _line("check", own)
    print(f"  time: {own.seconds / plain.seconds:.2f} times pyarrow's")


def _judged(folder: Path, rows: int, seed: int, letters: int = 400) -> tuple[Path, Path]:
    gold, system = folder / f"gold-{rows}.tsv", folder / f"system-{rows}.tsv"
    if not gold.exists():
        write_tsv(gold, items(rows, letters, seed))
        write_tsv(system, submission(rows, seed))
    return gold, system


def evaluate(folder: Path, rows: int, seed: int) -> None:
    gold, system = _judged(folder, rows, seed)
    print(f"\nevaluate: a submission of {rows:,} rows, five criteria")
    own = cost_of(["main.py", "evaluate", system, "--gold", gold], folder)
    _line("evaluate", own)
    print(f"  memory: {own.largest / rows / 1024:.1f} KB a row")


def report(folder: Path, rows: int, seed: int) -> None:
    rows //= 3
    gold, system = _judged(folder, rows, seed)
    print(f"\nreport: a submission of {rows:,} rows, five criteria")
    plain = cost_of(["main.py", "evaluate", system, "--gold", gold], folder)
    _line("evaluate", plain)
    own = cost_of(["main.py", "report", system, "--gold", gold, "--out", folder / "r.html"], folder)
    _line("report", own)
    print(f"  processor time: {own.processor / plain.processor:.2f} times that of evaluate")


def pairs(folder: Path, rows: int, seed: int) -> None:
    """Ten candidates make 45 pairs of each instruction."""
    instructions = max(1, rows * 10 // 3 // 45)
    files = []
    for candidate in range(10):
        random = Random(f"{seed} {candidate}")
        made = (
            {"instruction": f"Question {number}?", "output": _text(random, 300)}
            for number in range(instructions)
        )
        files.append(write_json_lines(folder / f"candidate-{candidate}.jsonl", made))
    print(f"\npairs: {instructions * 45:,} out of the outputs of 10 candidates")
    _line("pairs", cost_of(["main.py", "pairs", *files, "--out", folder / "pairs.tsv"], folder))


def audit(folder: Path, _rows: int, seed: int) -> None:
    """One item of several that no context of the model holds."""
    found = list(items(4, 400, seed))
    plain = write_tsv(folder / "short.tsv", iter(found))
    found[1]["output_a"] = _text(Random(seed), 400_000)
    path = write_tsv(folder / "long.tsv", iter(found))
    print("\naudit --plan: four items, one of them of 400 KB")
    for what, dataset in (("four short items", plain), ("with the long one", path)):
        out = folder / f"audit-{dataset.name}"
        _line(what, cost_of(["main.py", "audit", "demo", dataset, "--plan", "--out", out], folder))


def window(folder: Path, rows: int, seed: int) -> None:
    """Until the page Dataset lists all items, and the page Review those of a submission."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # Only this part needs Qt.
    from PySide6.QtCore import QTimer

    from bench.durability.person import until
    from gui.app import make_application
    from gui.window.frame import MainWindow
    from gui.window.main_content import MainContent
    from gui.workspace.state import PageName, State
    from tests.gui.windows import end_window

    gold, system = _judged(folder, rows, seed)
    print(f"\nwindow: {rows:,} items", flush=True)
    _app = make_application([])  # lives as long as its window
    home = folder / "window"
    home.mkdir()
    content = MainContent(MainWindow(State(home)), home / "runs.sqlite")
    content.frame.resize(1280, 720)
    content.frame.show()
    content.begin()
    until(lambda: content.workspace.dataset is not None, _PATIENCE)
    ticks: list[tuple[float, float]] = []  # and of the processor time of the window's own thread

    def tick() -> None:
        ticks.append((time.monotonic(), time.thread_time()))

    timer = QTimer(interval=5)
    timer.timeout.connect(tick)
    timer.start()

    def timed(what: str, begin: Callable[[], object], shown: Callable[[], int]) -> None:
        ticks.clear()
        tick()
        used = time.process_time()
        begin()
        if not until(lambda: shown() == rows, _PATIENCE):
            raise TimeoutError(f"{what}: not all {rows:,} items are shown")
        until(lambda: False, 1.0)  # what comes right after it
        seconds, used = ticks[-1][0] - ticks[0][0] - 1.0, time.process_time() - used
        gap, own = (1000 * max(map(sub, times[1:], times)) for times in zip(*ticks, strict=True))
        gaps = f"longest gap {gap:,.0f} ms, {own:,.0f} of its own work"
        print(f"{what:<44}{seconds:7.1f} s, {used:7.1f} s of processor; {gaps}", flush=True)

    try:
        opened = content.dataset.items.table
        timed("Dataset", lambda: content.workspace.open_dataset(gold), opened.rowCount)
        content.frame.show_page(PageName.REVIEW)
        timed("Review", lambda: content.submissions.open(system), lambda: content.review.list.shown)
    finally:
        end_window(content)


PARTS: Mapping[str, Callable[[Path, int, int], None]] = {
    each.__name__: each for each in (check, evaluate, report, pairs, audit, window)
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what grows with the rows of a file.")
    parser.add_argument("parts", nargs="*", choices=PARTS, default=[*PARTS], metavar="PART")
    parser.add_argument("--rows", type=int, default=300_000, help="of the files (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what they hold (%(default)s)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for part in options.parts:
            PARTS[part](Path(folder), options.rows, options.seed)


if __name__ == "__main__":
    main()
