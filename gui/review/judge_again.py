"""The menu of the list of a review: its items can be judged again, in a run of their own, or looked into.

Knows: the list, the items of the open run. Does not know: how a run is described or judged.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from engine.core.formatting import counted
from gui.review.review_list import ReviewList
from gui.work.workspace import Workspace

KEYS = ("Ctrl+J", "Ctrl+Shift+J")


class JudgeAgain(QObject):
    """The right mouse button opens it on the list; its keys work on the whole page."""

    prompt_wanted = Signal()  # for the chosen item

    def __init__(self, items: ReviewList, workspace: Workspace, page: QWidget) -> None:
        super().__init__(page)
        self._items = items
        self._workspace = workspace
        self.menu = QMenu(page)
        self._one, self._all = (self._action(key, page) for key in KEYS)
        self._one.setText("Judge this item again…")
        self._one.triggered.connect(self._judge_one)
        self._all.triggered.connect(self._judge_all)
        self.menu.addSeparator()
        self.menu.addAction("Prompt… (P)").triggered.connect(self.prompt_wanted)
        items.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        items.view.customContextMenuRequested.connect(self._open)

    def _action(self, key: str, page: QWidget) -> QAction:
        action = QAction("", page)
        action.setShortcut(QKeySequence(key))
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        page.addAction(action)
        self.menu.addAction(action)
        return action

    @Slot(QPoint)
    def _open(self, place: QPoint) -> None:
        self._all.setText(f"Judge the {counted(self._items.shown, 'listed item', 'listed items')}…")
        self.menu.popup(self._items.view.viewport().mapToGlobal(place))

    @Slot()
    def _judge_one(self) -> None:
        chosen = self._items.current
        self._want([chosen.item_id] if chosen is not None else [])

    @Slot()
    def _judge_all(self) -> None:
        self._want([item.item_id for item in self._items.table.listing.items])

    def _want(self, ids: Sequence[str]) -> None:
        run = self._workspace.run
        if run is None or not ids:
            return
        if run.dataset is None:
            self._workspace.note.emit("The dataset of this run is missing: find it, then judge its items.")
            return
        if not (stored := run.results.run).submitted:
            self._workspace.rubric.ask(stored.identity.asked)  # by another model, say, the same
        self._workspace.items_wanted.emit(run.dataset.path, tuple(ids), run.dataset.columns)
