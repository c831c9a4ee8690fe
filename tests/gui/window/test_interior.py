"""The window and what is in it: how it starts, what it remembers, how it closes during a run."""

import os
import random
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QObject, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from engine.core.column_map import JudgeFile
from engine.core.errors import EngineBug, Hint, SetupError
from engine.core.events import HealthSeen, RunStarted
from engine.core.health import Health, Sign, Symptom
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.system.paths import demo_dataset, demo_model
from gui.results.export_jobs import Form
from gui.results.run_weights import RunWeights, WeightsChoice
from gui.widgets.action_table import keys_of
from gui.widgets.help_dialog import HelpDialog
from gui.widgets.theme import ThemeChoice, is_dark
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.window.prompt_dialog import PromptDialog
from gui.workspace.state import BLIND, PageName, State
from gui.workspace.threads import Task, ThreadName
from tests.gui.steps import dataset_of, run_of
from tests.gui.windows import end_window
from tests.judged import BAD, GOOD, SURE_A, A, B, dataset, stored_run
from tests.read_only import read_only


class Opened:
    """Opens windows on one memory and one store, one after the other."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self._qtbot = qtbot
        self.folder = folder
        self.interiors: list[MainContent] = []

    def __call__(self, dataset: Path | None = None) -> MainContent:
        frame = MainWindow(State(self.folder / "state"))
        frame.show()
        main_content = MainContent(frame, self.folder / "runs.sqlite")
        main_content.begin(*([dataset] if dataset else []))
        self.interiors.append(main_content)
        return main_content

    def close(self, main_content: MainContent) -> None:
        main_content.run_control.stop()
        self._qtbot.waitUntil(lambda: not main_content.run_control.running)
        self.end(main_content)

    def end(self, main_content: MainContent) -> None:
        """Close an interior in which nothing runs."""
        end_window(main_content)
        self.interiors.remove(main_content)


@pytest.fixture
def opened(qtbot: QtBot, tmp_path: Path, demo_tried: None) -> Iterator[Opened]:
    made = Opened(qtbot, tmp_path)
    yield made
    for main_content in list(made.interiors):
        made.close(main_content)


def answer(button_text: str) -> None:
    """Press a button of the message box that is about to open, as soon as it is there."""

    def press() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(50, press)
            return
        for button in box.findChildren(QPushButton):
            if button.text().replace("&", "") == button_text:
                button.click()

    QTimer.singleShot(50, press)


def wait_for_plan(main_content: MainContent, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: main_content.judge.can_run)


def run(main_content: MainContent, qtbot: QtBot) -> None:
    """Run what is planned, on one thread: other tests are at work too."""
    main_content.judge.settings.show_setup(replace(main_content.judge.setup(), threads=1))
    wait_for_plan(main_content, qtbot)
    main_content.run()


def test_the_first_start_has_the_demo_ready_to_run_and_keys_turn_the_pages(
    opened: Opened, qtbot: QtBot
) -> None:
    main_content = opened()
    frame = main_content.frame
    wait_for_plan(main_content, qtbot)
    assert dataset_of(main_content.workspace).path == demo_dataset()
    assert main_content.judge.setup().model_path == demo_model()
    assert frame.rail.currentItem().text() == "Judge"
    with qtbot.waitActive(frame):
        frame.activateWindow()
    for number, page in enumerate(main_content.pages, start=1):
        qtbot.keyClick(frame, getattr(Qt.Key, f"Key_{number}"), Qt.KeyboardModifier.ControlModifier)
        assert page.isVisible()
    frame.show_page(PageName.REVIEW)
    assert not frame.rail.hasFocus()
    frame.rail.setFocus()
    qtbot.keyClick(frame.rail, Qt.Key.Key_J)  # letters belong to the page
    assert frame.rail.currentItem().text() == "Review"
    keys = {action.keys: what for action, what in keys_of("Everywhere")}
    assert (keys["F1"], keys["?"]) == ("What the words mean", "Keys")
    qtbot.keyClick(frame, Qt.Key.Key_F1)
    dialogs = frame.findChildren(HelpDialog)
    assert [dialog.isVisible() for dialog in dialogs] == [True]
    dialogs[0].close()


def test_an_error_goes_with_the_next_success_of_the_same_work_and_is_said_once(opened: Opened) -> None:
    main_content = opened()
    failures = main_content.workspace.failures
    for kind in ("an export", "an export", "a figure"):
        failures.fail(kind, SetupError("The disk is full.", "Make room."))
        assert (main_content.notices.count, main_content.notices.text) == (1, "The disk is full.\nMake room.")
    failures.end("a figure")
    assert main_content.notices.count == 0


def test_an_error_is_shown_as_problem_and_remedy_and_a_fault_of_the_program_without_a_traceback(
    opened: Opened,
) -> None:
    main_content = opened()
    main_content.workspace.problem.emit(SetupError("<b>This</b> is wrong.", "Do that."))
    assert main_content.notices.isVisible()
    assert main_content.notices.text == "<b>This</b> is wrong.\nDo that."
    main_content.workspace.problem.emit(EngineBug("KeyError: 'x'"))
    assert "bug in Tiebreak" in main_content.notices.text
    assert "Traceback" not in main_content.notices.text


@pytest.mark.slow
def test_what_is_inside_follows_the_look_and_pages_that_nobody_sees_when_they_are_shown(
    opened: Opened,
) -> None:
    main_content = opened()
    frame = main_content.frame
    for page in main_content.pages:
        frame.show_page(page.NAME)
    frame.show_page(PageName.REVIEW)
    icon = frame.rail.item(0).icon().cacheKey()
    restyled = Counter[str]()
    for page in main_content.pages:
        page.restyled.connect(partial(restyled.update, [page.NAME.value]))
    told = StylesTold()
    frame.set_theme(ThemeChoice.DARK)
    # Twice: as the old style sheet goes, and as the new one comes. At once it is ten times.
    assert told.each < 3
    assert frame.rail.item(0).icon().cacheKey() != icon
    frame.set_text_size(110)
    frame.set_text_size(100)
    assert restyled == {"Review": 3}
    frame.show_page(PageName.RESULTS)
    frame.show_page(PageName.REVIEW)
    frame.show_page(PageName.RESULTS)
    assert restyled == {"Review": 3, "Results": 1}
    assert is_dark(main_content.results.palette())
    frame.set_theme(ThemeChoice.LIGHT)
    assert not is_dark(main_content.results.palette())


class StylesTold(QObject):
    """How often widgets are told of a new style."""

    def __init__(self) -> None:
        super().__init__()
        self._times, self._app = 0, QApplication.instance()
        assert self._app is not None
        self._app.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Count, and let all pass."""
        self._times += event.type() == QEvent.Type.StyleChange
        return False

    @property
    def each(self) -> float:
        """So many times each; no more is counted."""
        assert self._app is not None
        self._app.removeEventFilter(self)
        return self._times / len(QApplication.allWidgets())


