"""Systems beside the open run: chosen, remembered for each dataset, loaded; their labels and explanations of
one judgment in a column each. An annotator's own is the last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent

from engine.annotations.effective import EffectiveAnnotation, Reviews
from engine.annotations.records import Annotation
from engine.core.formatting import capitalised, clipped, percent, short_name, visible, words
from engine.core.items import PREFERENCES, Gold, HumanLabel, Preference
from engine.core.judgments import AnyJudgment, Judgment, Unscored
from engine.settings.identity import StoredRun
from gui.review import review_jobs
from gui.review.criterion_strip import ExplanationEditor, OverrideButtons
from gui.review.judgment_card import apart_in_words
from gui.review.judgment_desk import JudgmentDesk
from gui.review.review_jobs import OtherRun
from gui.review.session import ReviewedJudgment, standing_in_words
from gui.widgets import labels
from gui.widgets.actions import MenuButton, PanelMenu
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, one_line, plain_label, set_tip
from gui.widgets.label_mark import LABEL_WORDS, LabelBadge, Pill
from gui.widgets.labels import STRETCH, as_column, in_column, name
from gui.widgets.text_views import TextPane
from gui.widgets.views import ListView
from gui.workspace.page import PageSplitter
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

MOST_BESIDE = 2  # with the open run and the own column four: more are too narrow to be read
_STATE = "review/beside"
_HEIGHT = "review/beside height"
_MOST_DATASETS = 40
_LEAST_SHARE, _MOST_SHARE = 36, 50  # percent of the height of the page, for the columns
_LINES = 12  # of text that they hold where these allow it
_HUMAN = 0  # in the place of a run's id
_WHAT = "Show other runs and submissions side by side with the open one (V shows and hides them)"
_LEAST_LETTERS = 24  # across, of a column
_LINE_HEIGHT = 125  # percent
_EQUAL = 1000  # pixels, of which each column gets its share


@dataclass(frozen=True)
class ColumnText:
    system: str
    whole: str  # of its system's name
    said: bool  # False where nothing is known of the item
    label: HumanLabel | None = None
    text: str | None = None
    marks: Sequence[tuple[str, str, str]] = ()  # short words with their kind and tool tip
    remark: str = ""  # a sentence above the explanation


def column_of(run: StoredRun, judgment: AnyJudgment, override: EffectiveAnnotation | None) -> ColumnText:
    remark, label, text = "No explanation.", None, None
    marks: list[tuple[str, str, str]] = []
    if isinstance(judgment, Unscored):
        remark = f"{capitalised(judgment.reason)}."
    else:
        label, explanation = judgment.preference, judgment.explanation
        if explanation is not None:
            text = f"{explanation.text}{' (cut at the length limit)' if explanation.cut else ''}"
            remark = ""
    if isinstance(judgment, Judgment):
        share = judgment.probabilities[PREFERENCES.index(judgment.preference)]
        marks.append((percent(share), "plain", "The probability of this label"))
        pill, tip = apart_in_words(judgment)
        marks += [(pill, "warning", tip)] if pill else []
    if override is not None:
        remark = f"{remark} {standing_in_words(override)}.".strip()
    return ColumnText(system_name(run), whole_name(run), True, label, text, marks, visible(remark))


def human_column(human: Gold | None, gold: Path) -> ColumnText:
    label = human.label if human else None
    text = human.explanation if human else None
    remark = "" if text else "No explanation." if label else "None."
    return ColumnText("Human labels", str(gold), label is not None, label, text, remark=remark)


def own_column(author: str, label: HumanLabel | None, text: str | None, draft: str) -> ColumnText:
    remark = "" if text or label else "Nothing yet: A, B, G or X gives a label, E writes an explanation."
    remark = visible(f"{remark} {draft}".strip())
    return ColumnText(f"You ({author})", author, label is not None, label, text, remark=remark)


def annotator_columns(
    reviews: Reviews, noted: Sequence[Annotation], shown: ReviewedJudgment
) -> list[ColumnText]:
    key = shown.judgment.key
    given = reviews.given_on(key)
    texts = {each.author: each.explanation for each in reviews.last_of_each(key) if not each.settles}
    notes = {note.author: note for note in noted}
    columns = []
    for who in sorted({*given, *texts, *notes}):
        label, note = given.get(who), notes.get(who)
        marks = [("blind", "plain", "Labelled without seeing other labels")] if label and label.blind else []
        marks += [(tag, "plain", "A tag of this annotator") for tag in (note.tags if note else ())]
        remark = visible(f"Note: {note.text}") if note and note.text else ""
        said = (label is not None, label.preference if label else None, texts.get(who))
        columns.append(ColumnText(clipped(who), who, *said, marks, remark))
    return columns


def adjudicated_column(shown: ReviewedJudgment) -> ColumnText:
    standing = shown.override
    adjudicated = standing if standing is not None and standing.adjudicated else None
    said = standing_in_words(adjudicated) + "." if adjudicated else shown.proposed
    remark, whole = visible(f"{said} {shown.draft}".strip()), "The effective label for all annotators"
    if adjudicated is None:
        title = "To adjudicate" if shown.proposed else "Nobody differs"
        return ColumnText(title, whole, said=False, remark=remark)
    label, text = adjudicated.preference, adjudicated.explanation
    return ColumnText("Adjudicated", whole, True, label, text, remark=remark)


def system_name(run: StoredRun) -> str:
    model = short_name(run.identity.model_name)
    if run.by_hand:
        return run.title
    return model if run.submitted else f"{run.title}: {model}"


def whole_name(run: StoredRun) -> str:
    identity = run.identity
    what = f"Submission {identity.model_path}" if run.submitted else f"{run.title}: {identity.model_name}"
    what = run.title if run.by_hand else what
    made = f"{run.created.astimezone():%Y-%m-%d %H:%M}"
    return f"{what}\n{identity.dataset_path.name}, {run.judged:,} of {identity.items:,} items, {made}"


class _Column(QtWidgets.QFrame):
    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.shown: ColumnText | None = None
        self.title = OneLine(role="heading")
        self.badge = LabelBadge()
        self.marks: list[Pill] = []
        self.remark = plain_label(role="hint")
        self.text = TextPane("", line_height=_LINE_HEIGHT)
        self.text.view.setProperty("role", "flat")
        self._head, self._filler = QtWidgets.QWidget(), QtWidgets.QWidget()
        self._flow = FlowLayout(self.badge, on=self._head)
        parts = (self.title, self._head, self.remark, (self.text, STRETCH), (self._filler, STRETCH))
        self.layout_ = in_column(*parts, on=self, margins=(8, 4, 8, 6), spacing=4)
        self._filler.hide()

    def show_text(self, shown: ColumnText) -> None:
        before, self.shown = self.shown, shown
        if shown == before:
            return
        self.title.setText(one_line(shown.system))
        set_tip(self.title, shown.whole)
        self.setAccessibleName(one_line(f"{shown.system}: {LABEL_WORDS[shown.label]}"))
        self.badge.show_label(shown.label)
        self.badge.setVisible(shown.said)
        labels.take_out(self._flow, self.marks)
        self.marks = [Pill() for _ in shown.marks]
        for pill, (word, kind, more) in zip(self.marks, shown.marks, strict=True):
            self._flow.addWidget(pill)
            pill.say(word, kind)
            set_tip(pill, more)
        self._head.setVisible(shown.said or bool(shown.marks))
        labels.show_text(self.remark, shown.remark)
        self.text.setVisible(bool(shown.text))
        self._filler.setVisible(not shown.text)
        if before is None or (shown.text, shown.system) != (before.text, before.system):
            self.text.show_text(shown.text or "")  # else it stays where it is scrolled to
        name(self.text.view, f"Explanation of {one_line(shown.system)}")
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        QTimer.singleShot(0, self, self._take_room)  # once its parts have their places

    def _take_room(self) -> None:
        # Else the parts would lie upon each other where the columns are low; so they are scrolled.
        self.remark.setMinimumHeight(max(0, self.remark.heightForWidth(self.remark.width())))
        of_all = self.layout_.minimumHeightForWidth if self.text.isVisibleTo(self) else self.heightForWidth
        needed = of_all(self.width()) + self.height() - self.contentsRect().height()
        if self.minimumHeight() != needed:
            self.setMinimumHeight(needed)


class OwnColumn(_Column):
    def __init__(self) -> None:
        super().__init__()
        self.buttons = OverrideButtons(wide=False)
        self.layout_.insertWidget(1, self.buttons)

    def show_own(self, shown: ColumnText, of: ReviewedJudgment) -> None:
        self.show_text(shown)
        self.badge.hide()  # the buttons say it
        self._head.setVisible(bool(shown.marks))
        label = shown.label if isinstance(shown.label, Preference) else None
        self.buttons.show_state(label, of.undo, of.writing)
        self.text.setVisible(not of.writing and bool(shown.text))
        self._filler.setVisible(not of.writing and not shown.text)
        self._make_room()

    def take_editor(self, editor: ExplanationEditor) -> None:
        self.layout_.addWidget(editor, 1)


class SideBySide(QtWidgets.QWidget):
    """All columns, at first as wide as each other, scrolled across where there is too little room."""

    def __init__(self) -> None:
        super().__init__()
        self.own = OwnColumn()
        self.systems: list[_Column] = []
        self._markdown = False
        self._row = QtWidgets.QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False, handleWidth=8)
        self._row.setProperty("role", "content")
        self._row.addWidget(self.own)
        self._area = QtWidgets.QScrollArea(widgetResizable=True)
        self._area.setWidget(self._row)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        in_column(self._area, on=self)
        self.restyle()

    @property
    def texts(self) -> Sequence[ColumnText]:
        return [column.shown for column in self.systems if column.shown is not None and not column.isHidden()]

    @property
    def views(self) -> Sequence[QtWidgets.QAbstractScrollArea]:
        columns = [column for column in (*self.systems, self.own) if not column.isHidden()]
        return [column.text.view for column in columns if not column.text.isHidden()]

    def show_systems(self, texts: Sequence[ColumnText]) -> None:
        before = sum(not column.isHidden() for column in self.systems)
        while len(self.systems) < len(texts):
            column = _Column()
            column.text.set_markdown(self._markdown)
            self._row.insertWidget(len(self.systems), column)
            self.systems.append(column)
            self.restyle()
        for place, column in enumerate(self.systems):
            column.setVisible(place < len(texts))
            if place < len(texts):
                column.show_text(texts[place])
        if before != len(texts):
            self._row.setSizes([_EQUAL] * self._row.count())

    def set_markdown(self, on: bool) -> None:
        self._markdown = on
        for column in (*self.systems, self.own):
            column.text.set_markdown(on)

    def restyle(self) -> None:
        least = self.fontMetrics().averageCharWidth() * _LEAST_LETTERS
        for column in (*self.systems, self.own):
            column.setMinimumWidth(least)
        self._area.setMinimumHeight(self.fontMetrics().lineSpacing() * 8)


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
        self._most = labels.hint("")
        self.add_button = labels.button("Open &submission…", self._menu.close, "Open a submission file")
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
                entry = self.list.put(text, run_id, more, ticked=run_id in ticked)
                if full and run_id not in ticked:
                    entry.setFlags(Qt.ItemFlag.ItemIsSelectable)
            self.list.setCurrentRow(min(row, self.list.count() - 1))
        others = any(run_id != _HUMAN for run_id, *_ in systems)
        most = f"At most {MOST_BESIDE} in addition to the open run and your own column."
        self._most.setText(most if others else "No other run and no opened submission has these items.")

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
        workspace.noted.connect(lambda _content: self._show())
        desk.follow(self.columns.own.buttons)

    def below(self, page: QtWidgets.QWidget) -> PageSplitter:
        self._splitter = PageSplitter(Qt.Orientation.Vertical, page, self.panel, stretches=(0, 0))
        self._splitter.setCollapsible(0, True)
        return self._splitter

    @property
    def on(self) -> bool:
        return self._on or self._desk.session.adjudicating

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

    def toggle(self) -> None:
        if self._desk.session.adjudicating:
            self._workspace.note.emit("The annotations stay side by side while you adjudicate.")
        else:
            self.set_on(not self._on)

    def show_nothing(self) -> None:
        self._shown = None
        self.keep_layout()
        self.panel.hide()

    def follow_page(self) -> None:
        self._read()
        self._show()

    # Which ones

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

    def _take_others(self, others: Mapping[int, OtherRun]) -> None:
        self._others = others
        self._show()

    def _list(self) -> None:
        run = self._workspace.run
        if run is not None:
            self._show_list()
            self._listing.start(review_jobs.answering_runs(self._workspace.store_path, run.id))

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
        judged = not run.results.run.by_hand
        opened = [column_of(run.results.run, shown.judgment, by_other)] if judged else []
        if self._desk.session.adjudicating:
            others = [*opened, *([self._other_column(_HUMAN)] if shown.human else [])]
            notes = run.results.notes_on(self._hashes[shown.judgment.item_id])
            others += annotator_columns(run.results.reviews, notes, shown)
            own = adjudicated_column(shown)
        else:
            others = [*opened, *map(self._other_column, self._beside)]
            if shown.hidden:
                others = [ColumnText("Hidden", "", said=False, remark=shown.why_hidden)] * len(others)
            # What this annotator gave or agreed with, and wrote.
            author = shown.reviewer
            texts = [each.explanation for each in shown.history if each.author == author and not each.undone]
            texts = [shown.explanation] if shown.hidden else texts
            label = run.results.reviews.labels.get(author, {}).get(shown.judgment.key)
            own = own_column(author, label, texts[-1] if texts else None, shown.draft)
        self.columns.show_systems(others)
        self.columns.own.show_own(own, shown)
        if self.panel.isHidden():
            self.panel.show()
            room = max(100, self._splitter.height())
            wanted = 100 * _LINES * self.panel.fontMetrics().lineSpacing() // room
            usual = min(max(wanted, _LEAST_SHARE), _MOST_SHARE)
            share = self._workspace.state.number(_HEIGHT, usual, most=100)
            self._splitter.setSizes([room * (100 - share) // 100, room * share // 100])

    def keep_layout(self) -> None:
        above, below = self._splitter.sizes()
        if self.panel.isVisible() and above + below:
            self._workspace.state.set_number(_HEIGHT, round(100 * below / (above + below)))

    def _other_column(self, which: int) -> ColumnText:
        shown, gold, other = self._shown, self._workspace.gold, self._others.get(which)
        assert shown is not None
        if which == _HUMAN:
            return human_column(shown.human, gold.path if gold is not None else Path())
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
        return column_of(run, judgments[criterion][place], override)
