"""All pages and dialogs of the window: nothing is cut, covered or wider than a screen, each text stands out,
each control is reached by Tab, and foreign text is never markup.
"""

import re
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from PySide6 import QtGui, QtWidgets
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLabel, QMenu, QWidget
from pytestqt.qtbot import QtBot

from engine.core.errors import SetupError
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
from gui.runs.runs_dialog import DeleteDialog, DifferencesDialog, RunNameDialog
from gui.widgets.glossary import HelpDialog
from gui.widgets.notice import question
from gui.widgets.theme import TEXT_SIZES, ThemeChoice
from gui.window.dialogs import AboutDialog, SettingsDialog
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.window.submission_jobs import Unanswered
from gui.workspace import store_jobs
from gui.workspace.state import PageName, State
from tests.gui.fits import wrong_with
from tests.gui.jobs import done
from tests.gui.painted import hard_to_read
from tests.gui.steps import run_of, whole_window
from tests.gui.tabbed import by_tab, called, wrong_by_keyboard
from tests.gui.window import study as looks
from tests.gui.window.study import MainContentOf, Study


@pytest.mark.slow
def test_nothing_of_large_text_is_cut_or_covered(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n", text_percent=150) as (made, study):
        made.notices.dismiss_all()
        made.frame.resize(looks.DEFAULT)
        assert looks.found(qtbot, made) == {}
        made.frame.resize(looks.SMALL)
        assert looks.found(qtbot, made) == {}
        assert made.frame.size() == looks.SMALL
        check_small(qtbot, made, study, looks.SMALL)


@pytest.mark.slow
def test_nothing_is_cut_or_covered_as_text_grows(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n") as (made, _):
        made.notices.dismiss_all()
        made.runs.add_to_queue()
        made.frame.resize(looks.SMALL)
        assert looks.found(qtbot, made) == {}
        assert made.frame.size() == looks.SMALL
        made.frame.resize(looks.DEFAULT)
        made.frame.set_text_size(150)
        assert looks.found(qtbot, made) == {}
        assert made.frame.size() == looks.DEFAULT


def check_small(qtbot: QtBot, made: MainContent, study: Study, room: QSize) -> None:
    for what, dialog in looks.one_by_one(
        qtbot, made, chain(looks.dialogs(made, study), looks.own_dialogs(made))
    ):
        assert looks.at_rest(qtbot, dialog) == [], what
        least = dialog.minimumSizeHint()
        assert least.boundedTo(room) == least, what


@pytest.mark.models  # each dialog is made anew: half a minute
def test_dialogs_fit_a_small_screen_at_the_largest_text(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n", text_percent=TEXT_SIZES[-1]) as (made, study):
        check_small(qtbot, made, study, looks.DEFAULT)


@pytest.mark.slow
def test_pages_fit_a_small_window_at_the_largest_text(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n", text_percent=TEXT_SIZES[-1]) as (made, _):
        made.notices.dismiss_all()
        made.frame.resize(looks.DEFAULT)
        made.review.list.filters.more.setChecked(True)
        assert looks.sideways(qtbot, made) == {}
        assert looks.found(qtbot, made) == {}
        assert made.frame.size() == looks.DEFAULT
        strip = made.review.desk.strip
        assert all(words(each.property("criterion")).capitalize() in each.text() for each in strip.buttons)


def check_pages(qtbot: QtBot, made: MainContent, letter: str) -> None:
    """Each page and each of its tabs, the systems compared also by tag."""
    frame, choice = made.frame, made.compare.slices
    for place in looks.places(qtbot, made):
        looks.adjudicate(qtbot, frame, made.threads)
        assert (place, frame.minimumSizeHint().boundedTo(looks.ROOM)) == (place, frame.minimumSizeHint())
        assert (place, frame.size()) == (place, looks.ROOM)
        assert looks.scrolled_sideways(frame) <= looks.WIDE_ANYHOW, place
        assert [text for text in looks.cut_without_a_tip(frame) if letter * 8 in text] == [], place
        # But for the notice of long names, which lies over the page.
        assert [line for line in wrong_with(frame) if "upon NoticePlace" not in line] == [], place
        assert place != "Ranking" or made.ranking.ranked is not None
        if place == "Compare":
            compare(qtbot, made)
            qtbot.waitUntil(lambda: choice.by.findData("tag") > 0)
            choice.choose("tag")
            qtbot.waitUntil(lambda: made.compare.view.slices.sliced is not None)


def compare(qtbot: QtBot, made: MainContent) -> None:
    made.compare.compare()
    qtbot.waitUntil(made.compare.view.isVisible)


def check_dialogs(qtbot: QtBot, made: MainContent, study: Study) -> None:
    for what, dialog in looks.one_by_one(qtbot, made, looks.dialogs(made, study)):
        assert (what, dialog.size().boundedTo(looks.ROOM)) == (what, dialog.size())
        assert [text for text in looks.cut_without_a_tip(dialog) if study.letter * 8 in text] == [], what
        assert [line for line in wrong_with(dialog) if "beyond its parent" in line] == [], what


def check_menus(made: MainContent, letter: str) -> None:
    for menu in made.frame.findChildren(QMenu):
        menu.aboutToShow.emit()
        assert menu.sizeHint().width() <= looks.ROOM.width(), menu.title()
        cut = [entry for entry in menu.actions() if letter * 8 in entry.text() and "…" in entry.text()]
        assert not [entry.text() for entry in cut if letter * 79 not in entry.toolTip()]


def message_widths(qtbot: QtBot, made: MainContent, study: Study) -> list[int]:
    """How wide an error is, and the question for a dataset."""
    widths: list[int] = []

    def close() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QtWidgets.QMessageBox)
        widths.append(box.width())
        box.reject()

    QTimer.singleShot(0, made.frame, close)
    made.frame.show_problem(SetupError(f"{study.dataset}: {study.name}.", study.name))
    study.submission.write_text("id\tsafety_preference\nstrange\tA\n", "utf-8")
    made.submissions.open(study.submission)
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QtWidgets.QMessageBox))
    close()
    return widths


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="folders leave names of files too few letters")
@pytest.mark.parametrize("letter", [pytest.param("n", marks=pytest.mark.models), "字"])
def test_nothing_grows_names_are_in_tips(qtbot: QtBot, main_content_of: MainContentOf, letter: str) -> None:
    """Of 255 narrow letters that belong together; of wide ones, of which lines break at each."""
    with main_content_of(letter) as (made, study):
        check_pages(qtbot, made, letter)
        check_dialogs(qtbot, made, study)
        check_menus(made, letter)
        assert max(message_widths(qtbot, made, study)) <= looks.ROOM.width()


