"""The list of a review: filters, the items that pass them, and which one is chosen."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.annotations.records import ListOrder, WantedItems
from engine.core.errors import EngineError
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from gui.review import review_jobs
from gui.review.annotators import AnnotatorFilter, Reviewer
from gui.review.filter_bar import Controls, FilterBar
from gui.review.judgment_desk import QueueLine
from gui.review.notices import NO_SAMPLE, AlikeLine, ListLine, WantedLine
from gui.review.review_jobs import Listing, Review, ReviewScope
from gui.review.review_table import TITLE_ORDERS, UNCERTAINTY, ItemView, ReviewTableModel, Search
from gui.review.session import ReviewSession
from gui.widgets.actions import BusyLine, timer
from gui.widgets.labels import STRETCH, button, hint, in_column
from gui.widgets.views import dressed
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.analysis.review_order import ReviewItem, ReviewRow

_STATE = "review/filters"
_ORIGINS = {  # by other orders an annotator picks items themselves
    ListOrder.UNCERTAINTY: Origin.UNCERTAINTY,
    ListOrder.DATASET: Origin.DATASET,
    ListOrder.DISAGREEMENT: Origin.DISAGREEMENT,
    ListOrder.MOST_UNCERTAIN: Origin.UNCERTAINTY,  # the hardest items, whichever of both orders brings them
}
_PATIENCE_MS = 300  # what is done sooner shows no progress


class ReviewList(QWidget):
    chosen = Signal(str)  # each item that is chosen, also the same one again
    emptied = Signal()
    listed = Signal()
    criterion_chosen = Signal(str)  # the only one that is listed from now on

    def __init__(self, workspace: Workspace, reviewer: Reviewer, session: ReviewSession) -> None:
        super().__init__()
        self._workspace, self._session = workspace, session
        self._blind, self.progress, self._drafts = reviewer.blind, reviewer.progress, reviewer.drafts
        ways = reviewer.blind_button, reviewer.adjudicate_button
        self.annotators = AnnotatorFilter(workspace, self.progress, *ways)
        self.queue = QueueLine()
        self.to_do_first = False  # of the next list that is made, where no item is wanted then
        self.review: Review | None = None
        self._judged: object = None  # the items of the run as it was when `review` was asked for
        self._wanted: str | None = None  # an item to choose once it is listed
        self._clearing = True
        self.filters = FilterBar(workspace, self.annotators)

        def begun(item_id: str) -> Collection[str]:
            return self._drafts.begun(workspace.run.id, item_id) if workspace.run is not None else ()

        self.table = ReviewTableModel(self.progress.state, begun, self)
        self.view = dressed(ItemView(), self.table, "Items of the run")
        self.wanted_line, self.alike, self.no_sample = WantedLine(), AlikeLine(), ListLine(NO_SAMPLE)
        what = "List the items in the order of the random sample"
        self.at_random = self.no_sample.offer("Random sample", ListOrder.RANDOM, what)
        self._asked: WantedItems | None = None  # by another page, as long as they are what is listed
        self.view.selectionModel().currentRowChanged.connect(self._tell)
        self.view.horizontalHeader().sortIndicatorChanged.connect(self._sort_by_title)
        self._busy = BusyLine()
        self._soon = timer(self, _PATIENCE_MS, self._show_busy)
        self._nothing = hint("No item matches.")
        self._all = button("Show all items", self.filters.clear, "Clear the search and all filters")
        lines = (self._busy, self.alike, self.no_sample)
        self._controls = Controls(self.wanted_line, self.filters, self.annotators, *lines)
        # The 0: where the view is hidden, the rest stays above.
        parts = (self._controls, self._nothing, self._all, (self.view, STRETCH), self.queue, 0)
        in_column(*parts, on=self, spacing=6)
        self._show_nothing(False)
        threads, lane, fail = workspace.threads, ThreadName.MEASURE, self._fail
        given_up, ended = self._give_up, self._end_busy
        self._reading = TaskPanel(threads, lane, self, self._take_review, failed=fail, stopped=given_up)
        self._listing = TaskPanel(threads, lane, self, self._take_listing, failed=fail, stopped=ended)
        self._connect()
        reviewer.blind_changed.connect(self._follow_blind)
        self._follow_blind()
        self.restyle()

    def _connect(self) -> None:
        for task in (self._reading, self._listing):
            self._busy.cancelled.connect(task.cancel)
        self.filters.changed.connect(self.list_again)
        self.filters.left.connect(self.take_focus)
        self.filters.order.activated.connect(self._begin_sample)
        self.annotators.changed.connect(self.list_again)
        self.progress.changed.connect(self._show_progress)
        self._drafts.changed.connect(self.table.show_again)
        self.wanted_line.wanted.connect(self.filters.clear)
        for line in (self.alike, self.no_sample):
            line.wanted.connect(self.filters.choose_order)
        self.no_sample.wanted.connect(self._begin_sample)
        self._workspace.sample_drawn.connect(self._draw_again)

    def read_run(self) -> None:
        run = self._workspace.run
        self._listing.drop()
        self._reading.drop()
        self.review, self._judged = None, run.results.judged if run else None
        self.filters.slices.show_dataset(run.dataset if run else None, self._workspace.gold)
        if run is None:
            self._end_busy()
            self.table.clear()
            self.progress.follow_list(())
            return
        self._soon.start()
        self._reading.start(review_jobs.review(run.results, self._workspace.gold, run.dataset))

    def read_item(self, item_id: str) -> None:
        run = self._workspace.run
        if run is None or self.review is None or not self.follows or item_id not in self.review.places:
            return
        place, labels = self.review.places[item_id], (self._workspace.gold, run.dataset)
        job = review_jobs.item_again(run.results, labels, place, self.filters.request)
        # No panel, which does the newest alone: the overrides of two items are both to be seen, in order.
        self._workspace.threads.start(ThreadName.MEASURE, job, self._take_item, self._fail)

    @property
    def follows(self) -> bool:
        """True where the list is, or will be, that of the run as it is open now."""
        run = self._workspace.run
        return run is not None and run.results.judged is self._judged

    @property
    def awaits(self) -> bool:
        return self._wanted is not None

    @property
    def current(self) -> "ReviewItem | None":
        return self.table.item_at(self.view.currentIndex().row())

    def _origin(self, row: int) -> Origin:
        """How an annotator comes to the item of a row: in turn of a random sample only where they have
        labelled (on the criterion that is chosen, if one is) or skipped each item before it, and nothing but
        other criteria and labelled items is left out.
        """
        asked, run = replace(self.filters.request, labelled=frozenset()), self._workspace.run
        narrows = replace(asked, criterion=None).narrows or self.filters.part is not None
        if narrows or self.annotators.leaves_out_to_do or run is None:
            return Origin.CHOSEN
        order = self.filters.list_order
        if order is not ListOrder.RANDOM:
            return _ORIGINS.get(order, Origin.CHOSEN)
        labels = run.results.reviews.labels.get(self._workspace.author, {})
        labelled = {key.item_id for key in labels if asked.criterion in (None, key.criterion)}
        before = (item.item_id for item in self.table.listing.items[:row])
        passed = (each in labelled or self.progress.state(each) is not ReviewState.TO_DO for each in before)
        return Origin.RANDOM if all(passed) else Origin.CHOSEN

    def go_to_next(self) -> bool:
        row = self.progress.next_to_do(self.view.currentIndex().row())
        if row is not None:
            self._go(row)
        self.take_focus()  # else Space would press a button that was clicked once
        return row is not None

    def follow_adjudicating(self) -> None:
        if self._session.adjudicating:
            self.filters.choose_order(ListOrder.ANNOTATORS)
        self._show_progress()
        self.offer_enter()

    def next_unsettled(self, but: JudgmentKey) -> JudgmentKey | None:
        """Where annotators differ next and nobody adjudicated it: here, below, then from the top."""
        run, alone = self._workspace.run, self.progress.criterion
        open_ones = run.results.reviews.unsettled - {but} if run is not None else frozenset()
        criteria = self.review.criteria if self.review else ()
        items, row = self.table.listing.items, max(0, self.view.currentIndex().row())
        wanted = [criterion for criterion in criteria if alone in (None, criterion)]
        keys = (JudgmentKey(item.item_id, each) for item in (*items[row:], *items[:row]) for each in wanted)
        return next((key for key in keys if key in open_ones), None)

    @property
    def shown(self) -> int:
        return self.table.rowCount()

    def choose(self, item_id: str, clearing: bool = True) -> None:
        """Choose an item as soon as it is listed; filters that hide it are cleared, unless not `clearing`."""
        # Where the run has changed since the list was made, the next list is waited for.
        self._wanted, self._clearing = item_id, clearing
        if self.review is not None and self.follows and not self._listing.busy:
            self._choose_wanted()

    def list_wanted(self, wanted: WantedItems) -> None:
        self._asked, self._wanted = wanted, None
        self.annotators.clear()
        if self.review is not None and self.follows and self._is_open(wanted):
            self._show_wanted(wanted)

    def _show_wanted(self, wanted: WantedItems) -> None:
        self.to_do_first = wanted.order is ListOrder.RANDOM  # what is labelled out of turn is not of it
        self.filters.show_wanted(wanted)

    def _is_open(self, wanted: WantedItems) -> bool:
        run = self._workspace.run
        return run is not None and run.id == wanted.run_id

    def step(self, by: int) -> None:
        row = self.view.currentIndex().row() + by
        if 0 <= row < self.shown:
            self._go(row)
        else:
            self._workspace.note.emit(f"This is the {'first' if by < 0 else 'last'} item of the list.")

    def take_focus(self) -> None:
        (self if self.view.isHidden() else self.view).setFocus(Qt.FocusReason.OtherFocusReason)

    def hasHeightForWidth(self) -> bool:
        # What it is in would make it as high as it would like to be, and scroll the items away.
        return False

    def minimumSizeHint(self) -> QSize:
        size, layout = super().minimumSizeHint(), self.layout()
        if layout is not None:
            size.setHeight(layout.minimumHeightForWidth(self.width()))
        return size

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def put_below(self, widget: QWidget) -> None:
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self.queue), widget)

    def begin_search(self) -> None:
        search = self.filters.search
        search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        search.selectAll()
        self._controls.show_control(search)

    def restyle(self) -> None:
        self.view.fit_columns()

    def list_again(self) -> None:
        self._follow_criterion()
        self.filters.offer_to_clear()
        self.view.show_order(self.filters.list_order)
        run = self._workspace.run
        if self.review is None or run is None or not self.follows:
            return
        self._soon.start()
        request, asked = self.filters.request, self._asked
        if asked is not None and not self._blind.limits and request != asked.filters:
            same_items = request.ids is not None and request.ids == asked.filters.ids
            self._asked = asked if same_items else None
        order, author = self.filters.list_order, self._workspace.author
        by_state = order in (ListOrder.TO_DO, ListOrder.DONE)
        states = {item_id: self.progress.state(item_id) for item_id in self.review.places if by_state}
        passing, part = self.annotators.passing, self.filters.part
        only = part if passing is None else passing if part is None else passing & part
        sight = ReviewScope(run.results, run.dataset, author, self._blind.seen, states, only)
        self._listing.start(review_jobs.list_items(self.review, request, order, sight))
        self._workspace.state.set_record(_STATE, {**self.filters.as_record(), "run": run.id})

    def restore_filters(self, run_id: int, criteria: tuple[str, ...]) -> None:
        """The order as it was left last time, and the filters where they were made for this run."""
        record = self._workspace.state.record(_STATE)
        self.filters.restore(record, criteria)
        if record.get("run") != run_id:
            self.filters.clear()
        self._follow_criterion()

    def _follow_criterion(self) -> None:
        # At once: what is chosen is labelled, accepted and counted also while the list is still made.
        criterion = self.filters.request.criterion
        if criterion != self.progress.criterion:
            self.progress.follow_criterion(criterion)
            self.queue.follow_criterion(criterion)
            if criterion is not None and self.follows:
                self.criterion_chosen.emit(criterion)
                self._take_origin(self.view.currentIndex().row())

    def _take_review(self, review: Review) -> None:
        run = self._workspace.run
        seed = review.seed if run is None else run.results.run.review_seed  # it may be another one by now
        self.review = replace(review, shown=self._blind.row, seed=seed)
        self.filters.show_run(self.review, run.results.run if run is not None else None)
        self._hide_what_tells()
        asked = self._asked
        if asked is None:
            self.list_again()
        elif self._is_open(asked):
            self._show_wanted(asked)
        else:
            self.filters.clear()

    def _take_listing(self, listing: Listing) -> None:
        self._end_busy()
        self._workspace.failures.end(self)
        run = self._workspace.run
        if self.review is None or run is None or not self.follows:
            return
        before, row = self.current, max(0, self.view.currentIndex().row())
        request, order, shown = self.filters.request, self.filters.list_order, len(listing.items)
        self.view.hits.search = Search(request.text)
        self.view.fit_text()
        self.table.show_listing(self.review, listing, run.dataset, request)
        hidden = self._blind.limits and not request.escalated
        self.wanted_line.follow(self._asked, shown, hidden)
        self.filters.show_escalated(self.review)
        self.no_sample.setVisible(order is ListOrder.MOST_UNCERTAIN)
        self.alike.follow(order, shown, listing.spread, self.review.labelled)
        self.progress.follow_list([item.item_id for item in listing.items])
        self._show_progress()
        self._show_nothing(not listing.items)
        self.listed.emit()
        to_do_first, self.to_do_first = self.to_do_first, False
        if to_do_first and self._wanted is None and listing.items:
            self._go_on(self.progress.next_to_do(-1) or 0)
            return
        # The item stays whose explanation is being written, also where the filters do not pass it.
        stays = self._session.kept or (before.item_id if before is not None else "")
        if self._wanted is None and self.table.row_of(stays) is not None:
            self._wanted, self._clearing = stays, False
        if self._wanted is not None:
            self._choose_wanted()
        else:
            self._go_on(row)

    def _follow_blind(self) -> None:
        """Who labels blind sees neither uncertainties nor filters or orders that tell of labels."""
        # The orders left are the same for all: those who stop early have labelled the same items, so that it
        # can be measured how far they agree.
        self._hide_what_tells()
        self.table.forget_remarks()
        self.table.show_again()
        self.list_again()

    def _hide_what_tells(self) -> None:
        for filters in (self.filters, self.annotators):
            filters.set_blind(self._blind.limits)
        run = self._workspace.run
        by_hand = run is not None and run.results.run.by_hand
        self.view.setColumnHidden(UNCERTAINTY, self._blind.limits or by_hand)

    def _show_progress(self, item_id: str = "") -> None:
        self.table.show_again(item_id)
        run = self._workspace.run
        adjudicated = run.results.reviews.adjudicated_in_words if run and self._session.adjudicating else ""
        self.queue.show_progress(adjudicated or self.progress.in_words)
        self.filters.show_progress(self.progress.by_criterion, sum(self.progress.counts.values()))
        self._offer(self.current)

    def offer_enter(self) -> None:
        """Say what Enter does with the open judgment; while one adjudicates nothing where nobody differs."""
        session, run = self._session, self._workspace.run
        alone = self._blind.hides(session.item_id) or (run is not None and run.results.run.by_hand)
        self.queue.follow_word("Majority" if session.adjudicating else "Done" if alone else "Accept")
        self._offer(self.current)

    def _offer(self, item: "ReviewItem | None") -> None:
        confirms = not self._session.adjudicating or self._session.has_majority
        reopens = item is not None and self.progress.reopens(item.item_id)
        self.queue.show_item(item is not None, reopens, confirms)

    def _sort_by_title(self, column: int, direction: Qt.SortOrder) -> None:
        # The third click on a title has the dataset's order again.
        self.filters.choose_order(TITLE_ORDERS.get((column, direction), ListOrder.DATASET))

    def _begin_sample(self) -> None:
        # From the top: what is labelled out of its turn is not of the sample.
        if self.filters.list_order is ListOrder.RANDOM:
            self.to_do_first = True
            self.list_again()

    def _draw_again(self, seed: int) -> None:
        if self.review is not None and self.follows:
            self.review = replace(self.review, seed=seed)
            self.filters.seed.show_seed(seed)
            if self.filters.list_order is ListOrder.RANDOM:
                self._begin_sample()
                self.take_focus()

    def _take_item(self, again: "tuple[ReviewItem, Sequence[ReviewRow]]") -> None:
        item, rows = again
        if self.review is not None and self.follows and item.item_id in self.review.places:
            self.review.change_item(item.item_id, rows)
            self.table.change_item(item)
            self.filters.show_escalated(self.review)
            self.listed.emit()

    def _fail(self, error: EngineError) -> None:
        self._end_busy()
        self._workspace.failures.fail(self, error)

    def _show_busy(self) -> None:
        self._busy.begin("Filtering …" if self.review is not None else "Sorting the judgments …")

    def _end_busy(self) -> None:
        self._soon.stop()
        self._busy.end()

    def _give_up(self) -> None:
        self._end_busy()
        self._workspace.note.emit("The list was not made. Choose the run again to make it.")

    def _choose_wanted(self) -> None:
        wanted = self._wanted
        if wanted is None or self.review is None:
            return
        row, known = self.table.row_of(wanted), wanted in self.review.places
        if row is None and known and self._clearing and self.filters.narrows:
            self.filters.clear()
            return
        self._wanted = None
        if row is not None:
            self._go(row)
            return
        if self._clearing and not known:
            self._workspace.note.emit("The open run has not judged that item.")
        if self.current is None:
            self._go_on(0)

    def _go_on(self, row: int) -> None:
        """Without an item that is asked for: stay with the one that is kept, else choose that of a row."""
        kept = self._session.kept
        place = self.table.row_of(kept) if kept else min(row, self.shown - 1)
        if kept and place is None:
            self.chosen.emit(kept)  # it is not listed any more, but it is still looked at
        elif place is not None and place >= 0:
            self._go(place)
        else:
            self.emptied.emit()

    def _go(self, row: int) -> None:
        index = self.table.index(row, 0)
        if index == self.view.currentIndex():
            self._tell(index, index)
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)

    def _tell(self, now: QModelIndex, _before: QModelIndex) -> None:
        item = self.table.item_at(now.row())
        self._offer(item)
        if item is not None:
            self._take_origin(now.row())
            self.chosen.emit(item.item_id)

    def _take_origin(self, row: int) -> None:
        origin, review = self._origin(row), self.review
        self._session.origin = origin
        self._session.seed = review.seed if review is not None and origin is Origin.RANDOM else None

    def _show_nothing(self, nothing: bool) -> None:
        self.view.setVisible(not nothing)
        if self._all.hasFocus() and not nothing:
            self.take_focus()
        self._nothing.setVisible(nothing)
        self._all.setVisible(nothing)
