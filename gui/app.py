"""The application: Qt started, the window opened, bugs shown, also those in overrides; signals to end, also
while Qt waits; while a popup is open, keys are for it alone.

Knows: QApplication, what Qt needs of the system. Does not know: what is in the window.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSettings, QSocketNotifier, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QWindow
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from engine.core import VERSION
from engine.core.errors import EngineBug, EngineError
from engine.system.computer import keep_few_sources
from engine.system.crash_reports import FaultWatch
from engine.system.paths import data_folder
from gui.window.frame import MainWindow

if TYPE_CHECKING:
    from gui.window.main_content import MainContent


def make_application(arguments: list[str]) -> QApplication:
    """Qt's application object, named and with the style that the theme is made for."""
    guard_overrides()
    keep_few_sources()
    QCoreApplication.setApplicationName("Tiebreak")
    QCoreApplication.setApplicationVersion(VERSION)
    # Qt's own file dialog remembers its columns and places; not in a file beside everybody else's.
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(data_folder()))
    app = QApplication([sys.argv[0], *arguments])
    app.setApplicationDisplayName("Tiebreak")
    app.setDesktopFileName("tiebreak")
    app.setStyle("Fusion")
    PopupKeys(app)
    return app


def open_window(*files: Path) -> int:
    """Open the window, with a dataset, a submission or both, and stay until it closes; the exit code."""
    watch = FaultWatch()
    app = make_application([])
    signals = EndSignals(app)
    window = MainWindow()
    _report_faults(window.show_problem)
    window.show()
    filled: list[MainContent] = []  # before it begins, for then its threads are to be ended, whatever happens

    def begin() -> None:
        if window.isVisible():  # not where it was closed at once
            filled.append(fill(window))
            filled[0].begin(*files)
            if watch.told_in is not None:
                filled[0].tell_of_fault(watch.told_in)

    def close() -> None:
        window.close()
        if window.isVisible() and not window.closing:
            signals.hear()  # they would rather stay

    first_picture = FirstPicture(window)
    first_picture.shown.connect(begin)
    signals.wanted.connect(close)
    code = app.exec()
    signals.close()
    window.state.save()
    watch.end()
    if not all(main_content.end(at_once=True) for main_content in filled):
        # Something works on that cannot be stopped. All that counts is stored; Qt would abort instead.
        os._exit(code)
    return code


def fill(window: MainWindow) -> "MainContent":
    """Put into the frame what it holds."""
    # Only now: all that is in the window takes longer to import than the frame takes to be seen.
    from gui.window.main_content import MainContent  # noqa: PLC0415

    main_content = MainContent(window)
    _report_faults(main_content.show_problem)
    return main_content


