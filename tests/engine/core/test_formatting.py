"""Texts and numbers as people read them."""

from pathlib import PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.formatting import duration, file_stem, visible, windows_fault


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 汉字 👩‍👩‍👧 \t\n", "plain é 汉字 👩‍👩‍👧 \t\n"),
        ("a\r\nb\rc", "a\nb\\rc"),
        ("\x00\x1b\x7f\x85", "\\x00\\x1b\\x7f\\x85"),
        ("\u202e\u2066\u200f", "\\u202e\\u2066\\u200f"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_is_invisible_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.2, "1 s"), (150, "2 min"), (5390, "1 h 30 min"), (5340, "89 min")]
)
def test_a_time_is_said_as_people_say_it(seconds: float, words: str) -> None:
    assert duration(seconds) == words


SAFE = "run-7-calibration.json"


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        ("my judge", "my judge"),
        ("llama3:8b", "llama3-8b"),
        ('<"what?">', "-what-"),
        ("con", "_con"),
        ("com1 .x", "_com1 .x"),
        ("lpt²", "_lpt²"),
        ("console", "console"),
        ("ends. . ", "ends"),
        ("half\ud800", "half"),
        ("日本語の名前", "日本語"),
        ("...", ""),
    ],
)
def test_a_name_is_made_that_every_system_takes(called: str, expected: str) -> None:
    assert file_stem(called, 11) == expected


@given(st.text(max_size=80), st.integers(1, 60))
def test_whatever_something_is_called_windows_takes_its_file(called: str, most: int) -> None:
    stem = file_stem(called, most)
    assert len(stem.encode()) <= most + 1
    assert windows_fault(PureWindowsPath("C:/data", f"{stem}-judged.tsv"), long_paths=False) == ""
    if stem:
        assert windows_fault(PureWindowsPath("C:/data", f"{stem}.toml"), long_paths=False) == ""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (r"C:\data\run:7.tsv", "':'"),
        (r"C:\data\z:b.tsv", "':'"),
        ("z:b.tsv", "'z:' names a drive, but no folder on it"),
        (r"C:\data\con", "'con' for a device"),
        (r"C:\data\Aux.tsv", "'Aux.tsv' for a device"),
        (r"C:\data\out.tsv.", "ends with a dot"),
        (r"C:\data \out.tsv", "ends with a space"),
        ("C:\\" + "d" * 250 + r"\out.tsv", "261 characters"),
        ("C:\\" + "😀" * 130, "263 characters"),
        (r"\\server\share\a|b", "'|'"),
    ],
)
def test_windows_does_not_take_it(path: str, said: str) -> None:
    assert said in windows_fault(PureWindowsPath(path), long_paths=False)


@pytest.mark.parametrize(
    "path",
    [
        rf"C:\data\{SAFE}",
        rf"\\server\share\{SAFE}",
        rf"C:\data\..\{SAFE}",
        "\\\\?\\C:\\" + "d" * 300,  # what begins so may be as long as it likes
        r"D:\.cache\.tiebreak-12.part",
        r"C:\data\日本語.tsv",
    ],
)
def test_windows_takes_it(path: str) -> None:
    assert windows_fault(PureWindowsPath(path), long_paths=False) == ""
    assert windows_fault(PureWindowsPath(path, "d" * 200, "e" * 200), long_paths=True) == ""
