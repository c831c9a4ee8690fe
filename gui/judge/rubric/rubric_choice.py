"""Which rubric asks: the list of all that there are, where it comes from, and the ways to its editor.

Knows: what can be chosen, what the open dataset has labels on. Does not know: files, prompts, runs.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent, QStandardItemModel
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.errors import EngineError
from engine.core.formatting import counted, listed, short_name, words
from engine.core.rubric import Rubric
from engine.core.run_setup import RunSetup
from engine.system.paths import rubrics_folder
from gui.judge.rubric import rubric_jobs
from gui.judge.rubric.edited import EditedRubric
from gui.judge.rubric.rubric_dialog import RubricDialog, RubricWish
from gui.judge.rubric.rubric_file import KIND
from gui.judge.rubric.rubric_jobs import RubricFile, RubricsFound
from gui.kit.fields import ComboBox
from gui.kit.file_dialogs import ask_source
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import OneLine, one_line, plain_label, set_tip, tip
from gui.kit.labels import name, narrow
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.kit.notice import problem_of
from gui.reading.glossary import Topic
from gui.reading.help_dialog import HelpMark
from gui.work.lanes import Lane, LatestTask
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_LABELS = "_preference"
_MOST_NAMED = 4  # criteria


class RubricChoice(QWidget):
    """Shows and changes the rubric that the workspace has at hand."""

    def __init__(self, workspace: Workspace, described: Callable[[], RunSetup]) -> None:
        """`described`: the run that the page describes, by whose model the editor shows prompts."""
        super().__init__()
        self._workspace, self._described = workspace, described
        self._at_hand = workspace.rubric
        self._found = RubricsFound((), ())
        self._offered: Rubric | None = None
        self.dialog: RubricDialog | None = None
        # Neither behind a search for models nor behind a large dataset.
        self._finding = LatestTask(workspace.threads, Lane.STORE, self)
        self._finding.finished.connect(self._take_found)
        workspace.failures.follow(self._finding)
        self._opening = LatestTask(workspace.threads, Lane.STORE, self)
        self._opening.finished.connect(self._take_opened)
        self._opening.failed.connect(self._refuse)
        self._drafting = LatestTask(workspace.threads, Lane.FILES, self)
        self._drafting.finished.connect(self._take_draft)
        workspace.failures.follow(self._drafting)
        self._make_parts()
        self._at_hand.changed.connect(self._show)
        workspace.dataset_changed.connect(self._show_offer)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        """What lies in the folder may have changed since it was seen last."""
        super().showEvent(event)
        self.look()

    def look(self) -> None:
        """See which rubrics there are now."""
        # What was found before something was saved must not be heard after it.
        self._finding.start(rubric_jobs.find_rubrics(self._others()))

    # Making

    def _make_parts(self) -> None:
        self.field = ComboBox()
        narrow(self.field)
        name(self.field, "Rubric", "What is asked: its criteria, and the words of the prompt")
        self.field.activated.connect(self._choose)
        self.source = OneLine(end=True)
        self.edit_button = self._button("Edit…", "Edit the rubric")
        self.edit_button.clicked.connect(self.edit)
        self.new_button = self._button("New…", "Make a rubric of your own")
        self.new_button.clicked.connect(self.make)
        self.copy_button = self._button("Duplicate…", "Make a rubric of your own out of this one")
        self.copy_button.clicked.connect(self.duplicate)
        self.open_button = self._button("Open…", "Open the file of a rubric")
        self.open_button.clicked.connect(self.open_file)
        buttons = QWidget()
        flow = FlowLayout(buttons)
        for button in (self.edit_button, self.new_button, self.copy_button, self.open_button):
            flow.addWidget(button)
        self.offer = QWidget()
        self._offer_text = plain_label(role="warning")
        self.offer_button = self._button("Draft a rubric…", "Draft a rubric of the dataset's own criteria")
        self.offer_button.clicked.connect(self._take_offer)
        in_column(self._offer_text, (self.offer_button, Qt.AlignmentFlag.AlignLeft), on=self.offer)
        first = in_row((self.field, STRETCH), HelpMark(Topic.RUBRIC))
        in_column(first, self.source, buttons, self.offer, on=self, spacing=4)

    def _button(self, text: str, accessible: str) -> QPushButton:
        button = QPushButton(text)
        name(button, accessible)
        return button

    # What is chosen

    def _others(self) -> list[Path]:
        own = [self._at_hand.path] if self._at_hand.path is not None else []
        return [*own, *self._at_hand.opened]

    @Slot()
    def _choose(self) -> None:
        chosen = self.field.currentData()
        if isinstance(chosen, RubricFile) and chosen.rubric is not None:
            self._at_hand.choose(chosen.rubric, chosen.path)
        elif isinstance(chosen, Rubric):
            self._at_hand.choose(chosen)

    @Slot()
    def open_file(self) -> None:
        """Ask for a file, and work with the rubric in it."""
        folder = self._at_hand.path.parent if self._at_hand.path else rubrics_folder()
        path = ask_source(self, "Open rubric", folder, KIND)
        if path is not None:
            self.open_named(path)

    def open_named(self, path: Path) -> None:
        """Work with the rubric of a file."""
        self._opening.start(rubric_jobs.read_rubric(path))

    @Slot(object)
    def _take_opened(self, file: RubricFile) -> None:
        if file.rubric is not None:
            if file.path.parent != rubrics_folder():
                self._at_hand.remember(file.path)
            self._at_hand.choose(file.rubric, file.path)
            self.look()

    @Slot(object)
    def _refuse(self, error: EngineError) -> None:
        self._fill()
        self._workspace.problem.emit(error)

    @Slot(object)
    def _take_found(self, found: RubricsFound) -> None:
        """Show what there is; where a person's file was changed since it was chosen, that is what counts."""
        self._found = found
        file = self._file()
        if file is not None and file.rubric is not None and file.rubric != self._at_hand.rubric:
            self._workspace.note.emit(f"{short_name(file.path.name)} was changed, and is read anew.")
            self._at_hand.choose(file.rubric, file.path)
        self._show()

    def _file(self) -> RubricFile | None:
        """The file of the rubric at hand, where it is there."""
        return next((file for file in self._found.files if file.path == self._at_hand.path), None)

    # Editing

    @Slot()
    def edit(self) -> None:
        """Edit the rubric at hand; one that comes with the program becomes a copy once it is saved."""
        self._open(RubricWish(EditedRubric.of(self._at_hand.rubric), self._file()))

    @Slot()
    def make(self) -> None:
        """Begin an empty one."""
        self._open(RubricWish(EditedRubric()))

    @Slot()
    def duplicate(self) -> None:
        """Begin one that is like the one at hand."""
        written = EditedRubric.of(self._at_hand.rubric)
        self._open(RubricWish(replace(written, name=f"{written.name} (copy)")))

    def _open(self, wish: RubricWish) -> None:
        space = self._workspace
        wish = replace(wish, dataset=space.dataset, model=self._described().model_path)
        self.dialog = RubricDialog(space, wish, self.window())
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.saved.connect(self._take_opened)
        self.dialog.finished.connect(self._let_go)
        self.dialog.open()

    @Slot()
    def _let_go(self) -> None:
        self.dialog = None  # which holds a dataset

    # What the open dataset has labels on

    @Slot()
    def _take_offer(self) -> None:
        dataset = self._workspace.dataset
        if self._offered is not None:
            file = next((file for file in self._found.files if file.rubric == self._offered), None)
            self._at_hand.choose(self._offered, file.path if file else None)
        elif dataset is not None:
            self._drafting.start(rubric_jobs.draft_of(_columns(dataset), dataset.path.stem))

    @Slot(object)
    def _take_draft(self, draft: Rubric | None) -> None:
        if draft is not None:
            self._open(RubricWish(EditedRubric.of(draft)))

    @Slot()
    def _show_offer(self) -> None:
        dataset = self._workspace.dataset
        own = _own_criteria(dataset) if dataset is not None else []
        unasked = [criterion for criterion in own if criterion not in self._at_hand.rubric.names]
        self.offer.setVisible(bool(unasked))
        if not unasked or dataset is None:
            return
        fitting = [rubric for rubric in self._rubrics() if set(own) <= set(rubric.names)]
        self._offered = min(fitting, key=lambda rubric: len(rubric.names), default=None)
        named = listed([one_line(words(criterion)) for criterion in unasked], _MOST_NAMED)
        self._offer_text.setText(
            f"{one_line(short_name(dataset.name))} has labels on {named}, which this rubric does not ask."
        )
        if self._offered is not None:
            called = one_line(short_name(self._offered.name))
            self.offer_button.setText(f"Ask “{called}”")
            name(self.offer_button, f"Work with the rubric {called}")
        else:
            count = counted(len(own), "criterion", "criteria")
            self.offer_button.setText(f"Draft a rubric of its {count}…")
            name(self.offer_button, "Draft a rubric of the dataset's own criteria")

    def _rubrics(self) -> list[Rubric]:
        files = [file.rubric for file in self._found.files if file.rubric is not None]
        return [*files, *self._found.shipped]

    # Showing

    @Slot()
    def _show(self) -> None:
        if (whole := self._whole()) is not None:
            self._at_hand.choose(*whole)  # which is shown then
            return
        self._fill()
        rubric = self._at_hand.rubric
        self.source.setText(one_line(rubric.source) if rubric.source else "No source is named.")
        set_tip(self.source, rubric.source)
        self.source.setAccessibleName(f"Source of the rubric: {self.source.text()}")
        self._show_offer()

    def _fill(self) -> None:
        """Offer what there is; what is at hand and in none of them stays, and is named so."""
        field, at_hand = self.field, self._at_hand
        field.clear()
        for rubric in self._found.shipped:
            self._add(rubric.name, rubric, rubric.source)
            if at_hand.path is None and rubric == at_hand.rubric:
                field.setCurrentIndex(field.count() - 1)
        if self._found.files:
            field.insertSeparator(field.count())
        for file in self._found.files:
            if file.rubric is None:
                self._add_unread(file)
                continue
            self._add(file.rubric.name, file, str(file.path))
            if file.path == at_hand.path:
                field.setCurrentIndex(field.count() - 1)
        if not self._is_listed():
            where = f"not in {at_hand.path.name} any more" if at_hand.path else "as in a run"
            looked = f" ({where})" if self._found.shipped else ""
            self._add(f"{at_hand.rubric.name}{looked}", at_hand.rubric, str(at_hand.path or ""))
            field.setCurrentIndex(field.count() - 1)
        set_tip(field, at_hand.rubric.name)

    def _add(self, text: str, data: object, what: str) -> None:
        self.field.addItem(one_line(short_name(text)), data)
        self.field.setItemData(self.field.count() - 1, tip(what), Qt.ItemDataRole.ToolTipRole)

    def _whole(self) -> tuple[Rubric, Path | None] | None:
        """What is offered, of which the rubric at hand is some, as that of a run may be."""
        at_hand = self._at_hand
        if at_hand.path is not None or at_hand.rubric in self._found.shipped:
            return None
        offered: list[tuple[Rubric, Path | None]] = [
            *((file.rubric, file.path) for file in self._found.files if file.rubric is not None),
            *((rubric, None) for rubric in self._found.shipped),
        ]
        return next((found for found in offered if at_hand.rubric.is_part_of(found[0])), None)

    def _add_unread(self, file: RubricFile) -> None:
        """A file that cannot be chosen, with the reason; "Open…" says all of it."""
        why = " ".join(problem_of(file.error)) if file.error is not None else ""
        self._add(f"{file.path.name} (cannot be read)", file, f"{file.path}: {why}")
        model = self.field.model()
        if isinstance(model, QStandardItemModel):
            model.item(self.field.count() - 1).setEnabled(False)

    def _is_listed(self) -> bool:
        """Whether the rubric at hand is one of those that were found."""
        at_hand = self._at_hand
        if at_hand.path is None:
            return at_hand.rubric in self._found.shipped
        file = self._file()
        return file is not None and file.rubric is not None


def _columns(dataset: "Dataset") -> tuple[str, ...]:
    """All columns of a dataset's file, and those of ours that a person has said are in it."""
    mapped = [ours for ours, theirs in dataset.columns.sources if theirs] if dataset.columns else []
    found = (*dataset.file_columns, *dataset.table.column_names, *dataset.other_columns, *mapped)
    return tuple(dict.fromkeys(found))


def _own_criteria(dataset: "Dataset") -> list[str]:
    """The criteria that a dataset has columns of labels for."""
    named = (column.removesuffix(_LABELS) for column in _columns(dataset) if column.endswith(_LABELS))
    return [criterion for criterion in named if criterion.isidentifier()]
