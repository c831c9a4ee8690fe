"""Writes the open run to files: asks where, says of which run and on what its labels depend."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QShowEvent

from engine.annotations.records import LAST
from engine.core.errors import EngineError, Hint, SetupError, Step
from engine.core.formatting import counted, short_name, visible
from engine.core.health import HealthVerdict
from engine.settings.identity import BY_HAND, TRUST
from engine.settings.run_lists import of_what
from gui.results import export_jobs
from gui.results.export_jobs import Exported, Form, Written, look_at_target
from gui.widgets import labels
from gui.widgets.files import ask_folder, ask_target
from gui.widgets.foreign_text import plain_label, set_tip
from gui.widgets.labels import STRETCH, DownScroll, in_column, in_row, label, name, set_role
from gui.widgets.notice import IN_THE_WINDOW, problem_of
from gui.workspace.figures import DRAWING
from gui.workspace.task_panel import TaskPanel, tell_written
from gui.workspace.threads import EngineThreads, ThreadName
from gui.workspace.workspace import Workspace

_FORMS = {  # what each is called, how its file's name ends, which files can be chosen
    Form.LABELS: ("submission for sub-task 1", "labels.tsv", "Submissions (*.tsv)"),
    Form.EXPLAINED: ("submission for sub-task 2", "explained.tsv", "Submissions (*.tsv)"),
    Form.DATASET: ("dataset with these labels", "labelled.tsv", "Datasets (*.tsv *.json *.parquet)"),
    Form.CSV: ("all data as CSV", "all-data.csv", "CSV files (*.csv)"),
    Form.JSON: ("all data as JSON", "all-data.json", "JSON files (*.json)"),
    Form.REPORT: ("report", "report.html", "HTML pages (*.html)"),
    Form.FIGURES: ("figures", "", ""),
}
_MODEL = {"run": "Model", "submission": "Submission", "jury": "Jury", "cascade": "Cascade", BY_HAND: "Judge"}
_ACCEPTED = "Leave out labels below the thresholds that are kept with the run: see Trust on Results"
_WIDTH = 84  # characters
_SHARE_OF_SCREEN = 0.85


class ExportDialog(labels.Dialog):
    chosen = Signal(object, object)  # an Exported; a Path, of figures a folder, that can be written

    def __init__(
        self,
        form: Form,
        what: Exported,
        folder: Path,
        threads: EngineThreads,
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        run = what.whole.run
        super().__init__(f"Export {run.called} {of_what(run)}: {_FORMS[form][0]}", parent, _WIDTH)
        self._form, self._what, self._folder = form, what, folder
        self._left = what.results.left
        self._wanted = Path()  # that is being looked at
        self._may_replace: Path | None = None
        self._looking = TaskPanel(threads, ThreadName.STORE, self, self._take_look, failed=self._refuse)
        box = QtWidgets.QDialogButtonBox
        self.facts = {title: plain_label(text) for title, text in facts(form, what)}
        health = what.health
        bad = "bad" if health.verdict is HealthVerdict.DOES_NOT_JUDGE else "warning"
        self.health = label("\n".join(health.sentences(IN_THE_WINDOW.of)), bad if health.doubted else "hint")
        self.unfinished = label(self._unfinished_in_words, "warning")
        stale = what.results.stale if form is Form.EXPLAINED else 0
        theirs = counted(stale, "explanation", "explanations")
        self.stale = QtWidgets.QCheckBox(
            f"&Include {theirs} written for another label than the effective one"
        )
        self.with_judge = QtWidgets.QCheckBox("&Include the judge's labels")
        name(self.with_judge, "Include the judge's labels", "Fill in the cells that no annotator labelled")
        self.with_curve = QtWidgets.QCheckBox(
            "With the &learning curve: calibration quality by number of labels; takes a while"
        )
        name(self.with_curve, "With the learning curve", "Calibration quality by number of human labels")
        self.only_accepted = QtWidgets.QCheckBox("&Only labels that may stand")
        self.only_accepted.setEnabled(TRUST in run.manifest)
        set_tip(self.only_accepted, _ACCEPTED)
        name(self.only_accepted, "Only labels that may stand", _ACCEPTED)
        suggested = folder if form is Form.FIGURES else folder / f"{run.stem}-{_FORMS[form][1]}"
        self.field, self.status = QtWidgets.QLineEdit(str(suggested)), label("", "bad")
        self.buttons = labels.close_button(self, box.StandardButton.Cancel)
        self.start = self.buttons.addButton("", box.ButtonRole.AcceptRole)
        self._lay_out()
        for part, shown in (
            (self.unfinished, self._left > 0),
            (self.stale, stale > 0),
            (self.health, not run.by_hand),
            (self.with_judge, form is Form.DATASET and not run.by_hand),
            (self.with_curve, form is Form.REPORT and not run.submitted),
            (self.only_accepted, form not in _OF_LABELS and not run.submitted),
            (self.status, False),
        ):
            part.setVisible(shown)
        self._name_start()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.field.setCursorPosition(len(self.field.text()))

    @property
    def path(self) -> Path:
        """The file that is named; the suffix of its form is added where it has another one or none."""
        path = Path(self.field.text().strip())
        with suppress(RuntimeError):  # a name may begin with ~ and be nobody's folder
            path = path.expanduser()
        path = path if path.is_absolute() else self._folder / path
        if self._form is Form.FIGURES or not path.name:
            return path
        suffix = Path(_FORMS[self._form][1]).suffix
        known = (suffix, *([".json", ".parquet"] if self._form is Form.DATASET else []))
        return path if path.suffix.lower() in known else Path(f"{path}{suffix}")

    def look(self) -> None:
        if not self.field.text().strip():
            self._say("Name a file." if self._form is not Form.FIGURES else "Name a folder.")
            return
        self._wanted = self.path
        self.status.hide()
        self._looking.start(look_at_target(self._form, self._wanted, self._what.in_use))

    # Making

    def _lay_out(self) -> None:
        form = QtWidgets.QFormLayout()
        form.setVerticalSpacing(4)
        form.setFieldGrowthPolicy(QtWidgets.QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for title, shown in self.facts.items():
            name(shown, f"{title}: {shown.text()}")
            form.addRow(label(title, "hint", wrap=False), shown)
        identity = self._what.whole.run.identity
        set_tip(self.facts["Dataset"], str(identity.dataset_path))
        set_tip(self.facts[_MODEL[self._what.whole.run.kind_word]], str(identity.model_path))
        word = "Folder" if self._form is Form.FIGURES else "File"
        name(self.field, word, "Relative names are in the suggested folder")
        self.field.textEdited.connect(self._follow_name)
        browse = labels.button("&Browse…", self._browse, f"Browse for the {word.lower()}")
        browse.setAutoDefault(False)
        heading = label(f"{word}:" if word == "File" else "A new folder is made in:", wrap=False)
        heading.setBuddy(self.field)
        # Scrolled: long names and many signs of a bad judge may make it higher than the screen.
        self._inside = labels.as_column(form, self.health, STRETCH, role="content", spacing=10)
        self._shown = DownScroll(self._inside, "What is exported")
        asked = (self.unfinished, self.stale, self.with_judge, self.with_curve, self.only_accepted)
        where = (heading, in_row((self.field, STRETCH), browse), self.status, self.buttons)
        in_column((self._shown, STRETCH), *asked, *where, on=self, margins=None, spacing=10)
        self.start.setDefault(True)
        self.buttons.accepted.connect(self.look)

    def showEvent(self, event: QShowEvent) -> None:
        # As high as all of it needs, as far as the screen is: facts are scrolled only where it is too low.
        width = self.minimumWidth()
        margins = self.contentsMargins().left() + self.contentsMargins().right() + 40
        needed = self._inside.heightForWidth(width - margins)
        most = int(self.screen().availableSize().height() * _SHARE_OF_SCREEN)
        others = self.sizeHint().height() - self._shown.sizeHint().height()
        self.resize(width, min(needed + others + self.fontMetrics().height() * 2, most))
        super().showEvent(event)

    @property
    def _unfinished_in_words(self) -> str:
        run, items = self._what.whole.run, counted(self._left, "item is", "items are")
        why = "not in the submission" if run.submitted else "not judged"
        why = "not labelled" if run.by_hand else why
        state = "incomplete" if run.submitted else "not finished"
        lack = "without a label in" if self._form is Form.DATASET else "missing in"
        return f"{run.title} is {state}: {items} {lack} the file ({why})."

    # What the user does

    def _follow_name(self) -> None:
        self._looking.drop()
        self.status.hide()
        self._name_start()

    def _name_start(self) -> None:
        replaces = self._may_replace is not None and self._may_replace == self.path
        run = self._what.whole.run
        text = "Replace the file" if replaces else f"Export {run.in_short}"
        if self._left:
            state = "incomplete" if run.submitted else "unfinished"
            text = f"Export the {state} {run.in_short.removeprefix('the ')}"
        self.start.setText(text)

    def _take_look(self, replaces: bool) -> None:
        if replaces and self._wanted != self._may_replace:
            self._may_replace = self._wanted
            again = "Press the button again to replace it."
            self._say(f"{self._wanted.name} is there already. {again}", "warning")
            self._name_start()
            return
        boxes = (self.with_judge, self.stale, self.with_curve, self.only_accepted)
        judge, stale, curve, accepted = (box.isChecked() for box in boxes)
        what = replace(self._what, with_judge=judge, with_stale=stale, with_curve=curve, accepted=accepted)
        self.chosen.emit(what, self._wanted)
        self.accept()

    def _refuse(self, error: EngineError) -> None:
        self._say(" ".join(problem_of(error)))

    def _say(self, text: str, role: str = "bad") -> None:
        self.status.setText(visible(text))
        set_role(self.status, role)
        self.status.show()

    def _browse(self) -> None:
        if self._form is Form.FIGURES:
            found = ask_folder(self, self.windowTitle(), self.path)
        else:
            found = ask_target(self, self.windowTitle(), self.path, _FORMS[self._form][2])
            self._may_replace = found  # that dialog has asked
        if found is not None:
            self.field.setText(str(found))
            self.status.hide()
            self._name_start()


def facts(form: Form, what: Exported) -> Iterator[tuple[str, str]]:
    run, identity, results = what.whole.run, what.whole.run.identity, what.results
    made, done = ("opened", "answered") if run.submitted else ("made", "judged")
    made = "begun" if run.by_hand else made
    yield "Run", f"{run.title}, {made} {run.created.astimezone():%Y-%m-%d %H:%M}"
    yield "Dataset", short_name(identity.dataset_path.name)
    yield _MODEL[run.kind_word], short_name(identity.model_name)
    completed = identity.items - run.judged - results.left
    by_annotators = f", {completed:,} labelled by annotators" if completed else ""
    far = f"{run.judged:,} of {identity.items:,} {done}{by_annotators}"
    labelled = f"{identity.items - results.left:,} of {identity.items:,} labelled"
    yield "Items", labelled if run.by_hand else far
    annotators = results.overridden.by_whom if results.overrides else "nothing"
    if what.source != LAST:
        annotators = f"{annotators}: the labels of {what.source.in_words} were chosen on Results"
    yield "Given by annotators", annotators
    if form is Form.DATASET:
        of_each = what.whole.reviews.labels.items()
        given = [f"{len(those):,} by {short_name(annotator)}" for annotator, those in of_each]
        yield "Given or accepted", ", ".join(given) or "no label by anybody"
    yield "Calibration", what.calibration_in_words
    weights = what.request.in_words
    yield "Weights", weights if form.has_weights else f"{weights} (not used in this file)"
    if form.has_human_labels:
        yield "Human labels", what.gold_in_words


_EXPORT = "an export"
_OF_LABELS = {Form.REPORT: "nothing to report", Form.FIGURES: "no figure"}
_JOBS = {
    Form.REPORT: export_jobs.export_report,
    Form.DATASET: export_jobs.export_dataset,
    Form.FIGURES: export_jobs.export_figures,
}


class Exporter(QObject):
    """`source` gives what is exported now, None for nothing; it is asked before the user is."""

    def __init__(
        self, workspace: Workspace, source: Callable[[], Exported | None], parent: QtWidgets.QWidget
    ) -> None:
        super().__init__(parent)
        self._workspace, self._source, self._window = workspace, source, parent

    def export(self, form: Form, path: Path | None = None) -> None:
        what = self._source()
        if what is None or not self._possible(form, what):
            return
        if path is not None:
            self._write(form, what, path)
            return
        folder = self._workspace.state.export_folder(what.whole.run.identity.dataset_path.parent)
        self.dialog = ExportDialog(form, what, folder, self._workspace.threads, self._window)
        self.dialog.chosen.connect(partial(self._write, form))
        labels.open_dialog(self.dialog)

    def _write(self, form: Form, what: Exported, path: Path) -> None:
        job = _JOBS[form](what, path) if form in _JOBS else export_jobs.export(form, what, path)
        task = self._workspace.threads.start(DRAWING, job, self._tell, must_end=True)
        self._workspace.failures.follow(task, _EXPORT)
        self._workspace.state.keep_export_folder(path if form is Form.FIGURES else path.parent)

    def _possible(self, form: Form, what: Exported) -> bool:
        run = what.whole.run
        if form is Form.EXPLAINED and not what.whole.explains:
            again = "" if run.submitted else ", or judge again with explanations on the Judge page"
            why = f"{run.title} has only labels: there are no explanations to export."
            error = SetupError(why, f"Export it for sub-task 1{again}.")
        elif form is Form.DATASET and what.dataset is None:
            put_back = Hint("Put it back where it was, or ", Step.FIND_DATASET, ".")
            error = SetupError(f"The dataset of {run.called} is missing or has changed.", put_back)
        elif form in _OF_LABELS and what.gold is None:
            choose = "Choose a labelled dataset on the Results page, with “Choose labels…”."
            error = SetupError(f"Without human labels there is {_OF_LABELS[form]}.", choose)
        else:
            return True
        self._workspace.failures.fail(_EXPORT, error)
        return False

    def _tell(self, written: Written) -> None:
        tell_written(self._workspace, written.path, written.text, written.role)
