"""The judgments of one item: a strip of all criteria, the card of one, the way of a request to the store, and
what a screen reader is told of it. Then on to the next item: one is accepted, skipped, reopened.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QListWidget, QPushButton, QWidget

from engine.annotations.records import AnnotationKind, AnyWord, annotations_in
from engine.core.formatting import clipped, counted, visible, words
from engine.core.items import HumanLabel, Preference
from engine.core.judgments import JudgmentKey, ReviewState, SubmittedLabel, Unscored
from gui.review.annotators import Reviewer
from gui.review.criterion_strip import CriterionStrip, OverrideButtons
from gui.review.judgment_card import JudgmentCard
from gui.review.progress import DelayedSave
from gui.review.review_jobs import HIDDEN, Review
from gui.review.session import Change, ReviewedJudgment, ReviewSession, override_in_words
from gui.widgets import labels
from gui.widgets.actions import LONGEST, Announcer, press_once
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, one_line, set_tip, tip
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import STRETCH, in_column, keep_room, name
from gui.workspace.state import NEXT_CRITERION
from gui.workspace.workspace import Workspace


class LinesDialog(labels.Dialog):
    def __init__(self, title: str, lines: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(title, parent, 72, 14)
        self.lines = lines
        shown = QListWidget()
        shown.setWordWrap(True)
        shown.setTextElideMode(Qt.TextElideMode.ElideNone)
        for line in lines:
            shown.addItem(one_line(line))
            shown.item(shown.count() - 1).setToolTip(tip(line))
        shown.setCurrentRow(len(lines) - 1)
        name(shown, title)
        in_column((shown, STRETCH), labels.close_button(self), on=self, margins=None)
        shown.setFocus()


NEXT_ITEM = "items"
AFTER_LABEL = {  # by how the window remembers it
    "": "stay on the criterion",
    "on": "go to the next unlabelled criterion",
    NEXT_ITEM: "go to the next criterion, then the next item",
}


class JudgmentDesk(QWidget):
    shown = Signal(object)  # a ReviewedJudgment, other than the one before: what the card shows now
    focus_free = Signal()  # the editor is about to vanish, and keys must go somewhere else
    labelled = Signal(object)  # all that is wanted of the item: go on; when it was said what was said before
    item_wanted = Signal(object)  # a JudgmentKey of another item, which was left by itself
    put_aside = Signal()  # the editor vanishes, or does not open: what is typed on is for none

    def __init__(self, workspace: Workspace, reviewer: Reviewer, session: ReviewSession) -> None:
        super().__init__()
        self._workspace = workspace
        self._named = reviewer.who.then  # does what needs an annotator's name
        self._progress = reviewer.progress
        self.session = session
        self._shown: ReviewedJudgment | None = None
        self.strip = CriterionStrip()
        self.card = JudgmentCard()
        in_column(self.strip, (self.card, STRETCH), on=self, spacing=4)
        self.shown.connect(self.card.show_judgment)
        self.strip.chosen.connect(self.choose_criterion)
        self.follow(self.card.buttons)
        self.card.earlier.clicked.connect(self.show_history)
        self.card.editor.saved.connect(self._save)
        self.card.editor.left.connect(self._leave)
        self.card.editor.field.textChanged.connect(DelayedSave(self.keep_draft, self).ask)
        workspace.overrides_changed.connect(self._follow_override)
        workspace.reviewed.connect(self._follow_annotators)
        workspace.unsaid.connect(self._take_back)
        workspace.author_leaves.connect(self._part_with_author)
        reviewer.blind_changed.connect(self._follow_blind)
        reviewer.drafts.changed.connect(self._follow_draft)

    # What is shown

    def show_item(self, review: Review, item_id: str, criterion: str) -> None:
        """Show an item of the open run; what is being written of another judgment is saved first."""
        run, session = self._workspace.run, self.session
        if run is None:
            return
        if (run.id, item_id, criterion) != (session.run_id, *session.key):
            self.finish_writing()
        session.open(review, item_id, criterion)
        self.setEnabled(True)
        self._show_anew()

    def show_nothing(self) -> None:
        self.finish_writing()
        self.session.close()
        self.setEnabled(False)

    def show_changes(self) -> None:
        rows = self.session.rows
        if rows:
            self.strip.show_rows(rows, self.session.criterion, self.session.begun)
            self._show()

    def choose_criterion(self, criterion: str) -> None:
        if self.session.item_id and criterion != self.session.criterion:
            self.finish_writing()
            self.session.criterion = criterion
            self._show_anew()

    def choose_number(self, number: int) -> None:
        count = len(self.session.criteria)
        if number < count:
            self.choose_criterion(self.session.criteria[number])
        else:
            self._workspace.note.emit(f"This run has {counted(count, 'criterion', 'criteria')}.")

    def fold(self) -> None:
        self._on_card(self.card.toggle_fold)

    def show_orders(self) -> None:
        self._on_card(self.card.toggle_orders, self._no_readings)

    def show_methods(self) -> None:
        alone = "The run has one elicitation method: the bars of the orders show all of it."
        why_not = self._no_readings or ("" if self.card.has_methods else alone)
        self._on_card(self.card.toggle_methods, why_not)

    def _on_card(self, do: Callable[[], object], why_not: str = "") -> None:
        if self.card.isHidden():
            why_not = "The columns replace the judgment: press V to close them."
        if why_not:
            self._workspace.note.emit(why_not)
        else:
            do()

    @property
    def _no_readings(self) -> str:
        judgment = self.session.judgment
        if not self.session.may_see:
            return self.session.why_hidden
        if isinstance(judgment, SubmittedLabel):
            return "A submission has only labels, not the raw predictions of each order and method."
        return f"Unscored: {judgment.reason}." if isinstance(judgment, Unscored) else ""

    def show_history(self) -> None:
        if lines := [override_in_words(each) for each in (self._shown.history if self._shown else ())]:
            labels.open_dialog(LinesDialog("Changes of this judgment, the newest last", lines, self))
        else:
            unchanged = "This judgment has not been changed."
            self._workspace.note.emit(unchanged if self.session.may_see else self.session.why_hidden)

    def lay_out_now(self) -> None:
        # Else the card still asks for as much room as before.
        for widget in (self.strip, self.card, self):
            if (layout := widget.layout()) is not None:
                layout.activate()

    def _show_anew(self) -> None:
        # Also a judgment that looks as the one before.
        self._shown = None
        self.show_changes()

    def _show(self) -> None:
        shown = self.session.shown
        if shown is not None and shown != self._shown:
            self._shown = shown
            self.shown.emit(shown)

    # What an annotator requests

    def follow(self, buttons: OverrideButtons) -> None:
        buttons.label_wanted.connect(self.override_label)
        buttons.edit_wanted.connect(self.edit)
        buttons.undo_wanted.connect(self.undo)

    def override_label(self, label: Preference) -> None:
        if self.session.judgment is not None:
            self._named(partial(self._change, self.session.key, label))

    def adjudicate(self) -> bool:
        """As most annotators say of the open judgment; False where that is not possible."""
        change = self.session.adjudicate()
        self._carry_out(change)
        return bool(change.say) or not change.note

    def _change(self, key: JudgmentKey, label: Preference) -> None:
        session, before = self.session, self.session.said_of_item()
        said = self._carry_out(session.change(key, label))
        follows = self._workspace.state.text(NEXT_CRITERION)
        self._progress.follow_label(key.item_id)
        if not (said and follows and key == session.key):
            return
        # One judgment is adjudicated, whoever labelled the others.
        adjudicated = session.adjudicating and follows == NEXT_ITEM
        if missing := session.to_label(self._progress.criterion) if not adjudicated else []:
            self.choose_criterion(missing[0])
        elif follows == NEXT_ITEM and not self.writing:
            self.labelled.emit(before)

    def undo(self) -> None:
        if self.session.judgment is not None:
            self._carry_out(self.session.undo())

    def redo(self) -> None:
        if self.session.judgment is not None:
            self._carry_out(self.session.redo())

    def undo_last(self, again: bool) -> None:
        self._carry_out(self.session.redo_last() if again else self.session.undo_last())

    def _carry_out(self, change: Change) -> bool:
        """Let the store keep it; True where a label or an explanation is said."""
        said = change.say is not None and bool(self._workspace.say(change.say, over=change.over))
        for undo in change.undo:
            self._workspace.take_back(undo)
        criterion = change.criterion or self.session.criterion
        if change.item_id:
            self.item_wanted.emit(JudgmentKey(change.item_id, criterion))
        elif change.undo:
            self.choose_criterion(criterion)
        if change.note:
            self._workspace.note.emit(change.note)
        return said

    def edit(self) -> None:
        if self.writing:
            self.card.editor.field.setFocus()
        elif not self.session.may_write:
            self._workspace.note.emit("Label it first (A, B, G or X), then write: you label blind.")
            self.put_aside.emit()  # what they type on is no label
        elif self.session.judgment is not None:
            self._named(self._write)

    def _write(self) -> None:
        if (begun := self.session.begin_writing()) is not None:
            self.card.open_editor(*begun)
            self._show()

    @property
    def writing(self) -> bool:
        return self.session.writing

    def finish_writing(self) -> None:
        """Save what is being written, if it is new; where another run is open now, keep it as a draft."""
        if self.writing and self.session.run is not None:
            self._save()
        elif self.writing:
            item_id = self.session.item_id
            self._put_aside(f"Another run is open. What you wrote of item {item_id} is a draft.")

    def keep_draft(self) -> None:  # the window may close, or the battery end
        self.session.keep_draft(self.card.editor.text, self.card.editor.changed)

    def _put_aside(self, note: str) -> None:
        self.keep_draft()
        if self.card.editor.changed:
            self._workspace.note.emit(note)
        self._close_editor()
        self.put_aside.emit()

    def _close_editor(self) -> None:
        self.session.writing = False
        # Else Qt gives the focus to the next button, which overrides the label at the next Space.
        if self.card.editor.has_focus:
            self.focus_free.emit()
        self.card.close_editor()

    def _save(self) -> None:
        change = self.session.save(self.card.editor.text, self.card.editor.changed)
        self._close_editor()
        self._carry_out(change)
        self._show()

    def _leave(self) -> None:
        self.session.leave(self.card.editor.text, self.card.editor.changed)
        self._close_editor()
        self._show()

    # What becomes of it

    def _follow_override(self, key: JudgmentKey) -> None:
        self.session.stored(key)
        self._show()

    def _follow_annotators(self, item_id: str) -> None:
        if item_id == self.session.item_id:
            self.show_changes()

    def _follow_draft(self, item_id: str) -> None:
        if item_id == self.session.item_id and self.session.run is not None:
            self.strip.show_rows(self.session.rows, self.session.criterion, self.session.begun)

    def _follow_blind(self) -> None:
        # What is written of a judgment that is hidden now holds words of it: it becomes a draft.
        if self.writing and not self.session.may_write:
            self._put_aside("What you wrote is a draft: E opens it once you have labelled.")
        self.show_changes()

    def _part_with_author(self) -> None:
        # What waits for the store, or is being written, is nobody else's.
        if self.writing:
            self._put_aside(f"What you wrote is a draft of {visible(clipped(self._workspace.author))}.")
        self.session.forget_requests()

    def _take_back(self, what: AnyWord) -> None:
        # It will not be stored: what was written is there again.
        for word in annotations_in(what):
            if word.kind is AnnotationKind.OVERRIDE and self.session.lost(word.key):
                self.edit()


class ReviewAnnouncements(Announcer):
    _item_id: str | None = None
    _told: tuple[JudgmentKey, str, str | None] | None = None  # with the label and the explanation shown last

    def show_item(self, item_id: str, instruction: str) -> None:
        if item_id != self._item_id:
            self._item_id = item_id
            begun = one_line(instruction[:LONGEST])
            said = f": {begun}" if begun else ""
            self.say(f"Item {one_line(item_id)}{said}", at_once=True)

    def show_judgment(self, shown: ReviewedJudgment) -> None:
        """Say another label or criterion, else another explanation; of a new item its label is said alone."""
        key, hidden = shown.judgment.key, shown.hidden and shown.label is None
        label = HIDDEN if hidden else LABEL_WORDS[shown.label]
        before, self._told = self._told, (key, label, shown.explanation)
        if before is None or before[0].item_id != key.item_id:
            return
        if before[:2] != (key, label):
            self.say(f"{words(key.criterion).capitalize()}: {label}")
        elif before != self._told:
            self.say(f"Explanation: {one_line((shown.explanation or 'none')[:LONGEST])}")


class QueueLine(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.text, buttons = OneLine(), QWidget()
        self.confirm, self.skip = QPushButton("Accept (Enter)"), QPushButton("Skip (S)")
        self._criterion: str | None = None
        self._word = "Accept"
        name(self.skip, "Skip the item", "Skip the item for now; the next one to do follows")
        self.again = QPushButton("Reopen (T)")
        name(self.again, "Reopen the item: mark it to do")
        FlowLayout(self.confirm, self.skip, self.again, on=buttons, gap=4, whole=True)
        for button in (self.confirm, self.skip):
            press_once(button)
        keep_room(self.again)
        in_column(self.text, buttons, on=self, spacing=4)

    def show_progress(self, words: str) -> None:
        self.text.setText(words)
        set_tip(self.text, words)
        self.text.setAccessibleName(words)

    def follow_criterion(self, criterion: str | None) -> None:
        self._criterion = criterion
        self.follow_word(self._word)

    def follow_word(self, word: str) -> None:
        """What Enter does: Accept, as the Majority, or, where nothing is to be agreed with, Done."""
        self._word, on = word, f" on {words(self._criterion)}" if self._criterion else ""
        called, what = {
            "Accept": ("Accept the item", f"You agree with {f'its label{on}' if on else 'all its labels'}"),
            "Majority": ("Adjudicate by majority", "Most annotators gave this label"),
            "Done": ("Done with the item", f"You have labelled it{on}"),
        }[word]
        self.confirm.setText(f"{word} (Enter)")
        name(self.confirm, called, f"{what}; the next one to do follows")

    def show_item(self, there: bool, reopens: bool, confirms: bool) -> None:
        self.confirm.setEnabled(there and confirms)
        self.skip.setEnabled(there)
        self.again.setVisible(reopens)


class ItemQueue(QObject):
    """What Enter, S and T do. `go_on` chooses the next item that is to do; False where there is none.
    `next_unsettled`: where annotators differ next, but for one judgment.
    """

    go_on: Callable[[], bool]
    next_unsettled: Callable[[JudgmentKey], JudgmentKey | None]

    def __init__(self, workspace: Workspace, reviewer: Reviewer, desk: JudgmentDesk, line: QueueLine) -> None:
        super().__init__(desk)
        self._workspace, self._reviewer, self._desk = workspace, reviewer, desk
        line.confirm.clicked.connect(self.confirm)
        line.skip.clicked.connect(self.skip)
        line.again.clicked.connect(self.take_back)
        desk.labelled.connect(self._go_on_by_itself)

    def confirm(self) -> None:
        if self._desk.session.adjudicating:
            self._reviewer.who.then(self._adjudicate)
        else:
            self._begin(ReviewState.DONE)

    def skip(self) -> None:
        self._begin(ReviewState.SKIPPED)

    def take_back(self) -> None:
        # Labels that were accepted stay until others are given.
        progress, item_id = self._reviewer.progress, self._desk.session.item_id
        if self._shown is None:
            return
        if progress.state(item_id) is ReviewState.TO_DO:
            self._workspace.note.emit("The item is marked to do already.")
        elif progress.reopens(item_id):
            progress.mark(item_id, ReviewState.TO_DO)
        else:
            on = words(progress.criterion or "")
            self._workspace.note.emit(f"You have labelled {on}: U undoes that, another label replaces it.")

    @property
    def _shown(self) -> tuple[int, str] | None:
        """The run and the item that are shown; None where that run is not the open one."""
        session = self._desk.session
        return (session.run_id, session.item_id) if session.run is not None and session.item_id else None

    def _begin(self, state: ReviewState) -> None:
        if self._shown is not None:
            self._reviewer.who.then(partial(self._finish, self._shown, state))

    def _adjudicate(self) -> None:
        key = self._desk.session.key
        self._desk.finish_writing()
        if self._shown is not None and self._desk.adjudicate():
            self._go_on_adjudicating(key)

    def _go_on_adjudicating(self, adjudicated: JudgmentKey) -> None:
        following = self.next_unsettled(adjudicated)
        if following is None:
            self._workspace.note.emit("No listed item is left to adjudicate.")
        else:
            self._workspace.show_in_review(following)

    def _go_on_by_itself(self, before: Collection[datetime]) -> None:
        """All that is wanted of the item is labelled; `before`: when it was said what was said before."""
        session, shown = self._desk.session, self._shown
        if shown is None:
            return
        if session.adjudicating:
            self._go_on_adjudicating(session.key)
        else:
            self._finish(shown, ReviewState.DONE, agrees=False)
        session.went_on(shown[1], before)
        self._desk.show_changes()

    def _finish(self, shown: tuple[int, str], state: ReviewState, agrees: bool = True) -> None:
        if self._shown != shown:
            return
        session, reviewer = self._desk.session, self._reviewer
        alone, done = reviewer.progress.criterion, state is ReviewState.DONE
        confirmed: Mapping[str, HumanLabel] = {}
        if done and (missing := self._owed):
            self._workspace.note.emit(f"Label it first: {', '.join(map(words, missing))}.")
            self._desk.choose_criterion(missing[0])
            return
        if done and agrees and not reviewer.blind.hides(shown[1]):
            self._desk.finish_writing()
            effective = session.effective_labels()
            confirmed = effective if alone is None else {alone: effective[alone]}
        rest = done and alone is not None and set(session.unlabelled) - {alone}
        mark = None if rest else state  # of the item as a whole
        nothing = mark is None and not confirmed  # a label that was given blind is said
        said = nothing or reviewer.progress.mark(shown[1], mark, confirmed, session.origin, session.seed)
        if said and not self.go_on():
            self._workspace.note.emit("No item is left to do by this filter.")

    @property
    def _owed(self) -> Sequence[str]:
        session, alone = self._desk.session, self._reviewer.progress.criterion
        wanted = session.criteria if alone is None else [alone]
        if self._reviewer.blind.hides(session.item_id):
            # Each label was given by itself; that of another annotator must not take its place unseen.
            return [each for each in session.unlabelled if each in wanted]
        if session.run is None or (alone is None and not session.run.results.run.submitted):
            return []
        labelled = session.effective_labels()  # what a submission lacks, only annotators can add
        return [each for each in wanted if each not in labelled]
