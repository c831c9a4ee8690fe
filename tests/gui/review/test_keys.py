"""By keys alone: what a person presses on the Review page, and what a screen reader is told."""

from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.core.items import PREFERENCES, HumanLabel, Preference
from engine.core.judgments import JudgmentKey, ReviewState
from gui.app import PopupKeys
from gui.review.judgment_desk import LinesDialog
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.text_views import TextBrowser
from gui.window.dialogs import SettingsDialog
from gui.window.frame import MainWindow
from gui.workspace.state import NEXT_CRITERION, State
from tests.gui.review.steps import KEYS, Page, judge_hostile_items
from tests.gui.steps import pick

CTRL = Qt.KeyboardModifier.ControlModifier


class Keyboard:
    """Presses keys as the system does, wherever they go, and counts; texts count once."""

    def __init__(self, page: Page) -> None:
        self.count = 0
        self.said: list[str] = []
        page.workspace.note.connect(self.said.append)

    def press(self, *keys: str) -> None:
        """Keys by their names in Qt; `Ctrl+` before one with Ctrl."""
        for key in keys:
            self.count += 1
            window = QApplication.focusWindow()
            plain = key.removeprefix("Ctrl+")
            modifier = CTRL if plain != key else Qt.KeyboardModifier.NoModifier
            QTest.keyClick(window, getattr(Qt.Key, f"Key_{plain}"), modifier)

    def type(self, text: str) -> None:
        focused = QApplication.focusWidget()
        QTest.keyClicks(focused, text)


@pytest.fixture
def keys(qapp: QApplication, page: Page) -> Iterator[Keyboard]:
    popups = PopupKeys(qapp)
    with page.qtbot.waitActive(page):
        page.activateWindow()
    page.take_focus()
    yield Keyboard(page)
    popups.setParent(None)
    popups.deleteLater()


def own_labels(page: Page, item_id: str) -> dict[str, HumanLabel]:
    run = page.run
    labels = run.results.reviews.labels.get("Ada", {})
    return {key.criterion: label for key, label in labels.items() if key.item_id == item_id}


def shows_run(page: Page, run_id: int) -> bool:
    return page.session.run_id == run_id


def test_an_item_is_confirmed_by_one_key_but_by_none_while_a_list_is_open(page: Page, keys: Keyboard) -> None:
    item, order = page.item, page.list.filters.order
    order.setFocus()
    order.showPopup()
    page.until(lambda: QApplication.activePopupWidget() is not None)
    keys.press("S", "A", "T", "G")
    assert order.view().isVisible()
    keys.press("Escape")
    assert (page.reviewer.progress.state(item), page.session.undo().undo) == (ReviewState.TO_DO, ())
    assert page.item == item
    page.take_focus()
    keys.press("Return")
    assert page.reviewer.progress.state(item) is ReviewState.DONE
    assert page.item != item


def test_one_label_with_an_explanation_takes_five_keys_and_the_text(page: Page, keys: Keyboard) -> None:
    item = page.item
    keys.press("2", "G", "E")
    keys.type("Both say it.")
    keys.press("Ctrl+Return", "Return")
    assert keys.count == 5
    assert (page.reviewer.progress.state(item), page.item != item) == (ReviewState.DONE, True)
    run = page.run
    key = JudgmentKey(item, list(run.results.judgments)[1])

    def stored() -> bool:
        found = page.workspace.run.results.overrides.get(key) if page.workspace.run else None
        return found is not None and (found.preference, found.explanation) == (
            Preference.BOTH_GOOD,
            "Both say it.",
        )

    page.until(stored)


