"""Which rubric asks: all that there are, what the dataset has labels on, the ways to the editor."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent, QStandardItemModel
from PySide6.QtWidgets import QWidget

from engine.core.errors import EngineError
from engine.core.formatting import counted, listed, short_name, words
from engine.core.rubric import Rubric
from engine.settings.run_setup import RunSetup
from engine.system.paths import rubrics_folder
from gui.judge import prompt_jobs
from gui.judge.prompt_jobs import KIND, RubricFile, RubricsFound
from gui.judge.rubric_dialog import RubricDialog, RubricRequest
from gui.judge.rubric_edit import EditedRubric
from gui.widgets.fields import ComboBox, FlowLayout
from gui.widgets.files import ask_source
from gui.widgets.foreign_text import OneLine, one_line, plain_label, set_tip
from gui.widgets.glossary import Topic
from gui.widgets.help_dialog import HelpMark
from gui.widgets.labels import STRETCH, as_column, button, in_column, in_row, name, narrow, open_dialog
from gui.widgets.notice import problem_of
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_LABELS = "_preference"
_DRAFT = "Draft a rubric with the dataset's own criteria"
_MOST_NAMED = 4  # criteria


class RubricChoice(QWidget):
    def __init__(self, workspace: Workspace, described: Callable[[], RunSetup]) -> None:
        """`described`: the run that the page describes, by whose model the editor shows prompts."""
        super().__init__()
        self._workspace, self._described = workspace, described
        self._current = workspace.rubric
        self._found = RubricsFound((), ())
        self._offered: Rubric | None = None
        self.dialog: RubricDialog | None = None
        # Neither behind a search for models nor behind a large dataset.
        threads, failures = workspace.threads, workspace.failures
        self._finding = TaskPanel(threads, ThreadName.STORE, self, self._take_found, failed=failures)
        self._opening = TaskPanel(threads, ThreadName.STORE, self, self._take_opened, failed=self._refuse)
        self._drafting = TaskPanel(threads, ThreadName.FILES, self, self._take_draft, failed=failures)
        self.field = ComboBox()
        narrow(self.field)
        name(self.field, "Rubric", "The criteria and the words of the prompt")
        self.field.activated.connect(self._choose)
        self.source = OneLine(end=True)
        buttons = QWidget()
        flow = FlowLayout(buttons)
        flow.addWidget(button("Edit…", self.edit, "Edit the rubric"))
        flow.addWidget(button("New…", self.make, "Make a rubric of your own"))
        flow.addWidget(button("Duplicate…", self.duplicate, "Make a rubric of your own from this one"))
        flow.addWidget(button("Open…", self.open_file, "Open the file of a rubric"))
        self._offer_text = plain_label(role="warning")
        self.offer_button = button("Draft a rubric…", self._take_offer, _DRAFT)
        self.offer = as_column(self._offer_text, (self.offer_button, Qt.AlignmentFlag.AlignLeft))
        first = in_row((self.field, STRETCH), HelpMark(Topic.RUBRIC))
        in_column(first, self.source, buttons, self.offer, on=self, spacing=4)
        self._current.changed.connect(self._show)
        workspace.dataset_changed.connect(self._show_offer)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        # What lies in the folder may have changed since it was seen last.
        super().showEvent(event)
        self.look()

    def look(self) -> None:
        # What was found before something was saved must not be heard after it.
        own = [self._current.path] if self._current.path is not None else []
        self._finding.start(prompt_jobs.find_rubrics([*own, *self._current.opened]))

    # What is chosen

    def _choose(self) -> None:
        chosen = self.field.currentData()
        if isinstance(chosen, RubricFile) and chosen.rubric is not None:
            self._current.choose(chosen.rubric, chosen.path)
        elif isinstance(chosen, Rubric):
            self._current.choose(chosen)

    def open_file(self) -> None:
        folder = self._current.path.parent if self._current.path else rubrics_folder()
        path = ask_source(self, "Open rubric", folder, KIND)
        if path is not None:
            self.open_named(path)

    def open_named(self, path: Path) -> None:
        self._opening.start(prompt_jobs.read_rubric(path))

    def _take_opened(self, file: RubricFile) -> None:
        if file.path.parent != rubrics_folder():
            self._current.remember(file.path)
        if file.rubric is not None:
            self._current.choose(file.rubric, file.path)
            self.look()

    def _refuse(self, error: EngineError) -> None:
        self._fill()
        self._workspace.problem.emit(error)

    def _take_found(self, found: RubricsFound) -> None:
        # Show what there is; where the user's file was changed since it was chosen, that is what counts.
        self._found = found
        file = self._file()
        if file is not None and file.rubric is not None and file.rubric != self._current.rubric:
            self._workspace.note.emit(f"{short_name(file.path.name)} was changed and is read again.")
            self._current.choose(file.rubric, file.path)
        self._show()

    def _file(self) -> RubricFile | None:
        return next((file for file in self._found.files if file.path == self._current.path), None)

    # Editing

    def edit(self) -> None:
        # One that comes with the program becomes a copy once it is saved.
        self._open(RubricRequest(EditedRubric.of(self._current.rubric), self._file()))

    def make(self) -> None:
        self._open(RubricRequest(EditedRubric()))

    def duplicate(self) -> None:
        written = EditedRubric.of(self._current.rubric)
        self._open(RubricRequest(replace(written, name=f"{written.name} (copy)")))

    def _open(self, request: RubricRequest) -> None:
        space = self._workspace
        request = replace(request, dataset=space.dataset, model=self._described().model_path)
        self.dialog = RubricDialog(space, request, self.window())
        self.dialog.saved.connect(self._take_opened)
        self.dialog.finished.connect(lambda: setattr(self, "dialog", None))  # which holds a dataset
        open_dialog(self.dialog)

    # What the open dataset has labels on

    def _take_offer(self) -> None:
        dataset = self._workspace.dataset
        if self._offered is not None:
            file = next((file for file in self._found.files if file.rubric == self._offered), None)
            self._current.choose(self._offered, file.path if file else None)
        elif dataset is not None:
            self._drafting.start(prompt_jobs.draft_of(dataset.label_names, dataset.path.stem))

    def _take_draft(self, draft: Rubric | None) -> None:
        if draft is not None:
            self._open(RubricRequest(EditedRubric.of(draft)))

    def _show_offer(self) -> None:
        dataset = self._workspace.dataset
        own = _own_criteria(dataset) if dataset is not None else []
        unasked = [criterion for criterion in own if criterion not in self._current.rubric.names]
        self.offer.setVisible(bool(unasked))
        if not unasked or dataset is None:
            return
        files = [file.rubric for file in self._found.files if file.rubric is not None]
        fitting = [each for each in (*files, *self._found.shipped) if set(own) <= set(each.names)]
        self._offered = min(fitting, key=lambda rubric: len(rubric.names), default=None)
        file, named = (
            short_name(dataset.name),
            listed([words(criterion) for criterion in unasked], _MOST_NAMED),
        )
        self._offer_text.setText(one_line(f"{file} has labels on {named}, which are not in this rubric."))
        shown, what = f"Draft a rubric with its {counted(len(own), 'criterion', 'criteria')}…", _DRAFT
        if self._offered is not None:
            called = one_line(short_name(self._offered.name))
            shown, what = f"Use “{called}”", f"Use the rubric {called}"
        self.offer_button.setText(shown)
        name(self.offer_button, what)

    # Showing

    def _show(self) -> None:
        if (whole := self._whole()) is not None:
            self._current.choose(*whole)  # which is shown then
            return
        self._fill()
        rubric = self._current.rubric
        self.source.setText(one_line(rubric.source) if rubric.source else "No source is named.")
        set_tip(self.source, rubric.source)
        self.source.setAccessibleName(f"Source of the rubric: {self.source.text()}")
        self._show_offer()

    def _fill(self) -> None:
        # Offer what there is; what is loaded and in none of them stays, and is named so.
        field, current, listed = self.field, self._current, -1
        field.clear()
        for rubric in self._found.shipped:
            if current.path is None and rubric == current.rubric:
                listed = field.count()
            self._add(rubric.name, rubric, rubric.source)
        if self._found.files:
            field.insertSeparator(field.count())
        for file in self._found.files:
            if file.path == current.path and file.rubric is not None:
                listed = field.count()
            self._add_file(file)
        if listed < 0:
            listed = field.count()
            where = f"not in {current.path.name} any more" if current.path else "as in a run"
            looked = f" ({where})" if self._found.shipped else ""
            self._add(f"{current.rubric.name}{looked}", current.rubric, str(current.path or ""))
        field.setCurrentIndex(listed)
        set_tip(field, current.rubric.name)

    def _add(self, text: str, data: object, what: str) -> None:
        self.field.add(one_line(short_name(text)), data, what)

    def _whole(self) -> tuple[Rubric, Path | None] | None:
        # What is offered, of which the current rubric is some, as that of a run may be.
        current = self._current
        if current.path is not None or current.rubric in self._found.shipped:
            return None
        of_files = ((file.rubric, file.path) for file in self._found.files if file.rubric is not None)
        offered = (*of_files, *((rubric, None) for rubric in self._found.shipped))
        return next((found for found in offered if current.rubric.is_part_of(found[0])), None)

    def _add_file(self, file: RubricFile) -> None:
        # A file of which no rubric can be read cannot be chosen; it says why, and "Open…" says all of it.
        if file.rubric is not None:
            self._add(file.rubric.name, file, str(file.path))
            return
        why = " ".join(problem_of(file.error)) if file.error is not None else ""
        self._add(f"{file.path.name} (cannot be read)", file, f"{file.path}: {why}")
        model = self.field.model()
        if isinstance(model, QStandardItemModel):
            model.item(self.field.count() - 1).setEnabled(False)


def _own_criteria(dataset: "Dataset") -> list[str]:
    """The criteria that a dataset has columns of labels for."""
    named = (column.removesuffix(_LABELS) for column in dataset.label_names if column.endswith(_LABELS))
    return [criterion for criterion in named if criterion.isidentifier()]
