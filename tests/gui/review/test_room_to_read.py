"""How the Review page shares its height: texts first, a card that folds; both follow theme and text size."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QImage, QPalette
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QProxyStyle, QStyle
from pytestqt.qtbot import QtBot

from engine.annotations.records import Filters, WantedItems
from engine.core.items import Preference
from gui.review.review_table import INSTRUCTION, MARKS, STATE
from gui.widgets.theme import DARK, LIGHT, TEXT_SIZES, ThemeChoice, apply_theme
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import Open, Page, open_panel

PAGE = (1167, 661)  # what a window of 1280 x 720 leaves for a page
Look = Callable[[ThemeChoice, int], None]


@pytest.fixture
def look(qapp: QApplication) -> Iterator[Look]:
    """Changes the window's look, which is light at first, and afterwards as it was."""
    style, font, palette = qapp.styleSheet(), QFont(qapp.font()), QPalette(qapp.palette())

    def change(theme: ThemeChoice, size: int) -> None:
        apply_theme(qapp, theme, size, font.pointSizeF())

    change(ThemeChoice.LIGHT, 100)
    yield change
    qapp.setStyleSheet(style)
    qapp.setFont(font)
    qapp.setPalette(palette)


@pytest.fixture
def small(look: Look, page: Page) -> Page:
    """The page in a window of 1280 x 720."""
    assert callable(look)  # it comes before the page, which would have to be laid out again
    page.resize(*PAGE)
    page.until(lambda: page._down.arranged)
    return page


def share(page: Page) -> float:
    """Of the page's height, that of the lower of the two responses."""
    return min(pane.view.height() for pane in (page.reading.a, page.reading.b)) / page.height()


def rows_of_criteria(page: Page) -> int:
    return len({button.y() for button in page.desk.strip.buttons})


def test_the_criteria_stand_in_one_row_or_two_with_whole_names_whatever_their_marks_else_in_three(
    small: Page,
) -> None:
    strip = small.desk.strip
    last = strip.buttons[-1]
    for width, rows in ((PAGE[0], 1), (800, 2)):
        small.resize(width, PAGE[1])
        small.until(lambda rows=rows: rows_of_criteria(small) == rows, timeout=10_000)  # type: ignore[misc]
        small.list._go(0)
        for _ in range(small.list.shown):
            assert rows_of_criteria(small) == rows
            small.list.step(1)
        assert last.geometry().right() <= strip.width()
        assert "Overall quality" in last.text()
        small.until(lambda: last.geometry().bottom() <= strip.height(), timeout=10_000)
    strip.resize(260, strip.height())
    small.until(lambda: rows_of_criteria(small) == 3, timeout=10_000)
    assert "Overall quality" not in last.text()  # shortened
    assert last.text().split()[0] == "5"
    assert "overall quality" in last.toolTip()


def test_the_largest_text_leaves_criteria_their_names_and_buttons_their_room(look: Look, page: Page) -> None:
    look(ThemeChoice.LIGHT, TEXT_SIZES[-1])
    page.follow_look()
    page.resize(1090, 650)  # what the frame leaves at this size of text
    page.until(lambda: page._down.arranged)
    strip, card = page.desk.strip, page.desk.card
    page.until(lambda: strip.buttons[-1].geometry().bottom() <= strip.height(), timeout=10_000)
    assert page.minimumSizeHint().width() <= 1090
    assert [each.text().split()[1] for each in strip.buttons] == [
        "Relevance",
        "Naturalness",
        "Truthfulness",
        "Safety",
        "Overall",
    ]
    assert strip.buttons[-1].text().endswith("quality")
    assert card.buttons.undo.geometry().bottom() <= card.buttons.height()


def test_a_folded_card_is_a_line_with_a_low_format_mass_which_writing_opens(page: Page) -> None:
    card = page.desk.card
    explanation = card.explanation.text()
    assert card.mass.isVisible()
    page.window().setFocus()
    card.fold.click()
    assert not card.body.isVisible()
    assert not card.buttons.labels[next(iter(card.buttons.labels))].isVisible()
    assert card.badge.isVisible()
    assert not card.mass.isVisible()
    card._low_mass = True
    card._show_parts()
    assert card.mass.isVisible()
    assert card.uncertainty.text.startswith("uncertainty ")
    assert (card.beginning.isVisible(), card.beginning.text()) == (True, explanation)
    page.override("X")
    assert card.badge.text == "Both bad"
    assert not card.open
    field = page.write("So.")
    assert (field.isVisible(), field.hasFocus()) == (True, True)
    page.overriding(lambda: page.save(field))
    assert not card.open
    assert card.beginning.text() == "So."
    page.press("F")
    assert card.body.isVisible()


def test_after_writing_one_reads_the_explanation_from_its_top(small: Page) -> None:
    card = small.desk.card
    bar = card.body.verticalScrollBar()
    for saved in (True, False):
        field = small.write("So.")
        small.until(lambda: bar.value() > 0)  # the field is seen whole
        if saved:
            small.overriding(partial(small.save, field))
        else:
            small.qtbot.keyClick(field, Qt.Key.Key_Escape)
        assert not card.editing
        assert bar.value() == 0


def test_a_fold_is_remembered_and_the_height_of_the_card_with_it(
    page: Page, workspace: Workspace, open_page: Open
) -> None:
    page.until(lambda: page._down.arranged)
    page._down.moveSplitter(page._down.height() - 170, 1)  # as a drag does
    given = page._down.sizes()[1]
    page.press("F")
    page.left()
    again = open_page()
    assert not again.desk.card.open
    again.press("F")
    page.until(lambda: again._down.sizes()[1] == given)
    again.left()
    assert open_page().desk.card.open


