"""“New from outputs…”: files of several candidates become the open dataset, with real files and threads."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from gui.dataset import dataset_page
from gui.dataset.dataset_page import DatasetPage, OutputsDialog
from tests.gui.steps import dataset_of

ASKED = ("Why is the sky blue?", "Name a prime number.", "What is 2+2?")


def saved(folder: Path, name: str, *asked: str, **columns: str) -> Path:
    """The outputs of a candidate; `columns`: other names of theirs."""
    ours = {"instruction": "instruction", "output": "output", **columns}
    rows = [{ours["instruction"]: one, ours["output"]: f"{name} says: {one}"} for one in asked]
    path = folder / f"{name}.json"
    path.write_text(json.dumps(rows), "utf-8")
    return path


def opened(page: DatasetPage) -> OutputsDialog:
    """The dialog, once it need not ask for files any more."""
    page.make_pairs()
    asking = page.outputs_dialog.findChild(QFileDialog)
    asking.reject()
    page.outputs_dialog.activateWindow()
    return page.outputs_dialog


def shown(qtbot: QtBot, dialog: OutputsDialog, *paths: Path) -> OutputsDialog:
    dialog.add(paths)
    qtbot.waitUntil(lambda: dialog.found is not None)
    return dialog


def saved_as(qtbot: QtBot, page: DatasetPage, path: Path, patch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the dataset that is open once the dialog has saved it."""
    patch.setattr(dataset_page, "ask_target", lambda *_: path)
    with qtbot.waitSignal(page.workspace.dataset_changed):
        QTest.mouseClick(page.outputs_dialog.save, Qt.MouseButton.LeftButton)
    assert dataset_of(page.workspace).names_candidates
    return dataset_of(page.workspace).ids


def test_files_become_the_open_dataset(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = shown(qtbot, opened(page), *(saved(tmp_path, name, *ASKED) for name in "xyz"))
    section = dialog.sheet.section("candidates")
    assert section.tables[0].rowCount() == 3
    assert dialog.status.text() == "9 pairs, on 3 instructions that every candidate answered."
    assert len(saved_as(qtbot, page, tmp_path / "pairs.tsv", monkeypatch)) == 9


def test_each_meets_a_baseline_or_a_part_is_drawn(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = shown(qtbot, opened(page), *(saved(tmp_path, name, *ASKED) for name in "xyz"))
    dialog.with_baseline.setChecked(True)
    dialog.baseline.setCurrentIndex(1)
    assert dialog.status.text().startswith("6 pairs, on")
    dialog.part.setChecked(True)
    dialog.count.setValue(4)
    said = "4 pairs of 6, each candidate but the baseline and each instruction equally often or once more, on"
    assert dialog.status.text().startswith(said)
    ids = saved_as(qtbot, page, tmp_path / "pairs.json", monkeypatch)
    assert len(ids) == 4
    assert all("~y" in item_id for item_id in ids)


def test_what_does_not_match_is_named(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    files = [saved(tmp_path, "x", *ASKED), saved(tmp_path, "y", *ASKED[:2])]
    dialog = shown(qtbot, opened(page), *files)
    assert dialog.sheet.section("left_out") is not None


def test_a_file_with_other_columns_is_read_once_they_are_written(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    files = [saved(tmp_path, name, *ASKED, instruction="frage", output="sagt") for name in "xy"]
    dialog = opened(page)
    dialog.add(files)
    qtbot.waitUntil(lambda: "no column looks like the responses" in dialog.status.text())
    assert "x.json" in dialog.status.text()
    assert "“Columns”: output=…" in dialog.status.text()
    assert not dialog.save.isEnabled()
    dialog.columns.setFocus()
    QTest.keyClicks(dialog.columns, "instruction=frage,output=sagt")
    QTest.keyClick(dialog.columns, Qt.Key.Key_Return)  # which saves nothing yet
    qtbot.waitUntil(lambda: dialog.found is not None)
    assert dialog.save.isEnabled()


def test_a_file_is_taken_away_by_the_keyboard(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    dialog = shown(qtbot, opened(page), *(saved(tmp_path, name, *ASKED) for name in "xyz"))
    dialog.files.setFocus()
    dialog.files.setCurrentRow(0)
    QTest.keyClick(dialog.files, Qt.Key.Key_Delete)
    assert [path.name for path in dialog.paths] == ["y.json", "z.json"]
    qtbot.waitUntil(lambda: dialog.found is not None)
    assert dialog.found.matched.candidates == ("y", "z")


def test_an_input_is_never_overwritten(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [saved(tmp_path, name, *ASKED) for name in "xy"]
    dialog = shown(qtbot, opened(page), *files)
    before = files[0].read_bytes()
    monkeypatch.setattr(dataset_page, "ask_target", lambda *_: files[0])
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "would be overwritten" in dialog.status.text())
    assert files[0].read_bytes() == before
    assert dialog.save.isEnabled()
