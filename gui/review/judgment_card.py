"""One judgment: the label in force, what the model read in each order, the explanations, the human label.

Folded it is one line, so that the texts have the page.

Knows: how a judgment is shown, which changes a person may want. Does not know: where changes go.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from engine.core.formatting import number, percent, visible
from engine.core.items import PREFERENCES, Gold, Preference
from engine.core.judgments import AnyJudgment, Judgment, Override, Unscored
from gui.kit.bars import ProbabilityBars
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import one_line, plain_label, tip
from gui.kit.label_mark import LabelBadge, label_icon
from gui.kit.label_words import LABEL_WORDS, LETTERS
from gui.kit.labels import OneLine, heading, hint, name
from gui.kit.pill import Pill
from gui.review.explanation_editor import ExplanationEditor
from gui.review.order_bars import OrderBars

LOW_MASS = 0.5
_NARROW = 84  # letters across: below that the parts stand one below the other


@dataclass(frozen=True)
class Shown:
    """What a card shows. `label`, `explanation`: in force. `history`: all overrides, the oldest first.

    `doubt`: 0 to 1, None where it is not known.
    """

    judgment: AnyJudgment
    label: Preference | None
    explanation: str | None
    outdated: bool
    override: Override | None
    history: Sequence[Override]
    human: Gold | None
    draft: bool = False
    doubt: float | None = None


class _Body(QScrollArea):
    """What the card shows below its head; scrolled where there is little room."""

    def __init__(self, columns: QBoxLayout) -> None:
        super().__init__()
        inside = QWidget()
        inside.setProperty("role", "content")
        inside.setLayout(columns)
        self.setWidgetResizable(True)
        self.setWidget(inside)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> QSize:
        """As high as the probabilities of both orders; longer explanations are scrolled."""
        return QSize(super().sizeHint().width(), 6 * (self.fontMetrics().height() + 3) + 8)

    def minimumSizeHint(self) -> QSize:
        """A few lines."""
        return QSize(100, 3 * self.fontMetrics().lineSpacing())


class JudgmentCard(QFrame):
    """The open judgment, with the buttons that override it.

    `body_shown` is emitted when the body appears (True) or vanishes, before others have their new sizes.
    Folded, it is there only while an explanation is written.
    """

    body_shown = Signal(bool)
    label_wanted = Signal(object)  # a Preference
    edit_wanted = Signal()
    undo_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._key: tuple[str, str] | None = None
        self._low_mass = self._folded = False
        self.fold = QToolButton()
        self.badge = LabelBadge(big=True)
        self.own = hint("")
        self.flipped, self.doubt, self.mass = Pill(), Pill(), Pill()
        self.beginning = OneLine()
        self.bars, self.orders = ProbabilityBars(), OrderBars()
        self.reason = plain_label()
        self.outdated = Pill()
        self.explanation = plain_label()
        self.editor = ExplanationEditor()
        self.editor.hide()
        self.by = hint("")
        self.human_badge = LabelBadge()
        self.human = plain_label()
        self.labels = {label: QPushButton() for label in PREFERENCES}
        self.edit = QPushButton("Edit explanation… (E)")
        self.undo = QPushButton("Undo (U)")
        self._parts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._lay_out()
        self._connect()
        self.restyle()

    def _lay_out(self) -> None:
        for hidden in (self.flipped, self.doubt, self.mass, self.outdated):
            hidden.hide()
        verdict, why, human = QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        for column, parts in (
            (verdict, (self.reason, self.bars, self.orders)),
            (why, (heading("Explanation"), self.outdated, self.explanation, self.editor, self.by)),
            (human, (heading("Human label"), self.human_badge, self.human)),
        ):
            column.setSpacing(5)
            for part in parts:
                column.addWidget(part)
        for column, share in ((verdict, 5), (why, 6), (human, 5)):
            column.addStretch(1)
            self._parts.addLayout(column, share)
        self._parts.setContentsMargins(0, 0, 0, 0)
        self._parts.setSpacing(18)
        self.body = _Body(self._parts)
        self._buttons = QWidget()
        buttons = FlowLayout(self._buttons)
        for button in (*self.labels.values(), self.edit, self.undo):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 4, 10, 6)
        layout.setSpacing(6)
        layout.addLayout(self._head())
        layout.addWidget(self.body, 1)
        layout.addWidget(self._buttons)

    def _head(self) -> QHBoxLayout:
        """The line that stays when the card is folded."""
        self.fold.setAutoRaise(True)
        self.fold.setArrowType(Qt.ArrowType.DownArrow)
        name(self.fold, "Fold the judgment to one line", "Fold the judgment to one line, or open it (F)")
        self.own.setWordWrap(False)
        self.beginning.hide()
        marks = QWidget()
        flow = FlowLayout(marks, gap=8)
        for part in (self.badge, self.own, self.flipped, self.doubt, self.mass):
            flow.addWidget(part)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(marks)
        head.addWidget(self.beginning, 1)
        return head

    def _connect(self) -> None:
        self.fold.clicked.connect(self.toggle_fold)
        for label, button in self.labels.items():
            key = LETTERS[label]
            text = (
                f"Response {key}"
                if label in (Preference.A, Preference.B)
                else LABEL_WORDS[label].capitalize()
            )
            button.setText(f" {text}")
            name(button, f"Override the label with {LABEL_WORDS[label]}, key {key}")
            button.setProperty("preference", label.value)
            button.setCheckable(True)
            button.clicked.connect(self._want_label)
        name(self.edit, "Write another explanation, key E")
        self.edit.clicked.connect(self.edit_wanted)
        name(self.undo, "Take the last override of this judgment back, key U")
        self.undo.clicked.connect(self.undo_wanted)

    def show_judgment(self, shown: Shown) -> None:
        """Show a judgment; an editor that is open stays open."""
        judgment = shown.judgment
        key = (judgment.criterion, judgment.item_id)
        if key != self._key:
            self._key = key
            self.body.verticalScrollBar().setValue(0)
        scored = judgment if isinstance(judgment, Judgment) else None
        self.badge.show_label(shown.label)
        self._show_own(scored, shown)
        self.reason.setText(
            visible(f"Unscored: {judgment.reason}.") if isinstance(judgment, Unscored) else ""
        )
        self.reason.setVisible(isinstance(judgment, Unscored))
        self.bars.setVisible(scored is not None)
        self.orders.setVisible(scored is not None)
        self.orders.show_readings(scored.readings if scored else ())
        if scored is not None:
            self.bars.show_probabilities(scored.probabilities)
        self._show_pills(scored, shown)
        self._show_explanation(scored, shown)
        self._show_parts()
        self._show_human(shown)
        for label, button in self.labels.items():
            button.setChecked(label is shown.label)
        self.undo.setEnabled(shown.override is not None)

    def open_editor(self, text: str, draft: str | None) -> None:
        """Let a person write in the place of the explanation."""
        self.explanation.hide()
        self.editor.show()
        self._show_parts()
        self.editor.begin(text, draft)
        self.edit.setEnabled(False)
        # Once it has its place.
        QTimer.singleShot(0, self.editor, lambda: self.body.ensureWidgetVisible(self.editor))

    def close_editor(self) -> None:
        """Show the explanation again."""
        self.editor.hide()
        self.explanation.show()
        self._show_parts()
        self.edit.setEnabled(True)

    @property
    def folded(self) -> bool:
        """True where a person wants one line."""
        return self._folded

    @property
    def open(self) -> bool:
        """True where the body is shown."""
        return not self.body.isHidden()

    def set_folded(self, folded: bool) -> None:
        """Show one line, or everything."""
        self._folded = folded
        self._show_parts()

    @Slot()
    def toggle_fold(self) -> None:
        """The other of the two."""
        self.set_folded(not self._folded)

    def _show_parts(self) -> None:
        """Show what belongs to the card as it is: folded, open, or written in."""
        shown = not self.folded or self.editing
        if shown != self.open:
            self.body.setVisible(shown)
            self._buttons.setVisible(shown)
            self.fold.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)
            self.body_shown.emit(shown)
        self.beginning.setVisible(not shown)
        self.own.setVisible(shown and bool(self.own.text()))
        self.mass.setVisible(bool(self.mass.text) and (shown or self._low_mass))

    @property
    def editing(self) -> bool:
        """True while a person writes."""
        return not self.editor.isHidden()

    def restyle(self) -> None:
        """Follow colours and text size."""
        side = self.fontMetrics().height()
        for label, button in self.labels.items():
            button.setIconSize(QSize(side, side))
            button.setIcon(label_icon(label, self.palette()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the parts one below the other where there is no room beside."""
        super().resizeEvent(event)
        narrow = self.width() < self.fontMetrics().averageCharWidth() * _NARROW
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._parts.direction() != direction:
            self._parts.setDirection(direction)

    def _show_own(self, scored: Judgment | None, shown: Shown) -> None:
        """What the model said where a person's label is in force."""
        persons = shown.override is not None and shown.override.preference is not None
        text = f"The model's own: {LABEL_WORDS[scored.preference if scored else None]}"
        self.own.setText(text if persons else "")

    def _show_pills(self, scored: Judgment | None, shown: Shown) -> None:
        self.doubt.setVisible(shown.doubt is not None)
        self.doubt.say(f"doubt {number(shown.doubt)}", "plain")
        self.doubt.setToolTip(
            tip(
                "How much a look is worth, from 0 to 1: high where the model is unsure, its orders disagree"
                " or its labels contradict each other; 0 where a person decided."
            )
        )
        self.flipped.setVisible(scored is not None and bool(scored.flipped))
        self.flipped.say("⇄ flipped", "warning")
        self.flipped.setToolTip(tip("The two orders alone would give different labels."))
        low = self._low_mass = scored is not None and scored.format_mass < LOW_MASS
        text = f"format mass {percent(scored.format_mass)}" if scored is not None else ""
        self.mass.say(f"low {text}" if low else text, "bad" if low else "plain")
        self.mass.setToolTip(
            tip(
                "The share of all probability that the four labels hold."
                " Low: the model did not understand what it was asked."
            )
        )

    def _show_explanation(self, scored: Judgment | None, shown: Shown) -> None:
        own = scored.explanation_for(shown.label) if scored else None
        written_for = own.preference if own else None
        self.outdated.setVisible(shown.outdated)
        self.outdated.say(f"written for another label: {LABEL_WORDS[written_for]}", "warning")
        cut = " (cut at the length limit)" if _is_cut(scored, shown) else ""
        nothing = "No explanation." if shown.label else "No label, no explanation."
        self.explanation.setText(visible(f"{shown.explanation}{cut}" if shown.explanation else nothing))
        self.beginning.setText(one_line(shown.explanation or nothing))
        self.beginning.setToolTip(tip(shown.explanation or ""))
        self.by.setText(_by_whom(shown))
        self.by.setVisible(bool(self.by.text()))
        self.by.setToolTip(tip("\n".join(_in_words(override) for override in shown.history)))

    def _show_human(self, shown: Shown) -> None:
        human = shown.human
        label = human.preference if human else None
        self.human_badge.setVisible(label is not None)
        if label is not None:
            self.human_badge.show_label(label)
        text = (human.explanation if human else None) or ("" if label else "None known.")
        self.human.setText(visible(text))

    @Slot()
    def _want_label(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            # What is in force is shown once it is stored, not when it is wished for.
            button.setChecked(not button.isChecked())
            self.label_wanted.emit(Preference(button.property("preference")))


def _is_cut(scored: Judgment | None, shown: Shown) -> bool:
    own = scored.explanation_for(shown.label) if scored else None
    return own is not None and own.cut and own.text == shown.explanation


def _by_whom(shown: Shown) -> str:
    """Who overrode what, in a line or two; what the model had written, where it is replaced."""
    lines = [f"{_in_words(shown.override)}."] if shown.override else []
    own = shown.judgment.explanation if isinstance(shown.judgment, Judgment) else None
    if shown.override and shown.override.explanation and own:
        lines.append(f"The model's own explanation: {own.text}")
    earlier = len(shown.history) - (1 if shown.override else 0)
    if earlier:
        lines.append(f"{earlier} earlier change{'' if earlier == 1 else 's'}.")
    if shown.draft:
        lines.append("There is a draft of an explanation: E opens it.")
    return visible("\n".join(lines))


def _in_words(override: Override) -> str:
    """`Label both good, explanation by Ada, 2026-03-01 14:05, undone 14:07`, in local time."""
    parts = []
    if override.preference is not None:
        parts.append(f"label {LABEL_WORDS[override.preference]}")
    if override.explanation is not None:
        parts.append("explanation")
    text = f"{' and '.join(parts)} by {override.author}, {override.created.astimezone():%Y-%m-%d %H:%M}"
    undone = f", taken back {override.undone.astimezone():%Y-%m-%d %H:%M}" if override.undone else ""
    return f"{text[0].upper()}{text[1:]}{undone}"
