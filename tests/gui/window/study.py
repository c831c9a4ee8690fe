"""A window in which everything has a name of 255 letters: its places, its dialogs, what is seen of them."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QDeadlineTimer, QSize, Qt
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_note, new_override
from engine.data.dataset import load_dataset
from engine.store.run_store import RunStore
from gui.dataset.columns_dialog import ColumnsDialog
from gui.dataset.dataset_page import OutputsDialog
from gui.judge.prompt_jobs import Subject
from gui.judge.rubric_dialog import RubricDialog, RubricRequest
from gui.judge.rubric_edit import EditedRubric
from gui.judge.run_control import UNFINISHED, default_setup
from gui.results.export_jobs import Form
from gui.results.run_weights import NameDialog
from gui.results.score_jobs import ModelMeasure
from gui.results.scores_panel import MeasureModelDialog
from gui.review.annotation_exchange import AssignDialog
from gui.review.annotators import NoteDialog, WhoDialog
from gui.review.filter_bar import SeedDialog
from gui.runs.runs_dialog import RunsDialog
from gui.widgets.actions import BusyLine
from gui.widgets.fields import Fold
from gui.widgets.files import FileChoice
from gui.widgets.glossary import HelpDialog
from gui.widgets.notice import Message
from gui.window.dialogs import AboutDialog, CheckDialog, KeysDialog, SettingsDialog
from gui.window.main_content import MainContent
from gui.window.prompt_dialog import PromptDialog, PromptRequest
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.state import PageName, State
from gui.workspace.threads import EngineThreads, ThreadName
from tests.able import longest_name
from tests.gui.fits import wrong_with
from tests.gui.steps import whole_window
from tests.judged import GOOD, SURE_A, SURE_GOOD, B, stored_run
from tests.model_files import PublishedFile

ROOM = QSize(1280, 680)
"""What a screen of 1280 x 720 leaves beside a task bar."""
WIDE_ANYHOW = {"ItemView Items of the run", "_WholeView Published systems, for reference"}
"""What is scrolled sideways where names are short, too."""
ITEM_COLUMNS, CANDIDATES = ("instruction", "output_a", "output_b"), ("candidate_a", "candidate_b")


@dataclass
class Study:
    """Everything that has a name, by the same name of one letter again and again."""

    folder: Path
    letter: str

    def __post_init__(self) -> None:
        self.name = (self.letter * 255)[:255]
        self.models = self.folder / self.file_name("")
        self.dataset = self.models / self.file_name(".tsv")
        self.submission = self.folder / self.file_name(".tsv")  # a label for each item
        self.tags = [f"{self.name[:-1]}{number}" for number in range(3)]

    def file_name(self, suffix: str) -> str:
        """As long as a file's name may be: 255 bytes."""
        most = longest_name(self.folder, depth=2)
        return self.letter * ((most - len(suffix)) // len(self.letter.encode())) + suffix

    def write(self) -> None:
        """The dataset, model files that can and that cannot be used, a submission."""
        name, bad = self.name, self.models / "bad"
        columns = ["id", *ITEM_COLUMNS, "safety_preference", "safety_explanation", *CANDIDATES, name]
        rows = [
            [item_id, name, name, name, label, name, f"{name[:-1]}A", f"{name[:-1]}B", name]
            for item_id, label in zip(self.tags, ("A", "B", "both_good"), strict=True)
        ]
        bad.mkdir(parents=True)
        (bad / self.file_name(".gguf")).write_bytes(b"not a model")
        self.dataset.write_text("\n".join("\t".join(row) for row in [columns, *rows]) + "\n", "utf-8")
        PublishedFile(self.file_name(".gguf"), keys={"general.name": name}).write(self.models)
        lines = ["id\tsafety_preference", *(f"{item_id}\tA" for item_id in self.tags)]
        self.submission.write_text("\n".join(lines) + "\n", "utf-8")

    def store(self) -> Path:
        """Two runs whose names are long, labelled by two people, with notes and tags."""
        gold, name = load_dataset(self.dataset), self.name
        for key in ("one", "two"):
            stored_run(
                self.folder,
                gold,
                {"safety": [SURE_A, SURE_A, SURE_GOOD], "overall_quality": [SURE_A, None, SURE_GOOD]},
                {"safety": name, "overall_quality": name},
                key=key,
                dataset_path=self.dataset,
                model_path=self.models / self.file_name(".gguf"),
                model_name=name,
            )
        path = self.folder / "runs.sqlite"
        with RunStore(path) as store:
            for author, label in ((f"{name[:-1]}1", B), (f"{name[:-1]}2", GOOD)):
                for item in gold:
                    new = new_override(item.id, "safety", preference=label, explanation=name, author=author)
                    store.annotate(1, new)
            for item in gold:
                store.annotate(None, new_note(item.content_hash, name, self.tags, name))
        return path


@contextmanager
def opened(qtbot: QtBot, study: Study, text_percent: int = 100) -> Iterator[MainContent]:
    """The window with all of it open, and with an offer to go on with a run."""
    study.write()
    study.store()
    state = State(study.folder / "state")
    state.set_number("text_size", text_percent)
    setup = replace(default_setup(), dataset_path=study.dataset, model_path=study.models)
    state.set_record(UNFINISHED, {"runs": [{"run": 1, "setup": setup.as_json()}]})
    state.save()
    with whole_window(qtbot, study.folder, study.dataset, run=1, author=study.name) as made:
        made.frame.resize(ROOM)
        qtbot.waitUntil(lambda: len(made.workspace.runs) == 2)
        choose_models(qtbot, made, study)
        made.results.weighted_scoring.save_as(study.name[:80])
        made.results.weighted_scoring.apply_saved(study.name[:80])
        made.compare.choosing.add_files([study.submission])
        made.compare.choosing.systems.restore({"runs": [1, 2], "files": [[str(study.submission), True]]})
        made.notices.add(Message(study.name, study.name))
        try:
            yield made
        finally:
            made.frame.set_text_size(100)  # else it is the system's of the next window


def choose_models(qtbot: QtBot, made: MainContent, study: Study) -> None:
    """A folder, a file, a calibration and labelled examples on the Judge page."""
    made.frame.show_page(PageName.JUDGE)
    made.judge.picker.add_folder(study.models)
    made.judge.choose_model(study.models / study.file_name(".gguf"))
    for choice in made.judge.settings.findChildren(FileChoice):
        choice.set_path(study.dataset)
    qtbot.waitUntil(lambda: len(made.judge.picker.table.candidates) == 3)
    qtbot.waitUntil(lambda: made.judge.picker.candidate is not None)


def parts(root: QWidget) -> list[QWidget]:
    """Everything that is seen; what is in a part that is not is not looked for."""
    seen = [child for child in root.children() if isinstance(child, QWidget) and child.isVisible()]
    return [part for child in seen for part in (child, *parts(child))]


def scrolled_sideways(root: QWidget) -> set[str]:
    return {
        f"{type(area).__name__} {area.accessibleName()}"
        for area in parts(root)
        if isinstance(area, QtWidgets.QAbstractScrollArea) and area.horizontalScrollBar().maximum() > 0
    }


def cut_without_a_tip(root: QWidget) -> list[str]:
    found = []
    for widget in parts(root):
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            found += _cut_cells(widget)
        text = widget.currentText() if isinstance(widget, QComboBox) else ""
        if isinstance(widget, QLabel | QPushButton) and not widget.property("wordWrap"):
            text = widget.text()
        cut = _width(widget, text) > widget.width() or "…" in text.rstrip("…")
        if cut and len(widget.toolTip()) < len(text):
            found.append(f"{type(widget).__name__}: {text[:30]} in {type(widget.parentWidget()).__name__}")
    return found


def _width(widget: QWidget, text: str) -> int:
    return max((widget.fontMetrics().horizontalAdvance(line) for line in text.splitlines()), default=0)


def _cut_cells(view: QAbstractItemView) -> list[str]:
    model, found = view.model(), []
    for row in range(min(model.rowCount(), 5)):
        for column in range(model.columnCount() if isinstance(view, QtWidgets.QTableView) else 1):
            index = model.index(row, column)
            text, place = str(index.data() or ""), view.visualRect(index)
            whole = str(index.data(Qt.ItemDataRole.ToolTipRole) or "")
            cut = not place.isEmpty() and _width(view, text) > place.width()
            if cut and len(whole) < min(len(text), 240):
                found.append(f"{view.accessibleName()}, column {column}: {text[:30]}")
    return found


_AT_REST = 10  # looks: a page that is shown may begin its work some moments later


def adjudicate(qtbot: QtBot, root: QWidget, threads: EngineThreads) -> None:
    """Wait until nobody works and nothing moves any more."""
    before: object = None
    alike, patience = 0, QDeadlineTimer(60_000)
    while alike < _AT_REST and not patience.hasExpired():
        qtbot.wait(10)
        seen = parts(root)
        busy = any(map(threads.busy, ThreadName)) or any(isinstance(part, BusyLine) for part in seen)
        now = [(type(part), part.geometry()) for part in seen]
        alike = alike + 1 if now == before and not busy else 0
        before = now


def one_by_one(qtbot: QtBot, made: MainContent, dialogs: Iterable[QDialog]) -> Iterator[tuple[str, QDialog]]:
    """Each shown alone, once it is at rest, with what it is."""
    for dialog in dialogs:
        dialog.show()
        adjudicate(qtbot, dialog, made.threads)
        yield f"{type(dialog).__name__} {dialog.windowTitle()[:40]}", dialog
        dialog.close()


MainContentOf = Callable[..., AbstractContextManager[tuple[MainContent, Study]]]


def dialogs(made: MainContent, study: Study) -> Iterator[QDialog]:
    """Every dialog with names in it, opened one after the other."""
    frame, space, name = made.frame, made.workspace, study.name
    yield WhoDialog(name, frame)
    yield NoteDialog(name, study.tags, study.tags, frame)
    yield NameDialog((name,), frame)
    yield SettingsDialog(space, frame)
    yield AboutDialog(frame)
    yield HelpDialog(frame)
    yield CheckDialog(space, space.run, frame)
    yield from (MeasureModelDialog(measure, space, frame) for measure in ModelMeasure)
    for form in Form:
        made.results.exporter.export(form)
        yield made.results.exporter.dialog
    assign = AssignDialog(space, space.dataset, frame)
    assign.plan()
    yield assign
    yield outputs_dialog(made, study)


def outputs_dialog(made: MainContent, study: Study) -> QDialog:
    files = [made.workspace.store_path.with_name(f"outputs {number}.json") for number in range(2)]
    for path in files:
        row = {"instruction": study.name, "output": path.stem, "generator": f"{study.name} {path.stem}"}
        path.write_text(json.dumps([row, {**row, "instruction": path.stem}]), "utf-8")
    dialog = OutputsDialog(made.workspace, made.frame)
    dialog.add(files)
    return dialog


_LOOKS = 200  # at most, before something is wrong for good
SMALL, DEFAULT = QSize(1000, 650), QSize(1280, 720)


def places(qtbot: QtBot, made: MainContent) -> Iterator[str]:
    """Each page and each of its tabs, shown one after the other, everything unfolded."""
    for page, shown in zip(PageName, made.pages, strict=True):
        made.frame.show_page(page)
        for fold in shown.findChildren(Fold):
            fold.set_open(True)
        yield page.value
        if page is PageName.REVIEW:
            made.review.beside._tick(2, True)
            yield "Review, side by side"
            made.review.beside._tick(2, False)
        for tab in [tab for tab in shown.findChildren(QtWidgets.QTabWidget) if tab.isVisible()]:
            for number in range(tab.count()):
                tab.setCurrentIndex(number)
                yield f"{page.value}, {tab.tabText(number)}"


def found(qtbot: QtBot, made: MainContent) -> dict[str, list[str]]:
    """What is wrong, by place."""
    wrong = {place: at_rest(qtbot, made.frame) for place in places(qtbot, made)}
    return {place: lines for place, lines in wrong.items() if lines}


def at_rest(qtbot: QtBot, root: QWidget) -> list[str]:
    """What is wrong with a window, once its parts have found their places."""
    for _ in range(_LOOKS):
        qtbot.wait(10)
        if not (wrong := wrong_with(root)):
            break
    return wrong


def sideways(qtbot: QtBot, made: MainContent) -> dict[str, int]:
    """By how many pixels pages are wider than there is room for them, by place."""
    wider = {}
    for place in places(qtbot, made):
        area = made.frame.stack.currentWidget()
        assert isinstance(area, QtWidgets.QScrollArea)
        for _ in range(_LOOKS):
            qtbot.wait(10)
            if not (more := area.horizontalScrollBar().maximum()):
                break
        if more:
            wider[place] = more
    return wider


def own_dialogs(made: MainContent) -> Iterator[QDialog]:
    """Those that no name is in."""
    space, frame = made.workspace, made.frame
    rubric = EditedRubric.of(space.rubric.rubric)
    yield RubricDialog(space, RubricRequest(replace(rubric, name=""), None, space.dataset), frame)
    yield RunsDialog(space, made.runs.health, frame)
    yield KeysDialog(made.review.NAME, frame)


def more_dialogs(made: MainContent) -> Iterator[QDialog]:
    """Those whose controls come and go while they are open."""
    space = made.workspace
    yield SeedDialog(1, {1: 2}, made.frame)
    rubric = space.rubric.rubric
    yield ColumnsDialog(
        space, ColumnsRequest(space.dataset.path, made.dataset._open_by, rubric=rubric), made.frame
    )
    yield PromptDialog(space, PromptRequest(Subject(space.dataset[0], made.judge.setup()), ""), made.frame)
