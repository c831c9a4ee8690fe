"""The menu of the list of a review: its items can be judged again, in a run of their own, or looked into.

The keys of a page, without Ctrl: a field that is written in keeps them for itself.
"""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QWidget

from engine.core.formatting import counted
from gui.review.review_list import ReviewList
from gui.widgets.action_table import of_page
from gui.workspace.workspace import Workspace

_PAUSE_MS = 1000  # without a key, after which letters are keys of the page again
_NO_HAND_MS = 10  # in which nobody lets a key go and presses it again


class PageKeys(QObject):
    """Shortcuts that work wherever the focus is in a page."""

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        self._spares: list[tuple[QShortcut, tuple[type, ...]]] = []
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._released = 0, 0  # which key, and when
        self._held = False  # whether the key that is pressed now is one that repeats
        page.installEventFilter(self)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.focusObjectChanged.connect(self._follow_focus)

    def add(
        self,
        key: str,
        do: Callable[[], object],
        repeat: bool = False,
        spares: tuple[type, ...] = (),
        by_hand: bool = False,
    ) -> None:
        """Let a key do something; not while a widget of a type in `spares` has the focus. `by_hand`: once
        each time that a hand presses it, whatever the system says.
        """
        shortcut = QShortcut(QKeySequence(key), self._page)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.setAutoRepeat(repeat)
        shortcut.activated.connect(partial(self._obey, do, by_hand))
        if spares:
            self._spares.append((shortcut, spares))

    @Slot()
    def pause(self) -> None:
        """An annotator still types what an editor was to get: nothing is done until that ends."""
        self._pause.start()

    @property
    def pausing(self) -> bool:
        """True while keys do nothing."""
        return self._pause.isActive()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See whether a key is held down.

        X11 tells that by a release and a press of one time. Where Qt sees the first of these alone, on a busy
        computer, it takes the second one for a press by hand.
        """
        if isinstance(event, QKeyEvent):
            key, time = event.key(), event.timestamp()
            if event.type() == QEvent.Type.KeyRelease:
                self._released = key, time
            elif event.type() == QEvent.Type.ShortcutOverride:
                released, at = self._released
                self._held = key == released and time > 0 and time - at < _NO_HAND_MS
        return super().eventFilter(watched, event)

    def _obey(self, do: Callable[[], object], by_hand: bool) -> None:
        if self._held and by_hand:
            return
        if self._pause.isActive():
            self._pause.start()
        else:
            do()

    @Slot(QObject)
    def _follow_focus(self, now: QObject | None) -> None:
        for shortcut, spared in self._spares:
            shortcut.setEnabled(not isinstance(now, spared))


KEYS = tuple(of_page("Review", name).keys for name in ("judge_again", "judge_listed"))


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
