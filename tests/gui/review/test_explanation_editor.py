"""Explanations written on the Review page: saved, kept as drafts, never lost."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.store.run_store import RunStore
from gui.review.review_page import ReviewPage
from tests.gui.review.steps import (
    HOSTILE,
    current,
    judge_hostile_items,
    overrides,
    press,
    save,
    wait_for_override,
)


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


def test_the_line_that_is_written_is_in_sight_in_a_low_window(qtbot: QtBot, page: ReviewPage) -> None:
    page.window().resize(1000, 560)
    press(qtbot, page, "E")
    card = page.desk.card
    field, shown = card.editor.field, card.body.viewport()

    def in_sight() -> bool:
        place = field.viewport().mapTo(shown, field.cursorRect().center())
        return shown.rect().contains(place)

    qtbot.waitUntil(in_sight)
    field.clear()
    qtbot.keyClicks(field, "The first line")
    qtbot.waitUntil(in_sight)


def test_esc_leaves_a_draft_that_e_opens_again(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("half a thought")
    qtbot.keyClick(page.desk.card.editor.field, Qt.Key.Key_Escape)
    assert not page.desk.card.editing
    assert "draft" in page.desk.card.by.text()
    press(qtbot, page, "JKE")
    assert page.desk.card.editor.text == "half a thought"
    assert not overrides(store)


def test_a_draft_is_marked_at_its_criterion_until_it_is_saved(qtbot: QtBot, page: ReviewPage) -> None:
    [begun] = [button for button in page.desk.strip.buttons if button.isChecked()]
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("half a thought")
    qtbot.keyClick(page.desk.card.editor.field, Qt.Key.Key_Escape)
    press(qtbot, page, "JK")
    assert [button for button in page.desk.strip.buttons if "*" in button.text()] == [begun]
    assert begun.accessibleName().endswith(", a draft of yours")
    press(qtbot, page, "E")
    wait_for_override(qtbot, page, lambda: save(qtbot, page.desk.card.editor.field))
    assert "*" not in begun.text()
    assert "draft" not in begun.accessibleName()


def test_what_is_written_is_saved_when_one_moves_on(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    item_id = current(page)
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("Written before moving on.")
    wait_for_override(qtbot, page, lambda: page.list.step(1))
    assert [(override.item_id, override.explanation) for override in overrides(store)] == [
        (item_id, "Written before moving on.")
    ]
    assert page.session._drafts.of(1, JudgmentKey(item_id, "safety")) is None


def test_an_explanation_that_is_refused_is_there_again(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("nan")
    with qtbot.waitSignal(page.workspace.problem) as problem:
        page.desk.card.editor.saved.emit("nan")
    assert "nan" in str(problem.args[0])
    assert page.desk.card.editing
    assert page.desk.card.editor.text == "nan"
    assert not overrides(store)


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
    assert (page.session.item_id, page.session.criterion, page.desk.isEnabled()) == (
        item_id,
        "truthfulness",
        True,
    )
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
    key = JudgmentKey(current(page), page.session.criterion)
    write(qtbot, page, "a good reas")
    with qtbot.waitSignal(page.workspace.note, check_params_cb=lambda text: "is a draft" in text):
        page.workspace.open_run(2)
    qtbot.waitUntil(lambda: page.session.run_id == 2)
    focused = page.window().focusWidget()
    assert focused is page.list.view
    for letter in "bag x":
        qtbot.keyClick(focused, letter)
    qtbot.waitUntil(lambda: not page.keys.pausing)
    with RunStore(store) as opened:
        assert [opened.overrides(1), opened.overrides(2)] == [[], []]
    assert page.session._drafts.of(1, key) == "a good reas"
    wait_for_override(qtbot, page, lambda: press(qtbot, page, "G"))


def test_keys_go_to_the_list_by_e_to_the_editor_and_there_back_on_the_page_while_it_is_open(
    qtbot: QtBot, page: ReviewPage
) -> None:
    page.list.filters.search.setFocus()
    page.take_focus()
    assert page.window().focusWidget() is page.list.view
    field = write(qtbot, page, "in the midst")
    page.list.view.setFocus()
    page.take_focus()
    assert page.window().focusWidget() is field
    page.list.view.setFocus()
    press(qtbot, page, "E")
    assert (field.toPlainText(), page.window().focusWidget()) == ("in the midst", field)


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