def still(page: Page) -> QImage:
    """The page, in whose texts something is marked, once nothing in it moves any more."""

    def at_rest() -> bool:
        under_way = page.reading._soon.isActive() or page.reading._comparing.busy or not page._down.arranged
        return not under_way and bool(page.reading.a.view.extraSelections())

    seen = [page.grab().toImage()]
    while len(seen) < 3 or not seen[-3] == seen[-2] == seen[-1]:
        page.until(at_rest)
        page.qtbot.wait(30)
        seen.append(page.grab().toImage())
    return seen[-1]


@pytest.mark.slow
def test_marked_markdown_follows_theme_and_text_size_at_once(look: Look, small: Page) -> None:
    small.take_focus()  # no cursor blinks in the search
    small.press("MDF")
    small.reading.a.show_text("# Title\n\n- one `code`\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    seen = [still(small)]
    for theme, size in ((ThemeChoice.DARK, 100), (ThemeChoice.DARK, 150), (ThemeChoice.LIGHT, 100)):
        look(theme, size)
        small.follow_look()  # as the window lets it
        seen.append(still(small))
        assert small.reading.a.view.extraSelections()
        small.reading.a._render()  # as the item opened again
        small.restyle()
        assert still(small) == seen[-1], (theme, size)
        [ground] = {
            mark.format.background().color().name() for mark in small.reading.a.view.extraSelections()
        }
        assert ground == (DARK if theme is ThemeChoice.DARK else LIGHT).own_ground
    assert seen[0] == seen[-1]
    assert seen[1] != seen[0]


@pytest.mark.slow
def test_what_each_judge_said_has_room_in_a_small_window_with_large_text(
    look: Look, small: Page, store: Path
) -> None:
    look(ThemeChoice.LIGHT, 150)
    small.follow_look()
    open_panel(small.qtbot, small, exchanged=True)
    small.until(lambda: small._down.arranged)
    card, before = small.desk.card, small._down.sizes()
    methods = card.body.methods
    assert (card.each_method.text(), methods.title.text()) == ("Judges", "Raw predictions by judge")
    assert methods.visibleRegion().boundingRect().height() < methods.height() / 2
    card.each_method.click()
    small.until(lambda: methods.visibleRegion().boundingRect().height() > 0.8 * methods.height())
    small.press("J")  # the next judgment has the room, too
    small.until(lambda: small._down.arranged)
    assert small._down.sizes()[1] > before[1]
    card.body.go_to_methods()
    card.each_method.click()
    small.until(lambda: small._down.sizes() == before)


def rows_seen(page: Page) -> int:
    view = page.list.view
    seen = view.viewport().visibleRegion().boundingRect()
    table = page.list.table
    return sum(seen.contains(view.visualRect(table.index(row, STATE))) for row in range(table.rowCount()))


def test_six_items_are_seen_whatever_is_folded_or_stands_side_by_side(small: Page) -> None:
    search = small.list.filters.search
    for filtered in (False, True):
        if filtered:
            words = "labels A, of which another page wants to know"
            small.list_wanted(WantedItems(1, Filters(label=Preference.A), words))
            small.list.alike.show()
            small.list.filters.more.click()
        for keys in ("", "F", "V", "VFV"):  # nothing, folded, both, side by side
            small.press(keys)
            small.until(lambda: rows_seen(small) >= 6, timeout=10_000)
            assert small.size() == QSize(*PAGE)
            small.press("/")
            small.until(
                lambda: search.visibleRegion().boundingRect().height() == search.height(), timeout=10_000
            )
            small.list.take_focus()
        small.press("V")


def test_the_responses_have_most_of_a_small_window_in_which_nothing_above_or_sideways_is_scrolled(
    small: Page,
) -> None:
    assert share(small) >= 0.35
    controls = small.list._controls
    inside = controls.widget()
    small.until(lambda: controls.viewport().height() >= inside.height(), timeout=5_000)
    view = small.list.view
    metrics = view.fontMetrics()
    assert view.columnWidth(MARKS) >= metrics.horizontalAdvance("⇄2 ≠2 ✎2 !2") + 8
    left = view.columnViewportPosition(INSTRUCTION)
    letters = (view.viewport().width() - left - 8) / metrics.averageCharWidth()
    assert view.isColumnHidden(INSTRUCTION) or letters >= 12
    assert view.horizontalScrollBar().maximum() == 0
    small.press("F")
    small.until(lambda: share(small) >= 0.55)
    small.press("F")
    small.until(lambda: 0.35 <= share(small) < 0.55)


class WithIcons(QProxyStyle):
    """Fusion as many desktops ask for it: with icons on the buttons of dialogs."""

    def styleHint(self, hint: QStyle.StyleHint, *around: Any) -> int:  # noqa: N802 - Qt calls it
        asked = hint is QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons
        return 1 if asked else super().styleHint(hint, *around)


@pytest.mark.usefixtures("look")
def test_buttons_of_dialogs_have_no_icons_that_no_other_button_has(qtbot: QtBot) -> None:
    style, box = WithIcons("Fusion"), QDialogButtonBox()
    qtbot.addWidget(box)
    box.setStyle(style)
    box.addButton(QDialogButtonBox.StandardButton.Ok)
    assert box.button(QDialogButtonBox.StandardButton.Ok).icon().isNull()
