"""The tabs of the editor: criteria with the fields of the current one, every word of the prompt."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.formatting import counted, words
from engine.core.rubric import DEFAULT_WORDING, LONGEST_TEXT, WORDING_PARTS, WordingPart, marks_of
from gui.judge import rubric_edit
from gui.judge.rubric_edit import FieldGrid, FieldPlace, LineField, NumberField, TextField
from gui.widgets import labels
from gui.widgets.actions import add_key
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.value_table import Head, HeadedModel, Index
from gui.widgets.views import FillingView, dressed
from gui.workspace.page import two_parts

NAME, QUESTION, GOOD, BAD, WEIGHT = range(5)
WRONG = "⚠"
_HEADS = (
    Head("Name", "Its columns in datasets and submissions begin with this name."),
    Head("Question", "What the model is asked."),
    Head("Good", "What makes a response good on it."),
    Head("Bad", "What makes a response bad on it."),
    Head("Weight", "Its weight in weighted scoring.", is_number=True),
)


class CriteriaTable(HeadedModel):
    """Shows an edited rubric's criteria; those with a problem are marked."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_HEADS, parent)
        self._shown: Sequence[rubric_edit.EditedCriterion] = ()
        self._problems: Mapping[int, str] = {}

    def show_criteria(
        self, criteria: Sequence[rubric_edit.EditedCriterion], problems: Mapping[FieldPlace, str]
    ) -> None:
        """Show these criteria; views keep their place where there are as many as before."""
        wrong = {at.place: problem for at, problem in reversed([*problems.items()])}
        with self._changing(alike=len(criteria) == len(self._shown)):
            self._shown, self._problems = tuple(criteria), wrong

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        text = self._text(self._shown[row], column)
        problem = self._problems.get(row, "") if column == NAME else ""
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{WRONG} {one_line(text)}" if problem else one_line(text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(problem or text)
        if role == Qt.ItemDataRole.AccessibleTextRole and problem:
            return f"{one_line(text)}: {problem}"
        return super().data(index, role)

    def _text(self, criterion: rubric_edit.EditedCriterion, column: int) -> str:
        if column == NAME:
            return words(criterion.name) if criterion.name.strip() else "(no name)"
        if column == WEIGHT:
            return f"{criterion.weight:g}"
        return {QUESTION: criterion.question, GOOD: criterion.good, BAD: criterion.bad}[column]


_HIGHEST_WEIGHT = 1000.0
_CAPTION = 9  # characters
_NUMBER = 18  # characters
_LEAST = {NAME: 16, QUESTION: 34, GOOD: 9, BAD: 9}  # characters
_ROWS = 5  # of the table, that are seen at least
_SEPARATORS = str.maketrans({" ": "_", "-": "_"})


