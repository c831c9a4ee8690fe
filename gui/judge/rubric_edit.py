"""A rubric while it is edited: its texts, what is wrong with each, their fields; the tabs of the editor:
criteria with the fields of the current one, every word of the prompt.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import QMimeData, QModelIndex, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPlainTextEdit, QPushButton, QSizePolicy, QWidget

from engine.core import rubric as rubrics
from engine.core.codec import plain
from engine.core.errors import SetupError
from engine.core.formatting import counted, words
from engine.core.rubric import Criterion, PromptWording, Rubric, WordingPart
from gui.widgets import labels
from gui.widgets.actions import add_key
from gui.widgets.fields import DoubleSpinBox
from gui.widgets.foreign_text import OneLine, one_line, tip
from gui.widgets.labels import label, name, set_role
from gui.widgets.views import FillingView, Head, HeadedModel, Index, dressed, sentence_case
from gui.workspace.page import PageSplitter

_ROOM = 12  # pixels of a field beside its lines


class TextField(QPlainTextEdit):
    """Some lines of plain text; Tab leaves it. `written`: by the user, at every letter."""

    written = Signal(str)

    def __init__(self, accessible: str, what: str = "", lines: int = 2) -> None:
        super().__init__()
        self._lines = lines
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        name(self, accessible, what)
        self.textChanged.connect(lambda: self.written.emit(self.toPlainText()))

    def fill(self, text: str) -> None:
        if text != self.toPlainText():
            with QSignalBlocker(self):
                self.setPlainText(text)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.fontMetrics().lineSpacing() * self._lines + _ROOM)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 12, self.sizeHint().height())

    def insertFromMimeData(self, source: QMimeData) -> None:
        # Take the text of what is pasted, with plain spaces for those that a rubric refuses.
        self.insertPlainText(source.text().replace("\u00a0", " ").replace("\t", " "))


class LineField(QLineEdit):
    """One line of text. `written`: by the user, at every letter."""

    written = Signal(str)

    def __init__(self, accessible: str, what: str = "", longest: int = 4000) -> None:
        super().__init__(maxLength=longest)
        name(self, accessible, what)
        self.textEdited.connect(self.written)

    def fill(self, text: str) -> None:
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)


class NumberField(DoubleSpinBox):
    """A number that is not negative. `written`: by the user."""

    written = Signal(float)

    def __init__(self, accessible: str, what: str, highest: float, step: float) -> None:
        super().__init__(decimals=3, maximum=highest, singleStep=step)
        name(self, accessible, what)
        self.valueChanged.connect(self.written)

    def fill(self, value: float) -> None:
        with QSignalBlocker(self):
            self.setMaximum(max(self.maximum(), value))
            self.setValue(value)

    def textFromValue(self, value: float) -> str:
        text = super().textFromValue(value)
        point = self.locale().decimalPoint()
        return text.rstrip("0").removesuffix(point) if point in text else text


Field = TextField | LineField | NumberField


class FieldGrid(QGridLayout):
    """Fields below each other, each with its caption at the left, and a line below. `captions`: characters of
    the longest. `write` is told what is written, with the key of its field.
    """

    def __init__(self, captions: int, write: Callable[[str, Any], object]) -> None:
        super().__init__()
        self._write = write
        self.setContentsMargins(0, 0, 0, 0)
        self.setVerticalSpacing(2)
        self.setColumnStretch(1, 1)
        self._captions = captions
        self._lines: dict[str, tuple[Field, _LineBelow]] = {}

    def add(self, key: str, caption: str, field: "Field", beside: Sequence[QWidget] = ()) -> None:
        row = self.rowCount()
        title = label(caption)
        title.setBuddy(field)
        title.setMaximumWidth(title.fontMetrics().averageCharWidth() * self._captions)
        title.setMinimumWidth(title.maximumWidth())
        below = _LineBelow(field.accessibleDescription())
        self.addWidget(title, row, 0)
        self.addWidget(field, row, 1, 1, 1 if beside else 2)
        for place, widget in enumerate(beside):
            self.addWidget(widget, row, 2 + place)
        self.addWidget(below, row + 1, 1, 1, 2)
        self._lines[key] = field, below
        field.written.connect(partial(self._write, key))

    def say(self, key: str, problem: str) -> None:
        field, below = self._lines[key]
        below.say(problem)
        field.setAccessibleDescription(problem or below.what)

    def said(self, key: str) -> str:
        return self._lines[key][1].said

    def field(self, key: str) -> "Field":
        return self._lines[key][0]


class _LineBelow(OneLine):
    """What a field is for, or what is wrong with it. It is always there, so no problem moves a field."""

    def __init__(self, what: str) -> None:
        super().__init__(what, end=True)
        self.what, self.said = what, ""
        self.setMinimumHeight(self.fontMetrics().lineSpacing())

    def say(self, problem: str) -> None:
        self.said = problem
        self.setText(problem or self.what)
        set_role(self, "warning" if problem else "hint")


RUBRIC, WORDING = -1, -2
"""In the place of a criterion's number: fields of the rubric itself, parts of the wording."""
FIELDS_OF_RUBRIC = ("name", "source", "tie_threshold", "criteria")
FIELDS_OF_CRITERION = ("name", "question", "good", "bad", "weight")
_VERBS = ("is", "has", "holds", "needs")


