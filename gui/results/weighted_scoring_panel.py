"""Weighted scoring: a weight for each criterion, and what follows from them at once, in numbers and bars."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLabel, QSizePolicy, QWidget

from engine.annotations.records import Filters, WantedItems
from engine.core.errors import EngineError, SetupError
from engine.core.formatting import SCORE, counted, interval, number, percent, visible, words
from engine.core.items import HumanLabel, Preference, Tie
from engine.core.rubric import ELOQUENT
from engine.settings.identity import StoredRun
from gui.results import run_weights, score_jobs
from gui.results.calibration_panel import show_proposal
from gui.widgets import labels
from gui.widgets.actions import MenuButton, add_entry
from gui.widgets.fields import DoubleSpinBox, FlowLayout, Slider
from gui.widgets.glossary import Topic, headed
from gui.widgets.label_mark import paint_share
from gui.widgets.labels import STRETCH, Painted
from gui.widgets.notice import problem_of
from gui.widgets.theme import Colours, colours
from gui.widgets.views import TableModel, measure_view
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.metrics.matching import System

_EQUAL = 1.0
_STEPS = 10  # of a slider in one point
_FIT = "Find the weights that best explain the overall label; criteria with a weight of 0 are not in the fit"
_WHAT = (
    f"Each response gets a score on each criterion: {SCORE}. The weighted sums decide the winner; a"
    " difference up to the tie threshold is a tie."
)


class _NumberField(DoubleSpinBox):
    """Shows a number with two digits behind the point, or as many more as a small one needs."""

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "f", run_weights.digits_of(value))


class WeightControl(QObject):
    """A number from 0 to `highest`: a `slider` in steps of 0.1 and a `field` that takes finer ones, in step.
    It stays what it is, however it is shown, until the user changes it.
    """

    changed = Signal()

    def __init__(self, what: str, highest: float, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.slider = Slider(Qt.Orientation.Horizontal, maximum=round(highest * _STEPS), pageStep=_STEPS)
        labels.name(self.slider, what)
        self.value = 0.0
        digits = run_weights.MOST_DIGITS
        self.field = _NumberField(decimals=digits, maximum=highest, singleStep=1 / _STEPS)
        labels.name(self.field, f"{what}, as a number")
        self.slider.valueChanged.connect(self._take_slider)
        self.field.valueChanged.connect(self._take_field)

    @property
    def _shown(self) -> float:
        return round(self.value, run_weights.digits_of(self.value))

    def set_value(self, value: float) -> None:
        self.value = min(max(value, self.field.minimum()), self.field.maximum())
        with QSignalBlocker(self.field):
            self.field.setValue(self._shown)
        self._show_in_slider()

    def _show_in_slider(self) -> None:
        with QSignalBlocker(self.slider):
            self.slider.setValue(round(self.value * _STEPS))

    def _take_slider(self, steps: int) -> None:
        self.set_value(steps / _STEPS)
        self.changed.emit()

    def _take_field(self, value: float) -> None:
        if value == self._shown:  # Enter alone changes nothing
            return
        self.value = value  # the field is not filled again under the hand that writes in it
        self._show_in_slider()
        self.changed.emit()


class WeightedScoringPanel(QWidget):
    """Follows its sliders: a change made while the last one is still decided is decided right after it."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.weights = run_weights.RunWeights(workspace.state)
        self._run: StoredRun | None = None  # whose weights are set
        self._default = run_weights.default_request(ELOQUENT)
        self._source, self._fit = self._default.source, self._default.fit
        self._basis: score_jobs.Basis | None = None
        self.proposal: score_jobs.Fitted | None = None
        self._again = False
        self.controls: dict[str, WeightControl] = {}
        self._shares: dict[str, QLabel] = {}
        self._wanted_words = ""
        threads, failed, follow = workspace.threads, workspace.failures, self._follow_fitting
        short, long = ThreadName.FILES, ThreadName.MEASURE  # sliders are followed at once, behind no measure
        self._weighing = TaskPanel(threads, short, self, self._take, failed=self._tell)
        self._finding = TaskPanel(threads, short, self, self._list_items, failed=failed)
        self._fitting = TaskPanel(threads, long, self, self._propose, failed=failed, changed=follow)
        self._halves = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._halves.setContentsMargins(0, 0, 0, 0)
        self._halves.setSpacing(10)
        self._halves.addWidget(self._build_controls(), 1)
        self._halves.addWidget(self._build_decisions(), 1)
        self._follow_fitting()
        self._show_criteria(ELOQUENT.names)
        self._show_request(self._default)

    # What it is about

    @property
    def request(self) -> run_weights.WeightsChoice:
        weights = {criterion: control.value for criterion, control in self.controls.items()}
        return run_weights.WeightsChoice(weights, self.threshold.value, self._source, self._fit)

    def show_run(self, system: "System | None", gold: "Dataset | None") -> None:
        """Decide another run with its own weights, or the same one with other labels; nothing for None."""
        if system is None or system.results is None:
            self._change_basis(None)
            self._show_nothing("")
            return
        before, shown, run = self._basis, self._run, system.results.run
        if before is not None and before.system is system and before.gold is gold:
            return
        self._change_basis(score_jobs.Basis(system, gold))
        if shown is None or (shown.id, shown.created) != (run.id, run.created):
            if tuple(self.controls) != tuple(system.criteria):
                self._show_criteria(system.criteria)
            self._run, self._default = run, run_weights.default_request(run.identity.asked)
            self._show_request(self.weights.of(run))
        self._decide()

    def _change_basis(self, basis: score_jobs.Basis | None) -> None:
        # What is under way is for another run or other labels.
        self._basis, self._again = basis, False
        for task in (self._fitting, self._weighing, self._finding):
            task.drop()
        self._propose(None)
        self._follow_fitting()

    def equal_weights(self) -> None:
        equal = dict.fromkeys(self.controls, _EQUAL)
        self._set(replace(self.request, weights=equal, source=run_weights.BY_HAND))

    def save_as(self, name: str) -> None:
        self._keep(self.weights.save(name, self.request))

    def apply_saved(self, name: str) -> None:
        """Decide this run by what was saved under a name; what it does not name is as by default."""
        saved = self.weights.saved.get(name)
        if saved is not None:
            self._set(replace(saved, weights={**self._default.weights, **saved.weights}))

    def fit_weights(self) -> None:
        if self._basis is not None and not self._fitting.busy:
            self._fitting.start(score_jobs.fit(self._basis, self.request))

    # Deciding

    def _changed(self) -> None:
        self._workspace.stay()
        self._keep(replace(self.request, source=run_weights.BY_HAND))
        self._decide()

    def _keep(self, request: run_weights.WeightsChoice) -> None:
        """Remember what is set, and say where it comes from; the rubric's own by hand is the default."""
        default = self._default
        own = {name: default.weights.get(name, _EQUAL) for name in self.controls}
        alike = (request.weights, request.tie_threshold) == (own, default.tie_threshold)
        origin = default if alike and request.source == run_weights.BY_HAND else request
        self._source, self._fit = origin.source, origin.fit
        total = sum(request.weights.values())
        for criterion, shown in self._shares.items():
            shown.setText(percent(request.weights[criterion] / total if total else None))
        self.source.setText(visible(f"Weights and tie threshold of this run: {self._source}."))
        if self._run is not None:
            self.weights.keep(self._run, self.request)
        self._follow_proposal()

    def _decide(self) -> None:
        if self._basis is not None:
            self._again = self._weighing.busy
            if not self._again:
                self._weighing.start(score_jobs.weigh(self._basis, self.request))

    def _go_on(self) -> None:
        if self._again:
            self._decide()

    def _take(self, weighed: score_jobs.WeightedResult) -> None:
        for chart in (self.rates, self.margins):
            chart.show_weighed(weighed)
        text = counted(weighed.comparisons, "comparison", "comparisons")
        lacking = f" {counted(weighed.left_out, 'item', 'items')} omitted: a judgment is missing."
        text = f"{text}, mean margin {number(weighed.mean_margin)} points."
        self.summary.setText(f"{text}{lacking if weighed.left_out else ''}")
        labels.show_text(self.caveats, "\n".join(weighed.caveats))
        if weighed.agreement:
            self._agreement.show_table(weighed.agreement)
        self._agreement_view.setVisible(weighed.agreement is not None)
        self._go_on()

    def _tell(self, error: EngineError) -> None:
        if isinstance(error, SetupError):
            self._show_nothing(visible(" ".join(problem_of(error))))
        else:
            self._workspace.problem.emit(error)
        self._go_on()

    def _show_nothing(self, text: str) -> None:
        for chart in (self.rates, self.margins):
            chart.show_weighed(None)
        self.summary.setText(text)
        for part in (self.caveats, self._agreement_view):
            part.hide()

    # Fitting

    def _follow_fitting(self) -> None:
        # Not disabled meanwhile: the focus would jump elsewhere.
        self.fit_button.setEnabled(self._basis is not None and self._basis.gold is not None)
        self.fit_button.setText("Fitting …" if self._fitting.busy else "Fi&t weights to human labels")

    def _propose(self, fitted: score_jobs.Fitted | None) -> None:
        self.proposal = fitted
        self._proposed.setVisible(fitted is not None)
        if fitted is not None:
            self._fit_table.show_table(fitted.quality)
            self._weight_table.show_table(fitted.weights)
            self._fit_note.setText(fitted.note)
            self._follow_proposal()

    def _follow_proposal(self) -> None:
        if self.proposal is not None and self._run is not None:
            now, fitted, source = self.request, self.proposal.request, self.proposal.source
            applied = (now.weights, now.tie_threshold) == (fitted.weights, fitted.tie_threshold)
            show_proposal(self._proposed_line, self.apply_button, source, self._run.in_short, applied)

    def apply_fit(self) -> None:
        if self.proposal is not None:
            self._set(self.proposal.request)

    def _set(self, request: run_weights.WeightsChoice) -> None:
        self._show_request(request)
        self._decide()

    def _show_request(self, request: run_weights.WeightsChoice) -> None:
        for criterion, weight in request.weights.items():
            if criterion in self.controls:
                self.controls[criterion].set_value(weight)
        self.threshold.set_value(request.tie_threshold)
        self._keep(replace(self.request, source=request.source, fit=request.fit))

    # Items

    def _find_winner(self, winner: str) -> None:
        self._find("tie" if winner == "tie" else f"{winner} wins", winner)

    def _find_margins(self, low: float, high: float) -> None:
        self._find(f"margin from {low:g} to {high:g} points", None, (low, high))

    def _find(self, what: str, winner: str | None, margins: tuple[float, float] | None = None) -> None:
        if self._basis is not None:
            self._wanted_words = f"{what} by weighted scoring"
            job = score_jobs.decided_items(self._basis, self.request, winner, margins)
            self._finding.start(job)

    def _list_items(self, ids: frozenset[str]) -> None:
        results = self._basis.system.results if self._basis else None
        if results is not None:
            self._workspace.show_in_review(WantedItems(results.run.id, Filters(ids=ids), self._wanted_words))

    # Showing

    def _build_controls(self) -> QWidget:
        self._rows = QGridLayout()
        self._rows.setColumnStretch(1, 1)
        self._rows.setVerticalSpacing(6)
        self.threshold = WeightControl("Tie threshold", score_jobs.HIGHEST_MARGIN, self)
        self.threshold.changed.connect(self._changed)
        same, fit = "Give all criteria the same weight", "Fit weights to human labels"
        self.equal_button = labels.button("E&qual weights", self.equal_weights, "Equal weights", same)
        self.fit_button = labels.button(fit, self.fit_weights, fit, _FIT)
        self._fit_table = TableModel(self)
        self._fit_view = measure_view(self._fit_table, "Quality of the fitted weights")
        self._weight_table = TableModel(self)
        self._weight_view = measure_view(self._weight_table, "The fitted weights with their ranges")
        self._fit_note = labels.hint("")
        self._proposed_line = labels.label("")
        self.apply_button = labels.button("Appl&y", self.apply_fit)
        proposal = (self._proposed_line, labels.in_row(self.apply_button, STRETCH))
        fitted = (self._weight_view, self._fit_note, self._fit_view)
        self._proposed = labels.as_column(*proposal, *fitted, spacing=6)
        self._proposed.hide()
        self.source = labels.hint("")
        self.saved = run_weights.SavedWeights(self.weights, self.save_as, self.apply_saved, self)
        saved = (self.saved.save_button, self.saved.apply_button)
        buttons = FlowLayout(self.equal_button, self.fit_button, *saved)
        above = (headed("Weights", Topic.WEIGHTS), labels.hint(_WHAT), self.source, self._rows, buttons)
        self._controls = labels.panel(*above, self._proposed, STRETCH)
        return self._controls

    def _build_decisions(self) -> QWidget:
        self._agreement = TableModel(self)
        self._agreement_view = measure_view(self._agreement, "Agreement with the human overall label")
        self._agreement_view.hide()
        self.caveats = labels.silent("warning")
        self.rates, self.margins = WinBars(), MarginChart()
        self.rates.wanted.connect(self._find_winner)
        self.margins.wanted.connect(self._find_margins)
        self.summary = labels.label("", "hint")
        above = (headed("Decisions", Topic.TIE_THRESHOLD), self.caveats, self.rates, self._items_button())
        self._decided = labels.panel(*above, self.summary, self.margins, self._agreement_view, STRETCH)
        return self._decided

    def _items_button(self) -> MenuButton:
        # What a click on a bar does, for those who use no mouse.
        self.items_button = MenuButton("Show in Review")
        shown = "Show the items of a winner or a margin in Review"
        labels.name(self.items_button, shown, "Clicking a bar also shows its items")
        for winner, text in (("A", "&A wins"), ("tie", "&Tie"), ("B", "&B wins")):
            add_entry(self.items_button.menu(), text, partial(self._find_winner, winner))
        self._margins_menu = self.items_button.menu().addMenu("By &margin")
        self._margins_menu.aboutToShow.connect(self._fill_margins)
        return self.items_button

    def _fill_margins(self) -> None:
        self._margins_menu.clear()
        for low, high, count in self.margins.bars():
            items = counted(count, "comparison", "comparisons")
            text = f"{low:g} to {high:g} points: {items}"
            add_entry(self._margins_menu, text, partial(self._find_margins, low, high))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        parent = self.parentWidget()
        room = parent.width() if parent else self.width()
        needed = sum(half.minimumSizeHint().width() for half in (self._controls, self._decided))
        fits = needed + self._halves.spacing() <= room
        sides = QBoxLayout.Direction
        self._halves.setDirection(sides.LeftToRight if fits else sides.TopToBottom)

    def _show_criteria(self, criteria: tuple[str, ...]) -> None:
        kept = (self.threshold.slider, self.threshold.field)
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None and widget not in kept:
                widget.deleteLater()
        for control in self.controls.values():
            control.deleteLater()
        self.controls, self._shares = {}, {}
        for row, criterion in enumerate(criteria):
            control = WeightControl(f"Weight of {words(criterion)}", run_weights.HIGHEST_WEIGHT, self)
            control.changed.connect(self._changed)
            self.controls[criterion] = control
            self._shares[criterion] = labels.hint("")
            self._add_row(row, words(criterion).capitalize(), control, self._shares[criterion])
        self._add_row(len(criteria), "Tie threshold", self.threshold, labels.hint("points"))

    def _add_row(self, row: int, text: str, control: WeightControl, after: QLabel) -> None:
        after.setWordWrap(False)
        after.setMinimumWidth(self.fontMetrics().horizontalAdvance("100.0 %"))
        after.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for column, part in enumerate((labels.label(text, wrap=False), control.slider, control.field, after)):
            self._rows.addWidget(part, row, column)


