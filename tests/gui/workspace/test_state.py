"""What the window remembers, also where its file was damaged."""

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QStandardPaths

from engine.system.paths import demo_dataset
from gui.workspace.state import MOST_OF_QT, MOST_RECENT, State


def reopened(state: State) -> State:
    """The same file, read by another start of the program."""
    state.save()
    return State(state.path.parent)


def test_all_kinds_of_values_come_back(tmp_path: Path) -> None:
    state, name = State(tmp_path), "Ada, \u202e<b>ä</b>;\n%1"
    record, layout = {"files": [["a b.tsv", True]], "partial": False}, QByteArray(b"\x00\xff layout")
    state.set_text("author", name)
    state.set_number("size", 5_000_000_000)
    state.set_record("choice", record)
    state.set_layout("window", layout)
    again = reopened(state)
    assert (again.text("author"), again.number("size", 0)) == (name, 5_000_000_000)
    assert (again.record("choice"), again.layout("window")) == (record, layout)


def test_what_was_never_kept_is_the_default(tmp_path: Path) -> None:
    state = State(tmp_path)
    assert (state.text("x", "usual"), state.number("x", 7), state.record("x")) == ("usual", 7, {})
    assert state.layout("x").isEmpty()
    assert state.recent("datasets") == []


@pytest.mark.parametrize(
    "damaged", ["[General]\nrecent\\datasets={{{\nsize=many\nchoice=[1\n", "\x00\xff\x01", ""]
)
def test_a_damaged_file_counts_as_nothing_kept(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "window.ini").write_text(damaged, encoding="latin-1")
    state = State(tmp_path)
    assert (state.number("size", 7), state.record("choice"), state.recent("datasets")) == (7, {}, [])
    state.set_number("size", 8)
    assert reopened(state).number("size", 7) == 8


@pytest.mark.parametrize(
    "kept",
    ["7", "[1, null, {}]", '"text"', "[[", "[" * 5000, '{"a":' * 99 + "1" + "}" * 99, '{"a": 2147483648}'],
)
def test_values_of_another_kind_count_as_nothing_kept(tmp_path: Path, kept: str) -> None:
    state = State(tmp_path)
    state.set_text("recent/datasets", kept)
    state.set_text("choice", kept)
    assert state.recent("datasets") == []
    assert state.record("choice") == {}


def test_a_number_beyond_what_it_is_for_counts_as_not_kept(tmp_path: Path) -> None:
    state = State(tmp_path)
    for kept in ("2147483648", "9" * 30, "9" * 5000):
        state.set_text("tab", kept)
        assert state.number("tab", 3, MOST_OF_QT) == 3


def test_recent_files_are_the_newest_first_each_once(tmp_path: Path) -> None:
    state = State(tmp_path)
    paths = [tmp_path / f"{number}.tsv" for number in range(MOST_RECENT + 3)]
    for path in (*paths, paths[5]):
        state.add_recent("datasets", path)
    kept = reopened(state).recent("datasets")
    assert kept[:2] == [paths[5], paths[-1]]
    assert len(kept) == len(set(kept)) == MOST_RECENT
    state.remove_recent("datasets", paths[5])
    assert paths[5] not in state.recent("datasets")
    assert state.recent("models") == []


def test_each_change_of_the_recent_files_is_told(tmp_path: Path) -> None:
    state = State(tmp_path)
    received = []
    state.recent_changed.connect(lambda: received.append(len(state.recent("datasets"))))
    state.add_recent("datasets", tmp_path / "a.tsv")
    state.clear_recent("datasets")
    state.add_recent("datasets", tmp_path / "b.tsv")
    state.forget_all_but()
    assert received == [1, 0, 1, 0]


def test_work_that_was_begun_survives_forgetting(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.set_text("theme", "dark")
    state.set_record("unfinished", {"runs": [{"run": 7}]})
    state.forget_all_but("unfinished")
    kept = reopened(state)
    assert kept.text("theme") == ""
    assert kept.record("unfinished") == {"runs": [{"run": 7}]}


def test_the_file_is_in_the_data_folder_of_the_user(private_home: Path) -> None:
    assert State().path == private_home / "tiebreak" / "data" / "window.ini"


@pytest.mark.parametrize(
    ("last", "beside", "offered"),
    [
        (None, "data", "data"),
        ("out", "data", "out"),
        ("gone", "data", "data"),
        (None, "gone", "documents"),
        (None, None, "documents"),
        (str(demo_dataset().parent), str(demo_dataset().parent), "documents"),
    ],
)
def test_a_file_is_offered_where_the_last_one_is_or_beside_its_dataset_and_never_in_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str | None, beside: str | None, offered: str
) -> None:
    for name in ("out", "data", "documents"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _place: str(tmp_path / "documents"))
    state = State(tmp_path)
    if last is not None:
        state.keep_export_folder(tmp_path / last)
    assert state.export_folder(tmp_path / beside if beside else None) == tmp_path / offered
