"""A run under way, and how it ended: progress, the items judged now, figures, the latest judgments."""

import math
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QProgressBar, QWidget

from engine.core.errors import EngineError
from engine.core.events import Drafted, GroupUnderWay, ItemJudged, LabelsRead, RunEnded, RunProgress
from engine.core.formatting import counted, duration, number, percent, visible, without_middle, words
from engine.core.health import Health, HealthVerdict
from engine.core.judgments import Judgment, JudgmentKey
from gui.judge.run_control import RunControl
from gui.models.model_jobs import Computing
from gui.widgets import labels
from gui.widgets.foreign_text import OneLine, one_line, tip
from gui.widgets.label_mark import LABEL_WORDS, label_icon
from gui.widgets.notice import IN_THE_WINDOW, problem_of
from gui.widgets.views import SORT_ROLE, FillingView, Head, HeadedModel, Index, dressed
from gui.workspace.state import PageName

_WORTH_TELLING = 1.5  # seconds that a group takes: faster ones would only flicker
_LONGEST_READ_ID = 40  # characters
_TAIL = 60  # characters of an explanation: its end is what is new


class GroupPanel(QWidget):
    """Hidden until a group takes longer than a moment; from then on until the run ends."""

    soon_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._what = OneLine()
        self._bar = QProgressBar(textVisible=False)
        self._bar.setMaximumHeight(6)
        labels.name(self._bar, "Tokens of the item that is read")
        self._draft = OneLine()
        self._loss = labels.hint("")
        named = "Stop after the items being judged"
        self._soon = labels.button("Stop after these items", self.soon_wanted.emit, named, "No work is lost.")
        end = labels.in_row((self._loss, labels.STRETCH), self._soon)
        labels.in_column(self._what, self._bar, self._draft, end, on=self, spacing=4)
        self.hide()

    def end(self) -> None:
        self._draft.setText("")
        self.hide()

    def show_group(self, group: GroupUnderWay, ending: bool) -> None:
        item = without_middle(one_line(group.item_id), _LONGEST_READ_ID)
        self._bar.setRange(0, max(group.total, 1))
        self._bar.setValue(group.done)
        if group.writing:
            what = f"Writing explanations: {group.done:,} of about {group.total:,} tokens"
        else:
            what = f"Reading item {item}: {group.done:,} of {group.total:,} tokens"
            self._draft.setText("")
        self._what.setText(what)
        self._bar.setAccessibleDescription(what)
        self._soon.setEnabled(not ending)
        self._loss.setText(visible(group.ending_in_words if ending else group.loss_in_words))
        if group.seconds >= _WORTH_TELLING:
            self.show()

    def show_draft(self, draft: Drafted) -> None:
        text = draft.text if len(draft.text) <= _TAIL else f"…{draft.text[-_TAIL:]}"
        label = LABEL_WORDS[draft.preference]
        self._draft.setText(f"{words(draft.criterion).capitalize()}, {label}: {one_line(text)}")


MOST_ROWS = 200
_Row = ItemJudged | LabelsRead
_BEFORE, _AFTER = (Head("Id"),), (Head("Flips", is_number=True),)


