"""Labels for others: whether texts go along; of others: what their files would come to, and who is who.

Nothing is written or added before a person has said so.

Knows: what a person is asked before words are added. Does not know: files, the run store.
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
    """One person, or two of the same name; neither is chosen before a person says so."""

    changed = Signal()

    def __init__(self, asked: "Namesake") -> None:
        super().__init__()
        self.asked = asked
        shown = visible(asked.name).translate(_NO_AMPERSAND)
        self.one = QRadioButton(f"One person: {shown} here, too")
        self.two = QRadioButton("Two. The one in the file is called here")
        self.field = QLineEdit(asked.suggested, maxLength=LONGEST_NAME)
        name(self.one, f"{visible(asked.name)} is one person")
        name(self.two, f"{visible(asked.name)} in the file is another person")
        name(self.field, f"How the other {visible(asked.name)} is called here")
        self._group = QButtonGroup(self)
        for button in (self.one, self.two):
            self._group.addButton(button)
            button.toggled.connect(self.changed)
        self.field.textChanged.connect(self.changed)
        self.field.textEdited.connect(lambda: self.two.setChecked(True))
        in_column(label(visible(asked.in_words)), self.one, in_row(self.two, (self.field, STRETCH)), on=self)

    @property
    def answer(self) -> str:
        """How the person of the file is called here; empty as long as that is not said."""
        if self.one.isChecked():
            return self.asked.name
        written = "".join(letter for letter in self.field.text() if letter.isprintable()).strip()
        return written if self.two.isChecked() and written != self.asked.name else ""


class ExportWordsDialog(QDialog):
    """`accepted`: a file may be named; with texts of the dataset where `tick` is checked. `people`: whose
    words they are, all where nobody is named.
    """

    def __init__(self, run: OpenRun, people: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export my labels" if people else "Export labels of all people")
        who = f"{listed([visible(each) for each in people])} said" if people else "all people said"
        self.tick = QCheckBox("With the &texts of the dataset")
        self.tick.setEnabled(run.dataset is not None)
        what_for = (
            "Ticked, the file holds instruction and responses of each item of which something is said:"
            " give it only to who may read them. Whoever adds it to a run needs no texts."
            if run.dataset is not None
            else "The dataset of the run is not at hand, so no texts can go along. Whoever adds the file to a"
            " run needs none."
        )
        describe(self.tick, what_for)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        start = buttons.addButton("Choose the &file…", QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        asked = label(f"One small file of what {who} of {visible(run.results.run.called)}.")
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
        self.setWindowTitle(f"Add labels of others to {visible(joining.run.called)}")
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
        """How people are called here, by the store of their file and their name there."""
        return {(each.asked.store, each.asked.name): each.answer for each in self.questions if each.answer}

    @Slot()
    def _follow(self) -> None:
        new = self.found.joining.new
        left = len(self.questions) - len(self.answers)
        self.add.setEnabled(bool(new) and not left)
        if not new:
            self.status.setText("Nothing in this is new to the run.")
        elif left:
            self.status.setText(f"{counted(left, 'name is', 'names are')} left to be told apart.")
        else:
            self.status.setText(f"{counted(new, 'word', 'words')} will be added; nothing else changes.")
