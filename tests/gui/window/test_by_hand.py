"""A dataset is labelled by hand in the whole window: by keys, blind; then a judge is measured by that."""

import shutil
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import JudgmentKey
from engine.results.run_results import load_reviews
from engine.store.run_store import RunStore
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from tests.gui.steps import is_open, pick, whole_window

_CTRL, _SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def _press(key: Any, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    focused = QApplication.focusWidget()
    QTest.keyClick(focused, key, modifier)


def _begin(qtbot: QtBot, main: MainContent, run: int) -> None:
    """Let Ada label the open dataset by hand."""
    space = main.workspace
    space.label_by_hand()
    items = len(space.dataset)
    qtbot.waitUntil(lambda: is_open(space, run) and main.review.list.shown == items)


def _stored(qtbot: QtBot, main: MainContent) -> dict[JudgmentKey, str]:
    """Ada's labels in the open run, once all of them are stored."""
    space = main.workspace
    qtbot.waitUntil(lambda: space.words.count == 0 and not space.words._waiting)
    with RunStore(space.store_path) as store:
        return {key: str(label) for key, label in load_reviews(store, space.run.id).labels["Ada"].items()}


def test_sixty_items_are_labelled_blind_on_one_criterion_by_120_keys(qtbot: QtBot, tmp_path: Path) -> None:
    with whole_window(qtbot, tmp_path, author="Ada") as main:
        review = main.review
        main.frame.show_page(PageName.REVIEW)
        review.nothing.by_hand.click()
        qtbot.waitUntil(lambda: is_open(main.workspace, 1) and review.list.shown == 240)
        assert QApplication.focusWidget() is review.list.view  # not the search, which would take the letters
        review.reviewer.blind_button.click()
        pick(review.list.filters.criterion, "safety")
        review.list.take_focus()
        for number in range(60):
            _press("ABGX"[number % 4])
            _press(Qt.Key.Key_Return)
        given = _stored(qtbot, main)
        labels = {JudgmentKey(str(n + 1), "safety"): str(PREFERENCES[n % 4]) for n in range(60)}
        assert given == labels
        assert review.list.filters.criterion.currentText() == "Safety: 60 of 240"
        main.frame.show_page(PageName.RESULTS)
        sheet = main.results.measurer
        qtbot.waitUntil(lambda: sheet.scores is not None and not sheet.busy)
        assert "60 of the 240 items of demo.tsv are labelled by hand, by Ada." in str(sheet.scores.sheet)
        assert [main.results.tabs.isTabVisible(place) for place in range(6)] == [True] + [False] * 5


def test_undo_and_redo_find_the_last_annotation_from_any_page(qtbot: QtBot, tmp_path: Path) -> None:
    with whole_window(qtbot, tmp_path, author="Ada") as main:
        main.frame.show_page(PageName.REVIEW)
        _begin(qtbot, main, 1)
        review, space = main.review, main.workspace
        review.list.take_focus()
        for key in "AJ2BJJ":
            _press(key)
        assert len(_stored(qtbot, main)) == 2
        review.reading.a.view.setFocus()
        with qtbot.waitSignal(space.reviewed):
            _press("Z", _CTRL)
        assert review.session.key == JudgmentKey("2", "naturalness")
        main.frame.show_page(PageName.DATASET)
        with qtbot.waitSignal(space.reviewed):
            main.menus._entries["undo_last"].trigger()
        assert (main.frame.page, review.session.key) == (PageName.REVIEW, JudgmentKey("1", "relevance"))
        with RunStore(space.store_path) as store:
            assert load_reviews(store, 1).labels == {}
        for _ in range(2):
            with qtbot.waitSignal(space.reviewed):
                _press("Z", _CTRL | _SHIFT)
        labels = {JudgmentKey("1", "relevance"): "A", JudgmentKey("2", "naturalness"): "B"}
        assert _stored(qtbot, main) == labels


def test_a_judge_is_measured_by_them_in_one_click(qtbot: QtBot, tmp_path: Path, demo_store: Path) -> None:
    shutil.copy(demo_store, tmp_path / "runs.sqlite")
    with RunStore(demo_store) as store:
        judged = store.run(1).identity.dataset_path
    with whole_window(qtbot, tmp_path, judged, author="Ada") as main:
        _begin(qtbot, main, 2)
        for key in "AJBJG":
            _press(key)
        _stored(qtbot, main)
        space, picker = main.workspace, main.results.gold
        space.open_run(1)
        qtbot.waitUntil(lambda: is_open(space, 1) and space.labelled_by_hand is not None)
        with qtbot.waitSignal(space.gold_changed):
            picker.by_hand.click()
        assert "Labels by hand 2" in picker.status.text()
        assert {item.id: str(item.gold["relevance"].label) for item in space.gold if item.gold} == {
            **{"1": "A", "2": "B", "3": "both_good"}
        }
        assert space.labelled_by_hand is None
        # Labels that are given later count, too, also of a run whose name is none of a file.
        space.call_run(2, "round 1/2")
        space.open_run(2)
        qtbot.waitUntil(lambda: is_open(space, 2))
        space.override(JudgmentKey("4", "relevance"), Preference.B, None)
        _stored(qtbot, main)
        space.open_run(1)
        qtbot.waitUntil(lambda: {item.id for item in space.gold if item.gold} == {*"1234"})
