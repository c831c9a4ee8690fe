"""The ways in which a run asks: which of them, and for thoughts how many and how long.

Knows: fields for a RunSetup. Does not know: how a way asks, what a person should know of it.
"""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from engine.core.formatting import short_name
from engine.core.items import Way
from engine.core.remedies import Setting
from engine.core.run_setup import RunSetup
from engine.core.ways.all_ways import WAYS
from gui.judge.model_jobs import knows_thoughts
from gui.judge.setting_fields import SettingFields
from gui.judge.usual_setup import usual_setup
from gui.kit.fold import Fold
from gui.kit.labels import hint, label, name, show_text
from gui.kit.layouts import in_column
from gui.kit.remedies import FIELDS
from gui.work.lanes import Lane, LatestTask
from gui.work.workspace import Workspace

_OF_THOUGHTS = ("thoughts", "max_thought_tokens")


class WaysPanel(QWidget):
    """Folded to one line that names what is chosen; `changed` whenever that is."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._model: Path | None = None
        self._thinks: bool | None = None  # whether this model does; None: not known
        self._looking = LatestTask(workspace.threads, Lane.SCAN, self)
        self._looking.finished.connect(self._take)
        workspace.failures.follow(self._looking)
        self._make_fields()
        self.fold = Fold("", self._inside())
        self._problem = label("", "bad")
        # The problem is above, where it is seen whether the ways are folded or not.
        in_column(self._problem, self.fold, on=self, spacing=4)
        self.show_setup(usual_setup())

    def show_setup(self, setup: RunSetup) -> None:
        """Show what a setup says; `changed` is not emitted."""
        with QSignalBlocker(self):
            for way, box in self.boxes.items():
                box.setChecked(way in setup.ways)
            self.of_thoughts.show_setup(setup)
        self._say()

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say; without ways where none is chosen."""
        return replace(
            setup,
            ways=tuple(way for way, box in self.boxes.items() if box.isChecked()),
            **self.of_thoughts.values(),
        )

    def set_model(self, path: Path) -> None:
        """Say which model is chosen: whether it thinks is looked up."""
        if path != self._model:
            self._model, self._thinks = path, None
            self._looking.start(knows_thoughts(path))
            self._say()

    def _make_fields(self) -> None:
        self.boxes: dict[Way, QCheckBox] = {}
        for way in Way:
            box = QCheckBox(way.value.capitalize())
            name(box, f"Ask in the way “{way}”", WAYS[way].help)
            box.toggled.connect(self._tell)
            self.boxes[way] = box
        self.of_thoughts = SettingFields(_OF_THOUGHTS, self._tell)

    def _inside(self) -> QWidget:
        inside = QWidget()
        layout = in_column(on=inside, margins=(18, 0, 0, 0), spacing=2)
        for way, box in self.boxes.items():
            layout.addWidget(box)
            layout.addWidget(_indented(hint(WAYS[way].help)))
        self._thoughts = QWidget()
        form = QFormLayout(self._thoughts, rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setContentsMargins(22, 4, 0, 0)
        self.of_thoughts.add_to(form, *_OF_THOUGHTS)
        layout.addWidget(self._thoughts)
        layout.addWidget(hint("What the ways say of an item is averaged; Review shows each by itself."))
        return inside

    @Slot(object)
    def _take(self, thinks: bool | None) -> None:
        self._thinks = thinks
        self._say()

    @Slot()
    def _tell(self) -> None:
        if not self.signalsBlocked():
            self._say()
            self.changed.emit()

    def _say(self) -> None:
        """Name what is chosen, and what is wrong with it."""
        chosen = [way for way, box in self.boxes.items() if box.isChecked()]
        thinks = Way.THINKING in chosen
        self.fold.set_title(f"{FIELDS[Setting.WAYS]}: {', '.join(chosen) or 'none'}")
        self._thoughts.setVisible(thinks)
        problem = "" if chosen else "Choose at least one way of asking."
        if thinks and self._thinks is False and self._model is not None:
            problem = (
                f"{short_name(self._model.stem)} cannot be asked to think: its chat template knows no"
                f" thoughts. Choose a model that reasons, or leave out “{Way.THINKING.capitalize()}”."
            )
        show_text(self._problem, problem)


def _indented(widget: QWidget) -> QWidget:
    widget.setContentsMargins(22, 0, 0, 2)
    return widget
