"""What a person does on the Review page, and waiting for what comes of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from engine.annotations.effective import Reviews
from engine.annotations.records import Annotation, LabelSourceKind, ListOrder, WantedItems
from engine.calibration.jury import items_of, make_jury
from engine.core.events import CancelToken
from engine.core.items import Prediction, Preference
from engine.core.judgments import JudgmentKey
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.metrics.matching import System, open_system
from engine.models.checked_model import CheckedModel
from engine.models.model_file import read_model_file
from engine.results.run_results import load_reviews, submission_of
from engine.settings.rows import JudgeSettings, MachineSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.review.annotators import NoteDialog
from gui.review.review_jobs import Review
from gui.review.review_page import ReviewPage
from gui.workspace.open_run import OpenRun
from gui.workspace.rewriter import Rewriter
from gui.workspace.workspace import Workspace

A_WHILE = 60_000
HOSTILE = '<b>x</b><img src="a.png"> <|eot_id|> \u202eabc'
KEYS = dict(zip(Preference, "ABGX", strict=True))


def current(page: ReviewPage) -> str:
    item = page.list.current
    assert item is not None
    return item.item_id


def press(qtbot: QtBot, page: QWidget, keys: str) -> None:
    for key in keys:
        qtbot.keyClick(page, key)


def save(qtbot: QtBot, field: QWidget) -> None:
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


class Page(ReviewPage):
    """The Review page, what a person does on it, and waiting for what comes of it."""

    def __init__(self, qtbot: QtBot, workspace: Workspace, shown: bool = True) -> None:
        super().__init__(workspace, Rewriter(workspace))
        self.qtbot, self.until, self.signal = qtbot, qtbot.waitUntil, qtbot.waitSignal
        qtbot.addWidget(self)
        self.resize(1180, 640)
        self.setVisible(shown)

    @property
    def store(self) -> Path:
        return self.workspace.store_path

    @property
    def item(self) -> str:
        return current(self)

    @property
    def run(self) -> OpenRun:
        return self.workspace.run

    @property
    def dataset(self) -> Dataset:
        return self.run.dataset

    @property
    def review(self) -> Review:
        review = self.list.review
        assert review is not None
        return review

    @property
    def overrides(self) -> Sequence[Annotation]:
        return list(self.reviews.overrides)

    @property
    def reviews(self) -> Reviews:
        with RunStore(self.store) as opened:
            return load_reviews(opened, 1)

    def press(self, keys: str) -> None:
        press(self.qtbot, self, keys)

    def confirm(self) -> None:
        """Press Enter, and wait for nothing."""
        self.qtbot.keyClick(self, Qt.Key.Key_Return)

    def enter(self) -> None:
        self.saying(self.confirm)

    def say(self, keys: str) -> None:
        self.saying(lambda: self.press(keys))

    def saying(self, act: Callable[[], object]) -> None:
        with self.signal(self.workspace.reviewed):
            act()
        self.wait_for_list()

    def override(self, keys: str) -> None:
        self.overriding(lambda: self.press(keys))

    def overriding(self, act: Callable[[], object]) -> None:
        with self.signal(self.workspace.overrides_changed):
            act()
        self.wait_for_list()

    def wait_for_list(self) -> None:
        """The list hears of what was said a moment later."""
        self.until(lambda: not self.workspace.threads.busy(self.list._reading._thread_name))

    def listing(self, act: Callable[[], object]) -> None:
        with self.signal(self.list.listed):
            act()

    def list_wanted(self, wanted: WantedItems) -> None:
        self.listing(lambda: self.workspace.listing_wanted.emit(wanted))

    def open_run(self, run_id: int) -> None:
        with self.signal(self.workspace.run_changed):
            self.workspace.open_run(run_id)

    def left(self) -> None:
        """It is left as at the end of the program, which keeps how it was."""
        self.keep_layout()
        self.hide()

    def save(self, field: QWidget) -> None:
        save(self.qtbot, field)

    def write(self, text: str) -> QPlainTextEdit:
        """Open the editor of an explanation and put a text into it; the field."""
        self.press("E")
        self.desk.card.editor.field.setPlainText(text)
        return self.desk.card.editor.field

    def explain(self, text: str) -> None:
        field = self.write(text)
        self.overriding(lambda: self.save(field))

    def drafts(self) -> list[str]:
        with RunStore(self.store) as opened:
            return [draft.text for draft in opened.drafts(1)]

    def type_on(self, field: QPlainTextEdit) -> list[str]:
        """Type without a pause until something of it is a draft; the drafts, or none after 100 letters."""
        for _ in range(100):
            field.insertPlainText("x")
            self.qtbot.wait(10)
            if found := self.drafts():
                return found
        return []

    def activate(self) -> None:
        self.activateWindow()
        self.until(self.isActiveWindow)

    def note(self) -> NoteDialog:
        self.press("N")
        dialog = self.reviewer.note.dialog
        self.until(dialog.isActiveWindow)
        return dialog

    def hears(self, text: str) -> Any:
        return self.signal(self.workspace.note, check_params_cb=lambda said: text in said)

    def cell(self, item_id: str, column: int, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.list.table.row_of(item_id)
        assert row is not None
        return self.list.table.index(row, column).data(role)

    def told(self) -> list[str]:
        notes: list[str] = []
        self.workspace.note.connect(notes.append)
        return notes


Open = Callable[[], Page]


def choose_criterion(page: Page, criterion: str, order: ListOrder = ListOrder.DATASET) -> None:
    box = page.list.filters.criterion
    box.setCurrentIndex(box.findData(criterion))
    page.list.filters.choose_order(order)
    page.until(lambda: not page.list._listing.busy)


def add_run(store: Path) -> int:
    """Another run of the same items; its id."""
    with RunStore(store) as opened:
        made = opened.run(1)
        with opened.begin(made.identity, fresh=True) as second:
            opened.add(second.id, list(opened.judged(1)))
        return second.id


def wanted_elsewhere(page: Page, item_id: str, criterion: str) -> Page:
    """The page as it is opened another time, because another page wants a judgment of its run shown."""
    page.hide()
    again = Page(page.qtbot, page.workspace, shown=False)
    page.workspace.review_wanted.emit(JudgmentKey(item_id, criterion))
    again.show()
    again.until(lambda: bool(again.desk.card.badge.text))
    return again


def open_panel(qtbot: QtBot, page: ReviewPage, exchanged: bool = False) -> int:
    """Keep a panel of run 1 and a submission with the same labels and open it; its number. `exchanged`: of
    labels for the other response.
    """
    run = open_system("1", page.workspace.store_path, LabelSourceKind.JUDGE)
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
    with RunStore(page.workspace.store_path) as store:
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
