"""The editor of a rubric: its criteria, its wording, and beside them what the model is asked."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QMessageBox, QTabWidget, QWidget

from engine.core.errors import EngineError, SetupError
from engine.core.formatting import counted, file_stem, short_name, visible
from engine.core.items import Method, Order
from engine.core.rubric import LONGEST_RUBRIC_NAME, WORDING_PARTS, Rubric
from engine.system.files import make_folder
from engine.system.paths import rubrics_folder
from gui.judge import prompt_jobs, rubric_edit
from gui.judge.prompt_jobs import KINDS, SAMPLE_ITEM, PreviewedPrompt, PreviewRequest, RubricFile
from gui.judge.rubric_edit import CriteriaTab, WordingTab
from gui.widgets import labels
from gui.widgets.actions import timer
from gui.widgets.fields import ComboBox, SpinBox
from gui.widgets.files import ask_target
from gui.widgets.foreign_text import OneLine, one_line
from gui.widgets.notice import Notice, problem_of, question
from gui.widgets.prompt_pane import PromptView, ShownPrompt
from gui.workspace.page import PageSplitter
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import EngineThreads, ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_REST_MS = 250  # of no change before the prompt is made again
_ORDERS = {Order.AB: "A first", Order.BA: "B first"}
_MOST = 10**9


class PreviewPanel(QWidget):
    """Follows a draft a moment after each change, and scrolls to what has changed."""

    def __init__(
        self, draft: rubric_edit.RubricDraft, threads: EngineThreads, request: "RubricRequest"
    ) -> None:
        super().__init__()
        self._draft, self._dataset, self._model = draft, request.dataset, request.model
        self._shows = request.shows
        self._shown_of: tuple[int, Method | None, Order] | None = None
        last = min(len(self._dataset), _MOST) if self._dataset is not None else 1
        self.kind, self.order = ComboBox(), ComboBox()
        self.item = SpinBox(minimum=1, maximum=last, prefix="Item ", showGroupSeparator=True)
        self.kind.offer([(text, kind.value if kind else "") for kind, text in KINDS.items()])
        self.order.offer([(text, order.value) for order, text in _ORDERS.items()])
        labels.narrow(self.kind)
        labels.name(self.kind, "Question", "Which question of the criterion is shown")
        labels.name(self.order, "Order of the responses")
        labels.name(self.item, "Item of the dataset that is asked about")
        self.item.setVisible(self._dataset is not None)
        self.kind.activated.connect(self.make)
        self.order.activated.connect(self.make)
        self.item.valueChanged.connect(self._make_soon)
        self.of = OneLine(role="heading")
        self.view = PromptView()
        self.pane = self.view.pane
        self.said = labels.hint("")
        self.note = labels.silent("warning")
        above = labels.in_row((self.kind, labels.STRETCH), self.order, self.item)
        sample = "Of a sample item: no dataset is open"
        self._where = sample if self._dataset is None else f"Of {short_name(self._dataset.name)}"
        parts = (self.of, (self.view, labels.STRETCH), self.said, self.note)
        labels.in_column(labels.heading("Preview"), above, *parts, on=self)
        self._rest = timer(self, _REST_MS, self.make)
        take, fail = self._take, self._fail
        self._making = TaskPanel(threads, ThreadName.FILES, self, take, follow=take, failed=fail)
        draft.changed.connect(self._make_soon)
        draft.place_changed.connect(self.make)
        self.make()

    @property
    def request(self) -> PreviewRequest:
        rubric, kind = self._draft.rubric.sound(self._draft.place), self.kind.currentData()
        item = SAMPLE_ITEM if self._dataset is None else self._dataset[self.item.value() - 1]
        order = Order(self.order.currentData())
        return PreviewRequest(rubric, item, order, Method(kind) if kind else None, self._model, self._shows)

    def drop(self) -> None:
        self._rest.stop()
        self._making.drop()

    def make(self) -> None:
        self._rest.stop()
        asked = self._draft.criterion
        of = f"What the model is asked: {asked.title}" if asked is not None else "No criterion"
        self.of.setText(one_line(of))
        self._making.start(prompt_jobs.preview(self.request, at_once=self.pane.prompt is None))

    def _make_soon(self) -> None:
        self._rest.start()

    def _take(self, made: PreviewedPrompt) -> None:
        before = self.pane.prompt
        same = (self._draft.place, self.request.kind, self.request.order)
        self.view.show_prompt(made.prompt)
        if before is None or self._shown_of != same:
            self.pane.show_verdict()
        elif (place := _first_difference(before, made.prompt)) is not None:
            self.pane.show_place(place)
        self._shown_of = same
        form = "; only the text, without a model's chat format."
        if made.tokens is not None and self._model is not None:
            form = f", as {short_name(self._model.name)} gets it: {made.tokens:,} tokens."
        self.said.setText(visible(f"{self._where}{form}"))
        self._tell(made.note)

    def _fail(self, error: EngineError) -> None:
        self._tell(" ".join(problem_of(error)))

    def _tell(self, note: str) -> None:
        wrong = "Invalid fields are shown with their defaults, or empty." if self._draft.problems else ""
        labels.show_text(self.note, " ".join(filter(None, (wrong, note))))


def _first_difference(before: ShownPrompt, now: ShownPrompt) -> int | None:
    """The first character that has changed, in Qt's positions; None where nothing has."""
    if before.text == now.text:
        return None
    shorter = min(len(before.text), len(now.text))
    place = next((place for place in range(shorter) if before.text[place] != now.text[place]), shorter)
    return len(now.text[:place].encode("utf-16-le")) // 2


