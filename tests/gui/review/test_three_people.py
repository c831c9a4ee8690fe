"""Three people on two laptops label, a fourth settles, and the gold is opened: by keys alone.

Only the window's own widgets are driven: what the system's file dialogs would name is given beforehand.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtCore import QEvent, QKeyCombination, QObject, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from engine.annotations.effective import Reviews
from engine.annotations.records import JUDGE_ALONE
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, ReviewState
from engine.data.dataset import load_dataset
from engine.metrics.evaluation import Evaluation
from gui.results.export_dialog import ExportDialog
from gui.review.annotation_exchange import AddWordsDialog
from gui.review.annotators import WhoDialog
from gui.window.main_content import MainContent
from gui.workspace.threads import ThreadName
from tests.gui.review.steps import KEYS
from tests.gui.steps import whole_window

Labels = Mapping[JudgmentKey, Preference]

_PATIENCE = 30.0  # seconds: a busy computer proves nothing
_PAUSE_MS = 5
_OF_A_MOUSE = {
    QEvent.Type.MouseButtonPress,
    QEvent.Type.MouseButtonRelease,
    QEvent.Type.MouseButtonDblClick,
    QEvent.Type.Wheel,
}


class MouseSeen(QObject):
    """`events`: all that a mouse did to any widget."""

    def __init__(self, app: QApplication) -> None:
        super().__init__()
        self.events: list[str] = []
        app.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _OF_A_MOUSE:
            self.events.append(f"{event.type().name} on {type(watched).__name__}")
        return False


def _click(widget: QWidget, key: str) -> None:
    """Press a key by its name, as `Ctrl+O`."""
    pressed: QKeyCombination = cast(Any, QKeySequence(key))[0]
    QTest.keyClick(widget.windowHandle(), pressed.key(), pressed.keyboardModifiers())


class Desk:
    """What a person does in a window by keys."""

    def __init__(self, main_content: MainContent, monkeypatch: pytest.MonkeyPatch) -> None:
        self._file: Path | None = None  # that the next file dialog names
        monkeypatch.setattr(QFileDialog, "open", lambda dialog: self._answer_open(dialog))  # noqa: PLW0108  a method of the dialog
        monkeypatch.setattr(QFileDialog, "exec", lambda dialog: self._answer_exec(dialog))  # noqa: PLW0108  a method of the dialog
        self.main_content, self.frame = main_content, main_content.frame
        self.space, self.review = main_content.workspace, main_content.review

    def wait(self, until: Callable[[], object]) -> None:
        end = time.monotonic() + _PATIENCE
        while not until():
            assert time.monotonic() < end, f"it does not come to that: {self._place}"
            QTest.qWait(_PAUSE_MS)

    def press(self, *keys: str) -> None:
        for key in keys:
            QTest.qWait(15)  # no hand presses a key again within 10 ms of its release
            _click(self._front(), key)

    def type(self, text: str) -> None:
        for letter in text:
            QTest.keyClick(self._front().windowHandle(), cast(Qt.Key, letter))

    def _front(self) -> QWidget:
        """What has the keys: without a window manager nothing has them once a dialog is closed."""
        front = QApplication.activeModalWidget() or self.frame
        if not front.isActiveWindow():
            front.activateWindow()
            self.wait(front.isActiveWindow)
        return front

    @property
    def _place(self) -> str:
        widget = QApplication.focusWidget()
        named = f"{type(widget).__name__} {widget.accessibleName()!r}" if widget else "nothing"
        note = self.frame.statusBar().currentMessage()
        return f"{named} has the keys; {self.main_content.notices.text!r}; {note!r}"

    def to(self, widget: QWidget) -> None:
        for _ in range(99):
            if self.frame.focusWidget() is widget:
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not come to {widget.accessibleName()!r}: {self._place}")

    def in_menu(self, opens: str, *keys: str) -> None:
        """Open a menu, which may have a loop of its own, and press keys in it, which close it."""
        end, left = time.monotonic() + _PATIENCE, list(keys)

        def go_on() -> None:
            popup = QApplication.activePopupWidget()
            if time.monotonic() > end:
                if popup is not None:
                    popup.close()  # else its loop goes on for ever
            elif popup is None or not left:
                again.start(_PAUSE_MS)
            else:
                again.start(0)
                _click(popup, left.pop(0))

        again = QTimer(self.frame, singleShot=True)
        again.timeout.connect(go_on)
        again.start(0)
        self.press(opens)
        self.wait(lambda: not left and QApplication.activePopupWidget() is None)
        again.stop()
        again.deleteLater()

    def _answer_open(self, dialog: QFileDialog) -> None:
        path, self._file = self._file, None
        assert path is not None
        QTimer.singleShot(0, self.frame, lambda: dialog.fileSelected.emit(str(path)))
        QTimer.singleShot(0, self.frame, lambda: dialog.filesSelected.emit([str(path)]))
        QTimer.singleShot(0, self.frame, dialog.deleteLater)

    def _answer_exec(self, dialog: QFileDialog) -> int:
        path, self._file = self._file, None
        assert path is not None
        dialog.selectFile(str(path))
        return 1

    def open(self, dataset: Path, submission: Path) -> None:
        self.open_dataset(dataset)
        self.open_submission(submission)

    def open_dataset(self, path: Path) -> None:
        self._file = path
        self.press("Ctrl+O")
        self.wait(lambda: self.space.dataset is not None and self.space.dataset.path == path)

    def open_submission(self, path: Path) -> None:
        """Open a submission, and wait until its first item is shown."""
        self._file, before = path, self.space.run
        self.press("Ctrl+Shift+O")
        self.wait(lambda: self.space.run is not None and self.space.run is not before)
        self.wait(lambda: self.review.session.item_id and self.review.isVisible())
        self.wait(lambda: not self.frame.statusBar().currentMessage().startswith("Opening"))

    def export_words(self, path: Path) -> None:
        """File > Export > My annotations."""
        self._file = path
        self.in_menu("Alt+F", "E", "M")
        self.wait(QApplication.activeModalWidget)
        self.press("Return")  # without the texts of the dataset
        self.wait(path.exists)

    def add_words(self, path: Path) -> AddWordsDialog:
        """File > Import annotations, as far as the dialog that counts them."""
        self._file = path
        self.in_menu("Alt+F", "I")
        self.wait(lambda: isinstance(QApplication.activeModalWidget(), AddWordsDialog))
        return self.main_content.annotation_exchange.dialog

    def export(self, letter: str, path: Path) -> None:
        """File > Export > an entry with a dialog of its own, in which the file is named."""
        self.in_menu("Alt+F", "E", letter)
        self.wait(lambda: isinstance(QApplication.activeModalWidget(), ExportDialog))
        self.press("Ctrl+A")
        self.type(str(path))
        self.rest()
        self.press("Return")
        self.wait(path.exists)
        self.wait(lambda: QApplication.activeModalWidget() is None)

    def sit_down(self, name: str) -> None:
        self.to(self.review.reviewer.who)
        self.in_menu("Space", "Up", "Return")  # another name, the last of the entries
        self.wait(lambda: isinstance(QApplication.activeModalWidget(), WhoDialog))
        self.type(name)
        self.press("Return")
        self.wait(lambda: self.space.author == name)

    def label(self, labels: Labels, why: Mapping[str, str], blind: bool = False) -> None:
        """Label all items and confirm each; what is right already is not said again, but by who is blind.

        `why`: by item, an explanation of its first criterion.
        """
        if blind:
            self.to(self.review.reviewer.blind_button)
            self.press("Space", "F6")
        session, progress = self.review.session, self.review.reviewer.progress
        items = {key.item_id for key in labels}
        for done in range(1, len(items) + 1):
            item = session.item_id
            for number, key in enumerate((each for each in labels if each.item_id == item), start=1):
                self.press(str(number))
                self.wait(partial(self._is_at, key))
                if blind or (session.shown is not None and session.shown.label is not labels[key]):
                    self.press(KEYS[labels[key]])
            if item in why:
                self.press("1", "E")
                self.type(why[item])
                self.press("Ctrl+Return")
            self.press("Return")
            self.wait(partial(lambda count: progress.counts[ReviewState.DONE] == count, done))
            if done < len(items):
                self.wait(partial(lambda before: session.item_id != before, item))
        self.wait(lambda: not self.space.words.count)

    def adjudicate(self, otherwise: Labels) -> None:
        """Settle all on which people differ: as most of them say, but for some."""
        self.to(self.review.reviewer.adjudicate_button)
        self.press("Space", "F6")
        session, differing = self.review.session, self.reviews.differing
        self.wait(lambda: session.adjudicating)
        if session.key not in differing:
            self.press("Return")  # to where people differ
        for done in range(1, len(differing) + 1):
            self.wait(lambda: session.key in differing - self.reviews.adjudicated.keys())
            key = session.key
            if key in otherwise:
                self.press(KEYS[otherwise[key]])
                self.wait(partial(self._has_adjudicated, done))
            self.press("Return")
            self.wait(partial(self._has_adjudicated, done))
        self.wait(lambda: not self.space.words.count)

    def _is_at(self, key: JudgmentKey) -> bool:
        return self.review.session.key == key

    def _has_adjudicated(self, judgments: int) -> bool:
        return len(self.reviews.adjudicated) == judgments

    @property
    def reviews(self) -> Reviews:
        return self.space.run.results.reviews

    def rest(self) -> None:
        """Wait until nothing is under way."""
        self.wait(lambda: not any(map(self.main_content.threads.busy, ThreadName)))

    def measured_alone(self) -> Evaluation:
        """The judge's own labels against the human ones, on Results."""
        self.press("Ctrl+3")
        page = self.main_content.results
        self.to(page.whose.box)
        self.press("J")
        self.wait(lambda: page.whose.source == JUDGE_ALONE)
        self.rest()
        scores = page.measurer.scores
        return scores.evaluation


