"""Faults in the log file, and in short words."""

import logging

import pytest

from engine.errors import EngineBug
from engine.fault_log import fault_words, log_fault
from engine.paths import log_folder
from engine.version import VERSION


def fault(text: str) -> Exception:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


def test_a_fault_is_written_with_its_traceback_and_what_was_done(caplog: pytest.LogCaptureFixture) -> None:
    path = log_fault(fault("no such thing"), "opening a window")
    log_fault(fault("a path with \udcff"), "closing it")
    caplog.clear()
    said = path.read_text("utf-8")
    assert path.parent == log_folder()
    assert f"Tiebreak {VERSION}, opening a window" in said
    assert said.count("Traceback") == 2
    assert "ValueError: no such thing" in said
    assert "a path with \\udcff" in said


def test_a_log_that_cannot_be_written_is_no_second_fault(caplog: pytest.LogCaptureFixture) -> None:
    log_folder().parent.mkdir(parents=True)
    log_folder().write_text("a file, no folder")
    assert not log_fault(fault("first"), "testing").exists()
    caplog.clear()


def test_later_faults_of_others_do_not_enter_the_file(caplog: pytest.LogCaptureFixture) -> None:
    path = log_fault(fault("first"), "testing")
    logging.getLogger("engine.fault_log").error("not a fault")
    caplog.clear()
    assert "not a fault" not in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("error", "words"),
    [(EngineBug("the cache is gone"), "the cache is gone"), (KeyError("x"), "KeyError: 'x'")],
)
def test_words_for_a_fault(error: Exception, words: str) -> None:
    assert fault_words(error) == words
