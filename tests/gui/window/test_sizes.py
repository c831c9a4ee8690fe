"""All pages and dialogs at sizes of the window and of its text: nothing is cut, nothing covered.

Knows: the whole window. Does not know: what a page is for.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QScrollArea, QTabWidget, QWidget
from pytestqt.qtbot import QtBot

from engine.core.formatting import words
from gui.judge.rubric_dialog import RubricDialog, RubricRequest
from gui.judge.rubric_edit import EditedRubric
from gui.runs.runs_dialog import RunsDialog
from gui.widgets.fields import Fold
from gui.widgets.theme import TEXT_SIZES
from gui.window.dialogs import KeysDialog
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from tests.gui.fits import wrong_with
from tests.gui.window.test_long_names import (  # noqa: F401  the fixture
    MainContentOf,
    Study,
    dialogs,
    main_content_of,
)

_LOOKS = 200  # at most, before something is wrong for good
SMALL, DEFAULT = QSize(1000, 650), QSize(1280, 720)


def places(qtbot: QtBot, made: MainContent) -> Iterator[str]:
    """Each page and each of its tabs, shown one after the other, everything unfolded."""
    for page, shown in zip(PageName, made.pages, strict=True):
        made.frame.show_page(page)
        for fold in shown.findChildren(Fold):
            fold.set_open(True)
        yield page.value
        if page is PageName.REVIEW:
            made.review.beside._tick(2, True)
            yield "Review, side by side"
            made.review.beside._tick(2, False)
        for tab in [tab for tab in shown.findChildren(QTabWidget) if tab.isVisible()]:
            for number in range(tab.count()):
                tab.setCurrentIndex(number)
                yield f"{page.value}, {tab.tabText(number)}"


def found(qtbot: QtBot, made: MainContent) -> dict[str, list[str]]:
    """What is wrong, by place."""
    wrong = {place: at_rest(qtbot, made.frame) for place in places(qtbot, made)}
    return {place: lines for place, lines in wrong.items() if lines}


def at_rest(qtbot: QtBot, root: QWidget) -> list[str]:
    """What is wrong with a window, once its parts have found their places."""
    for _ in range(_LOOKS):
        qtbot.wait(10)
        if not (wrong := wrong_with(root)):
            break
    return wrong


def sideways(qtbot: QtBot, made: MainContent) -> dict[str, int]:
    """By how many pixels pages are wider than there is room for them, by place."""
    wider = {}
    for place in places(qtbot, made):
        area = made.frame.stack.currentWidget()
        assert isinstance(area, QScrollArea)
        for _ in range(_LOOKS):
            qtbot.wait(10)
            if not (more := area.horizontalScrollBar().maximum()):
                break
        if more:
            wider[place] = more
    return wider


def own_dialogs(made: MainContent) -> Iterator[QDialog]:
    """Those that no name is in."""
    space, frame = made.workspace, made.frame
    rubric = EditedRubric.of(space.rubric.rubric)
    yield RubricDialog(space, RubricRequest(replace(rubric, name=""), None, space.dataset), frame)
    yield RunsDialog(space, made.runs.health, frame)
    yield KeysDialog(made.review.NAME, frame)


@pytest.mark.slow
def test_nothing_is_cut_or_covered_after_a_restart_with_large_text(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
) -> None:
    with main_content_of("n", text_percent=150) as (made, study):
        made.notices.dismiss_all()
        made.frame.resize(DEFAULT)
        assert found(qtbot, made) == {}
        made.frame.resize(SMALL)
        assert found(qtbot, made) == {}
        assert made.frame.size() == SMALL
        for dialog in (*dialogs(made, study), *own_dialogs(made)):
            dialog.show()
            assert at_rest(qtbot, dialog) == [], dialog.windowTitle()
            least = dialog.minimumSizeHint()
            assert least.boundedTo(SMALL) == least, dialog.windowTitle()
            dialog.close()


@pytest.mark.slow
def test_nothing_is_cut_or_covered_when_the_size_of_text_changes(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
) -> None:
    with main_content_of("n") as (made, _):
        made.notices.dismiss_all()
        made.runs.add_to_queue()
        made.frame.resize(SMALL)
        assert found(qtbot, made) == {}
        assert made.frame.size() == SMALL
        made.frame.resize(DEFAULT)
        made.frame.set_text_size(150)
        assert found(qtbot, made) == {}
        assert made.frame.size() == DEFAULT


@pytest.mark.models  # each dialog is made anew: half a minute
def test_dialogs_fit_a_small_screen_at_the_largest_text(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
) -> None:
    with main_content_of("n", text_percent=TEXT_SIZES[-1]) as (made, study):
        for dialog in (*dialogs(made, study), *own_dialogs(made)):
            dialog.show()
            assert at_rest(qtbot, dialog) == [], dialog.windowTitle()
            least = dialog.minimumSizeHint()
            assert least.boundedTo(DEFAULT) == least, dialog.windowTitle()
            dialog.close()


@pytest.mark.slow
def test_pages_fit_a_small_window_at_the_largest_text(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
) -> None:
    with main_content_of("n", text_percent=TEXT_SIZES[-1]) as (made, _):
        made.notices.dismiss_all()
        made.frame.resize(DEFAULT)
        made.review.list.filters.more.setChecked(True)
        assert sideways(qtbot, made) == {}
        assert found(qtbot, made) == {}
        assert made.frame.size() == DEFAULT
        strip = made.review.desk.strip
        assert all(words(each.property("criterion")).capitalize() in each.text() for each in strip.buttons)
