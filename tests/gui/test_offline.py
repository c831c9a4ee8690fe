"""The window at work opens no socket, nor do its child processes: opening, judging, measuring, every page."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT

HOOK = """
import os, sys

def end_at_a_socket(event, _arguments):
    if event.startswith("socket.") and event != "socket.gethostname":  # which asks no net
        os._exit(77)

with open({seen!r}, "a") as seen:
    seen.write("1" if "--apart" in sys.orig_argv else "0")
sys.addaudithook(end_at_a_socket)
"""
STUDY = """
import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QTimer
from gui.app import make_application
from gui.workspace.threads import ThreadName
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import PageName

def until(reached):
    patience = QDeadlineTimer(60_000)
    while not reached():
        loop = QEventLoop()
        QTimer.singleShot(20, loop.quit)
        loop.exec()
        assert not patience.hasExpired(), main_content.notices.text

app = make_application([])
frame = MainWindow()
frame.show()
main_content = MainContent(frame)
main_content.begin(Path(sys.argv[1]))
until(lambda: main_content.judge.can_run)
main_content.judge.settings.show_setup(replace(main_content.judge.setup(), threads=1))
until(lambda: main_content.judge.can_run)
main_content.run()
until(lambda: main_content.workspace.run is not None)
for page in PageName:
    frame.show_page(page)
    until(lambda: not any(main_content.threads.busy(thread) for thread in ThreadName))
main_content.end()
print("judged", main_content.workspace.run.results.run.judged)
"""


@pytest.mark.slow
def test_the_window_opens_no_socket(demo_gold: Path, tmp_path: Path, demo_tried: None) -> None:
    few = tmp_path / "few.tsv"
    few.write_bytes(b"\n".join(demo_gold.read_bytes().split(b"\n")[:2]) + b"\n")
    hook, seen = tmp_path / "hook", tmp_path / "seen"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(HOOK.format(seen=str(seen)), encoding="utf-8")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(hook)}
    command = [sys.executable, "-c", STUDY, str(few)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "judged 1\n"
    assert set(seen.read_text("utf-8")) == {"0", "1"}  # the window, and what judged for it
