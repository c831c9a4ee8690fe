"""An error or a note in the window: the problem, the hint in the window's words, the details to copy."""

import traceback
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QMessageBox, QPlainTextEdit, QPushButton, QWidget

from engine.core import VERSION
from engine.core.errors import EngineError, FileKind, Setting, SetupError, Step, Wording
from engine.core.formatting import capitalised, visible
from engine.settings.rows import SETTINGS
from gui.widgets.foreign_text import plain_label
from gui.widgets.labels import STRETCH, button, in_column, in_row, name, set_role, show_text

FIELDS = {
    **{setting: capitalised(setting.value) for setting in Setting},
    **{row.called: row.field_label for row in SETTINGS if isinstance(row.called, Setting)},
    Setting.DEVICE: "Compute on",
}
"""The fields by the names that stand on their pages, which take them from here."""

IN_THE_WINDOW = Wording(
    settings={setting: f"“{field}”" for setting, field in FIELDS.items()},
    steps={
        **{step: step.value for step in Step},
        Step.CALIBRATE: "Calibrate a run of this judge on the Results page, under “Calibration”.",
        Step.TRUST: "Find out on the Results page, under “Trust”, and press “Keep”.",
        Step.CALIBRATE_AGAIN: "Make it again on the Results page, under “Calibration”.",
        Step.TUNE: "Make it again on the Judge page: “Find the best settings”.",
        Step.CHOOSE_ANSWERED_DATASET: "Open the dataset that it answers first: File > Open dataset.",
        Step.CHOOSE_JUDGED_DATASET: "Choose the judged dataset for the human labels",
        Step.CHOOSE_JUDGES: "On the Compare page, tick two runs or submissions, or more",
        Step.CHOOSE_RUN: "Choose a run at the head of the window.",
        Step.CHOOSE_STORE: "Choose an existing run",
        Step.COPY_STORE: (
            "Copy its folder to a place where you can write, and set TIEBREAK_HOME to the folder"
            " above it; then start Tiebreak again."
        ),
        Step.DELETE_DAMAGED: (
            "Delete that run in the list of all runs, or set TIEBREAK_HOME to a folder with an"
            " earlier copy of the store. The other runs are not affected."
        ),
        Step.DELETE_DECISIONS: "Export the runs first, or tick that their annotations are deleted, too.",
        Step.EXPORT_RUN: "export the run's submission on the Results page and compare that",
        Step.GIVE_ITEMS: (
            "On the Compare page, also tick a run of the same items, or choose human labels and"
            " fit the jury to them."
        ),
        Step.FIND_DATASET: "open it on the Dataset page",
        Step.JUDGE_ONCE: "The same judge is ticked twice on the Compare page. Untick one.",
        Step.MAKE_PAIRS: (
            "Make pairs from the outputs of several candidate models on the same instructions: File > New"
            " dataset from outputs."
        ),
        Step.MAP_COLUMNS: "Open it with File > Open dataset, and choose which column is which",
        Step.NAME_CANDIDATES: (
            "Choose the columns that name them as candidate_a and candidate_b: “Choose columns…” on Ranking"
        ),
        Step.MAP_EXAMPLES: "Choose the few-shot examples again, and choose which column is which",
        Step.MOVE_STORE: (
            "Make its folder writable, or set TIEBREAK_HOME to another folder; then start Tiebreak again."
        ),
        Step.SEE_MOVED: "or see which labels the wording moved: File > Runs, Compare settings.",
        Step.SEE_UNSCORED: "or see the table of unscored judgments on the Results page.",
        Step.RANK_ALL: "Press “Rank them all”.",
        Step.RESUME: "Resume the run on the Judge page",
        Step.USE_OTHER_STORE: (
            "Move it away, or set TIEBREAK_HOME to another folder; then start Tiebreak again."
        ),
        Step.WITH_JUDGE: "tick “Include the judge's labels”",
    },
    kinds={
        FileKind.DATASET: (
            "To judge it, open it with File > Open dataset. Human labels to compare with are chosen with"
            " “Choose labels…” on Results or Compare."
        ),
        FileKind.SUBMISSION: "Open it with File > Open submission.",
        FileKind.VERDICTS: "Add it on the Compare page.",
        FileKind.RUN_DATA: "Open it with File > Open dataset, or as labels: “Choose labels…” on Results.",
        FileKind.RUN_JSON: (
            "It is for other programs; Tiebreak does not read it. Export its run in another"
            " format: File > Export."
        ),
        FileKind.CALIBRATION: "Load it on the Results page, under “Calibration”.",
        FileKind.RECIPE: "Open it with “Find the best settings” on the Judge page.",
        FileKind.WEIGHTS: (
            "Only commands read it. In the window, set weights on Results, under “Weighted scoring”."
        ),
        FileKind.SCORES: "It is for other programs; Tiebreak does not read it.",
        FileKind.COMPARISONS: "Only the command weighted-score reads it.",
        FileKind.RUBRIC: "Open it at the head of the window, at “Rubric”.",
        FileKind.MODEL: "Choose it as the model on the Judge page.",
        FileKind.LABELS_OF_ANNOTATORS: "Open their run, then import them: File > Import annotations.",
        FileKind.RUN_STORE: (
            "Set TIEBREAK_HOME to the folder above it, then start Tiebreak again to see its runs."
        ),
    },
    setting_value="{0}: {1}",
)


