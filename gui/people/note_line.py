"""What is noted of the item that is looked at: a line with its tags, and the dialog that changes it.

Knows: notes of the open run's items, tags in use. Does not know: judgments, where notes are kept.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from engine.core.formatting import clipped, visible
from engine.core.judgments import ItemNote
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import OneLine, one_line, set_tip
from gui.kit.labels import heading, hint, name
from gui.kit.layouts import STRETCH, empty, in_column, in_row
from gui.kit.pill import Pill
from gui.work import store_jobs
from gui.work.lanes import Lane, LatestTask
from gui.work.workspace import Workspace

LONGEST_TAG = 255
_LONGEST_NOTE = 20_000
_MOST_PILLS = 4
_LONGEST_PILL = 18
_FEWEST_LETTERS = 6  # of a tag


class NoteLine(QWidget):
    """`Note… (N)`, the tags as pills, and the beginning of the note.

    `named`: does what needs a person's name, once there is one. `hides`: whether the notes of others are
    hidden, as while a person labels blind.
    """

    def __init__(
        self,
        workspace: Workspace,
        named: Callable[[Callable[[], object]], object],
    ) -> None:
        super().__init__()
        self._workspace = workspace
        self._named = named
        self._content_hash = ""
        self._hides = False
        self.dialog: NoteDialog | None = None
        self.button = QPushButton("Note… (N)")
        self.button.setProperty("compact", True)
        name(self.button, "Note something of the item, key N")
        self.button.clicked.connect(self.edit)
        self.pills = [_Tag() for _ in range(_MOST_PILLS)]
        self.text = OneLine()
        in_row(self.button, *self.pills, (self.text, STRETCH), on=self, spacing=6)
        self._tags = LatestTask(workspace.threads, Lane.STORE, self)
        self._tags.finished.connect(self._take_tags)
        workspace.noted.connect(self._follow)
        self.show_item("", False)

    def show_item(self, content_hash: str, hides: bool) -> None:
        """Show the note of an item; `hides`: not that of another person."""
        self._content_hash, self._hides = content_hash, hides
        self.setEnabled(bool(content_hash))
        note = self.note
        tags = note.tags if note else ()
        for place, pill in enumerate(self.pills):
            pill.setVisible(place < len(tags))
            if place < len(tags):
                last = place == _MOST_PILLS - 1 and len(tags) > _MOST_PILLS
                tag = tags[place]
                short = tag if len(tag) <= _LONGEST_PILL else f"{tag[:_LONGEST_PILL]}…"
                pill.say(visible(f"{len(tags) - place} more tags" if last else short), "plain")
                set_tip(pill, "\n".join(tags[place:]) if last else tag)
        self.text.setText(one_line(note.text) if note else "")
        said = f"{note.text}\nBy {note.author}, {note.created.astimezone():%Y-%m-%d %H:%M}" if note else ""
        set_tip(self.text, said)
        self.text.setAccessibleName(f"Note: {visible(clipped(note.text))}" if note else "No note")

    @property
    def note(self) -> ItemNote | None:
        """What is shown of the item, if anything is."""
        found = self._found
        return None if self._hidden(found) else found

    @Slot()
    def edit(self) -> None:
        """Let a person write, once he has a name."""
        if self.dialog is None and self._content_hash:
            self._named(partial(self._open, self._content_hash))

    def _open(self, content_hash: str) -> None:
        if self.dialog is not None or content_hash != self._content_hash:
            return
        if self._hidden(self._found):
            self._workspace.note.emit("Somebody else's note is shown once you have labelled all criteria.")
            return
        note = self.note
        self.dialog = NoteDialog(
            note.text if note else "", note.tags if note else (), self._known_tags(), self.window()
        )
        self.dialog.setProperty("content_hash", self._content_hash)
        self.dialog.saved.connect(self._save)
        self.dialog.finished.connect(self._end)
        self.dialog.open()
        if not self._hides:  # the store has those of all people
            self._tags.start(store_jobs.known_tags(self._workspace.store_path))

    @property
    def _found(self) -> ItemNote | None:
        run = self._workspace.run
        return run.results.notes.get(self._content_hash) if run else None

    def _hidden(self, note: ItemNote | None) -> bool:
        return note is not None and self._hides and note.author != self._workspace.author

    def _known_tags(self) -> Sequence[str]:
        """Those of the open run; only this person's own while the notes of others are hidden."""
        run = self._workspace.run
        return tags_of(note for note in run.results.notes.values() if not self._hidden(note)) if run else ()

    @Slot(object)
    def _take_tags(self, tags: Sequence[str]) -> None:
        if self.dialog is not None:
            self.dialog.show_known(tags)

    @Slot(str, object)
    def _save(self, text: str, tags: Sequence[str]) -> None:
        note = self.note
        if (text, tuple(tags)) != ((note.text, note.tags) if note else ("", ())):
            assert self.dialog is not None
            content_hash = str(self.dialog.property("content_hash"))
            self.dialog.said = self._workspace.note_item(content_hash, text, tags)

    @Slot()
    def _end(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()

    @Slot(str)
    def _follow(self, content_hash: str) -> None:
        if content_hash == self._content_hash:
            self.show_item(content_hash, self._hides)


class _Tag(Pill):
    """A tag, whose end is left out where there is little room; its tool tip has it whole."""

    def minimumSizeHint(self) -> QSize:
        """Some letters wide."""
        least = self.fontMetrics().averageCharWidth() * _FEWEST_LETTERS
        return self.sizeHint().boundedTo(QSize(least, self.sizeHint().height()))


class NoteDialog(QDialog):
    """A text and its tags; Ctrl+Enter saves, Esc leaves."""

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
        name(self.field, "Note")
        self.tag = QLineEdit(maxLength=LONGEST_TAG, placeholderText="Another tag: Enter adds it")
        self.tag.installEventFilter(self)
        name(self.tag, "Another tag", "Enter adds it")
        self.show_known(known)
        self._pills = FlowLayout(gap=4)
        in_column(
            heading("Note"),
            (self.field, STRETCH),
            heading("Tags"),
            self._pills,
            self._tag_line(),
            hint("Kept with the item's texts: found again in every run that judged it, and in exports."),
            self._buttons(),
            on=self,
            margins=None,
            spacing=8,
        )
        self.resize(self.fontMetrics().averageCharWidth() * 70, self.fontMetrics().height() * 22)
        self._show_tags()
        self.field.setFocus()

    @property
    def tags(self) -> Sequence[str]:
        """Those that are chosen, with the one that is being written."""
        written = _clean(self.tag.text())
        return [*self._tags, *([written] if written and written not in self._tags else [])]

    def show_known(self, known: Sequence[str]) -> None:
        """Offer the tags that are in use."""
        completer = QCompleter(list(known), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.tag.setCompleter(completer)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Enter saves; Enter in the field of tags adds one, and does not end the dialog."""
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
        """Take the tag that is written."""
        self._tags = list(self.tags)
        self.tag.clear()
        self._show_tags()

    def _tag_line(self) -> QHBoxLayout:
        add = QPushButton("Add", autoDefault=False)
        name(add, "Add the tag")
        add.clicked.connect(self.add_tag)
        return in_row((self.tag, STRETCH), add)

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        save = buttons.addButton("Save (Ctrl+Enter)", QDialogButtonBox.ButtonRole.AcceptRole)
        name(save, "Save note and tags")
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        return buttons

    def _show_tags(self) -> None:
        empty(self._pills)
        for tag in self._tags:
            pill = QToolButton()
            pill.setText(f"{visible(clipped(tag)).replace('&', '&&')}  ×")
            pill.setProperty("role", "button")
            pill.setProperty("compact", True)
            pill.setProperty("tag", tag)
            name(pill, f"Take the tag {visible(tag)} off")
            set_tip(pill, f"{tag}\nA click takes it off.")
            pill.clicked.connect(self._take_off)
            self._pills.addWidget(pill)
        self.tag.setFocus()

    @Slot()
    def _take_off(self) -> None:
        pill = self.sender()
        if isinstance(pill, QToolButton):
            self._tags.remove(str(pill.property("tag")))
            self._show_tags()

    @Slot()
    def _save(self) -> None:
        self.said = True
        self.saved.emit(self.field.toPlainText()[:_LONGEST_NOTE].strip(), list(self.tags))
        if self.said:
            self.accept()


def tags_of(notes: Iterable[ItemNote]) -> list[str]:
    """The tags of notes, the most frequent first, of equal ones by the alphabet."""
    counts = Counter(tag for note in notes for tag in note.tags)
    return sorted(counts, key=lambda tag: (-counts[tag], tag))


def _clean(tag: str) -> str:
    return "".join(letter for letter in tag if letter.isprintable()).strip()
