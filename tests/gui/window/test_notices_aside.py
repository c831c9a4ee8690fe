"""A notice lies over nothing that labels, stores or deletes at a click, however long it is and however small
the window.
"""

from collections.abc import Iterator
from typing import cast

import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.data.submission import write_submission
from engine.results.completeness import open_submission
from engine.results.run_results import submission_of
from engine.store.run_store import RunStore
from gui.review.criterion_strip import ExplanationEditor, OverrideButtons
from gui.widgets.labels import is_guarded
from gui.widgets.notice import Message
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from tests.gui.review.steps import open_panel
from tests.gui.window.test_long_names import MainContentOf, main_content_of  # noqa: F401  the fixture
from tests.gui.window.test_sizes import DEFAULT, SMALL

NAME = "W" * 255
LONG = Message(
    f"Written: {NAME}\n" + "\n".join(f"{number} ids are missing." for number in range(40)),
    f"Look at {NAME}. " * 3,
    steps={f"Show {NAME[:20]}": lambda: None},
)


def place_of(widget: QWidget, frame: QWidget) -> QRect:
    """Where a widget is seen in the window."""
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
    run = made.workspace.run
    assert run is not None
    assert run.dataset is not None
    path = made.workspace.store_path.with_name("own.tsv")
    write_submission(path, submission_of(run.results))
    with RunStore(made.workspace.store_path) as store:
        return open_submission(path, run.dataset, store).id


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
def test_on_review_no_notice_meets_what_labels(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
    percent: int,
) -> None:
    with main_content_of("W", text_percent=percent) as (made, _):
        made.notices.dismiss_all()
        for size in (DEFAULT, SMALL):
            made.frame.resize(size)
            for layout in layouts(qtbot, made):
                for said in (Message("Run 2 has finished."), LONG):
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
    notice = QRect(place.mapTo(frame, QPoint()), place.size())
    assert QRect(frame.stack.mapTo(frame, QPoint()), frame.stack.size()).contains(notice), where
    met = [button.accessibleName() for button, seen in acting.items() if seen.intersects(notice)]
    assert met == [], where
    buttons = [button for button in place.findChildren(QPushButton) if button.isVisible()]
    own = [place_of(button, frame) for button in buttons]
    assert [seen.size() for seen in own] == [button.size() for button in buttons], where
    place.fold()
    seen = [place_of(button, frame) for button in buttons_that_act(made)]
    assert not [one for one in own if any(one.intersects(other) for other in seen)], where
    place.toggle()


@pytest.mark.slow
def test_on_no_page_a_notice_meets_what_stores_or_deletes(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
) -> None:
    with main_content_of("n") as (made, _):
        made.runs.add_to_queue()
        made.frame.resize(SMALL)
        for page in (PageName.JUDGE, PageName.RESULTS, PageName.COMPARE, PageName.RANKING):
            made.frame.show_page(page)
            for tab in range(made.results.tabs.count()) if page is PageName.RESULTS else (0,):
                made.results.tabs.setCurrentIndex(tab)
                made.notices.add(LONG)
                qtbot.wait(50)
                frame, place = made.frame, made.notices
                notice = QRect(place.mapTo(frame, QPoint()), place.size()) if place.isVisible() else QRect()
                met = [each for each in buttons_that_act(made) if place_of(each, frame).intersects(notice)]
                assert met == [], (page, tab)


@pytest.mark.slow
def test_a_notice_makes_way_for_what_comes_to_lie_below_it(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
) -> None:
    with main_content_of("n") as (made, _):
        made.notices.dismiss_all()
        made.frame.resize(DEFAULT)
        made.frame.show_page(PageName.DATASET)
        made.notices.add(LONG)
        before = made.notices.geometry()
        made.frame.show_page(PageName.REVIEW)
        qtbot.waitUntil(lambda: made.notices.geometry() != before)
        check(made, "another page")
        made.review.beside.set_on(True)
        made.frame.resize(QSize(1100, 660))
        qtbot.wait(100)
        qtbot.waitUntil(lambda: can_label(made))
        check(made, "other layout")
