"""The help inside the window: its first steps, and what its words mean, on one page."""

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, QTimer, Signal

from gui.widgets import labels
from gui.widgets.action_table import with_keys
from gui.widgets.glossary import GLOSSARY, THREE_STEPS, WHAT_IT_DOES, Topic

_NAME = "help"
_HOW = (
    "To try it, the demo dataset and the demo model are chosen already: just press Run."
    " Your own data: Ctrl+O, or drop a file on the window."
)


class HelpDialog(QtWidgets.QDialog):
    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(_NAME)
        self.setWindowTitle("What the words mean")
        self.search = QtWidgets.QLineEdit(placeholderText="Search", clearButtonEnabled=True)
        labels.name(self.search, "Show only explanations with this text")
        self.search.textChanged.connect(self._filter)
        self.sections = {topic: _section(topic) for topic in Topic}
        self._nothing = labels.hint("No explanation has this text.")
        self._nothing.hide()
        content = labels.as_column(
            *self.sections.values(), self._nothing, labels.STRETCH, margins=None, role="content"
        )
        self.area = labels.DownScroll(content)
        self.area.setAccessibleName("What the words mean")
        close = labels.close_button(self)
        labels.in_column(self.search, (self.area, labels.STRETCH), close, on=self, margins=None)
        labels.make_room(self, 84, 34, 0.85)

    def show_topic(self, topic: Topic | None) -> None:
        self.search.clear()
        self.show()
        self.raise_()
        self.activateWindow()
        if topic is None:
            self.search.setFocus()
            return
        # Once the sections have their heights.
        QTimer.singleShot(0, self, lambda: self.area.verticalScrollBar().setValue(self.sections[topic].y()))
        self.area.setFocus()

    def _filter(self, text: str) -> None:
        wanted = text.casefold().split()
        for topic, section in self.sections.items():
            said = f"{topic.value} {GLOSSARY[topic].text}".casefold()
            section.setVisible(all(word in said for word in wanted))
        self._nothing.setVisible(all(section.isHidden() for section in self.sections.values()))


def show_help(window: QtWidgets.QWidget, topic: Topic | None = None) -> HelpDialog:
    """Show the help beside a window or dialog, at a topic; there is one for each."""
    found = window.findChild(HelpDialog, _NAME, Qt.FindChildOption.FindDirectChildrenOnly)
    dialog = found if isinstance(found, HelpDialog) else HelpDialog(window)
    dialog.show_topic(topic)
    return dialog


class HelpMark(QtWidgets.QToolButton):
    def __init__(self, topic: Topic) -> None:
        super().__init__()
        self.topic = topic
        self.setText("?")
        self.setAutoRaise(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        what = topic.value if topic.value.endswith("?") else f"What is meant: {topic.value.lower()}"
        labels.name(self, what, "Opens the glossary at this word")
        self.clicked.connect(self._show)

    def _show(self) -> None:
        show_help(self.window(), self.topic)


class FirstSteps(QtWidgets.QFrame):
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        steps = QtWidgets.QGridLayout()
        steps.setColumnStretch(1, 1)
        steps.setHorizontalSpacing(12)
        for number, (title, what) in enumerate(THREE_STEPS, start=1):
            steps.addWidget(labels.heading(f"{number}. {title}"), number, 0, Qt.AlignmentFlag.AlignTop)
            steps.addWidget(labels.label(what), number, 1)
        words = with_keys("What the words mean", "show_help")
        meaning = labels.button(words, lambda: show_help(self.window()))
        close = labels.button("Close", self.closed.emit, "Show these first steps no more")
        above = (labels.heading("Welcome to Tiebreak"), labels.label(WHAT_IT_DOES), steps)
        buttons = labels.in_row(meaning, close, labels.STRETCH)
        margins = (12, 10, 12, 10)
        labels.in_column(*above, labels.hint(_HOW), buttons, on=self, margins=margins, spacing=8)


def headed(text: str, topic: Topic) -> QtWidgets.QWidget:
    return beside_help(labels.heading(text), topic)


def beside_help(title: QtWidgets.QWidget, topic: Topic) -> QtWidgets.QWidget:
    """A heading that changes, with the same mark."""
    return labels.as_row(title, HelpMark(topic), labels.STRETCH, spacing=4)


def _section(topic: Topic) -> QtWidgets.QWidget:
    entry = GLOSSARY[topic]
    section = QtWidgets.QWidget()
    parts = map(labels.label, entry.text.splitlines())
    more = labels.hint(f"More in docs/{entry.page}")
    title = labels.heading(topic.value)
    labels.in_column(title, *parts, more, on=section, margins=(0, 4, 0, 10), spacing=4)
    return section
