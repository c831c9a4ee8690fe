"""A rubric while it is edited: its texts, what is wrong with each, and their fields."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

from PySide6.QtCore import QMimeData, QObject, QSignalBlocker, QSize, Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from engine.core.codec import plain
from engine.core.errors import SetupError
from engine.core.formatting import words
from engine.core.rubric import (
    DEFAULT_WORDING,
    MOST_CRITERIA,
    WORDING_PARTS,
    Criterion,
    FieldProblem,
    PromptWording,
    Rubric,
    criteria_problems,
    criterion_problems,
    rubric_problems,
    wording_problems,
)
from gui.widgets.fields import DoubleSpinBox
from gui.widgets.foreign_text import OneLine
from gui.widgets.labels import label, name, set_role
from gui.widgets.value_table import sentence_case

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
        self.textChanged.connect(self._tell)

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

    def _tell(self) -> None:
        self.written.emit(self.toPlainText())


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
    the longest.
    """

    def __init__(self, captions: int) -> None:
        super().__init__()
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
    wording: Mapping[str, str] = field(default_factory=lambda: asdict(DEFAULT_WORDING))

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
            for problem in (*criteria_problems(count), *reversed([*rubric_problems(whole)]))
        }
        for place, criterion in enumerate(self.criteria):
            for problem in reversed([*self._of_name(place), *criterion_problems(asdict(criterion))]):
                found[FieldPlace(place, problem.field)] = _sentences(problem)
        for problem in reversed([*wording_problems(self.wording)]):
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
        sound = {part: self.wording[part] for part in WORDING_PARTS if (WORDING, part) not in problems}
        try:
            wording = PromptWording(**sound)
        except SetupError:  # a default part may say what another one says
            wording = DEFAULT_WORDING
        return Rubric("preview", (criterion,), wording=wording)

    def _of_name(self, place: int) -> Iterator[FieldProblem]:
        name = self.criteria[place].name
        if not name:
            yield FieldProblem("name", "is empty.", "Write one, of letters, digits and underscores.")
        others = (criterion.name for number, criterion in enumerate(self.criteria) if number != place)
        if name and any(True for other in others for _ in criteria_problems((other, name))):
            yield FieldProblem("name", "is that of another criterion.", "Give each a name of its own.")


def _sentences(problem: FieldProblem) -> str:
    """What is wrong with a field, where it stands: without the name of the field."""
    if ", " in problem.field:
        return f"Another of these is the same. {problem.advice}"
    if problem.field == "criteria":
        return f"Criteria {problem.problem} {problem.advice}"
    begins = problem.problem.split(" ", 1)[0] in _VERBS
    return sentence_case(f"{'it ' if begins else ''}{problem.problem} {problem.advice}")


def _as_read(found: tuple[FieldPlace, str]) -> tuple[int, int]:
    place, field = found[0]
    order = (*FIELDS_OF_RUBRIC, *FIELDS_OF_CRITERION, *WORDING_PARTS)
    return MOST_CRITERIA * 100 if place == WORDING else place, order.index(field)


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
        return len(self.rubric.criteria) < MOST_CRITERIA

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
