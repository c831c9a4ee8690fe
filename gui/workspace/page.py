"""What pages have in common: their frame, parts whose sizes the user can change, the choice of a run."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from PySide6 import QtWidgets
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent

from engine.annotations.effective import Reviews
from engine.annotations.records import LAST, LabelSource, LabelSourceKind
from engine.core.formatting import capitalised, clipped, visible
from gui.widgets.action_table import of_page
from gui.widgets.actions import add_key, controls
from gui.widgets.fields import narrow_box
from gui.widgets.foreign_text import OneLine, set_tip
from gui.widgets.labels import STRETCH, BigLabel, button, in_column, in_row, name, polish_again
from gui.widgets.views import RowsView
from gui.workspace.open_run import OpenRun
from gui.workspace.state import PageName
from gui.workspace.workspace import Workspace


class PageSplitter(QtWidgets.QSplitter):
    """Parts of which none can be lost from sight. `seen`: it was shown once; before, its sizes are not worth
    keeping. `keeps_first`: the first part stays as large as it is where there is less room.
    """

    def __init__(
        self, direction: Qt.Orientation, *parts: QtWidgets.QWidget, stretches: Sequence[int] = (1, 1)
    ) -> None:
        super().__init__(direction)
        for place, (part, stretch) in enumerate(zip(parts, stretches, strict=True)):
            self.addWidget(part)
            self.setStretchFactor(place, stretch)
        self.setHandleWidth(8)
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


class Page(QtWidgets.QWidget):
    """One page of the window: its title, a line beside it, its own actions at the right, and its body."""

    NAME: ClassVar[PageName]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self.setObjectName(f"page-{self.NAME.lower()}")
        self.setAccessibleName(f"{self.NAME} page")
        self._looks_old = True  # until it is shown
        self._splitters: dict[str, PageSplitter] = {}
        self.context: QtWidgets.QLabel = OneLine()
        self.header = in_row(BigLabel(1.45, self.NAME), self.context, STRETCH, spacing=10)
        self.body = in_column(spacing=10)
        in_column(self.header, (self.body, STRETCH), on=self, margins=(16, 8, 16, 10), spacing=10)

    def entered(self) -> None:
        """The page is shown now: bring up to date what may be old. Nothing by default."""

    def take_focus(self) -> None:
        proxy = self.focusProxy()
        for target in [proxy] if proxy is not None else controls(self)[:1]:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def way_to_judge(self) -> QtWidgets.QPushButton:
        go, what = self.workspace.page_wanted.emit, "Go to the Judge page to make a run"
        return button("Go to &Judge", lambda: go(PageName.JUDGE), what)

    def add_keys(self, **does: Callable[[], object]) -> None:
        for action, do in does.items():
            for key in of_page(self.NAME, action).sequences:
                add_key(self, key, do, inside=True)

    def remember(self, key: str, splitter: PageSplitter) -> PageSplitter:
        """Let its parts be as large as last time, now and whenever the window opens again."""
        splitter.restoreState(self.workspace.state.layout(key))
        self._splitters[key] = splitter
        return splitter

    def keep_layout(self) -> None:
        """Remember splitters, and columns, before the window closes."""
        for key, splitter in self._splitters.items():
            if splitter.seen:
                self.workspace.state.set_layout(key, splitter.saveState())

    def follow_look(self) -> None:
        """Colours or text size have changed: a page that nobody sees follows when it is shown."""
        self._looks_old = not self.isVisible()
        if not self._looks_old:
            self.restyle()

    def restyle(self) -> None:
        """Let each part that has a `restyle` of its own follow, too."""
        for view in self.findChildren(RowsView):
            view.fit_rows()
        for marked in (*self.findChildren(QtWidgets.QCheckBox), *self.findChildren(QtWidgets.QListWidget)):
            polish_again(marked)  # so that its mark is as high as its text
        for part in self.findChildren(QtWidgets.QWidget):
            if hasattr(part, "restyle"):
                part.restyle()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._looks_old:
            self.follow_look()


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
        self._offer((), True)

    @property
    def source(self) -> LabelSource:
        found = self.box.currentData()
        return found if isinstance(found, LabelSource) else LAST

    def offer_of(self, run: OpenRun | None) -> None:
        """Offer the annotators who labelled a run."""
        reviews = run.results.reviews if run is not None else Reviews()
        self.setEnabled(bool(reviews.annotators))
        self._offer(tuple(reviews.labels), bool(reviews.adjudicated))

    def _offer(self, annotators: Sequence[str], adjudicated: bool) -> None:
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