HIGHEST_THRESHOLD = 10.0
_SIZE = (190, 50)  # characters, lines
_SHARE_OF_SCREEN = 0.94
_CAPTION = 16  # characters
_NUMBER = 18  # characters
_LONGEST_STEM = 60  # bytes, of a file's name
_NO_STEM = re.compile(r"[^\w-]+")


@dataclass(frozen=True)
class RubricRequest:
    rubric: rubric_edit.EditedRubric
    file: RubricFile | None = None  # that it is from; None for what is not in a file yet
    dataset: "Dataset | None" = None  # whose items prompts are shown of; None for a sample
    model: Path | None = None  # in whose chat format
    shows: tuple[str, ...] = ()  # the texts of BACKGROUND that prompts show


class RubricDialog(labels.Dialog):
    """`saved`: a RubricFile, each time that it is written."""

    saved = Signal(object)

    def __init__(self, workspace: Workspace, request: RubricRequest, parent: QWidget | None = None) -> None:
        super().__init__("", parent, *_SIZE, _SHARE_OF_SCREEN)
        self.draft = rubric_edit.RubricDraft(request.rubric, self)
        file, threads, files = request.file, workspace.threads, ThreadName.FILES
        self.path = file.path if file is not None else None  # None: not in a file yet
        self._digest = file.digest if file is not None else ""
        self._told = self._digest  # what the user knows to be in it
        self._wanted: tuple[Path, Rubric] | None = None  # that is being written
        # Of the draft: those of the dialog are dropped when it closes, but what is written is to be whole.
        self._writing = TaskPanel(threads, files, self.draft, self._take_written, failed=self._fail)
        self._looking = TaskPanel(threads, files, self, self._take_look)
        self._reading = TaskPanel(threads, files, self, self._take_read, failed=self._fail)
        self._kept = request.rubric  # as it is saved, or was begun
        self._closes = False  # once it is saved
        self.criteria = CriteriaTab(self.draft)
        self.wording = WordingTab(self.draft)
        self.preview = PreviewPanel(self.draft, threads, request)
        shown = "Shown in lists and reports."
        self.name_field = rubric_edit.LineField("Name of the rubric", shown, LONGEST_RUBRIC_NAME + 1)
        self.source_field = rubric_edit.TextField("Source", "Where the criteria come from.", lines=2)
        tie = "If the weighted scores (0 to 10 points) differ by at most this, it is a tie."
        self.threshold_field = rubric_edit.NumberField("Tie threshold", tie, HIGHEST_THRESHOLD, 0.1)
        self.head = rubric_edit.FieldGrid(_CAPTION, self._write)
        self.head.add("name", "Na&me", self.name_field)
        self.head.add("source", "S&ource", self.source_field)
        self.head.add("tie_threshold", "&Tie threshold", self.threshold_field)
        self.threshold_field.setMaximumWidth(self.fontMetrics().averageCharWidth() * _NUMBER)
        self._make_foot()
        self.tabs = QTabWidget()
        labels.name(self.tabs.tabBar(), "Parts of the rubric")
        self.tabs.addTab(self.criteria, "&Criteria")
        self.tabs.addTab(self.wording, "Wor&ding")
        left = labels.as_column(self.head, (self.tabs, labels.STRETCH))
        across = PageSplitter(Qt.Orientation.Horizontal, left, self.preview)
        across.setSizes([640, 520])
        self.where = OneLine()
        buttons = (self.show_button, self.save_button, self.save_as_button, self.close_button)
        last = labels.in_row((self.problem, labels.STRETCH), *buttons)
        # The notice is below: above, it would move the fields.
        labels.in_column((across, labels.STRETCH), self.notice, self.where, last, on=self, margins=None)
        self.draft.changed.connect(self._show)
        self.finished.connect(self.preview.drop)
        QShortcut(QKeySequence.StandardKey.Save, self, self.save)
        self._show()
        self.name_field.setFocus()

    @property
    def modified(self) -> bool:
        """True where something would be lost."""
        return self.draft.rubric != self._kept

    def _make_foot(self) -> None:
        self.notice = Notice()
        self.reload_button = self.notice.offer("Read it again", self._read_again)
        self.problem = OneLine(role="hint", end=True)
        first = "Show the first problem"
        self.show_button = labels.button("Sho&w", self._go_to_problem, first, "Go to the field")
        self.save_button = labels.main_button("&Save", self.save)
        elsewhere = "Write it to another file"
        self.save_as_button = labels.button("Save &as…", self.save_as, "Save as", elsewhere)
        self.close_button = labels.button("Close", self.reject)
        for button in (self.show_button, self.save_as_button, self.close_button, self.save_button):
            button.setAutoDefault(False)

    # Editing

    def _write(self, key: str, value: Any) -> None:
        self.draft.write(replace(self.draft.rubric, **{key: value}))

    def _show(self) -> None:
        rubric, problems = self.draft.rubric, self.draft.problems
        for key in ("name", "source", "tie_threshold"):
            self.head.field(key).fill(getattr(rubric, key))
            self.head.say(key, problems.get(rubric_edit.FieldPlace(rubric_edit.RUBRIC, key), ""))
        self._show_problems()
        path = self.path
        self.where.setText(str(path) if path is not None else "Not saved in a file yet")
        self.setWindowTitle(one_line(f"Rubric {rubric.name}{' *' if self.modified else ''}")[:120])
        self.save_button.setEnabled(not problems and (self.modified or path is None))
        self.save_as_button.setEnabled(not problems)
        labels.name(self.save_button, "Save", f"Write it to {'its' if path else 'a'} file (Ctrl+S)")

    def _show_problems(self) -> None:
        said, found = "Unsaved changes" if self.modified else "", [*self.draft.problems.items()]
        self.show_button.setVisible(bool(found))
        labels.set_role(self.problem, "warning" if found else "hint")
        for at, text in found[:1]:
            more = f" And {counted(len(found) - 1, 'problem', 'problems')} more." if found[1:] else ""
            said = f"{self._where(at)}: {text}{more}"
        self.problem.setText(said)

    def _where(self, at: rubric_edit.FieldPlace) -> str:
        if at.place == rubric_edit.WORDING:
            return f"Wording, {WORDING_PARTS[at.field].title}"
        if at.place == rubric_edit.RUBRIC:
            return "Criteria" if at.field == "criteria" else "Rubric"
        criterion = self.draft.rubric.criteria[at.place]
        return f"Criterion {at.place + 1} ({short_name(criterion.title)}), {at.field}"

    def _go_to_problem(self) -> None:
        at = next(iter(self.draft.problems), None)
        if at is None:
            return
        if at.place == rubric_edit.WORDING:
            self.tabs.setCurrentWidget(self.wording)
            self.wording.go_to(at)
        elif at.place >= 0 or at.field == "criteria":
            self.tabs.setCurrentWidget(self.criteria)
            self.criteria.go_to(at)
        else:
            self.head.field(at.field).setFocus(Qt.FocusReason.OtherFocusReason)

    # Files

    def save(self) -> None:
        if self.path is None:
            self.save_as()
        elif not self.draft.problems:
            self._write_file(self.path, self.draft.rubric.rubric(), self._digest)

    def save_as(self) -> None:
        if self.draft.problems:
            return
        rubric = self.draft.rubric.rubric()
        try:
            path = ask_target(self, "Save rubric", self.path or _suggestion(rubric), prompt_jobs.KIND)
        except SetupError as error:
            self._fail(error)
            return
        self._closes = self._closes and path is not None
        if path is not None:
            self._write_file(path, rubric, None)  # whether it may be replaced was asked

    def _write_file(self, path: Path, rubric: Rubric, digest: str | None) -> None:
        self._wanted = path, rubric
        self._looking.drop()
        self._writing.start(prompt_jobs.write_rubric(path, rubric, digest))

    def _take_written(self, written: RubricFile | None) -> None:
        if written is not None:
            self.path = written.path
            self._keep(written)
            self._show()
            self.saved.emit(written)
            if self._closes:
                self.accept()
        elif self._wanted is not None and self._may_replace(self._wanted[0]):
            self._write_file(*self._wanted, None)
        else:
            self._closes = False

    def _may_replace(self, path: Path) -> bool:
        changed = f"{short_name(path.name)} was changed by another program."
        lost = "If you replace it, its new content is lost. Nothing is saved yet."
        box = question(self, "The file was changed", changed, lost)
        box.setIcon(QMessageBox.Icon.Warning)
        anyway = box.addButton("Replace it", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Do not save", QMessageBox.ButtonRole.RejectRole))
        box.exec()
        box.deleteLater()
        return box.clickedButton() is anyway

    def _fail(self, error: EngineError) -> None:
        self._closes = False
        self.reload_button.hide()
        self.notice.show_error(error)

    def look(self) -> None:
        if self.path is not None and not self._writing.busy:
            self._looking.start(prompt_jobs.look_at(self.path))

    def _take_look(self, digest: str) -> None:
        if digest in ("", self._told):
            return
        self._told = digest
        self.reload_button.show()
        self.notice.show_note(
            "Another program changed this file. You see its earlier content with your changes.",
            "Read it again to see its current content without your changes; or save: you are asked first.",
        )

    def _read_again(self) -> None:
        if self.path is not None:
            self._reading.start(prompt_jobs.read_rubric(self.path))

    def _take_read(self, file: RubricFile) -> None:
        self._keep(file)
        self.draft.write(self._kept)
        self._show()

    def _keep(self, file: RubricFile) -> None:
        self._digest = self._told = file.digest
        if file.rubric is not None:
            self._kept = rubric_edit.EditedRubric.of(file.rubric)
        self.notice.hide()

    # Closing

    def reject(self) -> None:
        """Close, unless something would be lost that the user wants to keep."""
        if not self.modified or self._may_discard():
            super().reject()

    def changeEvent(self, event: QEvent) -> None:
        # Whoever comes back from another program may have changed the file there.
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.look()

    def _may_discard(self) -> bool:
        # Ask; where the user wants to save, that is done, and the dialog closes then.
        sound = not self.draft.problems
        unsaved = f"“{short_name(self.draft.rubric.name)}” has changes that are not saved."
        why_not = "" if sound else "It cannot be saved until its problems are fixed."
        box = question(self, "Unsaved changes", unsaved, why_not)
        save = box.addButton("Save", QMessageBox.ButtonRole.AcceptRole) if sound else None
        discard = box.addButton("Discard them", QMessageBox.ButtonRole.DestructiveRole)
        stay = box.addButton("Go on editing", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(save or stay)
        box.exec()
        box.deleteLater()
        if save is not None and box.clickedButton() is save:
            self._closes = True
            self.save()
        return box.clickedButton() is discard


def _suggestion(rubric: Rubric) -> Path:
    folder = rubrics_folder()
    make_folder(folder)
    stem = file_stem(_NO_STEM.sub("-", rubric.name.strip()).strip("-"), _LONGEST_STEM)
    return folder / f"{stem or 'rubric'}{prompt_jobs.SUFFIX}"
