"""One judgment: the effective label, what the model read in each order, the explanations, the human label.
Folded it is one line, so that the texts have the page. Does not know where changes go.
"""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QToolButton, QWidget

from engine.core.formatting import capitalised, clipped, counted, number, percent, visible
from engine.core.judgments import Explanation, Judgment, JudgmentKey, SubmittedLabel, Unscored
from engine.core.methods import together
from gui.review.card import CardBody, OrderBars
from gui.review.criterion_strip import ExplanationEditor, OverrideButtons, compact_button
from gui.review.review_jobs import HIDDEN
from gui.review.session import ReviewedJudgment, override_in_words, standing_in_words
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, one_line, plain_label, set_tip
from gui.widgets.glossary import MORE_BY_F1, Topic
from gui.widgets.help_dialog import HelpMark
from gui.widgets.label_mark import LABEL_WORDS, LabelBadge, Pill, ProbabilityBars
from gui.widgets.labels import STRETCH, heading, hint, in_column, in_row, label, name, show_text

_LOW_MASS = 0.5
_HIDDEN_PART = "Hidden."
_UNCERTAINTY = (
    "How useful a review is, from 0 to 1: high if the judge is uncertain, its orders disagree or its labels"
    f" contradict each other; 0 if an annotator decided. {MORE_BY_F1}"
)
_MASS = (
    "Total probability of the four valid answers. Low: the model did not understand the question."
    f" {MORE_BY_F1}"
)
_NARROW = 84  # characters across: below that the parts stand one below the other


