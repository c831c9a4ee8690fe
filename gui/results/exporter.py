"""Writes the open run to files: asks where, starts the job, says what came of it.

Knows: names and kinds of exports. Does not know: how they are written, what is shown of a run.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from engine.core.errors import SetupError
from gui.kit.file_dialogs import ask_folder, ask_target
from gui.results import export_jobs
from gui.results.export_jobs import Exported, Form, Written
from gui.results.figure_jobs import DRAWING
from gui.work.lanes import Job
from gui.work.workspace import Workspace

_FILES = {
    Form.LABELS: ("labels.tsv", "Submissions (*.tsv)"),
    Form.EXPLAINED: ("explained.tsv", "Submissions (*.tsv)"),
    Form.CSV: ("all-data.csv", "CSV files (*.csv)"),
    Form.JSON: ("all-data.json", "JSON files (*.json)"),
    Form.REPORT: ("report.html", "HTML pages (*.html)"),
}
_FOLDER = "last/export"


class Exporter(QObject):
    """`source` gives what is exported now, None for nothing; it is asked before the user is."""

    written = Signal(object)  # Written

    def __init__(self, workspace: Workspace, source: Callable[[], Exported | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._source = source
        self._window = parent

    def export(self, form: Form, path: Path | None = None) -> None:
        """Write the run in a form; without a path the user is asked for one."""
        what = self._source()
        if what is None or not self._possible(form, what):
            return
        end, kind = _FILES[form]
        if path is None:
            suggestion = self._folder(what) / f"run-{what.whole.run.id}-{end}"
            path = ask_target(self._window, "Export the run", suggestion, kind)
        if path is not None:
            report = form is Form.REPORT
            job = export_jobs.export_report(what, path) if report else export_jobs.export(form, what, path)
            self._start(job, path.parent)

    def export_figures(self, folder: Path | None = None) -> None:
        """Write all figures into a new folder inside `folder`."""
        what = self._source()
        if what is None:
            return
        if what.gold is None:
            self._workspace.problem.emit(_no_labels("no figure"))
            return
        folder = folder or ask_folder(self._window, "Make a folder of figures in", self._folder(what))
        if folder is not None:
            name = f"run-{what.whole.run.id}-figures"
            self._start(export_jobs.export_figures(what, folder, name), folder)

    def _possible(self, form: Form, what: Exported) -> bool:
        if form is Form.EXPLAINED and not what.whole.explains:
            self._workspace.problem.emit(
                SetupError(
                    f"Run {what.whole.run.id} has labels alone: there are no explanations to export.",
                    "Export it for sub-task 1, or judge again with explanations on the Judge page.",
                )
            )
            return False
        if form is Form.REPORT and what.gold is None:
            self._workspace.problem.emit(_no_labels("nothing to report"))
            return False
        return True

    def _start(self, job: Job[Written], folder: Path) -> None:
        task = self._workspace.threads.start(DRAWING, job, must_end=True)
        task.finished.connect(self._tell)
        task.failed.connect(self._workspace.problem)
        self._workspace.state.set_text(_FOLDER, str(folder))

    def _tell(self, written: Written) -> None:
        self._workspace.note.emit(" ".join([f"Written: {written.path}", *written.gaps]))
        self.written.emit(written)

    def _folder(self, what: Exported) -> Path:
        kept = self._workspace.state.text(_FOLDER)
        return Path(kept) if kept else what.whole.run.identity.dataset_path.parent


def _no_labels(what: str) -> SetupError:
    return SetupError(
        f"Without human labels there is {what}.",
        "Choose a labelled dataset on the Results page, with “Other labels…”.",
    )
