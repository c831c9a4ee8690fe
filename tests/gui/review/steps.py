"""What a person does on the Review page, and waiting for what comes of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from engine.annotations.records import Annotation, Kind, LabelSourceKind
from engine.calibration.jury import items_of, make_jury
from engine.core.events import CancelToken
from engine.core.items import Prediction
from engine.core.judgments import JudgmentKey
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.metrics.matching import System, open_system
from engine.models.checked_model import CheckedModel
from engine.models.model_file import read_model_file
from engine.results.run_results import submission_of
from engine.settings.rows import JudgeSettings, MachineSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.review.review_page import ReviewPage
from gui.workspace.rewriter import Rewriter

Open = Callable[[], ReviewPage]
A_WHILE = 60_000
HOSTILE = '<b>x</b><img src="a.png"> <|eot_id|> \u202eabc'


def current(page: ReviewPage) -> str:
    item = page.list.current
    assert item is not None
    return item.item_id


def overrides(store: Path) -> Sequence[Annotation]:
    with RunStore(store) as opened:
        return opened.annotations(1, Kind.OVERRIDE)


def wanted_elsewhere(qtbot: QtBot, page: ReviewPage, item_id: str, criterion: str) -> ReviewPage:
    """The page as it is opened another time, because another page wants a judgment of its run shown."""
    page.hide()
    again = ReviewPage(page.workspace, Rewriter(page.workspace))
    qtbot.addWidget(again)
    page.workspace.review_wanted.emit(JudgmentKey(item_id, criterion))
    again.show()
    qtbot.waitUntil(lambda: bool(again.desk.card.badge.text))
    return again


def press(qtbot: QtBot, page: QWidget, keys: str) -> None:
    for key in keys:
        qtbot.keyClick(page, key)


def save(qtbot: QtBot, field: QWidget) -> None:
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def wait_for_override(qtbot: QtBot, page: ReviewPage, act: Callable[[], object]) -> None:
    with qtbot.waitSignal(page.workspace.overrides_changed):
        act()
    # The list hears of it a moment later.
    qtbot.waitUntil(lambda: not page.workspace.threads.busy(page.list._reading._thread_name))


def open_panel(qtbot: QtBot, page: ReviewPage, store_path: Path, exchanged: bool = False) -> int:
    """Keep a panel of run 1 and a submission with the same labels and open it; its number. `exchanged`: of
    labels for the other response.
    """
    run = open_system("1", store_path, LabelSourceKind.JUDGE)
    assert run.results is not None
    made = submission_of(run.results)
    if exchanged:
        rows = tuple(
            replace(
                row,
                predictions={
                    name: Prediction(given.preference and given.preference.swapped)
                    for name, given in row.predictions.items()
                },
            )
            for row in made.rows
        )
        made = replace(made, rows=rows)
    panel = make_jury([run, System("other.tsv", made)], items_of([run], None))
    with RunStore(store_path) as store:
        run_id = panel.keep(store).id
    page.workspace.open_run(run_id)
    qtbot.waitUntil(lambda: page.workspace.run is not None and page.workspace.run.id == run_id)
    qtbot.waitUntil(
        lambda: page._run_id == run_id and page.list.review is not None and page.list.current is not None
    )
    qtbot.waitUntil(lambda: page._item_id == current(page) and bool(page.desk.card.badge.text))
    return run_id


def judge_hostile_items(path: Path, store_path: Path) -> None:
    """A run of labels of two items: one with hostile texts, one that does not fit the context."""
    rows = [[HOSTILE, f"{HOSTILE} 😀 {HOSTILE}", HOSTILE, "unlike 😀"], ["long", "q", "word " * 3000, "b"]]
    names = ["id", "instruction", "output_a", "output_b"]
    pd.DataFrame(rows, columns=names).to_csv(path, sep="\t", index=False)
    state = demo_model().stat()
    model = CheckedModel(
        demo_model(), read_model_file(demo_model()).name, "d" * 64, state.st_size, state.st_mtime_ns
    )
    settings = JudgeSettings(context=2048, mode=Mode.LABELS)
    plan = RunPlan(load_dataset(path), ELOQUENT, settings, MachineSettings(1, 0), model)
    with RunStore(store_path) as store:
        for _event in run_judging(plan, store, lambda: open_model(plan, CancelToken())):
            pass
