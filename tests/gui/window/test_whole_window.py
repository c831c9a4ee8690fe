"""All pages and dialogs of the window: nothing is cut, covered or wider than a screen, each text stands out,
each control is reached by Tab, and foreign text is never markup.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from PySide6 import QtGui
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QPoint, Qt, QTimer
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialog,
    QGroupBox,
    QLabel,
    QMenu,
    QMessageBox,
    QTabBar,
    QTabWidget,
    QToolTip,
    QWidget,
)
from pytestqt.qtbot import QtBot

from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.formatting import words
from engine.results.annotation_file import annotation_file
from engine.store.run_store import RunStore
from gui.review import review_jobs
from gui.review.annotation_exchange import AddWordsDialog, ExportWordsDialog
from gui.review.annotators import NoteDialog, WhoDialog
from gui.review.judgment_desk import LinesDialog
from gui.review.review_page import ReviewPage
from gui.review.session import override_in_words
from gui.runs.queue import Queued
from gui.runs.runs_dialog import DeleteDialog, DifferencesDialog
from gui.runs.runs_table import RunNameDialog
from gui.widgets.fields import Fold
from gui.widgets.help_dialog import HelpDialog
from gui.widgets.notice import question
from gui.widgets.theme import TEXT_SIZES, ThemeChoice
from gui.window.dialogs import AboutDialog, SettingsDialog
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.window.submission_jobs import Unanswered
from gui.workspace import store_jobs
from gui.workspace.state import PageName, State
from gui.workspace.threads import JobControl
from tests.gui.painted import hard_to_read
from tests.gui.steps import run_of
from tests.gui.tabbed import by_tab, called, wrong_by_keyboard
from tests.gui.window.study import (
    DEFAULT,
    ROOM,
    SMALL,
    WIDE_ANYHOW,
    MainContentOf,
    Study,
    adjudicate,
    at_rest,
    cut_without_a_tip,
    dialogs,
    found,
    more_dialogs,
    outside,
    own_dialogs,
    places,
    scrolled_sideways,
    sideways,
)
from tests.gui.windows import end_window


@pytest.mark.slow
def test_nothing_is_cut_or_covered_after_a_restart_with_large_text(
    qtbot: QtBot, main_content_of: MainContentOf
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
    qtbot: QtBot, main_content_of: MainContentOf
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
def test_dialogs_fit_a_small_screen_at_the_largest_text(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n", text_percent=TEXT_SIZES[-1]) as (made, study):
        for dialog in (*dialogs(made, study), *own_dialogs(made)):
            dialog.show()
            assert at_rest(qtbot, dialog) == [], dialog.windowTitle()
            least = dialog.minimumSizeHint()
            assert least.boundedTo(DEFAULT) == least, dialog.windowTitle()
            dialog.close()


@pytest.mark.slow
def test_pages_fit_a_small_window_at_the_largest_text(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n", text_percent=TEXT_SIZES[-1]) as (made, _):
        made.notices.dismiss_all()
        made.frame.resize(DEFAULT)
        made.review.list.filters.more.setChecked(True)
        assert sideways(qtbot, made) == {}
        assert found(qtbot, made) == {}
        assert made.frame.size() == DEFAULT
        strip = made.review.desk.strip
        assert all(words(each.property("criterion")).capitalize() in each.text() for each in strip.buttons)


def check_pages(qtbot: QtBot, made: MainContent, letter: str) -> None:
    """Each page and each of its tabs, everything unfolded."""
    frame = made.frame

    def look(place: str) -> None:
        adjudicate(qtbot, frame, made.threads)
        for fold in frame.findChildren(Fold):
            if fold.isVisible():
                fold.set_open(True)
        adjudicate(qtbot, frame, made.threads)
        least = frame.minimumSizeHint()
        assert least.width() <= ROOM.width(), f"{place} needs a width of {least.width()}"
        assert least.height() <= ROOM.height(), f"{place} needs a height of {least.height()}"
        assert frame.size() == ROOM, f"{place} makes the window {frame.size()}"
        assert outside(frame) == [], place
        assert scrolled_sideways(frame) <= WIDE_ANYHOW, place
        assert [text for text in cut_without_a_tip(frame) if letter * 8 in text] == [], place

    for page, shown in zip(PageName, made.pages, strict=True):
        frame.show_page(page)
        look(page.value)
        assert page is not PageName.RANKING or made.ranking.ranked is not None
        if page is PageName.REVIEW:
            made.review.beside._tick(2, True)
            look("Review, side by side")
        if page is PageName.COMPARE:
            made.compare.compare()
            qtbot.waitUntil(made.compare.view.isVisible)
            divide_compared(qtbot, made)
        for tab in [tab for tab in shown.findChildren(QTabWidget) if tab.isVisible()]:
            for number in range(tab.count()):
                tab.setCurrentIndex(number)
                look(f"{page.value}, {tab.tabText(number)}")


def divide_compared(qtbot: QtBot, made: MainContent) -> None:
    """Let the comparison stand by tag, too."""
    choice = made.compare.slices
    qtbot.waitUntil(lambda: choice.by.findData("tag") > 0)
    choice.choose("tag")
    qtbot.waitUntil(lambda: made.compare.view.slices.sliced is not None)


def check_dialogs(qtbot: QtBot, made: MainContent, study: Study) -> None:
    for dialog in dialogs(made, study):
        dialog.show()
        adjudicate(qtbot, dialog, made.threads)
        called = f"{type(dialog).__name__} {dialog.windowTitle()}"
        assert dialog.width() <= ROOM.width(), f"{called} is {dialog.width()} wide"
        assert dialog.height() <= ROOM.height(), f"{called} is {dialog.height()} high"
        assert outside(dialog) == [], called
        assert [text for text in cut_without_a_tip(dialog) if study.letter * 8 in text] == [], called
        dialog.close()


def check_menus(made: MainContent, letter: str) -> None:
    for menu in made.frame.findChildren(QMenu):
        menu.aboutToShow.emit()
        assert menu.sizeHint().width() <= ROOM.width(), menu.title()
        cut = [entry for entry in menu.actions() if letter * 8 in entry.text() and "…" in entry.text()]
        assert not [entry.text() for entry in cut if letter * 79 not in entry.toolTip()]


def message_widths(qtbot: QtBot, made: MainContent, study: Study) -> list[int]:
    """How wide an error is, and the question for a dataset."""
    widths: list[int] = []

    def close() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        widths.append(box.width())
        box.reject()

    QTimer.singleShot(0, made.frame, close)
    made.frame.show_problem(SetupError(f"{study.dataset}: {study.name}.", study.name))
    study.submission.write_text("id\tsafety_preference\nstrange\tA\n", "utf-8")
    made.submissions.open(study.submission)
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QMessageBox))
    close()
    return widths


@pytest.mark.slow
@pytest.mark.parametrize("letter", [pytest.param("n", marks=pytest.mark.models), "字"])
def test_nothing_grows_and_each_name_is_whole_in_a_tip(
    qtbot: QtBot, main_content_of: MainContentOf, letter: str
) -> None:
    """Of 255 narrow letters that belong together; of wide ones, of which lines break at each."""
    with main_content_of(letter) as (made, study):
        check_pages(qtbot, made, letter)
        check_dialogs(qtbot, made, study)
        check_menus(made, letter)
        assert max(message_widths(qtbot, made, study)) <= ROOM.width()


def test_the_first_window_leaves_room_for_its_title_and_a_task_bar(qtbot: QtBot, tmp_path: Path) -> None:
    frame = MainWindow(State(tmp_path / "state"))
    qtbot.addWidget(frame)
    assert frame.height() <= frame.screen().availableSize().height() - 40
    assert frame.width() <= ROOM.width()


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


@pytest.mark.slow
def test_tab_reaches_each_control_of_each_page_and_dialog_as_one_reads(
    qtbot: QtBot, main_content_of: MainContentOf
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


@pytest.fixture
def with_demo(qtbot: QtBot, demo_store: Path, demo_gold: Path, tmp_path: Path) -> Iterator[MainContent]:
    """The window with the demo judged, one label overridden, a search, and a comparison with itself."""
    state = State(tmp_path)
    state.set_number("last/run", 1)
    state.set_text("author", "Ada")
    frame = MainWindow(state)
    frame.resize(DEFAULT)
    frame.show()
    made = MainContent(frame, Path(shutil.copy(demo_store, tmp_path / "runs.sqlite")))
    made.begin(demo_gold)
    qtbot.waitUntil(lambda: made.workspace.run is not None)
    yield made
    frame.set_theme(ThemeChoice.LIGHT)
    end_window(made)


def dialogs_of_demo(made: MainContent) -> Iterator[QWidget]:
    yield from own_dialogs(made)
    yield SettingsDialog(made.workspace, made.frame)
    yield AboutDialog(made.frame)
    yield HelpDialog(made.frame)
    yield WhoDialog("Ada", made.frame)
    yield NoteDialog("odd", ["one"], ["one", "two"], made.frame)


def menus(made: MainContent) -> Iterator[QMenu]:
    for menu in made.frame.findChildren(QMenu):
        menu.aboutToShow.emit()
        if any(action.isEnabled() and action.text() for action in menu.actions()):
            menu.popup(made.frame.mapToGlobal(QPoint(0, 0)))
            yield menu
            menu.close()


def tip(made: MainContent) -> QWidget:
    QToolTip.showText(made.frame.mapToGlobal(QPoint(0, 0)), "What a tip says", made.frame)
    return next(each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel"))


@pytest.mark.models  # pictures of the whole window take a minute
@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_each_text_is_read_easily(qtbot: QtBot, with_demo: MainContent, theme: ThemeChoice) -> None:
    with_demo.frame.set_theme(theme)
    found = {}
    for place in places(qtbot, with_demo):
        adjudicate(qtbot, with_demo.frame, with_demo.threads)
        found[place] = hard_to_read(with_demo.frame)
    for dialog in dialogs_of_demo(with_demo):
        dialog.show()
        adjudicate(qtbot, dialog, with_demo.threads)
        found[f"{type(dialog).__name__} {dialog.windowTitle()}"] = hard_to_read(dialog)
        dialog.close()
    for menu in menus(with_demo):
        found[f"menu {menu.title()}"] = hard_to_read(menu)
    found["tip"] = hard_to_read(tip(with_demo))
    assert {place: lines for place, lines in found.items() if lines} == {}


FOREIGN = "<b>"
AMPERSAND = "<b>&"
_SWALLOWED = re.compile(r"<b>&(?!&)")  # the line below the next letter, in place of it
_TAG = re.compile(r"</?(?!b)[a-z][^<>]*>|</|<br|&(lt|gt|amp);")  # other than in FOREIGN
_ROWS = 5


def told(widget: QWidget) -> Iterator[str]:
    """What readers of the screen are told of a widget, and of the cells and entries in it."""
    interface = QAccessible.queryAccessibleInterface(widget)
    yield from (interface.text(kind) for kind in (QAccessible.Text.Name, QAccessible.Text.Description))
    for model in models(widget):
        roles = (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole)
        yield from (str(text) for role in roles for text in cells(model, role))


def tips(widget: QWidget) -> Iterator[str]:
    """All tool tips of a widget."""
    yield widget.toolTip()
    yield from (action.toolTip() for action in widget.findChildren(QAction))
    for model in models(widget):
        yield from (str(text) for text in cells(model, Qt.ItemDataRole.ToolTipRole))


def models(widget: QWidget) -> Iterator[QAbstractItemModel]:
    """The model of a view or a list to choose from."""
    if isinstance(widget, QAbstractItemView | QComboBox) and widget.model() is not None:
        yield widget.model()


def cells(model: QAbstractItemModel, role: Qt.ItemDataRole) -> Iterator[object]:
    """What cells and titles say in a role."""
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
    for column in range(columns):
        yield model.headerData(column, Qt.Orientation.Horizontal, role) or ""
        for row in range(min(model.rowCount(), _ROWS)):
            yield model.index(row, column).data(role) or ""


def obeys_foreign(text: str) -> bool:
    """Whether a tip would be read as HTML with somebody's own tag in it."""
    return bool(QtGui.Qt.mightBeRichText(text)) and FOREIGN in text


