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
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import NamedTuple

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

_COMMANDS = """
[.tsv]
DATA [.tsv]
check [.tsv]
check SUBMISSION [--against .csv]
judge MODEL --plan STORE [.tsv]
judge --regression-check 1 --plan STORE [.tsv]
judge DATA --regression-check 1 --plan STORE [--gold .tsv]
judge DATA --plan STORE [--model .gguf] [--model]
judge DATA MODEL --mode labels --plan STORE [--ids] [--rubric] [--calibration] [--examples .tsv]
judge DATA MODEL --mode labels --plan STORE [--cluster .json]
judge DATA MODEL --mode labels --plan STORE --cluster tls://127.0.0.1:1 [--certificates]
judge DATA MODEL --plan [--store .sqlite]
judge DATA MODEL --mode labels --items 1 STORE [--out .tsv]
judge DATA MODEL --mode labels --items 1 STORE --out OUT.tsv [--json .json]
prompt MODEL [.tsv]
prompt DATA [--model .gguf]
prompt 1 MODEL [--store .sqlite]
prompt 1 MODEL STORE [--dataset .tsv]
rubrics show []
rubrics check [.toml]
rubrics draft --out OUT.toml [.tsv]
rubrics draft MANNERS [--out .toml]
models []
models check [.gguf]
models speed [.gguf]
models devices [.gguf]
models cut --layers 1 --out OUT.gguf [.gguf]
runs [--store .sqlite]
runs show 1 [--store .sqlite]
runs add --dataset DATA STORE [.tsv]
runs add SUBMISSION STORE [--dataset .tsv]
runs export 1 STORE [--out .tsv] [--json .json] [--csv .csv]
runs recalibrate 1 STORE [--calibration .json]
runs diff 1 2 STORE [--dataset .tsv]
runs rewrite 1 STORE [--dataset .tsv] [--model .gguf]
evaluate GOLD STORE [.tsv]
evaluate 1 STORE [--gold .tsv]
evaluate 1 GOLD [--store .sqlite]
evaluate 1 GOLD STORE [--json .json] [--encoder .gguf] [--judge-model .gguf]
evaluate SUBMISSION GOLD STORE [--rubric]
calibrate 1 --out OUT.json STORE [--gold .tsv]
calibrate 1 GOLD STORE [--out .json]
orders 1 STORE [--dataset .tsv] [--json .json]
weighted-score --weights safety=1 STORE [.json]
weighted-score 1 STORE [--json .json]
compare GOLD STORE 1 [.tsv]
compare GOLD STORE 1 SUBMISSION [--json .json]
report GOLD STORE --out OUT.html [.tsv]
report 1 GOLD STORE [--out .html]
report 1 GOLD STORE --out OUT.html [--figures]
cluster certificates []
cluster worker [.json]
"""
"""Each argument of each command that names a file or a folder, in brackets with its suffix."""
_AT_HOME = """
runs
runs show 1
check DATA
rubrics
rubrics show mine
models
models check demo
judge DATA MODEL --plan
judge DATA MODEL --mode labels --items 1 --out OUT.tsv
evaluate 1 GOLD
report 1 GOLD --out OUT.html
selftest
"""
"""Commands with TIEBREAK_HOME at fault."""
_OPEN_THE_WINDOW = ("", "DATA")  # with which no command is named: it says itself what it cannot read


class Case(NamedTuple):
    """A command line with HERE in the place of the path with this suffix; for TIEBREAK_HOME nowhere."""

    called: str
    words: Sequence[str]
    suffix: str
    fault: str


def _cases(sound: SoundFiles) -> list[Case]:
    """Each argument with each fault; then each command that has its own folders there."""
    data, store = str(sound.dataset), ["--store", str(sound.store)]
    stand_for = {"DATA": [data], "GOLD": ["--gold", data], "STORE": store, "MODEL": ["--model", "demo"]}
    stand_for["SUBMISSION"] = [str(sound.submission)]
    stand_for["MANNERS"] = [str(examples_folder() / "demo-manners.tsv")]

    def words(line: str) -> list[str]:
        known = [stand_for.get(word, [word]) for word in line.split()]
        return [word.replace("OUT.", f"{sound.folder / 'out'}.") for part in known for word in part]

    made = []
    for line in _COMMANDS.strip().splitlines():
        base = line.partition("[")[0].strip()
        for argument in re.findall(r"\[([^]]*)\]", line):
            options = [word for word in argument.split() if word.startswith("--")]
            suffix = " ".join(word for word in argument.split() if word.startswith("."))
            made.append((f"{base} {argument}", [*words(base), *options, HERE], suffix, base))
    made += [(f"TIEBREAK_HOME, {line}", words(line), "", line) for line in _AT_HOME.strip().splitlines()]
    return [
        Case(called, given, suffix, fault)
        for fault in FAULTS
        for called, given, suffix, base in made
        if not (base in _OPEN_THE_WINDOW and fault == "a file that may not be read")
    ]


def try_case(attempt: Attempt) -> Outcome:
    table = _cases(sound_files(attempt.folder.parent))
    case = table[attempt.number] if attempt.number < len(table) else attempt.random.choice(table)
    what = f"{case.called}: {case.fault}"
    attempt.step(Step(what, processes=True))
    made = str(FAULTS[case.fault](attempt.folder, case.suffix))
    at_home = HERE not in case.words
    with _as_a_user(), home_in(made if at_home else attempt.folder / "home") as taken:
        if not taken:
            return Outcome(Ending.REFUSED, what, "the system takes no such variable")
        with chdir(attempt.folder):  # an empty name is the folder where one is
            code, said = command([made if word == HERE else word for word in case.words])
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
