"""A job as a page or a dialog shows it: its line, its notice, its end, and what comes too late."""

import threading

from PySide6.QtWidgets import QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.core.errors import EngineError, SetupError
from engine.core.events import MeasureProgress, Preparing
from gui.widgets.actions import BusyLine
from gui.widgets.notice import Notice
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import WAITING, AtWork, EngineThreads, JobControl, ThreadName, job
from tests.gui.labels import shown_text


@job
def wait(control: JobControl, event: object = None, result: object = None) -> object:
    """Report an event; work until it is cancelled, or give a result at once."""
    control.report(event)
    while result is None:
        control.cancel.raise_if_requested()
        threading.Event().wait(0.001)
    return result


@job
def fail(_control: JobControl) -> None:
    raise SetupError("No.", "Try another one.")


def stop(line: BusyLine) -> None:
    line.findChild(QPushButton).click()


def wait_for_text(qtbot: QtBot, widget: QWidget, text: str) -> None:
    qtbot.waitUntil(lambda: shown_text(widget) == text)


def on_screen(qtbot: QtBot, widget: QWidget) -> None:
    qtbot.addWidget(widget)
    widget.show()


def test_the_line_says_how_far_the_newest_job_is_until_its_end(qtbot: QtBot, threads: EngineThreads) -> None:
    done: list[object] = []
    busy: list[bool] = []
    panel = TaskPanel(threads, ThreadName.FILES, threads, done.append)
    panel.busy_changed.connect(busy.append)
    on_screen(qtbot, panel.line)
    panel.begin(wait(AtWork("Reading …", 1, 2)), "Starting …")
    assert shown_text(panel.line) == "Starting …"
    for event, text in (
        (AtWork("Reading …", 1, 2), "Reading …"),
        (MeasureProgress(1, 2), "Counting …"),
        (Preparing("Looking"), "Looking …"),
    ):
        panel.begin(wait(event), "Counting …")
        wait_for_text(qtbot, panel.line, text)
    panel.begin(wait(result=7), "Counting …")
    qtbot.waitUntil(lambda: not panel.busy)
    assert done == [7]
    assert busy[-2:] == [True, False]
    assert panel.line.isHidden()


def test_an_error_is_in_the_notice_until_the_next_job_begins(qtbot: QtBot, threads: EngineThreads) -> None:
    notice = Notice()
    on_screen(qtbot, notice)
    panel = TaskPanel(threads, ThreadName.FILES, threads, failed=notice)
    panel.begin(fail(), "…")
    qtbot.waitUntil(lambda: "Try another one." in notice.text)
    assert panel.line.isHidden()
    panel.begin(wait(result=1), "…")
    assert notice.isHidden()


def test_a_job_that_waits_for_a_model_says_so_and_is_stopped(qtbot: QtBot, threads: EngineThreads) -> None:
    stopped: list[str] = []
    first = threads.start(ThreadName.MODEL, wait())
    panel = TaskPanel(threads, ThreadName.MODEL, threads, stopped=lambda: stopped.append("it"))
    on_screen(qtbot, panel.line)
    panel.begin(wait(), "Loading the model …")
    assert shown_text(panel.line) == f"{WAITING} …"
    stop(panel.line)
    assert (panel.busy, panel.line.isHidden()) == (False, True)
    first.cancel()
    qtbot.waitUntil(lambda: first.done)
    panel.begin(wait("at work"), "Loading the model …")
    assert shown_text(panel.line) == "Loading the model …"
    qtbot.waitUntil(lambda: panel._task.begun)
    stop(panel.line)
    qtbot.waitUntil(lambda: stopped == ["it"])


def test_of_a_dialog_that_was_closed_nothing_is_heard(qtbot: QtBot, threads: EngineThreads) -> None:
    dialog = QDialog()
    on_screen(qtbot, dialog)
    heard: list[object] = []
    failed: list[EngineError] = []
    panel = TaskPanel(
        threads, ThreadName.FILES, dialog, heard.append, failed=failed.append, stopped=lambda: heard.append(0)
    )
    task = panel.start(wait())
    dialog.close()
    qtbot.waitUntil(lambda: task.done)
    assert not panel.busy
    assert (heard, failed) == ([], [])
