"""Notices: they move nothing, pile up in one place, take no click that was meant for a page, and lie over
nothing that labels, stores or deletes at a click.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QSizePolicy, QWidget
from pytestqt.qtbot import QtBot

from engine.core.errors import SetupError
from engine.data.submission import write_submission
from engine.results.completeness import open_submission
from engine.results.run_results import submission_of
from engine.store.run_store import RunStore
from gui.review.criterion_strip import ExplanationEditor, OverrideButtons
from gui.widgets.labels import guard, is_guarded
from gui.widgets.notice import Message
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.window.notice_place import NoticePlace
from gui.workspace.state import PageName, State
from tests.gui.review.steps import open_panel
from tests.gui.steps import click, items_of, run_of
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
def test_notices_move_nothing_and_pile_up_in_one_place(frame: MainWindow, percent: int) -> None:
    frame.set_text_size(percent)
    for _ in range(3):  # until the new size has gone through all layouts
        QApplication.processEvents()
    before, size = places(frame), frame.size()
    for said in (Message("Run 2 has finished."), LONG, Message.of(SetupError("It is gone.", "Get it back."))):
        frame.notices.add(said)
        QApplication.processEvents()
        assert places(frame) == before
        assert in_window(frame.stack, frame).contains(in_window(frame.notices, frame))
        words = frame.notices._words
        assert words.height() >= words.layout().totalHeightForWidth(words.width())  # type: ignore[union-attr]
    assert (frame.notices.text, frame.notices.count) == ("It is gone.\nGet it back.", 3)
    assert frame.notices.button.text() == "3 notices: It is gone."
    buttons = [button.text() for button in seen_buttons(frame.notices)]
    assert buttons == ["Copy details", "Dismiss", "‹", "›", "Dismiss all"]
    assert frame.notices.accessibleName() == "It is gone.\nGet it back."
    assert frame.size() == size


def test_a_notice_stays_over_the_pages_whatever_it_had_to_keep_clear_of_before(
    qtbot: QtBot, frame: MainWindow
) -> None:
    guarded = QPushButton("Store", frame.stack.currentWidget())
    guard(guarded)
    guarded.show()
    frame.notices.add(LONG)
    QApplication.processEvents()
    guarded.hide()
    guarded.setParent(None)
    frame.notices.fold()
    frame.notices.add(LONG)
    frame.set_text_size(150)
    QApplication.processEvents()
    assert in_window(frame.stack, frame).contains(in_window(frame.notices, frame))
    frame.set_text_size(100)
    frame.resize(900, 720)
    qtbot.waitUntil(lambda: in_window(frame.stack, frame).contains(in_window(frame.notices, frame)))


def test_a_click_meant_for_the_page_is_one_on_the_page(qtbot: QtBot, frame: MainWindow) -> None:
    pressed: list[str] = []
    (page,) = (button for button in frame.stack.findChildren(QPushButton) if button.isVisible())
    page.clicked.connect(lambda: pressed.append("page"))
    place = frame.notices
    place.add(Message("Run 2 has finished.", steps={"Show run 2": lambda: pressed.append("run 2")}))
    button = next(each for each in seen_buttons(place) if each.text() == "Show run 2")
    where = (Qt.KeyboardModifier.NoModifier, button.mapTo(frame, button.rect().center()))

    def press_there() -> None:
        QTest.mouseClick(frame.windowHandle(), Qt.MouseButton.LeftButton, *where)

    press_there()
    assert pressed == ["page"]
    qtbot.waitUntil(lambda: not place._settling.isActive())
    press_there()
    assert pressed == ["page", "run 2"]
    place.add(Message("Run 3 has finished.", steps={"Show run 3": lambda: pressed.append("run 3")}))
    press_there()
    assert pressed == ["page", "run 2"]  # it came under the hand: neither, least of all the page


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


def place_of(widget: QWidget, frame: QWidget) -> QRect:
    place, part = widget.rect(), widget
    while part is not frame:
        parent = cast(QWidget, part.parentWidget())
        place = place.translated(part.pos()).intersected(parent.rect())
        part = parent
    return place


def buttons_that_act(made: MainContent) -> list[QAbstractButton]:
    """Those that label, store or delete, as they are seen."""
    guarded = [widget for widget in made.frame.findChildren(QWidget) if is_guarded(widget)]
    inside = [button for widget in guarded for button in widget.findChildren(QAbstractButton)]
    alone = [widget for widget in guarded if isinstance(widget, QAbstractButton)]
    return [button for button in (*inside, *alone) if button.isVisible()]


def keep_submission(made: MainContent) -> int:
    """The number by which the labels of the open run are kept as a submission."""
    space = made.workspace
    path = space.store_path.with_name("own.tsv")
    write_submission(path, submission_of(run_of(space).results))
    with RunStore(space.store_path) as store:
        return open_submission(path, items_of(space), store).id


def layouts(qtbot: QtBot, made: MainContent) -> Iterator[str]:
    """Review in each way that it can look."""
    review = made.review
    made.frame.show_page(PageName.REVIEW)
    qtbot.waitUntil(lambda: bool(review.desk.card.badge.text))
    yield "not blind"
    review.desk.edit()
    yield "writing"
    review.desk.finish_writing()
    review.reviewer.switch_blind(True)
    yield "blind"
    review.reviewer.switch_blind(False)
    review.beside._tick(2, True)
    yield "side by side"
    review.beside._splitter.setSizes([0, 1000])
    yield "columns alone"
    review.beside._tick(2, False)
    review.beside.set_on(False)
    review.desk.fold()
    yield "folded"
    review.desk.fold()
    for kind in ("submission", "jury"):
        if kind == "jury":
            open_panel(qtbot, review)
        else:
            made.workspace.open_run(keep_submission(made))
        qtbot.waitUntil(lambda: review.session.run_id == review._run_id and review.list.current is not None)
        yield kind
        made.workspace.open_run(1)
        qtbot.waitUntil(lambda: review._run_id == 1 and review.session.run_id == 1)


@pytest.mark.slow
@pytest.mark.parametrize("percent", [100, 150])
def test_no_notice_meets_what_labels(qtbot: QtBot, main_content_of: MainContentOf, percent: int) -> None:
    with main_content_of("W", text_percent=percent) as (made, _):
        made.notices.dismiss_all()
        for size in (DEFAULT, SMALL):
            made.frame.resize(size)
            for layout in layouts(qtbot, made):
                for said in (Message("Run 2 has finished."), LONG_NAMED):
                    made.notices.add(said)
                    qtbot.wait(50)
                    check(made, f"{layout}, {said.text[:5]}, {percent} %, {size}")
                made.notices.dismiss_all()


def can_label(made: MainContent) -> bool:
    """Whether anything that labels is in sight: a run is read by another thread."""
    kinds = (OverrideButtons, ExplanationEditor)
    labelling = {part for kind in kinds for part in made.frame.findChildren(kind)}
    return any(part.isAncestorOf(button) for part in labelling for button in buttons_that_act(made))


def check(made: MainContent, where: str) -> None:
    """No button that acts is below the notice, nor where a button of it was once it is folded."""
    frame, place = made.frame, made.notices
    acting = {button: place_of(button, frame) for button in buttons_that_act(made)}
    assert can_label(made) or "folded" in where
    assert place.isVisible(), where
    notice = in_window(place, frame)
    assert in_window(frame.stack, frame).contains(notice), where
    met = [button.accessibleName() for button, seen in acting.items() if seen.intersects(notice)]
    assert met == [], where
    buttons = seen_buttons(place)
    own = [place_of(button, frame) for button in buttons]
    assert [seen.size() for seen in own] == [button.size() for button in buttons], where
    place.fold()
    seen = [place_of(button, frame) for button in buttons_that_act(made)]
    assert not [one for one in own if any(one.intersects(other) for other in seen)], where
    place.toggle()


@pytest.mark.slow
def test_no_notice_meets_what_stores_or_deletes(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n") as (made, _):
        frame, place = made.frame, made.notices
        made.runs.add_to_queue()
        frame.resize(SMALL)
        for page in (PageName.JUDGE, PageName.RESULTS, PageName.COMPARE, PageName.RANKING):
            frame.show_page(page)
            for tab in range(made.results.tabs.count()) if page is PageName.RESULTS else (0,):
                made.results.tabs.setCurrentIndex(tab)
                place.add(LONG_NAMED)
                qtbot.wait(50)
                notice = in_window(place, frame) if place.isVisible() else QRect()
                met = [each for each in buttons_that_act(made) if place_of(each, frame).intersects(notice)]
                assert met == [], (page, tab)


@pytest.mark.slow
def test_a_notice_makes_way_for_what_comes_below_it(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n") as (made, _):
        made.notices.dismiss_all()
        made.frame.resize(DEFAULT)
        made.frame.show_page(PageName.DATASET)
        made.notices.add(LONG_NAMED)
        before = made.notices.geometry()
        made.frame.show_page(PageName.REVIEW)
        qtbot.waitUntil(lambda: made.notices.geometry() != before)
        check(made, "another page")
        made.review.beside.set_on(True)
        made.frame.resize(QSize(1100, 660))
        qtbot.wait(100)
        qtbot.waitUntil(lambda: can_label(made))
        check(made, "other layout")
