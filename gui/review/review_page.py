"""The page on which an annotator looks at judgments one by one, and overrides those that are wrong; its keys,
and how a choice in one part shows in the others.
"""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence, QShortcut, QShowEvent

from engine.annotations.records import ListOrder
from engine.core.formatting import counted, words
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from gui.review.annotators import Reviewer
from gui.review.comparison_columns import ComparisonColumns
from gui.review.judgment_desk import AFTER_LABEL, ItemQueue, JudgmentDesk, ReviewAnnouncements
from gui.review.notices import HealthLine, MissingDataset, NothingToReview, PartOfRun
from gui.review.review_jobs import Review
from gui.review.review_layout import ItemReading, MarkingBox, ReviewLayout
from gui.review.review_list import ReviewList
from gui.review.session import ReviewSession
from gui.widgets import labels
from gui.widgets.action_table import of_page
from gui.widgets.actions import add_entry
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import STRETCH, DownScroll, as_column, name
from gui.workspace.page import Page, PageSplitter
from gui.workspace.rewriter import Rewriter, StaleLine
from gui.workspace.state import NEXT_CRITERION, PageName
from gui.workspace.workspace import Workspace

_PAUSE_MS = 1000  # without a key, after which letters are keys of the page again
_NO_HAND_MS = 10  # in which nobody lets a key go and presses it again


class PageKeys(QObject):
    def __init__(self, page: QtWidgets.QWidget) -> None:
        super().__init__(page)
        self._page = page
        self._spares: list[tuple[QShortcut, tuple[type, ...]]] = []
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._released = 0, 0  # which key, and when
        self._held = False  # whether the key that is pressed now is one that repeats
        page.installEventFilter(self)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.focusObjectChanged.connect(self._follow_focus)

    def add(
        self, key: str, do: Callable[[], object], spares: tuple[type, ...] = (), by_hand: bool = False
    ) -> QShortcut:
        """Let a key do something; not while a widget of a type in `spares` has the focus. `by_hand`: once
        each time that a hand presses it, whatever the system says.
        """
        shortcut = QShortcut(QKeySequence(key), self._page, autoRepeat=False)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

        def obey() -> None:
            if self.pausing:
                self._pause.start()
            elif not (self._held and by_hand):
                do()

        shortcut.activated.connect(obey)
        self._spares.append((shortcut, spares))
        return shortcut

    def pause(self) -> None:
        # An annotator still types what an editor was to get: nothing is done until that ends.
        self._pause.start()

    @property
    def pausing(self) -> bool:
        return self._pause.isActive()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # X11 tells that by a release and a press of one time. Where Qt sees the first of these alone, on a
        # busy computer, it takes the second one for a press by hand.
        if isinstance(event, QKeyEvent):
            key, time = event.key(), event.timestamp()
            if event.type() == QEvent.Type.KeyRelease:
                self._released = key, time
            elif event.type() == QEvent.Type.ShortcutOverride:
                released, at = self._released
                self._held = key == released and time > 0 and time - at < _NO_HAND_MS
        return super().eventFilter(watched, event)

    def _follow_focus(self, now: QObject | None) -> None:
        for shortcut, spared in self._spares:
            shortcut.setEnabled(not isinstance(now, spared))


class JudgeAgain(QObject):
    prompt_wanted = Signal()  # for the chosen item

    def __init__(
        self, items: ReviewList, workspace: Workspace, page: QtWidgets.QWidget, menu: QtWidgets.QMenu
    ) -> None:
        super().__init__(page)
        self._items, self._workspace = items, workspace
        self.menu, self._all = menu, QAction("", page)
        one = (QAction("Judge this item again…", page), "judge_again", self._judge_one)
        for action, row, judge in (one, (self._all, "judge_listed", self._judge_all)):
            action.setShortcut(QKeySequence(of_page("Review", row).keys))
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(judge)
            page.addAction(action)
            self.menu.addAction(action)
        self.menu.addSeparator()
        self.menu.addAction("Prompt… (P)").triggered.connect(self.prompt_wanted)
        items.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        items.view.customContextMenuRequested.connect(self._open)

    def _open(self, place: QPoint) -> None:
        self._all.setText(f"Judge the {counted(self._items.shown, 'listed item', 'listed items')}…")
        self.menu.popup(self._items.view.viewport().mapToGlobal(place))

    def _judge_one(self) -> None:
        chosen = self._items.current
        self._want([chosen.item_id] if chosen is not None else [])

    def _judge_all(self) -> None:
        self._want([item.item_id for item in self._items.table.listing.items])

    def _want(self, ids: Sequence[str]) -> None:
        space, run = self._workspace, self._workspace.run
        if run is None or not ids:
            return
        if run.dataset is None:
            space.note.emit("The dataset of this run is missing: find it, then judge its items.")
            return
        if not (stored := run.results.run).submitted:
            space.rubric.ask(stored.identity.asked)  # by another model, say, the same
        space.items_wanted.emit(run.dataset.path, tuple(ids), run.dataset.columns)


