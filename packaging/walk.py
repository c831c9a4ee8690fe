"""Record a walk through the program as an animated picture: captions below the window name the keys.

    PYTHONPATH=. python packaging/walk.py FILE.gif [ITEMS]

ITEMS: how many items of the demo datasets are judged (all).
"""

import sys
from contextlib import chdir
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from film import Film
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QScrollArea, QScrollBar, QWidget
from stage import Stage, stage, wait

from engine.core.items import Preference
from engine.system.paths import demo_dataset
from gui.workspace.state import PageName

SIZE = (1200, 740)
WORDS = "Neither response is right."
FILE = "submission.tsv"
_LOOK = 3.5  # seconds to read a caption and to look at what it is about
_GLANCE = 1.2
_STEPS = 8  # pictures of a pointer on its way
_RUNNING = 10  # pictures of a run


def main(arguments: list[str]) -> int:
    """Record the walk; the exit code."""
    path = Path(arguments[0] if arguments else "docs/walk.gif").absolute()
    items = int(arguments[1]) if len(arguments) > 1 else None
    with stage(*SIZE) as at_work, chdir(at_work.home):
        at_work.window.workspace.state.keep_export_folder(Path())  # no name of a folder in the picture
        walk = Walk(at_work, Film(SIZE))
        walk.judge(items)
        walk.read_scores()
        walk.review()
        walk.export()
        walk.rank(items)
        walk.end()
    walk.film.save(path)
    print(f"{path}: {walk.film.seconds:.0f} s, {path.stat().st_size / 1e6:.2f} MB")
    return 0