@pytest.mark.slow
def test_a_dropped_dataset_is_opened_and_on_compare_a_submission_is_one_more_system(
    opened: Opened, qtbot: QtBot, demo_gold: Path, demo_store: Path
) -> None:
    main_content, submission = opened(), demo_store.with_name("submission.tsv")
    space = main_content.workspace
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(demo_gold))])
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    main_content.frame.dropEvent(QDropEvent(QPointF(5, 5), *how))
    qtbot.waitUntil(lambda: space.dataset is not None and space.dataset.name == demo_gold.name)
    assert main_content.frame.rail.currentItem().text() == "Dataset"
    main_content.frame.show_page(PageName.COMPARE)
    main_content.datasets.open_file(submission)
    qtbot.waitUntil(lambda: main_content.compare.choosing.choice.files == (JudgeFile(submission),))
    assert main_content.frame.page is PageName.COMPARE
    assert dataset_of(space).path == demo_gold


@pytest.mark.slow
def test_items_that_a_page_wants_judged_are_described_on_the_judge_page(
    opened: Opened, qtbot: QtBot, demo_gold: Path
) -> None:
    main_content = opened()
    wait_for_plan(main_content, qtbot)
    main_content.frame.show_page(PageName.REVIEW)
    main_content.workspace.items_wanted.emit(demo_gold, ("7", "3"), None)
    assert main_content.frame.page is PageName.JUDGE
    qtbot.waitUntil(lambda: main_content.judge.setup().ids == ("3", "7"))
    assert main_content.judge.setup().dataset_path == demo_gold
    assert not main_content.run_control.running


