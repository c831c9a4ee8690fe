"""The tab of the editor with the wording: every word of a prompt around an item, and its way back.

Knows: which parts there are, what the marks in braces stand for. Does not know: prompts, files.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.formatting import counted
from engine.core.rubric import DEFAULT_WORDING, LONGEST_TEXT, WORDING_PARTS, WordingPart, marks_of
from gui.judge.rubric.draft import RubricDraft
from gui.judge.rubric.edited import WORDING, FieldPlace
from gui.judge.rubric.fields import FieldGrid, LineField, TextField
from gui.kit.labels import DownScroll, column, heading, hint, name
from gui.kit.layouts import STRETCH, in_column, in_row

_DEFAULT = asdict(DEFAULT_WORDING)
MARKS = {
    "letters": "the four lines that say what A, B, C and D mean",
    "title": "one of the three titles",
    "number": "the number of an example",
    "name": "the criterion's name",
    "question": "its question",
    "meaning": "what Good or Bad says of it",
    "response": "the title of a response",
}
_HIGH = {"system": 8}  # lines of the higher field
_CAPTION = 15  # characters
_WHAT = (
    "These are the words of the prompt around an item, in any language. The delimiters around its texts, the"
    " label tokens A to D and the position of the answer are fixed. Another wording is another run."
    " Placeholders in braces: "
)


class WordingTab(QWidget):
    """Writes into a draft, and follows it."""

    def __init__(self, draft: RubricDraft) -> None:
        super().__init__()
        self._draft = draft
        self.fields: dict[str, LineField | TextField] = {}
        self.default_buttons: dict[str, QPushButton] = {}
        self._grids: dict[str, FieldGrid] = {}
        self._changed = hint("")
        self.reset_button = QPushButton("All &defaults", autoDefault=False)
        name(self.reset_button, "Reset all words to their defaults", "Undo all changes of the wording")
        self.reset_button.clicked.connect(self._reset)
        marks = "; ".join(f"{{{mark}}} {what}" for mark, what in MARKS.items())
        parts: list[QWidget] = [hint(f"{_WHAT}{marks}.")]
        for group in dict.fromkeys(part.group for part in WORDING_PARTS.values()):
            own = {name: part for name, part in WORDING_PARTS.items() if part.group == group}
            parts += [heading(group), self._group(own)]
        above = in_row((self._changed, STRETCH), self.reset_button)
        area = DownScroll(column(*parts))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area = area
        in_column(above, (area, STRETCH), on=self, margins=(8, 8, 8, 8))
        draft.changed.connect(self._show)
        self._show()

    def go_to(self, at: FieldPlace) -> None:
        """Put the cursor into the field of a part."""
        field = self.fields[at.field]
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._area.ensureWidgetVisible(field)

    def said(self, part: str) -> str:
        """What is said to be wrong with a part."""
        return self._grids[part].said(part)

    def _group(self, parts: Mapping[str, WordingPart]) -> QWidget:
        inside = QWidget()
        grid = FieldGrid(_CAPTION)
        for part, said in parts.items():
            field = self._field(part, said)
            field.written.connect(partial(self._write, part))
            default = QPushButton("Default", autoDefault=False)
            name(default, f"{said.title}: default", _DEFAULT[part])
            default.clicked.connect(partial(self._put_back, part))
            grid.add(part, said.title, field, [default])
            self.fields[part], self.default_buttons[part], self._grids[part] = field, default, grid
        inside.setLayout(grid)
        return inside

    def _field(self, part: str, said: WordingPart) -> LineField | TextField:
        marks = " and ".join(f"{{{mark}}}" for mark in marks_of(_DEFAULT[part]))
        what = f"Needs {marks}." if marks else ""
        accessible = f"Wording: {said.title}"
        if said.one_line:
            return LineField(accessible, what, LONGEST_TEXT)
        return TextField(accessible, what, _HIGH.get(part, 2))

    def _write(self, part: str, text: str) -> None:
        self._draft.write(self._draft.rubric.with_part(part, text))

    def _put_back(self, part: str) -> None:
        self._write(part, _DEFAULT[part])
        self.fields[part].setFocus(Qt.FocusReason.OtherFocusReason)  # its button cannot have it any more

    @Slot()
    def _reset(self) -> None:
        rubric = self._draft.rubric
        for part in WORDING_PARTS:
            rubric = rubric.with_part(part, _DEFAULT[part])
        self._draft.write(rubric)
        self.fields["system"].setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _show(self) -> None:
        wording, problems = self._draft.rubric.wording, self._draft.problems
        own = [part for part in WORDING_PARTS if wording[part] != _DEFAULT[part]]
        for part, field in self.fields.items():
            field.fill(wording[part])
            self.default_buttons[part].setVisible(part in own)
            self._grids[part].say(part, problems.get(FieldPlace(WORDING, part), ""))
        self.reset_button.setEnabled(bool(own))
        changed = counted(len(own), "part is", "parts are")
        self._changed.setText(
            f"{changed} changed from the default." if own else "The wording is the default."
        )