class JudgmentCard(QFrame):
    body_shown = Signal(bool)  # the body appears (True) or vanishes; others have not their new sizes yet
    methods_wanted = Signal(bool)  # an annotator goes to what each method said (True), or back
    prompt_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._key: JudgmentKey | None = None
        self._low_mass = self.folded = False
        self.fold = QToolButton(autoRaise=True, arrowType=Qt.ArrowType.DownArrow)
        self.badge, self.own = LabelBadge(big=True), label("", "hint", wrap=False)
        self.flipped, self.uncertainty, self.mass, self.stale = Pill(), Pill(), Pill(), Pill()
        self.beginning = OneLine(end=True)
        self.bars, self.orders, self.reason = ProbabilityBars(), OrderBars(), plain_label()
        self.explanation, self.editor = plain_label(), ExplanationEditor()
        self.editor.field.cursorPositionChanged.connect(self._keep_line_in_sight)
        self.by, self.earlier = hint(""), compact_button()
        self.human_badge, self.human, self.human_from = LabelBadge(), plain_label(), OneLine()
        self.annotators_heading, self.annotators = heading("Labels of annotators"), plain_label()
        self.buttons = OverrideButtons(wide=True)
        # The key of the second is in its tool tip: the marks need the room.
        self.each_method, self.prompt = compact_button(), compact_button("Prompt…")
        self._lay_out()
        self.fold.clicked.connect(self.toggle_fold)
        self.prompt.clicked.connect(self.prompt_wanted)
        self._name_methods()
        self.each_method.clicked.connect(self.toggle_methods)

    def _lay_out(self) -> None:
        for hidden in (self.flipped, self.uncertainty, self.mass, self.stale, self.editor, self.beginning):
            hidden.hide()
        why = (heading("Explanation"), self.stale, self.explanation, self.editor, self.by, self.earlier)
        annotators = (self.annotators_heading, self.annotators)  # first: what the dataset says may be long
        human = (*annotators, heading("Human label"), self.human_badge, self.human, self.human_from)
        verdict = in_column(self.reason, self.bars, self.orders, STRETCH, spacing=5)
        self._why = in_column(*why, STRETCH, spacing=5)
        columns = ((verdict, 5), (self._why, 6), (in_column(*human, STRETCH, spacing=5), 5))
        self._parts = in_row(*columns, spacing=18)
        self.body = CardBody(self._parts)
        parts = (self._head(), (self.body, STRETCH), self.buttons)
        in_column(*parts, on=self, margins=(10, 4, 10, 6), spacing=6)

    def _head(self) -> QHBoxLayout:
        name(self.fold, "Fold the judgment to one line", "Fold the judgment to one line, or open it (F)")
        name(self.prompt, "Prompt of the model, key P", "The exact prompt of the model (P)")
        marks = QWidget()
        flow = FlowLayout(marks, gap=6, whole=True)
        pills, help_mark = (self.flipped, self.uncertainty, self.mass), HelpMark(Topic.UNCERTAINTY)
        for part in (self.badge, self.own, *pills, help_mark, self.each_method, self.prompt):
            flow.addWidget(part)
        return in_row((self.fold, Qt.AlignmentFlag.AlignTop), marks, (self.beginning, STRETCH), spacing=8)

    def show_judgment(self, shown: ReviewedJudgment) -> None:
        judgment = shown.judgment
        if judgment.key != self._key:
            self._key = judgment.key
            self.body.to_top()
        scored = judgment if isinstance(judgment, Judgment) else None
        self.badge.show_label(shown.label)
        self.badge.setVisible(not shown.hidden)
        # What the judge said where an annotator's label is effective.
        by_annotator = shown.override is not None and shown.override.preference is not None
        own, reason = None, ""
        if isinstance(judgment, Unscored):
            reason = HIDDEN if shown.hidden else f"{capitalised(judgment.reason)}."
        else:
            own = judgment.preference
        self.own.setText(f"The judge's own: {LABEL_WORDS[own]}" if by_annotator else "")
        show_text(self.reason, reason)
        self._parts.setStretch(0, 0 if isinstance(judgment, SubmittedLabel) else 5)
        for bars in (self.bars, self.orders):
            bars.setVisible(scored is not None)
        self.orders.show_raw_predictions(together(scored.raw_predictions) if scored else ())
        self.body.show_scored(scored)
        self._name_methods()
        self.bars.show_probabilities(scored.probabilities if scored else ())
        self._show_pills(scored, shown)
        self._show_explanation(shown)
        self._show_parts()
        self._show_human(shown)
        self.buttons.show_state(shown.label, shown.undo, shown.redo, shown.writing)

    def open_editor(self, text: str, draft: str | None) -> None:
        self.explanation.hide()
        self.editor.show()
        self._show_parts()
        self.editor.begin(text, draft)
        QTimer.singleShot(0, self.editor, self._keep_line_in_sight)  # once it has its place

    @Slot()
    def _keep_line_in_sight(self) -> None:
        # There may be less room than the editor needs: at least the line that is written in is seen.
        inside = self.body.widget()
        if self.editing and inside is not None and inside.isAncestorOf(self.editor):
            self.body.ensureWidgetVisible(self.editor)
            line = self.editor.field.cursorRect()
            place = self.editor.field.viewport().mapTo(inside, line.center())
            self.body.ensureVisible(place.x(), place.y(), 0, line.height())

    def take_editor_back(self) -> None:
        self._why.insertWidget(self._why.indexOf(self.explanation) + 1, self.editor)

    def close_editor(self) -> None:
        self.editor.hide()
        self.explanation.show()
        self._show_parts()
        self.body.to_top()

    @property
    def open(self) -> bool:
        return not self.body.isHidden()

    def set_folded(self, folded: bool) -> None:
        self.folded = folded
        self._show_parts()

    @Slot()
    def toggle_fold(self) -> None:
        self.set_folded(not self.folded)

    def _show_parts(self) -> None:
        shown = not self.folded or self.editing
        if shown != self.open:
            self.body.setVisible(shown)
            self.buttons.setVisible(shown)
            self.fold.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)
            self.body_shown.emit(shown)
        self.beginning.setVisible(not shown)
        self.own.setVisible(shown and bool(self.own.text()))
        self.mass.setVisible(bool(self.mass.text) and (shown or self._low_mass))

    def _name_methods(self) -> None:
        what = self.body.methods.title.text()
        self.each_method.setText("Judges" if self.body.methods.of_jury else "Methods")
        name(self.each_method, f"{what}, key W", f"{what} (W)")
        self.each_method.setVisible(self.has_methods)

    @property
    def has_methods(self) -> bool:
        """Whether each elicitation method is shown: there are several, or one says more than a label."""
        return not self.body.methods.isHidden()

    @Slot()
    def toggle_orders(self) -> None:
        shown = self.body.large.isHidden() or not self.open
        if shown:
            self.set_folded(False)
        self.body.large.setVisible(shown)
        self.body.to_top()

    @Slot()
    def toggle_methods(self) -> None:
        there = self.open and self.body.at_methods
        self.set_folded(False)
        self.methods_wanted.emit(self.has_methods and not there)
        if there:
            self.fold.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.body.to_top()
        else:
            self.body.go_to_methods()

    @property
    def editing(self) -> bool:
        return not self.editor.isHidden()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < self.fontMetrics().averageCharWidth() * _NARROW
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._parts.setDirection(direction)
        self.body.methods.set_narrow(narrow)
        self.buttons.set_narrow(narrow)

    def _show_pills(self, scored: Judgment | None, shown: ReviewedJudgment) -> None:
        self.uncertainty.setVisible(shown.uncertainty is not None)
        pill, tip = apart_in_words(scored) if scored is not None else ("", "")
        self.flipped.setVisible(bool(pill))
        mass = scored.answer_mass if scored is not None else None
        low = self._low_mass = mass is not None and mass < _LOW_MASS
        text = f"{'low ' * low}answer mass {percent(mass)}" if mass is not None else ""
        for part, said, kind, what in (
            (self.uncertainty, f"uncertainty {number(shown.uncertainty)}", "plain", _UNCERTAINTY),
            (self.flipped, pill, "warning", f"{tip} {MORE_BY_F1}"),
            (self.mass, text, "bad" if low else "plain", _MASS),
        ):
            part.say(said, kind)
            set_tip(part, what)

    def _show_explanation(self, shown: ReviewedJudgment) -> None:
        self.stale.setVisible(shown.stale)
        self.stale.say(stale_in_words(shown), "warning")
        own, text = _own_explanation(shown), shown.explanation
        cut = " (cut at the length limit)" if own is not None and own.cut and own.text == text else ""
        nothing = "No explanation." if shown.label else "No label, no explanation."
        nothing = _HIDDEN_PART if shown.hidden else nothing
        self.explanation.setText(visible(f"{text}{cut}" if text else nothing))
        self.beginning.setText(one_line(text or nothing))
        set_tip(self.beginning, text or "")
        show_text(self.by, by_whom(shown))
        set_tip(self.by, "\n".join(override_in_words(override) for override in shown.history))
        count = len(shown.history) - bool(shown.override)
        words = counted(count, "earlier change", "earlier changes")
        self.earlier.setText(f"{words}… (H)")
        name(self.earlier, f"{words}, key H", "Who changed what, and when (H)")
        self.earlier.setVisible(count > 0)

    def _show_human(self, shown: ReviewedJudgment) -> None:
        human = shown.human
        given = human.label if human else None
        self.human_badge.show_label(given)
        self.human_badge.setVisible(given is not None)
        text = (human.explanation if human else None) or ("" if given else "None known.")
        self.human.setText(visible(_HIDDEN_PART if shown.hidden else text))
        said = [(who, LABEL_WORDS[each]) for who, each in shown.annotators]
        show_text(self.annotators, ", ".join(f"{clipped(who)}: {each}" for who, each in said))
        self.annotators_heading.setVisible(bool(said))
        set_tip(self.annotators, "\n".join(f"{who}: {each}" for who, each in said))
        names = [one_line(path.name) for path in shown.human_from]
        source = f"of {names[0]}" if human and names else f"looked for in {' and '.join(names)}"
        show_text(self.human_from, source if names else "")
        set_tip(self.human_from, "\n".join(map(str, shown.human_from)))