_FEWEST_LINES, _MOST_LINES = 3, 9
_COPY = "Copy details"


def problem_of(error: EngineError) -> tuple[str, str]:
    if isinstance(error, SetupError):
        return IN_THE_WINDOW.of(error.said), IN_THE_WINDOW.of(error.hint)
    return (
        f"This is a bug in Tiebreak: {error}",
        "Judged items are saved. Copy the details and report them; then try again.",
    )


def question(parent: QWidget, title: str, text: str, more: str = "") -> QMessageBox:
    box = QMessageBox(parent, textFormat=Qt.TextFormat.PlainText, icon=QMessageBox.Icon.Question)
    box.setWindowTitle(title)
    box.setText(visible(text))
    box.setInformativeText(visible(more))
    return box


@dataclass(frozen=True)
class Message:
    """What a notice says: a `text`, whose first line stands out, and the next step. `role`: problem, note or
    done. `details`: what is copied, where that is more. `steps`: what can be done, by the words of its
    buttons. `about`: a later notice about the same takes its place. `quiet`: nobody waits for it.
    """

    text: str
    hint: str = ""
    role: str = "note"
    details: str = ""
    steps: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    about: Hashable = None
    quiet: bool = False

    @classmethod
    def of(cls, error: EngineError) -> "Message":
        problem, hint = problem_of(error)
        trace = [] if isinstance(error, SetupError) else ["".join(traceback.format_exception(error))]
        return cls(problem, hint, "problem", "\n".join([f"Tiebreak {VERSION}", problem, hint, *trace]))

    @property
    def in_words(self) -> str:
        return "\n".join(filter(None, (self.text, self.hint)))


class NoticeWords(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._first = plain_label()
        self._first.setStyleSheet("font-weight: 600;")
        self._list = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        name(self._list, "All problems that were found")
        self._hint = plain_label()
        in_column(self._first, self._list, self._hint, on=self)

    @property
    def text(self) -> str:
        parts = (self._first.text(), self._list.toPlainText(), self._hint.text())
        return "\n".join(part for part in parts if part)

    def show_message(self, said: Message) -> None:
        first, _, rest = said.text.partition("\n")
        self._first.setText(visible(first))
        found = [line.strip() for line in rest.splitlines()]
        self._list.setPlainText(visible("\n".join(found)))
        self._list.setVisible(bool(rest))
        line = self.fontMetrics().lineSpacing()
        self._list.setMinimumHeight(line * min(_FEWEST_LINES, len(found)) + 18)
        self._list.setMaximumHeight(line * min(_MOST_LINES, len(found)) + 18)
        show_text(self._hint, said.hint)


class CopyButton(QPushButton):
    def __init__(self) -> None:
        super().__init__(_COPY)
        name(self, "Copy the details of the problem")
        self._details = ""
        self.clicked.connect(self._copy)

    def show_message(self, said: Message) -> None:
        self._details = said.details or said.in_words
        self.setText(_COPY)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._details)
        self.setText("Copied")


class Notice(QFrame):
    """A notice in its own place on a page or in a dialog; hidden until there is something to say."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "problem")
        self._words = NoticeWords()
        self._copy = CopyButton()
        close = button("Dismiss", self.dismiss, "Dismiss this message")
        self._buttons = in_column(self._copy, close, STRETCH)
        in_row((self._words, STRETCH), self._buttons, on=self, margins=(12, 8, 12, 8))
        self.hide()

    def show_error(self, error: EngineError) -> None:
        self._show(Message.of(error))

    def show_note(self, text: str, hint: str = "") -> None:
        self._show(Message(text, hint))

    def offer(self, text: str, do: Callable[[], object]) -> QPushButton:
        offered = button(text, do)
        self._buttons.insertWidget(0, offered)
        return offered

    @property
    def text(self) -> str:
        return self._words.text

    def dismiss(self) -> None:
        self.hide()
        self.closed.emit()

    def _show(self, said: Message) -> None:
        set_role(self, said.role)
        self._words.show_message(said)
        self._copy.show_message(said)
        self.setAccessibleName(visible(said.in_words))
        self.show()
