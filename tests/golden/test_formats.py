"""What commands alone do not show: a write-ahead log, a recipe written again, the identity of new runs."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.golden import program
from tests.golden.compared import same
from tests.golden.steps import NEW_RUNS

_STAYS = "Other programs wrote such files: what is read from them is written as it was."
_OF_THIS_COMPUTER = ("llama_cpp", "threads", "gpu_layers")


def test_a_write_ahead_log_is_written_as_it_was(study: Path, tmp_path: Path) -> None:
    log = study / "words.jsonl"
    again = program.rewritten_log(log, tmp_path / "none.sqlite")
    same("words.jsonl", log.read_bytes().decode(), again.decode(), _STAYS)


def test_a_log_that_a_dead_program_left_is_taken_in(study: Path, golden: Callable[[str, str], None]) -> None:
    """Each annotation is in the study already, from the same log: all are stored a second time."""
    store = program.default_store()
    with closing(sqlite3.connect(store)) as db, db:
        for table in ("override", "review_mark", "confirmation", "item_note", "draft", "outbox"):
            db.execute(f'DELETE FROM "{table}"')
    (study / "words.jsonl").rename(store.with_name(f"{store.name}.said-0a0b0c0d.jsonl"))
    assert program.printed("runs")
    with closing(sqlite3.connect(store)) as db:
        rows = [line for line in db.iterdump() if line.startswith("INSERT INTO")]
    tables = ("override", "review_mark", "confirmation", "item_note", "draft", "outbox")
    golden("log-taken-in.sql", "\n".join(row for row in rows if row.split('"')[1] in tables) + "\n")


def test_a_recipe_is_written_as_it_was(study: Path, tmp_path: Path) -> None:
    recipe = study / "recipe.json"
    again = program.rewritten_recipe(recipe, tmp_path / "again.json").decode()
    again = again.replace(r"models\\demo", "models/demo")  # the system writes its own separator
    same("recipe.json", recipe.read_bytes().decode(), again, _STAYS)


@pytest.mark.usefixtures("study")
def test_new_runs_have_the_identities_that_they_had(golden: Callable[[str, str], None]) -> None:
    for line in NEW_RUNS:
        program.printed(line)
    with closing(sqlite3.connect(program.default_store())) as db:
        db.row_factory = sqlite3.Row
        found = [dict(row) for row in db.execute("SELECT * FROM run WHERE id > 10 ORDER BY id")]
        items = db.execute(
            "SELECT run_id, position, item_id, content_hash, left_out_a, left_out_b, tokens_read"
            " FROM judged_item WHERE run_id > 10 ORDER BY 1, 2"
        ).fetchall()
    for row in found:
        for name in ("criteria", "settings", "manifest", "calibration", "rubric"):
            row[name] = json.loads(row[name]) if row[name] else None
        row["manifest"] |= dict.fromkeys(_OF_THIS_COMPUTER, "…")
        row["calibration"] = row["calibration"] and sorted(row["calibration"])
        row["worker"], row["created"] = None, "…"
    rows = [list(row) for row in items]
    golden("perturbations.tsv", Path("perturbations.tsv").read_bytes().decode())
    golden("identities.json", json.dumps({"runs": found, "items": rows}, indent=1, ensure_ascii=False) + "\n")
