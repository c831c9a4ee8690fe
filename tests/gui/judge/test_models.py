"""The list of models on the Judge page, and what is done with them."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from engine.analysis.audit_run import AUDIT_METHODS
from engine.analysis.perturbations import ITEM_ITSELF, PerturbationKind
from engine.core.errors import SetupError
from engine.data.dataset import load_dataset
from engine.settings.rows import KvType
from engine.system.paths import demo_model, models_folder
from gui.judge.judge_page import JudgePage
from gui.models import model_jobs
from gui.models.model_jobs import Candidate, ModelRequest
from gui.models.model_table import (
    FOLDER,
    FORMAT,
    MASS,
    MEMORY,
    MODEL,
    SIZE,
    SPEED,
    ModelOrder,
    ModelTableModel,
    UnusableModels,
    about,
    in_short,
    rate,
)
from gui.widgets.label_mark import PILL_ROLE
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace
from tests.able import longest_name
from tests.conftest import DEMO_ITEMS
from tests.gui.jobs import done
from tests.gui.judge.pages import LABELS, new_page, open_dataset, run_to_the_end, says
from tests.gui.labels import shown_text, text_of
from tests.model_files import JUDGES, OTHERS, Listed, PublishedFile

pytestmark = pytest.mark.usefixtures("qtbot")


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, demo_gold: Path) -> JudgePage:
    """A page with 2 items, the demo model chosen, and a plan on one thread."""
    page = new_page(qtbot, workspace, LABELS)
    open_dataset(qtbot, page, demo_gold, items=2)
    return page


def measured(qtbot: QtBot, page: JudgePage) -> None:
    with qtbot.waitSignal(page.picker.measured):
        page.picker.doing.measure_chosen()


def cell(page: JudgePage, column: int, row: int = 0) -> str:
    return str(page.picker.table.index(row, column).data())


def wait_for_search(qtbot: QtBot, page: JudgePage, rows: int) -> None:
    qtbot.waitUntil(
        lambda: page.picker.table.rowCount() == rows and not page.workspace.threads.busy(ThreadName.SCAN)
    )


@pytest.mark.slow
def test_a_measured_speed_is_shown_and_gives_the_plan_its_time(qtbot: QtBot, page: JudgePage) -> None:
    assert page.picker.view.isColumnHidden(SPEED)
    assert "not known before a run" in text_of(page.plan_panel)
    measured(qtbot, page)
    speed = page.picker.table.candidate(0).speed
    assert cell(page, SPEED) == rate(speed.reading)
    assert not page.picker.view.isColumnHidden(SPEED)
    assert f"Here it reads {rate(speed.reading)} tokens a second" in about(page.picker.table.candidate(0))
    says(qtbot, page.plan_panel, "at the speed of this model file when it was measured here")
    assert page.plan_panel._time.isVisible()  # some items know better
    assert not page.picker.doing.line.isVisible()
    page.settings.show_setup(replace(LABELS, threads=2))
    qtbot.waitUntil(lambda: cell(page, SPEED) == "")  # it is that of the settings
    page.settings.show_setup(LABELS)
    qtbot.waitUntil(lambda: cell(page, SPEED) != "")
    page.picker.scan()
    wait_for_search(qtbot, page, 1)
    assert cell(page, SPEED)  # and found again


@pytest.mark.slow
@pytest.mark.apart
def test_it_is_measured_by_a_process_of_its_own(qtbot: QtBot, page: JudgePage) -> None:
    measured(qtbot, page)
    assert cell(page, SPEED)


def test_the_format_mass_of_the_newest_run_stands_beside(qtbot: QtBot, page: JudgePage) -> None:
    assert page.picker.view.isColumnHidden(MASS)
    run_to_the_end(qtbot, page)
    page.picker.scan()
    qtbot.waitUntil(lambda: cell(page, MASS).endswith(" %"))
    assert not page.picker.view.isColumnHidden(MASS)
    assert "Its newest run, 1, has a mean answer mass of" in about(page.picker.table.candidate(0))


@pytest.mark.slow
def test_all_models_are_measured_though_one_fails(qtbot: QtBot, page: JudgePage) -> None:
    models_folder().mkdir(parents=True)
    gone = models_folder() / "gone.gguf"
    shutil.copy(demo_model(), gone)
    page.picker.scan()
    wait_for_search(qtbot, page, 2)
    page.picker.watch.blockSignals(True)  # it has not seen yet what becomes of the file
    gone.write_bytes(b"GGUF")
    problems: list[SetupError] = []
    page.workspace.problem.connect(problems.append)
    with qtbot.waitSignal(page.picker.measured):
        page.picker.doing.measure_all()
    assert [cell(page, SPEED, row) != "" for row in (0, 1)] == [True, False]
    (problem,) = problems
    assert "gone.gguf" in problem.problem


def test_a_measure_can_be_stopped_and_the_menu_offers_it_again(qtbot: QtBot, page: JudgePage) -> None:
    with qtbot.waitSignal(page.picker.measured):
        page.picker.doing.measure_chosen()
        page.picker.doing.line.cancelled.emit()
    assert cell(page, SPEED) == ""
    assert not page.picker.doing.line.isVisible()
    page.picker.view.customContextMenuRequested.emit(QPoint(5, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    shown = [action.text().replace("&", "") for action in menu.actions() if action.isVisible()]
    audit = "Add a robustness audit of this judge to the queue"
    assert shown == ["Measure the speed of this model", "", audit]
    menu.close()
    assert page.picker.doing.button.menu() is menu


def test_an_audit_is_a_run_of_the_same_judge_with_copies_of_the_items(qtbot: QtBot, page: JudgePage) -> None:
    with qtbot.waitSignal(page.audit_described) as described:
        page.picker.doing.audit_wanted.emit()
    ((setup, lacking),) = described.args
    assert setup.dataset_path.parent == page.workspace.store_path.parent.absolute() / "audits"
    assert (setup.items, setup.methods, setup.threads) == (None, AUDIT_METHODS, 1)
    items = load_dataset(setup.dataset_path)
    kinds = Counter(items.texts("probe").to_pylist())
    assert kinds[ITEM_ITSELF] == DEMO_ITEMS  # fewer than are usual
    left_out = 2 * DEMO_ITEMS - kinds[PerturbationKind.FORMATTING]
    assert left_out > 0
    assert lacking == f"Perturbations that could not be made: {left_out} formatted."


def listed_in(folder: Path) -> ModelTableModel:
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
def test_a_judge_is_a_row_named_as_its_file(tmp_path: Path, file: PublishedFile, expected: Listed) -> None:
    file.write(tmp_path)
    table = listed_in(tmp_path)
    assert cells(table, MODEL, FORMAT) == [expected.name, expected.quantisation]
    assert cells(table, MEMORY) == ["fits"]
    assert cells(table, FOLDER) == [str((tmp_path / file.path).parent)]
    *_, most_important = (expected.name, *expected.remarks)
    assert most_important in in_short(table.candidate(0))
    told = about(table.candidate(0)).casefold()
    for words in (f"trained with {expected.context} tokens of context", *expected.remarks):
        assert words.casefold() in told


@pytest.mark.parametrize(("file", "name", "why"), OTHERS, ids=[file.path for file, *_ in OTHERS])
def test_what_cannot_judge_says_why(tmp_path: Path, file: PublishedFile, name: str, why: str) -> None:
    file.write(tmp_path)
    table = listed_in(tmp_path)
    assert cells(table, MODEL, MEMORY, FORMAT, SIZE) == [name, "not usable", "", ""]
    assert table.index(0, MEMORY).data(PILL_ROLE) == ("not usable", "plain")
    assert why in about(table.candidate(0))
    assert why.rsplit("'", maxsplit=1)[-1] in table.index(0, MODEL).data(Qt.ItemDataRole.ToolTipRole)
    assert ModelOrder(table).rowCount() == 0


def test_what_cannot_judge_is_folded_away_with_each_reason_once(qtbot: QtBot, tmp_path: Path) -> None:
    long = ("long" * 60)[: longest_name(tmp_path) - 10]
    for name in ("one.gguf", "b/two.gguf", f"c/{long}.gguf"):
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
