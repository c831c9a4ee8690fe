"""The window and what is in it: how it starts, what it remembers, how it closes during a run."""

import os
import random
import shutil
import threading
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
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
from gui.widgets.glossary import HelpDialog
from gui.widgets.theme import ThemeChoice, is_dark
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.window.prompt_dialog import PromptDialog
from gui.workspace.state import BLIND, PageName, State
from gui.workspace.threads import Task, ThreadName
from tests.gui.steps import answer, dataset_of, drop, run_of, whole_window
from tests.judged import BAD, GOOD, SURE_A, A, B, dataset, stored_run
from tests.read_only import read_only

pytestmark = pytest.mark.usefixtures("demo_tried")


def test_the_first_start_has_the_demo_ready_and_keys_turn_the_pages(main: MainContent, qtbot: QtBot) -> None:
    frame = main.frame
    qtbot.waitUntil(lambda: main.judge.can_run)
    assert dataset_of(main.workspace).path == demo_dataset()
    assert main.judge.setup().model_path == demo_model()
    assert frame.rail.currentItem().text() == "Judge"
    with qtbot.waitActive(frame):
        frame.activateWindow()
    for number, page in enumerate(main.pages, start=1):
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
    (help_dialog,) = frame.findChildren(HelpDialog)
    assert help_dialog.isVisible()
    help_dialog.close()


def test_an_error_is_shown_once_until_the_same_work_succeeds_and_a_model_that_does_not_judge_is_said(
    main: MainContent,
) -> None:
    notices, failures = main.notices, main.workspace.failures
    for kind in ("an export", "an export", "a figure"):
        failures.fail(kind, SetupError("<b>The disk</b> is full.", "Make room."))
        assert (notices.count, notices.text) == (1, "<b>The disk</b> is full.\nMake room.")
        assert notices.isVisible()
    failures.end("a figure")
    assert notices.count == 0
    main.workspace.problem.emit(EngineBug("KeyError: 'x'"))
    assert "bug in Tiebreak" in notices.text
    assert "Traceback" not in notices.text
    control, said = main.run_control, main.frame._run_state
    sign = Symptom(Sign.ONE_LABEL, {"A": 1.0}, 0.9, True, "All are A.", Hint("Stop."))
    for event in (RunStarted(1, 30, 12), HealthSeen(Health(12, True, (sign,)))):
        control._hear(event)
    control._task = Task(lambda _: None, ThreadName.MODEL)
    main._follow_run()
    control._task = None
    assert "12 of 30 items. The model does not judge" in said.text()
    assert said.property("role") == "bad"


@pytest.mark.slow
def test_what_is_inside_follows_the_look_and_pages_that_nobody_sees_when_they_are_shown(
    main: MainContent, qapp: QApplication
) -> None:
    frame = main.frame
    for page in main.pages:
        frame.show_page(page.NAME)
    frame.show_page(PageName.REVIEW)
    icon = frame.rail.item(0).icon().cacheKey()
    restyled = Counter[str]()
    for page in main.pages:
        probe = QWidget(page)
        probe.restyle = partial(restyled.update, [page.NAME.value])  # type: ignore[attr-defined]
    told = StylesTold(qapp)
    frame.set_theme(ThemeChoice.DARK)
    # Twice: as the old style sheet goes, and as the new one comes. At once it is ten times.
    assert told.each < 3
    assert frame.rail.item(0).icon().cacheKey() != icon
    told, before = StylesTold(qapp), main.dataset.items.search.font().pointSizeF()
    frame.set_text_size(110)
    assert main.dataset.items.search.font().pointSizeF() == pytest.approx(1.1 * before)
    frame.set_text_size(100)
    assert told.each < 0.1  # a font for all of them, and no style
    assert restyled == {"Review": 3}
    for name in (PageName.RESULTS, PageName.REVIEW, PageName.RESULTS):
        frame.show_page(name)
    assert restyled == {"Review": 3, "Results": 1}
    assert is_dark(main.results.palette())
    frame.set_theme(ThemeChoice.LIGHT)
    assert not is_dark(main.results.palette())


class StylesTold(QObject):
    """How often widgets are told of a new style."""

    def __init__(self, app: QApplication) -> None:
        super().__init__()
        self._times, self._app = 0, app
        app.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self._times += event.type() == QEvent.Type.StyleChange
        return False

    @property
    def each(self) -> float:
        """So many times each; no more is counted."""
        self._app.removeEventFilter(self)
        return self._times / len(QApplication.allWidgets())


@pytest.mark.slow
def test_a_dropped_dataset_is_opened_and_on_compare_a_submission_is_one_more_system(
    main: MainContent, qtbot: QtBot, demo_gold: Path, demo_store: Path
) -> None:
    submission, frame, space = (
        demo_store.with_name("submission.tsv"),
        main.frame,
        main.workspace,
    )
    drop(frame, demo_gold)
    qtbot.waitUntil(lambda: dataset_of(space).name == demo_gold.name)
    assert frame.rail.currentItem().text() == "Dataset"
    frame.show_page(PageName.COMPARE)
    main.datasets.open_file(submission)
    qtbot.waitUntil(lambda: main.compare.choosing.choice.files == (JudgeFile(submission),))
    assert frame.page is PageName.COMPARE
    assert dataset_of(space).path == demo_gold