_PATTERNS = {
    Preference.A: Qt.BrushStyle.NoBrush,
    Tie.TIE: Qt.BrushStyle.Dense6Pattern,
    Preference.B: Qt.BrushStyle.BDiagPattern,
}
_TICKS = (0.0, 2.5, 5.0, 7.5, 10.0)
_BIN = score_jobs.HIGHEST_MARGIN / score_jobs.MARGIN_BINS  # points


def _across(place: QRectF, margin: float) -> float:
    return place.left() + place.width() * margin / score_jobs.HIGHEST_MARGIN


def _paint_part(painter: QPainter, place: QRectF, winner: HumanLabel, used: Colours) -> None:
    # Of B striped, of ties dotted, for those who do not tell the colours apart.
    painter.fillRect(place, QColor(used.of_label(winner)))
    painter.fillRect(place, QBrush(QColor(used.panel), _PATTERNS[winner]))


class WinBars(Painted):
    """One bar cut by the shares of A, tie and B, with the numbers and their 95 % intervals above it."""

    wanted = Signal(str)  # the winner whose items are asked for: `A`, `tie` or `B`

    def __init__(self) -> None:
        super().__init__()
        self.show_weighed(None)

    def show_weighed(self, weighed: score_jobs.WeightedResult | None) -> None:
        self._weighed = weighed
        shares = [
            f"{word} {percent(share)}{f' ({interval(ends, 100)})' if ends else ''}"
            for word, (share, ends), _ in self._parts()
        ]
        self.setAccessibleName(f"Win rates: {', '.join(shares) or 'none'}")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, 2 * self.line + max(14, self.line))

    def minimumSizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance("A wins 100.0 %   tie 100.0 %   B wins 100.0 %")
        return QSize(width, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, used, line = QPainter(self), colours(self.palette()), self.line
        bar = QRectF(0, 2 * line, self.width(), self.height() - 2 * line)
        painter.fillRect(bar, QColor(used.hover))
        left = 0.0
        aligned = (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight)
        for (word, (share, ends), winner), side in zip(self._parts(), aligned, strict=False):
            width = self.width() * share
            if share:
                paint_share(painter, QRectF(left, bar.top(), width, bar.height()), winner, self.palette())
            left += width
            above = int(side | Qt.AlignmentFlag.AlignTop)
            painter.setPen(self.palette().windowText().color())
            painter.drawText(QRectF(0, 0, self.width(), line), above, f"{word} {percent(share)}")
            painter.setPen(QColor(used.muted))
            painter.drawText(QRectF(0, line, self.width(), line), above, interval(ends, 100) if ends else "")
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        x = event.position().x() / max(1, self.width())
        for _word, (share, _ends), winner in self._parts():
            if 0 <= x < share:
                self.wanted.emit(winner.value)
                return
            x -= share

    def _parts(self) -> list[tuple[str, score_jobs.Share, HumanLabel]]:
        rates = self._weighed.rates if self._weighed else {}
        winners = (("A wins", Preference.A), ("tie", Tie.TIE), ("B wins", Preference.B))
        return [(word, rates[winner.value], winner) for word, winner in winners if rates]


class MarginChart(Painted):
    """A histogram of the margins in score points, by winner, and the tie threshold."""

    wanted = Signal(float, float)  # margins between which items are asked for

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.show_weighed(None)

    def show_weighed(self, weighed: score_jobs.WeightedResult | None) -> None:
        self._weighed, self._bins, text = weighed, weighed.bins if weighed else (), ""
        if weighed:
            counts = [f"{count:,} from {low:g}" for low, _, count in self.bars()]
            text = f": mean {number(weighed.mean_margin)} points; comparisons by margin: {', '.join(counts)}"
        self.setAccessibleName(f"Margins{text}")
        self.update()

    def bars(self) -> list[tuple[float, float, int]]:
        ends = ((place * _BIN, (place + 1) * _BIN, sum(each)) for place, each in enumerate(self._bins))
        return [bar for bar in ends if bar[2]]

    def sizeHint(self) -> QSize:
        return QSize(320, 13 * self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 8 * self.fontMetrics().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, used, place = QPainter(self), colours(self.palette()), self._place()
        highest = max(map(sum, self._bins), default=0)
        self._draw_axes(painter, place, used, highest)
        self._draw_bars(painter, place, used, highest)
        if self._weighed:
            self._draw_threshold(painter, place, used, self._weighed.tie_threshold)
        painter.end()

    def _place(self) -> QRectF:
        side, line = self.fontMetrics().horizontalAdvance("00,000") + 6, self.fontMetrics().height()
        return QRectF(side, line, self.width() - side - 12, self.height() - 4.8 * line)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        # Anywhere above a bar: a low one could hardly be met.
        place = self._place()
        number_of_bin = int(
            (event.position().x() - place.left()) * score_jobs.MARGIN_BINS / max(1.0, place.width())
        )
        there = place.contains(event.position()) and number_of_bin < len(self._bins)
        if there and any(self._bins[number_of_bin]):
            self.wanted.emit(number_of_bin * _BIN, (number_of_bin + 1) * _BIN)

    def _draw_axes(self, painter: QPainter, place: QRectF, used: Colours, highest: int) -> None:
        height, middle = self.fontMetrics().height(), int(Qt.AlignmentFlag.AlignHCenter)
        painter.setPen(QColor(used.border))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        painter.setPen(QColor(used.muted))
        for value in _TICKS:
            room = QRectF(_across(place, value) - 40, place.bottom() + 3, 80, height)
            painter.drawText(room, middle, f"{value:g}")
        below = QRectF(place.left(), place.bottom() + height + 3, place.width(), height)
        painter.drawText(below, middle, "margin (score points)")
        self._draw_legend(painter, below.translated(0, 1.3 * height), used)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if highest:
            top = QRectF(0, place.top() - height / 2, place.left() - 6, height)
            painter.drawText(top, right, f"{highest:,}")
        painter.drawText(QRectF(0, place.bottom() - height / 2, place.left() - 6, height), right, "0")

    def _draw_legend(self, painter: QPainter, line: QRectF, used: Colours) -> None:
        left, side = line.left(), 0.8 * line.height()
        for winner, word in ((Tie.TIE, "tie"), (Preference.A, "A wins"), (Preference.B, "B wins")):
            _paint_part(painter, QRectF(left, line.top() + 0.1 * line.height(), 2 * side, side), winner, used)
            left += 2.5 * side
            painter.drawText(QRectF(left, line.top(), line.right() - left, line.height()), word)
            left += self.fontMetrics().horizontalAdvance(word) + 2 * side

    def _draw_bars(self, painter: QPainter, place: QRectF, used: Colours, highest: int) -> None:
        width = place.width() / score_jobs.MARGIN_BINS
        for number_of_bin, (a, b, tie) in enumerate(self._bins):
            left, bottom = place.left() + number_of_bin * width, place.bottom()
            for count, winner in ((tie, Tie.TIE), (a, Preference.A), (b, Preference.B)):
                height = place.height() * count / max(1, highest)
                if count:
                    _paint_part(painter, QRectF(left + 1, bottom - height, width - 2, height), winner, used)
                bottom -= height

    def _draw_threshold(self, painter: QPainter, place: QRectF, used: Colours, threshold: float) -> None:
        x = _across(place, min(threshold, score_jobs.HIGHEST_MARGIN))
        painter.setPen(QPen(QColor(used.warning), 2, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()))
        painter.setPen(QColor(used.warning))
        height = self.fontMetrics().height()
        room = QRectF(x + 6, place.top() - height, place.right() - x, height)
        side = Qt.AlignmentFlag.AlignLeft
        if threshold > 0.7 * score_jobs.HIGHEST_MARGIN:
            room.setCoords(place.left(), room.top(), x - 6, room.bottom())
            side = Qt.AlignmentFlag.AlignRight
        painter.drawText(room, int(side), f"tie up to {threshold:g}")
