r"""Run stores with sound SQLite in which another hand has put a value that the program does not write.

What is held:

- Every command on the damaged run ends with exit code 0, 1 or 2, and where it refuses, it names the run (or
  the note of an item) and the field.
- The list of runs can be printed, the other run is as good as before, and the damaged one can be deleted.
- What the window keeps (its settings, its queue), damaged in the same way, is read without a fault.
"""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.sound_files import SoundFiles, command, copy_of_store, home_in, sound_files
from bench.hostile.texts import with_odd_value
from engine.cli.shared.console import FAULT, WRONG_INPUT

_DEEP = "[" * 900 + "]" * 900
_DEEPER = '{"a":' * 100_000 + "1" + "}" * 100_000
ODD_VALUES: tuple[Any, ...] = (
    *(None, "", "x", "{}", "[]", "[1]", "null", "7", '"x"', "NaN", '{"mode": 3}', '{"mode": "labels"}'),
    *('{"a": 1e999}', f'{{"a": {"9" * 400}}}', _DEEP, _DEEPER, '["\\ud800"]', "\0", "a\0b", "../" * 2000),
    *(-1, 0, 1, -5.5, 0.5, 1e308, float("inf"), float("-inf"), 9e18, 2**63 - 1, -(2**63), 1 << 53),
    *("9" * 5000, "0001-01-01T00:00:00+00:00", "2026-01-01", b"\xff\x00", b"x", "\u202e\x1b[2J", "nan"),
)
_NO_UTF8 = "CAST(x'ff41' AS TEXT)"
_ANNOTATORS = ("override", "review_mark", "confirmation")
_RUN_TABLES = (
    *("run", "judged_item", "reading", "explanation", "unscored", "answer", "rewritten_explanation", "given"),
    "panel_reading",
    *_ANNOTATORS,
)
_TABLES = (*_RUN_TABLES, "item_note", "measured")
_KEYS = frozenset(("run_id",))  # of another run a row would be, or of none


def try_case(attempt: Attempt) -> Outcome:
    sound = sound_files(attempt.folder.parent)
    store = copy_of_store(sound, attempt.folder)
    places = _places(store)
    random = attempt.random
    count = random.choice((0, 1, 1, 1, 2, 4))
    wanted = [(random.choice(places), random.choice((*ODD_VALUES, _NO_UTF8))) for _ in range(count)]
    if not wanted or random.random() < 0.2:
        wanted += _inside_json(store, random)
    what = "; ".join(f"{place[0]}.{place[1]} = {_short(odd)}" for place, odd in wanted)
    attempt.step(Step(what))
    damaged = _damage(store, wanted)
    if not damaged:
        return Outcome(Ending.REFUSED, what, "SQLite takes no such value")
    with home_in(sound.folder / "home"):  # where it is known that the demo model is sound
        return _tried(sound, store, what, attempt)


def _places(store: Path) -> list[tuple[str, str]]:
    """Each column of each table that holds something of runs."""
    with closing(sqlite3.connect(store)) as db:
        return [
            (table, name)
            for table in _TABLES
            for _, name, *_rest in db.execute(f"PRAGMA table_info({table})")
            if name not in _KEYS
        ]


def _damage(store: Path, wanted: Sequence[tuple[tuple[str, str], Any]]) -> bool:
    """Put the values into one row each of run 1; whether SQLite took any."""
    taken = False
    with closing(sqlite3.connect(store)) as db, db:
        for (table, column), odd in wanted:
            key = "id" if table == "run" else "run_id"
            of_run = f"{key} = 1" if table in _RUN_TABLES else "1"
            how, values = (odd, ()) if odd is _NO_UTF8 else ("?", (odd,))
            (rows,) = db.execute(f"SELECT count(*) FROM {table} WHERE {of_run}").fetchone()
            first = f"SELECT min({column}) FROM {table} WHERE {of_run}"
            try:
                done = db.execute(
                    f"UPDATE {table} SET {column} = {how} WHERE {of_run}"
                    + (f" AND ({column} = ({first}) OR ({first}) IS NULL)" if rows > 1 else ""),
                    values,
                )
                taken = taken or done.rowcount > 0
            except (sqlite3.Error, OverflowError):
                continue
    return taken


def _inside_json(store: Path, random: Random) -> list[tuple[tuple[str, str], Any]]:
    """A record of the run with a value somewhere within replaced or gone."""
    column = random.choice(("settings", "manifest", "rubric", "calibration", "criteria"))
    with closing(sqlite3.connect(store)) as db:
        (text,) = db.execute(f"SELECT {column} FROM run WHERE id = 1").fetchone()
    odd = [each for each in ODD_VALUES if isinstance(each, str) and len(each) < 5000]
    value = json.loads(text) if text else {"scale": 1}
    return [(("run", column), with_odd_value(value, odd, random)[0])]


def _tried(sound: SoundFiles, store: Path, what: str, attempt: Attempt) -> Outcome:
    ending = Ending.TAKEN
    before, some, after = _commands(sound, store, attempt.folder)
    for words in (*before, *attempt.random.sample(some, _OF_THE_OTHERS), *after):
        # The plan of a run may time some items with the model.
        attempt.step(Step(f"{what}: {' '.join(words[:3])}", processes=words[0] == "judge"))
        code, said = command(words)
        shown = f"{' '.join(words)}: exit code {code}\n{said[-3000:]}"
        if code == FAULT:
            return Outcome(Ending.FAULT, what, shown)
        if code == WRONG_INPUT:
            ending = Ending.REFUSED
            if words[:2] in _MUST_WORK:
                return Outcome(Ending.WRONGLY_REFUSED, what, shown)
            if "Another program wrote that" in said and not ("Run 1" in said or "note of" in said):
                return Outcome(Ending.FAULT, what, f"the refusal names no run: {shown}")
    return Outcome(ending, what)


_OF_THE_OTHERS = 5
_LIST, _OTHER, _DELETE = ["runs", "--all"], ["evaluate", "2"], ["runs", "delete"]
_MUST_WORK = (_LIST, _OTHER, _DELETE)


def _commands(sound: SoundFiles, store: Path, folder: Path) -> Sequence[list[list[str]]]:
    """What is done in each case; some of what is done with the damaged run; what makes an end of it."""
    data, out, at = str(sound.dataset), str(folder / "out"), ["--store", str(store)]
    gold = ["--gold", data, *at]
    judge = ["judge", data, "--model", "demo", "--context", "4096", "--max-explanation-tokens", "40"]
    first = [[*_LIST, *at], ["runs", "show", "1", *at]]
    some = [
        *[["runs", action, "1", *at] for action in ("archive", "restore")],
        ["runs", "find", "demo", *at],
        ["runs", "diff", "1", "2", *at],
        ["runs", "export", "1", "--out", f"{out}.tsv", "--json", f"{out}.json", "--csv", f"{out}.csv", *at],
        ["evaluate", "1", *gold],
        ["report", "1", *gold, "--out", f"{out}.html"],
        ["calibrate", "1", *gold, "--out", f"{out}-calibration.json"],
        ["orders", "1", *at],
        ["weighted-score", "1", *at],
        ["compare", "1", "2", *gold],
        [*judge, "--plan", *at],
        ["prompt", "1", "--model", "demo", *at],
    ]
    last = [
        [*_OTHER, *gold],
        [*_DELETE, "1", "--yes", "--with-decisions", *at],
        [*_LIST, *at],
        [*_OTHER, *gold],
    ]
    return first, some, last


def _short(value: object) -> str:
    return repr(value)[:60]
