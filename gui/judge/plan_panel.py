"""What a run would take, before it starts: raw predictions, tokens, memory, time, what does not fit.

Knows: what helps where something does not fit. Does not know: how a plan is made or worded.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from engine.core.errors import EngineError
from engine.core.events import FilesRead, MeasureProgress, Preparing
from engine.core.formatting import short_name, visible
from engine.core.run_setup import RunSetup
from gui.judge.model_table import FIT_ROLES
from gui.judge.run_jobs import Planned
from gui.kit.busy import BusyLine
from gui.kit.foreign_text import OneLine, set_tip
from gui.kit.labels import heading, hint, label, name, panel, show_text, shown_text
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.kit.notice import Notice
from gui.kit.pill import Pill
from gui.kit.value_table import sentence_case


class PlanPanel(QWidget):
    """Shows that a plan is being made, the plan, or why there is none."""

    again_wanted = Signal()
    cancelled = Signal()
    time_wanted = Signal()
    context_wanted = Signal(object)  # tokens
    shorten_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._context: int | None = None
        self._busy = BusyLine()
        self._busy.cancelled.connect(self.cancelled)
        self._problem = Notice()
        self._again = QPushButton("Try again")
        name(self._again, "Plan again")
        self._again.clicked.connect(self.again_wanted)
        self._hint = hint("")
        self._notices = label("")
        self._notices.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._outcomes = (self._problem, self._again, self._hint)  # why there is no plan
        self._subject = OneLine()  # what is planned
        self._make_buttons()
        top = in_row(heading("Plan"), (self._subject, STRETCH))
        shown = (self._hint, self._busy, self._problem, self._facts(), self._notices)
        in_column(panel(top, *shown, (self._again, Qt.AlignmentFlag.AlignLeft)), on=self)
        self.show_nothing("")

    @property
    def text(self) -> str:
        """All that it says, for screen readers and tests."""
        return shown_text(self)

    def show_nothing(self, why: str) -> None:
        """There is no plan; `why` says what is missing."""
        self._reset()
        self._subject.setText("")
        show_text(self._hint, why)

    def begin(self, setup: RunSetup) -> None:
        """A plan of this follows: no figure of another one is shown, and its rows keep their places."""
        self._subject.setText(short_name(setup.dataset_in_words))
        for value in self._values.values():
            value.setText("…")
            value.setToolTip("")
        for widget in (*self._outcomes, self._notices, *self._buttons):
            widget.hide()
        self._busy.begin("A plan follows …")

    def show_work(self, event: Preparing | FilesRead | MeasureProgress) -> None:
        """Show how far the making of a plan is, or the timing of what is planned."""
        if not self._busy.isVisibleTo(self):
            for widget in self._outcomes:
                widget.hide()
            self._busy.begin("")
        if isinstance(event, MeasureProgress):
            text = f"Counting tokens: {event.done:,} of {event.total:,} items"
            self._busy.go_on(text, event.done, event.total)
        elif isinstance(event, Preparing):
            self._busy.go_on(f"{event.what} …")

    def show_error(self, error: EngineError) -> None:
        """Say why there is no plan."""
        self._reset()
        self._problem.show_error(error)
        self._again.show()

    def show_stopped(self) -> None:
        """The making of the plan was cancelled."""
        self.show_nothing("The plan is not complete. A run can start without it.")
        self._again.show()

    def show_plan(self, planned: Planned) -> None:
        """Show a plan."""
        self._reset()
        forecast = planned.forecast
        for fact, text in planned.facts.pairs:
            self._say(sentence_case(fact), text)
        on, remark = planned.computing.on, planned.computing.remark
        self._say("Computes on", f"{on}. {remark}" if remark else on)
        self._say("Time", forecast.time_in_words)
        self._fit.say(str(planned.fit), FIT_ROLES[str(planned.fit)])
        self._fit.show()
        untimed = (forecast.seconds is None or forecast.seconds_of_file) and not forecast.complete
        self._time_button.setVisible(untimed and len(forecast.too_long) < forecast.items)
        self._offer_room(planned)
        show_text(self._notices, "\n".join(f"• {visible(notice)}" for notice in planned.notices))
        self._table.show()

    def _offer_room(self, planned: Planned) -> None:
        """Offer what helps items that do not fit."""
        lost, shortened = planned.forecast.too_long, planned.forecast.shortened
        if not lost and not shortened:
            return
        set_tip(self._values["Too long"], ", ".join((*lost, *shortened)))
        self._context = planned.forecast.context_that_fits_all
        if self._context is not None:
            self._context_button.setText(f"Use a context of {self._context:,}")
            self._context_button.show()
        self._shorten_button.setVisible(bool(lost) and not planned.setup.shorten)

    def _make_buttons(self) -> None:
        self._fit = Pill()
        self._time_button = QPushButton("Time some items")
        name(
            self._time_button,
            "Judge some items to know the time",
            "Judges four items of typical length (two if that takes minutes) and stores nothing.",
        )
        self._time_button.clicked.connect(self.time_wanted)
        self._context_button = QPushButton("")
        self._context_button.clicked.connect(lambda: self.context_wanted.emit(self._context))
        self._shorten_button = QPushButton("Shorten them")
        name(
            self._shorten_button,
            "Shorten the items that do not fit",
            "Omits the middle of their responses; the run records it.",
        )
        self._shorten_button.clicked.connect(self.shorten_wanted)
        self._buttons = (self._fit, self._time_button, self._context_button, self._shorten_button)

    def _facts(self) -> QWidget:
        self._captions: dict[str, QLabel] = {}
        self._values: dict[str, QLabel] = {}
        self._table = QWidget()
        grid = QGridLayout(self._table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(6)
        grid.setHorizontalSpacing(14)
        grid.setColumnStretch(1, 1)
        rows: Sequence[tuple[str, Sequence[QWidget]]] = (
            ("In the store", ()),
            ("Raw predictions", ()),
            ("Too long", ()),
            ("", (self._context_button, self._shorten_button)),
            ("Tokens", ()),
            ("Elicitation methods", ()),
            ("Memory", (self._fit,)),
            ("Computes on", ()),
            ("Time", (self._time_button,)),
        )
        for row, (caption, beside) in enumerate(rows):
            grid.addLayout(_line(beside, self._value(caption)), row, 1)
            if caption:
                grid.addWidget(self._captions[caption], row, 0, Qt.AlignmentFlag.AlignTop)
        return self._table

    def _value(self, caption: str) -> QLabel | None:
        if not caption:
            return None
        self._captions[caption] = hint(caption, wrap=False)
        self._values[caption] = label("")
        self._values[caption].setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return self._values[caption]

    def _say(self, caption: str, text: str) -> None:
        self._values[caption].setText(visible(text))
        self._values[caption].setToolTip("")
        self._values[caption].show()
        self._captions[caption].show()

    def _reset(self) -> None:
        self._busy.end()
        for widget in (
            *self._outcomes,
            *self._buttons,
            self._notices,
            self._table,
            *self._values.values(),
            *self._captions.values(),
        ):
            widget.hide()


def _line(widgets: Sequence[QWidget], value: QLabel | None) -> QHBoxLayout:
    beside = [(widget, Qt.AlignmentFlag.AlignVCenter) for widget in widgets]
    if value is None:
        return in_row(*beside, STRETCH, spacing=8)
    return in_row((value, STRETCH), *beside, spacing=8)
