"""One judgment: the effective label, what the model said in each order and by each elicitation method, the
explanations, the human label. Folded it is one line, so that the texts have the page.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QScrollArea, QToolButton, QWidget

from engine.core.formatting import capitalised, clipped, counted, number, percent, visible
from engine.core.items import PREFERENCES, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, Judgment, RawPrediction, SubmittedLabel, Unscored
from engine.core.methods import among, mean_grade, raw_prediction_of, together
from engine.settings.identity import NOT_LABELLED
from gui.review.criterion_strip import ExplanationEditor, OverrideButtons, compact_button
from gui.review.session import ReviewedJudgment, override_in_words, standing_in_words
from gui.widgets.fields import FlowLayout, Fold
from gui.widgets.foreign_text import OneLine, one_line, plain_label, set_tip
from gui.widgets.glossary import MORE_BY_F1, HelpMark, Topic
from gui.widgets.label_mark import LABEL_WORDS, LabelBadge, Pill, ProbabilityBars, paint_share
from gui.widgets.labels import STRETCH, Painted, as_column, heading, hint, in_column, in_row, name, show_text
from gui.widgets.text_views import TextPane
from gui.widgets.theme import colours

ORDER_NAMES = {Order.AB: "A shown first", Order.BA: "B shown first"}
_UNREAD = "not used"
_OF_ALL = "all methods"
_GAP = 8
_LEAST_LINES, _MOST_LINES = 2, 6  # of a reasoning sample, before it is scrolled
_YES = 0
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


def own_shares(reading: RawPrediction) -> dict[Preference, float]:
    """The probabilities (summing to 1) of the four labels of the item's own A and B, by label."""
    highest = max(reading.log_probs)
    weights = [math.exp(value - highest) for value in reading.log_probs]
    seen = {label: weight / sum(weights) for label, weight in zip(PREFERENCES, weights, strict=True)}
    return seen if reading.order is Order.AB else {label: seen[label.swapped] for label in PREFERENCES}


def likeliest(shares: Mapping[Preference, float], between: str = " ") -> str:
    best = max(shares, key=shares.__getitem__)
    return f"{LABEL_WORDS[best]}{between}{percent(shares[best])}"


