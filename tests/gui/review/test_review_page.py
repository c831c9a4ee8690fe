import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from engine.core.cancel import CancelToken
from engine.core.items import Order, Preference
from engine.core.judgments import Override, Reading
from engine.core.rubric import ELOQUENT
from engine.core.run_setup import RunSetup
from engine.core.settings import JudgeSettings, MachineSettings, Mode
from engine.data.dataset import load_dataset
from engine.gguf.judge_file import read_model_file
from engine.judge.plan import RunPlan, open_model
from engine.judge.run import run_judging
from engine.loading.checked_model import CheckedModel
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset, demo_model
from gui.judge.run_control import RunControl
from gui.kit.text_table import SORT_ROLE
from gui.review.order_bars import own_shares
from gui.review.review_page import ReviewPage
from gui.review.review_table import DOUBT, ID, INSTRUCTION, LABELS, MARKS
from gui.work.rewriter import Rewriter
from gui.work.workspace import Workspace

Open = Callable[[], ReviewPage]
A_WHILE = 60_000
HOSTILE = '<b>x</b><img src="a.png"> <|eot_id|> \u202eabc'


@pytest.fixture
def store(demo_store: Path, workspace: Workspace) -> Path:
    """The run of the demo items in the workspace's own store."""
    shutil.copy(demo_store, workspace.store_path)
    return workspace.store_path


@pytest.fixture
def open_page(qtbot: QtBot, workspace: Workspace) -> Open:
    """Opens run 1 on a page that is shown, and waits for its first item."""

    def open_page() -> ReviewPage:
        page = ReviewPage(workspace, Rewriter(workspace))
        qtbot.addWidget(page)
        page.resize(1180, 640)
        page.show()
        workspace.open_run(1)
        qtbot.waitUntil(lambda: bool(page.desk.card.badge.text))
        return page

    return open_page


@pytest.fixture
def page(store: Path, open_page: Open) -> ReviewPage:
    return open_page()


def current(page: ReviewPage) -> str:
    item = page.list.current
    assert item is not None
    return item.item_id


def overrides(store: Path) -> Sequence[Override]:
    with RunStore(store) as opened:
        return opened.overrides(1)


def press(qtbot: QtBot, page: QWidget, keys: str) -> None:
    for key in keys:
        qtbot.keyClick(page, key)


def save(qtbot: QtBot, field: QWidget) -> None:
    qtbot.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def wait_for_override(qtbot: QtBot, page: ReviewPage, act: Callable[[], object]) -> None:
    with qtbot.waitSignal(page.workspace.overrides_changed):
        act()
    # The list hears of it a moment later.
    qtbot.waitUntil(lambda: not page.workspace.threads.busy(page.list._reading._lane))


def test_without_a_run_the_page_leads_to_judge(qtbot: QtBot, workspace: Workspace) -> None:
    page = ReviewPage(workspace, Rewriter(workspace))
    qtbot.addWidget(page)
    page.show()
    with qtbot.waitSignal(workspace.page_wanted) as wanted:
        page.nothing.button.click()
    assert wanted.args == ["Judge"]


def test_items_are_listed_by_doubt_with_texts_and_judgment(page: ReviewPage) -> None:
    table = page.list.table
    doubts = [table.index(row, DOUBT).data(SORT_ROLE) for row in range(table.rowCount())]
    assert doubts == sorted(doubts, reverse=True)
    assert page.context.text() == "30 items"
    run = page.workspace.run
    assert run is not None
    assert run.dataset is not None
    item = next(item for item in run.dataset if item.id == current(page))
    assert (page.reading.instruction.text, page.reading.a.text) == (item.instruction, item.output_a)
    card = page.desk.card
    human = item.gold["relevance"]
    assert card.human.text() == human.explanation
    assert card.explanation.text()
    assert len(table.index(0, LABELS).data(SORT_ROLE)) == 5
    assert table.index(0, INSTRUCTION).data().startswith(item.instruction[:20])


