"""The page on which a person looks at judgments one by one, and overrides those that are wrong.

Knows: which parts there are and how a choice in one shows in the others. Does not know: how judgments are
made, stored, put in order or changed.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine.core.items import Preference
from gui.kit.labels import name
from gui.review.item_reading import ItemReading, Marking
from gui.review.judge_again import JudgeAgain
from gui.review.judgment_desk import JudgmentDesk
from gui.review.notices import MissingDataset, NothingToReview, PartOfRun
from gui.review.review_list import ReviewList
from gui.work.outdated_line import OutdatedLine
from gui.work.page import Page
from gui.work.page_name import PageName
from gui.work.page_splitter import PageSplitter
from gui.work.rewriter import Rewriter
from gui.work.run_picker import RunPicker
from gui.work.workspace import Workspace

_CHOSEN = "review/chosen"
_LAYOUTS = ("across", "down", "texts", "responses")
_MARKINGS = (
    (Marking.NOTHING, "No highlight"),
    (Marking.DIFFERENCES, "Differences"),
    (Marking.SHARED, "Shared words"),
)
_PAUSE_MS = 1000  # without a key, after which letters are keys of the page again
_LABEL_KEYS = {"A": Preference.A, "B": Preference.B, "G": Preference.BOTH_GOOD, "X": Preference.BOTH_BAD}


class ReviewPage(Page):
    """Items at the left; texts and judgments of the chosen one at the right."""

    NAME = PageName.REVIEW
    KEYS: ClassVar[Sequence[tuple[str, str]]] = (
        ("J, K", "Next, previous item"),
        ("1 to 5", "Criterion"),
        ("A, B", "Override the label with A, with B"),
        ("G, X", "Override the label with both good, both bad"),
        ("U", "Take the last override of this judgment back"),
        ("E", "Write another explanation: Ctrl+Enter saves, Esc leaves"),
        ("M", "Markdown or plain text"),
        ("D", "Highlight differences, shared words, nothing"),
        ("/", "Search: Enter or Down goes to the list, Esc empties the search"),
        ("Ctrl+J", "Judge this item again, alone or with another model (also: right click in the list)"),
        ("Ctrl+Shift+J", "Judge all listed items"),
    )

    def __init__(self, workspace: Workspace, rewriter: Rewriter, parent: QWidget | None = None) -> None:
        super().__init__(workspace, parent)
        self.outdated = OutdatedLine(rewriter, across=False)
        self._stale = True
        self._run_id: int | None = None
        self._item_id = ""
        self._wanted_criterion = ""
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self.list = ReviewList(workspace)
        self.list.kept = self._item_in_writing
        self.part = PartOfRun(workspace)
        self.missing = MissingDataset(workspace)
        self.nothing = NothingToReview(workspace)
        self.reading = ItemReading(workspace.threads)
        self.desk = JudgmentDesk(workspace)
        self.judge_again = JudgeAgain(self.list, workspace, self)
        self._make_header()
        self._lay_out()
        self._connect()
        self._add_keys()
        self._restore()

    def _make_header(self) -> None:
        self.markdown = QPushButton("Markdown")
        self.markdown.setCheckable(True)
        name(self.markdown, "Texts as Markdown", "Show the texts as Markdown, without links and images (M)")
        self.marking = QComboBox()
        for marking, words in _MARKINGS:
            self.marking.addItem(words, marking)
        name(self.marking, "Highlight in the responses", "Highlight what differs or what is shared (D)")
        self.header.addWidget(RunPicker(self.workspace), 4)
        for widget in (self.marking, self.markdown):
            self.header.addWidget(widget)

    def _lay_out(self) -> None:
        self.desk.setProperty("role", "content")
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setWidget(self.desk)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._down = _splitter(Qt.Orientation.Vertical, self.reading, self._scroll, sizes=(320, 280))
        self._down.setStretchFactor(1, 0)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.part)
        column.addWidget(self.missing)
        column.addWidget(self._down, 1)
        left = QWidget()
        below = QVBoxLayout(left)
        below.setContentsMargins(0, 0, 0, 0)
        below.addWidget(self.list, 1)
        below.addWidget(self.outdated)
        self._across = _splitter(Qt.Orientation.Horizontal, left, right, sizes=(370, 790))
        self._across.setStretchFactor(1, 3)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self._across)
        self.body.addWidget(self._stack, 1)

    def _connect(self) -> None:
        workspace = self.workspace
        workspace.run_changed.connect(self._refresh)
        workspace.gold_changed.connect(self._refresh)
        workspace.overrides_changed.connect(self._follow_override)
        workspace.review_wanted.connect(self._show_wanted)
        workspace.judging_changed.connect(self._follow_judging)
        workspace.runs_changed.connect(self._follow_judging)
        self.list.chosen.connect(self._choose_item)
        self.list.listed.connect(self._follow_list)
        self.list.emptied.connect(self._show_nothing)
        self.desk.focus_free.connect(self.list.take_focus)
        self.desk.put_aside.connect(self._pause.start)
        workspace.replaced_changed.connect(self._pause_keys)
        self.part.again.clicked.connect(self.list.take_focus)
        self.markdown.toggled.connect(self.reading.set_markdown)
        self.marking.currentIndexChanged.connect(self._mark)

    def _add_keys(self) -> None:
        """Keys without Ctrl: a field that is written in keeps them for itself."""
        self._on_key("J", partial(self.list.step, 1), repeat=True)
        self._on_key("K", partial(self.list.step, -1), repeat=True)
        self._on_key("U", self.desk.undo)
        self._on_key("E", self.desk.edit)
        self._on_key("M", self.markdown.toggle)
        self._on_key("D", self._next_marking)
        self._on_key("/", self._search)
        for place in range(9):
            self._on_key(str(place + 1), partial(self.desk.choose_place, place))
        for key, label in _LABEL_KEYS.items():
            self._on_key(key, partial(self.desk.override_label, label))

    def _on_key(self, key: str, do: Callable[[], object], repeat: bool = False) -> None:
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.setAutoRepeat(repeat)
        shortcut.activated.connect(partial(self._obey, do))

    def _obey(self, do: Callable[[], object]) -> None:
        """Do what a key stands for, unless a person still types what an editor was to get."""
        if self._pause.isActive():
            self._pause.start()
        else:
            do()

    @Slot()
    def _pause_keys(self) -> None:
        """A key meant for the run that was shown must not change the one that took its place."""
        if self.workspace.replaced is not None and self.isVisible():
            self._pause.start()

    def _item_in_writing(self) -> str:
        """The item whose explanation is being written; empty where none is."""
        return self.desk.item_id if self.desk.writing else ""

    # The run and its list

    def showEvent(self, event: QShowEvent) -> None:
        """Read what changed while another page was shown."""
        super().showEvent(event)
        self._follow_judging()
        if self._stale:
            self._refresh()

    @Slot()
    def _follow_judging(self) -> None:
        if self.isVisible():
            self.nothing.follow()
            self.part.follow()

    @Slot()
    def _refresh(self) -> None:
        self._stale = not self.isVisible()
        run = self.workspace.run
        judged = run is not None and bool(run.results.judged)
        self.nothing.follow()
        self.part.follow()
        self.missing.follow()
        self._stack.setCurrentWidget(self._across if judged else self.nothing)
        self.reading.setVisible(run is not None and run.dataset is not None)
        if self._stale or run is None:
            return
        if run.id != self._run_id:
            self.desk.finish_writing()
            remembered = self.workspace.state.record(_CHOSEN)
            if self._run_id is None:
                self.list.restore_filters(tuple(run.results.judgments))
                self.desk.criterion = str(remembered.get("criterion", ""))
                if remembered.get("run") == run.id and not self.list.awaits:
                    self.list.choose(str(remembered.get("item", "")), clearing=False)
            self._run_id, self._item_id = run.id, ""
        self.list.read_run()

    @Slot()
    def _follow_list(self) -> None:
        run, shown = self.workspace.run, self.list.shown
        total = len(run.results.judged) if run else 0
        self.context.setText(f"{shown:,} of {total:,} items" if shown != total else f"{total:,} items")
        self.desk.show_changes()

    @Slot()
    def _show_nothing(self) -> None:
        self._item_id = ""
        self.desk.show_nothing()
        self._down.hide()

    @Slot(str, str)
    def _show_wanted(self, item_id: str, criterion: str) -> None:
        self._wanted_criterion = criterion
        self.list.choose(item_id)

    @Slot(str, str)
    def _follow_override(self, item_id: str, _criterion: str) -> None:
        if not self._stale:
            self.list.read_item(item_id)

    # The chosen item

    @Slot(str)
    def _choose_item(self, item_id: str) -> None:
        run, review = self.workspace.run, self.list.review
        if run is None or review is None or not self.list.follows or item_id not in review.places:
            return
        self.desk.show_item(review, item_id, self._criterion_of(item_id, review.criteria))
        if run.dataset is not None:
            judged = run.results.judged[review.places[item_id]]
            self.reading.show_item(run.dataset[judged.position], judged.shortening)
        self._down.show()
        if item_id != self._item_id:
            self._item_id = item_id
            self._scroll.verticalScrollBar().setValue(0)

    def _criterion_of(self, item_id: str, criteria: Sequence[str]) -> str:
        """The criterion to open: the one asked for, else the open one, else the most doubtful that passes."""
        wanted, self._wanted_criterion = self._wanted_criterion, ""
        if not wanted and item_id == self._item_in_writing():
            return self.desk.criterion
        passing = self.list.table.listing.passing.get(item_id, criteria)
        if wanted in criteria:
            return wanted
        if self.desk.criterion in passing or self.list.review is None:
            return self.desk.criterion
        if passing is criteria:
            return criteria[0]
        rows = [row for row in self.list.review.of_item(item_id) if row.criterion in passing]
        return max(rows, key=lambda row: row.doubt).criterion

    # How texts are shown

    def take_focus(self) -> None:
        """Let the keys go to the editor where one is open, else to the list."""
        if self._stack.currentWidget() is self.nothing:
            self.nothing.button.setFocus()
        elif self.desk.writing:
            self.desk.edit()
        else:
            self.list.take_focus()

    @Slot()
    def _next_marking(self) -> None:
        self.marking.setCurrentIndex((self.marking.currentIndex() + 1) % self.marking.count())

    @Slot()
    def _mark(self) -> None:
        self.reading.set_marking(Marking(self.marking.currentData()))

    @Slot()
    def _search(self) -> None:
        self.list.filters.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.list.filters.search.selectAll()

    # What is remembered

    def keep_layout(self) -> None:
        """Remember the splitters and the chosen item; keep what is being written as a draft."""
        self.desk.keep_draft()
        for key, splitter in zip(_LAYOUTS, self._splitters(), strict=True):
            self.keep_splitter(f"review/{key}", splitter)
        self.workspace.state.set_record(
            _CHOSEN,
            {
                "run": self._run_id,
                "item": self._item_id,
                "criterion": self.desk.criterion,
                "markdown": self.markdown.isChecked(),
                "marking": self.marking.currentData(),
            },
        )

    def restyle(self) -> None:
        """Follow colours and text size."""
        if hasattr(self, "_stack"):
            self.list.restyle()
            self.reading.restyle()
            self.desk.restyle()

    def _restore(self) -> None:
        state = self.workspace.state
        for key, splitter in zip(_LAYOUTS, self._splitters(), strict=True):
            splitter.restoreState(state.layout(f"review/{key}"))
        remembered = state.record(_CHOSEN)
        self.markdown.setChecked(remembered.get("markdown") is True)
        self.marking.setCurrentIndex(max(0, self.marking.findData(remembered.get("marking"))))

    def _splitters(self) -> tuple[PageSplitter, ...]:
        return self._across, self._down, self.reading.above, self.reading.beside


def _splitter(
    direction: Qt.Orientation, first: QWidget, second: QWidget, sizes: tuple[int, int]
) -> PageSplitter:
    """Two parts that keep their share."""
    made = PageSplitter(direction)
    made.addWidget(first)
    made.addWidget(second)
    made.setSizes(sizes)
    made.setStretchFactor(0, 1)
    made.setStretchFactor(1, 1)
    made.setHandleWidth(8)
    return made