class OrderBars(Painted):
    def __init__(self) -> None:
        super().__init__()
        self._lines: list[tuple[str, dict[Preference, float], str]] = []

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
        read = {reading.order: reading for reading in raw_predictions}
        orders = sorted(Order, key=lambda order: order not in read) if read else []
        self.show_lines("Orders", {ORDER_NAMES[order]: read.get(order) for order in orders})

    def show_lines(self, what: str, lines: Mapping[str, RawPrediction | None]) -> None:
        self._lines, texts = [], []
        for caption, reading in lines.items():
            shares = own_shares(reading) if reading is not None else {}
            self._lines.append((caption, shares, likeliest(shares) if shares else _UNREAD))
            said = (f"{LABEL_WORDS[label]} {percent(share)}" for label, share in shares.items())
            texts.append(f"{caption}: {', '.join(said) or _UNREAD}")
        text = "\n".join(texts)
        self.setAccessibleName(f"{what}: {text or 'none'}")
        set_tip(self, text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, len(self._lines) * self.line)

    def minimumSizeHint(self) -> QSize:
        first, last = self._widths()
        return QSize(first + last + 2 * _GAP + 40, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, used = QPainter(self), colours(self.palette())
        (first, last), line = self._widths(), self.line
        room = max(10, self.width() - first - last - 2 * _GAP)
        centred = int(Qt.AlignmentFlag.AlignVCenter)
        for row, (caption, shares, best) in enumerate(self._lines):
            painter.setPen(QColor(used.muted))
            painter.drawText(QRectF(0, row * line, first, line), centred, caption)
            left = float(first + _GAP)
            for label, share in shares.items():
                place = QRectF(left, row * line + line * 0.22, room * share, line * 0.56)
                paint_share(painter, place, label, self.palette())
                left += room * share
            painter.setPen(self.palette().text().color() if shares else QColor(used.muted))
            right = QRectF(self.width() - last, row * line, last, line)
            painter.drawText(right, centred | int(Qt.AlignmentFlag.AlignRight), best)
        painter.end()

    def _widths(self) -> tuple[int, int]:
        width = self.fontMetrics().horizontalAdvance
        names, _, bests = zip(*self._lines, strict=True) if self._lines else ([""], [], [""])
        return max(map(width, names)), max(map(width, bests))


class OrdersView(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._columns = []
        for _ in range(3):
            title, words, bars = heading(""), hint(""), ProbabilityBars()
            column = as_column(title, bars, words, STRETCH, spacing=3)
            self._columns.append((column, title, words, bars))
        in_row(*((column, 1) for column, *_ in self._columns), on=self, spacing=24)

    def show_raw_predictions(
        self, raw_predictions: Sequence[RawPrediction], together: Sequence[float], panel: bool = False
    ) -> None:
        shown = [(ORDER_NAMES[reading.order], own_shares(reading)) for reading in raw_predictions]
        if together:
            of_orders = "Both orders" if len(raw_predictions) > 1 else "Only this order was used"
            shares = dict(zip(PREFERENCES, together, strict=True))
            shown.append(("All judges" if panel else of_orders, shares))
        for place, (column, title, words, bars) in enumerate(self._columns):
            column.setVisible(place < len(shown))
            text, shares = shown[place] if place < len(shown) else ("", {})
            title.setText(text)
            words.setText(f"Likeliest: {likeliest(shares, ', ')}" if shares else "")
            bars.show_probabilities(tuple(shares.values()))

    @property
    def titles(self) -> Sequence[str]:
        return [title.text() for column, title, _, _ in self._columns if not column.isHidden()]


class MethodsView(QWidget):
    """A column for each order, with a bar for each method; in words what these leave out; reasoning."""

    def __init__(self) -> None:
        super().__init__()
        self.of_jury = False  # whether these are judges of a jury, and their methods
        self.bars = {order: OrderBars() for order in Order}
        self._columns = {
            order: as_column(hint(ORDER_NAMES[order]), bars, spacing=2) for order, bars in self.bars.items()
        }
        self._beside = in_row(*((column, 1) for column in self._columns.values()), spacing=24)
        self.title, self.words = heading(""), plain_label()
        self.reasoning_samples = ReasoningView()
        parts = (self.title, self._beside, self.words, self.reasoning_samples)
        in_column(*parts, on=self, margins=(0, 4, 0, 0), spacing=4)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    @property
    def default_height(self) -> int:
        samples, height = self.reasoning_samples, self.sizeHint().height()
        inside = samples.sizeHint().height() - samples.fold.button_height
        return height if samples.isHidden() else height - inside

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
        read = [reading for reading in raw_predictions if not reading.label_alone]
        reasons = any(reading.method is Method.CHAIN_OF_THOUGHT for reading in read)
        panel = self.of_jury = any(reading.judge for reading in raw_predictions)
        named = tuple(dict.fromkeys(map(_said_by, read)))
        words = "\n".join((*said_of_each(read), *_labels_alone(raw_predictions)))
        show_text(self.words, words)
        self.reasoning_samples.show_raw_predictions(raw_predictions)
        several = len(named) > 1
        self.setVisible(several or bool(words) or reasons)
        both = {reading.order: reading for reading in together(read)} if several else {}
        said = []
        for order, bars in self.bars.items():
            own = {_said_by(reading): reading for reading in read if reading.order is order}
            of_all = {_OF_ALL: both[order]} if order in both else {}
            bars.show_lines(ORDER_NAMES[order], of_all | {each: own.get(each) for each in named})
            shown = (several or panel) and bool(own)
            self._columns[order].setVisible(shown)
            said += [bars.accessibleName()] if shown else []
        title = f"Raw predictions by {'judge' if panel else 'elicitation method'}"
        self.title.setText(title)
        self.setAccessibleName(title)
        self.setAccessibleDescription(f"{'; '.join(said)}; {words}".replace("\n", ", "))

    def set_narrow(self, narrow: bool) -> None:
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._beside.setDirection(direction)


class ReasoningView(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._reasoning_samples: Sequence[tuple[Order, AnswerLogProbs]] = ()
        self._shown: Sequence[tuple[Order, AnswerLogProbs]] = ()
        self._column = QWidget()
        self._inside = in_column(on=self._column, margins=(18, 0, 0, 0), spacing=8)
        self.fold = Fold("", self._column)
        self.fold.opened.connect(self._fill)
        in_column(self.fold, on=self)

    @property
    def panes(self) -> Sequence[TextPane]:
        return [] if self._column.isHidden() else self._column.findChildren(TextPane)

    def show_raw_predictions(self, raw_predictions: Sequence[RawPrediction]) -> None:
        self._reasoning_samples = tuple(
            (reading.order, answer)
            for reading in raw_predictions
            if reading.method is Method.CHAIN_OF_THOUGHT
            for answer in reading.answers
        )
        cut = sum(answer.cut for _, answer in self._reasoning_samples)
        at_limit = f", {cut} cut at the length limit" if cut else ""
        self.fold.set_title(f"Reasoning ({len(self._reasoning_samples)}{at_limit})")
        self.setVisible(bool(self._reasoning_samples))
        if self.fold.open:
            self._fill()

    def _fill(self) -> None:
        if self._shown == self._reasoning_samples:
            return
        self._shown = self._reasoning_samples
        for pane in self._column.findChildren(TextPane):
            pane.setParent(None)  # now, else it would be counted among the new ones
            pane.deleteLater()
        for order in Order:
            own = [answer for shown_first, answer in self._reasoning_samples if shown_first is order]
            for place, answer in enumerate(own, start=1):
                said = likeliest(own_shares(raw_prediction_of(Method.CHAIN_OF_THOUGHT, order, [answer])))
                cut = "; cut at the length limit" if answer.cut else ""
                pane = TextPane(f"{ORDER_NAMES[order]}, reasoning sample {place} of {len(own)}")
                pane.show_text(answer.thought or "(nothing was written)", f"then answers {said}{cut}")
                lines = min(_MOST_LINES, max(_LEAST_LINES, 1 + len(answer.thought) // 60))
                pane.view.setFixedHeight(pane.view.fontMetrics().lineSpacing() * lines + 20)
                self._inside.addWidget(pane)


def said_of_each(raw_predictions: Sequence[RawPrediction]) -> Iterator[str]:
    """A sentence for each method that asks of each response: its mean over the orders."""
    yes, grade = (lambda answer: math.exp(among(answer)[_YES])), "mean grade, 1 to 5"
    for method, what, value, words in (
        (Method.POINTWISE_YES_NO, "probability of “yes”", yes, percent),
        (Method.POINTWISE_GRADE, grade, mean_grade, "{:.2f}".format),
    ):
        # Of the item's own A, and of its B: the model calls A what it sees first.
        own = [
            reading.answers if reading.order is Order.AB else reading.answers[::-1]
            for reading in raw_predictions
            if reading.method is method and reading.answers
        ]
        if own:
            a, b = (fmean(value(pair[place]) for pair in own) for place in (0, 1))
            orders = ", mean of both orders" if len(own) > 1 else ""
            yield f"{method.title.capitalize()}, {what}: A {words(a)}, B {words(b)}{orders}."


def _labels_alone(raw_predictions: Sequence[RawPrediction]) -> Iterator[str]:
    for reading in raw_predictions:
        if reading.label_alone:
            shares = own_shares(reading)
            label = max(shares, key=shares.__getitem__)
            yield (
                f"Judge {reading.judge} has only a label here: {LABEL_WORDS[label]}, which counts with a"
                f" confidence of {percent(shares[label])}."
            )


def _said_by(reading: RawPrediction) -> str:
    return f"judge {reading.judge}, {reading.method.title}" if reading.judge else reading.method.title


class CardBody(QScrollArea):
    def __init__(self, columns: QBoxLayout) -> None:
        super().__init__()
        self.large = OrdersView()
        self.large.hide()
        self.methods = MethodsView()
        inside = as_column(self.large, (columns, STRETCH), self.methods, role="content")
        self.setWidgetResizable(True)
        self.setWidget(inside)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        name(self, "The judgment in full: Up and Down scroll")
        samples = self.methods.reasoning_samples
        samples.fold.opened.connect(lambda: self._scroll_to(samples))

    def sizeHint(self) -> QSize:
        methods = 0 if self.methods.isHidden() else self.methods.default_height
        return QSize(super().sizeHint().width(), 6 * (self.fontMetrics().height() + 3) + 8 + methods)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, 2 * self.fontMetrics().lineSpacing())

    def show_scored(self, scored: Judgment | None) -> None:
        raw_predictions = scored.raw_predictions if scored else ()
        panel = any(reading.judge for reading in raw_predictions)
        shares = scored.probabilities if scored else ()
        self.large.show_raw_predictions(together(raw_predictions), shares, panel)
        self.methods.show_raw_predictions(raw_predictions)
        self.updateGeometry()  # what is in it does not tell

    def to_top(self) -> None:
        self.verticalScrollBar().setValue(0)

    @property
    def at_methods(self) -> bool:
        focused = self.window().focusWidget()
        return self.methods.hasFocus() or (focused is not None and self.methods.isAncestorOf(focused))

    def go_to_methods(self) -> None:
        self.methods.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._scroll_to(self.methods)

    def _scroll_to(self, part: QWidget) -> None:
        QTimer.singleShot(0, part, partial(self._scroll, part))  # once it is known what is shown

    def _scroll(self, part: QWidget) -> None:
        inside = self.widget()
        if inside is not None:
            # Layouts within layouts take their time: its place is wanted now.
            for widget in (*reversed(inside.findChildren(QWidget)), inside):
                layout = widget.layout()
                if layout is not None:
                    layout.activate()
            QCoreApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))
            self.verticalScrollBar().setValue(part.mapTo(inside, QPoint(0, 0)).y())


class JudgmentCard(QFrame):
    body_shown = Signal(bool)  # the body appears (True) or vanishes; others have not their new sizes yet
    methods_wanted = Signal(bool)  # an annotator goes to what each method said (True), or back
    prompt_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._key: object = None
        self._low_mass = self.folded = False
        self.fold = QToolButton(autoRaise=True, arrowType=Qt.ArrowType.DownArrow)
        self.badge, self.own = LabelBadge(big=True), hint("", wrap=False)
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
        pills, help_mark = (self.flipped, self.uncertainty, self.mass), HelpMark(Topic.UNCERTAINTY)
        parts = (self.badge, self.own, *pills, help_mark, self.each_method, self.prompt)
        FlowLayout(*parts, on=marks, whole=True)
        return in_row((self.fold, Qt.AlignmentFlag.AlignTop), marks, (self.beginning, STRETCH), spacing=8)

    def show_judgment(self, shown: ReviewedJudgment) -> None:
        judgment = shown.judgment
        if judgment.key != self._key:
            self._key = judgment.key
            self.body.to_top()
        scored = judgment if isinstance(judgment, Judgment) else None
        self.badge.show_label(shown.label)
        by_hand = isinstance(judgment, Unscored) and judgment.reason == NOT_LABELLED  # there is no judge
        self.badge.setVisible(shown.label is not None or not (shown.hidden or by_hand))
        # What the judge said where an annotator's label is effective.
        by_annotator = shown.override is not None and shown.override.preference is not None
        own, reason = None, ""
        if isinstance(judgment, Unscored):
            said = "" if by_hand and shown.label is not None else f"{capitalised(judgment.reason)}."
            reason = shown.why_hidden or said
        else:
            own = judgment.preference
        self.own.setText(f"The judge's own: {LABEL_WORDS[own]}" if by_annotator and not by_hand else "")
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
        closed = shown.writing or (shown.hidden and shown.label is None)
        self.buttons.show_state(shown.label, shown.undo, closed)

    def open_editor(self, text: str, draft: str | None) -> None:
        self.explanation.hide()
        self.editor.show()
        self._show_parts()
        self.editor.begin(text, draft)
        QTimer.singleShot(0, self.editor, self._keep_line_in_sight)  # once it has its place

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

    def toggle_orders(self) -> None:
        shown = self.body.large.isHidden() or not self.open
        if shown:
            self.set_folded(False)
        self.body.large.setVisible(shown)
        self.body.to_top()

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
        own, text = shown.own_explanation, shown.explanation
        cut = " (cut at the length limit)" if own is not None and own.cut and own.text == text else ""
        nothing = "No explanation." if shown.label else "No label, no explanation."
        nothing = _HIDDEN_PART if shown.hidden and shown.label is None else nothing
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


def stale_in_words(shown: ReviewedJudgment) -> str:
    theirs, own = shown.override, shown.own_explanation
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