class FirstPicture(QObject):
    """Emits `shown` once, when a window that was just shown has been painted."""

    shown = Signal()

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._handle = window.windowHandle()
        self._handle.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The window is painted while this event is dealt with, so tell after it."""
        if event.type() == QEvent.Type.Expose:
            self._handle.removeEventFilter(self)
            QTimer.singleShot(0, self.shown.emit)
        return super().eventFilter(watched, event)


def _report_faults(show: Callable[[EngineError], None]) -> None:
    """Log and show what goes wrong in a slot; Qt alone would print it where nobody looks."""

    def report(_kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        # Only now: the first picture need not wait for what logging imports.
        from engine.system.crash_reports import fault_words, log_fault  # noqa: PLC0415

        log_fault(error, "in the window")
        bug = EngineBug(fault_words(error))
        bug.__cause__ = error.with_traceback(trace)
        show(bug)

    sys.excepthook = report


# SIGHUP: the terminal is closed. SIGBREAK: Ctrl-Break, or the console is closed, on Windows.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
_LOOK_MS = 200
_ONE_REQUEST = 1.0  # seconds; a terminal that closes sends two signals at once


class EndSignals(QObject):
    """Emits `wanted` when the user or the system asks the program to end; the next such signal ends it."""

    wanted = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
            self._numbers.remove(signal.SIGHUP)  # nohup: the program is to outlive its terminal
        self._received: float | None = None  # when the first signal came that was not told of yet
        self._pipe: tuple[int, int] | None = None
        if sys.platform == "win32":
            self._timer = QTimer(self)
            self._timer.timeout.connect(self._look_for_one)
            self._timer.start(_LOOK_MS)
        else:
            self._pipe = os.pipe()
            for end in self._pipe:
                # Python writes to it in the middle of anything: it must never wait.
                os.set_blocking(end, False)
            self._notifier = QSocketNotifier(self._pipe[0], QSocketNotifier.Type.Read, self)
            self._notifier.activated.connect(self._look_for_one)
            signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        self.hear()

    def hear(self) -> None:
        for number in self._numbers:
            signal.signal(number, self._keep)

    def let_end(self) -> None:
        for number in self._numbers:
            signal.signal(number, signal.SIG_DFL)

    def close(self) -> None:
        self.let_end()
        if self._pipe is not None:
            # Before the pipe is closed: its number may be another file's at once.
            signal.set_wakeup_fd(-1)
            self._notifier.setEnabled(False)
            for end in self._pipe:
                os.close(end)
            self._pipe = None

    def _keep(self, number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._received is None:
            self._received = now
        elif now - self._received > _ONE_REQUEST:  # Qt's loop does not come to it
            self.let_end()
            signal.raise_signal(number)

    def _look_for_one(self) -> None:
        # The numbers of all that came: Python may not have called `_keep` for them yet.
        numbers = os.read(self._pipe[0], 4096) if self._pipe is not None else b""
        if self._received is not None or any(number in self._numbers for number in numbers):
            self.let_end()  # first: what comes with it counts with it
            self._received = None
            self.wanted.emit()


def guard_overrides() -> None:
    """See to every class of ours that is made of one of Qt's, now and from now on; before any is used."""
    for made in list(_made_of(QObject)):
        _guard(made)
    QObject.__init_subclass__ = classmethod(_guard)  # type: ignore[assignment, method-assign]


def _made_of(parent: type) -> Iterator[type]:
    children: list[type] = type.__subclasses__(parent)
    for child in children:
        yield child
        yield from _made_of(child)


def _guard(made: type) -> None:
    if _is_qt(made):
        return
    bases = [base for base in made.__mro__ if _is_qt(base)]
    for name, method in list(vars(made).items()):
        is_public = callable(method) and not name.startswith("_")
        if is_public and not hasattr(method, _GUARDED) and any(hasattr(base, name) for base in bases):
            setattr(made, name, _raised_again(method))


_GUARDED = "raised_again"


# On Python 3.11 an exception that C code raises is not yet an object when it leaves the method that raised
# it, and PySide (seen with 6.8 to 6.12) ends the process by a segmentation fault where Qt called that method
# in the middle of a call of ours. Caught and raised again, it is one, and reaches whoever made the call.
def _raised_again(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def guarded(*arguments: Any, **named: Any) -> Any:
        try:
            return method(*arguments, **named)
        except Exception:
            raise  # it is an object by now

    setattr(guarded, _GUARDED, True)
    return guarded


def _is_qt(made: type) -> bool:
    return made.__module__.startswith(("PySide6", "Shiboken"))


class PopupKeys(QObject):
    # Qt finds the keys of a page by the widget that has the focus, and that of an open list lies in the page.
    def __init__(self, app: QGuiApplication) -> None:
        super().__init__(app)
        app.focusWindowChanged.connect(self._watch)
        self._watch(app.focusWindow())

    def _watch(self, window: QWindow | None) -> None:
        if window is not None:
            window.installEventFilter(self)  # once, however often it is said
        # A menu hands a key that chooses nothing to its bar, and Qt looks for a shortcut then once more.
        for frame in QApplication.topLevelWidgets():
            bar = frame.menuWidget() if isinstance(frame, QMainWindow) else None
            if bar is not None:
                bar.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Qt asks with this event whether a key is wanted as it is, before it looks for a shortcut. The popup
        # is asked first: an open list deals with Enter and Escape there and then.
        popup = QApplication.activePopupWidget() if event.type() is QEvent.Type.ShortcutOverride else None
        if popup is None:
            return super().eventFilter(watched, event)
        if not isinstance(watched, QWidget):
            QApplication.sendEvent(popup.focusWidget() or popup, event)
        event.accept()
        return True
