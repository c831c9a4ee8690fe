r"""Hostile datasets: written by a generator, damaged, and read by the engine's own function.

What is held (see `readers` for what the independent readers take and where they have to be fair):

- An undamaged file gives each of its items, in its order, with exactly its texts, unless it holds what must
  be refused (an id twice or empty, an unknown label, half a character, another encoding than UTF-8).
- A damaged file is refused by an InputError that names the file and what was found, or each item that an
  independent reader finds in it comes out with exactly that reader's texts, no item more or less.
- A column that is left out is said to be left out in a notice.
- Nothing but a SetupError is raised, in less than the limit of a hang.

One case in a hundred goes through the commands `check` and `judge --plan`: exit code 0 or 2, and 0 from
`check` only where the engine took the file too; nothing printed holds a raw control character.
"""

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.readers import Cells, Nested, Unreadable, raw_predictions
from bench.hostile.tables import KNOWN, Written, odd_parquet, oddly_typed, sound_table
from bench.hostile.texts import damaged
from engine.core.errors import InputError, SetupError
from engine.data.dataset import Dataset, load_dataset
from tests.commands import MAIN

RAW_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
ONE_IN = 100
"""Of so many cases one goes through the real commands."""


def try_case(attempt: Attempt) -> Outcome:
    random = attempt.random
    make = random.choices((sound_table, oddly_typed, odd_parquet), (8, 1, 1))[0]
    sound = make is sound_table and random.random() < 0.3
    written = make(random)
    what = f"{make.__name__}{written.suffix}"
    if not sound and (make is sound_table or random.random() < 0.3):
        while written.why_refused:
            written = make(random)
        written, damages = _spoilt(written, random)
        what = f"{make.__name__}{written.suffix}, {damages}"
    path = attempt.folder / f"data{written.suffix}"
    path.write_bytes(written.data)
    attempt.step(Step(what))
    outcome = _of_sound(path, written, what) if sound else of_damaged(path, written.data, what)
    if outcome.sound and attempt.number % ONE_IN == 0:
        return of_commands([("check", path), ("judge", path, "--plan", "--model", "demo")], outcome, attempt)
    return outcome


def _spoilt(written: Written, random: Random) -> tuple[Written, str]:
    """The same file damaged; of a compressed one rather what is in it, since its checksum tells the rest."""
    if written.suffix.endswith(".gz") and random.random() < 0.7:
        content, damages = damaged(gzip.decompress(written.data), random)
        return Written(written.suffix, gzip.compress(content, mtime=0)), f"{damages} inside"
    data, damages = damaged(written.data, random)
    return Written(written.suffix, data), damages


def _of_sound(path: Path, written: Written, what: str) -> Outcome:
    loaded = _loaded(path)
    if isinstance(loaded, SetupError):
        if written.why_refused:
            return refusal(loaded, path, what)
        return Outcome(Ending.WRONGLY_REFUSED, what, str(loaded))
    if written.why_refused:
        return Outcome(Ending.LOSS, what, f"taken, although {written.why_refused}")
    difference = _difference(loaded, written.rows)
    return Outcome(Ending.LOSS if difference else Ending.TAKEN, what, difference)


def of_damaged(path: Path, data: bytes, what: str) -> Outcome:
    """What the engine makes of a file, against the independent readers."""
    loaded = _loaded(path)
    if isinstance(loaded, SetupError):
        return refusal(loaded, path, what)
    try:
        found = raw_predictions(data, path.name.removeprefix("data"), KNOWN)
    except Unreadable as problem:
        return Outcome(Ending.LOSS, what, f"taken, although an independent reader finds: {problem}")
    differences = [_difference(loaded, rows) for rows in found]
    if all(differences):
        return Outcome(Ending.LOSS, what, "\n".join(differences))
    return Outcome(Ending.TAKEN, what)


def _loaded(path: Path) -> Dataset | SetupError:
    try:
        return load_dataset(path)
    except SetupError as error:
        return error


def refusal(error: SetupError, path: Path, what: str) -> Outcome:
    """A refusal is sound where it names the file, what was found, and what to do."""
    named = isinstance(error, InputError) and error.problems and path.name in error.problem
    if named and str(error.hint).strip():
        return Outcome(Ending.REFUSED, what, str(error))
    return Outcome(Ending.FAULT, what, f"the refusal names no place or no remedy: {error!r}")


def _difference(dataset: Dataset, rows: Cells) -> str:
    taken = dataset.table.to_pylist()
    if len(taken) != len(rows):
        return f"{len(taken)} items taken, {len(rows)} in the file"
    for number, (got, cells) in enumerate(zip(taken, rows, strict=True), start=1):
        for name in {*got, *cells}:
            difference = _unlike(got.get(name), cells.get(name, ""))
            if difference:
                return f"item {number}, {name}: {difference}"
    return ""


def _unlike(got: str | None, there: object) -> str:
    if got is None:
        return f"left out; in the file {there!r}"
    same = there.spelt_by(got) if isinstance(there, Nested) else got == there
    shown = there.value if isinstance(there, Nested) else there
    return "" if same else f"taken as {got[:200]!r}, in the file {str(shown)[:200]!r}"


def of_commands(commands: Sequence[Sequence[object]], sound: Outcome, attempt: Attempt) -> Outcome:
    """The same file through the commands; `sound` where they behave, and agree with what it says."""
    for arguments in commands:
        attempt.step(Step(f"{sound.case}: the command {arguments[0]}", processes=True))
        done = _run(arguments)
        command = f"main.py {' '.join(map(str, arguments))}"
        shown = f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        # 1: done, but something is not judged; those that only look know no such end.
        only_looks = arguments[0] == "check" or "--plan" in arguments
        if done.returncode not in ((0, 2) if only_looks else (0, 1, 2)):
            return Outcome(Ending.FAULT, sound.case, shown)
        if arguments[0] == "check" and (done.returncode == 0) != (sound.ending is Ending.TAKEN):
            return Outcome(Ending.LOSS, sound.case, f"the engine: {sound.ending}; {shown}")
        # The progress bar goes back to the beginning of its own line.
        if RAW_CONTROL.search(done.stdout + done.stderr.replace("\r", "")):
            return Outcome(Ending.CONTROL_CHARACTER, sound.case, shown)
    return sound


def _run(arguments: Sequence[object]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(MAIN), *map(str, arguments)]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    # Bytes, without universal line ends: a lone carriage return is what is looked for.
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    out, err = (text.decode("utf-8").replace("\r\n", "\n") for text in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(command, done.returncode, out, err)
