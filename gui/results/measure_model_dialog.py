"""Asks for the model that measures explanations: an encoder for BERTScore, a judge for agreement.

Knows: what each measure needs, the files that were used before. Does not know: how it is measured.
"""

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QWidget

from engine.core.errors import EngineError
from engine.core.formatting import visible
from engine.system.paths import demo_model, models_folder
from gui.results import score_jobs
from gui.results.score_jobs import MeasureModel, ModelMeasure
from gui.widgets.fields import ComboBox
from gui.widgets.files import ask_source, ask_target
from gui.widgets.foreign_text import one_line, set_tip
from gui.widgets.labels import STRETCH, hint, in_column, in_row, label, name, set_role
from gui.widgets.notice import problem_of
from gui.workspace.threads import LatestTask, ThreadName
from gui.workspace.workspace import Workspace

_KIND = "GGUF models (*.gguf)"
_WORDS = {
    ModelMeasure.BERTSCORE: (
        "encoders",
        "BERTScore compares the tokens of two explanations by the embeddings of an encoder. The"
        " task uses roberta-large: a GGUF file of it, cut to its first 17 layers.",
    ),
    ModelMeasure.AGREEMENT: (
        "agreement-models",
        "A second model reads each item with the human explanation and the judge's, and is asked whether they"
        " agree. Choose a model that follows instructions well, preferably not the judge itself.",
    ),
}


class MeasureModelDialog(QDialog):
    """`chosen` tells the measure and the file, once the file was seen to be of use."""

    chosen = Signal(object, object)  # a ModelMeasure, a Path

    def __init__(self, measure: ModelMeasure, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._measure = measure
        self._workspace = workspace
        self._kind, what = _WORDS[measure]
        self._looking = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._looking.finished.connect(self._take)
        self._looking.failed.connect(self._refuse)
        self._cutting = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._cutting.finished.connect(self.choose)
        self._cutting.failed.connect(self._refuse)
        self.setWindowTitle(f"Measure {measure}")
        self.files = ComboBox()
        name(self.files, "Model file")
        self.files.activated.connect(self._look)
        browse = QPushButton("Browse…")
        name(browse, "Browse for a model file")
        browse.clicked.connect(self._browse)
        self.status = label("")
        self.cut = QPushButton("Cut a copy…")
        name(self.cut, "Cut a copy", "Write a copy with only the layers that bert-score uses")
        self.cut.clicked.connect(self._ask_to_cut)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.start = buttons.addButton("Measure", QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        line = in_row((self.files, STRETCH), browse)
        in_column(
            hint(what),
            line,
            self.status,
            self.cut,
            hint("Results are stored: measuring the same again is quick."),
            buttons,
            on=self,
            margins=None,
        )
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 70)
        self._fill()

    @Slot(object)
    def choose(self, path: Path) -> None:
        """Put a file first in the list, and look at it."""
        if (place := self.files.findData(str(path))) < 0:
            self._add(path, 0)
            place = 0
        self.files.setCurrentIndex(place)
        self._look()

    @property
    def path(self) -> Path | None:
        """The file that is chosen."""
        data = self.files.currentData()
        return Path(data) if data else None

    def _fill(self) -> None:
        for path in self._workspace.state.recent(self._kind):
            self._add(path, self.files.count())
        if self._measure is ModelMeasure.AGREEMENT:
            self._add(demo_model(), self.files.count())
        self._look()

    def _add(self, path: Path, place: int) -> None:
        if self.files.findData(str(path)) < 0:
            self.files.insertItem(place, one_line(path.name), str(path))

    @Slot()
    def _look(self) -> None:
        self.start.setEnabled(False)
        self.cut.hide()
        path = self.path
        set_tip(self.files, str(path) if path else "")
        self._say("Looking at the file …" if path else "Choose a file with “Browse…”.", "hint")
        if path:
            self._looking.start(score_jobs.look_at_model(self._measure, path))

    @Slot(object)
    def _take(self, found: MeasureModel) -> None:
        uncut = self._measure is ModelMeasure.BERTSCORE and bool(found.notice)
        text = f"{found.name}: {found.notice}" if found.notice else found.name
        self._say(text, "warning" if found.notice else "good")
        self.cut.setVisible(uncut)
        self.start.setEnabled(True)

    @Slot(object)
    def _refuse(self, error: EngineError) -> None:
        self._say(" ".join(problem_of(error)), "bad")

    def _say(self, text: str, role: str) -> None:
        self.status.setText(one_line(text) if role != "bad" else visible(text))
        set_role(self.status, role)

    def _browse(self) -> None:
        folder = self.path.parent if self.path else models_folder()
        path = ask_source(self, "Choose a model file", folder, _KIND)
        if path is not None:
            self.choose(path)

    def _ask_to_cut(self) -> None:
        path = self.path
        if path is None:
            return
        target = ask_target(self, "Write the cut copy", path.with_name(f"{path.stem}-cut.gguf"), _KIND)
        if target is not None:
            self._say("Cutting …", "hint")
            self._cutting.start(score_jobs.cut_encoder(path, target, self._workspace.files_in_use(self)))

    def done(self, result: int) -> None:
        """Nobody waits for what is still under way."""
        self._looking.drop()
        self._cutting.drop()
        super().done(result)

    def _accept(self) -> None:
        path = self.path
        if path is not None:
            self._workspace.state.add_recent(self._kind, path)
            self.chosen.emit(self._measure, path)
            self.accept()