class CriteriaTab(QWidget):
    def __init__(self, draft: rubric_edit.RubricDraft) -> None:
        super().__init__()
        self._draft = draft
        self.table = CriteriaTable(self)
        self.view = dressed(FillingView(), self.table, "Criteria")
        self._none = labels.label("", "warning")
        self._make_buttons()
        of_name = "Letters, digits and underscores: its columns begin with it."
        self.name_field = LineField("Name of the criterion", of_name, LONGEST_TEXT)
        self.question_field = TextField("Question of the criterion", "What the model is asked.", lines=3)
        self.good_field = TextField("Good", "What makes a response good on it; may be empty.", lines=2)
        self.bad_field = TextField("Bad", "What makes a response bad on it; may be empty.", lines=2)
        of_weight = "Its weight in weighted scoring, on any scale."
        self.weight_field = NumberField("Weight of the criterion", of_weight, _HIGHEST_WEIGHT, 0.5)
        self.name_field.setPlaceholderText("politeness")
        self.question_field.setPlaceholderText("Which response is more polite?")
        self.fields = FieldGrid(_CAPTION)
        for key, caption, field in (
            ("name", "&Name", self.name_field),
            ("question", "&Question", self.question_field),
            ("good", "&Good", self.good_field),
            ("bad", "&Bad", self.bad_field),
            ("weight", "&Weight", self.weight_field),
        ):
            self.fields.add(key, caption, field)
            field.written.connect(partial(self._write, key))
        self.weight_field.setMaximumWidth(self.fontMetrics().averageCharWidth() * _NUMBER)
        buttons = labels.in_row(
            self.add_button, self.remove_button, self.up_button, self.down_button, labels.STRETCH
        )
        above = labels.as_column((self.view, labels.STRETCH), self._none, buttons)
        self.view.setMinimumHeight(self.fontMetrics().height() * _ROWS)
        fields = QWidget()
        fields.setLayout(self.fields)
        self._form = labels.column(fields)
        area = labels.DownScroll(self._form)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # What takes room below takes it of the end of the fields.
        parts = two_parts(Qt.Orientation.Vertical, above, area, stretches=(0, 1))
        parts.keeps_first = True
        list_height = above.minimumSizeHint().height() + self.view.minimumHeight() // 2
        parts.setSizes([list_height, self._form.sizeHint().height()])
        labels.in_column(parts, on=self, margins=(8, 8, 8, 8))
        letter = self.view.fontMetrics().averageCharWidth()
        self.view.fill({column: letters * letter for column, letters in _LEAST.items()})
        self.view.selectionModel().currentRowChanged.connect(self._choose)
        draft.changed.connect(self._show)
        draft.place_changed.connect(self._show_place)
        self._show()

    def go_to(self, at: FieldPlace) -> None:
        if at.place >= 0:
            self._draft.choose(at.place)
            self.fields.field(at.field).setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.add_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def add(self) -> None:
        if self._draft.can_add:
            self._draft.add()
            self.name_field.setFocus(Qt.FocusReason.OtherFocusReason)

    # Making

    def _make_buttons(self) -> None:
        draft = self._draft
        up, down = partial(draft.move, -1), partial(draft.move, 1)
        below = "One more, below the current one (Ins)"
        self.add_button = labels.button("&Add", self.add, "Add a criterion", below)
        self.remove_button = labels.button(
            "Re&move", draft.remove, "Remove the criterion", "Remove it (Delete)"
        )
        self.up_button = labels.button("&Up", up, "Move the criterion up", "It is asked earlier (Alt+Up)")
        later = "It is asked later (Alt+Down)"
        self.down_button = labels.button("D&own", down, "Move the criterion down", later)
        for key, do in (("Ins", self.add), ("Del", draft.remove), ("Alt+Up", up), ("Alt+Down", down)):
            add_key(self.view, key, do)
        for each in (self.add_button, self.remove_button, self.up_button, self.down_button):
            each.setAutoDefault(False)

    # Writing

    def _write(self, key: str, value: Any) -> None:
        draft = self._draft
        if key == "name" and (as_name := value.translate(_SEPARATORS)) != value:
            # A space would end a name: it becomes an underscore, as it is meant.
            value, place = as_name, self.name_field.cursorPosition()
            self.name_field.setText(as_name)
            self.name_field.setCursorPosition(place)
        if draft.criterion is not None:
            written = replace(draft.criterion, **{key: value})
            draft.write(draft.rubric.with_criterion(draft.place, written))

    # Following

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self._draft.choose(index.row())

    def _show(self) -> None:
        draft = self._draft
        self.table.show_criteria(draft.rubric.criteria, draft.problems)
        labels.show_text(self._none, draft.problems.get(FieldPlace(rubric_edit.RUBRIC, "criteria"), ""))
        self._show_place()

    def _show_place(self) -> None:
        draft, there = self._draft, self._draft.criterion is not None
        if self.view.currentIndex().row() != draft.place:
            self.view.selectRow(draft.place)
        for key in rubric_edit.FIELDS_OF_CRITERION:
            self.fields.field(key).fill(getattr(draft.criterion or rubric_edit.EditedCriterion(), key))
            # Without a criterion the place is -1, which is that of the rubric's own fields.
            self.fields.say(key, draft.problems.get(FieldPlace(draft.place, key), "") if there else "")
        last = len(draft.rubric.criteria) - 1
        self._form.setEnabled(there)
        self.add_button.setEnabled(draft.can_add)
        self.remove_button.setEnabled(there)
        self.up_button.setEnabled(draft.place > 0)
        self.down_button.setEnabled(there and draft.place < last)


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
_WORDING_TAB_CAPTION = 15  # characters
_WHAT = (
    "These are the words of the prompt around an item, in any language. The delimiters around its texts, the"
    " label tokens A to D and the position of the answer are fixed. Another wording is another run."
    " Placeholders in braces: "
)


class WordingTab(QWidget):
    def __init__(self, draft: rubric_edit.RubricDraft) -> None:
        super().__init__()
        self._draft = draft
        self.fields: dict[str, LineField | TextField] = {}
        self.default_buttons: dict[str, QPushButton] = {}
        self._grids: dict[str, FieldGrid] = {}
        self._changed = labels.hint("")
        all_words, undo = "Reset all words to their defaults", "Undo all changes of the wording"
        self.reset_button = labels.button("All &defaults", self._reset, all_words, undo)
        self.reset_button.setAutoDefault(False)
        marks = "; ".join(f"{{{mark}}} {what}" for mark, what in MARKS.items())
        parts: list[QWidget] = [labels.hint(f"{_WHAT}{marks}.")]
        for group in dict.fromkeys(part.group for part in WORDING_PARTS.values()):
            own = {name: part for name, part in WORDING_PARTS.items() if part.group == group}
            parts += [labels.heading(group), self._group(own)]
        above = labels.in_row((self._changed, labels.STRETCH), self.reset_button)
        area = labels.DownScroll(labels.column(*parts))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area = area
        labels.in_column(above, (area, labels.STRETCH), on=self, margins=(8, 8, 8, 8))
        draft.changed.connect(self._show)
        self._show()

    def go_to(self, at: FieldPlace) -> None:
        field = self.fields[at.field]
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._area.ensureWidgetVisible(field)

    def said(self, part: str) -> str:
        return self._grids[part].said(part)

    def _group(self, parts: Mapping[str, WordingPart]) -> QWidget:
        inside, grid = QWidget(), FieldGrid(_WORDING_TAB_CAPTION)
        for part, said in parts.items():
            field = self._field(part, said)
            field.written.connect(partial(self._write, part))
            back, named = partial(self._put_back, part), f"{said.title}: default"
            default = labels.button("Default", back, named, _DEFAULT[part])
            default.setAutoDefault(False)
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

    def _reset(self) -> None:
        self._draft.write(replace(self._draft.rubric, wording=dict(_DEFAULT)))
        self.fields["system"].setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        wording, problems = self._draft.rubric.wording, self._draft.problems
        own = [part for part in WORDING_PARTS if wording[part] != _DEFAULT[part]]
        for part, field in self.fields.items():
            field.fill(wording[part])
            self.default_buttons[part].setVisible(part in own)
            self._grids[part].say(part, problems.get(FieldPlace(rubric_edit.WORDING, part), ""))
        self.reset_button.setEnabled(bool(own))
        changed = f"{counted(len(own), 'part is', 'parts are')} changed from the default."
        self._changed.setText(changed if own else "The wording is the default.")
