"""Which systems stand beside the open run: chosen, remembered for each dataset, loaded, shown in columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal, Slot

from engine.core.formatting import short_name, visible, words
from engine.settings.identity import StoredRun
from gui.review import review_jobs, side_by_side
from gui.review.judgment_desk import JudgmentDesk
from gui.review.review_jobs import HIDDEN, OtherRun
from gui.review.session import ReviewedJudgment
from gui.review.side_by_side import ColumnText, SideBySide, system_name, whole_name
from gui.widgets.actions import MenuButton, PanelMenu
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.labels import STRETCH, as_column, button, hint, name
from gui.widgets.views import ListView
from gui.workspace.page import PageSplitter
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

MOST_BESIDE = 2  # with the open run and the own column four: more are too narrow to be read
_STATE = "review/beside"
_HEIGHT = "review/beside height"
_MOST_DATASETS = 40
_DEFAULT_SHARE = 50  # percent of the height of the page, for the columns
_HUMAN = 0  # in the place of a run's id
_WHAT = "Show other runs and submissions side by side with the open one (V shows and hides them)"


class Chooser(MenuButton):
    shown_changed = Signal(bool)
    ticked = Signal(int, bool)  # the id of a run, 0 for the human labels
    list_wanted = Signal()
    submission_wanted = Signal()

    def __init__(self) -> None:
        super().__init__("Side by side", kind=PanelMenu)
        name(self, "Side by side", _WHAT)
        self.on = QtWidgets.QCheckBox("&Show side by side (V)")
        self.on.toggled.connect(self.shown_changed)
        self.list = ListView()
        name(self.list, "Systems side by side")
        self.list.setSpacing(2)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemChanged.connect(self._take_tick)
        self._most = hint("")
        self.add_button = button("Open &submission…", self._menu.close, "Open a submission file")
        self.add_button.clicked.connect(self.submission_wanted)
        self.list.setMinimumWidth(self.fontMetrics().averageCharWidth() * 64)
        action = QtWidgets.QWidgetAction(self)
        action.setDefaultWidget(as_column(self.on, self.list, self._most, self.add_button, margins=None))
        self._menu.addAction(action)
        self._menu.aboutToShow.connect(self.list_wanted)
        self._menu.aboutToShow.connect(self.list.setFocus)

    def show_systems(self, systems: Sequence[tuple[int, str, str]], ticked: Sequence[int]) -> None:
        """List these: id, words and tool tip; no more than this many can be ticked."""
        row, full = max(0, self.list.currentRow()), len(ticked) >= MOST_BESIDE
        with QSignalBlocker(self.list):
            self.list.clear()
            for run_id, text, more in systems:
                entry = QtWidgets.QListWidgetItem(one_line(text))
                entry.setToolTip(tip(more))
                entry.setData(Qt.ItemDataRole.UserRole, run_id)
                entry.setCheckState(Qt.CheckState.Checked if run_id in ticked else Qt.CheckState.Unchecked)
                if full and run_id not in ticked:
                    entry.setFlags(Qt.ItemFlag.ItemIsSelectable)
                self.list.addItem(entry)
            self.list.setCurrentRow(min(row, self.list.count() - 1))
        others = any(run_id != _HUMAN for run_id, *_ in systems)
        most = f"At most {MOST_BESIDE} in addition to the open run and your own column."
        self._most.setText(most if others else "No other run and no opened submission has these items.")

    @Slot(QtWidgets.QListWidgetItem)
    def _take_tick(self, entry: QtWidgets.QListWidgetItem) -> None:
        run_id, checked = entry.data(Qt.ItemDataRole.UserRole), entry.checkState() is Qt.CheckState.Checked
        self.ticked.emit(run_id, checked)


class ComparisonColumns(QObject):
    def __init__(self, workspace: Workspace, desk: JudgmentDesk, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self._workspace, self._desk, self._page = workspace, desk, parent
        self._shown: ReviewedJudgment | None = None
        self._dataset, self._on = "", False  # its hash, and whether columns are shown for it
        self._runs: tuple[int, ...] = ()
        self._others: Mapping[int, OtherRun] = {}
        self._answering: Sequence[tuple[StoredRun, int]] = ()
        self._hashes: Mapping[str, str] = {}  # by item id, of the items of the run
        self._hashed: object = None  # these items
        self.button, self.columns = Chooser(), SideBySide()
        self.home = as_column((desk, STRETCH), spacing=6)
        self.panel = as_column((self.columns, STRETCH), spacing=6)
        self.panel.hide()
        threads, failed = workspace.threads, workspace.failures
        self._listing = TaskPanel(threads, ThreadName.STORE, self, self._take_list, failed=failed)
        self._reading = TaskPanel(threads, ThreadName.MEASURE, self, self._take_others, failed=failed)
        self.button.shown_changed.connect(self.set_on)
        self.button.ticked.connect(self._tick)
        self.button.list_wanted.connect(self._list)
        self.button.submission_wanted.connect(workspace.submission_wanted)
        desk.shown.connect(self._take_shown)
        workspace.run_changed.connect(self._follow_run)
        desk.follow(self.columns.own.buttons)

    def below(self, page: QtWidgets.QWidget) -> PageSplitter:
        self._splitter = PageSplitter(Qt.Orientation.Vertical)
        self._splitter.setHandleWidth(8)
        for part in (page, self.panel):
            self._splitter.addWidget(part)
        self._splitter.setCollapsible(0, True)
        return self._splitter

    @property
    def on(self) -> bool:
        return self._on or self._desk.session.adjudicating

    @Slot(bool)
    def set_on(self, on: bool) -> None:
        if on != self._on and self._dataset:
            self._on = on
            self._remember()
            self.arrange()

    @property
    def places(self) -> Sequence[QtWidgets.QAbstractScrollArea]:
        if not self._on:
            return [self._desk.card.body] if self._desk.card.open else []
        return self.columns.views if not self.panel.isHidden() else []

    @Slot()
    def toggle(self) -> None:
        if self._desk.session.adjudicating:
            self._workspace.note.emit("The annotations stay side by side while you adjudicate.")
        else:
            self.set_on(not self._on)

    @Slot()
    def show_nothing(self) -> None:
        self._shown = None
        self.keep_layout()
        self.panel.hide()

    def follow_page(self) -> None:
        self._read()
        self._show()

    # Which ones

    @Slot()
    def _follow_run(self) -> None:
        run = self._workspace.run
        if run is None:
            return
        self._shown = None  # it was the judgment of what was open before
        self._dataset = run.results.run.identity.dataset_hash
        kept = self._kept().get(self._dataset, {})
        runs = kept.get("runs", [_HUMAN])
        self._runs = tuple(each for each in runs if isinstance(each, int)) if isinstance(runs, list) else ()
        self._on = kept.get("on") is True
        if run.results.judged is not self._hashed:
            self._hashed = run.results.judged
            self._hashes = run.results.content_hashes
        self._reading.drop()
        self._others = {}
        self.arrange()

    def _kept(self) -> dict[str, Any]:
        kept = self._workspace.state.record_of_all(_STATE)
        return {key: value for key, value in kept.items() if isinstance(value, dict)}

    def _remember(self) -> None:
        kept = self._kept()
        kept.pop(self._dataset, None)
        kept[self._dataset] = {"on": self._on, "runs": list(self._runs)}
        self._workspace.state.set_record(_STATE, dict(list(kept.items())[-_MOST_DATASETS:]))

    @property
    def _beside(self) -> tuple[int, ...]:
        # Without the open run, which has the first column anyway.
        space = self._workspace
        absent = {space.run and space.run.id, _HUMAN if space.gold is None else None}
        return tuple(each for each in self._runs if each not in absent)[:MOST_BESIDE]

    @Slot(int, bool)
    def _tick(self, run_id: int, ticked: bool) -> None:
        rest = tuple(each for each in self._beside if each != run_id)
        self._runs = (*rest, run_id) if ticked else rest
        self._on = self._on or ticked
        self._remember()
        self._show_list()
        self.arrange()

    def _read(self) -> None:
        looked_at = self.on and self._page.isVisible()
        if looked_at and any(each != _HUMAN and each not in self._others for each in self._beside):
            self._reading.start(review_jobs.other_runs(self._workspace.store_path, self._beside))

    @Slot(object)
    def _take_others(self, others: Mapping[int, OtherRun]) -> None:
        self._others = others
        self._show()

    @Slot()
    def _list(self) -> None:
        run = self._workspace.run
        if run is not None:
            self._show_list()
            self._listing.start(review_jobs.answering_runs(self._workspace.store_path, run.id))

    @Slot(object)
    def _take_list(self, answering: Sequence[tuple[StoredRun, int]]) -> None:
        self._answering = answering
        self._show_list()

    def _show_list(self) -> None:
        gold, run = self._workspace.gold, self._workspace.run
        listed = []
        if gold is not None:
            listed.append((_HUMAN, f"Human labels of {short_name(gold.name)}", str(gold.path)))
        for other, shared in self._answering:
            items = f"{shared:,} of these {len(run.results.judged) if run else 0:,} items"
            listed.append((other.id, f"{system_name(other)}, {items}", whole_name(other)))
        self.button.show_systems(listed, self._beside)

    # What is shown

    def arrange(self) -> None:
        self._read()
        desk, on = self._desk, self.on and self._dataset != ""
        editor = desk.card.editor
        self.button.on.setChecked(self._on)
        if on != self.columns.own.isAncestorOf(editor):
            writing, focused = desk.writing, editor.has_focus
            if on:
                self.columns.own.take_editor(editor)
            else:
                self.keep_layout()
                desk.card.take_editor_back()
            layout = (self.panel if on else self.home).layout()
            assert isinstance(layout, QtWidgets.QVBoxLayout)
            layout.insertWidget(0, desk)
            desk.card.setVisible(not on)
            self.home.setVisible(not on)
            desk.show()
            editor.setVisible(writing)
            if focused:
                editor.field.setFocus()
        self._show()

    @Slot(object)
    def _take_shown(self, shown: ReviewedJudgment) -> None:
        self._shown = shown
        self._show()

    def _show(self) -> None:
        shown, run = self._shown, self._workspace.run
        if not self.on:
            self.panel.hide()
        if not self.on or shown is None or run is None or shown.judgment.item_id not in self._hashes:
            return
        by_other = shown.override if shown.override and shown.override.author != shown.reviewer else None
        opened = side_by_side.column_of(run.results.run, shown.judgment, by_other)
        if self._desk.session.adjudicating:
            others = [opened, *([self._other_column(_HUMAN)] if shown.human else [])]
            notes = run.results.notes_on(self._hashes[shown.judgment.item_id])
            others += side_by_side.annotator_columns(run.results.reviews, notes, shown)
            own = side_by_side.adjudicated_column(shown)
        else:
            others = [opened, *map(self._other_column, self._beside)]
            if shown.hidden:
                others = [ColumnText("Hidden", "", said=False, remark=HIDDEN)] * len(others)
            # What this annotator gave or agreed with, and wrote.
            author = shown.reviewer
            texts = [each.explanation for each in shown.history if each.author == author and not each.undone]
            label = run.results.reviews.labels.get(author, {}).get(shown.judgment.key)
            own = side_by_side.own_column(author, label, texts[-1] if texts else None, shown.draft)
        self.columns.show_systems(others)
        self.columns.own.show_own(own, shown)
        if self.panel.isHidden():
            self.panel.show()
            share = self._workspace.state.number(_HEIGHT, _DEFAULT_SHARE, most=100)
            room = max(100, self._splitter.height())
            self._splitter.setSizes([room * (100 - share) // 100, room * share // 100])

    def keep_layout(self) -> None:
        above, below = self._splitter.sizes()
        if self.panel.isVisible() and above + below:
            self._workspace.state.set_number(_HEIGHT, round(100 * below / (above + below)))

    def _other_column(self, which: int) -> ColumnText:
        shown, gold, other = self._shown, self._workspace.gold, self._others.get(which)
        assert shown is not None
        if which == _HUMAN:
            return side_by_side.human_column(shown.human, gold.path if gold is not None else Path())
        if other is None:
            remark = "Reading …" if self._reading.busy else "This run is not in the store any more."
            return ColumnText(f"Run {which}", "", said=False, remark=remark)
        run, judgments = other.results.run, other.results.judgments
        item_id, criterion = shown.judgment.key
        place = other.places.get((item_id, self._hashes[item_id]))
        if place is None or criterion not in judgments:
            lacks = "Does not answer this item." if place is None else f"Has no criterion {words(criterion)}."
            return ColumnText(system_name(run), whole_name(run), said=False, remark=visible(lacks))
        override = other.results.overrides.get(shown.judgment.key)
        return side_by_side.column_of(run, judgments[criterion][place], override)