def rich(widget: QWidget) -> Iterator[str]:
    """The text of a label that is read as HTML with somebody's own tag in it."""
    if isinstance(widget, QLabel) and widget.textFormat() != Qt.TextFormat.PlainText:
        yield from filter(obeys_foreign, [widget.text()])


def swallowed(widget: QWidget) -> Iterator[str]:
    """What a widget says of which an ampersand of somebody is not shown."""
    said = [action.text() for action in widget.actions()]
    if isinstance(widget, QAbstractButton):
        said.append(widget.text())
    if isinstance(widget, QLabel) and widget.buddy() is not None:
        said.append(widget.text())
    if isinstance(widget, QGroupBox):
        said.append(widget.title())
    if isinstance(widget, QTabBar):
        said += map(widget.tabText, range(widget.count()))
    yield from filter(_SWALLOWED.search, said)


def wrong(window: QWidget) -> list[str]:
    """What is said or shown with markup in it, and which tips obey foreign markup."""
    widgets = [window, *(each for each in window.findChildren(QWidget) if each.window() is window)]
    marked = [text for widget in widgets for text in told(widget) if _TAG.search(text)]
    obeyed = [text for widget in widgets for text in tips(widget) if obeys_foreign(text)]
    shown = [text for widget in widgets for text in (*rich(widget), *swallowed(widget))]
    return [f"{text[:80]!r}" for text in dict.fromkeys([*marked, *obeyed, *shown])]