CRITERIA = ("relevance", "safety")
ITEMS = 20
ALL = tuple(Preference)


def turned(label: Preference, by: int = 1) -> Preference:
    return ALL[(ALL.index(label) + by) % len(ALL)]


def said(judged: Labels, every: int, of: str, by: int = 1) -> Labels:
    """What a person says who differs from the judge on some items of a criterion."""
    return {
        key: turned(label, by) if key.criterion == of and int(key.item_id) % every == 0 else label
        for key, label in judged.items()
    }


JUDGED = {
    JudgmentKey(str(item), criterion): ALL[item * (at + 1) % 4]
    for item in range(1, ITEMS + 1)
    for at, criterion in enumerate(CRITERIA)
}
ADA, BEN = said(JUDGED, 3, "relevance"), said(JUDGED, 4, "safety", by=2)
CLEO = said(said(JUDGED, 5, "relevance", by=3), 4, "safety", by=2)
DORA = {  # three people say three labels of the first; of the second she knows better than most
    JudgmentKey("15", "relevance"): Preference.A,
    JudgmentKey("4", "safety"): JUDGED[JudgmentKey("4", "safety")],
}
WHY = {"Ada": {"3": "Ada says why."}, "Ben": {"4": "Ben says why."}, "Cleo": {"5": "Cleo says why."}}