@pytest.mark.parametrize(
    ("page", "shown"), [(PageName.COMPARE, PageName.DATASET), (PageName.JUDGE, PageName.JUDGE)]
)
def test_a_dataset_of_the_menu_is_opened_where_it_is_seen(
    opened: Opened, qtbot: QtBot, demo_gold: Path, page: PageName, shown: PageName
) -> None:
    main_content = opened()
    qtbot.waitUntil(lambda: main_content.workspace.dataset is not None)
    main_content.frame.show_page(page)
    QTest.keyClick(main_content.frame, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    dialog = main_content.frame.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.isVisible()
    with qtbot.waitSignal(main_content.workspace.dataset_changed):
        dialog.fileSelected.emit(str(demo_gold))
    dialog.close()
    assert main_content.frame.page is shown


@pytest.mark.slow
def test_the_last_dataset_and_page_are_there_next_time(opened: Opened, qtbot: QtBot, demo_gold: Path) -> None:
    main_content = opened(demo_gold)
    qtbot.waitUntil(lambda: main_content.workspace.dataset is not None)
    main_content.frame.show_page(PageName.REVIEW)
    opened.close(main_content)
    again = opened()
    qtbot.waitUntil(lambda: again.workspace.dataset is not None)
    assert dataset_of(again.workspace).name == demo_gold.name
    assert again.frame.rail.currentItem().text() == "Review"


def test_a_store_that_can_only_be_read_is_shown_and_said(
    opened: Opened, qtbot: QtBot, demo_store: Path
) -> None:
    shutil.copy(demo_store, opened.folder / "runs.sqlite")
    with read_only(opened.folder / "runs.sqlite"):
        main_content = opened()
        space = main_content.workspace
        qtbot.waitUntil(lambda: "is read-only" in main_content.notices.text)
        qtbot.waitUntil(lambda: bool(space.runs))
        with qtbot.waitSignal(space.run_changed):
            space.open_run(space.runs[0].id)
        item = run_of(space).results.judged[0].item_id
        space.override(JudgmentKey(item, "safety"), Preference.BOTH_BAD, None)
        qtbot.waitUntil(lambda: "your annotation is not stored" in main_content.notices.text)
        assert not run_of(space).results.overrides


def test_the_window_itself_never_asks_for_the_file_of_the_store(
    opened: Opened, qtbot: QtBot, demo_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that does not answer would let it stand still."""
    path, stat = opened.folder / "runs.sqlite", os.stat
    shutil.copy(demo_store, path)
    State(opened.folder / "state").set_number("last/run", 1)
    asked: set[bool] = set()

    def seen(place: object, *more: object, **named: object) -> os.stat_result:
        if str(place) == str(path):
            asked.add(threading.current_thread() is threading.main_thread())
        return stat(place, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", seen)
    main_content = opened()
    qtbot.waitUntil(lambda: main_content.workspace.run is not None)
    assert asked == {False}


@pytest.mark.slow
def test_closing_during_a_run_asks_stops_it_cleanly_and_the_next_start_offers_to_resume(
    opened: Opened, qtbot: QtBot
) -> None:
    main_content = opened()
    control = main_content.run_control
    wait_for_plan(main_content, qtbot)
    run(main_content, qtbot)
    qtbot.waitUntil(lambda: control.running)
    answer("Keep judging")
    main_content.frame.close()
    assert main_content.frame.isVisible()
    assert control.running
    qtbot.waitUntil(lambda: control.progress is not None and control.progress.judged >= 2)
    answer("Stop and close")
    main_content.frame.close()
    qtbot.waitUntil(lambda: not main_content.frame.isVisible())
    opened.end(main_content)
    again = opened()
    assert again.run_control.unfinished is not None
    wait_for_plan(again, qtbot)
    again.run()
    qtbot.waitUntil(lambda: again.run_control.progress is not None)
    assert again.run_control.progress is not None
    assert again.run_control.progress.judged >= 2


def test_what_was_exported_is_said_on_whatever_page(
    opened: Opened, qtbot: QtBot, demo_store: Path, tmp_path: Path
) -> None:
    shutil.copy(demo_store, opened.folder / "runs.sqlite")
    main_content = opened()
    with qtbot.waitSignal(main_content.workspace.run_changed):
        main_content.workspace.open_run(1)
    main_content.frame.show_page(PageName.DATASET)
    with qtbot.waitSignal(main_content.workspace.notice):
        main_content.results.export(Form.LABELS, tmp_path / "labels.tsv")
    assert "it answers all 30 items completely" in main_content.notices.text


def test_the_status_bar_says_that_the_model_does_not_judge(opened: Opened) -> None:
    main_content = opened()
    control = main_content.run_control
    sign = Symptom(Sign.ONE_LABEL, {"A": 1.0}, 0.9, True, "All are A.", Hint("Stop."))
    for event in (RunStarted(1, 30, 12), HealthSeen(Health(12, True, (sign,)))):
        control._hear(event)
    control._task = Task(lambda _: None, ThreadName.MODEL)
    main_content._follow_run()
    control._task = None
    assert "12 of 30 items. The model does not judge" in main_content.frame._run_state.text()
    assert main_content.frame._run_state.property("role") == "bad"


def test_who_labels_and_how_and_weights_are_kept_when_the_layout_is_forgotten(opened: Opened) -> None:
    main_content = opened()
    weights = RunWeights(main_content.frame.state)
    weights.save("mine", WeightsChoice({"safety": 2.0}, 0.5))
    main_content.workspace.set_author("Ada")
    main_content.review.reviewer.switch_blind(True)
    main_content._forget()
    assert (main_content.workspace.knows_author, main_content.workspace.author) == (True, "Ada")
    assert main_content.workspace.state.text(BLIND) == "on"
    assert set(weights.saved) == {"mine"}


@pytest.mark.slow
def test_review_and_dataset_open_what_the_model_is_shown(
    qtbot: QtBot, opened: Opened, demo_store: Path, demo_gold: Path
) -> None:
    """Of a run as it asked, of a dataset as the Judge page is set; blind, the answer stays hidden."""
    shutil.copy(demo_store, opened.folder / "runs.sqlite")
    main_content = opened(demo_gold)
    space = main_content.workspace
    qtbot.waitUntil(lambda: space.dataset is not None)
    space.open_run(1)
    qtbot.waitUntil(lambda: space.run is not None and space.run.dataset is not None)
    item = dataset_of(space)[1]

    def dialog() -> PromptDialog:
        made = main_content.frame.findChildren(PromptDialog)[-1]
        qtbot.waitUntil(lambda: made.pane.prompt is not None)
        return made

    main_content.dataset.prompt_wanted.emit(item)
    assert dialog().title.text().endswith("demo-judge, as the Judge page is set")
    dialog().reject()
    main_content.review.reviewer.switch_blind(True)
    main_content.review.prompt_wanted.emit(item, "safety")
    qtbot.waitUntil(lambda: len(main_content.frame.findChildren(PromptDialog)) == 1)
    of_run = dialog()
    assert " as in run 1 for " in of_run.title.text()
    assert of_run.key.criterion == "safety"
    assert not of_run.ask.isEnabled()
    main_content.review.reviewer.switch_blind(False)
    of_run._show_answer()
    assert of_run.ask.isEnabled()
    of_run.reject()


@pytest.fixture
def opened_frame(qtbot: QtBot, tmp_path: Path) -> Iterator[Callable[[], MainWindow]]:
    """Opens frames on one memory, one after the other; the system's size of text is put back at the end."""
    made: list[MainWindow] = []
    font = QApplication.font()

    def close() -> None:
        for frame in made:
            frame.close()
            frame.deleteLater()
        made.clear()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    def open_frame() -> MainWindow:
        close()
        QApplication.setFont(font)  # a program finds the system's when it starts
        made.append(MainWindow(State(tmp_path / "state")))
        made[0].show()
        return made[0]

    yield open_frame
    close()
    QApplication.setFont(font)


def test_the_theme_and_the_size_of_text_change_at_once_and_are_remembered(
    opened_frame: Callable[[], MainWindow],
) -> None:
    frame = opened_frame()
    before = frame.fontMetrics().height()
    frame.set_theme(ThemeChoice.DARK)
    frame.set_text_size(200)
    assert is_dark(frame.palette())
    assert frame.fontMetrics().height() > 1.6 * before
    again = opened_frame()
    assert is_dark(again.palette())
    again.set_theme(ThemeChoice.LIGHT)
    again.set_text_size(100)
    assert not is_dark(again.palette())


CRITERIA = (1, 2, 5, 12)
SWITCHES = 60


def store_runs(folder: Path) -> None:
    for count in CRITERIA:
        names = [f"criterion_{place + 1}" for place in range(count)]
        gold = dataset({name: [A, B, GOOD, BAD] for name in names})
        stored_run(folder, gold, {name: [SURE_A] * len(gold) for name in names}, key=f"run of {count}")


@pytest.mark.slow
def test_runs_of_other_criteria_follow_each_other_on_all_pages(qtbot: QtBot, tmp_path: Path) -> None:
    """A fault of the order of events would end the process: so many orders, drawn anew from one seed."""
    store_runs(tmp_path)
    main_content = MainContent(MainWindow(State(tmp_path / "state")), tmp_path / "runs.sqlite")
    main_content.frame.show()
    draw = random.Random(28)
    wanted = 0

    def is_shown() -> bool:
        run, buttons = main_content.workspace.run, main_content.review.desk.strip.buttons
        looked_at = main_content.frame.page is PageName.REVIEW
        return (
            run is not None and run.id == wanted and (not looked_at or len(buttons) == CRITERIA[wanted - 1])
        )

    for _ in range(SWITCHES):
        wanted = draw.choice([run for run in (1, 2, 3, 4) if run != wanted])
        main_content.workspace.open_run(wanted)
        if draw.random() < 0.5:
            main_content.frame.show_page(draw.choice(list(PageName)))
        qtbot.waitUntil(is_shown)
    end_window(main_content)
