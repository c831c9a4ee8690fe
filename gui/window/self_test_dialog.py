"""The self-test as it goes on: each check with what was found.

Knows: how checks are shown. Does not know: what is checked.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QScrollArea, QWidget

from engine.core.errors import EngineError
from gui.kit.busy import BusyLine
from gui.kit.labels import describe, hint, label
from gui.kit.layouts import in_column, make_room
from gui.kit.notice import Notice
from gui.kit.pill import Pill
from gui.kit.remedies import IN_THE_WINDOW
from gui.window import self_test_jobs
from gui.work.lanes import WAITING, LatestTask, ThreadName
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.self_test import Check


class SelfTestDialog(QDialog):
    """Starts the test when it opens, and cancels it when it closes."""

    diagnostics_wanted = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Self-test")
        self._lines: list[str] = []
        self._failed = 0
        content = QWidget()
        content.setProperty("role", "content")
        self._grid = QGridLayout(content)
        self._grid.setColumnStretch(1, 1)
        self._grid.setHorizontalSpacing(14)
        self._area = QScrollArea(widgetResizable=True)
        self._area.setWidget(content)
        self._area.setAccessibleName("Checks")
        self._busy = BusyLine()
        self._notice = Notice()
        self._outcome = hint("")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy all", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(self._copy)
        diagnostics = buttons.addButton("Copy diagnostics", QDialogButtonBox.ButtonRole.ActionRole)
        describe(
            diagnostics, "Versions, computer, settings and the last bug, for a report; none of your texts"
        )
        diagnostics.clicked.connect(self.diagnostics_wanted)
        buttons.rejected.connect(self.reject)
        in_column(self._area, self._busy, self._notice, self._outcome, buttons, on=self, margins=None)
        make_room(self, 96, 30)
        self._test = LatestTask(workspace.threads, ThreadName.MODEL, self)
        self._test.progress.connect(self._add)
        self._test.finished.connect(self._end)
        self._test.failed.connect(self._tell)
        self._test.cancelled.connect(self._stop)
        self._busy.cancelled.connect(self._test.cancel)
        self.finished.connect(self._test.drop)
        waiting = workspace.threads.busy(ThreadName.MODEL)
        self._busy.begin(f"{WAITING if waiting else 'Testing'} …")
        self._test.start(self_test_jobs.check_all())

    @property
    def outcome(self) -> str:
        """What it says at the end; empty while it tests."""
        return self._outcome.text()

    @Slot(object)
    def _add(self, check: "Check") -> None:
        row = self._grid.rowCount()
        self._failed += not check.passed
        pill = Pill("passed", "good") if check.passed else Pill("failed", "bad")
        self._grid.addWidget(pill, row, 0)
        found = f"{check.found}\n{IN_THE_WINDOW.of(check.hint)}" if check.hint else check.found
        self._grid.addWidget(label(f"{check.name}: {found}"), row, 1)
        self._lines.append(f"{'passed' if check.passed else 'FAILED'}  {check.name}: {found}")
        self._busy.go_on(f"{len(self._lines)} checks done …")

    @Slot(object)
    def _end(self, _result: object) -> None:
        self._busy.end()
        self._outcome.setText(
            f"{self._failed} of {len(self._lines)} checks failed." if self._failed else "All checks passed."
        )

    @Slot(object)
    def _tell(self, error: EngineError) -> None:
        self._busy.end()
        self._notice.show_error(error)

    @Slot()
    def _stop(self) -> None:
        self._busy.end()
        self._outcome.setText("Stopped.")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self._lines))
