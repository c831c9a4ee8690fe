"""The diagnostics on the clipboard: what the engine tells, and what the window alone knows.

Knows: the screen, settings of the window that hold no name. Does not know: what else is told.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Slot, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from engine.system.awake import KeepAwake
from gui.kit.theme import ThemeChoice, is_dark
from gui.review.judgment_desk import NEXT_ITEM
from gui.runs.run_watch import kept_awake
from gui.window.diagnostics_jobs import tell
from gui.work.lanes import LatestTask, ThreadName
from gui.work.state import BLIND, MOST_OF_QT, NEXT_CRITERION, State
from gui.work.workspace import Workspace

_Pairs = Sequence[tuple[str, str]]


class DiagnosticsCopier(QObject):
    """Gathers them where nobody waits, then copies them and says so."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._telling = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._telling.finished.connect(self._take)
        workspace.failures.follow(self._telling)

    @Slot()
    def copy(self) -> None:
        """Begin; what is on the clipboard stays until they are whole."""
        space = self._workspace
        space.note.emit("Gathering the diagnostics …")
        self._telling.start(tell(_screen(), _settings(space.state), space.store_path))

    @Slot(object)
    def _take(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._workspace.note.emit("The diagnostics are on the clipboard; they contain none of your texts.")


def _screen() -> _Pairs:
    screen = QGuiApplication.primaryScreen()
    size, room = screen.size(), screen.availableSize()
    palette = QGuiApplication.palette()
    return (
        (
            "screen",
            f"{size.width()} x {size.height()} ({room.width()} x {room.height()} free), scale"
            f" {screen.devicePixelRatio():g}, {screen.logicalDotsPerInch():.0f} dpi, one of"
            f" {len(QGuiApplication.screens())}",
        ),
        (
            "window",
            f"Qt {qVersion()} on {QGuiApplication.platformName()}, style {QApplication.style().name()},"
            f" {'dark' if is_dark(palette) else 'light'} colours",
        ),
    )


def _settings(state: State) -> _Pairs:
    """Those that were changed; whatever stands in the file, only words of the window are told."""
    theme, text_size = state.text("theme"), state.number("text_size", 100, MOST_OF_QT)
    after_label = state.text(NEXT_CRITERION)
    changed = {
        "theme": theme if theme in (ThemeChoice.LIGHT, ThemeChoice.DARK) else "",
        "text size": f"{text_size} %" if text_size != 100 else "",
        "awake while judging": "" if kept_awake(state) is KeepAwake.MAINS else kept_awake(state).value,
        "next after a label": {"on": "criterion", NEXT_ITEM: "item"}.get(after_label, ""),
        "blind": "on" if state.text(BLIND) == "on" else "",
    }
    return [(name, value) for name, value in changed.items() if value]
