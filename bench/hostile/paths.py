r"""Names and links that lead nowhere, in the place of every file and folder that a command takes.

What is held, for each argument of each command, and for TIEBREAK_HOME:

- Loops of symbolic links, links to nothing, names of 256 and of 5,000 characters, paths longer than the
  system takes, NUL, half characters, folders, pipes, files in the place of folders, and what may not be read:
  each ends with exit code 0, 1 or 2. Where the command cannot do what it was asked, it names the path.
- No message holds a name of thousands of characters: what is said of it would be lost.

The first cases are a table, each argument with each fault; what follows is drawn by chance.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.sound_files import SoundFiles, command, home_in, sound_files
from engine.cli.shared.console import FAULT, WRONG_INPUT
from engine.system.paths import examples_folder

_LONGEST_MESSAGE = 3000
_NOT_INSTALLED = "packages that are not installed"  # of a cluster: named is what is to be installed
HERE = "{}"
"""In a command: the path that is at fault."""

Made = str | Path
Issue = Callable[[Path, str], Made]
"""Makes something at fault in a folder, with a suffix; the name by which a command is told of it."""


def _loop(folder: Path, suffix: str) -> Made:
    path = folder / f"loop{suffix}"
    path.symlink_to(path.name)
    return path


def _ring(folder: Path, suffix: str) -> Made:
    first, other = folder / f"one{suffix}", folder / f"other{suffix}"
    first.symlink_to(other.name)
    other.symlink_to(first.name)
    return first


def _below_loop(folder: Path, suffix: str) -> Made:
    return Path(_loop(folder, "")) / f"below{suffix}"


def _dangling(folder: Path, suffix: str) -> Made:
    path = folder / f"dangling{suffix}"
    path.symlink_to(f"nothing{suffix}")
    return path


def _folder(folder: Path, suffix: str) -> Made:
    path = folder / f"folder{suffix}"
    path.mkdir()
    return path


def _below_file(folder: Path, suffix: str) -> Made:
    (folder / "file").write_text("a file")
    return folder / "file" / f"below{suffix}"


def _pipe(folder: Path, suffix: str) -> Made:
    os.mkfifo(folder / f"pipe{suffix}")
    return folder / f"pipe{suffix}"


def _not_readable(folder: Path, suffix: str) -> Made:
    path = folder / f"secret{suffix}"
    path.write_text("secret")
    path.chmod(0)
    return path


def _in_locked_folder(folder: Path, suffix: str) -> Made:
    locked = folder / "locked"
    locked.mkdir()
    (locked / f"file{suffix}").write_text("locked away")
    locked.chmod(0)
    return locked / f"file{suffix}"


FAULTS: dict[str, Issue] = {
    "a link to itself": _loop,
    "two links to each other": _ring,
    "a file below a loop of links": _below_loop,
    "a link to nothing": _dangling,
    "a name of 256 characters": lambda folder, suffix: folder / ("n" * (256 - len(suffix)) + suffix),
    "a name of 5,000 characters": lambda _folder, suffix: "n" * (5000 - len(suffix)) + suffix,
    "a path of 6,000 characters": lambda folder, suffix: folder / "/".join(["long"] * 1200) / f"x{suffix}",
    "a name with NUL": lambda folder, suffix: f"{folder}/nul\0{suffix}",
    "a name with half a character": lambda folder, suffix: f"{folder}/half\ud800{suffix}",
    "a name that is no UTF-8": lambda folder, suffix: f"{folder}/bytes\udcff{suffix}",
    "an empty name": lambda _folder, _suffix: "",
    "a folder": _folder,
    "a file below a file": _below_file,
    "a pipe": _pipe,
    "a file that may not be read": _not_readable,
    "a file in a folder that may not be read": _in_locked_folder,
}

Command = tuple[str, Sequence[str], str]
"""What it is called, its words with HERE in the place of the path, the suffix of that."""


def _commands(sound: SoundFiles) -> list[Command]:
    """Each argument of each command that names a file or a folder, beside sound ones."""
    data, run = str(sound.dataset), ["--store", str(sound.store)]
    manners = str(examples_folder() / "demo-manners.tsv")
    judge = ["judge", data, "--model", "demo", "--mode", "labels", *run]
    plan = [*judge, "--plan"]
    gold = ["--gold", data, *run]
    out = str(sound.folder / "out")
    return [
        ("FILE", [HERE], ".tsv"),
        ("DATASET SUBMISSION", [data, HERE], ".tsv"),
        ("check", ["check", HERE], ".tsv"),
        ("check --against", ["check", str(sound.submission), "--against", HERE], ".csv"),
        ("judge DATASET", ["judge", HERE, "--model", "demo", "--plan", *run], ".tsv"),
        ("judge --model", ["judge", data, "--model", HERE, "--plan", *run], ".gguf"),
        ("judge --model, a word", ["judge", data, "--model", HERE, "--plan", *run], ""),
        *[(f"judge {name}", [*plan, name, HERE], "") for name in ("--ids", "--rubric", "--calibration")],
        (
            "judge DATASET --regression-check",
            ["judge", HERE, "--regression-check", "1", "--plan", *run],
            ".tsv",
        ),
        ("judge --gold", ["judge", data, "--regression-check", "1", "--plan", "--gold", HERE, *run], ".tsv"),
        ("judge --examples", [*plan, "--examples", HERE], ".tsv"),
        ("judge --cluster", [*plan, "--cluster", HERE], ".json"),
        ("judge --certificates", [*plan, "--cluster", "tls://127.0.0.1:1", "--certificates", HERE], ""),
        ("judge --store", ["judge", data, "--model", "demo", "--plan", "--store", HERE], ".sqlite"),
        ("judge --out", [*judge, "--items", "1", "--out", HERE], ".tsv"),
        ("judge --json", [*judge, "--items", "1", "--out", f"{out}.tsv", "--json", HERE], ".json"),
        ("prompt DATASET", ["prompt", HERE, "--model", "demo"], ".tsv"),
        ("prompt --model", ["prompt", data, "--model", HERE], ".gguf"),
        ("prompt --store", ["prompt", "1", "--model", "demo", "--store", HERE], ".sqlite"),
        ("prompt --dataset", ["prompt", "1", "--model", "demo", "--dataset", HERE, *run], ".tsv"),
        ("rubrics show", ["rubrics", "show", HERE], ""),
        ("rubrics check", ["rubrics", "check", HERE], ".toml"),
        ("rubrics draft", ["rubrics", "draft", HERE, "--out", f"{out}.toml"], ".tsv"),
        ("rubrics draft --out", ["rubrics", "draft", manners, "--out", HERE], ".toml"),
        ("models FOLDER", ["models", HERE], ""),
        *[(f"models {name}", ["models", name, HERE], ".gguf") for name in ("check", "speed", "devices")],
        ("models cut", ["models", "cut", HERE, "--layers", "1", "--out", f"{out}.gguf"], ".gguf"),
        ("runs --store", ["runs", "--store", HERE], ".sqlite"),
        ("runs show --store", ["runs", "show", "1", "--store", HERE], ".sqlite"),
        ("runs add", ["runs", "add", HERE, "--dataset", data, *run], ".tsv"),
        ("runs add --dataset", ["runs", "add", str(sound.submission), "--dataset", HERE, *run], ".tsv"),
        *[
            (f"runs export {name}", ["runs", "export", "1", name, HERE, *run], suffix)
            for name, suffix in (("--out", ".tsv"), ("--json", ".json"), ("--csv", ".csv"))
        ],
        ("runs recalibrate", ["runs", "recalibrate", "1", "--calibration", HERE, *run], ".json"),
        ("runs diff --dataset", ["runs", "diff", "1", "2", "--dataset", HERE, *run], ".tsv"),
        ("runs rewrite --dataset", ["runs", "rewrite", "1", "--dataset", HERE, *run], ".tsv"),
        ("runs rewrite --model", ["runs", "rewrite", "1", "--model", HERE, *run], ".gguf"),
        ("evaluate", ["evaluate", HERE, *gold], ".tsv"),
        ("evaluate --gold", ["evaluate", "1", "--gold", HERE, *run], ".tsv"),
        ("evaluate --json", ["evaluate", "1", *gold, "--json", HERE], ".json"),
        ("evaluate --store", ["evaluate", "1", "--gold", data, "--store", HERE], ".sqlite"),
        ("evaluate --encoder", ["evaluate", "1", *gold, "--encoder", HERE], ".gguf"),
        ("evaluate --judge-model", ["evaluate", "1", *gold, "--judge-model", HERE], ".gguf"),
        ("evaluate --rubric", ["evaluate", str(sound.submission), *gold, "--rubric", HERE], ""),
        ("calibrate --gold", ["calibrate", "1", "--gold", HERE, "--out", f"{out}.json", *run], ".tsv"),
        ("calibrate --out", ["calibrate", "1", *gold, "--out", HERE], ".json"),
        ("orders --dataset", ["orders", "1", "--dataset", HERE, *run], ".tsv"),
        ("orders --json", ["orders", "1", "--json", HERE, *run], ".json"),
        ("weighted-score", ["weighted-score", HERE, "--weights", "safety=1", *run], ".json"),
        ("weighted-score --json", ["weighted-score", "1", "--json", HERE, *run], ".json"),
        ("compare", ["compare", "1", HERE, *gold], ".tsv"),
        ("compare --json", ["compare", "1", str(sound.submission), *gold, "--json", HERE], ".json"),
        ("report", ["report", HERE, *gold, "--out", f"{out}.html"], ".tsv"),
        ("report --out", ["report", "1", *gold, "--out", HERE], ".html"),
        ("report --figures", ["report", "1", *gold, "--out", f"{out}.html", "--figures", HERE], ""),
        ("cluster certificates", ["cluster", "certificates", HERE], ""),
        ("cluster worker", ["cluster", "worker", HERE], ".json"),
    ]


_OPEN_THE_WINDOW = ("FILE", "DATASET SUBMISSION")  # which says itself what it cannot read
_DATA, _TSV, _HTML = "DATA", "TSV", "HTML"
_AT_HOME: list[Sequence[str]] = [
    ["runs"],
    ["runs", "show", "1"],
    ["check", _DATA],
    ["rubrics"],
    ["rubrics", "show", "mine"],
    ["models"],
    ["models", "check", "demo"],
    ["judge", _DATA, "--model", "demo", "--plan"],
    ["judge", _DATA, "--model", "demo", "--mode", "labels", "--items", "1", "--out", _TSV],
    ["evaluate", "1", "--gold", _DATA],
    ["report", "1", "--gold", _DATA, "--out", _HTML],
    ["selftest"],
]
"""Commands with TIEBREAK_HOME at fault."""


def _cases(sound: SoundFiles) -> list[tuple[Command, str]]:
    """Each argument with each fault; then each command that has its own folders there."""
    outs = {name: str(sound.folder / f"out.{name.lower()}") for name in (_TSV, _HTML)}
    named = {_DATA: str(sound.dataset), **outs}
    homes = [
        (f"TIEBREAK_HOME, {' '.join(words[:2])}", [named.get(word, word) for word in words], "")
        for words in _AT_HOME
    ]
    return [
        (command, fault)
        for fault in FAULTS
        for command in (*_commands(sound), *homes)
        if not (command[0] in _OPEN_THE_WINDOW and fault == "a file that may not be read")
    ]


def count(folder: Path) -> int:
    return len(_cases(sound_files(folder)))


def try_case(attempt: Attempt) -> Outcome:
    sound = sound_files(attempt.folder.parent)
    table = _cases(sound)
    (name, words, suffix), fault = (
        table[attempt.number] if attempt.number < len(table) else attempt.random.choice(table)
    )
    what = f"{name}: {fault}"
    attempt.step(Step(what, processes=True))
    made = str(FAULTS[fault](attempt.folder, suffix))
    at_home = HERE not in words
    with _as_a_user(), home_in(made if at_home else attempt.folder / "home") as taken:
        if not taken:
            return Outcome(Ending.REFUSED, what, "the system takes no such variable")
        with chdir(attempt.folder):  # an empty name is the folder where one is
            code, said = command([made if word == HERE else word for word in words])
    return _judged(code, said, what, "" if at_home else made)


def _judged(code: int, said: str, what: str, made: str) -> Outcome:
    shown = f"exit code {code}\n{said[:4000]}"
    if code == FAULT:
        return Outcome(Ending.FAULT, what, shown)
    if code == WRONG_INPUT and made and _NOT_INSTALLED not in said and not _named(said, made):
        return Outcome(Ending.FAULT, what, f"the refusal does not name it: {shown}")
    if any(len(line) > _LONGEST_MESSAGE for line in said.splitlines()):
        return Outcome(Ending.FAULT, what, f"a line of thousands of characters: {shown}")
    return Outcome(Ending.REFUSED if code == WRONG_INPUT else Ending.TAKEN, what, shown)


def _named(said: str, made: str) -> bool:
    """Whether the beginning of the last name is there, or of what lies above it."""
    last = [part.split("\0")[0][:4].encode("utf-8", "ignore").decode() for part in made.split("/")[-2:]]
    return any(part and part in said for part in last)


@contextmanager
def _as_a_user() -> Iterator[None]:
    """On Linux without the right of an administrator to pass by permissions."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    before = _rights()
    _set_rights([each & ~_PASSES_PERMISSIONS if place == 0 else each for place, each in enumerate(before)])
    try:
        yield
    finally:
        _set_rights(before)


_PASSES_PERMISSIONS = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_VERSION_3 = 0x20080522


def _rights() -> list[int]:
    """Of this thread: in force, permitted, inheritable; twice, for 64 bits."""
    words = (ctypes.c_uint32 * 6)()
    ctypes.CDLL(None).capget((ctypes.c_uint32 * 2)(_VERSION_3, 0), words)
    return list(words)


def _set_rights(words: Sequence[int]) -> None:
    ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)(*words))