@pytest.mark.parametrize("whole_folder", [False, True])
def test_what_is_dropped_beside_a_model_or_a_folder_of_models_is_opened_too(
    main: MainContent, qtbot: QtBot, demo_gold: Path, tmp_path: Path, whole_folder: bool
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    dropped = folder if whole_folder else Path(shutil.copy(demo_model(), folder))
    drop(main.frame, dropped, demo_gold)
    qtbot.waitUntil(lambda: dataset_of(main.workspace).path == demo_gold)
    places = main.judge.picker.places
    assert [*places.files, *places.folders] == [dropped]
    assert main.frame.page is PageName.JUDGE


def test_a_run_that_is_renamed_has_its_new_name_in_what_is_measured_and_ranked(
    qtbot: QtBot, demo_copy: Path, demo_gold: Path
) -> None:
    with whole_window(qtbot, demo_copy.parent, demo_gold, run=1) as main:
        main.frame.show_page(PageName.RESULTS)
        measurer, ranked_by = main.results.measurer, main.ranking.choice.by
        qtbot.waitUntil(lambda: measurer.scores is not None and measurer.scores.explained)
        assert ranked_by.currentText() == "Labels of run 1"
        main.workspace.call_run(1, "night")
        qtbot.waitUntil(lambda: measurer.scores is not None and "night" in measurer.scores.sheet.title)
        assert ranked_by.currentText() == "Labels of run 1 “night”"


@pytest.mark.slow
def test_items_that_a_page_wants_judged_are_described_on_the_judge_page(
    main: MainContent, qtbot: QtBot, demo_gold: Path
) -> None:
    qtbot.waitUntil(lambda: main.judge.can_run)
    main.frame.show_page(PageName.REVIEW)
    main.workspace.items_wanted.emit(demo_gold, ("7", "3"), None)
    assert main.frame.page is PageName.JUDGE
    qtbot.waitUntil(lambda: main.judge.setup().ids == ("3", "7"))
    assert main.judge.setup().dataset_path == demo_gold
    assert not main.run_control.running


def test_a_dataset_of_the_menu_is_opened_where_it_is_seen(
    main: MainContent, qtbot: QtBot, demo_gold: Path
) -> None:
    frame = main.frame
    for page, path, shown in (
        (PageName.COMPARE, demo_gold, PageName.DATASET),
        (PageName.JUDGE, demo_dataset(), PageName.JUDGE),
    ):
        frame.show_page(page)
        QTest.keyClick(frame, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
        dialog = frame.findChildren(QFileDialog)[-1]
        with qtbot.waitSignal(main.workspace.dataset_changed):
            dialog.fileSelected.emit(str(path))
        assert frame.page is shown


@pytest.mark.slow
def test_the_last_dataset_and_page_are_there_next_time(qtbot: QtBot, tmp_path: Path, demo_gold: Path) -> None:
    with whole_window(qtbot, tmp_path, demo_gold) as main:
        main.frame.show_page(PageName.REVIEW)
    with whole_window(qtbot, tmp_path) as again:
        assert dataset_of(again.workspace).name == demo_gold.name
        assert again.frame.rail.currentItem().text() == "Review"


def test_a_store_that_can_only_be_read_is_shown_and_said(qtbot: QtBot, demo_copy: Path) -> None:
    with read_only(demo_copy), whole_window(qtbot, demo_copy.parent, run=1) as main:
        space, notices = main.workspace, main.notices
        qtbot.waitUntil(lambda: "is read-only" in notices.text)
        item = run_of(space).results.judged[0].item_id
        space.override(JudgmentKey(item, "safety"), Preference.BOTH_BAD, None)
        qtbot.waitUntil(lambda: "your annotation is not stored" in notices.text)
        assert not run_of(space).results.overrides


def test_the_window_itself_never_asks_for_the_file_of_the_store(
    qtbot: QtBot, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that does not answer would let it stand still."""
    stat, asked = os.stat, set[bool]()

    def seen(place: object, *more: object, **named: object) -> os.stat_result:
        if str(place) == str(demo_copy):
            asked.add(threading.current_thread() is threading.main_thread())
        return stat(place, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", seen)
    with whole_window(qtbot, demo_copy.parent, run=1):
        assert asked == {False}


@pytest.mark.slow
def test_closing_during_a_run_asks_stops_and_lets_the_next_start_resume(qtbot: QtBot, tmp_path: Path) -> None:
    with whole_window(qtbot, tmp_path) as main:
        control, judge = main.run_control, main.judge
        qtbot.waitUntil(lambda: judge.can_run)
        judge.settings.show_setup(replace(judge.setup(), threads=1))  # other tests are at work too
        qtbot.waitUntil(lambda: judge.can_run)
        main.run()
        qtbot.waitUntil(lambda: control.running)
        answer("Keep judging")
        main.frame.close()
        assert main.frame.isVisible()
        assert control.running
        qtbot.waitUntil(lambda: control.progress is not None and control.progress.judged >= 2)
        answer("Stop and close")
        main.frame.close()
        qtbot.waitUntil(lambda: not main.frame.isVisible())
    with whole_window(qtbot, tmp_path) as again:
        assert again.run_control.unfinished is not None
        qtbot.waitUntil(lambda: again.judge.can_run)
        again.run()
        qtbot.waitUntil(lambda: again.run_control.progress is not None)
        assert again.run_control.progress.judged >= 2


def test_what_was_exported_is_said_on_whatever_page(qtbot: QtBot, demo_copy: Path, tmp_path: Path) -> None:
    with whole_window(qtbot, demo_copy.parent, run=1) as main:
        main.frame.show_page(PageName.DATASET)
        with qtbot.waitSignal(main.workspace.notice):
            main.results.export(Form.LABELS, tmp_path / "labels.tsv")
        assert "it answers all 30 items completely" in main.notices.text


def test_who_labels_and_how_and_weights_are_kept_when_the_layout_is_forgotten(main: MainContent) -> None:
    space, weights = main.workspace, RunWeights(main.frame.state)
    weights.save("mine", WeightsChoice({"safety": 2.0}, 0.5))
    space.set_author("Ada")
    main.review.reviewer.switch_blind(True)
    main._forget()
    assert (space.knows_author, space.author, space.state.text(BLIND)) == (True, "Ada", "on")
    assert set(weights.saved) == {"mine"}


@pytest.mark.slow
def test_review_and_dataset_open_what_a_model_sees(qtbot: QtBot, demo_copy: Path, demo_gold: Path) -> None:
    """Of a run as it asked, of a dataset as the Judge page is set; blind, the answer stays hidden."""

    def dialog() -> PromptDialog:
        made = main.frame.findChildren(PromptDialog)[-1]
        qtbot.waitUntil(lambda: made.pane.prompt is not None)
        return made

    with whole_window(qtbot, demo_copy.parent, demo_gold, run=1) as main:
        review, item = main.review, dataset_of(main.workspace)[1]
        main.dataset.prompt_wanted.emit(item)
        assert dialog().title.text().endswith("demo-judge, as the Judge page is set")
        dialog().reject()
        review.reviewer.switch_blind(True)
        review.prompt_wanted.emit(item, "safety")
        qtbot.waitUntil(lambda: len(main.frame.findChildren(PromptDialog)) == 1)
        of_run = dialog()
        assert " as in run 1 for " in of_run.title.text()
        assert of_run.key.criterion == "safety"
        assert not of_run.ask.isEnabled()
        review.reviewer.switch_blind(False)
        of_run._show_answer()
        assert of_run.ask.isEnabled()
        of_run.reject()


def test_theme_and_size_of_text_change_and_are_remembered(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    font = qapp.font()
    frame = MainWindow(State(tmp_path))
    qtbot.addWidget(frame)
    frame.show()
    before = frame.fontMetrics().height()
    frame.set_theme(ThemeChoice.DARK)
    frame.set_text_size(200)
    assert is_dark(frame.palette())
    assert frame.fontMetrics().height() > 1.6 * before
    frame.close()
    qapp.setFont(font)  # a program finds the system's when it starts
    again = MainWindow(State(tmp_path))
    qtbot.addWidget(again)
    again.show()
    assert is_dark(again.palette())
    again.set_theme(ThemeChoice.LIGHT)
    again.set_text_size(100)
    assert not is_dark(again.palette())
    qapp.setFont(font)


CRITERIA = (1, 2, 5, 12)


@pytest.mark.slow
def test_runs_of_other_criteria_follow_on_all_pages(qtbot: QtBot, main: MainContent, tmp_path: Path) -> None:
    """A fault of the order of events would end the process: so many orders, drawn anew from one seed."""
    for count in CRITERIA:
        names = [f"criterion_{place + 1}" for place in range(count)]
        gold = dataset({name: [A, B, GOOD, BAD] for name in names})
        stored_run(tmp_path, gold, {name: [SURE_A] * len(gold) for name in names}, key=f"run of {count}")
    draw, wanted, space = random.Random(28), 0, main.workspace

    def is_shown() -> bool:
        buttons = main.review.desk.strip.buttons
        looked_at = main.frame.page is PageName.REVIEW
        shown = not looked_at or len(buttons) == CRITERIA[wanted - 1]
        return space.run is not None and space.run.id == wanted and shown

    for _ in range(60):
        wanted = draw.choice([run for run in (1, 2, 3, 4) if run != wanted])
        space.open_run(wanted)
        if draw.random() < 0.5:
            main.frame.show_page(draw.choice(list(PageName)))
        qtbot.waitUntil(is_shown)
