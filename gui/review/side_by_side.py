"""Labels and explanations of several systems for one judgment, a column each; an annotator's own is last."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QScrollArea, QSplitter, QWidget

from engine.annotations.effective import EffectiveAnnotation, Reviews
from engine.annotations.records import Annotation
from engine.core.formatting import capitalised, clipped, percent, short_name, visible
from engine.core.items import PREFERENCES, Gold, HumanLabel, Preference
from engine.core.judgments import AnyJudgment, Judgment, Unscored
from engine.settings.identity import StoredRun
from gui.review.criterion_strip import ExplanationEditor, OverrideButtons
from gui.review.judgment_card import apart_in_words
from gui.review.session import ReviewedJudgment, standing_in_words
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, one_line, plain_label, set_tip
from gui.widgets.label_mark import LABEL_WORDS, LabelBadge, Pill
from gui.widgets.labels import STRETCH, in_column, name, show_text, take_out
from gui.widgets.text_views import TextPane

_LEAST_LETTERS = 24  # across, of a column
_LINE_HEIGHT = 125  # percent
_EQUAL = 1000  # pixels, of which each column gets its share


@dataclass(frozen=True)
class ColumnText:
    system: str
    whole: str  # of its system's name
    said: bool  # False where nothing is known of the item
    label: HumanLabel | None = None
    text: str | None = None
    marks: Sequence[tuple[str, str, str]] = ()  # short words with their kind and tool tip
    remark: str = ""  # a sentence above the explanation


def column_of(run: StoredRun, judgment: AnyJudgment, override: EffectiveAnnotation | None) -> ColumnText:
    remark, label, text = "No explanation.", None, None
    marks: list[tuple[str, str, str]] = []
    if isinstance(judgment, Unscored):
        remark = f"{capitalised(judgment.reason)}."
    else:
        label, explanation = judgment.preference, judgment.explanation
        if explanation is not None:
            text = f"{explanation.text}{' (cut at the length limit)' if explanation.cut else ''}"
            remark = ""
    if isinstance(judgment, Judgment):
        share = judgment.probabilities[PREFERENCES.index(judgment.preference)]
        marks.append((percent(share), "plain", "The probability of this label"))
        pill, tip = apart_in_words(judgment)
        marks += [(pill, "warning", tip)] if pill else []
    if override is not None:
        remark = f"{remark} {standing_in_words(override)}.".strip()
    return ColumnText(system_name(run), whole_name(run), True, label, text, marks, visible(remark))


def human_column(human: Gold | None, gold: Path) -> ColumnText:
    label = human.label if human else None
    text = human.explanation if human else None
    remark = "" if text else "No explanation." if label else "None."
    return ColumnText("Human labels", str(gold), label is not None, label, text, remark=remark)


def own_column(author: str, label: Preference | None, text: str | None, draft: str) -> ColumnText:
    remark = "" if text or label else "Nothing yet: A, B, G or X gives a label, E writes an explanation."
    remark = visible(f"{remark} {draft}".strip())
    return ColumnText(f"You ({author})", author, label is not None, label, text, remark=remark)


def annotator_columns(
    reviews: Reviews, noted: Sequence[Annotation], shown: ReviewedJudgment
) -> list[ColumnText]:
    key = shown.judgment.key
    given = reviews.given_on(key)
    texts = {each.author: each.explanation for each in reviews.last_of_each(key) if not each.settles}
    notes = {note.author: note for note in noted}
    columns = []
    for who in sorted({*given, *texts, *notes}):
        label, note = given.get(who), notes.get(who)
        marks = [("blind", "plain", "Labelled without seeing other labels")] if label and label.blind else []
        marks += [(tag, "plain", "A tag of this annotator") for tag in (note.tags if note else ())]
        remark = visible(f"Note: {note.text}") if note and note.text else ""
        said = (label is not None, label.preference if label else None, texts.get(who))
        columns.append(ColumnText(clipped(who), who, *said, marks, remark))
    return columns


def adjudicated_column(shown: ReviewedJudgment) -> ColumnText:
    standing = shown.override
    adjudicated = standing if standing is not None and standing.adjudicated else None
    said = standing_in_words(adjudicated) + "." if adjudicated else shown.proposed
    remark, whole = visible(f"{said} {shown.draft}".strip()), "The effective label for all annotators"
    if adjudicated is None:
        return ColumnText("To adjudicate", whole, said=False, remark=remark)
    label, text = adjudicated.preference, adjudicated.explanation
    return ColumnText("Adjudicated", whole, True, label, text, remark=remark)


def system_name(run: StoredRun) -> str:
    model = short_name(run.identity.model_name)
    return model if run.submitted else f"{run.title}: {model}"


def whole_name(run: StoredRun) -> str:
    identity = run.identity
    what = f"Submission {identity.model_path}" if run.submitted else f"{run.title}: {identity.model_name}"
    made = f"{run.created.astimezone():%Y-%m-%d %H:%M}"
    return f"{what}\n{identity.dataset_path.name}, {run.judged:,} of {identity.items:,} items, {made}"


class _Column(QFrame):
    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.shown: ColumnText | None = None
        self.title = OneLine(role="heading")
        self.badge = LabelBadge()
        self.marks: list[Pill] = []
        self.remark = plain_label(role="hint")
        self.text = TextPane("", line_height=_LINE_HEIGHT)
        self.text.view.setProperty("role", "flat")
        self._head, self._filler = QWidget(), QWidget()
        self._flow = FlowLayout(self._head, gap=6)
        self._flow.addWidget(self.badge)
        parts = (self.title, self._head, self.remark, (self.text, STRETCH), (self._filler, STRETCH))
        self.layout_ = in_column(*parts, on=self, margins=(8, 4, 8, 6), spacing=4)
        self._filler.hide()

    def show_text(self, shown: ColumnText) -> None:
        before, self.shown = self.shown, shown
        if shown == before:
            return
        self.title.setText(one_line(shown.system))
        set_tip(self.title, shown.whole)
        self.setAccessibleName(one_line(f"{shown.system}: {LABEL_WORDS[shown.label]}"))
        self.badge.show_label(shown.label)
        self.badge.setVisible(shown.said)
        take_out(self._flow, self.marks)
        self.marks = [Pill() for _ in shown.marks]
        for pill, (word, kind, more) in zip(self.marks, shown.marks, strict=True):
            self._flow.addWidget(pill)
            pill.say(word, kind)
            set_tip(pill, more)
        self._head.setVisible(shown.said or bool(shown.marks))
        show_text(self.remark, shown.remark)
        self.text.setVisible(bool(shown.text))
        self._filler.setVisible(not shown.text)
        if before is None or (shown.text, shown.system) != (before.text, before.system):
            self.text.show_text(shown.text or "")  # else it stays where it is scrolled to
        name(self.text.view, f"Explanation of {one_line(shown.system)}")


class OwnColumn(_Column):
    def __init__(self) -> None:
        super().__init__()
        self.buttons = OverrideButtons(wide=False)
        self.layout_.insertWidget(1, self.buttons)

    def show_own(self, shown: ColumnText, of: ReviewedJudgment) -> None:
        self.show_text(shown)
        self.badge.hide()  # the buttons say it
        self._head.setVisible(bool(shown.marks))
        label = shown.label if isinstance(shown.label, Preference) else None
        self.buttons.show_state(label, of.undo, of.redo, of.writing)
        self.text.setVisible(not of.writing and bool(shown.text))
        self._filler.setVisible(not of.writing and not shown.text)
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        # Else the parts would lie upon each other where the columns are low; so they are scrolled.
        of_all = self.layout_.minimumHeightForWidth if self.text.isVisibleTo(self) else self.heightForWidth
        needed = of_all(self.width())
        if self.minimumHeight() != needed:
            QTimer.singleShot(0, self, partial(self.setMinimumHeight, needed))

    def take_editor(self, editor: ExplanationEditor) -> None:
        self.layout_.addWidget(editor, 1)


class SideBySide(QWidget):
    """All columns, at first as wide as each other, scrolled across where there is too little room."""

    def __init__(self) -> None:
        super().__init__()
        self.own = OwnColumn()
        self.systems: list[_Column] = []
        self._markdown = False
        self._row = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False, handleWidth=8)
        self._row.setProperty("role", "content")
        self._row.addWidget(self.own)
        self._area = QScrollArea(widgetResizable=True)
        self._area.setWidget(self._row)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        in_column(self._area, on=self)
        self.restyle()

    @property
    def texts(self) -> Sequence[ColumnText]:
        return [column.shown for column in self.systems if column.shown is not None and not column.isHidden()]

    @property
    def views(self) -> Sequence[QAbstractScrollArea]:
        columns = [column for column in (*self.systems, self.own) if not column.isHidden()]
        return [column.text.view for column in columns if not column.text.isHidden()]

    def show_systems(self, texts: Sequence[ColumnText]) -> None:
        before = sum(not column.isHidden() for column in self.systems)
        while len(self.systems) < len(texts):
            column = _Column()
            column.text.set_markdown(self._markdown)
            self._row.insertWidget(len(self.systems), column)
            self.systems.append(column)
            self.restyle()
        for place, column in enumerate(self.systems):
            column.setVisible(place < len(texts))
            if place < len(texts):
                column.show_text(texts[place])
        if before != len(texts):
            self._row.setSizes([_EQUAL] * self._row.count())

    def set_markdown(self, on: bool) -> None:
        self._markdown = on
        for column in (*self.systems, self.own):
            column.text.set_markdown(on)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange) and hasattr(self, "_area"):
            self.restyle()

    def restyle(self) -> None:
        self.own.buttons.restyle()
        least = self.fontMetrics().averageCharWidth() * _LEAST_LETTERS
        for column in (*self.systems, self.own):
            column.setMinimumWidth(least)
        self._area.setMinimumHeight(self.fontMetrics().lineSpacing() * 8)
