"""The annotator who reviews: their name, asked once before the first label or note; blind or not; the filters
by progress and tag.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QPushButton, QWidget

from engine.annotations.effective import tags_together
from engine.core.formatting import visible
from engine.core.judgments import JudgmentKey, ReviewState
from gui.review.note_line import NoteLine, tags_of, typed_in
from gui.review.progress import STATE_WORDS, Drafts, Progress
from gui.review.review_jobs import Blind
from gui.widgets.actions import MenuButton
from gui.widgets.fields import narrow_box
from gui.widgets.foreign_text import set_tip, tip
from gui.widgets.labels import STRETCH, as_column, heading, hint, in_column, in_row, name, ok_and_cancel
from gui.workspace.state import BLIND
from gui.workspace.workspace import LONGEST_NAME, Workspace

_SHOWN = 16  # characters of a name on the button
_MOST_LISTED = 12
_WHAT_FOR = (
    "Your name is stored with every label and note that you give, and is in exports."
    " You can change it at any time."
)
_BLIND = (
    "Hide the labels of the judge, other annotators and the dataset on a criterion until you have labelled it"
)
_ADJUDICATE = (
    "Compare the annotations side by side and decide the effective label; other annotators cannot change it"
)


class WhoDialog(QDialog):
    def __init__(self, suggested: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Who is annotating?")
        self.field = QLineEdit(suggested, maxLength=LONGEST_NAME)
        self.field.selectAll()
        name(self.field, "Your name")
        self._buttons = ok_and_cancel(self)
        self.field.textChanged.connect(self._check)
        parts = (heading("Your name"), self.field, hint(_WHAT_FOR), self._buttons)
        in_column(*parts, on=self, margins=None, spacing=10)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 56)
        self._check()

    @Slot()
    def _check(self) -> None:
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(typed_in(self.field)))


class WhoButton(MenuButton):
    """`You are Ada ▾`: everybody who labelled the open run, and another name."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(tips=True)
        self._workspace = workspace
        self._request: Callable[[], object] | None = None
        self._wished_of: int | None = None  # the run that was open
        self.dialog: WhoDialog | None = None
        self._menu.aboutToShow.connect(self._fill)
        workspace.author_changed.connect(self.follow)
        self.follow()

    def then(self, request: Callable[[], object]) -> None:
        """Do what needs a name: at once, or once one is given while the same run is open."""
        if self._workspace.knows_author:
            request()
        else:
            self._request, self._wished_of = request, self._open_run
            self.ask()

    @Slot()
    def ask(self) -> None:
        if self.dialog is not None:
            return
        self.dialog = WhoDialog(self._workspace.author, self.window())
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.finished.connect(self._take)
        self.dialog.open()

    @Slot()
    def follow(self) -> None:
        author = visible(self._workspace.author)
        self.setText(f"You are {self._short(author)}".replace("&", "&&"))
        name(self, f"You are {author}: choose the annotator")
        set_tip(self, f"You are {author}. Your annotations are separate from those of others.")

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().averageCharWidth() * 14, super().minimumSizeHint().height())

    def _short(self, annotator: str) -> str:
        room = self.fontMetrics().averageCharWidth() * _SHOWN
        return self.fontMetrics().elidedText(annotator, Qt.TextElideMode.ElideMiddle, room)

    @Slot(int)
    def _take(self, result: int) -> None:
        dialog, self.dialog = self.dialog, None
        request, self._request = self._request, None
        if dialog is not None and result == QDialog.DialogCode.Accepted:
            self._workspace.set_author(typed_in(dialog.field))
            if request is not None and self._open_run == self._wished_of:
                request()
            elif request is not None:
                lost = "your last action on the previous one was not carried out"
                self._workspace.note.emit(f"Another run is open now: {lost}.")

    @property
    def _open_run(self) -> int | None:
        return self._workspace.run.id if self._workspace.run else None

    @Slot()
    def _fill(self) -> None:
        self._menu.clear()
        run = self._workspace.run
        annotators = {*(run.results.reviews.annotators if run else ()), self._workspace.author}
        for annotator in sorted(annotators)[:_MOST_LISTED]:
            action = self._menu.addAction(self._short(visible(annotator)).replace("&", "&&"))
            action.setToolTip(tip(annotator))
            action.setCheckable(True)
            action.setChecked(annotator == self._workspace.author)
            action.triggered.connect(lambda _checked, chosen=annotator: self._workspace.set_author(chosen))
        self._menu.addSeparator()
        self._menu.addAction("&Another name…", self.ask)


