"""The elicitation methods of a run: which of them, and how many reasoning samples of which length.

Knows: fields for a RunSetup. Does not know: how a method asks, what the user should know of it.
"""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from engine.core.formatting import short_name
from engine.core.items import Method
from engine.core.remedies import Setting
from engine.core.run_setup import RunSetup
from engine.core.ways.all_ways import METHODS
from gui.judge.model_jobs import can_reason
from gui.judge.setting_fields import SettingFields
from gui.judge.usual_setup import default_setup
from gui.kit.fold import Fold
from gui.kit.labels import hint, label, name, show_text
from gui.kit.layouts import in_column
from gui.kit.remedies import FIELDS
from gui.work.lanes import LatestTask, ThreadName
from gui.work.workspace import Workspace

_OF_THOUGHTS = ("reasoning_samples", "max_reasoning_tokens")


class MethodsPanel(QWidget):
    """Folded to one line that names what is chosen; `changed` whenever that is."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._model: Path | None = None
        self._reasons: bool | None = None  # whether this model does; None: not known
        self._looking = LatestTask(workspace.threads, ThreadName.SCAN, self)
        self._looking.finished.connect(self._take)
        workspace.failures.follow(self._looking)
        self._make_fields()
        self.fold = Fold("", self._inside())
        self._problem = label("", "bad")
        # The problem is above, where it is seen whether the methods are folded or not.
        in_column(self._problem, self.fold, on=self, spacing=4)
        self.show_setup(default_setup())

    def show_setup(self, setup: RunSetup) -> None:
        """Show what a setup says; `changed` is not emitted."""
        with QSignalBlocker(self):
            for method, box in self.boxes.items():
                box.setChecked(method in setup.methods)
            self.of_reasoning_samples.show_setup(setup)
        self._say()

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say; without methods where none is chosen."""
        return replace(
            setup,
            methods=tuple(method for method, box in self.boxes.items() if box.isChecked()),
            **self.of_reasoning_samples.values(),
        )

    def set_model(self, path: Path) -> None:
        """Say which model is chosen: whether it thinks is looked up."""
        if path != self._model:
            self._model, self._reasons = path, None
            self._looking.start(can_reason(path))
            self._say()

    def _make_fields(self) -> None:
        self.boxes: dict[Method, QCheckBox] = {}
        for method in Method:
            box = QCheckBox(method.title.capitalize())
            name(box, f"Elicitation method “{method.title}”", METHODS[method].help)
            box.toggled.connect(self._tell)
            self.boxes[method] = box
        self.of_reasoning_samples = SettingFields(_OF_THOUGHTS, self._tell)

    def _inside(self) -> QWidget:
        inside = QWidget()
        layout = in_column(on=inside, margins=(18, 0, 0, 0), spacing=2)
        for method, box in self.boxes.items():
            layout.addWidget(box)
            layout.addWidget(_indented(hint(METHODS[method].help)))
        self._reasoning_samples = QWidget()
        form = QFormLayout(self._reasoning_samples, rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setContentsMargins(22, 4, 0, 0)
        self.of_reasoning_samples.add_to(form, *_OF_THOUGHTS)
        layout.addWidget(self._reasoning_samples)
        layout.addWidget(
            hint("The label probabilities of all methods are averaged; Review shows each method.")
        )
        return inside

    @Slot(object)
    def _take(self, reasons: bool | None) -> None:
        self._reasons = reasons
        self._say()

    @Slot()
    def _tell(self) -> None:
        if not self.signalsBlocked():
            self._say()
            self.changed.emit()

    def _say(self) -> None:
        """Name what is chosen, and what is wrong with it."""
        chosen = [method for method, box in self.boxes.items() if box.isChecked()]
        reasons = Method.CHAIN_OF_THOUGHT in chosen
        self.fold.set_title(
            f"{FIELDS[Setting.METHODS]}: {', '.join(method.title for method in chosen) or 'none'}"
        )
        self._reasoning_samples.setVisible(reasons)
        problem = "" if chosen else "Choose at least one elicitation method."
        if reasons and self._reasons is False and self._model is not None:
            problem = (
                f"{short_name(self._model.stem)} has no chain of thought: its chat template has"
                f" no reasoning block. Choose a reasoning model, or untick"
                f" “{Method.CHAIN_OF_THOUGHT.title.capitalize()}”."
            )
        show_text(self._problem, problem)


def _indented(widget: QWidget) -> QWidget:
    widget.setContentsMargins(22, 0, 0, 2)
    return widget
