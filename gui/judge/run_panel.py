"""A run under way, and how it ended: progress, figures, the latest judgments.

Knows: how progress is worded. Does not know: how a run is started.
"""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSize, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QPushButton, QWidget

from engine.core.errors import EngineError
from engine.core.events import Drafted, ItemJudged, LabelsRead, RunEnded, RunProgress
from engine.core.formatting import counted, duration, visible
from engine.core.health import Health, HealthVerdict
from engine.core.judgments import JudgmentKey
from gui.judge.group_panel import GroupPanel, LatestTableModel
from gui.judge.run_control import RunControl
from gui.models.model_jobs import Computing
from gui.widgets.foreign_text import OneLine, one_line
from gui.widgets.labels import (
    STRETCH,
    hint,
    in_column,
    in_row,
    label,
    name,
    panel,
    set_role,
    show_text,
    shown_text,
)
from gui.widgets.notice import IN_THE_WINDOW, problem_of
from gui.widgets.views import FillingView, dressed

_FIGURES = ("Judged", "Speed", "Unscored", "Elapsed", "Left", "Before")
_COLUMNS = 3
_FEWEST_ROWS = 4
_LONGEST_ID = 12  # characters
_CLEAR_SHOWN = 4  # of what is clear, the latest
_PARTS = 1000  # of the progress bar; Qt's numbers end at two thousand million