@pytest.mark.parametrize(("blind", "first"), [(False, "1"), (True, "3")])
def test_all_five_labels_and_the_confirmation_take_at_most_seven_keys(
    page: Page, keys: Keyboard, blind: bool, first: str
) -> None:
    page.workspace.state.set_text(NEXT_CRITERION, "on")
    page.reviewer.switch_blind(blind)
    page.until(lambda: not page.list._listing.busy)
    item = page.item
    keys.press(first, *(KEYS[label] for label in (*PREFERENCES, Preference.A)), "Return")
    assert keys.count <= 7
    assert page.reviewer.progress.state(item) is ReviewState.DONE
    assert page.item != item
    page.until(lambda: len(own_labels(page, item)) == 5)
    labels = own_labels(page, item)
    begun = int(first) - 1
    around = [*page.session.criteria[begun:], *page.session.criteria[:begun]]
    assert [labels[each] for each in around] == [*PREFERENCES, Preference.A]


def test_a_label_stays_with_its_criterion_unless_a_person_wants_the_next_one(
    page: Page, keys: Keyboard
) -> None:
    keys.press("2")
    page.overriding(lambda: keys.press("X"))
    assert page.session.criterion == page.session.criteria[1]
    dialog = SettingsDialog(page.workspace)
    page.qtbot.addWidget(dialog)
    pick(dialog._after_label, "on")
    page.overriding(lambda: keys.press("G"))
    assert page.session.criterion == page.session.criteria[2]


def test_an_item_that_one_comes_back_to_has_the_criterion_open_that_it_had(
    page: Page, keys: Keyboard
) -> None:
    keys.press("J", "4")
    item, criterion = page.item, page.session.criterion
    keys.press("J", "1", "K")
    assert (page.item, page.session.criterion) == (item, criterion)
    judge_hostile_items(page.workspace.store_path.with_name("other.tsv"), page.workspace.store_path)
    for run_id in (2, 1):
        page.workspace.open_run(run_id)
        page.until(partial(shows_run, page, run_id))
    page.until(lambda: page.session.item_id == item)
    assert page.session.criterion == criterion


def test_a_key_without_a_meaning_here_says_so(page: Page, keys: Keyboard) -> None:
    def says(pressed: str, words: str) -> None:
        keys.said.clear()
        keys.press(pressed)
        assert [said for said in keys.said if words in said], (pressed, keys.said)

    says("W", "one elicitation method")
    says("9", "5 criteria")
    says("K", "first item")
    says("H", "has not been changed")
    keys.press("V")
    for pressed in ("Space", "F", "W"):
        says(pressed, "V")
    page.list.filters.search.setText("no text has this")
    page.until(lambda: page.list.shown == 0)
    page.take_focus()
    for pressed in ("A", "Return", "1", "N", "P"):
        says(pressed, "No item")


def test_earlier_changes_open_by_a_key_and_by_the_mouse(page: Page, keys: Keyboard) -> None:
    for letter in "GX":
        page.overriding(partial(keys.press, letter))
    assert page.desk.card.earlier.text() == "1 earlier change… (H)"
    keys.press("H")
    [dialog] = page.findChildren(LinesDialog)
    assert [line.split(" by ")[0] for line in dialog.lines] == ["Label both good", "Label both bad"]
    page.until(dialog.isActiveWindow)
    keys.press("Escape")
    page.until(lambda: not page.findChildren(LinesDialog))
    page.desk.card.earlier.click()
    assert [each for each in page.findChildren(LinesDialog) if each.isVisible()]


def test_long_explanations_are_read_on_by_a_key_and_each_part_is_reached_by_f6(
    page: Page, keys: Keyboard
) -> None:
    body = page.desk.card.body
    keys.press("E")
    page.desk.card.editor.field.setPlainText("word " * 400)
    page.overriding(lambda: keys.press("Ctrl+Return"))
    bar = body.verticalScrollBar()
    page.until(lambda: page.desk.card.explanation.height() > body.viewport().height())
    page.until(lambda: page._down.arranged and bar.maximum() > 0)
    keys.press("O")
    assert bar.value() > 0
    for _ in range(40):
        if bar.value() == bar.maximum():
            break
        keys.press("O")
    keys.press("O")
    assert bar.value() == 0
    reached = []
    for _ in range(6):
        keys.press("F6")
        reached.append(page.window().focusWidget())
    texts = page.reading
    assert reached == [
        texts.instruction.view,
        texts.a.view,
        texts.b.view,
        body,
        page.list.view,
        texts.instruction.view,
    ]
    body.setFocus()
    keys.press("Down")
    assert bar.value() > 0


