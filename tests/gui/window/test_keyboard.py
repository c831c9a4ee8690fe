"""All pages and dialogs by keyboard alone: Tab reaches each control, as one reads, and each has a name.

Knows: the whole window. Does not know: what a page is for.
"""

from collections.abc import Iterator
from itertools import chain

import pytest
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from gui.dataset.columns_dialog import ColumnsDialog
from gui.judge.prompt_jobs import Subject
from gui.review.filter_bar import SeedDialog
from gui.review.review_page import ReviewPage
from gui.window.main_content import MainContent
from gui.window.prompt_dialog import PromptDialog, PromptRequest
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.state import PageName
from tests.gui.tabbed import by_tab, called, wrong_by_keyboard
from tests.gui.window.test_long_names import MainContentOf, adjudicate, dialogs, main_content_of  # noqa: F401  the fixture
from tests.gui.window.test_sizes import DEFAULT, own_dialogs, places


def texts_before_judgments(page: ReviewPage) -> list[str]:
    """The way through an item: its list, its texts, A before B, then what is said of it."""
    reading, card = page.reading, page.desk.card
    texts = [pane.view for pane in (reading.instruction, reading.a, reading.b)]
    strip = [button for button in page.desk.strip.buttons if button.isChecked()]
    method = [page.list.view, *texts, *strip, card.fold, *card.buttons.labels.values(), card.buttons.edit]
    return [called(each) for each in method]


def in_turn(made: MainContent) -> list[str]:
    """What Tab comes to of that way, from the list on."""
    made.review.list.view.setFocus()
    reached = [made.review.list.view, *by_tab(made.frame)]
    method = texts_before_judgments(made.review)
    return list(dict.fromkeys(called(each) for each in reached if called(each) in method))


def more_dialogs(made: MainContent) -> Iterator[QDialog]:
    """Those whose controls come and go while they are open."""
    space = made.workspace
    assert space.dataset is not None
    yield SeedDialog(1, {1: 2}, made.frame)
    rubric = space.rubric.rubric
    yield ColumnsDialog(
        space, ColumnsRequest(space.dataset.path, made.dataset._open_by, rubric=rubric), made.frame
    )
    yield PromptDialog(space, PromptRequest(Subject(space.dataset[0], made.judge.setup()), ""), made.frame)


@pytest.mark.slow
def test_tab_reaches_each_control_of_each_page_and_dialog_as_one_reads(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
) -> None:
    with main_content_of("n") as (made, study):
        made.notices.dismiss_all()
        made.frame.resize(DEFAULT)
        made.review.list.filters.more.setChecked(True)
        wrong = {}
        for place in places(qtbot, made):
            adjudicate(qtbot, made.frame, made.threads)
            wrong[place] = wrong_by_keyboard(made.frame)
            if place == "Review":
                assert in_turn(made) == texts_before_judgments(made.review)
        made.frame.show_page(PageName.COMPARE)
        made.compare.compare()
        qtbot.waitUntil(made.compare.view.isVisible)
        wrong["Compare, compared"] = wrong_by_keyboard(made.frame)
        for dialog in chain(own_dialogs(made), more_dialogs(made), dialogs(made, study)):
            dialog.show()
            adjudicate(qtbot, dialog, made.threads)
            wrong[f"{type(dialog).__name__} {dialog.windowTitle()}"] = wrong_by_keyboard(dialog)
            dialog.close()
        assert {place: lines for place, lines in wrong.items() if lines} == {}