def apart_in_words(judgment: Judgment) -> tuple[str, str]:
    """What is uncertain of who decided a judgment, in a pill, and what that means; both empty for nothing."""
    if judgment.judges_differ:
        return "⚖ judges differ", "The judges of the jury alone would give different labels."
    if judgment.judges_missing:
        decided, of = judgment.judges or 0, (judgment.judges or 0) + judgment.judges_missing
        gave_none = "The other judges of the jury gave no answer: each counts as equal probabilities"
        return f"⚖ {decided} of {of} judges", f"{gave_none} of the four labels."
    if judgment.flipped:
        return "⇄ flipped", "Position-inconsistent: the two orders alone would give different labels."
    return "", ""


def _own_explanation(shown: ReviewedJudgment) -> Explanation | None:
    judgment = shown.judgment
    return None if isinstance(judgment, Unscored) else judgment.explanation_for(shown.label)


def stale_in_words(shown: ReviewedJudgment) -> str:
    theirs, own = shown.override, _own_explanation(shown)
    written_for = own.preference if own else None
    if theirs is not None and theirs.explanation is not None:
        written_for = theirs.written_for
    said = "written for another label"
    return f"{said}: {LABEL_WORDS[written_for]}" if written_for else said


def by_whom(shown: ReviewedJudgment) -> str:
    """Who overrode what, in a line or two; what the model had written, where it is replaced."""
    lines = [f"{standing_in_words(shown.override)}."] if shown.override else []
    own = shown.judgment.explanation if not isinstance(shown.judgment, Unscored) else None
    if shown.override and shown.override.explanation and own:
        lines.append(f"The judge's own explanation: {own.text}")
    if shown.draft:
        lines.append(shown.draft)
    return visible("\n".join(lines))
