"""Explanations written on the Review page: saved, kept as drafts, never lost."""

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.store.run_store import RunStore
from tests.gui.review.steps import HOSTILE, Open, Page, judge_hostile_items


def test_a_written_explanation_is_saved_and_a_label_keeps_it(page: Page) -> None:
    page.press("E")
    field = page.desk.card.editor.field
    assert field.hasFocus()
    field.clear()
    page.qtbot.keyClicks(field, f"jk/12abgxu {HOSTILE[:-4]}")
    assert page.item == page._item_id
    page.overriding(lambda: page.save(field))
    assert not page.desk.card.editing
    page.override("X")
    assert [override.preference for override in page.overrides] == [None, Preference.BOTH_BAD]
    assert {override.explanation for override in page.overrides} == {f"jk/12abgxu {HOSTILE[:-4].strip()}"}
    assert page.desk.card.explanation.text() == f"jk/12abgxu {HOSTILE[:-4].strip()}"
    assert page.desk.card.explanation.textFormat() is Qt.TextFormat.PlainText


def test_the_line_that_is_written_is_in_sight_in_a_low_window(page: Page) -> None:
    page.window().resize(1000, 560)
    page.press("E")
    card = page.desk.card
    field, shown = card.editor.field, card.body.viewport()

    def in_sight() -> bool:
        place = field.viewport().mapTo(shown, field.cursorRect().center())
        return shown.rect().contains(place)

    page.until(in_sight)
    field.clear()
    page.qtbot.keyClicks(field, "The first line")
    page.until(in_sight)


def test_esc_leaves_a_draft_that_is_marked_and_opened_by_e_until_it_is_saved(
    page: Page,
) -> None:
    [begun] = [button for button in page.desk.strip.buttons if button.isChecked()]
    page.write("half a thought")
    page.qtbot.keyClick(page.desk.card.editor.field, Qt.Key.Key_Escape)
    assert not page.desk.card.editing
    assert "draft" in page.desk.card.by.text()
    page.press("JK")
    assert [button for button in page.desk.strip.buttons if "*" in button.text()] == [begun]
    assert begun.accessibleName().endswith(", a draft of yours")
    page.press("E")
    assert page.desk.card.editor.text == "half a thought"
    assert not page.overrides
    page.overriding(lambda: page.save(page.desk.card.editor.field))
    assert "*" not in begun.text()
    assert "draft" not in begun.accessibleName()


def test_what_is_written_is_saved_when_one_moves_on_and_what_is_refused_is_there_again(page: Page) -> None:
    item_id = page.item
    page.write("nan")
    with page.signal(page.workspace.problem) as problem:
        page.desk.card.editor.saved.emit()
    assert "nan" in str(problem.args[0])
    assert (page.desk.card.editing, page.desk.card.editor.text) == (True, "nan")
    assert not page.overrides
    page.desk.card.editor.field.setPlainText("Written before moving on.")
    page.overriding(lambda: page.list.step(1))
    assert [(each.item_id, each.explanation) for each in page.overrides] == [
        (item_id, "Written before moving on.")
    ]
    assert page.session._drafts.of(1, JudgmentKey(item_id, "safety")) is None


def test_what_is_being_typed_is_a_draft_soon_also_while_one_types_on(
    store: Path, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.review.progress.KEEP_MS", 200)
    page = open_page()
    field = page.write("odd")
    assert page.type_on(field)
    page.until(lambda: page.drafts() == [field.toPlainText()])


def filters_that_leave_it_out(page: Page) -> None:
    page.list.filters.search.setText("no text has this")
    page.list.list_again()


def test_no_refresh_saves_closes_or_changes_what_is_being_written(page: Page) -> None:
    page.press("JJ3")
    item_id, field = page.item, page.write("")
    for refresh in (
        page.workspace.read_run_again,
        page.workspace.gold_changed.emit,
        page.list.list_again,
        partial(filters_that_leave_it_out, page),
    ):
        page.listing(refresh)
        assert page.window().focusWidget() is field
        page.qtbot.keyClick(field, "N")
        assert (page.desk.writing, page.desk.isEnabled()) == (True, True)
        assert page.session.key == JudgmentKey(item_id, "truthfulness")
    page.overriding(lambda: page.save(field))
    [stored] = page.overrides
    assert (stored.key, stored.explanation) == (JudgmentKey(item_id, "truthfulness"), "NNNN")


def test_another_run_keeps_what_is_being_written_as_a_draft_and_takes_no_letters(
    page: Page, tmp_path: Path
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", page.store)
    key = JudgmentKey(page.item, page.session.criterion)
    page.write("a good reas")
    with page.hears("is a draft"):
        page.workspace.open_run(2)
    page.until(lambda: page.session.run_id == 2)
    focused = page.window().focusWidget()
    assert focused is page.list.view
    for letter in "bag x":
        page.qtbot.keyClick(focused, letter)
    page.until(lambda: not page.keys.pausing)
    with RunStore(page.store) as opened:
        assert [opened.annotations(run) for run in (1, 2)] == [[], []]
    assert page.session._drafts.of(1, key) == "a good reas"
    page.override("G")


def test_keys_go_to_the_list_by_e_to_the_editor_and_there_back_on_the_page_while_it_is_open(
    page: Page,
) -> None:
    page.list.filters.search.setFocus()
    page.take_focus()
    assert page.window().focusWidget() is page.list.view
    field = page.write("in the midst")
    page.list.view.setFocus()
    page.take_focus()
    assert page.window().focusWidget() is field
    page.list.view.setFocus()
    page.press("E")
    assert (field.toPlainText(), page.window().focusWidget()) == ("in the midst", field)


def test_space_after_writing_overrides_no_label(page: Page) -> None:
    for save in (True, False):
        field = page.write("Done.")
        if save:
            page.overriding(partial(page.save, field))
        else:
            page.qtbot.keyClick(field, Qt.Key.Key_Escape)
        focused = page.window().focusWidget()
        assert focused is page.list.view
        page.qtbot.keyClick(focused, Qt.Key.Key_Space)
    assert all(override.preference is None for override in page.overrides)