def test_keys_go_through_items_and_criteria(qtbot: QtBot, page: ReviewPage) -> None:
    first = current(page)
    press(qtbot, page, "J")
    assert current(page) != first
    press(qtbot, page, "K")
    assert current(page) == first
    press(qtbot, page, "3")
    assert page.desk.criterion == "truthfulness"
    press(qtbot, page, "J")
    assert page.desk.criterion == "truthfulness"
    press(qtbot, page, "9")
    assert page.desk.criterion == "truthfulness"


@pytest.mark.parametrize(
    ("key", "label"),
    [("A", Preference.A), ("B", Preference.B), ("G", Preference.BOTH_GOOD), ("X", Preference.BOTH_BAD)],
)
def test_a_key_overrides_the_label_and_u_takes_it_back(
    qtbot: QtBot, page: ReviewPage, store: Path, key: str, label: Preference
) -> None:
    page.workspace.state.set_text("author", "Ada")
    item_id, row, own = current(page), page.list.view.currentIndex().row(), page.desk.card.badge.text
    wait_for_override(qtbot, page, lambda: press(qtbot, page, key))
    [override] = overrides(store)
    assert (override.item_id, override.criterion, override.preference) == (item_id, "relevance", label)
    assert (override.author, override.explanation) == ("Ada", None)
    assert page.desk.card.badge.text.lower().replace(" ", "_") == label.value.lower()
    assert page.desk.card.own.text() == f"The model's own: {own[0] if len(own) == 1 else own.lower()}"
    assert "by Ada" in page.desk.card.by.text()
    assert (current(page), page.list.view.currentIndex().row()) == (item_id, row)
    assert "✎1" in page.list.table.index(row, MARKS).data()
    wait_for_override(qtbot, page, lambda: press(qtbot, page, "U"))
    assert page.desk.card.badge.text == own
    assert "✎" not in page.list.table.index(row, MARKS).data()
    qtbot.waitUntil(lambda: "taken back" in page.desk.card.by.toolTip())


