"""Weights saved under a name, and applied to the run that is shown: two buttons, and a question for the name.

Knows: the saved names. Does not know: sliders, runs.
"""

from functools import partial

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QMenu, QPushButton, QWidget

from engine.core.formatting import without_middle
from gui.kit.actions import MenuButton
from gui.kit.foreign_text import one_line, tip
from gui.kit.labels import hint, label, name
from gui.kit.layouts import in_column
from gui.weigh.run_weights import RunWeights

_LONGEST_NAME = 80
_LONGEST_ENTRY = 48  # characters in the menu
_NO_AMPERSAND = str.maketrans({"&": "&&"})


class SavedWeights(QObject):
    """`save_wanted` and `apply_wanted` tell a name; the menu is made again each time it opens.

    Its two buttons are laid out by whoever shows them: `save_button` and `apply_button`.
    """

    save_wanted = Signal(str)
    apply_wanted = Signal(str)

    def __init__(self, weights: RunWeights, parent: QWidget) -> None:
        super().__init__(parent)
        self._weights, self._window = weights, parent
        self.save_button = QPushButton("Save &as…")
        name(self.save_button, "Save these weights under a name", "To apply them to other runs")
        self.save_button.clicked.connect(self._ask_for_name)
        self.apply_button = MenuButton("A&pply", tips=True)
        self.menu = self.apply_button.menu()
        self.menu.aboutToShow.connect(self.fill)
        name(self.apply_button, "Apply saved weights to this run", "Weights that were saved under a name")

    @Slot()
    def fill(self) -> None:
        """List what is saved."""
        self.menu.clear()
        saved = tuple(self._weights.saved)
        for known in saved:
            self._add(self.menu, known).triggered.connect(partial(self._apply, known))
        if not saved:
            self.menu.addAction("Nothing is saved yet").setEnabled(False)
            return
        self.menu.addSeparator()
        remove = self.menu.addMenu("&Remove saved weights")
        remove.setToolTipsVisible(True)
        for known in saved:
            self._add(remove, known).triggered.connect(partial(self._remove, known))

    def _add(self, menu: QMenu, known: str) -> QAction:
        cut = without_middle(one_line(known), _LONGEST_ENTRY)
        action = menu.addAction(cut.translate(_NO_AMPERSAND))
        action.setToolTip(tip(known))
        return action

    def _apply(self, known: str, _checked: bool = False) -> None:
        self.apply_wanted.emit(known)

    def _remove(self, known: str, _checked: bool = False) -> None:
        self._weights.remove(known)

    @Slot()
    def _ask_for_name(self) -> None:
        self.dialog = NameDialog(tuple(self._weights.saved), self._window)
        self.dialog.named.connect(self.save_wanted)
        self.dialog.open()


class NameDialog(QDialog):
    """Asks for a name; says where it is taken, and that what has it will be replaced."""

    named = Signal(str)

    def __init__(self, taken: tuple[str, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._taken = taken
        self.setWindowTitle("Save weights")
        self.field = QLineEdit(maxLength=_LONGEST_NAME)
        name(self.field, "Name of these weights")
        self.field.textChanged.connect(self._follow)
        self.warning = label("", "warning")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.save = buttons.addButton("Save", QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        in_column(
            hint("A name for these weights and this tie threshold:"),
            self.field,
            self.warning,
            buttons,
            on=self,
            margins=None,
        )
        self.save.setDefault(True)  # here: Qt must know of which dialog
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 50)
        self._follow("")

    @Slot(str)
    def _follow(self, _text: str) -> None:
        wanted = self._name
        taken = wanted in self._taken
        self.warning.setText("This name is taken: its weights will be replaced." if taken else "")
        self.save.setText("Replace" if taken else "Save")

    @property
    def _name(self) -> str:
        return " ".join(self.field.text().split())

    def _accept(self) -> None:
        if not self._name:
            self.warning.setText("Give the weights a name.")
            return
        self.named.emit(self._name)
        self.accept()
