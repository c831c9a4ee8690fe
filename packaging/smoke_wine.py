r"""Try the program and its bundle on the Windows that packaging/windows/make.sh made, as its user would.

    python packaging/smoke_wine.py FOLDER

It runs on Linux, and starts programs of Windows with Wine, on a screen of its own: the source from a copy of
the checkout in `C:\Jörg Müller\Tie break`, its window, the build of a bundle there, and smoke.py with that
bundle. Exit code: 0 where all of it works.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import smoke_window
from project import ROOT, VERSION
from smoke import take
from smoke_steps import ITEMS
from smoke_trial import PATIENCE, judged_in

_BUNDLE = f"tiebreak-{VERSION}-windows-x86_64"
_LONG = 3600.0  # seconds: PyInstaller takes five minutes, and several times that on a busy computer
_DEMO = ("judge", "examples/demo.tsv", "--model", "demo", "--out")


class Windows:
    """The folder of make.sh, with a copy of the checkout and an empty home on its drive."""

    def __init__(self, folder: Path, display: str) -> None:
        self.display = display
        number = (folder / "version").read_text(encoding="ascii").strip()
        self.source, self.of_bundle = (rf"C:\{name}{number}\python.exe" for name in ("Python", "Bundle"))
        self._program, drive = folder / "win", folder / "prefix" / "drive_c"
        self.checkout, self._home = drive / "Jörg Müller" / "Tie break", drive / "home"
        self._variables = {"DISPLAY": display, "TIEBREAK_HOME": r"C:\home"}
        for old in (self.checkout, self._home):
            shutil.rmtree(old, ignore_errors=True)
        _copy_checkout(self.checkout)
        # The texts of who compiled the libraries.
        licences = self.checkout / "build" / "llama-licences"
        licences.mkdir(parents=True)
        shutil.copy(folder / "wheels" / "llama_cpp_py_sync" / "THIRD_PARTY_NOTICES.txt", licences)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A program of Windows at work in the checkout, as a group of its own."""
        return subprocess.Popen(
            [str(self._program), *words],
            cwd=self.checkout,
            env={**os.environ, **self._variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, *words: str, patience: float = PATIENCE) -> str:
        """What a program prints. AssertionError where it ends with a code other than 0."""
        child = self.start(*words)
        printed = child.communicate(timeout=patience)[0].decode("utf-8", "replace")
        assert child.returncode == 0, f"{' '.join(words)}: exit code {child.returncode}\n{printed}"
        return printed

    def tiebreak(self, *words: str) -> str:
        """What a command prints, run from source."""
        return self.run(self.source, "main.py", *words)

    def stop(self) -> None:
        """End all that still runs there."""
        subprocess.run([str(self._program), "--stop"], check=False)


def _copy_checkout(target: Path) -> None:
    """What git knows, and what is new."""
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, capture_output=True, encoding="utf-8", check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def _self_test(windows: Windows) -> str:
    printed = windows.tiebreak("selftest")
    assert "All checks passed." in printed, printed
    return "all checks passed"


def _judge(windows: Windows) -> str:
    windows.tiebreak(*_DEMO, "demo-submission.tsv")
    measured = windows.tiebreak("evaluate", "demo-submission.tsv", "--gold", "examples/demo.tsv")
    return next(line.strip() for line in measured.splitlines() if line.startswith("mean"))


def _interrupt(windows: Windows) -> str:
    words = (*_DEMO, "resumed.tsv", "--store", "second.sqlite")
    child = windows.start(windows.source, "main.py", *words)

    def judged() -> int:
        return judged_in(windows.tiebreak("runs", "--store", "second.sqlite"))

    smoke_window.wait_for((windows.checkout / "second.sqlite").exists, "no run was begun", child, PATIENCE)
    smoke_window.wait_for(judged, "nothing was judged", child, PATIENCE)
    os.killpg(child.pid, signal.SIGINT)
    said = child.communicate(timeout=PATIENCE)[0].decode("utf-8", "replace")
    assert child.returncode == 1, f"it ended with code {child.returncode}:\n{said}"
    assert not (windows.checkout / "resumed.tsv").exists(), f"it was not stopped:\n{said}"
    before = judged()
    printed = windows.tiebreak(*words)
    assert f"is resumed: {before} of {ITEMS}" in printed, printed
    both = [(windows.checkout / name).read_bytes() for name in ("demo-submission.tsv", "resumed.tsv")]
    assert both[0] == both[1], "what was interrupted and resumed is another submission"
    return f"stopped with {before} of {ITEMS} items judged; the same submission"


def _window(windows: Windows) -> str:
    lacking = [name for name in ("Xvfb", "xdotool") if not shutil.which(name)]
    assert not lacking, f"to try the window, install {', '.join(lacking)}"
    child = windows.start(windows.source, "main.py")
    try:
        window = smoke_window.Window(windows.display, child)
        time.sleep(5)  # its pages fill
        code = window.close()
    finally:
        child.kill()
        printed = child.communicate()[0].decode("utf-8", "replace")
    assert code == 0, f"it ended with code {code}:\n{printed}"
    return f"seen after {window.seconds:.0f} s; closed"


def _build(windows: Windows) -> str:
    options = ("--as-installed", "--without-gpu")
    printed = windows.run(windows.of_bundle, "packaging/build.py", *options, patience=_LONG)
    return next(line for line in printed.splitlines() if "unpacked" in line)


def _smoke(windows: Windows) -> str:
    words = ("packaging/smoke.py", f"dist/{_BUNDLE}.zip", "--source", windows.of_bundle)
    return windows.run(windows.of_bundle, *words, patience=_LONG)


STEPS: tuple[tuple[str, Callable[[Windows], str]], ...] = (
    ("self-test", _self_test),
    ("judge and evaluate", _judge),
    ("Ctrl-C and resume", _interrupt),
    ("the window", _window),
    ("build a bundle", _build),
    ("smoke.py with it", _smoke),
)


def main(arguments: list[str]) -> int:
    """Take all steps; the exit code."""
    if len(arguments) != 1 or not Path(arguments[0], "win").is_file():
        print("usage: python packaging/smoke_wine.py FOLDER, of packaging/windows/make.sh", file=sys.stderr)
        return 2
    # One screen for all: where Wine was started without one it opens no window until it is stopped.
    with smoke_window.screen() as display:
        windows = Windows(Path(arguments[0]).resolve(), display)
        try:
            return 1 if take(STEPS, windows) else 0
        finally:
            windows.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
