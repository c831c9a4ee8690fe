"""The help inside the window: its first steps; what its words mean, on one page, and the way there.

Knows: how the glossary is shown. Does not know: what it says, where its words stand, who needs first steps.
"""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QToolButton,
    QWidget,
)

from gui.widgets.action_table import with_keys
from gui.widgets.glossary import GLOSSARY, THREE_STEPS, WHAT_IT_DOES, Topic
from gui.widgets.labels import (
    STRETCH,
    DownScroll,
    as_column,
    as_row,
    heading,
    hint,
    in_column,
    in_row,
    label,
    make_room,
    name,
)

_NAME = "help"
_DEMO = "To try it, the demo dataset and the demo model are chosen already: just press Run."
_OWN = "Your own data: Ctrl+O, or drop a file on the window."


class HelpDialog(QDialog):
    """All words with their meanings; it stays open beside the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(_NAME)
        self.setWindowTitle("What the words mean")
        self.search = QLineEdit(placeholderText="Search", clearButtonEnabled=True)
        name(self.search, "Show only explanations with this text")
        self.search.textChanged.connect(self._filter)
        self.sections = {topic: _section(topic) for topic in Topic}
        self._nothing = hint("No explanation has this text.")
        self._nothing.hide()
        content = as_column(*self.sections.values(), self._nothing, STRETCH, margins=None, role="content")
        self.area = DownScroll(content)
        self.area.setAccessibleName("What the words mean")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        in_column(self.search, (self.area, STRETCH), buttons, on=self, margins=None)
        make_room(self, 84, 34, 0.85)

    def show_topic(self, topic: Topic | None) -> None:
        """Come to the front, with all words, this one at the top."""
        self.search.clear()
        self.show()
        self.raise_()
        self.activateWindow()
        if topic is None:
            self.search.setFocus()
            return
        # Once the sections have their heights.
        QTimer.singleShot(0, self, lambda: self._scroll_to(topic))

    def _scroll_to(self, topic: Topic) -> None:
        self.area.setFocus()
        self.area.verticalScrollBar().setValue(self.sections[topic].y())

    @Slot(str)
    def _filter(self, text: str) -> None:
        wanted = text.casefold().split()
        for topic, section in self.sections.items():
            said = f"{topic.value} {GLOSSARY[topic].text}".casefold()
            section.setVisible(all(word in said for word in wanted))
        self._nothing.setVisible(all(section.isHidden() for section in self.sections.values()))


def show_help(window: QWidget, topic: Topic | None = None) -> HelpDialog:
    """Show the help beside a window or dialog, at a topic; there is one for each."""
    found = window.findChild(HelpDialog, _NAME, Qt.FindChildOption.FindDirectChildrenOnly)
    dialog = found if isinstance(found, HelpDialog) else HelpDialog(window)
    dialog.show_topic(topic)
    return dialog


class HelpMark(QToolButton):
    """A small question mark beside a word, which shows what the word means."""

    def __init__(self, topic: Topic) -> None:
        super().__init__()
        self.topic = topic
        self.setText("?")
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        what = topic.value if topic.value.endswith("?") else f"What is meant: {topic.value.lower()}"
        name(self, what, "Opens the glossary at this word")
        self.clicked.connect(self._show)

    @Slot()
    def _show(self) -> None:
        show_help(self.window(), self.topic)


class FirstSteps(QFrame):
    """What the user reads who opens the program for the first time; a panel that can be closed."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        steps = QGridLayout()
        steps.setColumnStretch(1, 1)
        steps.setHorizontalSpacing(12)
        for number, (title, what) in enumerate(THREE_STEPS, start=1):
            steps.addWidget(heading(f"{number}. {title}"), number, 0, Qt.AlignmentFlag.AlignTop)
            steps.addWidget(label(what), number, 1)
        words, close = QPushButton(with_keys("What the words mean", "show_help")), QPushButton("Close")
        name(close, "Show these first steps no more")
        words.clicked.connect(lambda: show_help(self.window()))
        close.clicked.connect(self.closed)
        buttons = in_row(words, close, STRETCH)
        in_column(
            heading("Welcome to Tiebreak"),
            label(WHAT_IT_DOES),
            steps,
            hint(f"{_DEMO} {_OWN}"),
            buttons,
            on=self,
            margins=(12, 10, 12, 10),
            spacing=8,
        )


def headed(text: str, topic: Topic) -> QWidget:
    """The heading of a part of a page, with the mark that explains it."""
    return beside_help(heading(text), topic)


def beside_help(title: QWidget, topic: Topic) -> QWidget:
    """A heading that changes, with the same mark."""
    return as_row(title, HelpMark(topic), STRETCH, spacing=4)


def _section(topic: Topic) -> QWidget:
    entry = GLOSSARY[topic]
    section = QWidget()
    more = hint(f"More in docs/{entry.page}")
    paragraphs = map(label, entry.text.splitlines())
    in_column(heading(topic.value), *paragraphs, more, on=section, margins=(0, 4, 0, 10), spacing=4)
    return section