class LatestTableModel(HeadedModel):
    """One row for each item: its label on each criterion, how many of them the order flipped.

    Items that are read and not kept yet are at the top, in italics.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((*_BEFORE, *_AFTER), parent)
        self._criteria: tuple[str, ...] = ()
        self._rows: deque[ItemJudged] = deque(maxlen=MOST_ROWS)
        self._previews: list[LabelsRead] = []
        self._icons = {label: label_icon(label, QPalette()) for label in LABEL_WORDS}
        self._not_kept = QFont()
        self._not_kept.setItalic(True)

    def begin(self, criteria: Sequence[str]) -> None:
        with self._changing():
            self._criteria = tuple(criteria)
            self._heads = (*_BEFORE, *(Head(words(name).capitalize()) for name in criteria), *_AFTER)
            self._rows.clear()
            self._previews.clear()

    def use_palette(self, palette: QPalette) -> None:
        self._icons = {label: label_icon(label, palette) for label in LABEL_WORDS}

    def preview(self, events: Sequence[LabelsRead]) -> None:
        """Put items on top that are not kept yet, or show anew what is read of them."""
        for event in events:
            known = [each.position for each in self._previews]
            if event.position in known:
                place = known.index(event.position)
                self._previews[place] = event
                self._tell_changed(place, place)
            else:
                self.beginInsertRows(QModelIndex(), 0, 0)
                self._previews.insert(0, event)
                self.endInsertRows()

    def drop_previews(self, last: float = math.inf) -> None:
        for row in reversed(range(len(self._previews))):
            if self._previews[row].position <= last:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self._previews[row]
                self.endRemoveRows()

    def is_preview(self, row: int) -> bool:
        return row < len(self._previews)

    def add(self, events: Sequence[ItemJudged]) -> None:
        """Put items on top that are kept, the last first; of their group there are no previews then."""
        newest = events[-MOST_ROWS:]
        if not newest:
            return
        self.drop_previews(newest[-1].judged.position)
        left = MOST_ROWS - len(newest)
        if len(self._rows) > left:
            self.beginRemoveRows(QModelIndex(), left, len(self._rows) - 1)
            self._rows = deque(islice(self._rows, left), maxlen=MOST_ROWS)
            self.endRemoveRows()
        self.beginInsertRows(QModelIndex(), 0, len(newest) - 1)
        self._rows.extendleft(newest)
        self.endInsertRows()

    def item_id(self, row: int) -> str:
        return _item_id(self._event(row))

    def is_label(self, column: int) -> bool:
        return 0 <= column - len(_BEFORE) < len(self._criteria)

    def criterion(self, column: int) -> str:
        return self._criteria[column - len(_BEFORE) if self.is_label(column) else 0]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        event, place = self._event(index.row()), index.column() - len(_BEFORE)
        if role == Qt.ItemDataRole.FontRole:
            return self._not_kept if isinstance(event, LabelsRead) else None
        if 0 <= place < len(self._criteria):
            return self._label(event, place, role)
        if role in (Qt.ItemDataRole.DisplayRole, SORT_ROLE):
            return self._text(event, place)
        if role == Qt.ItemDataRole.ToolTipRole and place < 0:
            return tip(f"{_item_id(event)}\n{_how(event)}")
        return super().data(index, role)

    def _count_rows(self) -> int:
        return len(self._previews) + len(self._rows)

    def _event(self, row: int) -> _Row:
        kept = row - len(self._previews)
        return self._previews[row] if kept < 0 else self._rows[kept]

    def _text(self, event: _Row, place: int) -> str:
        if place < 0:
            return one_line(_item_id(event))
        if isinstance(event, LabelsRead):
            return "…"
        known = [judgment.flipped for judgment in event.judgments if isinstance(judgment, Judgment)]
        both_orders = [flipped for flipped in known if flipped is not None]
        return f"{sum(both_orders)} of {len(both_orders)}" if both_orders else "-"

    def _label(self, event: _Row, place: int, role: int) -> Any:
        judgment = event.judgments[place]
        preference = judgment.preference if isinstance(judgment, Judgment) else None
        if role in (Qt.ItemDataRole.DisplayRole, SORT_ROLE):
            return LABEL_WORDS[preference]
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icons[preference]
        return tip(_why(event, place)) if role == Qt.ItemDataRole.ToolTipRole else None


def _item_id(event: _Row) -> str:
    return event.item_id if isinstance(event, LabelsRead) else event.judged.item_id


def _how(event: _Row) -> str:
    if isinstance(event, ItemJudged):
        return f"judged in {number(event.judged.seconds, 1)} s"
    if event.whole:
        return "judged; stored once the explanations of its group are written"
    return "judged in one order of the responses; the other may change a label"


def _why(event: _Row, place: int) -> str:
    judgment = event.judgments[place]
    if not isinstance(judgment, Judgment):
        return f"{words(judgment.criterion)}: unscored, {judgment.reason}"
    shares = zip((each for each in LABEL_WORDS if each is not None), judgment.probabilities, strict=True)
    likely = ", ".join(f"{LABEL_WORDS[label]} {percent(share)}" for label, share in shares)
    flipped = "\nPosition-inconsistent: the two orders give different labels." if judgment.flipped else ""
    explanation = f"\n{judgment.explanation.text}" if judgment.explanation else ""
    return f"{words(judgment.criterion)}: {likely}{flipped}{explanation}"


_FIGURES = ("Judged", "Speed", "Unscored", "Elapsed", "Left", "Judged before")
_COLUMNS = 3
_FEWEST_ROWS = 4
_CLEAR_SHOWN = 4  # of what is clear, the latest
_PARTS = 1000  # of the progress bar; Qt's numbers end at two thousand million


class RunPanel(QWidget):
    """Hidden until the first run of the window."""

    item_wanted = Signal(object)  # a JudgmentKey
    page_wanted = Signal(object)  # a PageName

    def __init__(self, control: RunControl) -> None:
        super().__init__()
        self._control = control
        self._waiting: list[ItemJudged] = []
        self._previews: list[LabelsRead] = []
        self._dataset = ""
        self._seen: Health | None = None
        self._ended: tuple[RunEnded | EngineError | None, RunProgress | None] | None = None
        self._heading = OneLine(role="heading")  # it names a file
        self._note, self._computing, self._clear = labels.hint(""), labels.hint(""), labels.silent("")
        self._awake = labels.hint("The computer stays awake until it ends.")
        self._awake.hide()
        self.group = GroupPanel()
        self._bar = QProgressBar(textVisible=False)
        self._bar.setRange(0, _PARTS)
        labels.name(self._bar, "Items that are judged")
        self._result, self._health = labels.label(""), labels.label("", "warning")
        want, judged = self.page_wanted, "Review the judgments of this run"
        self._results = labels.button("Show results", lambda: want.emit(PageName.RESULTS))
        self._ranking = labels.button("Show ranking", lambda: want.emit(PageName.RANKING))
        review = labels.button("Review", lambda: want.emit(PageName.REVIEW), judged)
        self._buttons = labels.as_row(self._results, self._ranking, review, labels.STRETCH)
        self._grid = self._figures_grid()
        self.table = LatestTableModel(self)
        self.view = dressed(FillingView(), self.table, "Latest judgments")
        self.view.setToolTip("Double-click or Enter shows a judgment on the Review page.")
        self.view.activated.connect(self._ask_for_item)
        self._caption = labels.hint("Latest judgments")
        above = (self._heading, self._bar, self._grid, self.group, self._clear, self._note, self._computing)
        below = (self._awake, self._health, self._result, self._buttons)
        parts = (labels.panel(*above, *below), self._caption, (self.view, labels.STRETCH))
        labels.in_column(*parts, on=self, spacing=10)
        control.judged.connect(self.add)
        control.health_seen.connect(self.show_health)
        control.told.connect(self.preview)
        self.group.soon_wanted.connect(control.stop_soon)
        self.restyle()
        self.hide()

    def begin(self, criteria: Sequence[str], dataset: str, ranks: bool = False) -> None:
        """`ranks`: the dataset names candidates."""
        self._dataset = dataset
        self._seen = self._ended = None
        self._waiting.clear()
        self._previews.clear()
        self.group.end()
        self.table.begin(criteria)
        self._ranking.setVisible(ranks)
        self.restyle()
        for widget in (self._result, self._clear, self._health, self._buttons):
            widget.hide()
        self._bar.setRange(0, 0)
        for widget in (self._bar, self._grid, self):
            widget.show()

    def add(self, event: ItemJudged) -> None:
        # Keep an item until the next `follow`, so that many at once cost little.
        self._waiting.append(event)

    def preview(self, event: LabelsRead | Drafted) -> None:
        if isinstance(event, Drafted):
            self.group.show_draft(event)
        else:
            self._previews.append(event)

    def follow(self, progress: RunProgress | None) -> None:
        """Show how far the run is; None before it has begun."""
        self.table.preview(self._previews)
        self.table.add(self._waiting)
        self._previews.clear()
        self._waiting.clear()
        in_italics = "; in italics: not stored yet" if self.table.is_preview(0) else ""
        self._caption.setText(f"Latest judgments{in_italics}")
        labels.show_text(self._note, self._control.note)
        labels.show_text(self._clear, visible(_clear(self._control.clear)))
        self._grid.setVisible(progress is not None)
        # A GPU that computes is named, and as long as the run is shown, why one does not any more.
        computing = self._control.computing if progress is not None else Computing()
        on = f"Computes on: {computing.device}" if computing.device else ""
        labels.show_text(self._computing, computing.remark or on)
        labels.set_role(self._computing, "warning" if computing.remark else "hint")
        if progress is None:
            self._heading.setText("Run")
            return
        self._heading.setText(f"Run {progress.run_id} of {one_line(self._dataset)}")
        self._bar.setRange(0, _PARTS)
        self._bar.setValue(int(_PARTS * progress.judged / progress.items))
        speed, left = progress.tokens_per_second, progress.left
        texts = (
            f"{progress.judged:,} of {progress.items:,}",
            "-" if speed is None else f"{speed:,.0f} tokens/s",
            f"{progress.unscored:,}",
            clock(progress.elapsed),
            "-" if left is None else f"about {duration(left)}",
            f"{progress.judged_before:,}",
        )
        for caption, text in zip(_FIGURES, texts, strict=True):
            self._figures[caption].setText(text)
        for widget in self._before:
            widget.setVisible(progress.judged_before > 0)
        labels.set_role(self._figures["Unscored"], "warning" if progress.unscored else "")
        self._bar.setAccessibleDescription(f"{progress.judged} of {progress.items}")
        if progress.group is not None:
            self.group.show_group(progress.group, self._control.ending)

    def show_awake(self, awake: bool) -> None:
        self._awake.setVisible(awake)

    def end(self, how: RunEnded | EngineError | None, progress: RunProgress | None) -> None:
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
        # How the run ended: a success only where the model is known to have judged.
        if self._ended is None:
            return
        (how, progress), seen = self._ended, self._seen
        role, text = "warning", _ending(how, progress)
        if isinstance(how, RunEnded) and not how.stopped:
            role = "good" if seen is not None and seen.enough else ""
            if seen is not None and seen.doubted:
                role, text = self._health_role, f"{text} {seen.in_short}"
        self._result.setText(visible(text))
        labels.set_role(self._result, role)

    def show_health(self, health: Health) -> None:
        self._seen = health
        self._health.setText(visible("\n".join(health.sentences(IN_THE_WINDOW.of))))
        self._health.setVisible(health.doubted)
        labels.set_role(self._health, self._health_role)
        self._show_ending()

    @property
    def _health_role(self) -> str:
        bad = self._seen is not None and self._seen.verdict is HealthVerdict.DOES_NOT_JUDGE
        return "bad" if bad else "warning"

    def offer_results(self, offered: bool) -> None:
        """`offered`: the page has no such button already."""
        self._results.setVisible(offered)

    def restyle(self) -> None:
        self.table.use_palette(QGuiApplication.palette())
        row, font = self.view.verticalHeader().defaultSectionSize(), self.view.fontMetrics()
        self.view.setMinimumHeight(self.view.horizontalHeader().sizeHint().height() + _FEWEST_ROWS * row)
        self.view.setIconSize(QSize(font.height(), font.height()))
        # No column narrower than its title and its texts; an id may be long and is cut.
        label = font.horizontalAdvance("both good") + font.height() + 12
        least = {column: self.view.title_width(column) for column in range(self.table.columnCount())}
        least[0] = max(least[0], font.horizontalAdvance("0000") + 8)
        self.view.fill({each: max(width, label * self.table.is_label(each)) for each, width in least.items()})

    def _figures_grid(self) -> QWidget:
        self._figures: dict[str, QLabel] = {}
        widget = QWidget()
        grid = QGridLayout(widget)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        for place, caption in enumerate(_FIGURES):
            row, column = 2 * (place // _COLUMNS), place % _COLUMNS
            self._figures[caption] = labels.label("-", wrap=False)
            above = labels.hint(caption, wrap=False)
            grid.addWidget(above, row, column)
            grid.addWidget(self._figures[caption], row + 1, column)
            grid.setColumnStretch(column, 1)
        self._before = (above, self._figures[caption])  # the last one
        return widget

    def _ask_for_item(self, index: QModelIndex) -> None:
        if not self.table.is_preview(index.row()):  # else the store does not hold it yet
            criterion = self.table.criterion(index.column())
            self.item_wanted.emit(JudgmentKey(self.table.item_id(index.row()), criterion))


def clock(seconds: float) -> str:
    """`0:32`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _clear(said: Sequence[str]) -> str:
    lines = [f"Resolved: {one_line(each)}." for each in said[-_CLEAR_SHOWN:]]
    if before := len(said) - len(lines):
        lines.insert(0, f"Resolved earlier: {counted(before, 'answer', 'answers')}.")
    return "\n".join(lines)