_CHOSEN = "review/chosen"
_NO_PROMPT = "has no prompt of its own: open the run of one of its judges to see that judge's prompt."
_WRITING = (QtWidgets.QLineEdit, QtWidgets.QPlainTextEdit)  # Enter and Space are their keys
_LABEL_KEYS = {"A": Preference.A, "B": Preference.B, "G": Preference.BOTH_GOOD, "X": Preference.BOTH_BAD}


class ReviewPage(Page):
    prompt_wanted = Signal(object, str)  # an Item, a criterion: what the model is shown of it

    NAME = PageName.REVIEW

    def __init__(self, workspace: Workspace, rewriter: Rewriter) -> None:
        super().__init__(workspace)
        self.stale = StaleLine(rewriter, across=False)
        self._stale = True
        self._run_id: int | None = None
        self._item_id = ""
        self._open_on: dict[str, str] = {}  # the criterion that each item of the run had open last
        self._left: dict[int, JudgmentKey] = {}  # what each other run was left at
        self._wanted: JudgmentKey | None = None  # that another page wants shown
        self.reviewer = Reviewer(workspace, self)
        self.keys = PageKeys(self)
        self.session = ReviewSession(workspace, self.reviewer.blind, self.reviewer.drafts)
        self.list = ReviewList(workspace, self.reviewer, self.session)
        self.part = PartOfRun(workspace)
        self.missing = MissingDataset(workspace)
        self.nothing = NothingToReview(workspace)
        self.reading = ItemReading(workspace.threads)
        self.reading.instruction.put_beside(self.reviewer.note)
        self.desk = JudgmentDesk(workspace, self.reviewer, self.session)
        self.queue = ItemQueue(workspace, self.reviewer, self.desk, self.list.queue)
        self.queue.go_on, self.queue.next_unsettled = self.list.go_to_next, self.list.next_unsettled
        self.beside = ComparisonColumns(workspace, self.desk, self)
        self.judge_again = JudgeAgain(self.list, workspace, self, self._item_menu())
        self.announcements = ReviewAnnouncements(self)
        self._lay_out()
        self._connect()
        self._add_keys()
        self._restore()

    def _lay_out(self) -> None:
        self.markdown = QtWidgets.QPushButton("Markdown")
        self.markdown.setCheckable(True)
        name(self.markdown, "Texts as Markdown", "Show the texts as Markdown, without links and images (M)")
        self.marking, self.health = MarkingBox(), HealthLine()
        self.header.insertWidget(2, self.reviewer.hidden_when_blind(self.health))
        for widget in (self.beside.button, self.marking, self.markdown):
            self.header.addWidget(widget)
        self._down = ReviewLayout(self.reading, self.beside.home, self.desk, self.workspace.state)
        right = as_column(self.part, self.missing, (self._down, STRETCH))
        self.list.put_below(self.reviewer.hidden_when_blind(self.stale))
        area = DownScroll(as_column((self.list, STRETCH)))
        across = PageSplitter(Qt.Orientation.Horizontal, area, right, stretches=(1, 3))
        across.setSizes([396, 764])
        texts = {"texts": self.reading.above, "responses": self.reading.beside}
        for key, splitter in {"across": across, **texts}.items():
            self.remember(f"review/{key}", splitter)
        self._reviewing = self.beside.below(across)
        self._stack = labels.stack(self.nothing, self._reviewing)
        self.body.addWidget(self._stack, 1)

    def _connect(self) -> None:
        workspace = self.workspace
        for signal in (workspace.run_changed, workspace.gold_changed):
            signal.connect(self._refresh)
        for signal in (workspace.judging_changed, workspace.runs_changed):
            signal.connect(self._follow_judging)
        workspace.reviewed.connect(self._follow_annotators)
        workspace.review_wanted.connect(self._show_wanted)
        workspace.listing_wanted.connect(self.list.list_wanted)
        self.list.chosen.connect(self._choose_item)
        self.list.listed.connect(self._follow_list)
        self.list.emptied.connect(self._show_nothing)
        self.reviewer.adjudication_changed.connect(self._switch_adjudicating)
        self.desk.focus_free.connect(self.list.take_focus)
        self.desk.put_aside.connect(self.keys.pause)
        self.list.criterion_chosen.connect(self.desk.choose_criterion)
        self.desk.item_wanted.connect(self._go_back)
        self.part.again.clicked.connect(self.list.take_focus)
        for texts in (self.reading, self.beside.columns):
            self.markdown.toggled.connect(texts.set_markdown)
        self.list.emptied.connect(self.beside.show_nothing)
        self.desk.shown.connect(self.announcements.show_judgment)
        self.desk.shown.connect(self.list.offer_enter)
        self.marking.chosen.connect(self.reading.set_marking)
        for signal in (self.desk.card.prompt_wanted, self.judge_again.prompt_wanted):
            signal.connect(self._want_prompt)

    def _add_keys(self) -> None:
        add, queue, desk = self.keys.add, self.queue, self.desk
        add("M", self.markdown.toggle)
        add("D", self.marking.choose_next)
        add("L", self._choose_what_follows)
        add("/", self.list.begin_search)
        add("F6", partial(self._turn_to_part, 1))
        add("Shift+F6", partial(self._turn_to_part, -1))
        of_item: dict[str, Callable[[], object]] = {
            "U": desk.undo,
            "Shift+U": desk.redo,
            "E": desk.edit,
            "V": self.beside.toggle,
            "F": desk.fold,
            "H": desk.show_history,
            "O": self._read_on,
            "P": self._want_prompt,
            "W": desk.show_methods,
            "N": self.reviewer.note.edit,
            "T": queue.take_back,
        }
        of_item |= {str(number + 1): partial(desk.choose_number, number) for number in range(9)}
        for key, do in of_item.items():
            add(key, partial(self._with_item, do))
        for key, label in _LABEL_KEYS.items():
            add(key, partial(self._with_item, partial(desk.override_label, label)), by_hand=True)
        add("S", partial(self._with_item, queue.skip), by_hand=True)
        for key, by in (("J", 1), ("K", -1)):
            add(key, partial(self._with_item, partial(self.list.step, by))).setAutoRepeat(True)
        for key in ("Return", "Enter"):
            add(key, partial(self._with_item, queue.confirm), spares=_WRITING, by_hand=True)
        orders = partial(self._with_item, desk.show_orders)
        add("Space", orders, spares=(*_WRITING, QtWidgets.QComboBox, QtWidgets.QAbstractButton))

    def _item_menu(self) -> QtWidgets.QMenu:
        """What is done with the chosen item, at the top of the menu of the list."""
        menu, entries = QtWidgets.QMenu(self), []
        for key, label in _LABEL_KEYS.items():
            give = partial(self._with_item, partial(self.desk.override_label, label))
            entries.append((key, LABEL_WORDS[label], add_entry(menu, "", give)))

        def name_criterion() -> None:
            for key, label_words, entry in entries:
                entry.setText(f"Label {label_words} on {words(self.session.criterion)} ({key})")

        menu.aboutToShow.connect(name_criterion)
        menu.addSeparator()
        add_entry(menu, "Skip (S)", partial(self._with_item, self.queue.skip))
        add_entry(menu, "Note and tags… (N)", partial(self._with_item, self.reviewer.note.edit))
        add_entry(menu, "Copy the id", lambda: QGuiApplication.clipboard().setText(self._item_id))
        menu.addSeparator()
        return menu

    def _with_item(self, do: Callable[[], object]) -> None:
        if self._item_id and self._stack.currentWidget() is self._reviewing:
            do()
        else:
            self.workspace.note.emit("No item is open: choose a run, or other filters.")

    def undo_last(self, again: bool = False) -> None:
        """Take back what was annotated last in this window, or do it `again`, from whichever page."""
        if not self.isVisible():
            self.workspace.page_wanted.emit(self.NAME)
        self._with_item(partial(self.desk.undo_last, again))

    def _switch_adjudicating(self, on: bool) -> None:
        self.desk.finish_writing()
        self.session.adjudicating = on
        self.list.follow_adjudicating()
        self.desk.show_changes()
        self.beside.arrange()

    # The run and its list

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow_judging()
        self.beside.follow_page()
        if self._stale:
            self._refresh()

    def _follow_judging(self) -> None:
        if self.isVisible():
            self.nothing.follow()
            self.part.follow()

    def _refresh(self) -> None:
        self._stale = not self.isVisible()
        run = self.workspace.run
        judged = run is not None and bool(run.results.judged)
        for part in (self.nothing, self.part, self.missing):
            part.follow()
        began = judged and self._stack.currentWidget() is self.nothing and self.isVisible()
        self._stack.setCurrentWidget(self._reviewing if judged else self.nothing)
        if began:  # else the button that was pressed gives the keys to the search
            self.list.take_focus()
        self.reading.setVisible(run is not None and run.dataset is not None)
        if self._stale:
            return
        self.health.look_at(run)
        if run is None:
            self.context.setText("")
            return
        if run.id != self._run_id:
            self.desk.finish_writing()
            remembered = self.workspace.state.record(_CHOSEN)
            left = self._left.get(run.id)
            if self._run_id is not None:
                self.list.filters.clear()  # they end with the run that they were made for
                if self._item_id:
                    self._left[self._run_id] = JudgmentKey(self._item_id, self.session.criterion)
            else:
                self.list.restore_filters(run.id, tuple(run.results.judgments))
                if remembered.get("run") == run.id and not self.reviewer.progress.begun:
                    left = JudgmentKey(*(str(remembered.get(part, "")) for part in ("item", "criterion")))
            if left is not None and not self.list.awaits:
                self._wanted = left
                self.list.choose(left.item_id, clearing=False)
            elif self.reviewer.progress.begun:
                self.list.to_do_first = True
            self._run_id, self._item_id = run.id, ""
            self._open_on.clear()
        self.list.read_run()

    def _follow_list(self) -> None:
        run, shown = self.workspace.run, self.list.shown
        total = len(run.results.judged) if run else 0
        hits = self.list.table.listing.hits
        found = f", {counted(hits, 'hit', 'hits')}" if hits else ""
        some = f"{shown:,} of " if shown != total else ""
        self.context.setText(f"{some}{counted(total, 'item', 'items')}{found}")
        self.reading.set_search(self.list.view.hits.search)
        self.desk.show_changes()

    def _show_nothing(self) -> None:
        self._item_id = ""
        self.desk.show_nothing()
        self._down.hide()

    def _show_wanted(self, key: JudgmentKey) -> None:
        self._wanted = key
        self.list.choose(key.item_id)

    def _go_back(self, key: JudgmentKey) -> None:
        self._wanted = key
        self.list.choose(key.item_id, clearing=False)
        if self._item_id == key.item_id:
            self.session.went_back()
            self.desk.show_changes()

    def _choose_what_follows(self) -> None:
        state, follows = self.workspace.state, list(AFTER_LABEL)
        now = state.text(NEXT_CRITERION)
        chosen = follows[(follows.index(now) + 1) % len(follows) if now in follows else 0]
        state.set_text(NEXT_CRITERION, chosen)
        self.workspace.note.emit(f"After a label: {AFTER_LABEL[chosen]}.")

    def _follow_annotators(self, item_id: str) -> None:
        if not self._stale:  # a label that is accepted or imported makes annotators differ, too
            self.list.read_item(item_id)

    # The chosen item

    def _choose_item(self, item_id: str) -> None:
        run, review = self.workspace.run, self.list.review
        if run is None or review is None or not self.list.follows or item_id not in review.places:
            return
        if self._item_id:
            self._open_on[self._item_id] = self.session.criterion
            if item_id != self._item_id:
                self.workspace.note.emit("")  # what the status bar says was said of the item before
        self.desk.show_item(review, item_id, self._criterion_of(item_id, review))
        place, instruction = review.places[item_id], ""
        if run.dataset is not None:
            judged = run.results.judged[place]
            item = run.dataset[judged.position]
            self.reading.show_item(item, judged.shortening)
            instruction = item.instruction
        self.announcements.show_item(item_id, instruction)
        self.reviewer.look_at(place, review.criteria)
        self._down.show()
        self._item_id = item_id

    def _criterion_of(self, item_id: str, review: Review) -> str:
        """The criterion to open: the one asked for or open last, else why the item is where it is."""
        wanted, criteria = self._wanted, review.criteria
        if wanted is not None and wanted.item_id == item_id:
            self._wanted = None
            if wanted.criterion in criteria:
                return wanted.criterion
        if item_id == self.session.kept:
            return self.session.criterion
        alone = self.reviewer.progress.criterion
        if alone is not None and alone in criteria:
            return alone  # also while the list of it is still made
        passing = self.list.table.listing.passing.get(item_id, criteria)
        before = self._open_on.get(item_id, "")
        rows = [row for row in review.of_item(item_id) if row.criterion in passing]
        if apart := [row.criterion for row in rows if row.unsettled]:
            return before if before in apart else apart[0]
        if before in passing:
            return before
        annotators = self.list.filters.list_order is ListOrder.DISAGREEMENT
        by_order = [(annotators and row.differs_from_human, row.uncertainty) for row in rows]
        return rows[by_order.index(max(by_order))].criterion

    def _want_prompt(self) -> None:
        run, review = self.workspace.run, self.list.review
        if run is None or review is None or self._item_id not in review.places:
            return
        if run.results.run.panel:
            self.workspace.note.emit(f"A {run.results.run.kind_word} {_NO_PROMPT}")
        elif run.dataset is None:
            self.workspace.note.emit("The dataset of this run is missing: find it to see the prompt.")
        else:
            judged = run.results.judged[review.places[self._item_id]]
            self.prompt_wanted.emit(run.dataset[judged.position], self.session.criterion)

    def take_focus(self) -> None:
        if self._stack.currentWidget() is self.nothing:
            self.nothing.button.setFocus()
        elif self.desk.writing:
            self.desk.edit()
        else:
            self.list.take_focus()

    def _turn_to_part(self, by: int) -> None:
        read = [pane.view for pane in self.reading.panes if pane.view.isVisible()]
        parts = [self.list.view, *read, *self.beside.places]
        focused = self.window().focusWidget()
        place = next((number for number, part in enumerate(parts) if part is focused), 0)
        parts[(place + by) % len(parts)].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _read_on(self) -> None:
        if not self.beside.on:
            self.desk.card.set_folded(False)
        bars = [place.verticalScrollBar() for place in self.beside.places]
        below = [bar for bar in bars if bar.value() < bar.maximum()]
        for bar in below or bars:
            bar.setValue(bar.value() + bar.pageStep() if below else 0)
        if not any(bar.maximum() for bar in bars):
            self.workspace.note.emit("All of the judgment is in sight.")

    # What is remembered

    def keep_layout(self) -> None:
        self.desk.keep_draft()
        self.reviewer.note.keep_draft()
        self.beside.keep_layout()
        super().keep_layout()
        self._down.keep()
        texts = {"markdown": self.markdown.isChecked(), "marking": self.marking.currentData()}
        shown = {"run": self._run_id, "item": self._item_id, "criterion": self.session.criterion}
        self.workspace.state.set_record(_CHOSEN, {**shown, **texts, "folded": self.desk.card.folded})

    def _restore(self) -> None:
        remembered = self.workspace.state.record(_CHOSEN)
        self.markdown.setChecked(remembered.get("markdown") is True)
        self.marking.choose(remembered.get("marking"))
        self.desk.card.set_folded(remembered.get("folded") is True)
