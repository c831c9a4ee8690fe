"""Export annotations: with or without texts. Import annotations: what files would add, and who is who.

Nothing is written or added before the user agrees.

Knows: what the user is asked before annotations are imported. Does not know: files, the run store.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from engine.core.formatting import counted, listed, visible
from gui.kit.labels import describe, hint, label, name, panel, scrolling
from gui.kit.layouts import STRETCH, in_column, in_row, make_room
from gui.people.hand_over_jobs import CountedFiles
from gui.reading.sheet_view import SheetView
from gui.work.open_run import OpenRun
from gui.work.workspace import LONGEST_NAME

if TYPE_CHECKING:
    from engine.people.joining import Namesake

_NO_AMPERSAND = str.maketrans({"&": "&&"})


class NamesakeQuestion(QWidget):
    """One annotator, or two of the same name; neither is chosen at first."""

    changed = Signal()

    def __init__(self, asked: "Namesake") -> None:
        super().__init__()
        self.asked = asked
        shown = visible(asked.name).translate(_NO_AMPERSAND)
        self.one = QRadioButton(f"Same annotator: {shown}")
        self.two = QRadioButton("Two annotators. Name of the one in the file:")
        self.field = QLineEdit(asked.suggested, maxLength=LONGEST_NAME)
        name(self.one, f"{visible(asked.name)} is the same annotator")
        name(self.two, f"{visible(asked.name)} in the file is another annotator")
        name(self.field, f"Name of the other {visible(asked.name)}")
        self._group = QButtonGroup(self)
        for button in (self.one, self.two):
            self._group.addButton(button)
            button.toggled.connect(self.changed)
        self.field.textChanged.connect(self.changed)
        self.field.textEdited.connect(lambda: self.two.setChecked(True))
        in_column(label(visible(asked.in_words)), self.one, in_row(self.two, (self.field, STRETCH)), on=self)

    @property
    def answer(self) -> str:
        """The name here of the annotator in the file; empty until it is chosen."""
        if self.one.isChecked():
            return self.asked.name
        written = "".join(letter for letter in self.field.text() if letter.isprintable()).strip()
        return written if self.two.isChecked() and written != self.asked.name else ""


class ExportWordsDialog(QDialog):
    """`accepted`: a file may be named; with texts of the dataset where `tick` is checked. `annotators`: whose
    annotations they are, all where nobody is named.
    """

    def __init__(self, run: OpenRun, annotators: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export my annotations" if annotators else "Export annotations of all annotators")
        who = f"{listed([visible(each) for each in annotators])}" if annotators else "all annotators"
        self.tick = QCheckBox("Include the &texts of the dataset")
        self.tick.setEnabled(run.dataset is not None)
        what_for = (
            "If ticked, the file holds the instruction and the responses of each annotated"
            " item: give it only to those who may read them. Importing it needs no texts."
            if run.dataset is not None
            else "The dataset of the run is not loaded, so its texts cannot be included."
            " Importing the file needs none."
        )
        describe(self.tick, what_for)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        start = buttons.addButton("Choose the &file…", QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        asked = label(f"One small file with the annotations of {who} for {visible(run.results.run.called)}.")
        in_column(asked, self.tick, hint(what_for), STRETCH, buttons, on=self, margins=None, spacing=10)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 76)
        start.setDefault(True)  # once it is in the dialog: Enter would be Cancel
        (self.tick if self.tick.isEnabled() else start).setFocus(Qt.FocusReason.OtherFocusReason)


class AddWordsDialog(QDialog):
    """`accepted`: the files are to be added, by `answers`."""

    def __init__(self, found: CountedFiles, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found = found
        joining = found.joining
        self.setWindowTitle(f"Import annotations into {visible(joining.run.called)}")
        self.sheet = SheetView()
        self.sheet.show_sheet(found.sheet)
        self.questions = [NamesakeQuestion(asked) for asked in joining.namesakes]
        self.status = hint("")
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.add = self.buttons.addButton("&Add", QDialogButtonBox.ButtonRole.AcceptRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        asking = [panel(*self.questions, role="note")] if self.questions else []
        inside = QWidget()
        in_column(*asking, self.sheet, STRETCH, on=inside, spacing=10)
        in_column((scrolling(inside), STRETCH), self.status, self.buttons, on=self, margins=None, spacing=10)
        for question in self.questions:
            question.changed.connect(self._follow)
        self._follow()
        make_room(self, 110, 30)
        first = self.questions[0].one if self.questions else self.add
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def answers(self) -> Mapping[tuple[str, str], str]:
        """How annotators are called here, by the store of their file and their name there."""
        return {(each.asked.store, each.asked.name): each.answer for each in self.questions if each.answer}

    @Slot()
    def _follow(self) -> None:
        new = self.found.joining.new
        left = len(self.questions) - len(self.answers)
        self.add.setEnabled(bool(new) and not left)
        if not new:
            self.status.setText("The run has all of these annotations already.")
        elif left:
            self.status.setText(f"{counted(left, 'name is', 'names are')} still to be decided.")
        else:
            self.status.setText(
                f"{counted(new, 'annotation', 'annotations')} will be added; nothing else changes."
            )