@dataclass
class Walk:
    """A user with mouse and keyboard, whose steps are captioned."""

    stage: Stage
    film: Film
    said: str = ""
    pointer: QPoint | None = None

    # The walk

    def judge(self, items: int | None) -> None:
        """The demo, from Run to the last item."""
        window = self.stage.window
        self.stage.wait_until_idle()
        window.judge.dataset_line.set_items(items)
        self.stage.wait_until_idle()
        self.say(
            "Tiebreak judges which of two responses is better, with a model on this computer.", _LOOK + 1
        )
        self.say("The demo dataset and a small demo model are selected. Run starts.", _GLANCE)
        self.click(window.judge.run_button)
        self.say("The model reads each pair in both orders. Each judgment is stored at once.")
        self._watch_run(items or 240)
        self.say("All items are judged. How good are the labels?", _LOOK)

    def read_scores(self) -> None:
        """Results: the summary and the figures."""
        results = self.stage.window.results
        self.say("Results shows the scores, and compares them with baselines that read no text.")
        self.press("Ctrl+3", _LOOK + 2)
        self.say("Figures show where the judge and the human labels differ.")
        bar = results.tabs.tabBar()
        self.click(bar, bar.tabRect(1).center(), _LOOK + 1)

    def review(self) -> None:
        """A label and its explanation overridden."""
        review = self.stage.window.review
        self.say("Review starts with the most uncertain item: texts, probabilities, an explanation.")
        self.press("Ctrl+4", _LOOK + 3)
        self.say("Marked: what the two responses share, and what only one of them has.")
        self.press("D", _LOOK)
        self.say("Both are bad: your label overrides the judge's.")
        self.press("X", _LOOK)
        self.say("Write your own explanation; Ctrl+Enter saves it.")
        self.press("E", _GLANCE)
        self._type(WORDS)
        self.press("Ctrl+Return", _LOOK)
        self.say("Accept the item, and go to the next one.")
        self.press("Return", _LOOK)
        self.say("Labels can also be clicked.", _GLANCE)
        self.click(review.desk.card.buttons.labels[Preference.A], seconds=_LOOK)

    def export(self) -> None:
        """The submission, written."""
        self.say("Export the submission: the dialog shows what it will contain.")
        self.press("Ctrl+E", _LOOK + 2)
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QDialog)
        self.say("The file has the judge's labels and, where you overrode them, yours.", _GLANCE)
        QTest.keySequence(self._front.focusWidget(), QKeySequence.StandardKey.SelectAll)
        self._type(FILE)
        self.press("Return", _LOOK + 1)
        assert (self.stage.home / FILE).exists()

    def rank(self, items: int | None) -> None:
        """The candidates of another dataset."""
        window = self.stage.window
        self.say("Another dataset names the model that wrote each response.")
        window.workspace.open_dataset(demo_dataset().with_name("demo-candidates.tsv"))
        window.frame.show_page(PageName.JUDGE)
        self.stage.wait_until_idle()
        window.judge.dataset_line.set_items(items)
        self.stage.wait_until_idle()
        self.look(_LOOK)
        self.say("It is judged in the same way.", _GLANCE)
        self.click(window.judge.run_button)
        self._watch_run(items or 240)
        self.say("Show results opens the new run.", _GLANCE)
        self.click(window.judge.results_button, seconds=_GLANCE)
        self.say("Ranking shows which models are better, and which differences are not significant.")
        self.press("Ctrl+6", _LOOK + 4)
        self._scroll(window.ranking)

    def end(self) -> None:
        """Where it began."""
        self.say("Everything works offline, by keyboard, and in the terminal: make run", _LOOK + 2)

    # Steps

    def say(self, words: str, seconds: float = 0) -> None:
        """Show a caption below the window, long enough to read it."""
        self.said, self.key = words, ""
        if seconds:
            self.look(seconds)

    def look(self, seconds: float) -> None:
        """Show the window for a while."""
        self.film.add(self.stage.window.frame, self.said, self.key, self.pointer, seconds)

    def press(self, key: str, seconds: float) -> None:
        """Press a key where the keys go, and look at what comes of it."""
        self.key = key.replace("Return", "Enter")
        self.look(_GLANCE)
        self._front.activateWindow()  # a dialog that is gone does not give the keys back by itself here
        wait()
        QTest.keySequence(self._front.focusWidget() or self._front, QKeySequence(key))
        self.stage.wait_until_idle()
        self.look(seconds)
        self.key = ""

    def click(self, widget: QWidget, place: QPoint | None = None, seconds: float = 0.0) -> None:
        """Move the pointer to a widget and click at it."""
        inside = place or widget.rect().center()
        goal = widget.mapTo(self.stage.window.frame, inside)
        start = self.pointer or QPoint(SIZE[0] // 2, SIZE[1] // 2)
        for step in range(1, _STEPS + 1):
            share = step / _STEPS
            self.pointer = start + (goal - start) * (share * share * (3 - 2 * share))
            self.look(0.05)
        self.look(0.5)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=inside)
        if seconds:
            self.stage.wait_until_idle()
            self.look(seconds)

    def _scroll(self, page: QWidget) -> None:
        """Turn the wheel over a page until what stands below is seen."""
        seen = [area.verticalScrollBar() for area in page.findChildren(QScrollArea) if area.isVisible()]
        bar = max(seen, key=QScrollBar.maximum)
        for step in range(1, _STEPS + 1):
            bar.setValue(bar.pageStep() * step // _STEPS)
            wait()
            self.look(0.08)
        self.look(_LOOK + 1)

    def _type(self, text: str) -> None:
        for letter in text:
            QTest.keyClicks(self._front.focusWidget(), letter)
            wait()
            self.look(0.08)
        self.look(_GLANCE)

    def _watch_run(self, items: int) -> None:
        """Look at a run now and then until it has ended."""
        control = self.stage.window.run_control

        def reached(judged: float) -> bool:
            return self.stage.judged > judged or not control.running

        for part in range(1, _RUNNING):
            self.stage.until(partial(reached, items * part / _RUNNING))
            self.look(0.7)
        self.stage.until(lambda: not control.running)
        self.stage.wait_until_idle()

    @property
    def _front(self) -> QWidget:
        return QApplication.activeModalWidget() or self.stage.window.frame


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