def test_the_first_window_leaves_room_for_its_title_and_a_task_bar(qtbot: QtBot, tmp_path: Path) -> None:
    frame = MainWindow(State(tmp_path / "state"))
    qtbot.addWidget(frame)
    assert frame.height() <= frame.screen().availableSize().height() - 40
    assert frame.width() <= looks.ROOM.width()


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
def test_tab_reaches_each_control_as_one_reads(qtbot: QtBot, main_content_of: MainContentOf) -> None:
    with main_content_of("n") as (made, study):
        made.notices.dismiss_all()
        made.frame.resize(looks.DEFAULT)
        made.review.list.filters.more.setChecked(True)
        wrong = {}
        for place in looks.places(qtbot, made):
            looks.adjudicate(qtbot, made.frame, made.threads)
            wrong[place] = wrong_by_keyboard(made.frame)
            if place == "Review":
                assert in_turn(made) == texts_before_judgments(made.review)
        made.frame.show_page(PageName.COMPARE)
        compare(qtbot, made)
        wrong["Compare, compared"] = wrong_by_keyboard(made.frame)
        every = chain(looks.own_dialogs(made), looks.more_dialogs(made), looks.dialogs(made, study))
        wrong |= {what: wrong_by_keyboard(dialog) for what, dialog in looks.one_by_one(qtbot, made, every)}
        assert {place: lines for place, lines in wrong.items() if lines} == {}


def dialogs_of_demo(made: MainContent) -> Iterator[QDialog]:
    yield from looks.own_dialogs(made)
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


