"""The annotator who reviews: their name, asked once before the first label or note; blind or not; what they
note of an item; the filters by progress and tag.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from engine.annotations.effective import tags_together
from engine.annotations.records import Annotation
from engine.core.formatting import clipped, visible
from engine.core.judgments import JudgedItem, JudgmentKey, ReviewState
from gui.review.criterion_strip import compact_button
from gui.review.progress import STATE_WORDS, DelayedSave, Drafts, Progress, note_of
from gui.review.review_jobs import Blind
from gui.widgets import labels
from gui.widgets.actions import CurrentChoice, ReadingOrder, add_entry
from gui.widgets.fields import FlowLayout, narrow_box
from gui.widgets.foreign_text import OneLine, one_line, set_tip
from gui.widgets.label_mark import Pill
from gui.widgets.labels import STRETCH, heading, hint, in_column, in_row, name
from gui.workspace import store_jobs
from gui.workspace.state import ANSWERS, BLIND, HIDDEN_SHARE, State
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import LONGEST_NAME, Workspace

LONGEST_TAG = 255
_LONGEST_NOTE = 20_000
_MOST_PILLS = 4
_LONGEST_PILL = 18
_Note = tuple[str, tuple[str, ...]]  # its text and tags
_MOST_LISTED = 12
_WHAT_FOR = (
    "Your name is stored with every label and note that you give, and is in exports."
    " You can change it at any time."
)
_BLIND = (
    "Hide the labels of the judge, other annotators and the dataset; File > Settings can show them after each"
    " label of yours"
)
_ADJUDICATE = (
    "Compare the annotations side by side and decide the effective label; other annotators cannot change it"
)


class WhoDialog(QDialog):
    def __init__(self, suggested: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Who is annotating?")
        self.field = QLineEdit(suggested, maxLength=LONGEST_NAME)
        self.field.selectAll()
        name(self.field, "Your name")
        self._buttons = labels.ok_and_cancel(self)
        self.field.textChanged.connect(self._check)
        parts = (heading("Your name"), self.field, hint(_WHAT_FOR), self._buttons)
        in_column(*parts, on=self, margins=None, spacing=10)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 56)
        self._check()

    def _check(self) -> None:
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(typed_in(self.field)))


class WhoButton(CurrentChoice):
    """`You are Ada ▾`: everybody who labelled the open run, and another name."""

    assigning = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__("Annotator")
        self._workspace = workspace
        self._request: Callable[[], object] | None = None
        self._wished_of: int | None = None  # the run that was open
        self.dialog: WhoDialog | None = None
        workspace.author_changed.connect(self.follow)
        self.follow()

    def then(self, request: Callable[[], object]) -> None:
        """Do what needs a name: at once, or once one is given while the same run is open."""
        if self._workspace.knows_author:
            request()
        else:
            self._request, self._wished_of = request, self._open_run
            self.ask()

    def ask(self) -> None:
        if self.dialog is not None:
            return
        self.dialog = WhoDialog(self._workspace.author, QApplication.activeWindow() or self.window())
        self.dialog.finished.connect(self._take)
        labels.open_dialog(self.dialog)

    def follow(self) -> None:
        author = visible(self._workspace.author)
        separate = f"You are {author}. Your annotations are separate from those of others."
        self.show_current(f"You are {author}", separate)

    def _take(self, result: int) -> None:
        dialog, self.dialog = self.dialog, None
        request, self._request = self._request, None
        if dialog is not None and result == QDialog.DialogCode.Accepted:
            self._workspace.set_author(typed_in(dialog.field))
            if request is not None and self._open_run == self._wished_of:
                request()
            elif request is not None:
                lost = "your last action on the previous one was not carried out"
                self._workspace.note.emit(f"Another run is open now: {lost}.")

    @property
    def _open_run(self) -> int | None:
        return self._workspace.run.id if self._workspace.run else None

    def offer(self) -> None:
        self._menu.clear()
        run = self._workspace.run
        annotators = {*(run.results.reviews.annotators if run else ()), self._workspace.author}
        for annotator in sorted(annotators)[:_MOST_LISTED]:
            text, choose = one_line(clipped(annotator)), partial(self._workspace.set_author, annotator)
            is_chosen = annotator == self._workspace.author
            add_entry(self._menu, text.replace("&", "&&"), choose, what=annotator, checked=is_chosen)
        self._menu.addSeparator()
        self._menu.addAction("Assign &items to annotators…", self.assigning.emit)
        self._menu.addAction("&Another name…", self.ask)


class NoteLine(QWidget):
    """`named`: does what needs an annotator's name, once there is one."""

    def __init__(
        self, workspace: Workspace, drafts: Drafts, named: Callable[[Callable[[], object]], object]
    ) -> None:
        super().__init__()
        self._workspace, self._drafts, self._named = workspace, drafts, named
        self._item: JudgedItem | None = None
        self._hides = False  # the notes of others, as while an annotator labels blind
        self._noting: tuple[int, JudgedItem, _Note]  # while the dialog is open: run, item, what it had before
        self.dialog: NoteDialog | None = None
        self.button = labels.button("Note… (N)", self.edit, "Write a note on the item, key N")
        self.button.setProperty("compact", True)
        self.pills = [_Tag() for _ in range(_MOST_PILLS)]
        self.begun = Pill()
        self.text = OneLine()
        in_row(self.button, self.begun, *self.pills, (self.text, STRETCH), on=self, spacing=6)
        self._tags = TaskPanel(workspace.threads, ThreadName.STORE, self, self._take_tags)
        for signal in (workspace.noted, drafts.changed):
            signal.connect(self._follow)
        self.show_item(None, False)

    def show_item(self, item: JudgedItem | None, hides: bool) -> None:
        self._item, self._hides = item, hides
        self.setEnabled(item is not None)
        begun = self._drafts.in_words(self._run_id, note_of(item.item_id)) if item is not None else ""
        self.begun.setVisible(bool(begun))
        self.begun.say("draft", "warning")
        set_tip(self.begun, begun)
        self.begun.setAccessibleName(begun)
        notes, own = self._shown, self.note
        tags = tags_together(notes)
        most = _MOST_PILLS - bool(begun)  # there is no room for more in one line
        for place, pill in enumerate(self.pills):
            pill.setVisible(place < min(len(tags), most))
            if place < len(tags):
                last = place == most - 1 and len(tags) > most
                tag = tags[place]
                short = tag if len(tag) <= _LONGEST_PILL else f"{tag[:_LONGEST_PILL]}…"
                pill.say(visible(f"{len(tags) - place} more tags" if last else short), "plain")
                set_tip(pill, "\n".join(tags[place:]) if last else tag)
        whose = [(note, "" if note is own else f"{clipped(note.author)}: ") for note in notes]
        shown = " · ".join(f"{who}{note.text}" for note, who in whose if note.text)
        made = ((note, f"{note.created.astimezone():%Y-%m-%d %H:%M}") for note in notes)
        self.text.setText(one_line(shown))
        set_tip(self.text, "\n\n".join(f"{note.text}\nBy {note.author}, {time}" for note, time in made))
        self.text.setAccessibleName(f"Note: {visible(clipped(shown))}" if shown else "No note")

    @property
    def note(self) -> Annotation | None:
        notes = self._shown
        return notes[0] if notes and notes[0].author == self._workspace.author else None

    @property
    def _shown(self) -> Sequence[Annotation]:
        run = self._workspace.run
        notes = run.results.notes_on(self._item.content_hash) if run and self._item else ()
        author = self._workspace.author if notes else ""
        seen = [note for note in notes if note.author == author or not self._hides]
        return sorted(seen, key=lambda note: note.author != author)

    def edit(self) -> None:
        if self.dialog is None and self._item is not None:
            self._named(partial(self._open, self._item))

    def _open(self, item: JudgedItem) -> None:
        if self.dialog is not None or self._item is None or item.content_hash != self._item.content_hash:
            return
        draft = self._drafts.of(self._run_id, note_of(item.item_id))
        run, noted = self._workspace.run, _noted(self.note)
        if draft is not None:
            try:
                text, *tags = json.loads(draft)
                noted = str(text), tuple(map(str, tags))
            except (TypeError, ValueError):
                noted = draft, ()  # another hand wrote it
        # Only this annotator's own tags while the notes of others are hidden.
        hidden = self._workspace.author if self._hides else None
        known = [note for note in run.results.all_notes if hidden in (None, note.author)] if run else []
        self.dialog = NoteDialog(*noted, tags_of(known), self.window())
        self._noting = self._run_id, item, _noted(self.note)
        self.dialog.changed.connect(DelayedSave(self.keep_draft, self.dialog).ask)
        self.dialog.saved.connect(self._save)
        self.dialog.finished.connect(self._end)
        self.dialog.open()
        if not self._hides:  # the store has those of all annotators
            path = self._workspace.store_path
            self._tags.start(store_jobs.in_store(path, lambda store: store.tags(), or_none=True))

    @property
    def _run_id(self) -> int:
        return self._workspace.run.id if self._workspace.run else 0

    def _take_tags(self, tags: Sequence[str]) -> None:
        if self.dialog is not None:
            self.dialog.show_known(tags)

    def _save(self, text: str, tags: Sequence[str]) -> None:
        _, item, before = self._noting
        if (text, tuple(tags)) != before:
            assert self.dialog is not None
            self.dialog.said = self._workspace.note_item(item.content_hash, text, tags)

    def keep_draft(self) -> None:
        if self.dialog is None:
            return
        run_id, item, before = self._noting
        written = self.dialog.written
        if written != before:
            text, tags = written  # both in the one text that a draft has
            draft = json.dumps([text, *tags], ensure_ascii=False)
            self._drafts.keep(run_id, note_of(item.item_id), draft)

    def _end(self, result: int) -> None:
        run_id, item, before = self._noting
        if self.dialog is None:
            return
        if result == QDialog.DialogCode.Rejected and self.dialog.written != before:
            self.keep_draft()
        else:
            self._drafts.drop(run_id, note_of(item.item_id))
        self.dialog.deleteLater()
        self.dialog = None

    def _follow(self, which: str) -> None:
        # A note tells the hash of an item's content, a draft its id.
        if self._item is not None and which in (self._item.content_hash, self._item.item_id):
            self.show_item(self._item, self._hides)