class RunPanel(QWidget):
    """Hidden until the first run of the window."""

    results_wanted = Signal()
    review_wanted = Signal()
    item_wanted = Signal(object)  # a JudgmentKey

    def __init__(self, control: RunControl) -> None:
        super().__init__()
        self._control = control
        self._waiting: list[ItemJudged] = []
        self._previews: list[LabelsRead] = []
        self._longest_id = 0
        self._dataset = ""
        self._seen: Health | None = None
        self._ended: tuple[RunEnded | EngineError | None, RunProgress | None] | None = None
        self._heading = OneLine(role="heading")  # it names a file
        self._note = hint("")
        self._clear = label("")
        self._clear.hide()
        self._awake = hint("The computer stays awake until it ends.")
        self._awake.hide()
        self._computing = hint("")
        self.group = GroupPanel()
        self._bar = QProgressBar(textVisible=False)
        self._bar.setRange(0, _PARTS)
        name(self._bar, "Items that are judged")
        self._result = label("")
        self._health = label("", "warning")
        self._buttons = QWidget()
        self._add_buttons()
        self._grid = self._figures_grid()
        self.table = LatestTableModel(self)
        self.view = dressed(FillingView(), self.table, "Latest judgments")
        self.view.setToolTip("Double-click or Enter shows a judgment on the Review page.")
        self.view.activated.connect(self._ask_for_item)
        self._caption = hint("Latest judgments")
        self._lay_out()
        control.judged.connect(self.add)
        control.health_seen.connect(self.show_health)
        control.told.connect(self.preview)
        self.group.soon_wanted.connect(control.stop_soon)
        self.restyle()
        self.hide()

    def _lay_out(self) -> None:
        in_column(
            panel(
                self._heading,
                self._bar,
                self._grid,
                self.group,
                self._clear,
                self._note,
                self._computing,
                self._awake,
                self._health,
                self._result,
                self._buttons,
            ),
            self._caption,
            (self.view, STRETCH),
            on=self,
            spacing=10,
        )

    def _add_buttons(self) -> None:
        self._results = QPushButton("Show results")
        self._results.clicked.connect(self.results_wanted)
        self._review = QPushButton("Review")
        name(self._review, "Review the judgments of this run")
        self._review.clicked.connect(self.review_wanted)
        in_row(self._results, self._review, STRETCH, on=self._buttons)

    @property
    def text(self) -> str:
        """What it says of the run, for screen readers and tests."""
        return shown_text(self)

    def begin(self, criteria: Sequence[str], dataset: str) -> None:
        """A run has started; `dataset`: what it judges, in words."""
        self._dataset = dataset
        self._seen = self._ended = None
        self._waiting.clear()
        self._previews.clear()
        self.group.end()
        self._longest_id = 0
        self.table.begin(criteria)
        self.restyle()
        self._result.hide()
        self._clear.hide()
        self._health.hide()
        self._buttons.hide()
        self._bar.show()
        self._grid.show()
        self._bar.setRange(0, 0)
        self.show()

    @Slot(object)
    def add(self, event: ItemJudged) -> None:
        """Keep an item until the next `follow`, so that many at once cost little."""
        self._waiting.append(event)

    @Slot(object)
    def preview(self, event: LabelsRead | Drafted) -> None:
        """Show what is judged now and not kept yet."""
        if isinstance(event, Drafted):
            self.group.show_draft(event)
        else:
            self._previews.append(event)

    def follow(self, progress: RunProgress | None) -> None:
        """Show how far the run is; None before it has begun."""
        note = self._control.note
        self._show_latest()
        show_text(self._note, note)
        show_text(self._clear, visible(_clear(self._control.clear)))
        self._grid.setVisible(progress is not None)
        self._show_computing(self._control.computing if progress is not None else Computing())
        if progress is None:
            self._heading.setText("Run")
            return
        self._heading.setText(f"Run {progress.run_id} of {one_line(self._dataset)}")
        self._bar.setRange(0, _PARTS)
        self._bar.setValue(int(_PARTS * progress.judged / progress.items))
        speed, left = progress.tokens_per_second, progress.left
        for caption, text in (
            ("Judged", f"{progress.judged:,} of {progress.items:,}"),
            ("Speed", "-" if speed is None else f"{speed:,.0f} tokens/s"),
            ("Unscored", f"{progress.unscored:,}"),
            ("Elapsed", clock(progress.elapsed)),
            ("Left", "-" if left is None else f"about {duration(left)}"),
            ("Before", f"{progress.judged_before:,}"),
        ):
            self._figures[caption].setText(text)
        for widget in self._before:
            widget.setVisible(progress.judged_before > 0)
        set_role(self._figures["Unscored"], "warning" if progress.unscored else "")
        self._bar.setAccessibleDescription(f"{progress.judged} of {progress.items}")
        if progress.group is not None:
            self.group.show_group(progress.group, self._control.ending)

    def _show_computing(self, computing: Computing) -> None:
        """Name a GPU that computes, and say as long as the run is shown why one does not any more."""
        on = f"Computes on: {computing.device}" if computing.device else ""
        show_text(self._computing, computing.remark or on)
        set_role(self._computing, "warning" if computing.remark else "hint")

    def show_awake(self, awake: bool) -> None:
        """Say that the computer is kept awake."""
        self._awake.setVisible(awake)

    def _show_latest(self) -> None:
        """Show what was heard since the last time."""
        self.table.preview(self._previews)
        self.table.add(self._waiting)
        longest = max(
            (
                *(len(event.judged.item_id) for event in self._waiting),
                *(len(event.item_id) for event in self._previews),
            ),
            default=0,
        )
        self._previews.clear()
        if longest > self._longest_id:
            self._longest_id = longest
            self._fit_columns()
        self._waiting.clear()
        in_italics = "; in italics: not stored yet" if self.table.is_preview(0) else ""
        self._caption.setText(f"Latest judgments{in_italics}")

    def end(self, how: RunEnded | EngineError | None, progress: RunProgress | None) -> None:
        """The run has ended: say how, and what can be done with it."""
        self.follow(progress)
        self.table.drop_previews()
        self.group.end()
        self._bar.setRange(0, _PARTS)
        self._bar.setVisible(progress is not None)
        self._ended = how, progress
        self._show_ending()
        self._result.show()
        self._buttons.setVisible(progress is not None and progress.judged > 0)

    def _show_ending(self) -> None:
        """How the run ended: a success only where the model is known to have judged."""
        if self._ended is None:
            return
        how, progress = self._ended
        complete = isinstance(how, RunEnded) and not how.stopped
        role, text = "warning", _ending(how, progress)
        if complete and self._seen is not None and self._seen.doubted:
            role, text = self._health_role, f"{text} {self._seen.in_short}"
        elif complete:
            role = "good" if self._seen is not None and self._seen.enough else ""
        self._result.setText(visible(text))
        set_role(self._result, role)

    @Slot(object)
    def show_health(self, health: Health) -> None:
        """Say what speaks against the model, if anything does."""
        self._seen = health
        self._health.setText(visible("\n".join(health.sentences(IN_THE_WINDOW.of))))
        self._health.setVisible(health.doubted)
        set_role(self._health, self._health_role)
        self._show_ending()

    @property
    def _health_role(self) -> str:
        bad = self._seen is not None and self._seen.verdict is HealthVerdict.DOES_NOT_JUDGE
        return "bad" if bad else "warning"

    def offer_results(self, offered: bool) -> None:
        """Show the button that leads to the results, or not where the page has one already."""
        self._results.setVisible(offered)

    def restyle(self) -> None:
        """Follow new colours or another text size."""
        self.table.use_palette(QGuiApplication.palette())
        row = self.view.verticalHeader().defaultSectionSize()
        height = self.view.horizontalHeader().sizeHint().height() + _FEWEST_ROWS * row
        self.view.setMinimumHeight(height)
        side = self.view.fontMetrics().height()
        self.view.setIconSize(QSize(side, side))
        self._fit_columns()

    def _fit_columns(self) -> None:
        """No column narrower than its title and its texts; an id may be long and is cut."""
        label = self.view.fontMetrics().horizontalAdvance("both good") + self.view.iconSize().width() + 12
        least = {}
        for column in range(self.table.columnCount()):
            wanted = self.view.title_width(column)
            if self.table.is_label(column):
                least[column] = max(wanted, label)
            else:
                ids = min(self._longest_id, _LONGEST_ID) * self.view.fontMetrics().averageCharWidth() + 14
                self.view.setColumnWidth(column, wanted if column else max(wanted, ids))
        self.view.fill(least)

    def _figures_grid(self) -> QWidget:
        self._figures: dict[str, QLabel] = {}
        self._before: list[QWidget] = []
        widget = QWidget()
        grid = QGridLayout(widget)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        for place, caption in enumerate(_FIGURES):
            row, column = 2 * (place // _COLUMNS), place % _COLUMNS
            self._figures[caption] = label("-", wrap=False)
            words = hint("Judged before" if caption == "Before" else caption, wrap=False)
            grid.addWidget(words, row, column)
            grid.addWidget(self._figures[caption], row + 1, column)
            grid.setColumnStretch(column, 1)
            if caption == "Before":
                self._before = [words, self._figures[caption]]
        return widget

    @Slot(QModelIndex)
    def _ask_for_item(self, index: QModelIndex) -> None:
        if self.table.is_preview(index.row()):
            return  # the store does not hold it yet
        criterion = self.table.criterion(index.column())
        self.item_wanted.emit(JudgmentKey(self.table.item_id(index.row()), criterion))


def clock(seconds: float) -> str:
    """`0:32`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _clear(said: Sequence[str]) -> str:
    """The latest of what is clear, a line each, and how many were before."""
    lines = [f"Resolved: {one_line(each)}." for each in said[-_CLEAR_SHOWN:]]
    before = len(said) - len(lines)
    return "\n".join(
        [f"Resolved earlier: {counted(before, 'answer', 'answers')}.", *lines] if before else lines
    )


def _ending(how: RunEnded | EngineError | None, progress: RunProgress | None) -> str:
    kept = f"{progress.judged:,} of {progress.items:,} items are judged" if progress else ""
    if isinstance(how, EngineError):
        problem, _ = problem_of(how)
        return f"The run could not continue: {problem} {kept} and saved." if kept else problem
    if how is None or progress is None:
        return "The run was stopped before it began."
    if how.stopped:
        return f"Run {how.run_id} was stopped: {kept} and saved. Resume continues from there."
    judgments = counted(progress.unscored, "judgment", "judgments")
    unscored = f", {judgments} unscored" if progress.unscored else ""
    if progress.judged < progress.items:
        why = "everything is resolved" if how.clear else "no remaining item could resolve more"
        seen = f"Run {how.run_id} stopped early: {why}: {kept}{unscored}"
        return f"{seen}, in {clock(progress.elapsed)}. Run it to the end to judge the rest."
    return f"Run {how.run_id} is complete: {kept}{unscored}, in {clock(progress.elapsed)}."
