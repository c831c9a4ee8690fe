"""Names of 255 letters, everywhere at once: nothing leaves a window of 1280 x 680, each is whole in a tip.

Knows: the whole window. Does not know: what a page is for.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QDeadlineTimer, QPoint, QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QMenu,
    QMessageBox,
    QPushButton,
    QTableView,
    QTabWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_note, new_override
from engine.core.errors import SetupError
from engine.data.dataset import load_dataset
from engine.store.run_store import RunStore
from gui.dataset.outputs_dialog import OutputsDialog
from gui.judge.run_control import UNFINISHED, default_setup
from gui.results.export_jobs import Form
from gui.results.run_weights import NameDialog
from gui.results.score_jobs import ModelMeasure
from gui.results.scores_panel import MeasureModelDialog
from gui.review.annotators import WhoDialog
from gui.review.note_line import NoteDialog
from gui.widgets.actions import BusyLine
from gui.widgets.fields import Fold
from gui.widgets.files import FileChoice
from gui.widgets.help_dialog import HelpDialog
from gui.widgets.notice import Message
from gui.window.dialogs import AboutDialog, CheckDialog, SettingsDialog
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import PageName, State
from gui.workspace.threads import EngineThreads, ThreadName
from tests.gui.windows import end_window
from tests.judged import GOOD, SURE_A, SURE_GOOD, B, stored_run
from tests.model_files import PublishedFile

A_WHILE = 60_000
ROOM = QSize(1280, 680)
"""What a screen of 1280 x 720 leaves beside a task bar."""
WIDE_ANYHOW = {"ItemView Items of the run", "_WholeView Published systems, for reference"}
"""What is scrolled sideways where names are short, too."""


@dataclass
class Study:
    """Everything that has a name, by the same name of one letter again and again."""

    folder: Path
    letter: str
    models: Path = field(init=False)
    dataset: Path = field(init=False)

    def __post_init__(self) -> None:
        self.models = self.folder / self.file_name("")
        self.models.mkdir()
        self.dataset = self.models / self.file_name(".tsv")

    @property
    def name(self) -> str:
        """A name of any thing."""
        return (self.letter * 255)[:255]

    def file_name(self, suffix: str) -> str:
        """As long as a file's name may be: 255 bytes."""
        return self.letter * ((255 - len(suffix)) // len(self.letter.encode())) + suffix

    def write(self) -> None:
        """The dataset, model files that can and that cannot be used, a submission."""
        name = self.name
        header = [
            "id",
            "instruction",
            "output_a",
            "output_b",
            "safety_preference",
            "safety_explanation",
            "candidate_a",
            "candidate_b",
            name,
        ]
        rows = [
            [f"{name[:-1]}{number}", name, name, name, label, name, *self.candidates, name]
            for number, label in enumerate(("A", "B", "both_good"))
        ]
        self.dataset.write_text("\n".join("\t".join(row) for row in [header, *rows]) + "\n", "utf-8")
        PublishedFile(self.file_name(".gguf"), keys={"general.name": name}).write(self.models)
        bad = self.models / "bad"
        bad.mkdir()
        (bad / self.file_name(".gguf")).write_bytes(b"not a model")
        lines = ["id\tsafety_preference", *(f"{name[:-1]}{number}\tA" for number in range(3))]
        self.submission.write_text("\n".join(lines) + "\n", "utf-8")

    @property
    def submission(self) -> Path:
        """A file with a label for each item."""
        return self.folder / self.file_name(".tsv")

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

    @property
    def candidates(self) -> tuple[str, str]:
        """Who wrote A and B."""
        return f"{self.name[:-1]}A", f"{self.name[:-1]}B"

    @property
    def tags(self) -> list[str]:
        """Three of them."""
        return [f"{self.name[:-1]}{number}" for number in range(3)]


def opened(qtbot: QtBot, study: Study, text_percent: int = 100) -> MainContent:
    """The window with all of it open, and with an offer to go on with a run."""
    study.write()
    store = study.store()
    state = State(study.folder / "state")
    state.set_text("author", study.name)
    state.set_number("text_size", text_percent)
    setup = replace(default_setup(), dataset_path=study.dataset, model_path=study.models)
    state.set_record(UNFINISHED, {"runs": [{"run": 1, "setup": setup.as_json()}]})
    frame = MainWindow(state)
    frame.resize(ROOM)
    frame.show()
    made = MainContent(frame, store)
    made.begin(study.dataset)
    space = made.workspace
    qtbot.waitUntil(lambda: space.dataset is not None, timeout=A_WHILE)
    space.open_run(1)
    qtbot.waitUntil(lambda: space.run is not None and len(space.runs) == 2, timeout=A_WHILE)
    choose_models(qtbot, made, study)
    made.results.weighted_scoring.save_as(study.name[:80])
    made.results.weighted_scoring.apply_saved(study.name[:80])
    made.compare.choosing.add_files([study.submission])
    made.compare.choosing.systems.restore({"runs": [1, 2], "files": [[str(study.submission), True]]})
    made.notices.add(Message(study.name, study.name))
    return made


def choose_models(qtbot: QtBot, made: MainContent, study: Study) -> None:
    """A folder, a file, a calibration and labelled examples on the Judge page."""
    made.frame.show_page(PageName.JUDGE)
    made.judge.picker.add_folder(study.models)
    made.judge.choose_model(study.models / study.file_name(".gguf"))
    for choice in made.judge.settings.findChildren(FileChoice):
        choice.set_path(study.dataset)
    qtbot.waitUntil(lambda: len(made.judge.picker.table.candidates) == 3, timeout=A_WHILE)
    qtbot.waitUntil(lambda: made.judge.picker.candidate is not None, timeout=A_WHILE)


def parts(root: QWidget) -> list[QWidget]:
    """Everything that is seen; what is in a part that is not is not looked for."""
    seen = [child for child in root.children() if isinstance(child, QWidget) and child.isVisible()]
    return [part for child in seen for part in (child, *parts(child))]


def scrolled_sideways(root: QWidget) -> set[str]:
    """The areas that can be scrolled sideways, by what they are."""
    return {
        f"{type(area).__name__} {area.accessibleName()}"
        for area in parts(root)
        if isinstance(area, QAbstractScrollArea) and area.horizontalScrollBar().maximum() > 0
    }


def outside(root: QWidget) -> list[str]:
    """What begins or ends beyond the window, though no view scrolls it."""
    found = []
    for widget in parts(root):
        if widget.window() is not root.window():
            continue
        parent = widget.parentWidget()
        left = widget.mapTo(root, QPoint(0, 0)).x()
        if left + widget.width() > root.width() + 1 and not _is_in_a_view(widget, root):
            found.append(f"{type(widget).__name__} {widget.accessibleName()[:40]} in {type(parent).__name__}")
    return found


def _is_in_a_view(widget: QWidget, root: QWidget) -> bool:
    parent = widget.parentWidget()
    while parent is not None and parent is not root:
        if isinstance(parent, QAbstractItemView):
            return True
        parent = parent.parentWidget()
    return False


def cut_without_a_tip(root: QWidget) -> list[str]:
    """Texts that are not seen whole, and are in no tool tip either."""
    found = []
    for widget in parts(root):
        if isinstance(widget, QComboBox):
            text, room = widget.currentText(), widget.width()
        elif isinstance(widget, QLabel | QPushButton):
            text, room = widget.text(), widget.width()
            if isinstance(widget, QLabel) and widget.wordWrap():
                continue
        else:
            continue
        needed = max((widget.fontMetrics().horizontalAdvance(line) for line in text.splitlines()), default=0)
        if (needed > room or "…" in text.rstrip("…")) and len(widget.toolTip()) < len(text):
            found.append(f"{type(widget).__name__}: {text[:30]} in {type(widget.parentWidget()).__name__}")
    for view in parts(root):
        if isinstance(view, QAbstractItemView) and view.model() is not None:
            found += _cut_cells(view)
    return found


def _cut_cells(view: QAbstractItemView) -> list[str]:
    model, found = view.model(), []
    for row in range(min(model.rowCount(), 5)):
        for column in range(model.columnCount() if isinstance(view, QTableView) else 1):
            index = model.index(row, column)
            text, place = str(index.data() or ""), view.visualRect(index)
            if place.isEmpty():
                continue
            needed = max(
                (view.fontMetrics().horizontalAdvance(line) for line in text.splitlines()), default=0
            )
            whole = str(index.data(Qt.ItemDataRole.ToolTipRole) or "")
            if needed > place.width() and len(whole) < min(len(text), 240):
                found.append(f"{view.accessibleName()}, column {column}: {text[:30]}")
    return found


def adjudicate(qtbot: QtBot, root: QWidget, threads: EngineThreads) -> None:
    """Wait until nobody works and nothing moves any more."""
    before: object = None
    alike = 0
    patience = QDeadlineTimer(A_WHILE)
    while alike < 3 and not patience.hasExpired():
        qtbot.wait(10)
        if any(threads.busy(thread_name) for thread_name in ThreadName):
            alike = 0
            continue
        seen = parts(root)
        busy = any(isinstance(part, BusyLine) for part in seen)
        now = [(type(part), part.geometry()) for part in seen]
        alike = alike + 1 if now == before and not busy else 0
        before = now


def check_pages(qtbot: QtBot, made: MainContent, letter: str) -> None:
    """Each page and each of its tabs, everything unfolded."""
    frame = made.frame

    def look(place: str) -> None:
        adjudicate(qtbot, frame, made.threads)
        for fold in frame.findChildren(Fold):
            if fold.isVisible():
                fold.set_open(True)
        adjudicate(qtbot, frame, made.threads)
        least = frame.minimumSizeHint()
        assert least.width() <= ROOM.width(), f"{place} needs a width of {least.width()}"
        assert least.height() <= ROOM.height(), f"{place} needs a height of {least.height()}"
        assert frame.size() == ROOM, f"{place} makes the window {frame.size()}"
        assert outside(frame) == [], place
        assert scrolled_sideways(frame) <= WIDE_ANYHOW, place
        assert [text for text in cut_without_a_tip(frame) if letter * 8 in text] == [], place

    for page, shown in zip(PageName, made.pages, strict=True):
        frame.show_page(page)
        look(page.value)
        assert page is not PageName.RANKING or made.ranking.ranked is not None
        if page is PageName.REVIEW:
            made.review.beside._tick(2, True)
            look("Review, side by side")
        if page is PageName.COMPARE:
            made.compare.compare()
            qtbot.waitUntil(made.compare.view.isVisible, timeout=A_WHILE)
            divide_compared(qtbot, made)
        for tab in [tab for tab in shown.findChildren(QTabWidget) if tab.isVisible()]:
            for number in range(tab.count()):
                tab.setCurrentIndex(number)
                look(f"{page.value}, {tab.tabText(number)}")


def divide_compared(qtbot: QtBot, made: MainContent) -> None:
    """Let the comparison stand by tag, too."""
    choice = made.compare.slices
    qtbot.waitUntil(lambda: choice.by.findData("tag") > 0, timeout=A_WHILE)
    choice.choose("tag")
    qtbot.waitUntil(lambda: made.compare.view.slices.sliced is not None, timeout=A_WHILE)


MainContentOf = Callable[..., AbstractContextManager[tuple[MainContent, Study]]]


@pytest.fixture
def main_content_of(qtbot: QtBot, tmp_path: Path) -> MainContentOf:
    @contextmanager
    def main_content_of(letter: str, text_percent: int = 100) -> Iterator[tuple[MainContent, Study]]:
        study = Study(tmp_path, letter)
        made = opened(qtbot, study, text_percent)
        try:
            yield made, study
        finally:
            made.frame.set_text_size(100)  # else it is the system's of the next window
            end_window(made)

    return main_content_of


def dialogs(made: MainContent, study: Study) -> Iterator[QDialog]:
    """Every dialog with names in it, opened one after the other."""
    frame, space, name = made.frame, made.workspace, study.name
    assert space.run is not None
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
    yield outputs_dialog(made, study)


def outputs_dialog(made: MainContent, study: Study) -> QDialog:
    """Of two files, whose candidates have names as long as others."""
    files = [made.workspace.store_path.with_name(f"outputs {number}.json") for number in range(2)]
    for path in files:
        row = {"instruction": study.name, "output": path.stem, "generator": f"{study.name} {path.stem}"}
        path.write_text(json.dumps([row, {**row, "instruction": path.stem}]), "utf-8")
    dialog = OutputsDialog(made.workspace, made.frame)
    dialog.add(files)
    return dialog


def check_dialogs(qtbot: QtBot, made: MainContent, study: Study) -> None:
    for dialog in dialogs(made, study):
        dialog.show()
        adjudicate(qtbot, dialog, made.threads)
        called = f"{type(dialog).__name__} {dialog.windowTitle()}"
        assert dialog.width() <= ROOM.width(), f"{called} is {dialog.width()} wide"
        assert dialog.height() <= ROOM.height(), f"{called} is {dialog.height()} high"
        assert outside(dialog) == [], called
        assert [text for text in cut_without_a_tip(dialog) if study.letter * 8 in text] == [], called
        dialog.close()


def check_menus(made: MainContent, letter: str) -> None:
    for menu in made.frame.findChildren(QMenu):
        menu.aboutToShow.emit()
        assert menu.sizeHint().width() <= ROOM.width(), menu.title()
        cut = [entry for entry in menu.actions() if letter * 8 in entry.text() and "…" in entry.text()]
        assert not [entry.text() for entry in cut if letter * 79 not in entry.toolTip()]


def message_widths(qtbot: QtBot, made: MainContent, study: Study) -> list[int]:
    """How wide an error is, and the question for a dataset."""
    widths: list[int] = []

    def close() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        widths.append(box.width())
        box.reject()

    QTimer.singleShot(0, made.frame, close)
    made.frame.show_problem(SetupError(f"{study.dataset}: {study.name}.", study.name))
    study.submission.write_text("id\tsafety_preference\nstrange\tA\n", "utf-8")
    made.submissions.open(study.submission)
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QMessageBox), timeout=A_WHILE)
    close()
    return widths


@pytest.mark.slow
@pytest.mark.parametrize("letter", [pytest.param("n", marks=pytest.mark.models), "字"])
def test_nothing_grows_and_each_name_is_whole_in_a_tip(
    qtbot: QtBot, main_content_of: MainContentOf, letter: str
) -> None:
    """Of 255 narrow letters that belong together; of wide ones, of which lines break at each."""
    with main_content_of(letter) as (made, study):
        check_pages(qtbot, made, letter)
        check_dialogs(qtbot, made, study)
        check_menus(made, letter)
        assert max(message_widths(qtbot, made, study)) <= ROOM.width()


def test_the_first_window_leaves_room_for_its_title_and_a_task_bar(qtbot: QtBot, tmp_path: Path) -> None:
    frame = MainWindow(State(tmp_path / "state"))
    qtbot.addWidget(frame)
    assert frame.height() <= frame.screen().availableSize().height() - 40
    assert frame.width() <= ROOM.width()
