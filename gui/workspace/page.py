"""What pages have in common: their frame, parts whose sizes the user can change, the choice of a run."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent, QResizeEvent, QShowEvent, QWheelEvent

from engine.annotations.records import LAST, LabelSource, LabelSourceKind
from engine.core.formatting import capitalised, clipped, visible
from engine.settings.run_lists import of_what, run_in_a_line, run_in_lines
from gui.widgets.action_table import of_page
from gui.widgets.actions import add_key, controls
from gui.widgets.fields import ComboBox, narrow_box
from gui.widgets.foreign_text import OneLine, one_line, set_tip
from gui.widgets.labels import STRETCH, in_column, in_row, name, title
from gui.widgets.views import RowsView
from gui.workspace.state import PageName
from gui.workspace.workspace import Workspace


class PageSplitter(QtWidgets.QSplitter):
    """Parts of which none can be lost from sight. `seen`: it was shown once; before, its sizes are not worth
    keeping. `keeps_first`: the first part stays as large as it is where there is less room.
    """

    def __init__(self, direction: Qt.Orientation) -> None:
        super().__init__(direction)
        self.setChildrenCollapsible(False)
        self.keeps_first = False
        self.seen = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        # Qt takes what lacks from all parts alike, whatever their stretch
        first, *_ = before = self.sizes()
        super().resizeEvent(event)
        if self.keeps_first and self.seen and self.sizes()[0] != first:
            self.setSizes([first, sum(self.sizes()) - first, *before[2:]])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.seen = True


def two_parts(direction: Qt.Orientation, first: QtWidgets.QWidget, second: QtWidgets.QWidget) -> PageSplitter:
    made = PageSplitter(direction)
    made.addWidget(first)
    made.addWidget(second)
    made.setStretchFactor(0, 1)
    made.setStretchFactor(1, 1)
    made.setHandleWidth(8)
    return made


class Page(QtWidgets.QWidget):
    """One page of the window: its title, a line beside it, its own actions at the right, and its body."""

    restyled = Signal()

    NAME: ClassVar[PageName]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self.setObjectName(f"page-{self.NAME.lower()}")
        self.setAccessibleName(f"{self.NAME} page")
        self._looks_old = True  # until it is shown
        self.context: QtWidgets.QLabel = OneLine()
        self.header = in_row(title(self.NAME), self.context, STRETCH, spacing=10)
        self.body = in_column(spacing=10)
        in_column(self.header, (self.body, STRETCH), on=self, margins=(16, 12, 16, 10), spacing=10)

    def entered(self) -> None:
        """The page is shown now: bring up to date what may be old. Nothing by default."""

    def take_focus(self) -> None:
        proxy = self.focusProxy()
        for target in [proxy] if proxy is not None else controls(self)[:1]:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def add_keys(self, **does: Callable[[], object]) -> None:
        for action, do in does.items():
            for key in of_page(self.NAME, action).sequences:
                add_key(self, key, do, inside=True)

    def keep_splitter(self, key: str, splitter: PageSplitter) -> None:
        if splitter.seen:
            self.workspace.state.set_layout(key, splitter.saveState())

    def keep_layout(self) -> None:
        """Remember splitters and columns; called before the window closes. Nothing by default."""

    def follow_look(self) -> None:
        """Colours or text size have changed: a page that nobody sees follows when it is shown."""
        self._looks_old = not self.isVisible()
        if not self._looks_old:
            self.restyle()

    def restyle(self) -> None:
        for view in self.findChildren(RowsView):
            view.fit_rows()
        self.restyled.emit()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._looks_old:
            self.follow_look()


OPEN_SUBMISSION, CHECK = "Open submission…", "Check the open run as a submission…"
_NARROWEST, _WIDEST = 10, 96  # characters that the closed box shows


class RunPicker(ComboBox):
    """Choosing a run opens it. What is no run is obeyed only in the open list, as keys go through the box."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._by_key = False  # an entry is chosen by a key on the closed box
        name(self, "Run that is looked at")
        self.setMinimumContentsLength(_NARROWEST)
        self._limit()
        self.setSizeAdjustPolicy(QtWidgets.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.activated.connect(self._choose)
        workspace.runs_changed.connect(self._fill)
        workspace.run_changed.connect(self._fill)
        self._fill()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._limit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        # who scrolls over the closed box chooses nothing
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._by_key = True
        super().keyPressEvent(event)
        self._by_key = False

    def showPopup(self) -> None:
        # a key may open the list; where the system draws it, this returns once an entry is chosen
        self._by_key = False
        super().showPopup()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, option = QtWidgets.QStylePainter(self), QtWidgets.QStyleOptionComboBox()
        self.initStyleOption(option)
        whole = QtWidgets.QStyle.ComplexControl.CC_ComboBox
        field = QtWidgets.QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(whole, option, field, self).width() - 4
        text = option.currentText or self.placeholderText()
        option.currentText = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(whole, option)
        painter.drawControl(QtWidgets.QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
        self.draw_edge()

    def _limit(self) -> None:
        self.setMaximumWidth(self.fontMetrics().averageCharWidth() * _WIDEST)

    def _fill(self) -> None:
        with QSignalBlocker(self):
            self.clear()
            is_open = self._workspace.run.id if self._workspace.run else None
            for run in self._workspace.runs:
                if run.archived and run.id != is_open:
                    continue
                self.add(one_line(run_in_a_line(run)), run.id, run_in_lines(run))
            self.setPlaceholderText("Choose a run" if self.count() else "No runs yet")
            if self.count():
                self.insertSeparator(self.count())
            self.addItem(OPEN_SUBMISSION)
            if self._workspace.run is not None:
                self.addItem(CHECK)
            self._show_open()
            shown = next((run for run in self._workspace.runs if run.id == is_open), None)
            set_tip(self, run_in_lines(shown) if shown is not None else "")

    def _choose(self, index: int) -> None:
        run_id = self.itemData(index)
        if run_id is not None:
            self._workspace.open_run(run_id)
        elif not self._by_key and self.itemText(index) == OPEN_SUBMISSION:
            self._workspace.submission_wanted.emit()
        elif not self._by_key and self.itemText(index) == CHECK:
            self._workspace.check_wanted.emit()
        # Named once it is there: until then, and where it cannot be opened, the other one is looked at.
        self._show_open()

    def _show_open(self) -> None:
        run = self._workspace.run
        self.setCurrentIndex(self.findData(run.id) if run else -1)


class OfferedRun(QtWidgets.QPushButton):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.clicked.connect(self._open)
        workspace.offer_changed.connect(self._follow)
        workspace.runs_changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        number = self._workspace.offered
        run = next((run for run in self._workspace.runs if run.id == number), None)
        text = f"Show run {number}"
        self.setText(text)
        what = one_line(f"{run.title} {of_what(run)} has ended since.") if run is not None else ""
        name(self, text)
        set_tip(self, what)
        self.setVisible(number is not None)

    def _open(self) -> None:
        if self._workspace.offered is not None:
            self._workspace.open_run(self._workspace.offered)


_WORDS = {
    LabelSourceKind.LAST: "Effective labels",
    LabelSourceKind.ADJUDICATED: "Adjudicated labels",
    LabelSourceKind.MAJORITY: "Majority of annotators",
    LabelSourceKind.JUDGE: "Judge only",
}


class SourceBox(QtWidgets.QWidget):
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.box = narrow_box("Labels used", 12)
        in_row(self.box, on=self)
        self.box.currentIndexChanged.connect(self._tell)
        self.offer(())

    @property
    def source(self) -> LabelSource:
        found = self.box.currentData()
        return found if isinstance(found, LabelSource) else LAST

    def offer(self, annotators: Sequence[str], adjudicated: bool = True) -> None:
        before = self.source
        kinds = [kind for kind in _WORDS if adjudicated or kind is not LabelSourceKind.ADJUDICATED]
        sources = [LabelSource(kind) for kind in kinds]
        sources += [LabelSource(LabelSourceKind.ANNOTATOR, annotator) for annotator in annotators]
        with QSignalBlocker(self.box):
            self.box.clear()
            for source in sources:
                text = _WORDS.get(source.kind) or clipped(source.annotator)
                self.box.add(visible(text), source, capitalised(source.in_words))
            self.choose(before)
        if self.source != before:
            self._tell()

    def choose(self, source: LabelSource) -> None:
        places = [place for place in range(self.box.count()) if self.box.itemData(place) == source]
        self.box.setCurrentIndex(places[0] if places else 0)

    def _tell(self) -> None:
        words = capitalised(self.source.in_words)
        set_tip(self.box, words)
        name(self.box, f"Labels used: {visible(clipped(words))}")
        self.changed.emit()
