"""From files of outputs to a ranking in one window, as somebody does it who has just begun."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QFileDialog
from pytestqt.qtbot import QtBot

from engine.data.dataset import load_dataset
from engine.system.paths import demo_dataset
from gui.dataset import dataset_page
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from tests.gui.steps import offered

INSTRUCTIONS = 5
MOST_CLICKS = 10


@pytest.fixture
def outputs(tmp_path: Path) -> list[Path]:
    """A file of outputs for each candidate of the demo."""
    written: dict[str, dict[str, str]] = {}
    dataset = load_dataset(demo_dataset().with_name("demo-candidates.tsv"))
    names = [dataset.texts(f"candidate_{side}").to_pylist() for side in "ab"]
    for item, *wrote in zip(dataset, *names, strict=True):
        for name, text in zip(wrote, (item.output_a, item.output_b), strict=True):
            written.setdefault(name, {})[item.instruction] = text
    asked = sorted(set.intersection(*(set(each) for each in written.values())))[:INSTRUCTIONS]
    paths = []
    for name, said in written.items():
        rows = [{"instruction": one, "output": said[one]} for one in asked]
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(rows), "utf-8")
    return paths


class Mouse:
    def __init__(self) -> None:
        self.clicks = 0

    def press(self, button: QAbstractButton) -> None:
        assert button.isEnabled()
        assert button.isVisible()
        self.clicks += 1
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def turn_to(self, main: MainContent, page: PageName) -> None:
        rail = main.frame.rail
        entry = next(rail.item(row) for row in range(rail.count()) if rail.item(row).text() == page.value)
        self.clicks += 1
        QTest.mouseClick(rail.viewport(), Qt.MouseButton.LeftButton, pos=rail.visualItemRect(entry).center())
        assert main.frame.page is page


@pytest.mark.models
@pytest.mark.usefixtures("demo_tried")
def test_files_of_four_candidates_become_a_ranking_in_at_most_ten_clicks(
    qtbot: QtBot,
    main: MainContent,
    outputs: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mouse, workspace = Mouse(), main.workspace
    mouse.turn_to(main, PageName.DATASET)
    mouse.clicks += 2  # the dataset at the head, and New dataset from outputs
    offered(main.head.dataset)["New dataset from outputs…"].trigger()
    dialog = main.dataset.outputs_dialog
    (asking,) = dialog.findChildren(QFileDialog)
    asking.filesSelected.emit([str(path) for path in outputs])
    asking.close()
    mouse.clicks += 2  # all files of the folder, and Open
    qtbot.waitUntil(lambda: dialog.found is not None)
    monkeypatch.setattr(dataset_page, "ask_target", lambda *_: tmp_path / "pairs.tsv")
    with qtbot.waitSignal(workspace.dataset_changed):
        mouse.press(dialog.save)
    mouse.clicks += 1  # Save, under the name that is offered
    mouse.turn_to(main, PageName.JUDGE)
    qtbot.waitUntil(lambda: main.judge.can_run)
    mouse.press(main.judge.run_button)
    control = main.run_control
    qtbot.waitUntil(lambda: control.progress is not None and not control.running)
    mouse.turn_to(main, PageName.RANKING)
    page = main.ranking
    qtbot.waitUntil(lambda: page.ranked is not None)
    assert page.ranked.request.results is not None  # by the run that has just ended
    assert len(page.ranked.ranking.rates.candidates) == len(outputs)
    assert mouse.clicks <= MOST_CLICKS