def load_gold(path: Path) -> Labels:
    made = load_dataset(path)
    return {
        JudgmentKey(item, name): Preference(label)
        for name in CRITERIA
        for item, label in made.labels(name).items()
    }


@pytest.fixture
def mouse(qapp: QApplication) -> Iterator[MouseSeen]:
    made = MouseSeen(qapp)
    yield made
    qapp.removeEventFilter(made)


@pytest.fixture
def laptop(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Desk]]:
    """Opens a window on a data folder of that name, and ends the one before."""
    with ExitStack() as before:

        def laptop(name: str) -> Desk:
            before.close()
            monkeypatch.setenv("TIEBREAK_HOME", str(tmp_path / name))
            return Desk(before.enter_context(whole_window(qtbot, tmp_path / name)), monkeypatch)

        yield laptop


@pytest.fixture
def files(demo_gold: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A dataset without labels, and a submission that answers it."""
    data, submission = tmp_path / "pairs.tsv", tmp_path / "judge.tsv"
    rows = [line.split("\t")[:4] for line in demo_gold.read_text("utf-8").split("\n")[: ITEMS + 1]]
    data.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    lines = [["id", *(f"{name}_preference" for name in CRITERIA)]]
    lines += [[row[0], *(JUDGED[JudgmentKey(row[0], name)] for name in CRITERIA)] for row in rows[1:]]
    submission.write_text("".join("\t".join(line) + "\n" for line in lines), "utf-8")
    return data, submission


@pytest.mark.models
@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="there is no xvfb-run")
def test_the_same_on_a_real_screen() -> None:
    test = f"{__file__}::{test_three_people_label_a_fourth_settles_and_what_they_said_is_gold.__name__}"
    screen = ["xvfb-run", "--auto-servernum", "--server-args=-screen 0 1280x720x24"]
    ran = [sys.executable, "-m", "pytest", "-n0", "-p", "no:cacheprovider", "-m", "models", "-rP", test]
    done = subprocess.run(
        [*screen, *ran],
        env=os.environ | {"QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.models
def test_three_people_label_a_fourth_settles_and_what_they_said_is_gold(
    laptop: Callable[[str], Desk], mouse: MouseSeen, files: tuple[Path, Path], tmp_path: Path
) -> None:
    away = laptop("away")
    away.open(*files)
    away.rest()
    away.sit_down("Cleo")
    away.label(CLEO, WHY["Cleo"])
    away.export_words(tmp_path / "cleo.json")
    away.rest()
    desk = laptop("desk")
    desk.open(*files)
    desk.sit_down("Ada")
    desk.label(ADA, WHY["Ada"])
    desk.sit_down("Ben")
    desk.label(BEN, WHY["Ben"], blind=True)
    desk.add_words(tmp_path / "cleo.json")
    desk.rest()
    desk.press("Return")
    desk.wait(lambda: "Cleo" in desk.reviews.annotators)
    desk.rest()
    dialog = desk.add_words(tmp_path / "cleo.json")
    desk.rest()
    assert not dialog.add.isEnabled()
    desk.press("Esc")
    desk.sit_down("Dora")
    desk.adjudicate(DORA)
    desk.rest()
    desk.export("J", tmp_path / "all.json")
    desk.export("C", tmp_path / "all.csv")
    desk.export("D", tmp_path / "gold.tsv")
    desk.rest()
    desk.open_dataset(tmp_path / "gold.tsv")
    desk.rest()
    desk.open_submission(files[1])
    measured = desk.measured_alone().labels
    assert mouse.events == []
    annotators = {"Ada": ADA, "Ben": BEN, "Cleo": CLEO}
    gold = load_gold(tmp_path / "gold.tsv")
    for key, label in gold.items():
        given = {labels[key] for labels in annotators.values()}
        wanted = DORA.get(key) or Counter(labels[key] for labels in annotators.values()).most_common(1)[0][0]
        assert label is wanted, (key, given)
    for name in CRITERIA:
        right = [JUDGED[key] is label for key, label in gold.items() if key.criterion == name]
        assert measured[name].accuracy == pytest.approx(sum(right) / len(right))
        assert 0 < sum(right) < len(right)
    written = json.loads((tmp_path / "all.json").read_text("utf-8"))["items"]
    for item in written:
        for criterion in CRITERIA:
            words = item["judgments"][criterion]["people_said"]
            assert len({json.dumps(word, sort_keys=True) for word in words}) == len(words)
            labelled = [word for word in words if word["author"] in annotators and word["preference"]]
            found = {word["author"]: word["preference"] for word in labelled}
            key = JudgmentKey(item["id"], criterion)
            assert found == {name: labels[key] for name, labels in annotators.items()}
