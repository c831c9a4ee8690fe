"""What keeps the open run from being the official submission for its dataset, as a list that can be copied.

Knows: how findings are shown. Does not know: what is looked for.
"""

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QPushButton, QWidget

from engine.core.errors import EngineError
from engine.core.formatting import counted, short_name, visible
from gui.widgets.foreign_text import plain_label
from gui.widgets.labels import hint, in_column, make_room, name, set_role
from gui.widgets.notice import problem_of
from gui.window import submission_jobs
from gui.workspace.open_run import OpenRun
from gui.workspace.threads import LatestTask, ThreadName
from gui.workspace.workspace import Workspace


class CheckDialog(QDialog):
    """Checks a run when it opens; `other_wanted`: another dataset is to be answered."""

    other_wanted = Signal()

    def __init__(self, workspace: Workspace, run: OpenRun, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Check the submission")
        stored = run.results.run
        self._what = plain_label(
            run.results.joined_in_words
            if stored.submitted
            else f"{stored.title} has judged {stored.judged:,} of the {stored.identity.items:,} items of"
            f" {short_name(stored.identity.dataset_path.name)}."
        )
        self.outcome = plain_label("Checking …")
        set_role(self.outcome, "heading")
        self.list = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        name(self.list, "What was found")
        self.list.hide()
        against = hint(
            "Checks what an export would hold now, with all overrides: columns and their"
            " order, missing and unknown ids, empty cells."
        )
        buttons = self._buttons(stored.submitted)
        layout = in_column(self._what, self.outcome, self.list, against, buttons, on=self, margins=None)
        layout.setStretchFactor(self.list, 1)
        make_room(self, 90, 20)
        self._check = LatestTask(workspace.threads, ThreadName.MEASURE, self)
        self._check.finished.connect(self._show)
        self._check.failed.connect(self._tell)
        self.finished.connect(self._check.drop)
        if run.dataset is None:
            self.outcome.setText("Its dataset is not loaded, so nothing can be checked.")
        else:
            self._check.start(submission_jobs.find_gaps(run.results, run.dataset))

    def _buttons(self, submitted: bool) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = QPushButton("&Copy all")
        self.copy.clicked.connect(self._copy)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        self.other = QPushButton("&Other dataset…")
        name(self.other, "Other dataset", "Open the submission with another dataset that it answers")
        self.other.clicked.connect(self._want_other)
        self.other.setVisible(submitted)
        buttons.addButton(self.other, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        return buttons

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n".join([self._what.text(), self.outcome.text(), *self.list.toPlainText().splitlines()])

    @Slot(object)
    def _show(self, findings: list[str]) -> None:
        self.list.setVisible(bool(findings))
        self.list.setPlainText(visible("\n".join(findings)))
        found = counted(len(findings), "finding", "findings")
        self.outcome.setText(
            f"{found}: an official scorer may refuse it." if findings else "No problems: it is complete."
        )
        set_role(self.outcome, "warning" if findings else "good")

    @Slot(object)
    def _tell(self, error: EngineError) -> None:
        self.outcome.setText(visible("\n".join(problem_of(error))))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text)
        self.copy.setText("Copied")

    def _want_other(self) -> None:
        self.accept()
        self.other_wanted.emit()
