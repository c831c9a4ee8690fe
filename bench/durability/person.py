"""A person at a window: gives labels, writes, notes, orders the queue, says what the window shows of it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from bench.durability.ledger import Key, Refused, Said
from engine.core.items import PREFERENCES
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_model
from gui.review.review_table import STATE
from gui.runs.run_desk import RUN
from gui.runs.runs_dialog import RunNameDialog
from gui.widgets.label_mark import LABEL_WORDS, LETTERS
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from gui.workspace.threads import ThreadName

NAME = "Ada"
CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
_PATIENCE = 120.0  # seconds for what is sure to come about, on a computer that has much else to do
_SECOND = 1.0  # of what is being written, at the most, may be lost
_WORDS = ("plain", "wrong", "shorter", "kinder", "a better reason", "no source", "off topic", "rude")
_TAGS = ("hard", "funny", "again")
_SIGNS = {"✓": "Return", "»": "S", "": "T"}  # by the keys that make them
_LABELS = {LABEL_WORDS[label].capitalize(): LETTERS[label] for label in PREFERENCES}  # their keys

JudgePredictions = Said | Refused


class NothingShown(Exception):
    """The window does not open what was open last; in words."""


class Annotator:
    """`tell`: what is shown. `number`, `of`: at which window. `patience`: seconds to wait until it shows a
    word stored.
    """

    def __init__(
        self,
        main_content: MainContent,
        tell: Callable[[JudgePredictions], object],
        random: Random,
        number: int = 0,
        of: int = 1,
        patience: float = _PATIENCE,
    ) -> None:
        self.main_content, self._page = main_content, main_content.review
        self._tell, self._random, self._patience = tell, random, patience
        self._number, self._of = number, of
        self._said = 0
        self.acts: dict[str, Callable[[], object]] = {
            "label": self._label,
            "explanation": self._explain,
            "draft": self._draft,
            "typing": self._type,
            "typing on": lambda: self._type_on(self._place("draft")),
            "noting on": lambda: self._type_on(Key("draft", self._item())),
            "note": self._note,
            "state": self._mark,
            "queue": self._queue,
            "run": self._run,
            "migration": lambda: pause(0.05),
        }

    def begin(self) -> None:
        """Wait until the window shows the run that was open last. NothingShown where it does not."""
        main_content = self.main_content
        if not until(lambda: main_content.workspace.run is not None, _PATIENCE):
            raise NothingShown(f"the window shows no run, and says: {' '.join(self._notices)}")
        main_content.frame.show_page(PageName.REVIEW)
        sure(lambda: bool(self._page.session.item_id))
        sure(lambda: not any(main_content.threads.busy(thread_name) for thread_name in ThreadName))

    # What is said

    def _say(self, key: Key, value: str | None, act: Callable[[], object], seen: Callable[[], bool]) -> None:
        self._tell(Said(key, value, shown=False))
        before = self._notices
        act()
        until(lambda: seen() or bool(self._told_since(before)), self._patience)
        if seen():
            self._tell(Said(key, value, shown=True))
        else:
            self._tell(Refused(key, "\n".join(self._told_since(before))))

    @property
    def _notices(self) -> Sequence[str]:
        return [one.in_words for one in self.main_content.frame.notices._all]

    def _told_since(self, before: Sequence[str]) -> list[str]:
        return [words for words in self._notices if words not in before]

    def _text(self) -> str:
        self._said += 1
        return f"{self._random.choice(_WORDS)} {self._number}.{self._said}"

    def _item(self) -> str:
        """One of those that are this window's."""
        run = self.main_content.workspace.run
        return self._random.choice([item.item_id for item in run.results.judged][self._number :: self._of])

    def _place(self, kind: str) -> Key:
        return Key(kind, self._item(), self._random.choice(self._page.session.criteria))

    def _label(self) -> None:
        key = self._place("label")
        self.open(key)
        other = self._random.choice([label for label in _LABELS if label != self._page.desk.card.badge.text])
        self._say(key, other, lambda: press(_LABELS[other]), lambda: self._seen_label() == other)

    def _explain(self) -> None:
        key, text = self._place("explanation"), self._text()
        self.open(key)
        self._write(text)
        self._say(key, text, lambda: press("Return", CTRL), lambda: self._seen_explanation() == text)

    def _draft(self) -> None:
        key, text = self._place("draft"), self._text()
        self.open(key)
        self._tell(Said(key, text, shown=False))
        self._write(text)
        self._say(key, text, lambda: press("Escape"), self._sees_draft)

    def _type(self) -> None:
        """Leave an explanation as it is, half written: only a window that is closed must keep it."""
        key, text = self._place("draft"), self._text()
        self.open(key)
        self._write(text)
        self._tell(Said(key, text, shown=False))

    def _type_on(self, key: Key) -> None:
        """Write without a pause of a second, then leave; what was written a second ago must be kept."""
        self.open(key)
        text = " ".join(self._text() for _ in range(4))
        self._tell(Said(key, text, shown=False))
        field, written = self._begin(key), list[tuple[float, str]]()
        for length, letter in enumerate(text, start=1):
            QTest.keyClicks(field, letter)
            written.append((time.monotonic(), text[:length]))
            pause(self._random.uniform(0.01, 0.2))
            old = [begun for when, begun in written if when < time.monotonic() - _SECOND]
            if old:
                written = written[len(old) :]
                self._tell(Said(key, old[-1], shown=True))
                self._tell(Said(key, text, shown=False))
        QTest.keyClick(field, Qt.Key.Key_Escape)
        pause(0.1)

    def _begin(self, key: Key) -> QPlainTextEdit:
        """Open the field of an explanation, or of a note; all that is in it is selected."""
        page = self._page
        if key.criterion:
            press("E")
            sure(lambda: page.desk.card.editing)
            field: QPlainTextEdit = page.desk.card.editor.field
        else:
            press("N")
            sure(lambda: page.reviewer.note.dialog is not None)
            dialog = page.reviewer.note.dialog
            field = dialog.field
        field.selectAll()
        return field

    def _write(self, text: str) -> None:
        QTest.keyClicks(self._begin(Key("explanation", criterion="open")), text)

    def _note(self) -> None:
        key, text = Key("note", self._item()), self._text()
        self.open(key)
        QTest.keyClicks(self._begin(key), text)
        line = self._page.reviewer.note
        dialog = line.dialog
        QTest.keyClicks(dialog.tag, self._random.choice(_TAGS))
        QTest.keyClick(dialog.tag, Qt.Key.Key_Return)
        value = noted(text, dialog.tags)

        def save() -> None:
            QTest.keyClick(dialog.field, Qt.Key.Key_Return, CTRL)

        self._say(key, value, save, lambda: line.dialog is None and self._seen_note() == value)

    def _mark(self) -> None:
        key = Key("state", self._item())
        self.open(key)
        other = self._random.choice([sign for sign in _SIGNS if sign != self._seen_state(key.item)])
        self._say(key, other, lambda: press(_SIGNS[other]), lambda: self._seen_state(key.item) == other)

    def _queue(self) -> None:
        """Put a run into the queue, name one, take one out, or let two change places."""
        mine = [each for each in self._seen_queue() if int(each) % self._of == self._number]
        act = self._random.choice((self._add, self._name, self._remove) if len(mine) > 2 else (self._add,))
        act(mine)

    def _add(self, mine: Sequence[str]) -> None:
        taken = {int(each) for each in mine}
        # None that was left behind in the queue: one window took that over, and the other may not know.
        first = 100 * self._of + self._number
        items = next(n for n in range(first, 1000, self._of) if n not in taken)
        asked = replace(self.main_content.judge.setup(), items=items)
        panel = self.main_content.runs.panel
        self._say(_queued(items), "", lambda: panel.add(asked), lambda: str(items) in self._seen_queue())

    def _name(self, mine: Sequence[str]) -> None:
        which, text = self._random.choice(mine), self._text()
        self._select(which)
        panel = self.main_content.runs.panel
        panel.call_run()
        # One that is closed is there until the event loop in which this person works has ended.
        dialog = next(one for one in panel.findChildren(RunNameDialog) if one.isVisible())
        dialog.name.selectAll()
        QTest.keyClicks(dialog.name, text)
        self._say(_queued(which), text, dialog.accept, lambda: self._seen_queue().get(which) == text)

    def _remove(self, mine: Sequence[str]) -> None:
        which = self._random.choice(mine)
        self._select(which)
        remove = self.main_content.runs.panel.remove_run
        self._say(_queued(which), None, remove, lambda: which not in self._seen_queue())

    def _select(self, which: str) -> None:
        panel = self.main_content.runs.panel
        panel.view.selectRow(list(self._seen_queue()).index(which))

    def _run(self) -> None:
        """Judge a few items anew, and tell how far it is whenever the window shows it."""
        space, control = self.main_content.workspace, self.main_content.run_control
        setup = RunSetup(space.dataset.path, demo_model(), mode=Mode.LABELS, threads=1, fresh=True)
        control.start(setup)
        told = 0

        def goes_on() -> bool:
            return not control.running or (control.progress is not None and control.progress.judged > told)

        while control.running:
            until(goes_on, self._patience)
            if control.progress is not None and control.progress.judged > told:
                told = control.progress.judged
                self._tell(Said(Key("run", str(control.progress.run_id)), str(told), shown=True))
            elif control.running:
                self._tell(Refused(Key("run"), "\n".join(self._notices)))

    # What is seen

    def open(self, key: Key) -> None:
        page = self._page
        page.list.choose(key.item)
        sure(lambda: page.session.item_id == key.item)
        self.main_content.frame.activateWindow()  # which systems do by themselves when a dialog closes
        page.take_focus()
        sure(lambda: QApplication.focusWidget() is not None)
        if key.criterion and page.session.criterion != key.criterion:
            press(str(page.session.criteria.index(key.criterion) + 1))
            sure(lambda: page.session.criterion == key.criterion)

    def read(self, key: Key) -> str | None:
        """What the window shows of a key; None where it shows nothing of the kind."""
        if key.kind == "queue":
            return self._seen_queue().get(key.item)
        if key.kind == "run":
            judged = {str(run.id): run.judged for run in self.main_content.workspace.runs}
            return str(judged.get(key.item, 0))
        self.open(key)
        raw_predictions: dict[str, Callable[[], str | None]] = {
            "label": self._seen_label,
            "explanation": self._seen_explanation,
            "draft": lambda: self._read_draft(key),
            "note": self._seen_note,
            "state": lambda: self._seen_state(key.item),
        }
        return raw_predictions[key.kind]()

    def _seen_label(self) -> str | None:
        card = self._page.desk.card
        return card.badge.text if "abel" in card.by.text() and f"by {NAME}" in card.by.text() else None

    def _seen_explanation(self) -> str | None:
        card = self._page.desk.card
        by_annotator = "xplanation" in card.by.text() and f"by {NAME}" in card.by.text()
        return card.explanation.text() if by_annotator and not card.editing else None

    def _sees_draft(self) -> bool:
        card = self._page.desk.card
        return not card.editing and "There is a draft of an explanation: E" in card.by.text()

    def _read_draft(self, key: Key) -> str | None:
        if not (self._sees_draft() if key.criterion else self._page.reviewer.note.begun.isVisible()):
            return None
        field = self._begin(key)
        text = field.toPlainText()
        QTest.keyClick(field, Qt.Key.Key_Escape)
        pause(0.1)
        return text

    def _seen_note(self) -> str | None:
        line = self._page.reviewer.note
        if not line.text.text():
            return None
        return noted(line.text.text(), [pill.text for pill in line.pills if not pill.isHidden()])

    def _seen_state(self, item: str) -> str:
        table = self._page.list.table
        row = table.row_of(item)
        return str(table.index(row, STATE).data() or "") if row is not None else ""

    def _seen_queue(self) -> dict[str, str]:
        """The name of each run of the queue, empty where it has none, by its number of items."""
        table = self.main_content.runs.panel.table
        titles = [str(table.index(row, RUN).data()).split("\n")[0] for row in range(table.rowCount())]
        found = {}
        for title in titles:
            name, _, rest = title.rpartition("first ")
            found[rest.split(" ")[0].replace(",", "")] = name.strip(" “”")
        return found


def noted(text: str, tags: Sequence[str]) -> str:
    return " #".join([text, *sorted(tags)])


def _queued(items: int | str) -> Key:
    return Key("queue", str(items))


def press(key: str, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    widget: QWidget | None = QApplication.focusWidget()
    QTest.keyClick(widget, Qt.Key[f"Key_{key}"], modifier)


def until(condition: Callable[[], bool], seconds: float) -> bool:
    """Let the window work, at least once, until something has come about; False where it does not in time."""
    loop, poll, late = QEventLoop(), QTimer(), QTimer()
    # The answer is that of the moment: until the loop has ended, more may happen that changes it again.
    poll.timeout.connect(lambda: loop.exit(1) if condition() else None)
    late.setSingleShot(True)
    late.timeout.connect(lambda: loop.exit(int(condition())))
    poll.start(1)
    late.start(int(1000 * seconds))
    return bool(loop.exec())


def sure(condition: Callable[[], bool]) -> None:
    if not until(condition, _PATIENCE):
        raise TimeoutError("what was waited for did not come about")


def pause(seconds: float) -> None:
    until(lambda: False, seconds)
