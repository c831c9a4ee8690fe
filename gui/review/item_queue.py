"""Goes through items: accept one, skip it, take it back, and on to the next that is to do.

Knows: whose turn it is, what needs a name, what a blind annotator still owes. Does not know: how items are
listed, what is stored of them.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.formatting import words
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, ReviewState
from gui.review.annotators import Reviewer, WhoButton
from gui.review.judgment_desk import JudgmentDesk
from gui.widgets.actions import press_once
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, set_tip
from gui.widgets.labels import STRETCH, guard, in_column, in_row, keep_room, name
from gui.workspace.workspace import Workspace


class QueueLine(QWidget):
    """Below the list: how far an annotator is, who they are, and the buttons for what Enter, S and T do."""

    def __init__(self, who: WhoButton, adjudicate: QWidget) -> None:
        super().__init__()
        self.text = OneLine()
        self.confirm = QPushButton("Accept (Enter)")
        self.follow_criterion(None)
        self.skip = QPushButton("Skip (S)")
        name(self.skip, "Skip the item", "Skip the item for now; the next one to do follows")
        self.again = QPushButton("Reopen (T)")
        name(self.again, "Reopen the item: mark it to do")
        buttons = QWidget()
        flow = FlowLayout(buttons, gap=4, whole=True)
        for button in (self.confirm, self.skip, self.again, adjudicate):
            flow.addWidget(button)
        for button in (self.confirm, self.skip):
            press_once(button)
        keep_room(self.again, adjudicate)
        guard(self)
        in_column(in_row((self.text, STRETCH), who), buttons, on=self, spacing=4)

    def show_progress(self, words: str) -> None:
        self.text.setText(words)
        set_tip(self.text, words)
        self.text.setAccessibleName(words)

    def follow_criterion(self, criterion: str | None) -> None:
        """Accept one criterion from now on, or all of them."""
        what = f"its label on {words(criterion)}" if criterion else "all its labels"
        name(self.confirm, "Accept the item", f"You agree with {what}; the next one to do follows")

    def show_state(self, state: ReviewState | None, reopens: bool) -> None:
        """Offer what can be done with an item in this state; None where there is no item."""
        self.confirm.setEnabled(state is not None)
        self.skip.setEnabled(state is not None)
        self.again.setVisible(reopens)


class ItemQueue(QObject):
    """What Enter, S and T do. `go_on` chooses the next item that is to do; False where there is none.
    `next_unsettled`: where annotators differ next, but for one judgment.
    """

    def __init__(
        self,
        workspace: Workspace,
        reviewer: Reviewer,
        desk: JudgmentDesk,
        line: QueueLine,
        *,
        go_on: Callable[[], bool],
        next_unsettled: Callable[[JudgmentKey], JudgmentKey | None],
    ) -> None:
        super().__init__(desk)
        self._workspace, self._reviewer, self._desk = workspace, reviewer, desk
        self._go_on, self._next_unsettled = go_on, next_unsettled
        line.confirm.clicked.connect(self.confirm)
        line.skip.clicked.connect(self.skip)
        line.again.clicked.connect(self.take_back)
        desk.labelled.connect(self._go_on_by_itself)

    @Slot()
    def confirm(self) -> None:
        """Agree with all effective labels of the item, or with that on the criterion that alone is wanted;
        who adjudicates adjudicates the open judgment.
        """
        if self._desk.session.settling:
            self._reviewer.who.then(self._adjudicate)
        else:
            self._begin(ReviewState.DONE)

    @Slot()
    def skip(self) -> None:
        self._begin(ReviewState.SKIPPED)

    @Slot()
    def take_back(self) -> None:
        """The item is to do; labels that were accepted stay until others are given."""
        progress, shown = self._reviewer.progress, self._shown
        if shown is None:
            return
        _, item_id = shown
        if progress.state(item_id) is ReviewState.TO_DO:
            self._workspace.note.emit("The item is marked to do already.")
        elif not progress.reopens(item_id):
            on = words(progress.criterion or "")
            self._workspace.note.emit(f"You have labelled {on}: U undoes that, another label replaces it.")
        else:
            progress.mark(item_id, ReviewState.TO_DO)

    @property
    def _shown(self) -> tuple[int, str] | None:
        """The run and the item that are shown; None where that run is not the open one: what is said of an
        item is kept for the open run.
        """
        session = self._desk.session
        return (session.run_id, session.item_id) if session.run is not None and session.item_id else None

    def _begin(self, state: ReviewState) -> None:
        if self._shown is not None:
            self._reviewer.who.then(partial(self._finish, self._shown, state))

    def _adjudicate(self) -> None:
        """Adjudicate the open judgment as most annotators say, where it is not adjudicated; on to the next
        one.
        """
        key = self._desk.session.key
        self._desk.finish_writing()
        if self._shown is None or not self._desk.adjudicate():
            return
        self._go_on_settling(key)

    def _go_on_settling(self, adjudicated: JudgmentKey) -> None:
        following = self._next_unsettled(adjudicated)
        if following is None:
            self._workspace.note.emit("No listed item is left to adjudicate.")
        else:
            self._workspace.show_in_review(following)

    @Slot(object)
    def _go_on_by_itself(self, before: Collection[datetime]) -> None:
        """All that is wanted of the item is labelled; `before`: when it was said what was said before."""
        session, shown = self._desk.session, self._shown
        if shown is None:
            return
        if session.settling:
            self._go_on_settling(session.key)
        else:
            self._finish(shown, ReviewState.DONE, agrees=False)
        session.went_on(shown[1], before)
        self._desk.show_changes()

    def _finish(self, shown: tuple[int, str], state: ReviewState, agrees: bool = True) -> None:
        if self._shown != shown:
            return
        _, item_id = shown
        session, alone = self._desk.session, self._reviewer.progress.criterion
        confirmed: Mapping[str, Preference] = {}
        if state is ReviewState.DONE and (missing := self._owed(item_id)):
            self._workspace.note.emit(f"Label it first: {', '.join(map(words, missing))}.")
            self._desk.choose_criterion(missing[0])
            return
        if state is ReviewState.DONE and agrees and not self._reviewer.blind.on:
            self._desk.finish_writing()
            effective = session.effective_labels()
            confirmed = effective if alone is None else {alone: effective[alone]}
        closes = state is ReviewState.DONE and alone is not None
        rest = self._without_label(item_id, but=alone) if closes else ()
        mark = None if rest else state  # of the item as a whole
        mark_item = partial(self._reviewer.progress.mark, item_id, mark)
        nothing = mark is None and not confirmed  # a label that was given blind is said
        said = nothing or mark_item(confirmed, session.origin, session.seed)
        if said and not self._go_on():
            self._workspace.note.emit("No item is left to do by this filter.")

    def _owed(self, item_id: str) -> Sequence[str]:
        session, alone = self._desk.session, self._reviewer.progress.criterion
        wanted = session.criteria if alone is None else [alone]
        if self._reviewer.blind.on:
            # Each label was given by itself; that of another annotator must not take its place unseen.
            return [each for each in self._without_label(item_id) if each in wanted]
        if session.run is None or (alone is None and not session.run.results.run.submitted):
            return []
        labelled = session.effective_labels()  # what a submission lacks, only annotators can add
        return [each for each in wanted if each not in labelled]

    def _without_label(self, item_id: str, but: str | None = None) -> Sequence[str]:
        """The criteria on which this annotator has not labelled an item, `but` one."""
        blind, criteria = self._reviewer.blind, self._desk.session.criteria
        unlabelled = (each for each in criteria if not blind.labelled(JudgmentKey(item_id, each)))
        return [each for each in unlabelled if each != but]