def dialogs_of_annotators(made: MainContent, study: Study) -> Iterator[QDialog]:
    """What asks before labels are handed over, before those of namesakes are added, what was changed."""
    space, frame = made.workspace, made.frame
    yield ExportWordsDialog(run_of(space), [study.name], frame)
    (study.folder / "away").mkdir()
    other = Study(study.folder / "away", study.letter)
    other.write()
    with RunStore(other.store()) as away:
        files = [(study.file_name(".json"), annotation_file(away, 1))]
    made_of = review_jobs._counted(space.store_path, 1, files, {})
    assert made_of.joining.namesakes
    yield AddWordsDialog(made_of, frame)
    yield LinesDialog(
        "Changes", [override_in_words(each) for each in run_of(space).results.reviews.overrides]
    )


def dialogs_of_runs(made: MainContent, study: Study) -> Iterator[QDialog]:
    """What is asked and shown of runs, and of a submission or rubric whose file is in the way."""
    space, frame = made.workspace, made.frame
    control = JobControl(CancelToken(), lambda _progress: None)
    yield DeleteDialog(
        store_jobs.in_store(space.store_path, lambda store: store.contents([1, 2]))(control), frame
    )
    yield DifferencesDialog(store_jobs.differences(space.store_path, 1, 2)(control), frame)
    yield RunNameDialog(Queued(made.judge.setup(), name=study.name[:80], note=study.name), frame)
    yield question(frame, "Title", study.name, study.name)
    made.submissions._ask_which(Unanswered(study.submission, 3, study.dataset, 2))
    assert made.submissions.question is not None
    yield made.submissions.question


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no file can have such a name")
def test_foreign_text_is_never_taken_for_markup_and_no_ampersand_of_it_is_swallowed(
    qtbot: QtBot, main_content_of: MainContentOf
) -> None:
    with main_content_of(AMPERSAND) as (made, study):
        found = {}
        for place in places(qtbot, made):
            qtbot.wait(100)
            found[place] = wrong(made.frame)
        for menu in made.frame.findChildren(QMenu):
            menu.aboutToShow.emit()
            found[f"The menu {menu.title()}"] = wrong(menu)
        annotators, runs = dialogs_of_annotators(made, study), dialogs_of_runs(made, study)
        for dialog in chain(dialogs(made, study), own_dialogs(made), more_dialogs(made), annotators, runs):
            dialog.show()
            adjudicate(qtbot, dialog, made.threads)
            found[f"{type(dialog).__name__} {dialog.windowTitle()[:40]}"] = wrong(dialog)
            dialog.close()
        assert {place: lines for place, lines in found.items() if lines} == {}
