"""How fast a bundle starts and judges, compared with the source: ratios within one run.

    python packaging/measure_bundle.py BUNDLE MODEL.gguf --portable PYTHON --native PYTHON

--portable is the Python of the bundle's own environment (build/venv), --native one whose llama.cpp was made
for this processor (.venv). They take turns; the median of each counts. On Linux, with Xvfb and xdotool.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import smoke_window
from project import ROOT

START_RATIO, PORTABLE_RATIO, NATIVE_RATIO = 2.0, 0.95, 0.75  # the targets


def main() -> int:
    """Measure and print. Missed targets are only printed: the exit code is 0 if everything ran."""
    parser = argparse.ArgumentParser(description="Measure how fast a bundle starts and judges.")
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument("model", type=Path, metavar="MODEL.gguf")
    parser.add_argument("--portable", required=True, metavar="PYTHON")
    parser.add_argument("--native", required=True, metavar="PYTHON")
    parser.add_argument("--items", default="6", metavar="N", help="of the demo dataset (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="(%(default)s)")
    options = parser.parse_args()
    main_file = str(ROOT / "main.py")
    programs = {
        "bundle": [str(options.bundle / "tiebreak")],
        "portable source": [options.portable, main_file],
        "native source": [options.native, main_file],
    }
    model = str(options.model.absolute())
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        started = _medians(programs, options.rounds, lambda command: _seconds_to_window(command, home))
        judged = _medians(
            programs, options.rounds, lambda command: _seconds_to_judge(command, home, model, options.items)
        )
    for name in programs:
        print(f"{name:16} window after {started[name]:.2f} s; {options.items} items in {judged[name]:.2f} s")
    start = started["bundle"] / started["portable source"]
    print(f"start: {start:.2f} times that of the source (target: {START_RATIO} at most)")
    for name, hoped in (("portable source", PORTABLE_RATIO), ("native source", NATIVE_RATIO)):
        speed = judged[name] / judged["bundle"]
        print(f"judging: {speed:.2f} times as fast as {name} (target: {hoped} at least)")
    return 0


def _medians(
    programs: dict[str, list[str]], rounds: int, measure: Callable[[list[str]], float]
) -> dict[str, float]:
    """The median of each program; one round before the first only fills the system's caches."""
    found: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(rounds + 1):
        for name, command in programs.items():
            seconds = measure(command)
            if number:
                found[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def _seconds_to_window(command: list[str], home: Path) -> float:
    with smoke_window.screen() as display:
        program = subprocess.Popen(
            command,
            env=_environment(home) | {"DISPLAY": display},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            return smoke_window.Window(display, program).seconds
        finally:
            program.kill()
            program.communicate()


def _seconds_to_judge(command: list[str], home: Path, model: str, items: str) -> float:
    """What the items themselves took, by the program's own clock: neither its start nor loading the model."""
    judged = home / "judged.json"
    words = ["judge", str(ROOT / "examples" / "demo.tsv"), "--model", model, "--items", items, "--fresh"]
    outputs = ["--out", str(home / "submission.tsv"), "--json", str(judged)]
    done = subprocess.run(
        [*command, *words, *outputs],
        env=_environment(home),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    items_judged = json.loads(judged.read_text(encoding="utf-8"))["items"]
    return float(sum(item["seconds"] for item in items_judged))


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "TIEBREAK_HOME": str(home)}


if __name__ == "__main__":
    sys.exit(main())
