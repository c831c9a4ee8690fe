"""What tips, dialogs and readers of the screen say: text, never markup; foreign markup is never obeyed.

Knows: the whole window. Does not know: what a page is for.
"""

import re
import sys
from collections.abc import Iterator
from itertools import chain

import pytest
from PySide6 import QtGui
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QDialog,
    QGroupBox,
    QLabel,
    QMenu,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from engine.core.events import CancelToken
from engine.results.annotation_file import annotation_file
from engine.store.run_store import RunStore
from gui.review import review_jobs
from gui.review.annotation_exchange import AddWordsDialog, ExportWordsDialog
from gui.review.judgment_desk import LinesDialog
from gui.review.session import override_in_words
from gui.runs import runs_jobs
from gui.runs.queue import Queued
from gui.runs.run_dialogs import DeleteDialog, DifferencesDialog
from gui.runs.runs_table import RunNameDialog
from gui.widgets.notice import question
from gui.window.main_content import MainContent
from gui.window.submission_jobs import Unanswered
from gui.workspace.threads import JobControl
from tests.gui.window.test_keyboard import more_dialogs
from tests.gui.window.test_long_names import (  # noqa: F401  the fixture
    MainContentOf,
    Study,
    adjudicate,
    dialogs,
    main_content_of,
)
from tests.gui.window.test_sizes import own_dialogs, places

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
    assert space.run is not None
    yield ExportWordsDialog(space.run, [study.name], frame)
    (study.folder / "away").mkdir()
    other = Study(study.folder / "away", study.letter)
    other.write()
    with RunStore(other.store()) as away:
        files = [(study.file_name(".json"), annotation_file(away, 1))]
    made_of = review_jobs._counted(space.store_path, 1, files, {})
    assert made_of.joining.namesakes
    yield AddWordsDialog(made_of, frame)
    yield LinesDialog("Changes", [override_in_words(each) for each in space.run.results.reviews.overrides])


def dialogs_of_runs(made: MainContent, study: Study) -> Iterator[QDialog]:
    """What is asked and shown of runs, and of a submission or rubric whose file is in the way."""
    space, frame = made.workspace, made.frame
    control = JobControl(CancelToken(), lambda _progress: None)
    yield DeleteDialog(runs_jobs.contents(space.store_path, [1, 2])(control), frame)
    yield DifferencesDialog(runs_jobs.differences(space.store_path, 1, 2)(control), frame)
    yield RunNameDialog(Queued(made.judge.setup(), name=study.name[:80], note=study.name), frame)
    yield question(frame, "Title", study.name, study.name)
    made.submissions._ask_which(Unanswered(study.submission, 3, study.dataset, 2))
    assert made.submissions.question is not None
    yield made.submissions.question


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no file can have such a name")
def test_foreign_text_is_never_taken_for_markup_and_no_ampersand_of_it_is_swallowed(
    qtbot: QtBot,
    main_content_of: MainContentOf,  # noqa: F811
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
