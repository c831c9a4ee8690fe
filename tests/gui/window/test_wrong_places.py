"""A file that is opened in the wrong place: the window says what it is and opens it in the right one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from engine.core.judgments import CriterionCalibration
from engine.core.rubric import ELOQUENT
from engine.data.rubrics.files import rubric_text
from engine.results.calibration import Calibration, judge_of_run, save_calibration
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import PageName, State

NEUTRAL = CriterionCalibration(1, (0, 0, 0, 0), None, 1)


@pytest.fixture
def main_content(qtbot: QtBot, tmp_path: Path, demo_store: Path, demo_gold: Path) -> Iterator[MainContent]:
    """A window with the demo run of `demo_gold`."""
    store = Path(shutil.copy(demo_store, tmp_path / "runs.sqlite"))
    frame = MainWindow(State(tmp_path / "state"))
    qtbot.addWidget(frame)
    frame.resize(1280, 720)
    frame.show()
    made = MainContent(frame, store)
    made.begin(demo_gold)
    qtbot.waitUntil(lambda: made.workspace.dataset is not None)
    yield made
    assert made.end()


@pytest.fixture
def submission(demo_store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(demo_store.with_name("submission.tsv"), tmp_path / "baseline.tsv"))


def step(qtbot: QtBot, main_content: MainContent, problem: str, words: str) -> None:
    """Wait until a notice says a problem, and press its button."""
    qtbot.waitUntil(lambda: problem in main_content.notices.text)
    main_content.notices.take_keys()
    buttons = main_content.notices.findChildren(QPushButton)
    next(each for each in buttons if each.text().replace("&", "") == words).click()


def test_a_submission_that_is_opened_as_dataset_is_opened_as_one_by_a_button(
    qtbot: QtBot, main_content: MainContent, submission: Path
) -> None:
    main_content.datasets.open(submission)
    step(qtbot, main_content, "baseline.tsv: is a submission, not a dataset of pairs.", "Open as submission")
    qtbot.waitUntil(lambda: main_content.frame.page is PageName.REVIEW)
    run = main_content.workspace.run
    assert run is not None
    assert run.results.run.title == "Submission baseline.tsv"
    assert main_content.dataset.notice.isHidden()
    assert "not a dataset" not in main_content.notices.text
    assert main_content.workspace.dataset is not None


def test_a_dataset_that_is_opened_as_submission_is_opened_by_a_button(
    qtbot: QtBot, main_content: MainContent, demo_gold: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copy(demo_gold, tmp_path / "other.tsv"))
    main_content.frame.show_page(PageName.RESULTS)
    main_content.submissions.open(other)
    step(qtbot, main_content, "other.tsv: is a dataset of pairs, not a submission.", "Open as dataset")
    qtbot.waitUntil(lambda: main_content.workspace.dataset.path == other)  # type: ignore[union-attr]
    assert main_content.frame.page is PageName.DATASET


@pytest.mark.slow
def test_a_submission_chosen_as_labels_is_opened_by_a_button(
    qtbot: QtBot, main_content: MainContent, submission: Path
) -> None:
    main_content.workspace.open_run(1)
    qtbot.waitUntil(lambda: main_content.workspace.run is not None)
    main_content.results.gold.open(submission)
    step(qtbot, main_content, "is a submission, not a dataset", "Open as submission")
    qtbot.waitUntil(lambda: main_content.frame.page is PageName.REVIEW)


def test_a_dataset_that_is_added_to_compare_is_opened_by_a_button(
    qtbot: QtBot, main_content: MainContent, submission: Path, demo_gold: Path, tmp_path: Path
) -> None:
    other = Path(shutil.copy(demo_gold, tmp_path / "other.tsv"))
    main_content.frame.show_page(PageName.COMPARE)
    main_content.compare.choosing.add_files([submission, other])
    step(qtbot, main_content, "other.tsv: is a dataset of pairs, not a submission.", "Open as dataset")
    qtbot.waitUntil(lambda: main_content.workspace.dataset.path == other)  # type: ignore[union-attr]
    assert main_content.compare.choosing.systems.all_files == (submission,)
    assert main_content.compare.notice.isHidden()


def calibration(main_content: MainContent, path: Path) -> None:
    with RunStore(main_content.workspace.store_path) as store:
        judge = judge_of_run(store.run(1).identity)
    save_calibration(path, Calibration(judge, "gold.tsv", "", dict.fromkeys(ELOQUENT.names, NEUTRAL), {}))


def rubric(_main_content: MainContent, path: Path) -> None:
    path.write_text(rubric_text(ELOQUENT).replace("eloquent", "mine").replace("ELOQUENT", "mine"), "utf-8")


def model(_main_content: MainContent, path: Path) -> None:
    shutil.copy(demo_model(), path)


Made = Callable[[MainContent, Path], None]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "make", "there"),
    [
        ("c.json", calibration, lambda window: window.results.tabs.currentIndex() == 3),
        ("own.toml", rubric, lambda window: window.workspace.rubric.path is not None),
        ("sha256-12", model, lambda window: window.judge.picker.path.name == "sha256-12"),
    ],
)
def test_what_is_dropped_is_opened_where_it_belongs(
    qtbot: QtBot,
    main_content: MainContent,
    tmp_path: Path,
    name: str,
    make: Made,
    there: Callable[[MainContent], bool],
) -> None:
    main_content.workspace.open_run(1)
    qtbot.waitUntil(lambda: main_content.workspace.run is not None)
    make(main_content, tmp_path / name)
    main_content.frame.files_dropped.emit([tmp_path / name])
    qtbot.waitUntil(lambda: there(main_content))
    assert main_content.frame.page is (PageName.RESULTS if make is calibration else PageName.JUDGE)


def test_what_the_window_does_not_open_is_named(qtbot: QtBot, main_content: MainContent) -> None:
    main_content.frame.files_dropped.emit([main_content.workspace.store_path])
    qtbot.waitUntil(lambda: "runs.sqlite: is a run store, not" in main_content.notices.text)
    assert "TIEBREAK_HOME" in main_content.notices.text


def test_a_calibration_without_a_run_says_what_is_missing(
    qtbot: QtBot, main_content: MainContent, tmp_path: Path
) -> None:
    calibration(main_content, tmp_path / "c.json")
    main_content.workspace.run = None
    main_content.frame.files_dropped.emit([tmp_path / "c.json"])
    qtbot.waitUntil(lambda: "no run is open for this calibration" in main_content.notices.text)
