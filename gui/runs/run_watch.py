"""What a run means for the computer and for a window that nobody looks at.

While runs are judged the computer stays awake, and the title says how far they are, for a minimised window
shows nothing else. At their end the task bar calls.

Knows: which system means there are, what is under way. Does not know: pages, how anything is judged.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication, QWidget

from engine.system.awake import Awake, KeepAwake
from gui.judge.run_control import RunControl
from gui.runs.run_queue import RunQueue
from gui.work.state import State

KEEP_AWAKE = "keep_awake"
"""Where the state keeps when the computer shall stay awake."""
_TICK_MS = 20_000  # a run may tell nothing for minutes, and the computer go to its battery meanwhile


def kept_awake(state: State) -> KeepAwake:
    """When the computer shall stay awake: as the user chose, else on mains."""
    chosen = state.text(KEEP_AWAKE, KeepAwake.MAINS)
    return KeepAwake(chosen) if chosen in set(KeepAwake) else KeepAwake.MAINS


class RunWatch(QObject):
    """Follows the runs of one window; `say_awake` is told whether the computer is kept awake."""

    def __init__(
        self,
        control: RunControl,
        queue: RunQueue,
        state: State,
        window: QWidget,
        say_awake: Callable[[bool], object],
    ) -> None:
        super().__init__(window)
        self._control = control
        self._queue = queue
        self._state = state
        self._window = window
        self._say_awake = say_awake
        self._awake: Awake | None = None
        self._name = window.windowTitle()
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(self._follow)
        control.started.connect(self._follow)
        control.progressed.connect(self._follow)
        control.ended.connect(self._follow_end)
        queue.changed.connect(self._follow)
        queue.ended.connect(self._call)

    @property
    def awake(self) -> bool:
        """Whether the computer is kept awake now."""
        return self._awake is not None and self._awake.active

    def set_name(self, name: str) -> None:
        """What the window is called while nothing is under way."""
        self._name = name
        self._show_title()

    @Slot()
    def follow_settings(self) -> None:
        """Keep the computer awake, or no more, as is chosen now."""
        self._release()
        self._follow()

    @Slot()
    def _follow(self) -> None:
        if self._control.running or self._queue.going:
            if self._awake is None:
                self._awake = Awake(kept_awake(self._state))
                self._tick.start()
            self._awake.refresh()
        else:
            self._release()
        self._say_awake(self.awake)
        self._show_title()

    def _release(self) -> None:
        self._tick.stop()
        if self._awake is not None:
            self._awake.release()
            self._awake = None

    @Slot(object)
    def _follow_end(self, _how: object) -> None:
        self._follow()
        if not self._queue.going:
            self._call()

    @Slot()
    def _call(self) -> None:
        """Let the task bar call until somebody looks; where the window is looked at, nothing happens."""
        QApplication.alert(self._window)

    def _show_title(self) -> None:
        self._window.setWindowTitle(f"{self._far}{self._name}")

    @property
    def _far(self) -> str:
        """How far the run under way is, before the name of the window; empty where there is none."""
        progress, part = self._control.progress, self._queue.part
        if not self._control.running:
            return ""
        of_queue = f"run {part[0]} of {part[1]}" if part is not None and part[1] > 1 else ""
        share = f"{100 * progress.judged // max(1, progress.items)} %" if progress is not None else ""
        return " - ".join([*filter(None, (", ".join(filter(None, (share, of_queue))),)), ""])
