"""The list of the Review page in the order of a column: by its title or the box of orders, which agree."""

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from engine.annotations.records import ListOrder
from engine.core.judgments import Origin
from gui.review.review_page import ReviewPage
from gui.review.review_table import ID, INSTRUCTION, LABELS, MARKS, STATE, TITLE_ORDERS, UNCERTAINTY
from tests.gui.review.steps import press


def click_title(qtbot: QtBot, page: ReviewPage, column: int) -> None:
    """Click on a title, and wait for the list."""
    header = page.list.view.horizontalHeader()
    page.list.view.horizontalScrollBar().setValue(header.sectionPosition(column))
    place = QPoint(header.sectionViewportPosition(column) + 8, header.height() // 2)
    with qtbot.waitSignal(page.list.listed):
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)


def shown(page: ReviewPage, column: int) -> list[Any]:
    table = page.list.table
    return [table.index(row, column).data() for row in range(table.rowCount())]


def order(page: ReviewPage) -> ListOrder:
    return page.list.filters.list_order


def origin(page: ReviewPage) -> Origin | None:
    return page.session.origin


def marked(page: ReviewPage) -> tuple[int, Qt.SortOrder]:
    header = page.list.view.horizontalHeader()
    return header.sortIndicatorSection(), header.sortIndicatorOrder()


def test_a_title_sorts_turns_and_goes_back_to_the_dataset_and_the_box_says_so(
    qtbot: QtBot, page: ReviewPage
) -> None:
    filters = page.list.filters
    assert marked(page) == (UNCERTAINTY, Qt.SortOrder.DescendingOrder)
    click_title(qtbot, page, ID)
    assert shown(page, ID) == [str(number) for number in range(1, 31)]
    assert (filters.order.currentText(), order(page)) == ("By id", ListOrder.ID)
    assert origin(page) is Origin.CHOSEN  # a person picks the items himself
    click_title(qtbot, page, ID)
    assert shown(page, ID) == [str(number) for number in range(30, 0, -1)]
    assert filters.order.currentText() == "By id, backwards"
    click_title(qtbot, page, ID)
    assert order(page) is ListOrder.DATASET
    assert marked(page)[0] == -1
    click_title(qtbot, page, UNCERTAINTY)
    assert order(page) is ListOrder.UNCERTAINTY
    assert origin(page) is Origin.UNCERTAINTY
    click_title(qtbot, page, UNCERTAINTY)
    assert shown(page, UNCERTAINTY) == sorted(shown(page, UNCERTAINTY))


@pytest.mark.parametrize("column", [STATE, LABELS, MARKS, INSTRUCTION])
def test_each_order_of_a_title_can_be_chosen_by_keys_and_marks_the_title(
    qtbot: QtBot, page: ReviewPage, column: int
) -> None:
    box = page.list.filters.order
    for (of, direction), wanted in TITLE_ORDERS.items():
        if of == column:
            page.list.filters.choose_order(ListOrder.DATASET)
            box.setFocus()
            with qtbot.waitSignal(page.list.listed):
                box.setCurrentIndex(box.findData(wanted.value) - 1)
                qtbot.keyClick(box, Qt.Key.Key_Down)
            assert order(page) is wanted
            assert marked(page) == (of, direction)


def test_who_labels_blind_learns_nothing_by_a_title(qtbot: QtBot, page: ReviewPage) -> None:
    with qtbot.waitSignal(page.list.listed):
        page.reviewer.blind_button.click()
    before = order(page)
    assert before is ListOrder.DATASET
    for column in (LABELS, MARKS):
        click_title(qtbot, page, column)
        assert order(page) is before
        assert marked(page)[0] == -1
    offered = {page.list.filters.order.itemData(row) for row in range(page.list.filters.order.count())}
    assert not offered & {"doubt", "least doubt", "labels", "most marks", "disagreement"}
    click_title(qtbot, page, ID)
    assert order(page) is ListOrder.ID


def test_done_items_come_first_where_they_are_wanted_so(qtbot: QtBot, page: ReviewPage) -> None:
    with qtbot.waitSignal(page.workspace.reviewed):
        press(qtbot, page, "S")
    click_title(qtbot, page, STATE)
    assert shown(page, STATE)[-1] == "»"
    click_title(qtbot, page, STATE)
    assert shown(page, STATE)[0] == "»"
