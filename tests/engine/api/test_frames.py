"""Frames as files: each cell as text, the same items as in a file, and nothing left of what is refused."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tiebreak
from engine.api.arguments import FramedItems, cell_text
from engine.core.errors import InputError
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset

pytestmark = pytest.mark.filterwarnings("ignore::engine.api.refused.TiebreakNotice")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("as it is", "as it is"),
        (None, ""),
        (float("nan"), ""),
        (pd.NA, ""),
        (pd.NaT, ""),
        (np.float32("nan"), ""),
        (7, "7"),
        (7.0, "7.0"),
        (1e22, "1e+22"),
        (float("inf"), "inf"),
        (b"caf\xc3\xa9", "café"),
        (np.float64(7.5), "7.5"),
        (np.int64(7), "7"),
        (0.1, "0.1"),
        (True, "true"),
        (["a", 1], '["a", 1]'),
        (("a", None), '["a", null]'),
        (np.array([1, 2]), "[1, 2]"),
        ({"role": "user", "n": np.int64(2)}, '{"role": "user", "n": 2}'),
        ({np.int64(1): "x", (1, "a"): None, b"k": b"v"}, '{"1": "x", "[1, \\"a\\"]": null, "k": "v"}'),
        ([1.5, float("nan"), float("inf"), pd.NaT], '[1.5, null, "inf", null]'),
        ({"c", "a", "b"}, '["a", "b", "c"]'),
        (frozenset({10, 9}), "[10, 9]"),
        (pd.Series([1, 2]), "[1, 2]"),
        (pd.Index(["a"]), '["a"]'),
        (pd.array([1, None], dtype="Int64"), "[1, null]"),
        (np.array([[1.0, np.nan]]), "[[1.0, null]]"),
        ([dt.date(2026, 1, 2), np.bool_(True)], '["2026-01-02", true]'),
        (dt.date(2026, 1, 2), "2026-01-02"),
    ],
)
def test_a_cell_is_text(cell: object, text: str) -> None:
    assert cell_text(cell) == text


def framed(frame: pd.DataFrame, folder: Path) -> FramedItems:
    return FramedItems.of(frame, folder / "runs.sqlite")


@pytest.fixture
def items(demo_gold: Path) -> pd.DataFrame:
    return tiebreak.read(demo_gold)


def test_items_of_a_frame_are_those_of_the_file(items: pd.DataFrame, demo_gold: Path, tmp_path: Path) -> None:
    of_frame, of_file = framed(items, tmp_path).load(ELOQUENT), load_dataset(demo_gold)
    assert framed(items.assign(id=items["id"].astype(int)), tmp_path).load(ELOQUENT).hash == of_file.hash
    assert of_frame.hash == of_file.hash
    assert of_frame.table.equals(of_file.table)


def test_a_frame_has_the_ids_of_its_parquet_file(items: pd.DataFrame, tmp_path: Path) -> None:
    for ids in (items["id"].astype(float), items["id"].astype(float) * 1e20, items["id"].str.encode("utf-8")):
        frame, path = items.assign(id=ids), tmp_path / "items.parquet"
        frame.to_parquet(path)
        assert framed(frame, tmp_path).load(ELOQUENT).hash == load_dataset(path).hash


def test_bytes_that_are_no_text_are_refused_by_row_where_read(items: pd.DataFrame, tmp_path: Path) -> None:
    frame = items.assign(picture=pd.Series([b"\x89PNG"] * len(items), dtype=object))
    with pytest.warns(tiebreak.Notice, match=r"1 column is omitted .*0x89.*'picture'"):
        kept = framed(frame, tmp_path)
    assert list(kept.columns) == list(items.columns)
    with pytest.raises(InputError, match=r"row 1, output_a: byte 0xff at offset 1 is not UTF-8\.\n  row 2,"):
        framed(items.assign(output_a=pd.Series([b"a\xff"] * len(items), dtype=object)), tmp_path)


def test_two_keys_that_are_one_as_text_are_refused(items: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 1, instruction: two keys of a dictionary are '1' as text"):
        framed(items.assign(instruction=pd.Series([{1: "a", "1": "b"}] * len(items), dtype=object)), tmp_path)


@pytest.mark.parametrize("kind", ["float16", "float32", "Float32", "float[pyarrow]"])
def test_a_short_float_is_as_it_was_written(items: pd.DataFrame, kind: Any, tmp_path: Path) -> None:
    score = pd.Series([0.1, 0.7], items.index[:2]).astype(kind)
    both = pd.Series([np.array([0.1], np.float32)] * 2, items.index[:2], dtype=object)
    some = items.head(2).assign(score=score, both=both)
    columns = FramedItems.of(some, tmp_path / "runs.sqlite").columns
    assert (columns["score"], columns["both"]) == (["0.1", "0.7"], ["[0.1]"] * 2)


def test_an_index_called_id_counts(items: pd.DataFrame, demo_gold: Path, tmp_path: Path) -> None:
    by_id, hash_of_file = items.set_index("id"), load_dataset(demo_gold).hash
    part = pd.Index(range(len(items)), name="part")
    by_two = items.set_index(["id", "instruction"])
    for frame in (by_id, by_two, by_id.set_index(part, append=True).swaplevel()):
        assert framed(frame, tmp_path).load(ELOQUENT).hash == hash_of_file


@pytest.mark.parametrize("name", [pd.NA, None, ("id",), 7])
def test_an_index_of_another_name_does_not_count(
    items: pd.DataFrame, demo_gold: Path, tmp_path: Path, name: Any
) -> None:
    frame = items.set_index(pd.Index(range(len(items)), name=name))
    assert framed(frame, tmp_path).load(ELOQUENT).hash == load_dataset(demo_gold).hash


def test_a_file_is_written_once_and_named_by_its_content(items: pd.DataFrame, tmp_path: Path) -> None:
    one, same = framed(items, tmp_path), framed(items.copy(), tmp_path)
    assert one.path == same.path != framed(items.head(3), tmp_path).path
    assert one.path.parent == tmp_path / "frames"
    one.keep()
    written = one.path.stat().st_mtime_ns
    same.keep()
    assert one.path.stat().st_mtime_ns == written
    assert load_dataset(one.path).hash == one.load(ELOQUENT).hash


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"PAR1 and nothing", None])
def test_a_damaged_file_of_a_frame_is_written_anew_once_the_frame_is_given(
    judge: tiebreak.Judge, items: pd.DataFrame, damage: bytes | None
) -> None:
    of_one = replace(judge, criteria="safety")
    run = of_one.run(items.head(2), progress=False)
    before = run.dataset.read_bytes()
    if damage is None:
        run.dataset.unlink()
    else:
        run.dataset.write_bytes(damage)
    for same in (run, tiebreak.Run(1, judge.store)):
        with pytest.raises(tiebreak.Refused, match=r"Pass that frame to the same Judge\.run again"):
            same.evaluate()
    assert of_one.run(items.head(2), progress=False) == run
    assert run.dataset.read_bytes() == before
    assert len(run.evaluate()) == 2


HALF = "\ud800"


def with_half_a_name(items: pd.DataFrame) -> pd.DataFrame:
    return items.set_axis(pd.Index([HALF, *items.columns[1:]], dtype=object), axis=1)


def with_half_a_character(items: pd.DataFrame) -> pd.DataFrame:
    return items.assign(output_a=pd.Series([HALF] * len(items), dtype=object))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        (lambda items: items.drop(columns="output_b"), "the frame: no column 'output_b'"),
        (lambda items: items.assign(id="7"), "row 2, id: id '7' is already used by row 1"),
        (lambda items: items.assign(safety_preference="C"), "unknown label 'C'"),
        (lambda items: items.head(0), "the frame: has no rows."),
        (lambda _: pd.DataFrame(), "the frame: "),
        (lambda items: pd.concat([items, items["id"]], axis=1), "the frame: column 'id' occurs 2 times."),
        (with_half_a_character, "  row 1, output_a: \\ud800 is half a character"),
        (with_half_a_name, "column 1: \\ud800 is half a character"),
        (lambda _: [1], "The data are of the type list."),
    ],
)
def test_what_is_wrong_is_said_of_the_frame_and_nothing_is_left(
    judge: tiebreak.Judge,
    items: pd.DataFrame,
    tmp_path: Path,
    spoilt: Callable[[pd.DataFrame], Any],
    said: str,
) -> None:
    frame = spoilt(items)
    with pytest.raises(tiebreak.Refused) as met:
        judge.run(frame, progress=False)
    assert said in met.value.problem
    assert ".parquet" not in str(met.value)
    assert met.value.hint in str(met.value)
    assert met.value.__cause__ is not None
    assert not (tmp_path / "frames").exists()


def test_a_dataset_is_read_by_columns_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "foreign.csv"
    path.write_text("uid,prompt,a,b,best\n1,Say a,x,y,1\n2,Say b,x,y,\n", encoding="utf-8")
    columns = {"id": "uid", "instruction": "prompt", "output_a": "a", "output_b": "b"}
    columns["overall_quality_preference"] = "best"
    frame = tiebreak.read(path, columns, {"1": "A", "": "none"})
    assert set(map(str, frame.dtypes)) == {"string"}
    assert frame["overall_quality_preference"].isna().tolist() == [False, True]
    assert frame.iloc[0]["overall_quality_preference"] == "A"
    with pytest.raises(tiebreak.Refused, match="not a column of a dataset"):
        tiebreak.read(path, {"outputs": "a"})
    with pytest.raises(tiebreak.Refused, match="cannot read"):
        tiebreak.read(path, columns, {"1": "better"})


@pytest.mark.slow
def test_a_submission_is_told_by_its_content(run: tiebreak.Run, tmp_path: Path) -> None:
    frame = tiebreak.read(run.submission(tmp_path / "submission.tsv"))
    assert frame.shape == (30, 11)
    labels = frame.set_index("id")["safety_preference"].astype(object)
    assert labels.tolist() == run.labels["safety"].astype(object).tolist()


def test_another_file_is_named_for_what_it_is() -> None:
    with pytest.raises(tiebreak.Refused, match="is a model, not a dataset"):
        tiebreak.read(Path(__file__).parents[3] / "models" / "demo-judge.gguf")