def test_a_written_explanation_is_saved_and_a_label_keeps_it(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    press(qtbot, page, "E")
    field = page.desk.card.editor.field
    assert field.hasFocus()
    field.clear()
    qtbot.keyClicks(field, f"jk/12abgxu {HOSTILE[:-4]}")
    assert current(page) == page._item_id
    wait_for_override(qtbot, page, lambda: save(qtbot, field))
    assert not page.desk.card.editing
    wait_for_override(qtbot, page, lambda: press(qtbot, page, "X"))
    assert [override.preference for override in overrides(store)] == [None, Preference.BOTH_BAD]
    assert {override.explanation for override in overrides(store)} == {f"jk/12abgxu {HOSTILE[:-4].strip()}"}
    assert page.desk.card.explanation.text() == f"jk/12abgxu {HOSTILE[:-4].strip()}"
    assert page.desk.card.explanation.textFormat() is Qt.TextFormat.PlainText


def test_esc_leaves_a_draft_that_e_opens_again(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("half a thought")
    qtbot.keyClick(page.desk.card.editor.field, Qt.Key.Key_Escape)
    assert not page.desk.card.editing
    assert "draft" in page.desk.card.by.text()
    press(qtbot, page, "JKE")
    assert page.desk.card.editor.text == "half a thought"
    assert not overrides(store)


def test_what_is_written_is_saved_when_one_moves_on(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    item_id = current(page)
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("Written before moving on.")
    wait_for_override(qtbot, page, lambda: page.list.step(1))
    assert [(override.item_id, override.explanation) for override in overrides(store)] == [
        (item_id, "Written before moving on.")
    ]
    assert page.workspace.state.record("review/drafts") == {}


def test_an_explanation_that_is_refused_is_there_again(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("nan")
    with qtbot.waitSignal(page.workspace.problem) as problem:
        page.desk.card.editor.saved.emit("nan")
    assert "nan" in str(problem.args[0])
    assert page.desk.card.editing
    assert page.desk.card.editor.text == "nan"
    assert not overrides(store)


def test_two_quick_overrides_do_not_lose_each_other(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("Mine.")
    page.desk.card.editor.saved.emit("Mine.")
    press(qtbot, page, "X")
    qtbot.waitUntil(lambda: len(overrides(store)) == 2)
    assert (overrides(store)[1].preference, overrides(store)[1].explanation) == (Preference.BOTH_BAD, "Mine.")
    qtbot.waitUntil(lambda: page.desk.card.badge.text == "Both bad")


def test_letters_typed_in_the_search_are_no_keys(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    press(qtbot, page, "/")
    search = page.list.filters.search
    assert search.hasFocus()
    qtbot.keyClicks(search, "a bag")
    assert search.text() == "a bag"
    assert not overrides(store)


def test_the_search_narrows_the_list_and_one_click_clears_it(qtbot: QtBot, page: ReviewPage) -> None:
    run = page.workspace.run
    assert run is not None
    assert run.dataset is not None
    word = "opposite"
    texts = [(item.id, item.instruction, item.output_a, item.output_b) for item in run.dataset]
    hits = sum(any(word in text.casefold() for text in row) for row in texts)
    assert 0 < hits < 30
    page.list.filters.search.setText(word)
    qtbot.waitUntil(lambda: page.list.shown == hits)
    assert page.context.text() == f"{hits} of 30 items"
    page.list.filters.clear_all.click()
    qtbot.waitUntil(lambda: page.list.shown == 30)


def test_a_filter_opens_a_criterion_that_passes(qtbot: QtBot, page: ReviewPage) -> None:
    review = page.list.review
    assert review is not None
    differing = {row.item_id for row in review.rows if row.differs_from_human}
    assert 0 < len(differing) < 30
    page.list.filters.chips["differs_from_human"].click()
    qtbot.waitUntil(lambda: page.list.shown == len(differing))
    for _ in differing:
        [row] = [entry for entry in review.of_item(current(page)) if entry.criterion == page.desk.criterion]
        assert row.differs_from_human
        page.list.step(1)


def test_where_nothing_passes_the_page_says_so(qtbot: QtBot, page: ReviewPage) -> None:
    page.list.filters.chips["overridden"].click()
    qtbot.waitUntil(lambda: page.list.shown == 0)
    assert page.list._nothing.isVisible()
    assert not page.desk.isVisible()
    press(qtbot, page, "AUEJ1")
    page.list._all.click()
    qtbot.waitUntil(lambda: page.list.shown == 30)
    assert page.desk.isVisible()
    assert page.desk.isEnabled()


def test_a_wanted_judgment_is_shown_though_filters_hide_it(qtbot: QtBot, page: ReviewPage) -> None:
    page.list.filters.search.setText("no text has this")
    qtbot.waitUntil(lambda: page.list.shown == 0)
    page.workspace.review_wanted.emit("7", "safety")
    qtbot.waitUntil(lambda: page.list.current is not None)
    assert (current(page), page.desk.criterion) == ("7", "safety")
    assert page.list.filters.search.text() == ""


def test_a_wanted_item_that_is_not_in_the_run_is_said(qtbot: QtBot, page: ReviewPage) -> None:
    before = current(page)
    with qtbot.waitSignal(page.workspace.note):
        page.workspace.review_wanted.emit("no such item", "safety")
    assert current(page) == before


def test_d_marks_differences_then_shared_words(qtbot: QtBot, page: ReviewPage) -> None:
    def marked() -> list[str]:
        pane = page.reading.a
        return [
            pane.text[selection.cursor.selectionStart() : selection.cursor.selectionEnd()]
            for selection in pane.view.extraSelections()
        ]

    assert marked() == []
    press(qtbot, page, "D")
    qtbot.waitUntil(lambda: bool(marked()))
    own = marked()
    press(qtbot, page, "D")
    qtbot.waitUntil(lambda: marked() != own)
    assert all(word not in page.reading.b.text for word in own if len(word.split()) > 3)
    assert all(word.casefold() in page.reading.b.text.casefold() for word in marked() if " " not in word)
    press(qtbot, page, "D")
    qtbot.waitUntil(lambda: marked() == [])


def test_keys_work_in_the_texts_too_and_m_shows_markdown(qtbot: QtBot, page: ReviewPage) -> None:
    page.reading.a.view.setFocus()
    qtbot.keyClick(page.reading.a.view, "M")
    assert page.markdown.isChecked()
    first = current(page)
    qtbot.keyClick(page.reading.a.view, "J")
    assert current(page) != first


def test_what_was_chosen_is_remembered(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, open_page: Open
) -> None:
    press(qtbot, page, "JJ4M")
    page.list.filters.order.setCurrentIndex(1)
    page.list.filters.order.activated.emit(1)
    qtbot.waitUntil(lambda: page.list.table.index(0, ID).data() == "1")
    item_id = current(page)
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("not saved")
    page.keep_layout()
    page.hide()
    again = open_page()
    assert (current(again), again.desk.criterion) == (item_id, "safety")
    assert again.markdown.isChecked()
    assert not again.list.filters.by_doubt
    press(qtbot, again, "E")
    assert again.desk.card.editor.text == "not saved"


def write(qtbot: QtBot, page: ReviewPage, text: str) -> QPlainTextEdit:
    """Open the editor and put a text into it; the field."""
    press(qtbot, page, "E")
    field = page.desk.card.editor.field
    field.setPlainText(text)
    return field


def filters_that_leave_it_out(page: ReviewPage) -> None:
    page.list.filters.search.setText("no text has this")
    page.list.list_again()


@pytest.mark.parametrize(
    "refresh",
    [
        lambda page: page.workspace.read_run_again(),
        lambda page: page.workspace.gold_changed.emit(),
        lambda page: page.list.list_again(),
        filters_that_leave_it_out,
    ],
    ids=["run read again", "other labels", "listed again", "listed no more"],
)
def test_no_refresh_saves_closes_or_changes_what_is_being_written(
    qtbot: QtBot, page: ReviewPage, store: Path, refresh: Callable[[ReviewPage], object]
) -> None:
    press(qtbot, page, "JJ3")
    item_id = current(page)
    field = write(qtbot, page, "half a sente")
    with qtbot.waitSignal(page.list.listed):
        refresh(page)
    assert page.window().focusWidget() is field
    qtbot.keyClick(field, "N")
    assert (page.desk.writing, field.toPlainText()) == (True, "Nhalf a sente")
    assert (page.desk.item_id, page.desk.criterion, page.desk.isEnabled()) == (item_id, "truthfulness", True)
    wait_for_override(qtbot, page, lambda: save(qtbot, field))
    [stored] = overrides(store)
    assert (stored.item_id, stored.criterion, stored.explanation) == (
        item_id,
        "truthfulness",
        "Nhalf a sente",
    )


def test_another_run_keeps_what_is_being_written_as_a_draft_and_takes_no_letters(
    qtbot: QtBot, page: ReviewPage, store: Path, tmp_path: Path
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", store)
    key = (page.desk.criterion, current(page))
    write(qtbot, page, "a good reas")
    with qtbot.waitSignal(page.workspace.note, check_params_cb=lambda text: "is a draft" in text):
        page.workspace.open_run(2)
    qtbot.waitUntil(lambda: page.desk._run_id == 2)
    focused = page.window().focusWidget()
    assert focused is page.list.view
    for letter in "bag x":
        qtbot.keyClick(focused, letter)
    qtbot.waitUntil(lambda: not page._pause.isActive())
    with RunStore(store) as opened:
        assert [opened.overrides(1), opened.overrides(2)] == [[], []]
    assert page.desk._drafts.of(1, *key) == "a good reas"
    wait_for_override(qtbot, page, lambda: press(qtbot, page, "G"))


def test_e_goes_back_to_an_open_editor(qtbot: QtBot, page: ReviewPage) -> None:
    field = write(qtbot, page, "typed by hand")
    page.list.view.setFocus()
    press(qtbot, page, "E")
    assert (field.toPlainText(), page.window().focusWidget()) == ("typed by hand", field)


def test_back_on_the_page_the_keys_go_to_the_editor_else_to_the_list(qtbot: QtBot, page: ReviewPage) -> None:
    page.list.filters.search.setFocus()
    page.take_focus()
    assert page.window().focusWidget() is page.list.view
    field = write(qtbot, page, "in the midst")
    page.list.view.setFocus()
    page.take_focus()
    assert page.window().focusWidget() is field


@pytest.mark.parametrize("end", ["save", "leave"])
def test_space_after_writing_overrides_no_label(
    qtbot: QtBot, page: ReviewPage, store: Path, end: str
) -> None:
    field = write(qtbot, page, "Done.")
    if end == "save":
        wait_for_override(qtbot, page, lambda: save(qtbot, field))
    else:
        qtbot.keyClick(field, Qt.Key.Key_Escape)
    focused = page.window().focusWidget()
    assert focused is page.list.view
    qtbot.keyClick(focused, Qt.Key.Key_Space)
    assert all(override.preference is None for override in overrides(store))


@pytest.mark.parametrize("hidden", [True, False])
def test_a_judgment_that_is_wanted_of_the_next_run_is_looked_for_there(
    qtbot: QtBot, page: ReviewPage, store: Path, tmp_path: Path, hidden: bool
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", store)
    notes: list[str] = []
    page.workspace.note.connect(notes.append)
    page.setHidden(hidden)
    page.workspace.run_changed.disconnect(page._refresh)  # so that it hears of the run after the wish
    page.workspace.run_changed.connect(lambda: page.workspace.review_wanted.emit(HOSTILE, "safety"))
    page.workspace.run_changed.connect(page._refresh)
    with qtbot.waitSignal(page.workspace.run_changed):
        page.workspace.open_run(2)
    page.show()
    qtbot.waitUntil(lambda: page.desk._run_id == 2)
    assert (current(page), page.desk.criterion) == (HOSTILE, "safety")
    assert not any("has not judged" in note for note in notes)


def test_a_wanted_judgment_comes_before_the_one_looked_at_last_time(
    qtbot: QtBot, page: ReviewPage, workspace: Workspace, open_page: Open
) -> None:
    press(qtbot, page, "JJ")
    page.keep_layout()
    page.hide()
    again = ReviewPage(workspace, Rewriter(workspace))
    qtbot.addWidget(again)
    workspace.review_wanted.emit("7", "safety")
    again.show()
    qtbot.waitUntil(lambda: bool(again.desk.card.badge.text))
    assert (current(again), again.desk.criterion) == ("7", "safety")


@pytest.mark.usefixtures("demo_tried")
def test_while_a_run_is_judged_the_page_says_so_and_reads_it_again(
    qtbot: QtBot, workspace: Workspace
) -> None:
    page, control = ReviewPage(workspace, Rewriter(workspace)), RunControl(workspace)
    qtbot.addWidget(page)
    page.resize(1180, 640)
    page.show()
    control.start(RunSetup(demo_dataset(), demo_model(), threads=1))
    qtbot.waitUntil(lambda: page.nothing.button.text() == "Show what is judged so far", timeout=A_WHILE)
    assert "Run 1 is being judged: " in page.nothing._first.text()
    page.nothing.button.click()
    qtbot.waitUntil(lambda: bool(page.desk.card.badge.text), timeout=A_WHILE)
    before = page.list.shown
    assert before < 240
    qtbot.waitUntil(page.part.again.isEnabled, timeout=A_WHILE)
    assert page.part.text.text() == f"{before} of 240 items; the run goes on."
    page.part.again.click()
    qtbot.waitUntil(lambda: page.list.shown > before, timeout=A_WHILE)
    assert page.part.isVisible()
    control.stop()
    qtbot.waitUntil(page.part.isHidden, timeout=A_WHILE)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Escape])
def test_the_search_is_left_by_keys(qtbot: QtBot, page: ReviewPage, key: Qt.Key) -> None:
    press(qtbot, page, "/")
    search = page.list.filters.search
    qtbot.keyClicks(search, "the")
    qtbot.keyClick(search, key)
    if key == Qt.Key.Key_Escape:
        assert search.text() == ""
        qtbot.keyClick(search, key)
    assert page.window().focusWidget() is page.list.view


def test_after_clear_and_a_filter_keys_are_keys(qtbot: QtBot, page: ReviewPage) -> None:
    filters = page.list.filters
    press(qtbot, page, "/")
    qtbot.keyClicks(filters.search, "the")
    qtbot.waitUntil(filters.clear_all.isVisible)
    filters.clear_all.setFocus()
    filters.clear_all.click()
    assert page.window().focusWidget() is page.list.view
    press(qtbot, page, "/")
    qtbot.mouseClick(filters.chips["flipped"], Qt.MouseButton.LeftButton)
    assert page.window().focusWidget() is filters.chips["flipped"]


def test_a_run_whose_dataset_is_gone_shows_judgments_and_asks_for_the_file(
    qtbot: QtBot, workspace: Workspace, store: Path, demo_gold: Path, open_page: Open, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.tsv"
    demo_gold.replace(moved)
    try:
        page = open_page()
        assert page.missing.isVisible()
        assert not page.reading.isVisible()
        wait_for_override(qtbot, page, lambda: press(qtbot, page, "X"))
        other = tmp_path / "other.tsv"
        other.write_text("id\tinstruction\toutput_a\toutput_b\n1\tq\ta\tb\n", encoding="utf-8")
        page.missing.look_in(other)
        qtbot.waitUntil(lambda: "other items" in page.missing.text.text())
        page.missing.look_in(moved)
        qtbot.waitUntil(page.reading.isVisible)
        qtbot.waitUntil(lambda: bool(page.reading.a.text))
        assert not page.missing.isVisible()
    finally:
        moved.replace(demo_gold)


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


def test_hostile_and_unscored_items(
    qtbot: QtBot, workspace: Workspace, open_page: Open, tmp_path: Path
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", workspace.store_path)
    page = open_page()
    assert (current(page), page.desk.card.badge.text) == ("long", "Unscored")
    assert "needs" in page.desk.card.reason.text()
    assert "Human" not in page.desk.card.human.text()
    wait_for_override(qtbot, page, lambda: press(qtbot, page, "G"))
    assert page.desk.card.badge.text == "Both good"
    press(qtbot, page, "J")
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert page.reading.instruction.text == f"{shown} 😀 {shown}"
    assert page.list.table.index(1, ID).data() == shown
    press(qtbot, page, "D")
    qtbot.waitUntil(lambda: bool(page.reading.b.view.extraSelections()))
    assert [selection.cursor.selectedText() for selection in page.reading.b.view.extraSelections()] == [
        "unlike"
    ]


def test_spans_are_counted_as_qt_counts(qtbot: QtBot, page: ReviewPage) -> None:
    page.reading.a.show_text("😀😀 one two")
    page.reading.b.show_text("six one two")
    press(qtbot, page, "DD")
    qtbot.waitUntil(lambda: bool(page.reading.a.view.extraSelections()))
    [mark] = page.reading.a.view.extraSelections()
    assert mark.cursor.selectedText() == "one two"
    assert isinstance(mark.cursor, QTextCursor)


@pytest.mark.parametrize("order", list(Order))
def test_the_shares_of_a_reading_are_those_of_its_own_responses(order: Order) -> None:
    shares = own_shares(Reading(order, (-1.0, -2.0, -3.0, -4.0)))
    best = Preference.A if order is Order.AB else Preference.B
    assert max(shares, key=shares.__getitem__) is best
    assert sum(shares.values()) == pytest.approx(1)
    assert shares[best] / shares[best.swapped] == pytest.approx(2.718281828)
