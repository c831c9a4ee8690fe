"""Labelled items of the demo as a foreign file: other columns, other labels, the same texts."""

import csv
from collections.abc import Mapping
from pathlib import Path

from engine.core.column_map import ColumnMap
from engine.data.dataset import load_dataset
from engine.store.run_store import RunStore

LABELS = {"A": "model_a", "B": "model_b", "both_good": "tie (bothgood)", "both_bad": "tie (bothbad)"}
COLUMNS = ColumnMap.of(
    {
        "id": "uid",
        "instruction": "prompt",
        "output_a": "response_a",
        "output_b": "response_b",
        "overall_quality_preference": "winner",
    },
    {theirs: ours for ours, theirs in LABELS.items()},
)


def foreign_gold(gold: Path, folder: Path, labels: Mapping[str, str] = LABELS) -> Path:
    """The items of `gold` with their overall labels; `labels`: how ours are written."""
    path = folder / "foreign.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["uid", "prompt", "response_a", "response_b", "winner"])
        for item in load_dataset(gold):
            label = item.gold["overall_quality"].label
            written = "" if label is None else labels[label.value]
            writer.writerow([item.id, item.instruction, item.output_a, item.output_b, written])
    return path


def judged_by_columns(store_path: Path, path: Path, columns: ColumnMap | None = COLUMNS) -> None:
    """Let run 1 of a store have judged a foreign file, read by these columns; None: it kept none."""
    with RunStore(store_path) as store:
        manifest = dict(store.run(1).manifest)
        store.describe(1, {**manifest, **({"columns": columns.as_json()} if columns else {})})
        with store._file.writing(1) as db:
            db.execute("UPDATE run SET dataset_path = ? WHERE id = 1", (str(path),))


def with_a_mistake(path: Path) -> Path:
    """The same file with a label in its last row that nobody can know."""
    rows = path.read_text("utf-8").splitlines()
    other = path.with_name("mistaken.csv")
    text = "\n".join(rows)
    other.write_text(text + "\n" + ",".join(["last", "Why?", "So.", "Thus.", "the left one"]) + "\n", "utf-8")
    return other
