"""All that the window holds: the pages, the control of runs, the menus, the dialogs.

Imported after the window's first picture, because it takes longer than the frame.

Knows: which pages and dialogs there are. Does not know: what they do.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QListWidget

from gui.compare.compare_page import ComparePage
from gui.dataset.dataset_page import DatasetPage
from gui.judge.judge_page import JudgePage
from gui.judge.run_control import UNFINISHED, RunControl
from gui.kit.notice import Notice
from gui.kit.theme import colours
from gui.results.results_page import ResultsPage
from gui.review.drafts import DRAFTS
from gui.review.review_page import ReviewPage
from gui.window.about_dialog import AboutDialog
from gui.window.icons import icon, window_icon
from gui.window.keys_dialog import KeysDialog
from gui.window.menus import Menus
from gui.window.self_test_dialog import SelfTestDialog
from gui.window.settings_dialog import SettingsDialog
from gui.work.lanes import EngineThreads
from gui.work.page import Page
from gui.work.state import State
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from gui.window.frame import MainWindow


class Interior:
    """Made once for a window."""

    def __init__(self, window: "MainWindow", state: State, store_path: Path | None) -> None:
        self._window = window
        self.threads = EngineThreads(window)
        self.workspace = space = Workspace(self.threads, state, store_path, window)
        window.setWindowIcon(window_icon())
        self.notice = Notice()
        self.run_control = RunControl(space, window)
        self.dataset = DatasetPage(space)
        self.judge = JudgePage(space, self.run_control)
        self.results = ResultsPage(space)
        self.review = ReviewPage(space)
        self.compare = ComparePage(space)
        self.menus = Menus(window, self)

    @property
    def pages(self) -> tuple[Page, ...]:
        """All pages in the order of the rail."""
        return (self.dataset, self.judge, self.results, self.review, self.compare)

    def dress(self, rail: QListWidget) -> None:
        """Draw the icons of the rail in the colour of its text."""
        colour = colours(rail.palette()).text
        for row, page in enumerate(self.pages):
            rail.item(row).setIcon(icon(page.NAME.lower(), colour))

    def forget(self) -> None:
        """Forget what the window remembers, but for work that a person has begun."""
        self.workspace.state.forget_all_but(UNFINISHED, DRAFTS)

    def show_settings(self) -> None:
        """Open the settings."""
        dialog = SettingsDialog(self.workspace, self._window)
        dialog.look_changed.connect(self._window.apply_look)
        dialog.forget_wanted.connect(self._window.forget)
        dialog.exec()

    def show_keys(self) -> None:
        """Show all keys."""
        here = self._window.stack.currentIndex()
        pages = [self.pages[here], *self.pages[:here], *self.pages[here + 1 :]]
        (first, its_keys), *others = [(page.NAME, page.KEYS) for page in pages]
        KeysDialog({first: its_keys, "Everywhere": self.menus.keys(), **dict(others)}, self._window).exec()

    def show_self_test(self) -> None:
        """Run the self-test."""
        SelfTestDialog(self.workspace, self._window).exec()

    def show_about(self) -> None:
        """Say what the program is."""
        AboutDialog(self._window).exec()
