"""What a person does on the pages Compare and Ranking, and what they show then; comparisons of the demo."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractItemModel, Qt
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_override
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import Origin
from engine.data.dataset import Dataset, load_dataset
from engine.data.label_origins import in_drawn_order
from engine.metrics.matching import System
from engine.settings.identity import RANDOM_ORDER
from engine.settings.sampling import DEFAULT_SEED
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset
from gui.compare.compare_page import ComparePage
from gui.compare.ranking_page import RankingPage
from gui.widgets.views import TableModel
from gui.workspace.workspace import Workspace
from tests.gui import steps
from tests.gui.steps import press
from tests.judged import stored_run

Save = Callable[[str, bytes], Path]


def listed(qtbot: QtBot, space: Workspace) -> ComparePage:
    page = steps.shown(qtbot, ComparePage(space))
    with qtbot.waitSignal(space.runs_changed):
        page.entered()
    return page


def choose_labels(qtbot: QtBot, page: ComparePage, gold: Path) -> None:
    with qtbot.waitSignal(page.choosing.gold_changed):
        page.choosing.choose_gold(gold)


def choose(qtbot: QtBot, page: ComparePage, gold: Path, *files: Path) -> None:
    """Tick the run with the keyboard, add files, and open the labels."""
    view = page.choosing.systems.view
    view.setCurrentRow(0)
    press(view, Qt.Key.Key_Space)
    page.choosing.add_files(files)
    choose_labels(qtbot, page, gold)


def compare(qtbot: QtBot, page: ComparePage) -> str:
    """Press Ctrl+Return and wait for the end; what the page says went wrong."""
    press(page.choosing.systems.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: not page._comparing.busy)
    return page.notice.text if page.notice.isVisible() else ""


def differences(qtbot: QtBot, page: ComparePage) -> list[list[str]]:
    found = page.view.differences
    qtbot.waitUntil(lambda: not (found._filtering.busy or found._typing.isActive()))
    return rows_of(found.table)


def rows_of(table: QAbstractItemModel) -> list[list[str]]:
    columns = range(table.columnCount())
    return [[table.index(row, column).data() for column in columns] for row in range(table.rowCount())]


def cells(table: TableModel) -> list[list[str]]:
    return [table.table.titles, *table.table.texts()]


CANDIDATES = ("great", "fair", "poor")
OVERALL = "overall_quality"
CRITERIA = ("relevance", OVERALL)


def comparisons_file(path: Path, rows: int = 90, *, named: bool = True, labelled: bool = True) -> Path:
    """Items of the demo as JSON lines. The better one of each pair, by the human label that is overall, was
    mostly written by `great`, the other by `fair` or `poor`.

    `named`: whether the file says so. `labelled`: whether it has human labels.
    """
    lines = []
    for place, item in zip(range(rows), load_dataset(demo_dataset()), strict=False):
        record = {"id": item.id, "instruction": item.instruction}
        record |= {"output_a": item.output_a, "output_b": item.output_b}
        if labelled:
            record |= {f"{name}_preference": str(item.gold[name].label) for name in CRITERIA}
        if named:
            pair = (CANDIDATES[0], CANDIDATES[1 + place % 2])
            is_b = (item.gold[OVERALL].label is Preference.B) is not (place % 9 == 1)
            record |= dict(zip(("candidate_a", "candidate_b"), pair[::-1] if is_b else pair, strict=True))
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def run_of(
    folder: Path,
    path: Path,
    key: str = "key",
    until: Mapping[str, Any] | None = None,
    mass: float = 1.0,
) -> System:
    """A run in the store of a folder: it says as people do on what is overall, the opposite on relevance.

    `until`: what stands in its manifest where it stopped before the last item; None: it did not.
    `mass`: the probability that it answers in the form asked for, 0 to 1.
    """
    whole = load_dataset(path)
    dataset = whole if until is None else whole.head(len(whole) - 1)
    other = {Preference.A: Preference.B, Preference.B: Preference.A}
    said = [Preference(str(label)) for label in _labels(dataset)]
    columns = {
        "relevance": [_sure(other.get(label, label), mass) for label in said],
        OVERALL: [_sure(label, mass) for label in said],
    }
    facts: dict[str, Any] = {"items": len(whole), "dataset_hash": whole.hash, "dataset_path": path}
    if until is not None:
        facts["manifest"] = {RANDOM_ORDER: until}
    return stored_run(folder, dataset, columns, key=key, **facts)


def _labels(dataset: Dataset) -> list[str]:
    named = {item.id: item for item in load_dataset(demo_dataset())}
    return [str(named[item.id].gold[OVERALL].label) for item in dataset]


def _sure(label: Preference, mass: float) -> tuple[float, float, float, float]:
    a, b, good, bad = (mass * (0.94 if each is label else 0.02) for each in PREFERENCES)
    return a, b, good, bad


def open_run(qtbot: QtBot, page: RankingPage, run: int) -> None:
    steps.open_run(qtbot, page.workspace, run)
    ranked(qtbot, page)


def open_dataset(qtbot: QtBot, page: RankingPage, path: Path) -> None:
    """Open a dataset, and wait until all that follows has come to rest."""
    steps.open_dataset(qtbot, page.workspace, path)
    at_rest(qtbot, page)


def at_rest(qtbot: QtBot, page: RankingPage) -> None:
    """Wait until nothing is ranked or drawn, and nothing is about to be."""
    picture = page.picture
    timers, tasks = (page._later, picture._soon), (page._ranking, picture._drawing)
    qtbot.waitUntil(
        lambda: (
            not page._stale
            and not any(timer.isActive() for timer in timers)
            and not any(task.busy for task in tasks)
        )
    )


def ranked(qtbot: QtBot, page: RankingPage) -> None:
    at_rest(qtbot, page)
    assert page.ranked is not None, page._why.text()


def label(qtbot: QtBot, page: RankingPage, system: System, count: int, origin: Origin) -> None:
    """Let a person label the first items of the random sample of run 1, each third as A whatever it is."""
    judged = {each.item_id: system.results.label(each) for each in system.results.judgments[OVERALL]}
    with RunStore(page.workspace.store_path) as store:
        for place, item_id in enumerate(in_drawn_order(judged, DEFAULT_SEED)[:count]):
            said = Preference.A if place % 3 == 0 else judged[item_id]
            store.annotate(1, new_override(item_id, OVERALL, said, None, "Ada", origin=origin, blind=True))
    with qtbot.waitSignal(page.workspace.run_changed):
        page.workspace.read_run_again()
    ranked(qtbot, page)


def table_of(page: RankingPage, key: str) -> TableModel:
    return page.sheet.section(key).tables[0]


def order(page: RankingPage) -> list[str]:
    """The candidates as they stand in the table."""
    return [row[0] for row in rows_of(table_of(page, "candidates"))]
