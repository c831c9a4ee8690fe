"""Writes the open run to files: asks whether it is meant and where, starts the job, says what came of it.

Knows: what must be there for an export. Does not know: how files are written, what is shown of a run.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from engine.core.errors import SetupError
from engine.core.remedies import Hint, Step
from gui.kit.file_dialogs import open_file, show_folder
from gui.kit.notice import Message
from gui.results import export_jobs
from gui.results.export_dialog import ExportDialog, figures_name
from gui.results.export_jobs import Exported, Form, Written
from gui.work.figure_files import DRAWING
from gui.work.lanes import Job
from gui.work.workspace import Workspace

_EXPORT = "an export"
_OF_LABELS = {Form.REPORT: "nothing to report", Form.FIGURES: "no figure"}


class Exporter(QObject):
    """`source` gives what is exported now, None for nothing; it is asked before the user is."""

    def __init__(self, workspace: Workspace, source: Callable[[], Exported | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._source = source
        self._window = parent

    def export(self, form: Form, path: Path | None = None) -> None:
        """Write the run in a form, figures into a new folder inside `path`; without a path a dialog asks."""
        what = self._source()
        if what is None or not self._possible(form, what):
            return
        if path is not None:
            self._write(form, what, path)
            return
        folder = self._workspace.state.export_folder(what.whole.run.identity.dataset_path.parent)
        self.dialog = ExportDialog(form, what, folder, self._workspace.threads, self._window)
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.chosen.connect(partial(self._write, form))
        self.dialog.open()

    def _write(self, form: Form, what: Exported, path: Path) -> None:
        folder = path.parent
        if form is Form.FIGURES:
            job, folder = export_jobs.export_figures(what, path, figures_name(what)), path
        elif form is Form.REPORT:
            job = export_jobs.export_report(what, path)
        elif form is Form.DATASET:
            job = export_jobs.export_dataset(what, path)
        else:
            job = export_jobs.export(form, what, path)
        self._start(job, folder)

    def _possible(self, form: Form, what: Exported) -> bool:
        if form is Form.EXPLAINED and not what.whole.explains:
            self._workspace.failures.fail(
                _EXPORT,
                SetupError(
                    f"{what.whole.run.title} has only labels: there are no explanations to export.",
                    "Export it for sub-task 1."
                    if what.whole.run.submitted
                    else "Export it for sub-task 1, or judge again with explanations on the Judge page.",
                ),
            )
            return False
        if form is Form.DATASET and what.dataset is None:
            self._workspace.problem.emit(
                SetupError(
                    f"The dataset of {what.whole.run.called} is missing or has changed.",
                    Hint("Put it back where it was, or ", Step.FIND_DATASET, "."),
                )
            )
            return False
        if form in _OF_LABELS and what.gold is None:
            self._workspace.failures.fail(_EXPORT, _no_labels(_OF_LABELS[form]))
            return False
        return True

    def _start(self, job: Job[Written], folder: Path) -> None:
        task = self._workspace.threads.start(DRAWING, job, must_end=True)
        task.finished.connect(self._tell)
        self._workspace.failures.follow(task, _EXPORT)
        self._workspace.state.keep_export_folder(folder)

    def _tell(self, written: Written) -> None:
        path, steps = written.path, {}
        if not path.is_dir():
            steps["Open"] = partial(self._show, open_file, path)
        steps["Show in folder"] = partial(self._show, show_folder, path if path.is_dir() else path.parent)
        self._workspace.notice.emit(Message(written.text, role=written.role, steps=steps, about=path))

    def _show(self, show: Callable[[Path], bool], path: Path) -> None:
        """Show a file or a folder in another program, or say where it is."""
        try:
            if not show(path):
                self._workspace.note.emit(f"No program opens it here: {path}")
        except SetupError as error:
            self._workspace.problem.emit(error)


def _no_labels(what: str) -> SetupError:
    return SetupError(
        f"Without human labels there is {what}.",
        "Choose a labelled dataset on the Results page, with “Choose labels…”.",
    )
