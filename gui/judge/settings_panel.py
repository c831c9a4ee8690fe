"""The settings of a run: what is made, in which orders, on which criteria, asked how; the rest folded away.

Knows: fields for a RunSetup, what is remembered of them. Does not know: what the engine does with them.
"""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from engine.core.formatting import words
from engine.core.rubric import ELOQUENT
from engine.core.run_setup import RunSetup
from engine.core.settings import USUAL_MARGIN, Mode
from gui.judge.advanced_panel import AdvancedPanel
from gui.judge.usual_setup import usual_setup
from gui.judge.ways.ways_panel import WaysPanel
from gui.kit.fold import Fold
from gui.kit.labels import heading, label, name, narrow
from gui.work.workspace import Workspace

_KEPT = "judge/settings"
_COLUMNS = 2
_BOTH, _ONE, _DOUBTFUL = range(3)  # places in the list of orders


class SettingsPanel(QWidget):
    """Shows and remembers all of a setup but dataset, items and model."""

    changed = Signal()

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._state = workspace.state
        self._make_fields()
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow("Make", self._mode)
        form.addRow("Show the responses", self._orders)
        form.addRow("Criteria", self._criteria_grid())
        top = QHBoxLayout()
        top.addWidget(heading("Settings"))
        top.addStretch(1)
        top.addWidget(self._reset)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(top)
        layout.addLayout(form)
        layout.addWidget(self._none)
        layout.addWidget(self.ways)
        layout.addWidget(self.fold)
        self.show_setup(RunSetup.of_json(self._state.record(_KEPT), usual_setup()))

    def show_setup(self, setup: RunSetup) -> None:
        """Show what a setup says, and remember it."""
        self.blockSignals(True)
        self._mode.setCurrentIndex(self._mode.findData(setup.mode.value))
        self._orders.setCurrentIndex(_index_of(setup))
        for criterion, box in self._criteria.items():
            box.setChecked(criterion in setup.criteria)
        self.ways.show_setup(setup)
        self.advanced.show_setup(setup)
        self.blockSignals(False)
        self._tell()

    def in_setup(self, setup: RunSetup) -> RunSetup:
        """A setup with what the fields say; without criteria where none is chosen."""
        return self.advanced.in_setup(
            replace(
                self.ways.in_setup(setup),
                mode=Mode(self._mode.currentData()),
                both_orders=self._orders.currentIndex() != _ONE,
                second_order_below=USUAL_MARGIN if self._orders.currentIndex() == _DOUBTFUL else None,
                criteria=tuple(name for name, box in self._criteria.items() if box.isChecked()),
            )
        )

    def set_model(self, path: Path) -> None:
        """Say which model is chosen: what is known of it is shown where it counts."""
        self.advanced.device.set_model(path)
        self.ways.set_model(path)

    def _make_fields(self) -> None:
        self._mode = QComboBox()
        narrow(self._mode)
        self._mode.addItem("Labels and explanations", Mode.EXPLAIN.value)
        self._mode.addItem("Labels alone (much faster)", Mode.LABELS.value)
        name(self._mode, "What the run makes")
        self._orders = QComboBox()
        narrow(self._orders)
        self._orders.addItem("In both orders")
        self._orders.addItem("In one order (half the time)")
        self._orders.addItem("In both only where in doubt")
        name(
            self._orders,
            "Orders of the responses",
            "Both orders show where the model's label depends on which response comes first. Where the first"
            " order leaves no doubt, the second seldom changes a label; how sure is sure enough, the margin"
            " under Advanced says.",
        )
        self._criteria = {}
        for criterion in ELOQUENT.criteria:
            shown = words(criterion.name)
            box = QCheckBox(shown.capitalize())
            name(box, f"Judge {shown}", criterion.question)
            box.toggled.connect(self._tell)
            self._criteria[criterion.name] = box
        self._none = label("Choose at least one criterion.", "bad")
        self._reset = QPushButton("Back to defaults")
        name(self._reset, "Set all settings back to their defaults")
        self._reset.clicked.connect(lambda: self.show_setup(usual_setup()))
        self.ways = WaysPanel(self._workspace)
        self.ways.changed.connect(self._tell)
        self.advanced = AdvancedPanel(self._workspace)
        self.fold = Fold("Advanced", self.advanced)
        self._mode.currentIndexChanged.connect(self._tell)
        self._orders.currentIndexChanged.connect(self._tell)
        self.advanced.changed.connect(self._tell)

    def _criteria_grid(self) -> QWidget:
        grid = QWidget()
        layout = QGridLayout(grid)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(2)
        for place, box in enumerate(self._criteria.values()):
            layout.addWidget(box, place // _COLUMNS, place % _COLUMNS)
        return grid

    @Slot()
    def _tell(self) -> None:
        if self.signalsBlocked():
            return
        setup = self.in_setup(usual_setup())
        self._none.setVisible(not setup.criteria)
        self.advanced.follow(setup)
        self._state.set_record(_KEPT, setup.as_json())
        self.changed.emit()


def _index_of(setup: RunSetup) -> int:
    if not setup.both_orders:
        return _ONE
    return _BOTH if setup.second_order_below is None else _DOUBTFUL
