"""The settings of the window: who overrides, how it looks, what follows a label, what it remembers.

Knows: which settings there are. Does not know: how they take effect.
"""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QPushButton, QWidget

from engine.core.formatting import capitalised
from engine.system.awake import KeepAwake
from engine.system.paths import text_of_path
from gui.kit.fields import ComboBox
from gui.kit.labels import hint, label, name
from gui.kit.layouts import in_column
from gui.kit.theme import TEXT_SIZES, ThemeChoice
from gui.review.judgment_desk import AFTER_LABEL
from gui.runs.run_watch import KEEP_AWAKE, kept_awake
from gui.work.state import MOST_OF_QT, NEXT_CRITERION
from gui.work.workspace import LONGEST_NAME, Workspace

_THEMES = {
    ThemeChoice.SYSTEM: "As the system",
    ThemeChoice.LIGHT: "Light",
    ThemeChoice.DARK: "Dark",
}
_AWAKE = {
    KeepAwake.MAINS: "The computer stays awake on mains",
    KeepAwake.YES: "The computer stays awake, also on its battery",
    KeepAwake.NO: "The computer may go to sleep",
}


class SettingsDialog(QDialog):
    """Changes take effect at once; they are remembered."""

    look_changed = Signal()
    forget_wanted = Signal()
    power_changed = Signal()  # when the computer shall stay awake

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._workspace = workspace
        self._state = workspace.state
        form = self._form()
        forget = QPushButton("Forget recent files, layout and settings")
        forget.clicked.connect(self._forget)
        name(forget, forget.text(), "Runs, their judgments and your name are kept")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        in_column(
            form,
            forget,
            hint("The settings of a run are on the Judge page and are stored with each run."),
            buttons,
            on=self,
            margins=None,
        )
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 76)
        self.finished.connect(self._keep_author)
        self._show()

    def _form(self) -> QFormLayout:
        form = QFormLayout(verticalSpacing=10)
        self._author = QLineEdit(maxLength=LONGEST_NAME)
        name(self._author, "Your name", "Stored with every label and note that you give")
        self._author.editingFinished.connect(self._keep_author)
        form.addRow("Your name, for labels", self._author)
        self._theme = ComboBox()
        name(self._theme, "Theme")
        for choice, words in _THEMES.items():
            self._theme.addItem(words, choice.value)
        self._theme.activated.connect(self._keep_look)
        form.addRow("Theme", self._theme)
        self._size = ComboBox()
        name(self._size, "Text size")
        for percent in TEXT_SIZES:
            self._size.addItem(f"{percent} %", percent)
        self._size.activated.connect(self._keep_look)
        form.addRow("Text size", self._size)
        self._awake = ComboBox()
        name(self._awake, "Keep the computer awake while judging", "The screen may go dark meanwhile")
        for when, words in _AWAKE.items():
            self._awake.addItem(words, when.value)
        self._awake.activated.connect(self._keep_power)
        form.addRow("While judging", self._awake)
        self._after_label = ComboBox()
        name(self._after_label, "After you give a label", "What Review opens after you give a label")
        for wanted, words in AFTER_LABEL.items():
            self._after_label.addItem(capitalised(words), wanted)
        self._after_label.activated.connect(self._keep_after_label)
        form.addRow("After a label", self._after_label)
        form.addRow("Run store", _path_label(text_of_path(self._workspace.store_path)))
        form.addRow("These settings", _path_label(text_of_path(self._state.path)))
        return form

    def _show(self) -> None:
        self._author.setText(self._workspace.author)
        self._theme.setCurrentIndex(self._theme.findData(self._state.text("theme", ThemeChoice.SYSTEM)))
        self._awake.setCurrentIndex(self._awake.findData(kept_awake(self._state).value))
        after_label = self._after_label.findData(self._state.text(NEXT_CRITERION))
        self._after_label.setCurrentIndex(max(0, after_label))
        self._size.setCurrentIndex(self._size.findData(self._state.number("text_size", 100, MOST_OF_QT)))

    def _keep_after_label(self) -> None:
        self._state.set_text(NEXT_CRITERION, str(self._after_label.currentData()))

    def _keep_power(self) -> None:
        self._state.set_text(KEEP_AWAKE, str(self._awake.currentData()))
        self.power_changed.emit()

    def _forget(self) -> None:
        self.forget_wanted.emit()
        self._show()

    def _keep_author(self) -> None:
        if self._author.isModified():
            self._workspace.set_author(self._author.text())

    def _keep_look(self) -> None:
        self._state.set_text("theme", str(self._theme.currentData()))
        self._state.set_number("text_size", int(self._size.currentData()))
        self.look_changed.emit()


def _path_label(path: str) -> QWidget:
    made = label(path, "hint")
    made.setAccessibleName(path)
    return made
