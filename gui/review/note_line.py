"""What is noted of the item that is looked at: a line with its tags, and the dialog that changes it."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent

from engine.annotations.effective import tags_together
from engine.annotations.records import Annotation
from engine.core.formatting import clipped, visible
from engine.core.judgments import JudgedItem
from gui.review.criterion_strip import compact_button
from gui.review.progress import DelayedSave, Drafts, note_of
from gui.widgets.actions import ReadingOrder
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, one_line, set_tip
from gui.widgets.label_mark import Pill
from gui.widgets.labels import STRETCH, button, empty, heading, hint, in_column, in_row, name
from gui.workspace import store_jobs
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

LONGEST_TAG = 255
_LONGEST_NOTE = 20_000
_MOST_PILLS = 4
_LONGEST_PILL = 18
_Note = tuple[str, tuple[str, ...]]  # its text and tags


class NoteLine(QtWidgets.QWidget):
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
        self.button = button("Note… (N)", self.edit, "Write a note on the item, key N")
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

    @Slot()
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

    @Slot(object)
    def _take_tags(self, tags: Sequence[str]) -> None:
        if self.dialog is not None:
            self.dialog.show_known(tags)

    @Slot(str, object)
    def _save(self, text: str, tags: Sequence[str]) -> None:
        _, item, before = self._noting
        if (text, tuple(tags)) != before:
            assert self.dialog is not None
            self.dialog.said = self._workspace.note_item(item.content_hash, text, tags)

    @Slot()
    def keep_draft(self) -> None:
        if self.dialog is None:
            return
        run_id, item, before = self._noting
        written = self.dialog.written
        if written != before:
            text, tags = written  # both in the one text that a draft has
            draft = json.dumps([text, *tags], ensure_ascii=False)
            self._drafts.keep(run_id, note_of(item.item_id), draft)

    @Slot(int)
    def _end(self, result: int) -> None:
        run_id, item, before = self._noting
        if self.dialog is None:
            return
        if result == QtWidgets.QDialog.DialogCode.Rejected and self.dialog.written != before:
            self.keep_draft()
        else:
            self._drafts.drop(run_id, note_of(item.item_id))
        self.dialog.deleteLater()
        self.dialog = None

    @Slot(str)
    def _follow(self, which: str) -> None:
        # A note tells the hash of an item's content, a draft its id.
        if self._item is not None and which in (self._item.content_hash, self._item.item_id):
            self.show_item(self._item, self._hides)


class _Tag(Pill):
    def minimumSizeHint(self) -> QSize:
        one_letter = QSize(self.fontMetrics().averageCharWidth(), self.sizeHint().height())
        return self.sizeHint().boundedTo(one_letter)


class NoteDialog(ReadingOrder, QtWidgets.QDialog):
    changed = Signal()  # what is written
    saved = Signal(str, object)  # the text and the tags

    def __init__(
        self, text: str, tags: Sequence[str], known: Sequence[str], parent: QtWidgets.QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Note and tags of the item")
        self.said = True  # False where the disk does not take it: then it stays open
        self._tags = list(tags)
        self.field = QtWidgets.QPlainTextEdit(text, tabChangesFocus=True)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self.changed)
        name(self.field, "Note")
        self.tag = QtWidgets.QLineEdit(maxLength=LONGEST_TAG, placeholderText="Another tag: Enter adds it")
        self.tag.installEventFilter(self)
        self.tag.textChanged.connect(self.changed)
        name(self.tag, "Another tag", "Enter adds it")
        self.show_known(known)
        self._pills = FlowLayout(gap=4)
        buttons, role = QtWidgets.QDialogButtonBox(), QtWidgets.QDialogButtonBox.ButtonRole
        leave = buttons.addButton("Leave (Esc)", role.RejectRole)
        name(leave, "Leave without saving; changes are kept as a draft")
        name(buttons.addButton("Save (Ctrl+Enter)", role.AcceptRole), "Save note and tags")
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        add = button("Add", self.add_tag, "Add the tag")
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
        completer = QtWidgets.QCompleter(list(known), self)
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

    @Slot()
    def add_tag(self) -> None:
        self._tags = list(self.tags)
        self.tag.clear()
        self._show_tags()

    def _show_tags(self) -> None:
        empty(self._pills)
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

    @Slot()
    def _save(self) -> None:
        self.said = True
        self.saved.emit(*self.written)
        if self.said:
            self.accept()


def typed_in(field: QtWidgets.QLineEdit) -> str:
    return "".join(letter for letter in field.text() if letter.isprintable()).strip()


def tags_of(notes: Iterable[Annotation]) -> list[str]:
    """The tags of notes, the most frequent first, of equal ones by the alphabet."""
    counts = Counter(tag for note in notes for tag in note.tags)
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def _noted(note: Annotation | None) -> _Note:
    return (note.text, tuple(note.tags)) if note else ("", ())
