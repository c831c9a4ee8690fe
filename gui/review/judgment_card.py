"""One judgment: the label in force, what the model read in each order, the explanations, the human label.

Knows: how a judgment is shown, which changes a person may want. Does not know: where changes go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine.core.formatting import percent, visible
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

    `human_from`: the dataset that the human label is from, or those that have none.
    """

    judgment: AnyJudgment
    label: Preference | None
    explanation: str | None
    outdated: bool
    override: Override | None
    history: Sequence[Override]
    human: Gold | None
    human_from: Sequence[Path] = ()
    draft: bool = False


class JudgmentCard(QFrame):
    """The open judgment, with the buttons that override it."""

    label_wanted = Signal(object)  # a Preference
    edit_wanted = Signal()
    undo_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.badge = LabelBadge(big=True)
        self.own = hint("")
        self.flipped, self.mass = Pill(), Pill()
        self.bars, self.orders = ProbabilityBars(), OrderBars()
        self.reason = plain_label()
        self.outdated = Pill()
        self.explanation = plain_label()
        self.editor = ExplanationEditor()
        self.editor.hide()
        self.by = hint("")
        self.human_badge = LabelBadge()
        self.human = plain_label()
        self.human_from = OneLine()
        self.labels = {label: QPushButton() for label in PREFERENCES}
        self.edit = QPushButton("Edit explanation… (E)")
        self.undo = QPushButton("Undo (U)")
        self._parts = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._lay_out()
        self._connect()
        self.restyle()

    def _lay_out(self) -> None:
        pills = QHBoxLayout()
        for pill in (self.flipped, self.mass):
            pills.addWidget(pill)
            pill.hide()
        pills.addStretch(1)
        self.outdated.hide()
        verdict, why, human = QVBoxLayout(), QVBoxLayout(), QVBoxLayout()
        for column, parts in (
            (verdict, (self.badge, self.own, self.reason, self.bars, self.orders)),
            (why, (heading("Explanation"), self.outdated, self.explanation, self.editor, self.by)),
            (human, (heading("Human label"), self.human_badge, self.human, self.human_from)),
        ):
            column.setSpacing(5)
            for part in parts:
                column.addWidget(part)
        verdict.addLayout(pills)
        for column, share in ((verdict, 5), (why, 6), (human, 5)):
            column.addStretch(1)
            self._parts.addLayout(column, share)
        self._parts.setSpacing(18)
        buttons = FlowLayout()
        for button in (*self.labels.values(), self.edit, self.undo):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(8)
        layout.addLayout(self._parts, 1)
        layout.addLayout(buttons)

    def _connect(self) -> None:
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
        self._show_pills(scored)
        self._show_explanation(scored, shown)
        self._show_human(shown)
        for label, button in self.labels.items():
            button.setChecked(label is shown.label)
        self.undo.setEnabled(shown.override is not None)

    def open_editor(self, text: str, draft: str | None) -> None:
        """Let a person write in the place of the explanation."""
        self.explanation.hide()
        self.editor.show()
        self.editor.begin(text, draft)
        self.edit.setEnabled(False)

    def close_editor(self) -> None:
        """Show the explanation again."""
        self.editor.hide()
        self.explanation.show()
        self.edit.setEnabled(True)

    @property
    def editing(self) -> bool:
        """True while a person writes."""
        return not self.editor.isHidden()

    def restyle(self) -> None:
        """Follow the colours."""
        for label, button in self.labels.items():
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
        self.own.setText(text)
        self.own.setVisible(persons)

    def _show_pills(self, scored: Judgment | None) -> None:
        self.flipped.setVisible(scored is not None and bool(scored.flipped))
        self.flipped.say("⇄ flipped", "warning")
        self.flipped.setToolTip(tip("The two orders alone would give different labels."))
        low = scored is not None and scored.format_mass < LOW_MASS
        self.mass.setVisible(scored is not None)
        if scored is not None:
            text = f"format mass {percent(scored.format_mass)}"
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
        names = [one_line(path.name) for path in shown.human_from]
        source = f"of {names[0]}" if human and names else f"looked for in {' and '.join(names)}"
        self.human_from.setText(source if names else "")
        self.human_from.setVisible(bool(names))
        self.human_from.setToolTip(tip("\n".join(map(str, shown.human_from))))

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
