"""A file whose column of verdicts is not known is asked about, and then compared as a judge."""

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.core.column_map import JudgeColumn, JudgeFile
from engine.data.dataset import load_dataset
from gui.compare.choice_panel import JudgeColumnDialog
from gui.compare.compare_page import ComparePage
from gui.workspace.workspace import Workspace
from tests.gui.compare.steps import choose


def asked() -> JudgeColumnDialog | None:
    return next(
        (each for each in QApplication.topLevelWidgets() if isinstance(each, JudgeColumnDialog)), None
    )


def is_ticked(page: ComparePage, file: JudgeFile) -> bool:
    return file in page.choosing.choice.files


def test_two_columns_of_a_table_are_added_as_two_judges(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, tmp_path: Path
) -> None:
    choose(qtbot, page, demo_gold)
    path = tmp_path / "judges.csv"
    ids = load_dataset(demo_gold).ids
    rows = (f"{item_id},{'AB'[at % 2]},{at % 3}\n" for at, item_id in enumerate(ids))
    path.write_text(f"id,gpt_verdict,claude_verdict\n{''.join(rows)}", encoding="utf-8")
    for name, meant in (("gpt_verdict", {}), ("claude_verdict", {"0": "tie", "1": "A", "2": "B"})):
        page.choosing.add_files([path])
        qtbot.waitUntil(lambda: asked() is not None)
        dialog = asked()
        assert [dialog.choice.itemText(at) for at in range(dialog.choice.count())] == [
            "gpt_verdict",
            "claude_verdict",
        ]
        dialog.choice.setCurrentText(name)
        for value, label in meant.items():
            assert not dialog.ok_button.isEnabled()
            field = dialog.meanings[value]
            field.setCurrentIndex(field.findData(label))
        dialog.ok_button.click()
        qtbot.waitUntil(lambda: asked() is None)
        qtbot.waitUntil(partial(is_ticked, page, JudgeFile(path, JudgeColumn(name, tuple(meant.items())))))
    page.compare()
    qtbot.waitUntil(lambda: page.compared is not None)
    names = [evaluation.name for evaluation in page.compared.evaluations]
    assert names[-2:] == ["gpt_verdict of judges.csv", "claude_verdict of judges.csv"]
    again = ComparePage(space)
    qtbot.addWidget(again)
    assert again.choosing.systems.all_files == page.choosing.systems.all_files
