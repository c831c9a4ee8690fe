"""The judgments of one item: a strip of all criteria, the card of one, and what a person changes there.

Knows: the open judgment, its overrides and drafts. Does not know: lists, texts of items.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.core.formatting import clipped, visible
from engine.core.items import Gold, Preference
from engine.core.judgments import AnyJudgment, JudgmentKey, NewReview
from engine.core.people import Reviews
from gui.kit.label_words import LABEL_WORDS
from gui.people.blind import HIDDEN
from gui.people.reviewer import Reviewer
from gui.people.shown import Shown, hidden, human_label, label_from
from gui.review.criterion_strip import CriterionStrip
from gui.review.drafts import Drafts
from gui.review.judgment_card import JudgmentCard
from gui.review.review_jobs import Review
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from gui.work.places import OpenRun


class JudgmentDesk(QWidget):
    """Shows and changes the judgments of the item that it is given."""

    criterion_changed = Signal(str)
    shown = Signal(object)  # the Shown that the card was given
    focus_free = Signal()  # the editor is about to vanish, and keys must go somewhere else
    put_aside = Signal()  # the editor vanishes though nobody closed it: its text is a draft

    def __init__(self, workspace: Workspace, reviewer: Reviewer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._blind = reviewer.blind
        self._named = reviewer.who.then  # does what needs a person's name
        self._run_id = 0
        self._review: Review | None = None
        self._item_id = ""
        self.criterion = ""
        self._drafts = Drafts(workspace.state, workspace.runs_deleted)
        self._asked: dict[JudgmentKey, tuple[Preference | None, str | None]] = {}  # not stored yet
        self._saving: JudgmentKey | None = None
        self.strip = CriterionStrip()
        self.card = JudgmentCard()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.strip)
        layout.addWidget(self.card, 1)
        self.strip.chosen.connect(self.choose_criterion)
        self.card.label_wanted.connect(self.override_label)
        self.card.undo_wanted.connect(self.undo)
        self.card.edit_wanted.connect(self.edit)
        self.card.editor.saved.connect(self._save)
        self.card.editor.left.connect(self._leave)
        workspace.overrides_changed.connect(self._follow_override)
        workspace.reviewed.connect(self._follow_people)
        workspace.problem.connect(self._hear_of_problem)
        reviewer.blind.changed.connect(self._follow_blind)

    # What is shown

    def show_item(self, review: Review, item_id: str, criterion: str) -> None:
        """Show an item of the open run with one criterion open.

        What is being written of this judgment is left alone; of another one it is saved first.
        """
        run = self._workspace.run
        if run is None:
            return
        if (run.id, item_id, criterion) != (self._run_id, self._item_id, self.criterion):
            self.finish_writing()
        if run.id != self._run_id:
            self._asked.clear()
        self._run_id, self._review, self._item_id = run.id, review, item_id
        self.setEnabled(True)
        self._open(criterion)

    def show_nothing(self) -> None:
        """There is no item to look at."""
        self.finish_writing()
        self._item_id = ""
        self.setEnabled(False)

    @Slot()
    def show_changes(self) -> None:
        """The rows of the item have changed."""
        if self._review is not None and self._item_id in self._review.places:
            self.strip.show_rows(self._review.of_item(self._item_id), self.criterion)
            self._show_card()

    @Slot(str)
    def choose_criterion(self, criterion: str) -> None:
        """Open another judgment of the item."""
        if self._item_id and criterion != self.criterion:
            self.finish_writing()
            self._open(criterion)

    def choose_place(self, place: int) -> None:
        """Open the criterion of a key, from 0."""
        if self._review is not None and place < len(self._review.criteria):
            self.choose_criterion(self._review.criteria[place])

    def lay_out_now(self) -> None:
        """At once; else the card still asks for as much room as before."""
        for widget in (self.strip, self.card, self):
            layout = widget.layout()
            if layout is not None:
                layout.activate()

    def restyle(self) -> None:
        """Follow the colours."""
        self.strip.restyle()
        self.card.restyle()

    def _open(self, criterion: str) -> None:
        self.criterion = criterion
        self.criterion_changed.emit(criterion)
        self.show_changes()

    def _show_card(self) -> None:
        run, judgment = self._run, self._judgment()
        if run is None or judgment is None:
            return
        results, key = run.results, self._key
        if not self._may_show:
            shown = hidden(key)
        else:
            human, human_from = self._human()
            said = results.reviews.of_item(self._item_id)
            shown = Shown(
                judgment=judgment,
                label=results.label(judgment),
                explanation=results.explanation(judgment),
                outdated=results.is_outdated(judgment),
                override=results.overrides.get(key),
                history=[override for override in said.overrides if override.criterion == self.criterion],
                human=human,
                human_from=human_from,
                people=[(name, labels[key]) for name, labels in said.labels.items() if key in labels],
                undoable=self._takes_back(key),
                draft=not self.writing and self._drafts.of(run.id, key) is not None,
                doubt=self._doubt(),
                maker="submission" if results.run.submitted else "model",
            )
        self.card.show_judgment(shown)
        self.shown.emit(shown)

    @property
    def _may_show(self) -> bool:
        return self._blind.shows(self._key)

    @property
    def criteria(self) -> Sequence[str]:
        """Those of the run that is shown."""
        return self._review.criteria if self._review is not None else ()

    def labels_in_force(self) -> Mapping[str, Preference]:
        """By criterion, as a person asked for them last; criteria without a label are left out."""
        labels = {name: self._label_in_force(JudgmentKey(self._item_id, name)) for name in self.criteria}
        return {name: label for name, label in labels.items() if label is not None}

    def _label_in_force(self, key: JudgmentKey) -> Preference | None:
        run, review = self._run, self._review
        if run is None or review is None or key.item_id not in review.places:
            return None
        asked = self._asked.get(key, (None, None))[0]
        return asked or run.results.label(run.results.judgments[key.criterion][review.places[key.item_id]])

    @property
    def _key(self) -> JudgmentKey:
        return JudgmentKey(self._item_id, self.criterion)

    @property
    def _run(self) -> "OpenRun | None":
        """The open run, as long as it is the one that is shown here."""
        run = self._workspace.run
        return run if run is not None and run.id == self._run_id else None

    def _judgment(self) -> AnyJudgment | None:
        run, review = self._run, self._review
        if run is None or review is None or self._item_id not in review.places:
            return None
        return run.results.judgments[self.criterion][review.places[self._item_id]]

    def _doubt(self) -> float | None:
        """That of the open judgment, as the list has it."""
        rows = self._review.of_item(self._item_id) if self._review is not None else ()
        return next((row.doubt for row in rows if row.criterion == self.criterion), None)

    def _human(self) -> tuple[Gold | None, Sequence[Path]]:
        """What a human said of the open judgment, and the dataset that says so; all that were looked into
        where none has a label: those chosen, then those that the run judged.
        """
        run, review = self._run, self._review
        if run is None or review is None:
            return None, ()
        judged, gold = run.results.judged[review.places[self._item_id]], self._workspace.gold
        places = ((gold, review.gold_rows.get(self._item_id)), (run.dataset, judged.position))
        return human_label(places, judged, self.criterion)

    # What a person changes

    @Slot(object)
    def override_label(self, preference: Preference) -> None:
        """Let a person's label stand for the model's; his own explanation stays."""
        if self._judgment() is not None:
            self._named(partial(self._give, self._key, preference))

    def _give(self, key: JudgmentKey, preference: Preference) -> None:
        """A label that this person gives blind, or after another one, may be one that he agrees with."""
        blind = not self._blind.shows(key)
        if blind:
            self._blind.give(key)
        equal = self._label_in_force(key) is preference
        by, me = self._author_of_label(key), self._workspace.author
        if equal and (blind or by not in (None, me)):
            self._workspace.review(NewReview(key.item_id, me, confirmed={key.criterion: preference}))
            self._workspace.note.emit(f"You agree: {LABEL_WORDS[preference]}.")
            self.show_changes()
            return
        if equal and by == me:
            self._workspace.note.emit(f"The label is {LABEL_WORDS[preference]} by you already.")
            return
        self._ask(key, preference, self._own(key)[1])
        if blind:
            self.show_changes()

    @Slot()
    def undo(self) -> None:
        """Take this person's last override of the open judgment back."""
        if self._judgment() is None:
            return
        standing = self._said.standing(self._key)
        if self._takes_back(self._key):
            self._workspace.undo_override(self._key)
        elif standing is not None and self._may_show:
            author = visible(clipped(standing.author))
            self._workspace.note.emit(f"This is {author}'s: only {author} can take it back.")
        else:
            self._workspace.note.emit("There is no override of yours to take back.")

    @Slot()
    def edit(self) -> None:
        """Let a person write the explanation; from a draft where there is one."""
        if self.writing:
            self.card.editor.go_on()
        elif not self._may_show:
            self._workspace.note.emit(HIDDEN)
        elif self._judgment() is not None:
            self._named(self._write)

    def _write(self) -> None:
        run, judgment = self._run, self._judgment()
        if run is None or judgment is None or self.writing or not self._may_show:
            return
        text = run.results.explanation(judgment) or ""
        self.card.open_editor(text, self._drafts.of(run.id, self._key))
        self._show_card()

    @property
    def writing(self) -> bool:
        """True while a person writes an explanation."""
        return self.card.editing

    @property
    def run_id(self) -> int:
        """The run of the item that is shown, which may not be the open one any more; 0 before the first."""
        return self._run_id

    @property
    def item_id(self) -> str:
        """The item that is shown; empty where there is none."""
        return self._item_id

    def finish_writing(self) -> None:
        """Save what is being written, if it is new; where another run is open now, keep it as a draft."""
        if self.writing and self._run is not None:
            self._save(self.card.editor.text)
        elif self.writing:
            self._put_aside(f"Another run is open. What you wrote of item {self._item_id} is a draft.")

    def _put_aside(self, note: str) -> None:
        """Close the editor; what is new in it is a draft, and `note` says so."""
        self.keep_draft()
        if self.card.editor.changed:
            self._workspace.note.emit(note)
        self._close_editor()
        self.put_aside.emit()

    def _close_editor(self) -> None:
        # Else Qt gives the focus to the next button, which overrides the label at the next Space.
        if self.card.editor.has_focus:
            self.focus_free.emit()
        self.card.close_editor()

    def keep_draft(self) -> None:
        """Remember what is being written: the window may close."""
        if self.writing and self.card.editor.changed:
            self._drafts.keep(self._run_id, self._key, self.card.editor.text)

    def _own(self, key: JudgmentKey) -> tuple[Preference | None, str | None]:
        """Label and explanation that this person gave himself, as asked for last."""
        own = self._said.standing(key, self._workspace.author)
        return self._asked.get(key, (own.preference, own.explanation) if own else (None, None))

    def _takes_back(self, key: JudgmentKey) -> bool:
        """Whether there is an override of this person to take back."""
        return key in self._asked or self._said.standing(key, self._workspace.author) is not None

    def _author_of_label(self, key: JudgmentKey) -> str | None:
        """Whose label stands for the model's, as asked for last; None where it is the model's own."""
        if self._asked.get(key, (None, None))[0] is not None:
            return self._workspace.author
        return label_from(self._said, key)

    @property
    def _said(self) -> Reviews:
        """All that people said of the run."""
        return self._run.results.reviews if self._run else Reviews()

    def _ask(self, key: JudgmentKey, preference: Preference | None, explanation: str | None) -> None:
        self._asked[key] = (preference, explanation)
        self._workspace.override(key, preference, explanation)

    @Slot(str)
    def _save(self, text: str) -> None:
        key, changed = self._key, self.card.editor.changed
        label, explanation = self._own(key)
        if self._author_of_label(key) != self._workspace.author:
            label = None  # whose words these are says nothing of whose label it is
        self._close_editor()
        if not changed:
            self._drafts.drop(self._run_id, key)
        elif text.strip() or (label is not None and explanation is not None):
            # Kept until it is stored: the engine may refuse it.
            self._drafts.keep(self._run_id, key, text)
            self._saving = key
            self._ask(key, label, text.strip() or None)
        else:
            self._drafts.drop(self._run_id, key)
            self._workspace.note.emit("An empty text is no explanation. U takes an override back.")
        self._show_card()

    @Slot()
    def _follow_blind(self) -> None:
        """What is written of a judgment that is hidden now holds words of it: it becomes a draft."""
        if self.writing and not self._may_show:
            self._put_aside("What you wrote is a draft: E opens it once you have labelled.")
        self.show_changes()

    @Slot(str)
    def _leave(self, _text: str) -> None:
        self.keep_draft()
        if not self.card.editor.changed:
            self._drafts.drop(self._run_id, self._key)
        self._close_editor()
        self._show_card()

    @Slot(object)
    def _follow_override(self, key: JudgmentKey) -> None:
        run = self._run
        if run is None:
            return
        self._asked.pop(key, None)
        draft = self._drafts.of(run.id, key)
        if key == self._saving and draft is not None and draft.strip() == (self._own(key)[1] or ""):
            self._drafts.drop(run.id, key)
            self._saving = None
        if key == self._key:
            self._show_card()

    @Slot(str)
    def _follow_people(self, item_id: str) -> None:
        """Others' labels of the item may have come, or what was hidden may be shown."""
        if item_id == self._item_id:
            self.show_changes()

    @Slot(object)
    def _hear_of_problem(self, _error: object) -> None:
        """Something was not stored: what was asked for counts no more; what was written is there again."""
        saving, self._saving = self._saving, None
        self._asked.clear()
        if saving is not None and saving == self._key:
            self.edit()
