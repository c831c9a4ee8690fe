"""The one converter from tables to frames: every kind of value, and every table that is shown of a run."""

from pathlib import Path

import pandas as pd
import pytest

from engine.api.tables import frame_of, frames_of
from engine.core.tables import Column, Estimate, Fact, Kind, Partial, PartOf, Ranked, Section, Table, Value
from engine.data.dataset import load_dataset
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import match, open_system
from engine.report.accuracy import confusion_section
from engine.report.evaluation import evaluation_sheet

ENDS = {"key_low": 1.0, "key_high": 2.0}
NAME = Column("what", "what", Kind.NAME, "What it is.")


def made(kind: Kind, *values: Value) -> pd.DataFrame:
    column = Column("key", "a title", kind, "What it says.")
    return frame_of(Table([NAME, column], [["x", value] for value in values])).drop(columns="what")


@pytest.mark.parametrize(
    ("kind", "value", "columns"),
    [
        (Kind.TEXT, "some words", {"key": "some words"}),
        (Kind.FLAG, True, {"key": True}),
        (Kind.COUNT, 3, {"key": 3}),
        (Kind.SHARE, 0.25, {"key": 0.25}),
        (Kind.NUMBER, -1.5, {"key": -1.5}),
        (Kind.SHORTEST, 10.0, {"key": 10.0}),
        (Kind.INTERVAL, (1.0, 2.0), ENDS),
        (Kind.SHARE_INTERVAL, (0.1, 0.2), {"key_low": 0.1, "key_high": 0.2}),
        (Kind.PAIR, (3, 4), {"key_first": 3, "key_second": 4}),
        (Kind.RANKED, Ranked(1.5, 2, (1.0, 2.0)), {"key": 1.5, "key_rank": 2, **ENDS}),
        (Kind.PARTIAL, Partial(1.5, 3, (1.0, 2.0)), {"key": 1.5, "key_left_out": 3, **ENDS}),
        (Kind.PART, PartOf(3, 7), {"key": 3, "key_of": 7}),
        (Kind.ESTIMATE, Estimate(0.5, (1.0, 2.0)), {"key": 0.5, **ENDS}),
        (Kind.FACT, Fact(Kind.NAME, "words"), {"key": "words", "key_low": None, "key_high": None}),
        (Kind.FACT, Fact(Kind.ESTIMATE, Estimate(0.5, (1.0, 2.0))), {"key": 0.5, **ENDS}),
        (Kind.FACT, Fact(Kind.INTERVAL, (1.0, 2.0)), {"key": None, **ENDS}),
    ],
)
def test_each_kind_of_value_has_its_columns(kind: Kind, value: Value, columns: dict[str, object]) -> None:
    frame = made(kind, value)
    assert frame.iloc[0].to_dict() == columns
    assert all("What it says." in frame.attrs["meaning"][name] for name in columns)


@pytest.mark.parametrize("kind", list(Kind))
def test_what_is_not_known_and_what_does_not_belong_is_missing(kind: Kind) -> None:
    frame = made(kind, None, "")
    assert frame.isna().all(axis=None)
    dtypes = {"string", "boolean", "Int64", "float64", "object"}
    assert set(map(str, frame.dtypes)) <= dtypes


def test_no_rows_are_a_frame_with_all_columns() -> None:
    assert made(Kind.ESTIMATE).columns.tolist() == ["key", "key_low", "key_high"]
    assert made(Kind.PARTIAL)["key_left_out"].dtype == "Int64"


def test_a_column_that_a_person_named_is_called_so_but_where_the_name_is_taken() -> None:
    columns = [
        Column(key, title, Kind.ESTIMATE, "", foreign=True)
        for key, title in (("against 0", "mine"), ("against 1", "what"))
    ]
    frame = frame_of(Table([NAME, *columns], [["x", Estimate(0.5), Estimate(0.5)]]))
    assert frame.columns.tolist() == [
        *("what", "mine", "mine_low", "mine_high"),
        *("against 1", "against 1_low", "against 1_high"),
    ]


def test_every_table_of_an_evaluation_becomes_a_frame(demo_store: Path, demo_gold: Path) -> None:
    evaluation = evaluate(match(open_system("1", demo_store), load_dataset(demo_gold)))
    sections: list[Section] = [*evaluation_sheet(evaluation).sections, confusion_section(evaluation)]
    tables = [part for section in sections for part in section.parts if isinstance(part, Table)]
    frames = frames_of(sections)
    assert [len(frame) for frame in frames.values()] == [len(table.rows) for table in tables]
    assert set(frames) >= {"accuracy", "labels", "explanations", "confusion"}
    accuracy = frames["accuracy"].set_index("criterion")["accuracy"]
    assert accuracy["safety"] == evaluation.labels["safety"].accuracy
    assert all(set(frame.attrs["meaning"]) == set(frame.columns) for frame in frames.values())
