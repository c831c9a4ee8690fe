"""What commands print: how they end, sheets, bars beside notes; nothing that steers a terminal."""

import errno
import io
import json
import re
import signal
import sys
import unicodedata
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tqdm import tqdm

from engine.cli.shared import console
from engine.cli.shared.console import (
    WRONG_INPUT,
    SafeStream,
    guarded,
    interruptible,
    print_sheet,
    printable,
    raw_stderr,
    table,
)
from engine.cli.shared.progress import show_measure
from engine.core.errors import EngineBug, SetupError
from engine.core.events import Cancelled, MeasureProgress, Note
from engine.core.tables import Column, Facts, Kind, Picture, Section, Sentences, Sheet, Table
from engine.system.paths import log_folder
from tests.commands import parsed, said_by


def ended(error: BaseException) -> int:
    def fail() -> int:
        raise error

    return guarded(fail)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_first_ctrl_c_loses_nothing_the_second_stops_now(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with interruptible(lambda: "Stopping now loses 40 s of work.") as cancel:
        signal.raise_signal(signal.SIGINT)
        assert (cancel.ending, cancel.requested) == (True, False)
        assert "loses 40 s of work. Press Ctrl-C again to stop now." in capsys.readouterr().err
        signal.raise_signal(signal.SIGINT)
        assert cancel.requested
        assert "Stopping ..." in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("number", "loss"), [(signal.SIGINT, ""), (signal.SIGTERM, "40 s")])
def test_a_stop_that_loses_nothing_and_a_request_to_end_are_answered_at_once(number: int, loss: str) -> None:
    with interruptible(lambda: loss) as cancel:
        signal.raise_signal(number)
        assert cancel.requested


WITHOUT_STDERR = """
import os, sys
sys.stderr = open(os.devnull, "w")
from main import main
try:
    main(sys.argv[1:])
except Exception as error:
    print(error)
"""


@pytest.mark.parametrize("words", [["jugde"], ["one", "two", "three"]])
def test_where_a_box_holds_the_error_it_does_not_hold_the_help_too(words: list[str]) -> None:
    """A box of Windows is as high as its text, and cannot be scrolled."""
    problem, way_out = said_by(WITHOUT_STDERR, *words).splitlines()
    assert problem.startswith("There is no command")
    assert way_out == "Check the name, or open the file in the window."


def test_what_is_wrong_with_arguments_is_told_without_a_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(console, "tell", told.append)
    with pytest.raises(SystemExit) as met:
        parsed("evaluate", "1", "--nonsense")
    assert met.value.code == WRONG_INPUT
    (text,) = told
    assert text.startswith("python main.py evaluate: error: ")
    assert "\n" not in text


def test_a_stderr_without_a_name_is_of_a_program_that_embeds_this(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert console.has_terminal()


def test_what_the_user_can_mend_is_problem_and_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(SetupError("The file is gone.", "Put it back.")) == 2
    assert capsys.readouterr().err == "The file is gone.\nPut it back.\n"


@pytest.mark.parametrize("error", [Cancelled(), KeyboardInterrupt()])
def test_a_stop_is_no_error(error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(error) == 1
    assert capsys.readouterr().err == "Stopped.\n"


@pytest.mark.parametrize(
    "error",
    [
        EngineBug("the cache is gone"),
        ZeroDivisionError("division by zero"),
        FileNotFoundError("Shared library 'llama' not found"),
        OSError(errno.EIO, "Input/output error"),  # of anything but what is printed
        BrokenPipeError(errno.EPIPE, "Broken pipe"),
    ],
)
def test_a_fault_of_the_program_is_logged_whole_and_said(
    error: Exception, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert ended(error) == 3
    caplog.clear()
    printed = capsys.readouterr().err
    assert str(error) in printed
    assert "Traceback" not in printed
    log = (log_folder() / "tiebreak.log").read_text("utf-8")
    assert "Traceback" in log
    assert str(error) in log


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_what_cannot_be_printed_is_said_where_it_can_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        print("x" * 100_000)
        return 0

    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert guarded(work) == 2
        assert "The output could not be written: No space left" in capsys.readouterr().err
        monkeypatch.setattr(sys, "stderr", full)
        assert ended(SetupError("The file is gone.", "Put it back.")) == 2  # of which nobody hears


def test_a_table_lines_its_columns_up() -> None:
    assert table(["name", "n"], [["a", "10"], ["long name", "9"]]) == (
        "name        n\na          10\nlong name   9"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain é 東", "plain é 東"), ("a\n\x1b[31mb", "a\\n\\x1b[31mb"), ("\u202e", "\\u202e")],
)
def test_foreign_text_cannot_steer_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert shown in table(["x"], [[text]])


@given(st.text())
def test_nothing_that_is_printed_steers_a_terminal(text: str) -> None:
    below = io.StringIO()
    print(text, file=SafeStream(below), end="")
    printed = below.getvalue()
    assert all(char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cs"} for char in printed)
    assert not set(printed) & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), printed) == text or "\\u" in text


@given(st.text())
def test_json_that_is_printed_is_still_json(text: str) -> None:
    below = io.StringIO()
    print(json.dumps([text], ensure_ascii=False), file=SafeStream(below))
    assert json.loads(below.getvalue()) == [text]


def test_an_error_with_foreign_words_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(SetupError("The template says \x1b]0;owned\x07 \x9b31m.", "Choose another.")) == 2
    assert capsys.readouterr().err == (
        "The template says \\u001b]0;owned\\u0007 \\u009b31m.\nChoose another.\n"
    )


@pytest.mark.parametrize("letters", ["cp437", "cp1252", "ascii"])
def test_words_of_any_script_are_printed_where_the_console_has_few_letters(
    letters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=letters, errors="strict"))
    monkeypatch.setattr(
        sys, "stderr", bar := io.TextIOWrapper(io.BytesIO(), encoding=letters, errors="strict")
    )

    def work() -> int:
        print("“日本語” → ✓ 😀")
        for _ in tqdm(range(1), file=raw_stderr(), bar_format="{bar:5}│ Δ {n}"):
            pass
        return 0

    assert guarded(work) == 0
    bar.flush()
    assert "“日本語” → ✓ 😀" in raw.getvalue().decode("utf-8")
    assert "█████│ Δ 1" in bar.buffer.getvalue().decode("utf-8")


TABLE = Table((Column("n", "n", Kind.NAME, "A name."), Column("k", "k", Kind.COUNT, "A count.")), [["x", 1]])


def test_every_part_is_printed_with_foreign_text_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    facts = Facts([("a", "one"), ("long", "two\x1b")])
    sections = [
        Section("said", "By \x1b", [Sentences(["First.", "Second."]), facts], "A note."),
        Section("table", "", [TABLE, Picture("it", "How it is read.")]),
    ]
    print_sheet(Sheet("title\x07", sections))
    assert capsys.readouterr().out == (
        "title\\x07\n\nBy \\x1b:\nFirst.\nSecond.\n\na     one\nlong  two\\x1b\n(A note.)\n\nn  k\nx  1\n"
    )


def measured() -> Generator[MeasureProgress | Note, None, int]:
    yield MeasureProgress(1, 2)
    yield Note("What to know.")
    yield MeasureProgress(2, 2)
    return 7


def test_a_note_stands_on_a_line_of_its_own_beside_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_measure("Counting", measured()) == 7
    printed = capsys.readouterr().err
    assert "What to know." in re.split(r"[\r\n]", printed)
    assert "Counting: 2/2" in printed.splitlines()[-1]