def test_each_field_of_the_list_of_what_is_beside_is_reached_by_tab(page: Page, keys: Keyboard) -> None:
    chooser = page.beside.button
    chooser._menu.popup(page.mapToGlobal(page.rect().center()))
    page.until(lambda: QApplication.activePopupWidget() is chooser._menu)
    page.until(lambda: not page.beside._listing.busy)
    reached = [chooser._menu.focusWidget()]
    for _ in range(3):
        keys.press("Tab")
        reached.append(chooser._menu.focusWidget())
    assert reached == [chooser.list, chooser.add_button, chooser.on, chooser.list]
    keys.press("Backtab", "Space")
    assert page.beside.on
    keys.press("Escape")
    assert not chooser._menu.isVisible()


def test_columns_beside_are_reached_and_read_on_by_keys(page: Page, keys: Keyboard) -> None:
    keys.press("V")
    columns = page.beside.columns
    page.until(lambda: bool(columns.views))
    [view, *_] = columns.views
    assert isinstance(view, TextBrowser)
    view.setPlainText("word " * 4000)
    keys.press("O")
    assert view.verticalScrollBar().value() > 0
    page.list.take_focus()
    for _ in range(4):
        keys.press("F6")
    assert page.window().focusWidget() is view


@pytest.fixture
def said(page: Page) -> list[str]:
    texts: list[str] = []
    page.announcements.said.connect(texts.append)
    return texts


def told(page: Page) -> str:
    """The open item as it is to be announced: its instruction is shorter than what is read of one."""
    return f"Item {page.item}: {page.reading.instruction.text}"


def test_each_item_that_keys_lead_to_is_told_and_a_criterion_with_its_label_but_nothing_again(
    page: Page, said: list[str]
) -> None:
    page.listing(page.list.list_again)
    page.desk.show_changes()
    assert said == []
    first = told(page)
    page.press("J")
    assert said == [told(page)]
    assert said != [first]
    page.press("K")
    assert said[1:] == [first]
    said.clear()
    before = page.item
    page.qtbot.keyClick(page.list.view, Qt.Key.Key_Return)
    page.until(lambda: page.item != before)
    assert said == [told(page)]
    page.press("12")
    assert said[-1] == f"Naturalness: {LABEL_WORDS[page.session.shown.label]}"
    said.clear()
    page.hide()
    page.list.step(1)
    assert said == []  # nobody sees it


def test_a_label_and_an_explanation_are_told_once_they_count(page: Page, said: list[str]) -> None:
    page.press("1")
    page.override("X")
    assert said[-1] == "Relevance: both bad"
    assert said.count("Relevance: both bad") == 1
    page.press("U")
    page.until(lambda: said[-1] != "Relevance: both bad")
    assert said[-1].startswith("Relevance: ")
    page.wait_for_list()
    said.clear()
    page.explain("Neither says it.")
    assert said == ["Explanation: Neither says it."]
    page.press("U")
    page.until(lambda: len(said) > 1)
    assert said[1].startswith("Explanation: ")
    assert said[1] != said[0]


def test_what_the_status_bar_says_is_told(qtbot: QtBot, tmp_path_factory: pytest.TempPathFactory) -> None:
    frame = MainWindow(State(tmp_path_factory.mktemp("state")))
    qtbot.addWidget(frame)
    frame.show()
    with qtbot.waitSignal(frame.announcer.said) as received:
        frame.show_note("No item is left to do by this filter.")
    assert received.args == ["No item is left to do by this filter."]


def test_home_and_end_go_to_the_first_and_the_last_item(page: Page) -> None:
    view = page.list.view
    for key, row in ((Qt.Key.Key_End, page.list.shown - 1), (Qt.Key.Key_Home, 0)):
        page.qtbot.keyClick(view, key)
        assert view.currentIndex().row() == row
