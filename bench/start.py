"""The processor time that commands take on little work, beside those of another checkout.

    python -m bench.start CHECKOUT [--rounds N]

The demo is judged once by its model. Then both checkouts run each command in turn with this Python, children
included, and the least time of each counts. The window is drawn once, without a screen. For Linux and macOS.
"""

import argparse
import compileall
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from engine.system.paths import demo_dataset

ROOT = Path(__file__).parent.parent
PICTURE = """
import main, os
from gui.app import make_application
from gui.window.frame import MainWindow

app, window = make_application([]), MainWindow()
window.show()
app.processEvents()
os._exit(0)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the starts of commands with another checkout's.")
    parser.add_argument("checkout", type=Path, help="what is compared with, such as a git worktree")
    parser.add_argument("--rounds", type=int, default=5, help="times that each command is run")
    options = parser.parse_args()
    demo = str(demo_dataset())
    both = (options.checkout.resolve(), ROOT)
    for checkout in both:
        for part in ("engine", "gui"):
            compileall.compile_dir(checkout / part, quiet=1)
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"TIEBREAK_HOME": home, "QT_QPA_PLATFORM": "offscreen"}
        submission = str(Path(home) / "submission.tsv")
        seconds(ROOT, ["main.py", "judge", demo, "--model", "demo", "--out", submission])
        measured = {
            "evaluate, a run": ["main.py", "evaluate", "1", "--gold", demo],
            "evaluate, a submission": ["main.py", "evaluate", submission, "--gold", demo],
            "check": ["main.py", "check", demo],
            **{word: ["main.py", word] for word in ("runs", "models", "--help")},
            "the window's first picture": ["-c", PICTURE],
        }
        for name, words in measured.items():
            rounds = [[seconds(checkout, words) for checkout in both] for _ in range(options.rounds)]
            before, now = map(min, zip(*rounds, strict=True))
            print(f"{name:28}{before:6.2f} s -> {now:5.2f} s: {now / before:.2f}", flush=True)
    return 0


def seconds(checkout: Path, words: Sequence[str]) -> float:
    """The processor time of Python in a checkout, which must do what it is asked."""
    before = os.times()
    subprocess.run([sys.executable, *words], cwd=checkout, check=True, capture_output=True)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


if __name__ == "__main__":
    sys.exit(main())