@pytest.mark.models  # pictures of the whole window take a minute
@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_each_text_is_read_easily(qtbot: QtBot, demo_copy: Path, demo_gold: Path, theme: ThemeChoice) -> None:
    found = {}
    with whole_window(qtbot, demo_copy.parent, demo_gold, run=1, author="Ada") as made:
        made.frame.set_theme(theme)
        for place in looks.places(qtbot, made):
            looks.adjudicate(qtbot, made.frame, made.threads)
            found[place] = hard_to_read(made.frame)
        for what, dialog in looks.one_by_one(qtbot, made, dialogs_of_demo(made)):
            found[what] = hard_to_read(dialog)
        for menu in menus(made):
            found[f"menu {menu.title()}"] = hard_to_read(menu)
        QtWidgets.QToolTip.showText(made.frame.mapToGlobal(QPoint(0, 0)), "What a tip says", made.frame)
        found["tip"] = hard_to_read(
            next(each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel"))
        )
        made.frame.set_theme(ThemeChoice.LIGHT)
    assert {place: lines for place, lines in found.items() if lines} == {}


FOREIGN = "<b>"
AMPERSAND = "<b>&"
_SWALLOWED = re.compile(r"<b>&(?!&)")  # the line below the next letter, in place of it
_TAG = re.compile(r"</?(?!b)[a-z][^<>]*>|</|<br|&(lt|gt|amp);")  # other than in FOREIGN
_ROWS = 5


def told(widget: QWidget) -> Iterator[str]:
    interface = QAccessible.queryAccessibleInterface(widget)
    yield from (interface.text(kind) for kind in (QAccessible.Text.Name, QAccessible.Text.Description))
    for model in models(widget):
        roles = (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole)
        yield from (str(text) for role in roles for text in cells(model, role))


def tips(widget: QWidget) -> Iterator[str]:
    yield widget.toolTip()
    yield from (action.toolTip() for action in widget.findChildren(QAction))
    for model in models(widget):
        yield from (str(text) for text in cells(model, Qt.ItemDataRole.ToolTipRole))


def models(widget: QWidget) -> Iterator[QAbstractItemModel]:
    if isinstance(widget, QtWidgets.QAbstractItemView | QtWidgets.QComboBox) and widget.model() is not None:
        yield widget.model()


def cells(model: QAbstractItemModel, role: Qt.ItemDataRole) -> Iterator[object]:
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
    if isinstance(widget, QAbstractButton) or (isinstance(widget, QLabel) and widget.buddy() is not None):
        said.append(widget.text())
    if isinstance(widget, QtWidgets.QGroupBox):
        said.append(widget.title())
    if isinstance(widget, QtWidgets.QTabBar):
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
    yield LinesDialog("Changes", list(map(override_in_words, run_of(space).results.reviews.overrides)))


def dialogs_of_runs(made: MainContent, study: Study) -> Iterator[QDialog]:
    """What is asked and shown of runs, and of a submission or rubric whose file is in the way."""
    space, frame = made.workspace, made.frame
    contents = store_jobs.in_store(space.store_path, lambda store: store.contents([1, 2]))
    yield DeleteDialog(done(contents), frame)
    yield DifferencesDialog(done(store_jobs.differences(space.store_path, 1, 2)), frame)
    yield RunNameDialog(Queued(made.judge.setup(), name=study.name[:80], note=study.name), frame)
    yield question(frame, "Title", study.name, study.name)
    made.submissions._ask_which(Unanswered(study.submission, 3, study.dataset, 2))
    yield made.submissions.question


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no file can have such a name")
def test_foreign_text_is_never_taken_for_markup_and_no_ampersand_of_it_is_swallowed(
    qtbot: QtBot, main_content_of: MainContentOf
) -> None:
    with main_content_of(AMPERSAND) as (made, study):
        found = {}
        for place in looks.places(qtbot, made):
            qtbot.wait(100)
            found[place] = wrong(made.frame)
        for menu in made.frame.findChildren(QMenu):
            menu.aboutToShow.emit()
            found[f"The menu {menu.title()}"] = wrong(menu)
        annotators, runs = dialogs_of_annotators(made, study), dialogs_of_runs(made, study)
        every = chain(
            looks.dialogs(made, study), looks.own_dialogs(made), looks.more_dialogs(made), annotators, runs
        )
        found |= {what: wrong(dialog) for what, dialog in looks.one_by_one(qtbot, made, every)}
        assert {place: lines for place, lines in found.items() if lines} == {}
