"""Notices: they pile up in one place below the page, and take no click that was meant for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QSizePolicy, QWidget
from pytestqt.qtbot import QtBot

from engine.core.errors import SetupError
from gui.widgets.notice import Message
from gui.window.frame import MainWindow
from gui.window.notice_place import NoticePlace
from gui.workspace.state import PageName, State
from tests.gui.steps import click
from tests.gui.window.study import DEFAULT, SMALL, MainContentOf

NAME = "W" * 255
MANY = "\n".join(f"{number} ids are missing." for number in range(40))
LONG = Message(f"Written: a.tsv\n{MANY}", "Look." * 40)
LONG_NAMED = Message(
    f"Written: {NAME}\n{MANY}", f"Look at {NAME}. " * 3, steps={f"Show {NAME[:20]}": lambda: None}
)


@pytest.fixture
def frame(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    """A window of the smallest size with pages that hold a button."""
    made = MainWindow(State(tmp_path))
    pages = [QPushButton(name) for name in PageName]
    for page in pages:
        page.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
    made.fill(pages)
    made.resize(1280, 720)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.set_text_size(100)
    made.deleteLater()


def places(frame: MainWindow) -> dict[QWidget, QRect]:
    """Where everything is, but for what notices are made of."""
    of_notices = {frame.notices, frame.notices.button, *frame.notices.findChildren(QWidget)}
    others = set(frame.findChildren(QWidget)) - of_notices
    return {widget: in_window(widget, frame) for widget in others if widget.isVisible()}


def in_window(widget: QWidget, frame: MainWindow) -> QRect:
    return QRect(widget.mapTo(frame, QPoint()), widget.size())


def seen_buttons(place: NoticePlace) -> list[QPushButton]:
    return [button for button in place.findChildren(QPushButton) if button.isVisible()]


@pytest.mark.parametrize("percent", [100, 150])
def test_notices_pile_up_in_one_place_below_the_page(qtbot: QtBot, frame: MainWindow, percent: int) -> None:
    frame.set_text_size(percent)
    size = frame.size()
    for said in (Message("Run 2 has finished."), LONG, Message.of(SetupError("It is gone.", "Get it back."))):
        frame.notices.add(said)
        qtbot.wait(20)
        assert in_window(frame.notices, frame).top() > in_window(frame.stack, frame).bottom()
        words = frame.notices._words
        assert words.height() >= words.layout().totalHeightForWidth(words.width())
    assert (frame.notices.text, frame.notices.count) == ("It is gone.\nGet it back.", 3)
    assert frame.notices.button.text() == "3 notices: It is gone."
    buttons = [button.text() for button in seen_buttons(frame.notices)]
    assert buttons == ["Copy details", "Dismiss", "‹", "›", "Dismiss all"]
    assert frame.notices.accessibleName() == "It is gone.\nGet it back."
    assert frame.size() == size


def test_a_click_that_was_meant_for_the_page_presses_no_step(qtbot: QtBot, frame: MainWindow) -> None:
    pressed: list[str] = []
    place = frame.notices
    place.add(Message("Run 2 has finished.", steps={"Show run 2": lambda: pressed.append("run 2")}))
    button = next(each for each in seen_buttons(place) if each.text() == "Show run 2")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert pressed == []
    qtbot.waitUntil(lambda: not place._settling.isActive())
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert pressed == ["run 2"]
    place.add(Message("Run 3 has finished.", steps={"Show run 3": lambda: pressed.append("run 3")}))
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert pressed == ["run 2"]  # it came under the hand


def test_notices_are_turned_folded_and_dismissed_by_keys(qtbot: QtBot, frame: MainWindow) -> None:
    place = frame.notices
    place.take_keys()
    assert place.isHidden()
    for text in ("one", "two", "three"):
        place.add(Message(text, about=text))
    assert not place.isAncestorOf(QApplication.focusWidget() or frame)
    with qtbot.waitActive(frame):
        frame.activateWindow()
    place.take_keys()
    focus = QApplication.focusWidget()
    assert isinstance(focus, QPushButton)
    assert focus.text() == "Dismiss"
    click(place, "›")
    assert (place.text, place._place.text()) == ("two", "2 of 3")
    place.withdraw("three")
    assert (place.text, place._place.text()) == ("two", "1 of 2")
    with qtbot.waitSignal(place.left):
        QTest.keyClick(focus, Qt.Key.Key_Escape)
    assert place.isHidden()
    assert place.button.text() == "2 notices: two"
    place.take_keys()
    click(place, "Dismiss")
    assert (place.text, place.count) == ("one", 1)
    place.add(Message("one again", about="one"))
    assert place.count == 1
    place.dismiss_all()
    assert (place.isHidden(), place.button.isEnabled()) == (True, False)


def test_a_note_folds_itself_away_a_problem_stays_and_is_said_once(qtbot: QtBot, frame: MainWindow) -> None:
    place, error = frame.notices, SetupError("It is gone.", "Get it back.")
    place._resting.setInterval(20)
    place.add(Message("Run 2 has finished."))
    qtbot.waitUntil(place.isHidden)
    assert place.count == 1
    place.add(Message.of(error))
    qtbot.wait(100)
    assert place.isVisible()
    for said in (Message("Run 2 has finished."), Message.of(error)):
        place.add(said)
    assert (place.count, place.text) == (2, "It is gone.\nGet it back.")


def test_what_nobody_waits_for_covers_nothing_and_changes_nothing_that_is_read(frame: MainWindow) -> None:
    place = frame.notices
    place.add(Message("Run 2 has finished.", quiet=True))
    assert place.isHidden()
    assert place.button.text() == "1 notice: Run 2 has finished."
    place.toggle()
    assert place.text == "Run 2 has finished."
    place.add(Message(f"Run 3 “{'a' * 200}” & more has finished.", quiet=True))
    assert (place.text, place._place.text()) == ("Run 2 has finished.", "2 of 2")
    assert place.button.text().startswith("2 notices: Run 3 “aaa")
    assert place.button.text().endswith("…")


def test_a_notice_that_changes_in_sight_is_as_high_as_its_words(qtbot: QtBot, frame: MainWindow) -> None:
    place = frame.notices
    place.add(Message("One thing waits.", "It is kept.", about="words"))
    before = place.height()
    qtbot.waitUntil(place.isVisible)
    place.add(Message("More things wait. " * 8, "They are kept. " * 12, about="words", quiet=True))
    assert place.height() > before
    assert place.height() >= place._words.heightForWidth(place._words.width()) + 40


def at_rest(qtbot: QtBot, frame: MainWindow) -> dict[QWidget, QRect]:
    """Where everything is, once nothing of a page comes any more."""
    before: dict[QWidget, QRect] = {}
    while (now := places(frame)) != before:
        before = now
        qtbot.wait(400)
    return now


@pytest.mark.slow
@pytest.mark.parametrize("percent", [100, 150])
def test_no_notice_lies_over_a_page_and_on_review_nothing_moves_for_one(
    qtbot: QtBot, main_content_of: MainContentOf, percent: int
) -> None:
    with main_content_of("W", text_percent=percent) as (made, _):
        frame, place = made.frame, made.notices
        place.dismiss_all()
        for size in (DEFAULT, SMALL):
            frame.resize(size)
            for page in PageName:
                frame.show_page(page)
                before = at_rest(qtbot, frame)
                place.add(LONG_NAMED)
                after = at_rest(qtbot, frame)
                if page is PageName.REVIEW:
                    assert place.isHidden()
                    assert frame.statusBar().currentMessage().startswith("Written: ")
                    assert after == before
                else:
                    notice = in_window(place, frame)
                    above = [in_window(frame.stack, frame), in_window(made.head, frame)]
                    assert not any(notice.intersects(part) for part in above), page
                    own = [in_window(each, frame) for each in seen_buttons(place)]
                    assert [each for each in own if not notice.contains(each)] == [], (page, notice)
                place.dismiss_all()
