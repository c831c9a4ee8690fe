"""Try a bundle as its user will have it: nothing of Python in sight, empty folders, a program that cannot be written to.

    python packaging/smoke.py BUNDLE [--source PYTHON] [--screenshots FOLDER] [--bare-root FOLDER]

BUNDLE is the folder or the archive that packaging/build.py made. Everything is tried on this computer; on Linux
again without a network where that is allowed, and with --bare-root in a Debian that has the documented libraries
and nothing else (made there by debootstrap, as root, where it is missing). Exit code: 0 where all of it works.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))

import smoke_window
from smoke_places import IS_ROOT, STRANGER, Place, bare_debian, network_can_be_left, this_computer

from engine.version import VERSION

_FOLDER = "Prögramme und mehr 程序"  # a space, letters outside ASCII, letters outside Latin
_EXECUTABLES = ("tiebreak", "tiebreak-cli.exe", "Tiebreak.app/Contents/MacOS/tiebreak")
_WINDOWS = ("tiebreak", "Tiebreak.exe", "Tiebreak.app/Contents/MacOS/tiebreak")
_PATIENCE = 600.0
_JUDGED = re.compile(r"\b(\d+)/240\b")
# What may be written below the user's home: our own folders, and the system's list of its fonts.
_OWN = re.compile(
    r"(\.local/share|\.cache|\.local/state|Library/(Application Support|Caches|Logs))/Tiebreak/|\.cache/fontconfig/"
    r"|(data|cache|logs)/"
)


class Trial:
    """One bundle in one place."""

    def __init__(self, place: Place, bundle: Path, expected: Path, screenshots: Path | None) -> None:
        self.place, self._expected, self._screenshots = place, expected, screenshots
        self.home, self.work = place.base / "home", place.base / "wörk"
        for folder in (place.base / "tmp", self.home, self.work):
            place.give(folder)
        self.folder = place.base / _FOLDER / bundle.name
        shutil.copytree(bundle, place.outside(self.folder), symlinks=True)
        _make_read_only(place.outside(self.folder))
        self._before = _listing(place.outside(self.folder))
        self.program = self._first_of(_EXECUTABLES)
        self._window_program = self._first_of(_WINDOWS)
        for source in (ROOT / "examples" / "demo.tsv", ROOT / "models" / "demo-judge.gguf"):
            shutil.copy(source, place.outside(self.work))

    def steps(self) -> list[tuple[str, Callable[[], str]]]:
        """What is tried, in this order; each says what it found, or raises."""
        steps = [
            ("version and help", self.version),
            ("self-test", self.self_test),
            ("check a dataset", self.check),
            ("judge, as from source", self.judge),
            ("every other command", self.commands),
            ("kill and resume", self.kill_and_resume),
            ("damaged models", self.damaged),
            ("the window", self.window),
        ]
        if sys.platform == "linux":
            steps.append(("libraries loaded", self.libraries))
        return [*steps, ("nothing left elsewhere", self.traces)]

    def version(self) -> str:
        start = time.monotonic()
        told = self._run("--version")
        seconds = time.monotonic() - start
        assert told == f"Tiebreak {VERSION}\n", f"it says {told!r}"
        assert f"usage: {self.program.stem} " in self._run("--help"), "its help names another program"
        assert self._run("nonsense", code=2) == "", "a wrong command is not refused"
        return f"{told.strip()}, said after {seconds:.2f} s"

    def self_test(self) -> str:
        told = self._run("selftest")
        assert "All checks passed." in told, told
        return re.sub(r".*?processor +", "", told.partition("GPU")[0], flags=re.DOTALL).splitlines()[0]

    def check(self) -> str:
        told = self._run("check", "demo.tsv")
        assert "240 items" in told, told
        return told.splitlines()[0]

    def judge(self) -> str:
        start = time.monotonic()
        told = self._run("judge", "demo.tsv", "--model", "demo", "--out", "submission é.tsv", "--json", "all.json")
        assert self._written("submission é.tsv") == self._expected.read_bytes(), "the submission is another one"
        mean = re.search(r"^mean.*$", told, re.MULTILINE)
        return f"equal byte for byte, after {time.monotonic() - start:.0f} s; {mean[0].split()[1] if mean else '?'} %"

    def commands(self) -> str:
        labelled = ["--gold", "demo.tsv"]
        encoder = ROOT / "tests" / "encoders" / "roberta.gguf"
        shutil.copy(encoder, self.place.outside(self.work))
        tried: list[tuple[list[str], str]] = [
            (["check", "submission é.tsv", "--against", "demo.tsv"], ""),
            (["models"], ""),
            (["models", "check", "demo-judge.gguf"], ""),
            (["models", "check", encoder.name], ""),
            (["models", "cut", encoder.name, "--layers", "1", "--out", "cut.gguf"], "cut.gguf"),
            (["evaluate", "1", *labelled, "--json", "scores.json", "--confusion"], "scores.json"),
            (["evaluate", "submission é.tsv", *labelled, "--encoder", "cut.gguf"], ""),
            (["calibrate", "1", *labelled, "--out", "calibration.json"], "calibration.json"),
            (["runs", "recalibrate", "1", "--calibration", "calibration.json"], ""),
            (["runs", "recalibrate", "1", "--none"], ""),
            (["runs", "export", "1", "--out", "again.tsv", "--csv", "all.csv"], "all.csv"),
            (["runs", "show", "1"], ""),
            (["weigh", "1", *labelled, "--fit-weights"], ""),
            (["compare", "1", "submission é.tsv", *labelled], ""),
            (["report", "1", *labelled, "--out", "report.html", "--figures", "figures"], "report.html"),
        ]
        if (self.place.outside(self.work) / "demo.parquet").is_file():
            tried.append((["check", "demo.parquet"], ""))
        for words, written in tried:
            self._run(*words)
            assert not written or self._written(written), f"{' '.join(words)} wrote nothing"
        assert self._written("again.tsv") == self._expected.read_bytes(), "the export is another submission"
        return f"{len(tried)} command lines"

    def kill_and_resume(self) -> str:
        store = ["--store", "second.sqlite"]
        words = ["judge", "demo.tsv", "--model", "demo", "--out", "resumed.tsv", *store]
        child = self._start(*words)
        smoke_window.wait_for(lambda: self._judged(*store), "nothing was judged", child, _PATIENCE)
        child.kill()
        child.communicate()
        judged = int(self._judged(*store))
        assert 0 < judged < 240, f"{judged} of 240 items were judged when it was killed"
        assert not (self.place.outside(self.work) / "resumed.tsv").exists(), "half a submission was written"
        told = self._run(*words, both=True)
        assert f"goes on: {judged} of 240" in told, told
        assert self._written("resumed.tsv") == self._expected.read_bytes(), "the submission is another one"
        return f"killed with {judged} of 240 items judged; the same submission"

    def damaged(self) -> str:
        sound = (self.place.outside(self.work) / "demo-judge.gguf").read_bytes()
        damaged = {
            "cut short": sound[: len(sound) // 2],
            "overwritten": sound[:64] + bytes(range(256)) * 4 + sound[64 + 1024 :],
            "not a model": b"<!DOCTYPE html>" * 100,
        }
        for name, content in damaged.items():
            (self.place.outside(self.work) / f"{name}.gguf").write_bytes(content)
            for words in (["models", "check"], ["judge", "demo.tsv", "--out", "never.tsv", "--model"]):
                told = self._run(*words, f"{name}.gguf", code=2, both=True)
                assert f"{name}.gguf" in told, told
                assert "fault of Tiebreak" not in told, told
        assert not (self.place.outside(self.work) / "never.tsv").exists(), "a submission was written"
        return f"{len(damaged)} files refused by name"

    def window(self) -> str:
        home = self.place.base / "second home"
        self.place.give(home)
        if sys.platform != "linux":
            return self._short_window(home)
        if lacking := smoke_window.missing_tools():
            raise AssertionError(f"to try the window, install {', '.join(lacking)}")
        with smoke_window.screen() as display:
            program = self._start(executable=self._window_program, home=home, DISPLAY=display)
            try:
                window = smoke_window.Window(display, program)
                time.sleep(3)  # the first page fills
                self._photograph(window, "first")
                window.press("ctrl+r")
                ended = lambda: self._judged(home=home, at_least=240)
                smoke_window.wait_for(ended, "the run did not end", program, _PATIENCE)
                window.press("ctrl+3")
                time.sleep(5)  # measures are computed
                self._photograph(window, "results")
                window.press("ctrl+4")
                time.sleep(2)
                self._photograph(window, "review")
                code = window.close()
            finally:
                program.kill()
                said = program.communicate()
        assert code == 0, f"it ended with code {code}: {said}"
        return f"seen after {window.seconds:.2f} s; judged 240 items; closed"

    def libraries(self) -> str:
        """The dynamic linker itself tells what it loads; a library like ours lies where the program works."""
        rogue = self.place.outside(self.work) / "libggml-cpu-rogue.so"
        shutil.copy(next(self.place.outside(self.folder).rglob("libggml-cpu-x64.so")), rogue)
        child = self._start("selftest", LD_DEBUG="files", LD_DEBUG_OUTPUT=str(self.place.base / "tmp" / "loaded"))
        told, _ = child.communicate(timeout=_PATIENCE)
        assert child.returncode == 0, told.decode()
        loaded: set[str] = set()
        for path in (self.place.outside(self.place.base) / "tmp").glob("loaded.*"):
            loaded |= set(re.findall(r"calling init: (\S.*)", path.read_text(encoding="utf-8", errors="replace")))
            path.unlink()
        ours = {path for path in loaded if path.startswith(str(self.folder))}
        system = {path for path in loaded - ours if path.startswith(("/lib/", "/lib64/", "/usr/lib/"))}
        assert any("libggml-cpu-" in path for path in ours), "no library of llama.cpp for a processor was loaded"
        assert loaded == ours | system, f"loaded from elsewhere: {sorted(loaded - ours - system)}"
        rogue.unlink()
        return f"{len(ours)} from the bundle, {len(system)} of the system, none from the current folder"

    def traces(self) -> str:
        now = _listing(self.place.outside(self.folder))
        assert now == self._before, f"the program's own folder has changed: {sorted(now ^ self._before)[:5]}"
        base = self.place.outside(self.place.base)
        assert not list((base / "tmp").iterdir()), f"left in the temporary folder: {list((base / 'tmp').iterdir())}"
        homes = [base / "home", base / "second home"]
        written = [path.relative_to(home).as_posix() for home in homes for path in home.rglob("*") if path.is_file()]
        foreign = [name for name in written if not _OWN.match(name)]
        assert not foreign, f"written outside the program's own folders: {foreign}"
        if not IS_ROOT:
            return f"{len(written)} files, all in the program's own folders (as root, all disks are searched)"
        search = ["find", str(self.place.root), "-xdev", "-uid", str(STRANGER), "-not", "-path", f"{base}/*"]
        left = subprocess.run(search, capture_output=True, text=True, check=False).stdout.splitlines()
        left = [path for path in left if not path.startswith("/proc/")]
        assert not left, f"written elsewhere: {left}"
        return f"{len(written)} files, all in the program's own folders; none elsewhere on the disk"

    def _short_window(self, home: Path) -> str:
        """Where there is no screen of our own: the window stays open until it is ended."""
        program = self._start(executable=self._window_program, home=home)
        time.sleep(20)
        ended = program.poll()
        program.kill()
        program.communicate()
        assert ended is None, f"it ended with code {ended}"
        return "open for 20 s"

    def _photograph(self, window: smoke_window.Window, name: str) -> None:
        if self._screenshots:
            self._screenshots.mkdir(parents=True, exist_ok=True)
            window.photograph(self._screenshots / f"{self.place.name.replace(' ', '-')}-{name}.png")

    def _run(self, *words: str, code: int = 0, both: bool = False) -> str:
        """What a command of the bundle prints (`both`: also its messages). AssertionError for another exit code."""
        child = self._start(*words)
        out, err = (text.decode("utf-8") for text in child.communicate(timeout=_PATIENCE))
        assert child.returncode == code, f"{' '.join(words)}: exit code {child.returncode}\n{out}{err}"
        return out + err if both else out

    def _start(
        self, *words: str, executable: Path | None = None, home: Path | None = None, **variables: str
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.place.command([str(executable or self.program), *words], self.work),
            cwd=self.place.outside(self.work),
            env=self.place.environment(home or self.home, **variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _judged(self, *options: str, home: Path | None = None, at_least: int = 1) -> str:
        """How many items the last run of a store holds; empty where fewer than `at_least`."""
        told, _ = self._start("runs", *options, home=home).communicate(timeout=_PATIENCE)
        found = _JUDGED.search(told.decode("utf-8"))
        return found[1] if found and int(found[1]) >= at_least else ""

    def _written(self, name: str) -> bytes:
        return (self.place.outside(self.work) / name).read_bytes()

    def _first_of(self, names: Sequence[str]) -> Path:
        for name in names:
            if self.place.outside(self.folder / name).is_file():
                return self.folder / name
        raise AssertionError(f"{self.folder} holds no program: none of {', '.join(names)}")


def main() -> int:
    """Try the bundle in every place; the exit code."""
    parser = argparse.ArgumentParser(description="Try a bundle as its user will have it.")
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="the folder or archive of build.py")
    parser.add_argument("--source", default=str(_built_python()), metavar="PYTHON", help="the Python that runs the source (%(default)s)")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="keep pictures of the window")
    parser.add_argument("--bare-root", type=Path, metavar="FOLDER", help="also in a bare Debian, in this folder")
    options = parser.parse_args()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tiebreak-smoke-", ignore_cleanup_errors=True)))
        bundle = _unpacked(options.bundle.resolve(), scratch)
        expected = _judged_from_source(options.source, scratch)
        places = [this_computer(offline=False)]
        if network_can_be_left():
            places.append(this_computer(offline=True))
        else:
            print("Not tried without a network: this system does not let a process leave it.")
        if options.bare_root:
            places.append(bare_debian(options.bare_root.resolve()))
        failed = 0
        for place in places:
            with place as entered:
                failed += _try(Trial(entered, bundle, expected, options.screenshots))
    print("All of it works." if not failed else f"Failed: {failed}.")
    return 1 if failed else 0


def _try(trial: Trial) -> int:
    """Take all steps and print what each found; how many failed."""
    print(f"\nIn {trial.place.name}: {trial.folder}", flush=True)
    failed = 0
    for name, step in trial.steps():
        start = time.monotonic()
        try:
            word, found = "ok", step()
        except (AssertionError, OSError, subprocess.SubprocessError, StopIteration) as error:
            word, found = "FAILED", str(error) or repr(error)
            failed += 1
        print(f"{word:7} {name:24} {time.monotonic() - start:6.1f} s  {found}", flush=True)
    return failed


def _judged_from_source(python: str, scratch: Path) -> Path:
    """The submission that the source writes for the demo dataset with the demo model."""
    target = scratch / "expected.tsv"
    words = ["judge", str(ROOT / "examples" / "demo.tsv"), "--model", "demo", "--out", str(target)]
    environment = {**os.environ, "TIEBREAK_HOME": str(scratch / "source")}
    subprocess.run([python, str(ROOT / "main.py"), *words], env=environment, capture_output=True, check=True)
    return target


def _built_python() -> Path:
    inside = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    return ROOT / "build" / "venv" / inside


def _unpacked(bundle: Path, scratch: Path) -> Path:
    """The folder of a bundle that may come as an archive."""
    if bundle.is_dir():
        return bundle
    target = scratch / "unpacked"
    if sys.platform == "darwin":
        subprocess.run(["ditto", "-x", "-k", str(bundle), str(target)], check=True)
    else:
        shutil.unpack_archive(bundle, target)
    return next(path for path in target.iterdir() if path.is_dir())


def _make_read_only(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)


def _listing(folder: Path) -> set[tuple[str, int, int]]:
    """Every file with its size and the time of its last change."""
    states = ((path, path.lstat()) for path in folder.rglob("*"))
    return {(path.relative_to(folder).as_posix(), state.st_size, state.st_mtime_ns) for path, state in states}


if __name__ == "__main__":
    sys.exit(main())
