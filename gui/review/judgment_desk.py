"""What a screen reader is told of a review: the item that keys lead to, what becomes of its labels.

Lines to be read in a window of their own, one below the other; the keys of a list work in it.

The judgments of one item: a strip of all criteria, the card of one, and the way of a request to the store.
"""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QWidget

from engine.annotations.records import AnyWord, Kind, annotations_in
from engine.core.formatting import counted, words
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, SubmittedLabel, Unscored
from gui.review.annotators import Reviewer
from gui.review.blind import HIDDEN
from gui.review.criterion_strip import CriterionStrip, OverrideButtons
from gui.review.drafts import DelayedSave, override_in_words
from gui.review.judgment_card import JudgmentCard
from gui.review.review_jobs import Review
from gui.review.session import Change, ReviewedJudgment, ReviewSession
from gui.widgets.actions import LONGEST, Announcer
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import STRETCH, in_column, make_room, name
from gui.workspace.state import NEXT_CRITERION
from gui.workspace.workspace import Workspace


class LinesDialog(QDialog):
    """Closed, it is gone."""

    def __init__(self, title: str, lines: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.lines = lines
        self._list = QListWidget()
        self._list.setWordWrap(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideNone)
        for line in lines:
            self._list.addItem(one_line(line))
            self._list.item(self._list.count() - 1).setToolTip(tip(line))
        self._list.setCurrentRow(len(lines) - 1)
        name(self._list, title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        in_column((self._list, STRETCH), buttons, on=self, margins=None)
        make_room(self, 72, 14)
        self._list.setFocus()


NEXT_ITEM = "items"
AFTER_LABEL = {
    "": "stay on the criterion",
    "on": "go to the next unlabelled criterion",
    NEXT_ITEM: "go to the next criterion, then the next item",
}
"""What follows a label, by how the window remembers it."""


class JudgmentDesk(QWidget):
    """Shows the judgments of the item that it is given, and carries out what an annotator requests of
    them.
    """

    shown = Signal(object)  # a Shown, other than the one before: what the card shows now
    focus_free = Signal()  # the editor is about to vanish, and keys must go somewhere else
    labelled = Signal(object)  # all that is wanted of the item: go on; when it was said what was said before
    item_wanted = Signal(object)  # a JudgmentKey of another item, which was left by itself
    put_aside = Signal()  # the editor vanishes though nobody closed it: its text is a draft

    def __init__(
        self,
        workspace: Workspace,
        reviewer: Reviewer,
        session: ReviewSession,
    ) -> None:
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
        reviewer.blind_changed.connect(self._follow_blind)
        reviewer.drafts.changed.connect(self._follow_draft)

    # What is shown

    def show_item(self, review: Review, item_id: str, criterion: str) -> None:
        """Show an item of the open run with one criterion open.

        What is being written of this judgment is left alone; of another one it is saved first.
        """
        run, session = self._workspace.run, self.session
        if run is None:
            return
        if (run.id, item_id, criterion) != (session.run_id, *session.key):
            self.finish_writing()
        session.open(review, item_id, criterion)
        self.setEnabled(True)
        self._show_anew()

    def show_nothing(self) -> None:
        """There is no item to look at."""
        self.finish_writing()
        self.session.close()
        self.setEnabled(False)

    @Slot()
    def show_changes(self) -> None:
        """Show what has changed of the item, if anything has."""
        rows = self.session.rows
        if rows:
            self.strip.show_rows(rows, self.session.criterion, self.session.begun)
            self._show()

    @Slot(str)
    def choose_criterion(self, criterion: str) -> None:
        """Open another judgment of the item."""
        if self.session.item_id and criterion != self.session.criterion:
            self.finish_writing()
            self.session.criterion = criterion
            self._show_anew()

    def choose_number(self, number: int) -> None:
        """Open the criterion of a key, from 0."""
        count = len(self.session.criteria)
        if number < count:
            self.choose_criterion(self.session.criteria[number])
        else:
            self._workspace.note.emit(f"This run has {counted(count, 'criterion', 'criteria')}.")

    @Slot()
    def fold(self) -> None:
        """Fold the card to one line, or open it."""
        self._on_card(self.card.toggle_fold)

    @Slot()
    def show_orders(self) -> None:
        """Show what the model read in each order, large, or no longer."""
        self._on_card(self.card.toggle_orders, self._no_readings)

    @Slot()
    def show_methods(self) -> None:
        """Go to what each elicitation method said, or back."""
        alone = "The run has one elicitation method: the bars of the orders show all of it."
        self._on_card(
            self.card.toggle_methods, self._no_readings or (alone if not self.card.has_methods else "")
        )

    def _on_card(self, do: Callable[[], object], why_not: str = "") -> None:
        """Do something with the card, or say why it makes no sense."""
        if self.card.isHidden():
            why_not = "The columns replace the judgment: press V to close them."
        if why_not:
            self._workspace.note.emit(why_not)
        else:
            do()

    @property
    def _no_readings(self) -> str:
        """Why there is nothing that the model read of the open judgment; empty where there is."""
        judgment = self.session.judgment
        if not self.session.may_see:
            return HIDDEN
        if isinstance(judgment, SubmittedLabel):
            return "A submission has only labels, not the raw predictions of each order and method."
        return f"Unscored: {judgment.reason}." if isinstance(judgment, Unscored) else ""

    @Slot()
    def show_history(self) -> None:
        """List who changed the open judgment, what and when."""
        lines = (
            [override_in_words(override) for override in self._shown.history]
            if self._shown is not None
            else []
        )
        if lines:
            LinesDialog("Changes of this judgment, the newest last", lines, self).open()
        else:
            self._workspace.note.emit(
                "This judgment has not been changed." if self.session.may_see else HIDDEN
            )

    def lay_out_now(self) -> None:
        """At once; else the card still asks for as much room as before."""
        for widget in (self.strip, self.card, self):
            layout = widget.layout()
            if layout is not None:
                layout.activate()

    def restyle(self) -> None:
        """Follow the colours."""
        self.strip.restyle()
        self.card.buttons.restyle()

    def _show_anew(self) -> None:
        """Show a judgment that was opened, also one that looks as the one before."""
        self._shown = None
        self.show_changes()

    def _show(self) -> None:
        shown = self.session.shown
        if shown is not None and shown != self._shown:
            self._shown = shown
            self.shown.emit(shown)

    # What an annotator requests

    def follow(self, buttons: OverrideButtons) -> None:
        """Do what an annotator wants by some buttons."""
        buttons.label_wanted.connect(self.override_label)
        buttons.edit_wanted.connect(self.edit)
        buttons.undo_wanted.connect(self.undo)
        buttons.redo_wanted.connect(self.redo)

    @Slot(object)
    def override_label(self, label: Preference) -> None:
        """Let an annotator's label stand for the model's; their own explanation stays."""
        if self.session.judgment is not None:
            self._named(partial(self._change, self.session.key, label))

    def adjudicate(self) -> bool:
        """Let the open judgment be adjudicated as most annotators say; False where that is not possible."""
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
        adjudicated = session.settling and follows == NEXT_ITEM  # one judgment, whoever labelled the others
        if missing := session.to_label(self._progress.criterion) if not adjudicated else []:
            self.choose_criterion(missing[0])
        elif follows == NEXT_ITEM and not self.writing:
            self.labelled.emit(before)

    @Slot()
    def undo(self) -> None:
        """Take back what this annotator did last with the item."""
        if self.session.judgment is not None:
            self._carry_out(self.session.undo())

    @Slot()
    def redo(self) -> None:
        """Do again what this annotator took back last."""
        if self.session.judgment is not None:
            self._carry_out(self.session.redo())

    def _carry_out(self, change: Change) -> bool:
        """Let the store keep it; True where a label or an explanation is said. What is effective is shown
        once it is stored, not when it is requested.
        """
        said = change.say is not None and bool(self._workspace.say(change.say, over=change.over))
        for undo in change.undo:
            self._workspace.take_back(undo)
        if change.item_id:
            self.item_wanted.emit(JudgmentKey(change.item_id, change.criterion or self.session.criterion))
        elif change.undo:
            self.choose_criterion(change.criterion or self.session.criterion)
        if change.note:
            self._workspace.note.emit(change.note)
        return said

    @Slot()
    def edit(self) -> None:
        """Let an annotator write the explanation; from a draft where there is one."""
        if self.writing:
            self.card.editor.go_on()
        elif not self.session.may_see:
            self._workspace.note.emit(HIDDEN)
        elif self.session.judgment is not None:
            self._named(self._write)

    def _write(self) -> None:
        begun = self.session.begin_writing()
        if begun is not None:
            self.card.open_editor(*begun)
            self._show()

    @property
    def writing(self) -> bool:
        """True while an annotator writes an explanation."""
        return self.session.writing

    def finish_writing(self) -> None:
        """Save what is being written, if it is new; where another run is open now, keep it as a draft."""
        if self.writing and self.session.run is not None:
            self._save(self.card.editor.text)
        elif self.writing:
            item_id = self.session.item_id
            self._put_aside(f"Another run is open. What you wrote of item {item_id} is a draft.")

    @Slot()
    def keep_draft(self) -> None:
        """Remember what is being written: the window may close, or the battery end."""
        self.session.keep_draft(self.card.editor.text, self.card.editor.changed)

    def _put_aside(self, note: str) -> None:
        """Close the editor; what is new in it is a draft, and `note` says so."""
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

    @Slot(str)
    def _save(self, text: str) -> None:
        change = self.session.save(text, self.card.editor.changed)
        self._close_editor()
        self._carry_out(change)
        self._show()

    @Slot(str)
    def _leave(self, text: str) -> None:
        self.session.leave(text, self.card.editor.changed)
        self._close_editor()
        self._show()

    # What becomes of it

    @Slot(object)
    def _follow_override(self, key: JudgmentKey) -> None:
        self.session.stored(key)
        self._show()

    @Slot(str)
    def _follow_annotators(self, item_id: str) -> None:
        """Others' labels of the item may have come, or what was hidden may be shown."""
        if item_id == self.session.item_id:
            self.show_changes()

    @Slot(str)
    def _follow_draft(self, item_id: str) -> None:
        if item_id == self.session.item_id and self.session.run is not None:
            self.strip.show_rows(self.session.rows, self.session.criterion, self.session.begun)

    @Slot()
    def _follow_blind(self) -> None:
        """What is written of a judgment that is hidden now holds words of it: it becomes a draft."""
        if self.writing and not self.session.may_see:
            self._put_aside("What you wrote is a draft: E opens it once you have labelled.")
        self.show_changes()

    @Slot(object)
    def _take_back(self, what: AnyWord) -> None:
        """Something will not be stored: what was written is there again."""
        for word in annotations_in(what):
            if word.kind is Kind.OVERRIDE and self.session.lost(word.key):
                self.edit()


class ReviewAnnouncements(Announcer):
    """Told of each item and judgment that is shown; says what is new of it."""

    _item_id: str | None = None
    # A judgment, and which label and explanation were shown of it last.
    _told: tuple[JudgmentKey, str, str | None] | None = None

    def show_item(self, item_id: str, instruction: str) -> None:
        """Say which item is open now, with the beginning of its instruction."""
        if item_id != self._item_id:
            self._item_id = item_id
            begun = one_line(instruction[:LONGEST])
            self.say(
                f"Item {one_line(item_id)}: {begun}" if begun else f"Item {one_line(item_id)}", at_once=True
            )

    @Slot(object)
    def show_judgment(self, shown: ReviewedJudgment) -> None:
        """Say the label where it, or the open criterion, is another one, and the explanation where that alone
        is; of a new item its label is said alone.
        """
        key, label = shown.judgment.key, HIDDEN if shown.hidden else LABEL_WORDS[shown.label]
        before, self._told = self._told, (key, label, shown.explanation)
        if before is None or before[0].item_id != key.item_id:
            return
        if before[:2] != (key, label):
            self.say(f"{words(key.criterion).capitalize()}: {label}")
        elif before != self._told:
            self.say(f"Explanation: {one_line((shown.explanation or 'none')[:LONGEST])}")
