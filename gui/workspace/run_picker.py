"""A choice of whose labels of a run count, beside the judge's.

The list of all runs, to choose the one that is looked at, and a run that is offered beside it.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QPushButton, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from engine.annotations.records import LAST, LabelSource, LabelSourceKind
from engine.core.formatting import capitalised, clipped, visible
from engine.settings.run_lists import of_what, run_in_a_line, run_in_lines
from gui.widgets.fields import ComboBox, narrow_box
from gui.widgets.foreign_text import one_line, set_tip, tip
from gui.widgets.labels import in_row, name
from gui.workspace.workspace import Workspace

OPEN_SUBMISSION, CHECK = "Open submission…", "Check the open run as a submission…"
_NARROWEST, _WIDEST = 10, 96  # characters that the closed box shows


class RunPicker(ComboBox):
    """Follows the workspace; choosing a run opens it there.

    What is no run is obeyed only where it is chosen from the open list: keys that go through the closed box
    come to it by the way.
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._by_key = False  # an entry is chosen by a key on the closed box
        name(self, "Run that is looked at")
        self.setMinimumContentsLength(_NARROWEST)
        self._limit()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.activated.connect(self._choose)
        workspace.runs_changed.connect(self._fill)
        workspace.run_changed.connect(self._fill)
        self._fill()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the size of the text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._limit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Who scrolls over the closed box chooses nothing."""
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Know what is chosen without the list being opened."""
        self._by_key = True
        super().keyPressEvent(event)
        self._by_key = False

    def showPopup(self) -> None:
        """A key may open the list; where the system draws it, this returns once an entry is chosen."""
        self._by_key = False
        super().showPopup()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Show that the end of a long entry is left out."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        whole, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(whole, option, part, self).width() - 4
        text = option.currentText or self.placeholderText()
        option.currentText = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(whole, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
        self.draw_edge()

    def _limit(self) -> None:
        self.setMaximumWidth(self.fontMetrics().averageCharWidth() * _WIDEST)

    @Slot()
    def _fill(self) -> None:
        with QSignalBlocker(self):
            self.clear()
            is_open = self._workspace.run.id if self._workspace.run else None
            for run in self._workspace.runs:
                if run.archived and run.id != is_open:
                    continue
                self.addItem(one_line(run_in_a_line(run)), run.id)
                self.setItemData(self.count() - 1, tip(run_in_lines(run)), Qt.ItemDataRole.ToolTipRole)
            self.setPlaceholderText("Choose a run" if self.count() else "No runs yet")
            if self.count():
                self.insertSeparator(self.count())
            self.addItem(OPEN_SUBMISSION)
            if self._workspace.run is not None:
                self.addItem(CHECK)
            self._show_open()
            shown = next((run for run in self._workspace.runs if run.id == is_open), None)
            set_tip(self, run_in_lines(shown) if shown is not None else "")

    @Slot(int)
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


class OfferedRun(QPushButton):
    """Shows a run that has ended here while another one stayed open; hidden where there is none."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.clicked.connect(self._open)
        workspace.offer_changed.connect(self._follow)
        workspace.runs_changed.connect(self._follow)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        number = self._workspace.offered
        run = next((run for run in self._workspace.runs if run.id == number), None)
        text = f"Show run {number}"
        self.setText(text)
        what = one_line(f"{run.title} {of_what(run)} has ended since.") if run is not None else ""
        name(self, text)
        set_tip(self, what)
        self.setVisible(number is not None)

    @Slot()
    def _open(self) -> None:
        if self._workspace.offered is not None:
            self._workspace.open_run(self._workspace.offered)


_WORDS = {
    LabelSourceKind.LAST: "Effective labels",
    LabelSourceKind.ADJUDICATED: "Adjudicated labels",
    LabelSourceKind.MAJORITY: "Majority of annotators",
    LabelSourceKind.JUDGE: "Judge only",
}


class SourceBox(QWidget):
    """A box with the sources that make sense, and the annotators."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.box: QComboBox = narrow_box("Labels used", 12)
        in_row(self.box, on=self)
        self.box.currentIndexChanged.connect(self._tell)
        self.offer(())

    @property
    def source(self) -> LabelSource:
        """What is chosen."""
        found = self.box.currentData()
        return found if isinstance(found, LabelSource) else LAST

    def offer(self, annotators: Sequence[str], adjudicated: bool = True) -> None:
        """Offer these annotators, and `adjudicated` labels where there are any; what is chosen stays where it
        can.
        """
        before = self.source
        kinds = [kind for kind in _WORDS if adjudicated or kind is not LabelSourceKind.ADJUDICATED]
        sources = [LabelSource(kind) for kind in kinds]
        sources += [LabelSource(LabelSourceKind.ANNOTATOR, annotator) for annotator in annotators]
        with QSignalBlocker(self.box):
            self.box.clear()
            for source in sources:
                text = _WORDS.get(source.kind) or clipped(source.annotator)
                self.box.addItem(visible(text), source)
                more = tip(capitalised(source.in_words))
                self.box.setItemData(self.box.count() - 1, more, Qt.ItemDataRole.ToolTipRole)
            self.choose(before)
        if self.source != before:
            self._tell()

    def choose(self, source: LabelSource) -> None:
        """Choose a source, the default one where it is not offered."""
        places = [place for place in range(self.box.count()) if self.box.itemData(place) == source]
        self.box.setCurrentIndex(places[0] if places else 0)

    @Slot()
    def _tell(self) -> None:
        words = capitalised(self.source.in_words)
        set_tip(self.box, words)
        name(self.box, f"Labels used: {visible(clipped(words))}")
        self.changed.emit()