class _Tag(Pill):
    def minimumSizeHint(self) -> QSize:
        one_letter = QSize(self.fontMetrics().averageCharWidth(), self.sizeHint().height())
        return self.sizeHint().boundedTo(one_letter)


class NoteDialog(ReadingOrder, QDialog):
    changed = Signal()  # what is written
    saved = Signal(str, object)  # the text and the tags

    def __init__(
        self, text: str, tags: Sequence[str], known: Sequence[str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Note and tags of the item")
        self.said = True  # False where the disk does not take it: then it stays open
        self._tags = list(tags)
        self.field = QPlainTextEdit(text, tabChangesFocus=True)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self.changed)
        name(self.field, "Note")
        self.tag = QLineEdit(maxLength=LONGEST_TAG, placeholderText="Another tag: Enter adds it")
        self.tag.installEventFilter(self)
        self.tag.textChanged.connect(self.changed)
        name(self.tag, "Another tag", "Enter adds it")
        self.show_known(known)
        self._pills = FlowLayout(gap=4)
        buttons, role = QDialogButtonBox(), QDialogButtonBox.ButtonRole
        leave = buttons.addButton("Leave (Esc)", role.RejectRole)
        name(leave, "Leave without saving; changes are kept as a draft")
        name(buttons.addButton("Save (Ctrl+Enter)", role.AcceptRole), "Save note and tags")
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        add = labels.button("Add", self.add_tag, "Add the tag")
        add.setAutoDefault(False)
        written = (heading("Note"), (self.field, STRETCH), heading("Tags"), self._pills)
        where = hint("Stored with the item: shown in every run that judged it, and in exports.")
        parts = (*written, in_row((self.tag, STRETCH), add), where, buttons)
        in_column(*parts, on=self, margins=None, spacing=8)
        self.resize(self.fontMetrics().averageCharWidth() * 70, self.fontMetrics().height() * 22)
        self._show_tags()
        self.field.setFocus()

    @property
    def tags(self) -> Sequence[str]:
        written = typed_in(self.tag)
        return [*self._tags, *([written] if written and written not in self._tags else [])]

    @property
    def written(self) -> _Note:
        return self.field.toPlainText()[:_LONGEST_NOTE].strip(), tuple(self.tags)

    def show_known(self, known: Sequence[str]) -> None:
        completer = QCompleter(list(known), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.tag.setCompleter(completer)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Enter in the field of tags adds one, and does not end the dialog.
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self._save()
                return True
            if enter and watched is self.tag and self.tag.text():
                self.add_tag()
                return True
        return super().eventFilter(watched, event)

    def add_tag(self) -> None:
        self._tags = list(self.tags)
        self.tag.clear()
        self._show_tags()

    def _show_tags(self) -> None:
        labels.empty(self._pills)
        for tag in self._tags:
            pill = compact_button(f"{visible(clipped(tag)).replace('&', '&&')}  ×")
            name(pill, f"Remove the tag {visible(tag)}")
            set_tip(pill, f"{tag}\nClick to remove it.")
            pill.clicked.connect(partial(self._take_off, tag))
            self._pills.addWidget(pill)
        self.tag.setFocus()

    def _take_off(self, tag: str, *_checked: bool) -> None:
        self._tags.remove(tag)
        self._show_tags()
        self.changed.emit()

    def _save(self) -> None:
        self.said = True
        self.saved.emit(*self.written)
        if self.said:
            self.accept()


def typed_in(field: QLineEdit) -> str:
    return printable(field.text())


def printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable()).strip()


def tags_of(notes: Iterable[Annotation]) -> list[str]:
    """The tags of notes, the most frequent first, of equal ones by the alphabet."""
    counts = Counter(tag for note in notes for tag in note.tags)
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def _noted(note: Annotation | None) -> _Note:
    return (note.text, tuple(note.tags)) if note else ("", ())


class Reviewer(QObject):
    blind_changed = Signal()  # it was switched, or another annotator labels
    adjudication_changed = Signal(bool)  # whether this annotator adjudicates

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._index = -1  # of the item among the judged
        self._criteria: Sequence[str] = ()
        state = workspace.state
        is_blind, answers = (state.text(key) == "on" for key in (BLIND, ANSWERS))
        self.blind = Blind(workspace, is_blind, answers, hidden_share(state))
        workspace.blind_changed.connect(self._follow_answers)
        workspace.author_changed.connect(self._start_anew)
        workspace.reviewed.connect(self._forget_stored)
        for signal in (workspace.run_changed, workspace.unsaid):
            signal.connect(self.blind.forget)
        workspace.taken_back.connect(self.blind.forget_item)
        self.progress = Progress(workspace, self.blind, self)
        self.who = WhoButton(workspace)
        self.drafts = Drafts(workspace, workspace.say, self)
        self.drafts.take_over(workspace.state)
        workspace.runs_deleted.connect(self.drafts.forget_runs)
        self.note = NoteLine(workspace, self.drafts, self.who.then)
        self.blind_button, self.adjudicate_button = QPushButton("Blind"), QPushButton("Adjudicate")
        name(self.blind_button, "Label blind", _BLIND)
        name(self.adjudicate_button, "Adjudicate where annotators differ", _ADJUDICATE)
        for button in (self.blind_button, self.adjudicate_button):
            button.setCheckable(True)
        self.blind_button.setChecked(self.blind.on)
        self.blind_button.toggled.connect(self.switch_blind)
        self.adjudicate_button.toggled.connect(self._switch_adjudicating)
        for signal in (workspace.run_changed, workspace.reviewed):
            signal.connect(self._offer_to_adjudicate)
        self._offer_to_adjudicate()
        self.blind_changed.connect(self._show_note)

    def switch_blind(self, on: bool) -> None:
        if on == self.blind.on:
            return
        if on:
            self.adjudicate_button.setChecked(False)
        self.blind.on = on
        self._workspace.state.set_text(BLIND, "on" if on else "")
        self.blind_changed.emit()
        self._workspace.blind_changed.emit()

    def _follow_answers(self) -> None:
        state = self._workspace.state
        wanted = state.text(ANSWERS) == "on", hidden_share(state)
        if wanted != (self.blind.answers, self.blind.share):
            self.blind.answers, self.blind.share = wanted
            self.blind_changed.emit()

    def _offer_to_adjudicate(self) -> None:
        run, button = self._workspace.run, self.adjudicate_button
        differ = run is not None and bool(run.results.reviews.differing)
        button.setChecked(button.isChecked() and differ)
        button.setVisible(differ)

    def _switch_adjudicating(self, on: bool) -> None:
        if on:  # an adjudicator must see the annotations of others
            self.blind_button.setChecked(False)
        self.blind.paused = on
        if self.blind.share:
            self.blind_changed.emit()
        self.adjudication_changed.emit(on)

    def hidden_when_blind(self, widget: QWidget) -> QWidget:
        """A room for what tells of labels: it is not there while this annotator labels blind."""
        room = labels.as_column(widget)
        room.setHidden(self.blind.limits)
        for signal in (self.blind_changed, self._workspace.run_changed):
            signal.connect(lambda *_: room.setHidden(self.blind.limits))
        return room

    def look_at(self, index: int, criteria: Sequence[str]) -> None:
        self._index, self._criteria = index, criteria
        self._show_note()

    def _start_anew(self) -> None:
        self.blind.forget()
        self.blind_changed.emit()

    def _forget_stored(self) -> None:
        self.blind.forget_stored()
        self._show_note()

    def _show_note(self) -> None:
        run = self._workspace.run
        if run is not None and 0 <= self._index < len(run.results.judged):
            item = run.results.judged[self._index]
            hides = not all(self.blind.shows(JudgmentKey(item.item_id, each)) for each in self._criteria)
            self.note.show_item(item, hides)


def hidden_share(state: State) -> float:
    """Of a run's items, those whose labels are hidden until the annotator has given theirs: 0 to 1."""
    return state.number(HIDDEN_SHARE, 0, 100) / 100


_STATE = "review/person"
_SHOWN_OF_TAG = 24


class AnnotatorFilter(QWidget):
    changed = Signal()

    def __init__(self, workspace: Workspace, progress: Progress, *ways: QWidget) -> None:
        """`ways`: buttons of how this annotator labels."""
        super().__init__()
        self._workspace = workspace
        self._progress = progress
        self.state = narrow_box("Your progress on the listed items", letters=2)
        remembered = workspace.state.record(_STATE)
        states = [(words.capitalize(), state.value) for state, words in STATE_WORDS.items()]
        self.state.offer([("Done or not", None), *states], remembered.get("state"))
        self.tag = narrow_box("Tag of the listed items", letters=2)
        in_row((self.state, STRETCH), (self.tag, STRETCH), *ways, on=self)
        self._wanted_tag = remembered.get("tag")  # until the run is there that has it
        for box in (self.state, self.tag):
            box.activated.connect(self._tell)
        for signal in (workspace.run_changed, workspace.noted):
            signal.connect(self.show_tags)
        self._blind = False
        self.show_tags()

    def set_blind(self, blind: bool) -> None:
        # Others' tags tell of their labels: who labels blind does not filter by them.
        self._blind = blind
        self.tag.setVisible(self.tag.count() > 1 and not blind)

    @property
    def narrows(self) -> bool:
        return self.state.currentData() is not None or self._chosen_tag is not None

    @property
    def leaves_out_to_do(self) -> bool:
        return self._chosen_tag is not None or self.state.currentData() not in (None, ReviewState.TO_DO.value)

    @property
    def _chosen_tag(self) -> str | None:
        return None if self._blind else self.tag.currentData()

    @property
    def passing(self) -> frozenset[str] | None:
        run = self._workspace.run
        if run is None or not self.narrows:
            return None
        state, tag, results = self.state.currentData(), self._chosen_tag, run.results
        return frozenset(
            item.item_id
            for item in results.judged
            if state is None or self._progress.state(item.item_id) == state
            if tag is None or tag in tags_together(results.notes_on(item.content_hash))
        )

    def clear(self) -> None:
        self._wanted_tag = None
        for box in (self.state, self.tag):
            box.setCurrentIndex(0)
        self._keep()

    def show_tags(self) -> None:
        run = self._workspace.run
        chosen = self._wanted_tag if run and self._wanted_tag else self.tag.currentData()
        entries: list[tuple[str, str | None]] = [("Any tag", None)]
        for tag in tags_of(run.results.all_notes) if run else ():
            entries.append((visible(tag if len(tag) <= _SHOWN_OF_TAG else f"{tag[:_SHOWN_OF_TAG]}…"), tag))
        self.tag.offer(entries, chosen)
        self.set_blind(self._blind)
        self._wanted_tag = self._wanted_tag if run is None else None

    def _tell(self) -> None:
        self._keep()
        self.changed.emit()

    def _keep(self) -> None:
        chosen = {"state": self.state.currentData(), "tag": self.tag.currentData()}
        self._workspace.state.set_record(_STATE, chosen)
