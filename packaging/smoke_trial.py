"""One bundle in one place: copied there, made read-only, and started with folders of its own."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from project import ROOT
from smoke_places import IS_ROOT, Place

PATIENCE = 600.0  # seconds for anything that a command does
_FOLDER = "Prögramme für alle 程序"  # spaces, letters outside ASCII, letters outside Latin
_EXECUTABLES = ("tiebreak", "tiebreak-cli.exe", "Tiebreak.app/Contents/MacOS/tiebreak")
_WITH_WINDOW = ("tiebreak", "Tiebreak.exe", "Tiebreak.app/Contents/MacOS/tiebreak")
_JUDGED = re.compile(r"^\d+ +(\d+) of \d+ ", re.MULTILINE)
_TO_PARQUET = "import pandas, sys; pandas.read_csv(sys.argv[1], sep='\\t').to_parquet(sys.argv[2])"


class Sample:
    """The demo dataset, what the source makes of it, and models to try."""

    def __init__(self, source: str, scratch: Path) -> None:
        """Judge with the source, which the Python `source` can run; `scratch`: for what that writes."""
        self.dataset = ROOT / "examples" / "demo.tsv"
        self.model = ROOT / "models" / "demo-judge.gguf"
        self.encoder = ROOT / "tests" / "encoders" / "roberta.gguf"
        self.parquet = scratch / "demo.parquet"
        self.submission = scratch / "expected.tsv"
        main, options = str(ROOT / "main.py"), ["--model", "demo", "--out", str(self.submission)]
        environment = {**os.environ, "TIEBREAK_HOME": str(scratch / "source")}
        for words in (
            [main, "judge", str(self.dataset), *options],
            ["-c", _TO_PARQUET, str(self.dataset), str(self.parquet)],
        ):
            done = subprocess.run(
                [source, *words], env=environment, capture_output=True, encoding="utf-8", check=False
            )
            if done.returncode != 0:
                sys.exit(f"The source cannot be run with {source}:\n{done.stderr}")


class Trial:
    """A bundle, ready to be tried. Paths are as the program sees them, but for what `written` gives."""

    def __init__(self, place: Place, bundle: Path, sample: Sample, screenshots: Path | None) -> None:
        self.place, self.sample, self.screenshots = place, sample, screenshots
        self.of_stranger_before = place.of_stranger() if IS_ROOT else set()
        self.temporary, self.work = place.base / "tmp", place.base / "wörk"
        # The window has a home of its own, so that it starts as on the first day; and so has what looks for a
        # GPU, for a driver writes where it likes.
        self.home, self.window_home = place.base / "home", place.base / "second home"
        self.gpu_home = place.base / "third home"
        for folder in (self.temporary, self.work, self.home, self.window_home, self.gpu_home):
            place.give(folder)
        self.folder = place.base / _FOLDER / bundle.name
        shutil.copytree(bundle, place.outside(self.folder), symlinks=True)
        _make_read_only(place.outside(self.folder))
        self.files_before = self.files_now()
        self.program, self.window_program = self._first_of(_EXECUTABLES), self._first_of(_WITH_WINDOW)
        for file in (sample.dataset, sample.model, sample.encoder, sample.parquet):
            shutil.copy(file, place.outside(self.work))

    def start(
        self,
        *words: str,
        executable: Path | None = None,
        home: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """The program at work, in the folder `work`."""
        return subprocess.Popen(
            self.place.command([str(executable or self.program), *words], self.work),
            cwd=self.place.outside(self.work),
            env=self.place.environment(home or self.home, **(variables or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(
        self,
        *words: str,
        code: int = 0,
        messages: bool = False,
        home: Path | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> str:
        """What a command prints, also its `messages`. AssertionError where it ends with another code."""
        child = self.start(*words, home=home, variables=variables)
        out, err = (
            text.decode("utf-8").replace(os.linesep, "\n") for text in child.communicate(timeout=PATIENCE)
        )
        assert child.returncode == code, f"{' '.join(words)}: exit code {child.returncode}\n{out}{err}"
        return out + err if messages else out

    def judged(self, *options: str, home: Path | None = None) -> int:
        """How many items the last run of a store holds."""
        printed, _ = self.start("runs", *options, home=home).communicate(timeout=PATIENCE)
        return judged_in(printed.decode("utf-8"))

    def written(self, name: str) -> Path:
        """A file of the folder `work`, as this script sees it."""
        return self.place.outside(self.work) / name

    def files_now(self) -> set[tuple[str, int, int]]:
        """Every file of the program with its size and the time of its last change."""
        folder = self.place.outside(self.folder)
        states = ((path, path.lstat()) for path in folder.rglob("*"))
        return {
            (path.relative_to(folder).as_posix(), state.st_size, state.st_mtime_ns) for path, state in states
        }

    def _first_of(self, names: tuple[str, ...]) -> Path:
        found = [self.folder / name for name in names if self.place.outside(self.folder / name).is_file()]
        if not found:
            sys.exit(f"{self.folder.name} holds no program: none of {', '.join(names)}.")
        return found[0]


def judged_in(printed: str) -> int:
    """How many items the first run has of those that the command `runs` printed; 0 where it printed none."""
    found = _JUDGED.search(printed)
    return int(found[1]) if found else 0


def _make_read_only(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
