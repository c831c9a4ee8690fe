"""Opens a dataset from the menu, whatever page is shown, so that it is seen.

Knows: which page shows a dataset that is read. Does not know: how a file is asked for and read.
"""

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from engine.system.paths import demo_dataset
from gui.compare.compare_page import ComparePage
from gui.dataset.dataset_page import DatasetPage
from gui.window.frame import MainWindow
from gui.window.submission_jobs import Told, tell_apart
from gui.work.lanes import Lane
from gui.work.page_name import PageName


class DatasetOpener(QObject):
    """Judge names the dataset itself; from every other page it leads to the page Dataset."""

    def __init__(self, frame: MainWindow, dataset: DatasetPage, compare: ComparePage) -> None:
        super().__init__(frame)
        self._frame = frame
        self._dataset = dataset
        self._compare = compare

    def ask(self) -> None:
        """Ask for a file, and open it."""
        self._dataset.ask_file(self.open_file)

    def open(self, path: Path) -> None:
        """Open a dataset."""
        self._dataset.workspace.open_dataset(path)
        if self._frame.page is not PageName.JUDGE:
            self._frame.show_page(PageName.DATASET)

    def open_demo(self) -> None:
        """Open the demo dataset."""
        self.open(demo_dataset())

    def open_file(self, path: Path) -> None:
        """Open a file that was chosen as a dataset; on Compare a submission is one more system."""
        if self._frame.page is not PageName.COMPARE:
            self.open(path)
            return
        telling = self._dataset.workspace.threads.start(Lane.FILES, tell_apart([path]))
        telling.finished.connect(self._take_told)

    @Slot(object)
    def _take_told(self, told: Told) -> None:
        if told.submission is not None:
            self._compare.choosing.add_files([told.submission])
        elif told.dataset is not None:
            self.open(told.dataset)