def _ending(how: RunEnded | EngineError | None, progress: RunProgress | None) -> str:
    kept = f"{progress.judged:,} of {progress.items:,} items are judged" if progress else ""
    if isinstance(how, EngineError):
        problem, _ = problem_of(how)
        return f"The run could not continue: {problem} {kept} and saved." if kept else problem
    if how is None or progress is None:
        return "The run was stopped before it began."
    left = f"{how.open:,} of {counted(how.asked, 'answer is', 'answers are')} open" if how.open else ""
    if how.stopped:
        saved = f"{kept} and saved{f'; {left}' if left else ''}"
        return f"Run {how.run_id} was stopped: {saved}. Resume continues from there."
    judgments = counted(progress.unscored, "judgment", "judgments")
    unscored = f", {judgments} unscored" if progress.unscored else ""
    if progress.judged < progress.items:
        why = f"{left}, and no remaining item could resolve more" if left else "everything is resolved"
        seen = f"Run {how.run_id} stopped early: {why}: {kept}{unscored}"
        return f"{seen}, in {clock(progress.elapsed)}. Run it to the end to judge the rest."
    why = f" {left}: no item is left that could resolve more." if left else ""
    return f"Run {how.run_id} is complete: {kept}{unscored}, in {clock(progress.elapsed)}.{why}"