class FieldPlace(NamedTuple):
    """A field: of a criterion by its number, else RUBRIC or WORDING; and its name."""

    place: int
    field: str


@dataclass(frozen=True)
class EditedCriterion:
    name: str = ""
    question: str = ""
    good: str = ""
    bad: str = ""
    weight: float = 1.0

    @property
    def title(self) -> str:
        return words(self.name) if self.name.strip() else "without a name"


@dataclass(frozen=True)
class EditedRubric:
    """The fields of a rubric as they are written; `wording`: of every part, the defaults too."""

    name: str = ""
    source: str = ""
    tie_threshold: float = 0.5
    criteria: tuple[EditedCriterion, ...] = (EditedCriterion(),)
    wording: Mapping[str, str] = field(default_factory=lambda: asdict(rubrics.DEFAULT_WORDING))

    @classmethod
    def of(cls, rubric: Rubric) -> "EditedRubric":
        criteria = tuple(EditedCriterion(**plain(criterion)) for criterion in rubric.criteria)
        return cls(rubric.name, rubric.source, rubric.tie_threshold, criteria, asdict(rubric.wording))

    def rubric(self) -> Rubric:
        """The rubric. SetupError where something is wrong with it."""
        criteria = tuple(Criterion(**asdict(criterion)) for criterion in self.criteria)
        return Rubric(self.name, criteria, self.tie_threshold, self.source, PromptWording(**self.wording))

    def with_criterion(self, place: int, criterion: EditedCriterion) -> "EditedRubric":
        return replace(self, criteria=(*self.criteria[:place], criterion, *self.criteria[place + 1 :]))

    def with_part(self, part: str, text: str) -> "EditedRubric":
        return replace(self, wording={**self.wording, part: text})

    @property
    def problems(self) -> dict[FieldPlace, str]:
        """What is wrong, by field, in sentences; empty where the rubric is sound."""
        whole = {"name": self.name, "source": self.source, "tie_threshold": self.tie_threshold}
        count = [f"criterion{number}" for number in range(len(self.criteria))]
        found = {
            FieldPlace(RUBRIC, problem.field): _sentences(problem)
            for problem in (*rubrics.criteria_problems(count), *reversed([*rubrics.rubric_problems(whole)]))
        }
        for place, criterion in enumerate(self.criteria):
            for problem in reversed([*self._of_name(place), *rubrics.criterion_problems(asdict(criterion))]):
                found[FieldPlace(place, problem.field)] = _sentences(problem)
        for problem in reversed([*rubrics.wording_problems(self.wording)]):
            # Of parts that must differ, those that do not; a part that stands alone.
            parts = problem.field.split(", ")
            said = Counter(self.wording[part].casefold() for part in parts)
            for part in parts:
                if len(parts) == 1 or said[self.wording[part].casefold()] > 1:
                    found[FieldPlace(WORDING, part)] = _sentences(problem)
        return dict(sorted(found.items(), key=_as_read))

    def sound(self, place: int) -> Rubric:
        """A rubric of one criterion that can be shown: what is wrong in it is as by default, or left open."""
        problems, there = self.problems, 0 <= place < len(self.criteria)
        written = self.criteria[place] if there else EditedCriterion("criterion", "…")
        open_ = {"name": "criterion", "question": "…", "good": "", "bad": ""}
        wrong = {name: text for name, text in open_.items() if FieldPlace(place, name) in problems}
        criterion = Criterion(**{**asdict(written), **wrong})
        sound = {
            part: self.wording[part] for part in rubrics.WORDING_PARTS if (WORDING, part) not in problems
        }
        try:
            wording = PromptWording(**sound)
        except SetupError:  # a default part may say what another one says
            wording = rubrics.DEFAULT_WORDING
        return Rubric("preview", (criterion,), wording=wording)

    def _of_name(self, place: int) -> Iterator[rubrics.FieldProblem]:
        name = self.criteria[place].name
        if not name:
            yield rubrics.FieldProblem("name", "is empty.", "Write one, of letters, digits and underscores.")
        others = (criterion.name for number, criterion in enumerate(self.criteria) if number != place)
        if name and any(True for other in others for _ in rubrics.criteria_problems((other, name))):
            yield rubrics.FieldProblem(
                "name", "is that of another criterion.", "Give each a name of its own."
            )


