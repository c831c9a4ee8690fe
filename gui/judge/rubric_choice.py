"""Which rubric asks: all that there are, what the dataset has labels on, the ways to the editor."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QApplication

from engine.core.formatting import counted, listed, short_name, words
from engine.core.rubric import Rubric
from engine.settings.run_setup import RunSetup
from engine.system.paths import rubrics_folder
from gui.judge import prompt_jobs
from gui.judge.prompt_jobs import KIND, RubricFile, RubricsFound
from gui.judge.rubric_dialog import RubricDialog, RubricRequest
from gui.judge.rubric_edit import EditedRubric
from gui.widgets.actions import CurrentChoice, add_entry
from gui.widgets.files import ask_source
from gui.widgets.foreign_text import one_line
from gui.widgets.labels import open_dialog
from gui.widgets.notice import Message, problem_of
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

_LABELS = "_preference"
_MOST_NAMED = 4  # criteria


class RubricChoice(CurrentChoice):
    """It follows the labelled criteria of the dataset, unless a person chose one for it."""

    def __init__(self, workspace: Workspace, described: Callable[[], RunSetup]) -> None:
        """`described`: the run that the Judge page describes, by whose model the editor shows prompts."""
        super().__init__("Rubric")
        self._workspace, self._described = workspace, described
        self._current = workspace.rubric
        self._found = RubricsFound((), ())
        self._told: Path | None = None  # the dataset for which a draft was offered
        self.dialog: RubricDialog | None = None
        # Neither behind a search for models nor behind a large dataset.
        threads, failures = workspace.threads, workspace.failures
        self._finding = TaskPanel(threads, ThreadName.STORE, self, self._take_found, failed=failures)
        self._opening = TaskPanel(threads, ThreadName.STORE, self, self._take_opened, failed=failures)
        self._drafting = TaskPanel(threads, ThreadName.FILES, self, self._take_draft, failed=failures)
        self._current.changed.connect(self._show)
        workspace.dataset_changed.connect(self._follow_labels)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look()

    def look(self) -> None:
        # What was found before something was saved must not be heard after it.
        own = [self._current.path] if self._current.path is not None else []
        self._finding.start(prompt_jobs.find_rubrics([*own, *self._current.opened]))

    # What is chosen

    def offer(self) -> None:
        self._fill()
        self.look()  # what lies in the folder may have changed since it was seen last

    def _fill(self) -> None:
        menu, current = self._menu, self._current
        menu.clear()
        for rubric in self._found.shipped:
            self._add(rubric, None, rubric.source, current.path is None and rubric == current.rubric)
        menu.addSeparator()
        for file in self._found.files:
            if file.rubric is not None:
                self._add(file.rubric, file.path, str(file.path), file.path == current.path)
            else:
                why = " ".join(problem_of(file.error)) if file.error is not None else ""
                text = one_line(f"{file.path.name} (cannot be read)").replace("&", "&&")
                add_entry(menu, text, self.look, what=f"{file.path}: {why}").setEnabled(False)
        if not any(entry.isChecked() for entry in menu.actions()):
            self._add(current.rubric, current.path, str(current.path or ""), True)
        menu.addSeparator()
        add_entry(menu, "&Edit…", self.edit)
        add_entry(menu, "&New…", self.make, what="Make a rubric of your own")
        add_entry(menu, "&Duplicate…", self.duplicate, what="Make a rubric of your own from this one")
        add_entry(menu, "&Open…", self.open_file, what="Open the file of a rubric")
        if self._unasked:
            add_entry(menu, self._draft_text, self.draft)

    def _add(self, rubric: Rubric, path: Path | None, what: str, chosen: bool) -> None:
        text = one_line(self._called(rubric, path)).replace("&", "&&")
        add_entry(self._menu, text, partial(self._current.choose, rubric, path), what=what, checked=chosen)

    def _called(self, rubric: Rubric, path: Path | None) -> str:
        """Its name; of what is in none of those that there are, where it is from."""
        known = [file.path for file in self._found.files if file.rubric is not None]
        if not self._found.shipped or path in known or (path is None and rubric in self._found.shipped):
            return short_name(rubric.name)
        where = f"not in {path.name} any more" if path is not None else "as in a run"
        return f"{short_name(rubric.name)} ({where})"

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

    def _take_found(self, found: RubricsFound) -> None:
        # Show what there is; where the user's file was changed since it was chosen, that is what counts.
        before, self._found = self._found, found
        file = self._file()
        if file is not None and file.rubric is not None and file.rubric != self._current.rubric:
            self._workspace.note.emit(f"{short_name(file.path.name)} was changed and is read again.")
            self._current.use(file.rubric, file.path)
        if found != before:
            self._show()
            self._follow_labels()
            if self._menu.isVisible():
                self._fill()

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

    def draft(self) -> None:
        if (dataset := self._workspace.dataset) is not None:
            self._drafting.start(prompt_jobs.draft_of(dataset.label_names, dataset.path.stem))

    def _open(self, request: RubricRequest) -> None:
        space, window = self._workspace, QApplication.activeWindow() or self.window()
        setup = self._described()
        request = replace(request, dataset=space.dataset, model=setup.model_path, shows=setup.shows)
        self.dialog = RubricDialog(space, request, window)
        self.dialog.saved.connect(self._take_opened)
        self.dialog.finished.connect(lambda: setattr(self, "dialog", None))  # which holds a dataset
        open_dialog(self.dialog)

    def _take_draft(self, draft: Rubric | None) -> None:
        if draft is not None:
            self._open(RubricRequest(EditedRubric.of(draft)))

    # What the current dataset has labels on

    @property
    def _labelled(self) -> list[str]:
        """The criteria that the dataset has columns of labels for."""
        dataset = self._workspace.dataset
        columns = dataset.label_names if dataset is not None else ()
        named = (column.removesuffix(_LABELS) for column in columns if column.endswith(_LABELS))
        return [criterion for criterion in named if criterion.isidentifier()]

    @property
    def _unasked(self) -> list[str]:
        return [criterion for criterion in self._labelled if criterion not in self._current.rubric.names]

    @property
    def _draft_text(self) -> str:
        return f"Draft a rubric with its {counted(len(self._labelled), 'criterion', 'criteria')}…"

    def _follow_labels(self) -> None:
        dataset, unasked = self._workspace.dataset, self._unasked
        if dataset is None or not unasked or not self._found.shipped or self._current.is_chosen:
            return
        fitting = [each for each in self._offered if set(self._labelled) <= set(each[0].names)]
        if fitting:
            self._current.use(*min(fitting, key=lambda each: len(each[0].names)))
        elif dataset.path != self._told:
            self._told = dataset.path
            named = listed([words(criterion) for criterion in unasked], _MOST_NAMED)
            text = f"{short_name(dataset.name)} has labels on {named}, which are not in the rubric."
            said = Message(text, steps={self._draft_text: self.draft}, about=("rubric", dataset.path))
            self._workspace.notice.emit(said)

    def _show(self) -> None:
        if (whole := self._whole()) is not None:
            self._current.use(*whole)  # which is shown then
            return
        rubric, path = self._current.rubric, self._current.path
        source = rubric.source or "No source is named."
        asked = ", ".join(words(name) for name in rubric.names)
        self.show_current(f"Rubric {self._called(rubric, path)}", f"{rubric.name}: {asked}\n{source}")

    def _whole(self) -> tuple[Rubric, Path | None] | None:
        # What is offered, of which the current rubric is some, as that of a run may be.
        current = self._current
        if current.path is not None or current.rubric in self._found.shipped:
            return None
        return next((found for found in self._offered if current.rubric.is_part_of(found[0])), None)

    @property
    def _offered(self) -> list[tuple[Rubric, Path | None]]:
        files = [(file.rubric, file.path) for file in self._found.files if file.rubric is not None]
        return [*files, *((rubric, None) for rubric in self._found.shipped)]