class Reviewer(QObject):
    blind_changed = Signal()  # it was switched, or another annotator labels
    adjudication_changed = Signal(bool)  # whether this annotator adjudicates

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._index = -1  # of the item among the judged
        self._criteria: Sequence[str] = ()
        self.blind = Blind(workspace, workspace.state.text(BLIND) == "on")
        workspace.author_changed.connect(self._start_anew)
        workspace.reviewed.connect(self._forget_stored)
        for signal in (workspace.run_changed, workspace.unsaid):
            signal.connect(self.blind.forget)
        workspace.taken_back.connect(self.blind.forget_item)
        self.progress = Progress(workspace, self.blind, self)
        self.who = WhoButton(workspace)
        self.drafts = Drafts(workspace, workspace.say, self)
        self.drafts.take_over(workspace.state)
        workspace.runs_deleted.connect(self.drafts.forget_runs)
        self.note = NoteLine(workspace, self.drafts, self.who.then)
        self.blind_button, self.adjudicate_button = QPushButton("Blind"), QPushButton("Adjudicate")
        name(self.blind_button, "Label blind", _BLIND)
        name(self.adjudicate_button, "Adjudicate where annotators differ", _ADJUDICATE)
        for button in (self.blind_button, self.adjudicate_button):
            button.setCheckable(True)
        self.blind_button.setChecked(self.blind.on)
        self.blind_button.toggled.connect(self.switch_blind)
        self.adjudicate_button.toggled.connect(self._switch_adjudicating)
        for signal in (workspace.run_changed, workspace.reviewed):
            signal.connect(self._offer_to_adjudicate)
        self._offer_to_adjudicate()
        self.blind_changed.connect(self._show_note)

    @Slot(bool)
    def switch_blind(self, on: bool) -> None:
        if on == self.blind.on:
            return
        if on:
            self.adjudicate_button.setChecked(False)
        self.blind.on = on
        self._workspace.state.set_text(BLIND, "on" if on else "")
        self.blind_changed.emit()
        self._workspace.blind_changed.emit()

    @Slot()
    def _offer_to_adjudicate(self) -> None:
        run, button = self._workspace.run, self.adjudicate_button
        differ = run is not None and bool(run.results.reviews.differing)
        button.setChecked(button.isChecked() and differ)
        button.setVisible(differ)

    @Slot(bool)
    def _switch_adjudicating(self, on: bool) -> None:
        if on:  # an adjudicator must see the annotations of others
            self.blind_button.setChecked(False)
        self.adjudication_changed.emit(on)

    def hidden_when_blind(self, widget: QWidget) -> QWidget:
        """A room for what tells of labels: it is not there while this annotator labels blind."""
        room = as_column(widget)
        room.setHidden(self.blind.on)
        self.blind_changed.connect(lambda: room.setHidden(self.blind.on))
        return room

    def look_at(self, index: int, criteria: Sequence[str]) -> None:
        self._index, self._criteria = index, criteria
        self._show_note()

    @Slot()
    def _start_anew(self) -> None:
        self.blind.forget()
        self.blind_changed.emit()

    @Slot()
    def _forget_stored(self) -> None:
        self.blind.forget_stored()
        self._show_note()

    @Slot()
    def _show_note(self) -> None:
        run = self._workspace.run
        if run is not None and 0 <= self._index < len(run.results.judged):
            item = run.results.judged[self._index]
            hides = not all(self.blind.shows(JudgmentKey(item.item_id, each)) for each in self._criteria)
            self.note.show_item(item, hides)


_STATE = "review/person"
_LONGEST_TAG = 24


class AnnotatorFilter(QWidget):
    changed = Signal()

    def __init__(self, workspace: Workspace, progress: Progress, blind_button: QWidget) -> None:
        super().__init__()
        self._workspace = workspace
        self._progress = progress
        self.state = narrow_box("Your progress on the listed items", letters=7)
        self.state.addItem("Done or not", None)
        for state, words in STATE_WORDS.items():
            self.state.addItem(words.capitalize(), state.value)
        self.tag = narrow_box("Tag of the listed items", letters=7)
        in_row((self.state, STRETCH), (self.tag, STRETCH), blind_button, on=self)
        remembered = workspace.state.record(_STATE)
        self.state.setCurrentIndex(max(0, self.state.findData(remembered.get("state"))))
        self._wanted_tag = remembered.get("tag")  # until the run is there that has it
        for box in (self.state, self.tag):
            box.activated.connect(self._tell)
        for signal in (workspace.run_changed, workspace.noted):
            signal.connect(self.show_tags)
        self._blind = False
        self.show_tags()

    def set_blind(self, blind: bool) -> None:
        # Others' tags tell of their labels: who labels blind does not filter by them.
        self._blind = blind
        self.tag.setVisible(self.tag.count() > 1 and not blind)

    @property
    def narrows(self) -> bool:
        return self.state.currentData() is not None or self._chosen_tag is not None

    @property
    def leaves_out_to_do(self) -> bool:
        return self._chosen_tag is not None or self.state.currentData() not in (None, ReviewState.TO_DO.value)

    @property
    def _chosen_tag(self) -> str | None:
        return None if self._blind else self.tag.currentData()

    @property
    def passing(self) -> frozenset[str] | None:
        run = self._workspace.run
        if run is None or not self.narrows:
            return None
        state, tag, results = self.state.currentData(), self._chosen_tag, run.results
        return frozenset(
            item.item_id
            for item in results.judged
            if state is None or self._progress.state(item.item_id) == state
            if tag is None or tag in tags_together(results.notes_on(item.content_hash))
        )

    @Slot()
    def clear(self) -> None:
        self._wanted_tag = None
        for box in (self.state, self.tag):
            box.setCurrentIndex(0)
        self._keep()

    @Slot()
    def show_tags(self) -> None:
        run = self._workspace.run
        chosen = self._wanted_tag if run and self._wanted_tag else self.tag.currentData()
        self.tag.clear()
        self.tag.addItem("Any tag", None)
        for tag in tags_of(run.results.all_notes) if run else ():
            short = tag if len(tag) <= _LONGEST_TAG else f"{tag[:_LONGEST_TAG]}…"
            self.tag.addItem(visible(short), tag)
        self.tag.setCurrentIndex(max(0, self.tag.findData(chosen) if chosen is not None else 0))
        self.set_blind(self._blind)
        self._wanted_tag = self._wanted_tag if run is None else None

    @Slot()
    def _tell(self) -> None:
        self._keep()
        self.changed.emit()

    def _keep(self) -> None:
        chosen = {"state": self.state.currentData(), "tag": self.tag.currentData()}
        self._workspace.state.set_record(_STATE, chosen)