def _sentences(problem: rubrics.FieldProblem) -> str:
    """What is wrong with a field, where it stands: without the name of the field."""
    if ", " in problem.field:
        return f"Another of these is the same. {problem.advice}"
    if problem.field == "criteria":
        return f"Criteria {problem.problem} {problem.advice}"
    begins = problem.problem.split(" ", 1)[0] in _VERBS
    return sentence_case(f"{'it ' if begins else ''}{problem.problem} {problem.advice}")


def _as_read(found: tuple[FieldPlace, str]) -> tuple[int, int]:
    place, field = found[0]
    order = (*FIELDS_OF_RUBRIC, *FIELDS_OF_CRITERION, *rubrics.WORDING_PARTS)
    return rubrics.MOST_CRITERIA * 100 if place == WORDING else place, order.index(field)


class RubricDraft(QObject):
    """`problems`: what is wrong with it now, by field. `place`: the number of the current criterion."""

    changed = Signal()  # the rubric; its problems are those of it
    place_changed = Signal()

    def __init__(self, rubric: EditedRubric, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rubric = rubric
        self.place = 0 if rubric.criteria else -1
        self.problems: dict[FieldPlace, str] = rubric.problems

    @property
    def criterion(self) -> EditedCriterion | None:
        criteria = self.rubric.criteria
        return criteria[self.place] if 0 <= self.place < len(criteria) else None

    @property
    def can_add(self) -> bool:
        return len(self.rubric.criteria) < rubrics.MOST_CRITERIA

    def write(self, rubric: EditedRubric) -> None:
        if rubric != self.rubric:
            self.rubric, self.problems = rubric, rubric.problems
            self.changed.emit()
            self.choose(self.place)

    def choose(self, place: int) -> None:
        """Turn to another criterion, or to the nearest that there is."""
        place = max(min(place, len(self.rubric.criteria) - 1), 0 if self.rubric.criteria else -1)
        if place != self.place:
            self.place = place
            self.place_changed.emit()

    def add(self) -> None:
        if self.can_add:
            criteria, place = self.rubric.criteria, self.place + 1
            self._write_criteria((*criteria[:place], EditedCriterion(), *criteria[place:]), place)

    def remove(self) -> None:
        if self.criterion is not None:
            criteria, here = self.rubric.criteria, self.place
            self._write_criteria((*criteria[:here], *criteria[here + 1 :]), min(here, len(criteria) - 2))

    def move(self, step: int) -> None:
        """Let the current criterion change places with its neighbour, and stay current."""
        criteria, here, there = list(self.rubric.criteria), self.place, self.place + step
        if self.criterion is not None and 0 <= there < len(criteria):
            criteria[here], criteria[there] = criteria[there], criteria[here]
            self._write_criteria(tuple(criteria), there)

    def _write_criteria(self, criteria: tuple[EditedCriterion, ...], place: int) -> None:
        self.rubric = replace(self.rubric, criteria=criteria)
        self.problems = self.rubric.problems
        self.place = place
        self.changed.emit()
        self.place_changed.emit()


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
        self._shown: Sequence[EditedCriterion] = ()
        self._problems: Mapping[int, str] = {}

    def show_criteria(self, criteria: Sequence[EditedCriterion], problems: Mapping[FieldPlace, str]) -> None:
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

    def _text(self, criterion: EditedCriterion, column: int) -> str:
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
    def __init__(self, draft: RubricDraft) -> None:
        super().__init__()
        self._draft = draft
        self.table = CriteriaTable(self)
        self.view = dressed(FillingView(), self.table, "Criteria")
        self._none = labels.label("", "warning")
        self._make_buttons()
        of_name = "Letters, digits and underscores: its columns begin with it."
        self.name_field = LineField("Name of the criterion", of_name, rubrics.LONGEST_TEXT)
        self.question_field = TextField("Question of the criterion", "What the model is asked.", lines=3)
        self.good_field = TextField("Good", "What makes a response good on it; may be empty.", lines=2)
        self.bad_field = TextField("Bad", "What makes a response bad on it; may be empty.", lines=2)
        of_weight = "Its weight in weighted scoring, on any scale."
        self.weight_field = NumberField("Weight of the criterion", of_weight, _HIGHEST_WEIGHT, 0.5)
        self.name_field.setPlaceholderText("politeness")
        self.question_field.setPlaceholderText("Which response is more polite?")
        self.fields = FieldGrid(_CAPTION, self._write)
        self.fields.add("name", "&Name", self.name_field)
        self.fields.add("question", "&Question", self.question_field)
        self.fields.add("good", "&Good", self.good_field)
        self.fields.add("bad", "&Bad", self.bad_field)
        self.fields.add("weight", "&Weight", self.weight_field)
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
        # What takes room below takes it of the end of the fields.
        parts = PageSplitter(Qt.Orientation.Vertical, above, area, stretches=(0, 1))
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
        labels.show_text(self._none, draft.problems.get(FieldPlace(RUBRIC, "criteria"), ""))
        self._show_place()

    def _show_place(self) -> None:
        draft, there = self._draft, self._draft.criterion is not None
        if self.view.currentIndex().row() != draft.place:
            self.view.selectRow(draft.place)
        for key in FIELDS_OF_CRITERION:
            self.fields.field(key).fill(getattr(draft.criterion or EditedCriterion(), key))
            # Without a criterion the place is -1, which is that of the rubric's own fields.
            self.fields.say(key, draft.problems.get(FieldPlace(draft.place, key), "") if there else "")
        last = len(draft.rubric.criteria) - 1
        self._form.setEnabled(there)
        self.add_button.setEnabled(draft.can_add)
        self.remove_button.setEnabled(there)
        self.up_button.setEnabled(draft.place > 0)
        self.down_button.setEnabled(there and draft.place < last)


_DEFAULT = asdict(rubrics.DEFAULT_WORDING)
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
    def __init__(self, draft: RubricDraft) -> None:
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
        for group in dict.fromkeys(part.group for part in rubrics.WORDING_PARTS.values()):
            own = {name: part for name, part in rubrics.WORDING_PARTS.items() if part.group == group}
            parts += [labels.heading(group), self._group(own)]
        above = labels.in_row((self._changed, labels.STRETCH), self.reset_button)
        self._area = labels.DownScroll(labels.column(*parts))
        labels.in_column(above, (self._area, labels.STRETCH), on=self, margins=(8, 8, 8, 8))
        draft.changed.connect(self._show)
        self._show()

    def go_to(self, at: FieldPlace) -> None:
        field = self.fields[at.field]
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._area.ensureWidgetVisible(field)

    def said(self, part: str) -> str:
        return self._grids[part].said(part)

    def _group(self, parts: Mapping[str, WordingPart]) -> QWidget:
        inside, grid = QWidget(), FieldGrid(_WORDING_TAB_CAPTION, self._write)
        for part, said in parts.items():
            back, named = partial(self._put_back, part), f"{said.title}: default"
            default = labels.button("Default", back, named, _DEFAULT[part])
            default.setAutoDefault(False)
            self.fields[part] = self._field(part, said)
            grid.add(part, said.title, self.fields[part], [default])
            self.default_buttons[part], self._grids[part] = default, grid
        inside.setLayout(grid)
        return inside

    def _field(self, part: str, said: WordingPart) -> LineField | TextField:
        marks = " and ".join(f"{{{mark}}}" for mark in rubrics.marks_of(_DEFAULT[part]))
        what = f"Needs {marks}." if marks else ""
        accessible = f"Wording: {said.title}"
        if said.one_line:
            return LineField(accessible, what, rubrics.LONGEST_TEXT)
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
        own = [part for part in rubrics.WORDING_PARTS if wording[part] != _DEFAULT[part]]
        for part, written in self.fields.items():
            written.fill(wording[part])
            self.default_buttons[part].setVisible(part in own)
            self._grids[part].say(part, problems.get(FieldPlace(WORDING, part), ""))
        self.reset_button.setEnabled(bool(own))
        changed = f"{counted(len(own), 'part is', 'parts are')} changed from the default."
        self._changed.setText(changed if own else "The wording is the default.")
