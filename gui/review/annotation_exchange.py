"""Exports annotations of the open run and imports those of others; writes labelling sheets and the items that
are assigned to each annotator, which give back such annotations: asks for files and who is who, starts the
jobs, reports the outcome. Nothing is written or added before the user agrees.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QTextCursor

from engine.core.errors import SetupError
from engine.core.formatting import counted, file_stem, listed, visible
from engine.core.tables import Sheet
from engine.settings.rows import LARGEST
from engine.settings.sampling import ItemSample
from gui.review import review_jobs
from gui.review.annotators import printable, typed_in
from gui.review.review_jobs import CountedFiles
from gui.widgets import labels
from gui.widgets.actions import ReadingOrder
from gui.widgets.fields import SpinBox
from gui.widgets.files import ask_folder, ask_target, let_choose_several
from gui.widgets.foreign_text import OneLine, one_line
from gui.widgets.labels import STRETCH, hint, in_column, in_row, label, name
from gui.widgets.notice import Message
from gui.widgets.text_views import SheetView
from gui.workspace.open_run import OpenRun
from gui.workspace.task_panel import TaskDialog, TaskPanel, tell_written
from gui.workspace.threads import Job, Task, ThreadName
from gui.workspace.workspace import LONGEST_NAME, Workspace

if TYPE_CHECKING:
    from engine.core.rubric import Rubric
    from engine.data.dataset import Dataset
    from engine.results.annotation_import import Namesake

_KIND = "Annotations (*.json)"
_FOLDER = "last/words"  # that files of others were in
_ABOUT = "annotations exchanged"
_LONGEST_STEM = 40  # bytes of an annotator's name in that of a file
_ASSIGN = (
    "A dataset for each annotator, who labels it by hand and sends the annotations back: File > Import"
    " annotations. Only training items show human labels. A list for you says who has which item."
)
_NUMBERS = {  # how each field of AssignmentDesign is called here, and what it is
    "items": ("Items", "How many are assigned, besides those for training and gold items"),
    "overlap": ("Annotators per item", "How many annotators label each item"),
    "training": ("Training items", "With a human label that is shown; all get them first; they never count"),
    "gold": ("Gold items", "With a human label that is not shown; all get them among the others"),
    "repeats": ("Hidden repeats", "How many of their items each annotator gets twice, unmarked"),
    "seed": ("Seed", "Of who gets what: the same seed, names and items give the same files"),
}
_NO_RUN = SetupError(
    "Annotations are imported into a run, and none is open.",
    "Open the run, or begin one for the open dataset: Run > Label the dataset by hand.",
)
_NOT_IN_NAMES = re.compile(r"[^\w-]+")


class NamesakeQuestion(QtWidgets.QWidget):
    """One annotator, or two of the same name; neither is chosen at first."""

    changed = Signal()

    def __init__(self, asked: "Namesake") -> None:
        super().__init__()
        self.asked, shown = asked, visible(asked.name)
        self.one = QtWidgets.QRadioButton(f"Same annotator: {shown.replace('&', '&&')}")
        self.two = QtWidgets.QRadioButton("Two annotators. Name of the one in the file:")
        self.field = QtWidgets.QLineEdit(asked.suggested, maxLength=LONGEST_NAME)
        name(self.one, f"{shown} is the same annotator")
        name(self.two, f"{shown} in the file is another annotator")
        name(self.field, f"Name of the other {shown}")
        for signal in (self.one.toggled, self.two.toggled, self.field.textChanged):
            signal.connect(self.changed)
        self.field.textEdited.connect(lambda: self.two.setChecked(True))
        in_column(label(visible(asked.in_words)), self.one, in_row(self.two, (self.field, STRETCH)), on=self)

    @property
    def answer(self) -> str:
        """The name here of the annotator in the file; empty until it is chosen."""
        if self.one.isChecked():
            return self.asked.name
        written = typed_in(self.field)
        return written if self.two.isChecked() and written != self.asked.name else ""


class ExportWordsDialog(labels.Dialog):
    """`accepted`: a file may be named; with texts of the dataset where `tick` is checked. `annotators`: whose
    annotations they are, all where nobody is named.
    """

    def __init__(self, run: OpenRun, annotators: Sequence[str], parent: QtWidgets.QWidget) -> None:
        whose = "my annotations" if annotators else "annotations of all annotators"
        super().__init__(f"Export {whose}", parent, 76)
        who = listed([visible(each) for each in annotators]) if annotators else "all annotators"
        self.tick = QtWidgets.QCheckBox("Include the &texts of the dataset")
        self.tick.setEnabled(run.dataset is not None)
        what_for = (
            "If ticked, the file holds the instruction and the responses of each annotated"
            " item: give it only to those who may read them. Importing it needs no texts."
            if run.dataset is not None
            else "The dataset of the run is not loaded, so its texts cannot be included."
            " Importing the file needs none."
        )
        labels.describe(self.tick, what_for)
        buttons, start = labels.cancel_or(self, "Choose the &file…", self.accept)
        asked = label(f"One small file with the annotations of {who} for {visible(run.results.run.called)}.")
        in_column(asked, self.tick, hint(what_for), STRETCH, buttons, on=self, margins=None, spacing=10)
        start.setDefault(True)  # once it is in the dialog: Enter would be Cancel
        (self.tick if self.tick.isEnabled() else start).setFocus(Qt.FocusReason.OtherFocusReason)


class SheetDialog(labels.Dialog):
    """`accepted`: the sheet may be named; `blind` and `sample` as `write_labelling_sheet` takes them."""

    def __init__(self, dataset: "Dataset", parent: QtWidgets.QWidget) -> None:
        super().__init__("Labelling sheet for a browser", parent, 76)
        self.tick = QtWidgets.QCheckBox("&Blind: without the labels and explanations of the dataset")
        self.number = SpinBox(maximum=len(dataset), suffix=" items", specialValueText="All items")
        of = QtWidgets.QLabel("&Random sample:")
        of.setBuddy(self.number)
        what_for = (
            "Whoever gets it labels by keys in a browser, without this program or a network."
            " They send back the file that it gives: File > Import annotations takes it."
            " The sheet holds the texts of its items: give it only to those who may read them."
        )
        buttons, start = labels.cancel_or(self, "Choose the &file…", self.accept)
        asked = label(f"One HTML file with the items of {visible(dataset.name)}.")
        fields = asked, self.tick, in_row(of, self.number, STRETCH), hint(what_for)
        in_column(*fields, STRETCH, buttons, on=self, margins=None, spacing=10)
        start.setDefault(True)
        self.tick.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def sample(self) -> ItemSample | None:
        return ItemSample(self.number.value()) if self.number.value() else None


class AssignDialog(ReadingOrder, TaskDialog):
    """Who labels what: shows what each annotator would get, then writes it where the user says."""

    def __init__(self, workspace: Workspace, dataset: "Dataset", parent: QtWidgets.QWidget) -> None:
        super().__init__("Assign items to annotators", "Show the &plan", "Choose the &folder…", parent)
        self._workspace, self._dataset = workspace, dataset
        self.planned = False  # for the fields as they are now
        known = set(workspace.run.results.reviews.annotators if workspace.run else ())
        known |= {workspace.author} if workspace.knows_author else set()
        self.annotators = QtWidgets.QPlainTextEdit("\n".join(sorted(known)), tabChangesFocus=True)
        self.numbers = {each: SpinBox(maximum=len(dataset)) for each in _NUMBERS}
        threads, take, fail = workspace.threads, self._take, self.notice
        self.task = TaskPanel(threads, ThreadName.FILES, self, take, failed=fail, changed=self._enable)
        self.lay_out(self._asked(), letters=160, lines=42)
        self.act_button.clicked.connect(self.plan)
        self.use_button.clicked.connect(self._ask_where)
        for signal in (self.annotators.textChanged, *(box.valueChanged for box in self.numbers.values())):
            signal.connect(self._forget)
        self._enable()
        self.annotators.moveCursor(QTextCursor.MoveOperation.End)
        self.annotators.setFocus(Qt.FocusReason.OtherFocusReason)

    def plan(self) -> None:
        names = (printable(line)[:LONGEST_NAME] for line in self.annotators.toPlainText().splitlines())
        numbers = {each: box.value() for each, box in self.numbers.items() if box.value()}  # 0: the default
        self._asked_for = tuple(filter(None, names)), numbers
        self.begin(review_jobs.plan_assignment(self._dataset, *self._asked_for), "Planning …")

    def _asked(self) -> QtWidgets.QWidget:
        labels.name(self.annotators, "Annotators, one on each line")
        self.annotators.setFixedHeight(self.fontMetrics().height() * 5)
        form = QtWidgets.QFormLayout(rowWrapPolicy=QtWidgets.QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QtWidgets.QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        form.addRow("Annotators, one on each line:", self.annotators)
        for each, (called, what) in _NUMBERS.items():
            labels.name(self.numbers[each], called, what)
            form.addRow(f"{called}:", self.numbers[each])
        self.numbers["items"].setSpecialValueText("All")
        self.numbers["overlap"].setRange(1, len(self._dataset))
        self.numbers["seed"].setMaximum(LARGEST)
        for each in ("training", "gold"):
            self.numbers[each].setEnabled(bool(self._dataset.criteria))
        asked = QtWidgets.QWidget()
        asked.setLayout(form)
        title = OneLine(one_line(self._dataset.name), role="heading")
        return labels.panel(title, labels.hint(_ASSIGN), asked)

    def _forget(self) -> None:
        self.task.drop()
        self.planned = False
        self.outcome.hide()
        self.sheet.show_sheet(None)
        self._enable()

    def _enable(self) -> None:
        self.act_button.setEnabled(not self.task.busy and bool(self.annotators.toPlainText().strip()))
        self.use_button.setVisible(self.planned and not self.task.busy)

    def _take(self, plan: Sheet) -> None:
        self.planned = True
        self.show_outcome("Nothing is written yet.", plan)

    def _ask_where(self) -> None:
        state = self._workspace.state
        folder = ask_folder(self, self.windowTitle(), state.export_folder(self._dataset.path.parent))
        if folder is not None:
            state.keep_export_folder(folder)
            job = review_jobs.assign_items(self._dataset, *self._asked_for, folder)
            tell, fail = partial(tell_written, self._workspace, folder), self.notice.show_error
            task = self._workspace.threads.start(ThreadName.FILES, job, tell, fail, must_end=True)
            task.finished.connect(self.accept)
            follow = self._workspace.failures.follow
            self.finished.connect(lambda: follow(task, "items assigned"))  # where it is closed first


class AddWordsDialog(QtWidgets.QDialog):
    """`accepted`: the files are to be added, by `answers`."""

    def __init__(self, found: CountedFiles, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self.found = found
        self.setWindowTitle(f"Import annotations into {visible(found.joining.run.called)}")
        self.sheet = SheetView()
        self.sheet.show_sheet(found.sheet)
        self.questions = [NamesakeQuestion(asked) for asked in found.joining.namesakes]
        self.status = hint("")
        self.buttons, self.add = labels.cancel_or(self, "&Add", self.accept)
        asking = [labels.panel(*self.questions, role="note")] if self.questions else []
        inside = labels.scrolling(labels.as_column(*asking, self.sheet, STRETCH, spacing=10))
        in_column((inside, STRETCH), self.status, self.buttons, on=self, margins=None, spacing=10)
        for question in self.questions:
            question.changed.connect(self._follow)
        self._follow()
        labels.make_room(self, 110, 30)
        first = self.questions[0].one if self.questions else self.add
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def answers(self) -> Mapping[tuple[str, str], str]:
        """How annotators are called here, by the store of their file and their name there."""
        return {(each.asked.store, each.asked.name): each.answer for each in self.questions if each.answer}

    def _follow(self) -> None:
        new, left = self.found.joining.new, len(self.questions) - len(self.answers)
        self.add.setEnabled(bool(new) and not left)
        said = f"{counted(new, 'annotation', 'annotations')} will be added; nothing else changes."
        if left:
            said = f"{counted(left, 'name is', 'names are')} still to be decided."
        self.status.setText(said if new else "The run has all of these annotations already.")


_Asking = ExportWordsDialog | SheetDialog | AssignDialog


class AnnotationExchange(QObject):
    def __init__(self, workspace: Workspace, window: QtWidgets.QWidget) -> None:
        super().__init__(window)
        self._workspace, self._window = workspace, window
        self._run_id = 0  # to which files are added
        self.dialog: AddWordsDialog | None = None
        self.asking: _Asking | None = None
        tell = workspace.problem.emit
        self._counting = TaskPanel(workspace.threads, ThreadName.FILES, self, self._show, failed=tell)

    def export_mine(self) -> None:
        self._export((self._workspace.author,))

    def export_all(self) -> None:
        self._export(())

    def export_sheet(self) -> None:
        dataset, rubric = self._to_label()
        if dataset is not None:
            asking = SheetDialog(dataset, self._window)
            self._ask(asking, partial(self._ask_where_to_put_sheet, asking, dataset, rubric))

    def assign(self) -> None:
        dataset, _rubric = self._to_label()
        if dataset is not None:
            self._ask(AssignDialog(self._workspace, dataset, self._window))

    def _to_label(self) -> "tuple[Dataset | None, Rubric]":
        """The open run's items and criteria; without a run, the open dataset and the chosen rubric. Where
        none is open this says so.
        """
        space, run = self._workspace, self._workspace.run
        if run is not None and run.dataset is not None:
            return run.dataset, run.results.run.identity.asked
        if space.dataset is None:
            space.problem.emit(SetupError("No dataset is open.", "Open the one to be labelled."))
        return space.dataset, space.rubric.rubric

    def add(self) -> None:
        if self._workspace.run is None:
            self._workspace.problem.emit(_NO_RUN)
            return
        kept = self._workspace.state.text(_FOLDER)
        let_choose_several(self._window, "Import annotations", kept, _KIND, self.count)

    def count(self, paths: Sequence[Path]) -> None:
        space = self._workspace
        if space.run is None:
            space.problem.emit(_NO_RUN)
        elif paths:
            self._run_id = space.run.id
            space.state.set_text(_FOLDER, str(paths[0].absolute().parent))
            self._counting.start(review_jobs.count_files(space.store_path, self._run_id, paths))

    def _export(self, annotators: Sequence[str]) -> None:
        run = self._workspace.run
        if run is not None:
            asking = ExportWordsDialog(run, annotators, self._window)
            self._ask(asking, partial(self._ask_where, asking, run, annotators))

    def _ask(self, asking: _Asking, do: Callable[[], None] = lambda: None) -> None:
        self.asking = asking
        asking.accepted.connect(do)
        asking.finished.connect(lambda: setattr(self, "asking", None))
        labels.open_dialog(asking)

    def _ask_where_to_put_sheet(self, asking: SheetDialog, dataset: "Dataset", rubric: "Rubric") -> None:
        state, stem = self._workspace.state, file_stem(dataset.path.stem, _LONGEST_STEM) or "labels"
        folder = state.export_folder(dataset.path.parent)
        path = ask_target(self._window, asking.windowTitle(), folder / f"{stem}-sheet.html", "HTML (*.html)")
        if path is not None:
            blind = asking.tick.isChecked()
            job = review_jobs.write_sheet(path, dataset, rubric, blind, asking.sample)
            self._store(job, lambda text: tell_written(self._workspace, path, text))
            state.keep_export_folder(path.parent)

    def _ask_where(self, asking: ExportWordsDialog, opened: OpenRun, annotators: Sequence[str]) -> None:
        title, dataset = asking.windowTitle(), opened.dataset if asking.tick.isChecked() else None
        space, run = self._workspace, opened.results.run
        stem = _NOT_IN_NAMES.sub("-", annotators[0]).strip("-") if annotators else "all"
        who = file_stem(stem, _LONGEST_STEM) or "labels"
        folder = space.state.export_folder(run.identity.dataset_path.parent)
        path = ask_target(self._window, title, folder / f"{run.stem}-annotations-{who}.json", _KIND)
        if path is None:
            return
        waiting = "\nYour latest annotations are not in the run store yet." if space.words.count else ""
        role = "note" if waiting else "done"
        job = review_jobs.export_words(space.store_path, opened.id, annotators, path, dataset)
        self._store(job, lambda text: tell_written(space, path, text + waiting, role))
        space.state.keep_export_folder(path.parent)

    def _store(self, job: Job[str], tell: Callable[[str], object]) -> Task:
        fail = self._workspace.problem.emit
        return self._workspace.threads.start(ThreadName.STORE, job, tell, fail, must_end=True)

    def _show(self, found: CountedFiles) -> None:
        if self.dialog is not None:
            self.dialog.close()
        self.dialog = dialog = AddWordsDialog(found, self._window)
        dialog.accepted.connect(self._add)
        dialog.finished.connect(lambda: setattr(self, "dialog", None))
        labels.open_dialog(dialog)

    def _add(self) -> None:
        dialog, space = self.dialog, self._workspace
        if dialog is not None:
            job = review_jobs.add_files(space.store_path, self._run_id, dialog.found, dialog.answers)
            tell = space.notice.emit
            added = self._store(job, lambda text: tell(Message(text, role="done", about=_ABOUT)))
            added.finished.connect(space.watch.look)
