"""Systems decided together on Compare: by labels or without, cancelled, refused, opened."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.analysis.review_order import by_item, review_rows
from engine.annotations.records import ListOrder
from engine.store.run_store import RunStore
from gui.compare.compare_jobs import CompareRequest
from gui.compare.compare_page import ComparePage, JuryDialog
from gui.workspace.workspace import Workspace
from tests.gui.compare.steps import choose


def dialog_of(qtbot: QtBot, page: ComparePage) -> JuryDialog:
    QTest.mouseClick(page.choosing.panel_button, Qt.MouseButton.LeftButton)
    dialog = page.findChildren(JuryDialog)[-1]
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def decide(qtbot: QtBot, dialog: JuryDialog) -> None:
    QTest.mouseClick(dialog.act_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not dialog.task.busy, timeout=60_000)


def test_two_systems_become_a_panel_that_is_listed_ticked_and_opened(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    assert not page.choosing.panel_button.isEnabled()
    choose(qtbot, page, demo_gold, worse)
    qtbot.waitUntil(page.choosing.panel_button.isEnabled)
    dialog = dialog_of(qtbot, page)
    assert dialog.by_labels.isChecked()
    assert "gold.tsv" in dialog.by_labels.text()
    dialog.by_mean.setChecked(True)
    assert not dialog.lengths.isEnabled()
    dialog.called.setText("night")
    decide(qtbot, dialog)
    assert dialog.kept is not None
    assert dialog.kept.title == f"Jury {dialog.kept.run_id} “night”"
    try:
        qtbot.waitUntil(lambda: dialog.kept is not None and dialog.kept.run_id in page.choosing.systems.runs)
        with qtbot.waitSignal(space.run_changed):
            QTest.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
        assert space.run is not None
        results = space.run.results
        assert results.run.judges == ("run 1", "worse.tsv")
        first = by_item(review_rows(results), ListOrder.JUDGES)[0]
        assert first.judges > 0
    finally:
        with RunStore(space.store_path) as store:
            store.delete([dialog.kept.run_id])


@pytest.mark.slow
def test_labels_decide_and_say_what_each_judge_adds(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    choose(qtbot, page, demo_gold, worse)
    qtbot.waitUntil(page.choosing.panel_button.isEnabled)
    dialog = dialog_of(qtbot, page)
    decide(qtbot, dialog)
    assert dialog.kept is not None
    sections = [section.key for section in dialog.kept.sheet.sections]
    assert "sources" in sections
    assert "quality" in sections
    with RunStore(space.store_path) as store:
        assert store.run(dialog.kept.run_id).calibration
        store.delete([dialog.kept.run_id])
    dialog.close()


def test_a_refusal_is_in_the_words_of_the_window(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    request = CompareRequest((), (worse, worse.with_name("submission.tsv")))
    request.files[1].write_bytes(worse.read_bytes().replace(b"\tA\t", b"\tB\t"))
    dialog = JuryDialog(space, request, None, page)
    dialog.show()
    decide(qtbot, dialog)
    assert "there is no run among these" in dialog.notice.text
    assert "On the Compare page, also tick a run of the same items" in dialog.notice.text
    assert "--" not in dialog.notice.text
    dialog.close()


def test_a_name_that_is_none_is_refused_and_nothing_is_kept(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    choose(qtbot, page, demo_gold, worse)
    qtbot.waitUntil(page.choosing.panel_button.isEnabled)
    dialog = dialog_of(qtbot, page)
    dialog.called.setText("x" * 300)
    decide(qtbot, dialog)
    assert "300 characters" in dialog.notice.text
    with RunStore(space.store_path) as store:
        assert len(store.runs()) == 1
    dialog.close()
