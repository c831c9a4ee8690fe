"""The window's list of model files, for files as they are published."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.settings.rows import KvType
from gui.models import model_jobs
from gui.models.model_jobs import Candidate, ModelRequest
from gui.models.model_table import (
    FOLDER,
    FORMAT,
    MEMORY,
    MODEL,
    SIZE,
    ModelOrder,
    ModelTableModel,
    UnusableModels,
    about,
    in_short,
)
from gui.widgets.label_mark import PILL_ROLE
from gui.widgets.labels import shown_text
from tests.gui.jobs import done
from tests.model_files import JUDGES, OTHERS, Listed, PublishedFile

pytestmark = pytest.mark.usefixtures("qtbot")


def listed_in(folder: Path) -> ModelTableModel:
    """The list of a folder, without the demo model."""
    received: list[object] = []
    done(model_jobs.find([], [folder], ModelRequest(None, KvType.F16)), received)
    table = ModelTableModel()
    for event in received:
        if isinstance(event, Candidate) and not event.is_demo:
            table.put(event)
    return table


def cells(table: ModelTableModel, *columns: int) -> list[str]:
    assert table.rowCount() == 1
    return [table.index(0, column).data() for column in columns]


@pytest.mark.parametrize(("file", "expected"), JUDGES, ids=[file.path for file, _ in JUDGES])
def test_a_judge_is_one_row_under_the_name_of_its_file(
    tmp_path: Path, file: PublishedFile, expected: Listed
) -> None:
    file.write(tmp_path)
    table = listed_in(tmp_path)
    assert cells(table, MODEL, FORMAT) == [expected.name, expected.quantisation]
    assert cells(table, MEMORY) == ["fits"]
    assert cells(table, FOLDER) == [str((tmp_path / file.path).parent)]
    assert f"trained with {expected.context} tokens of context" in about(table.candidate(0))
    *_, most_important = (expected.name, *expected.remarks)
    assert most_important in in_short(table.candidate(0))
    told = about(table.candidate(0)).casefold()
    for remark in expected.remarks:
        assert remark.casefold() in told


@pytest.mark.parametrize(("file", "name", "why"), OTHERS, ids=[file.path for file, *_ in OTHERS])
def test_what_cannot_judge_is_a_row_that_says_why(
    tmp_path: Path, file: PublishedFile, name: str, why: str
) -> None:
    file.write(tmp_path)
    table = listed_in(tmp_path)
    assert cells(table, MODEL, MEMORY, FORMAT, SIZE) == [name, "not usable", "", ""]
    assert table.index(0, MEMORY).data(PILL_ROLE) == ("not usable", "plain")
    assert why in about(table.candidate(0))
    assert why.rsplit("'", maxsplit=1)[-1] in table.index(0, MODEL).data(Qt.ItemDataRole.ToolTipRole)
    assert ModelOrder(table).rowCount() == 0


def test_what_cannot_judge_is_folded_away_with_each_reason_once(qtbot: QtBot, tmp_path: Path) -> None:
    for name in ("one.gguf", "b/two.gguf", "c/" + "long" * 60 + ".gguf"):
        PublishedFile(name, "nomic-bert", {".pooling_type": 1, ".attention.causal": False}).write(tmp_path)
    PublishedFile("vocabulary.gguf", types=[]).write(tmp_path)
    PublishedFile("fine.gguf").write(tmp_path)
    fold = UnusableModels()
    qtbot.addWidget(fold)
    fold.show_candidates(listed_in(tmp_path).candidates)
    assert fold.title == "4 files that cannot be used"
    assert not fold.open
    fold.set_open(True)
    qtbot.waitUntil(lambda: "a vocabulary only" in shown_text(fold))
    said = shown_text(fold)
    assert said.count("is an encoder, which cannot generate text") == 1
    assert said.count("a vocabulary only") == 1
    assert f"one ({tmp_path})\ntwo ({tmp_path / 'b'})\nlonglong" in said
    assert "fine" not in said
    assert fold.minimumSizeHint().width() < 400
    fold.show_candidates([])
    assert fold.isHidden()
