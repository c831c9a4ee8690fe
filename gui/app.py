"""The application: Qt started, the window opened, bugs shown.

Knows: QApplication, what Qt needs of the system. Does not know: what is in the window.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSettings, QTimer, Signal
from PySide6.QtWidgets import QApplication

from engine.core import VERSION
from engine.core.errors import EngineBug, EngineError
from engine.system.computer import keep_few_sources
from engine.system.crash_reports import FaultWatch
from engine.system.paths import data_folder
from gui.window.frame import MainWindow
from gui.window.start import EndSignals, PopupKeys, guard_overrides

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
