"""What can be done with the selected items of the table: a menu, a key, a button for more than one.

Knows: the item table and its selection. Does not know: what judging is.
"""

from PySide6.QtCore import QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QPushButton, QTableView, QWidget

from engine.core.formatting import counted
from gui.dataset.item_table import ItemTableModel
from gui.kit.labels import name

KEY = "Ctrl+J"
PROMPT_KEY = "P"


class SelectedItems(QPushButton):
    """The button, hidden while less than two items are selected. Of one, the menu and the key are enough."""

    judge_wanted = Signal(object)  # the rows of the items in the dataset, in its order
    prompt_wanted = Signal()  # for the item of the current row

    def __init__(self, view: QTableView, table: ItemTableModel) -> None:
        super().__init__()
        self._view = view
        self._table = table
        self._judge = QAction("", self)
        self._judge.triggered.connect(self._tell)
        self._judge.setShortcut(QKeySequence(KEY))
        self._judge.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.context_menu = QMenu(self)
        self.context_menu.addAction(self._judge)
        self._prompt = QAction(f"Prompt… ({PROMPT_KEY})", self)
        self._prompt.triggered.connect(self.prompt_wanted)
        self.context_menu.addAction(self._prompt)
        self.clicked.connect(self._tell)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._open_menu)
        view.selectionModel().selectionChanged.connect(self._follow)
        table.modelReset.connect(self._follow)
        self._follow()

    def add_key_to(self, page: QWidget) -> None:
        """Let the key work on a page."""
        page.addAction(self._judge)

    @property
    def rows(self) -> list[int]:
        """The rows of the selected items in the dataset, in its order."""
        return sorted(map(self._table.item_at, self._places()))

    def _places(self) -> set[int]:
        """The selected rows of the table: by ranges, for all of 100,000 items may be selected."""
        selection = self._view.selectionModel().selection()
        parts = [selection.at(number) for number in range(selection.count())]
        return {place for part in parts for place in range(part.top(), part.bottom() + 1)}

    @Slot()
    def _follow(self) -> None:
        count = len(self._places())
        text = f"{judge_words(count)}…"
        self._judge.setText(text)
        self._judge.setEnabled(count > 0)
        self._prompt.setEnabled(count > 0)
        self.setText(text)
        name(self, text, f"Choose a model for only the selected items ({KEY})")
        if self.isHidden() and count > 1:
            # It takes its room from the table, whose last row may be the one that was just selected.
            QTimer.singleShot(0, self._keep_in_sight)
        self.setVisible(count > 1)

    @Slot()
    def _keep_in_sight(self) -> None:
        self._view.scrollTo(self._view.currentIndex())

    @Slot()
    def _tell(self) -> None:
        self.judge_wanted.emit(self.rows)

    @Slot(QPoint)
    def _open_menu(self, place: QPoint) -> None:
        self.context_menu.popup(self._view.viewport().mapToGlobal(place))


def judge_words(count: int) -> str:
    """What a button says that lets this many items be judged."""
    return "Judge this item" if count == 1 else f"Judge these {counted(count, 'item', 'items')}"
