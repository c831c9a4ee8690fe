"""All pages and dialogs by keyboard alone: Tab reaches each control, as one reads, and each has a name.

Knows: the whole window. Does not know: what a page is for.
"""

from itertools import chain

from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gui.review.review_page import ReviewPage
from gui.window.interior import Interior
from tests.gui.tabbed import by_tab, called, wrong_by_keyboard
from tests.gui.window.test_long_names import InteriorOf, dialogs, interior_of, settle  # noqa: F401  the fixture
from tests.gui.window.test_sizes import USUAL, own_dialogs, places


def shown(qtbot: QtBot, root: QWidget) -> None:
    root.show()
    root.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is root)


def texts_before_judgments(page: ReviewPage) -> list[str]:
    """The way through an item: its list, its texts, A before B, then what is said of it."""
    reading, card = page.reading, page.desk.card
    texts = [pane.view for pane in (reading.instruction, reading.a, reading.b)]
    strip = [button for button in page.desk.strip.buttons if button.isChecked()]
    way = [page.list.view, *texts, *strip, card.fold, *card.buttons.labels.values(), card.buttons.edit]
    return [called(each) for each in way]


def in_turn(made: Interior) -> list[str]:
    """What Tab comes to of that way, from the list on."""
    made.review.list.view.setFocus()
    reached = [made.review.list.view, *by_tab(made.frame)]
    way = texts_before_judgments(made.review)
    return list(dict.fromkeys(called(each) for each in reached if called(each) in way))


def test_tab_reaches_each_control_of_each_page_and_dialog_as_one_reads(
    qtbot: QtBot,
    interior_of: InteriorOf,  # noqa: F811
) -> None:
    with interior_of("n") as (made, study):
        made.notices.dismiss_all()
        made.frame.resize(USUAL)
        shown(qtbot, made.frame)
        wrong = {}
        for place in places(qtbot, made):
            settle(qtbot, made.frame, made.threads)
            wrong[place] = wrong_by_keyboard(made.frame)
            if place == "Review":
                assert in_turn(made) == texts_before_judgments(made.review)
        for dialog in chain(own_dialogs(made), dialogs(made, study)):
            shown(qtbot, dialog)
            settle(qtbot, dialog, made.threads)
            wrong[f"{type(dialog).__name__} {dialog.windowTitle()}"] = wrong_by_keyboard(dialog)
            dialog.close()
        assert {place: lines for place, lines in wrong.items() if lines} == {}
