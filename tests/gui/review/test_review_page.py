"""The Review page: items, keys, overrides, texts and what is marked in them; items judged again."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from pytestqt.qtbot import QtBot

from engine.annotations.records import ListOrder
from engine.core.formatting import words
from engine.core.health import NOT_LOOKED_AT
from engine.core.items import PREFERENCES, Preference
from engine.core.rubric import ELOQUENT
from engine.data.rubrics.files import shipped_rubrics
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_dataset, demo_model
from gui.judge.run_control import RunControl
from gui.review.judgment_card import JudgmentCard
from gui.review.review_table import ID, INSTRUCTION, LABELS, MARKS, UNCERTAINTY
from gui.review.session import ReviewedJudgment
from gui.widgets.views import SORT_ROLE
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import A_WHILE, HOSTILE, Open, Page, judge_hostile_items, open_panel
from tests.gui.steps import pick


def test_without_a_run_the_page_leads_to_judge(qtbot: QtBot, workspace: Workspace) -> None:
    page = Page(qtbot, workspace)
    qtbot.addWidget(page)
    page.show()
    with qtbot.waitSignal(workspace.page_wanted) as wanted:
        page.nothing.button.click()
    assert wanted.args == ["Judge"]


def test_context_and_reference_answer_are_read_beside_the_instruction_where_there_are_any(page: Page) -> None:
    reading, item = page.reading, page.dataset[0]
    assert reading.background.isHidden()
    reading.show_item(replace(item, context="Told.", reference="A right answer."), None)
    assert reading.background.isVisible()
    assert reading.background.text == "Reference answer:\nA right answer.\n\nContext:\nTold."
    assert reading.instruction.text == item.instruction
    reading.show_item(item, None)
    assert reading.background.isHidden()


def test_items_are_listed_by_doubt_with_texts_and_judgment_and_gone_through_by_keys(page: Page) -> None:
    table, card, text = page.list.table, page.desk.card, page.reading.a.view
    doubts = [table.index(row, UNCERTAINTY).data(SORT_ROLE) for row in range(table.rowCount())]
    assert doubts == sorted(doubts, reverse=True)
    assert page.context.text() == "30 items"
    item = next(item for item in page.dataset if item.id == page.item)
    assert (page.reading.instruction.text, page.reading.a.text) == (item.instruction, item.output_a)
    human = item.gold[page.session.criterion]
    assert card.human.text() == human.explanation
    assert card.human_from.text() == "of gold.tsv"
    assert str(page.dataset.path) in card.human_from.toolTip()
    assert card.explanation.text()
    assert len(table.index(0, LABELS).data(SORT_ROLE)) == 5
    assert table.index(0, INSTRUCTION).data().startswith(item.instruction[:20])
    card.toggle_methods()  # there is one alone: nothing to show
    assert not (card.each_method.isVisible())
    assert not (card.body.methods.isVisible())
    assert not (card.body.at_methods)
    page.press("J")
    assert page.item != item.id
    page.press("K")
    assert page.item == item.id
    for key in "39":  # there is no ninth
        page.press(key)
        assert page.session.criterion == "truthfulness"
    text.setFocus()
    page.qtbot.keyClick(text, "M")
    assert page.markdown.isChecked()
    page.qtbot.keyClick(text, "J")
    assert page.item != item.id


def test_each_item_opens_with_the_criterion_that_put_it_there_which_stays_or_with_the_filtered_one(
    page: Page,
) -> None:
    opened = set()
    for _ in range(page.list.shown):
        item = page.list.current
        [row] = [row for row in page.review.of_item(item.item_id) if row.criterion == page.session.criterion]
        assert row.uncertainty == item.uncertainty
        opened.add(row.criterion)
        page.press("1J")
    assert len(opened) > 1
    criteria = page.review.criteria
    other = next(place for place, name in enumerate(criteria) if name != page.session.criterion)
    page.press(str(other + 1))
    page.listing(page.list.list_again)
    assert page.session.criterion == criteria[other]
    page.listing(lambda: pick(page.list.filters.criterion, "safety"))
    page.list._go(0)
    for _ in range(page.list.shown):
        assert page.session.criterion == "safety"
        page.press("J")


def test_a_key_overrides_the_label_and_u_takes_it_back(page: Page) -> None:
    page.workspace.state.set_text("author", "Ada")
    criterion, card = page.session.criterion, page.desk.card
    item_id, row, own = page.item, page.list.view.currentIndex().row(), card.badge.text
    for key, label in zip("ABGX", PREFERENCES, strict=True):
        page.overriding(lambda key=key: page.press(key))  # type: ignore[misc]
        override = page.overrides[-1]
        assert (override.item_id, override.criterion, override.preference) == (item_id, criterion, label)
        assert (override.author, override.explanation) == ("Ada", None)
        assert card.badge.text.lower().replace(" ", "_") == label.value.lower()
        assert card.own.text() == f"The judge's own: {own[0] if len(own) == 1 else own.lower()}"
        assert "by Ada" in card.by.text()
        assert (page.item, page.list.view.currentIndex().row()) == (item_id, row)
        assert "✎1" in page.list.table.index(row, MARKS).data()
        page.override("U")
        assert card.badge.text == own
        assert "✎" not in page.list.table.index(row, MARKS).data()
        page.until(lambda: ", undone " in card.by.toolTip())
    assert len(page.overrides) == 4


@pytest.mark.usefixtures("store")
def test_one_key_is_one_rendering_of_the_card(
    qtbot: QtBot, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[ReviewedJudgment] = []
    render = JudgmentCard.show_judgment

    def count(card: JudgmentCard, shown: ReviewedJudgment) -> None:
        rendered.append(shown)
        render(card, shown)

    monkeypatch.setattr(JudgmentCard, "show_judgment", count)
    page = open_page()
    threads = page.workspace.threads
    for blind in (False, True):
        page.reviewer.blind_button.setChecked(blind)
        qtbot.waitUntil(lambda: not threads.busy(ThreadName.MEASURE))
        page.press("J5")
        for keys in ("1A", "2B", "3G", "4X"):
            rendered.clear()
            page.press(keys[0])
            assert len(rendered) == 1
            with qtbot.waitSignal(page.workspace.reviewed):
                page.press(keys[1])
            qtbot.waitUntil(lambda: not threads.busy(ThreadName.MEASURE))  # the list has read the item again
            assert [(shown.hidden, shown.label is None) for shown in rendered] == [
                (blind, blind),
                (blind, False),
            ]


def test_d_marks_differences_then_shared_words_counted_as_qt_counts(page: Page) -> None:
    def marked() -> list[str]:
        return [mark.cursor.selectedText() for mark in page.reading.a.view.extraSelections()]

    assert marked() == []
    page.press("D")
    page.until(lambda: bool(marked()))
    own = marked()
    page.press("D")
    page.until(lambda: marked() != own)
    assert all(word not in page.reading.b.text for word in own if len(word.split()) > 3)
    assert all(word.casefold() in page.reading.b.text.casefold() for word in marked() if " " not in word)
    page.reading.a.show_text("😀😀 one two")
    page.reading.b.show_text("six one two")
    page.until(lambda: marked() == ["one two"])
    page.press("D")
    page.until(lambda: marked() == [])


def test_what_was_chosen_is_remembered(page: Page, workspace: Workspace, open_page: Open) -> None:
    page.press("JJ4M")
    page.list.filters.order.setCurrentIndex(1)
    page.list.filters.order.activated.emit(1)
    page.until(lambda: page.list.table.index(0, ID).data() == "1")
    item_id = page.item
    page.write("not saved")
    page.left()
    again = open_page()
    assert (again.item, again.session.criterion) == (item_id, "safety")
    assert again.markdown.isChecked()
    assert again.list.filters.list_order is ListOrder.DATASET
    again.press("E")
    assert again.desk.card.editor.text == "not saved"


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_while_a_run_is_judged_the_page_says_so_and_reads_it_again(
    qtbot: QtBot, workspace: Workspace
) -> None:
    page, control = Page(qtbot, workspace), RunControl(workspace)
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


def test_a_run_whose_dataset_is_gone_shows_judgments_and_asks_for_the_file(
    qtbot: QtBot, workspace: Workspace, store: Path, demo_gold: Path, open_page: Open, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.tsv"
    demo_gold.replace(moved)
    try:
        page = open_page()
        assert page.missing.isVisible()
        assert not page.reading.isVisible()
        with qtbot.assertNotEmitted(workspace.items_wanted), qtbot.waitSignal(workspace.note) as note:
            qtbot.keyClick(page, Qt.Key.Key_J, CTRL)
        assert note.args == ["The dataset of this run is missing: find it, then judge its items."]
        page.override("X")
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


def test_hostile_and_unscored_items(
    qtbot: QtBot, workspace: Workspace, open_page: Open, tmp_path: Path
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", workspace.store_path)
    page = open_page()
    assert (page.item, page.desk.card.badge.text) == ("long", "Unscored")
    assert "Needs" in page.desk.card.reason.text()
    assert "Human" not in page.desk.card.human.text()
    page.override("G")
    assert page.desk.card.badge.text == "Both good"
    page.press("J")
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert page.reading.instruction.text == f"{shown} 😀 {shown}"
    assert page.list.table.index(1, ID).data() == shown
    page.press("D")
    qtbot.waitUntil(lambda: bool(page.reading.b.view.extraSelections()))
    assert [selection.cursor.selectedText() for selection in page.reading.b.view.extraSelections()] == [
        "unlike"
    ]


def test_an_item_that_chosen_labels_lack_has_those_of_its_own_dataset_or_says_where_it_was_looked_for(
    page: Page, demo_gold: Path, tmp_path: Path
) -> None:
    lines, first = demo_gold.read_bytes().split(b"\n"), page.item
    few, other = tmp_path / "few.tsv", tmp_path / "other.tsv"
    few.write_bytes(b"\n".join(line for line in lines if not line.startswith(first.encode() + b"\t")))
    labels = [row.human for row in page.review.rows]
    card = page.desk.card
    said = card.human.text()
    with page.signal(page.workspace.gold_changed):
        page.workspace.open_gold(few)
    page.until(lambda: page.list.review is not None and not page.list._listing.busy)
    page.list.choose(first)
    assert (card.human.text(), card.human_from.text()) == (said, "of gold.tsv")
    assert [row.human for row in page.review.rows] == labels
    page.press("J")
    assert card.human_from.text() == "of few.tsv"
    other.write_bytes(b"id\tinstruction\toutput_a\toutput_b\tsafety_preference\n1\ti\ta\tb\tA\n")
    texts = page.dataset.table.select(["id", "instruction", "output_a", "output_b"])
    page.workspace.run = replace(page.run, dataset=replace(page.dataset, table=texts))
    with page.signal(page.workspace.gold_changed):
        page.workspace.open_gold(other)
    page.until(lambda: card.human.text() == "None known.")
    assert card.human_from.text() == "looked for in other.tsv and gold.tsv"


def test_a_run_that_ends_leaves_the_review_of_another_alone(page: Page, workspace: Workspace) -> None:
    page.press("JJ3")
    item = page.item
    with page.signal(workspace.notice):
        workspace.tell_ended(2, "has finished", NOT_LOOKED_AT)
    before = len(page.overrides)
    page.press("A")
    page.until(lambda: len(page.overrides) == before + 1)
    assert (page._run_id, page.item, page.session.criterion) == (1, item, "truthfulness")


def test_what_the_model_is_shown_is_wanted_of_the_open_judgment_but_a_panel_has_none_of_its_own(
    page: Page,
) -> None:
    page.list.step(2)
    page.press("4")
    methods: list[Callable[[], object]] = [lambda: page.press("P"), page.desk.card.prompt.click]
    methods.append(page.judge_again.menu.actions()[-1].trigger)
    for ask in methods:
        with page.signal(page.prompt_wanted) as wanted:
            ask()
        item, criterion = wanted.args or (None, "")
        assert (item.id, item.output_a) == (page.item, page.reading.a.text)
        assert criterion == "safety"
    open_panel(page.qtbot, page)
    said = page.told()
    with page.qtbot.assertNotEmitted(page.prompt_wanted):
        page.desk.card.prompt.click()
    assert said[0].startswith("A jury has no prompt of its own")


def test_two_quick_overrides_do_not_lose_each_other_and_what_was_said_of_an_item_is_gone_with_it(
    page: Page,
) -> None:
    said = page.told()
    page.qtbot.keyClick(page, Qt.Key.Key_U, SHIFT)
    assert said == ["There is nothing of yours on this item to redo."]
    page.press("JK")
    assert said[-1] == ""
    page.write("Mine.")
    page.desk.card.editor.saved.emit()
    page.press("X")
    page.until(lambda: len(page.overrides) == 2)
    assert (page.overrides[1].preference, page.overrides[1].explanation) == (Preference.BOTH_BAD, "Mine.")
    page.until(lambda: page.desk.card.badge.text == "Both bad")


CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def entries(page: Page) -> list[str]:
    page.list.view.customContextMenuRequested.emit(QPoint(5, 5))
    texts = [action.text() for action in page.judge_again.menu.actions() if action.text()]
    page.judge_again.menu.close()
    page.activate()
    return texts


def test_items_are_judged_again_by_keys_and_by_the_menu_which_says_how_many(
    page: Page, demo_gold: Path
) -> None:
    page.workspace.rubric.choose(shipped_rubrics()[1])
    wanted_items, both, alone = page.workspace.items_wanted, CTRL | SHIFT, QKeySequence("Ctrl+J")
    page.list.step(2)
    with page.signal(wanted_items) as wanted:
        page.qtbot.keyClick(page, Qt.Key.Key_J, CTRL)
    assert wanted.args == [demo_gold, (page.item,), None]
    assert page.workspace.rubric.rubric == ELOQUENT  # what the run was asked is asked again
    of_item = ["Skip (S)", "Note and tags… (N)", "Copy the id"]
    of_judge = ["Judge this item again…", "Judge the 30 listed items…", "Prompt… (P)"]
    found = entries(page)
    assert found[4:] == [*of_item, *of_judge]
    assert found[0] == f"Label A on {words(page.session.criterion)} (A)"
    page.list.filters.chips["differs_from_human"].click()
    page.until(lambda: page.list.shown < 30)
    listed = page.list.table.listing.items
    with page.signal(wanted_items) as wanted:
        page.qtbot.keyClick(page, Qt.Key.Key_J, both)
    assert wanted.args == [demo_gold, tuple(item.item_id for item in listed), None]
    assert entries(page)[-2].startswith(f"Judge the {page.list.shown} listed item")
    with page.signal(wanted_items) as wanted:
        next(each for each in page.judge_again.menu.actions() if each.shortcut() == alone).trigger()
    assert wanted.args[1] == (page.item,)
    page.list.filters.chips["overridden"].click()
    page.until(lambda: page.list.shown == 0)
    with page.qtbot.assertNotEmitted(wanted_items):
        page.qtbot.keyClick(page, Qt.Key.Key_J, CTRL)
        page.qtbot.keyClick(page, Qt.Key.Key_J, both)
