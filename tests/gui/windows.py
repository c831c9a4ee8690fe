"""How a test lets go of a whole window, and what one that was killed leaves."""

import shutil

from PySide6.QtCore import QCoreApplication, QEvent

from gui.window.main_content import MainContent
from gui.workspace.state import State


def end_window(main_content: MainContent) -> None:
    """Close a window in which nothing runs, and end it: each change of style takes longer with it."""
    main_content.frame.close()
    ended = main_content.end()
    main_content.frame.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert ended


def after_a_crash(state: State) -> State:
    """The memory of a window as the disk holds it at this moment, which is all that a crash leaves."""
    folder = state.path.parent
    again = folder.with_name(f"{folder.name}-again")
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(folder, again, ignore=shutil.ignore_patterns("*.lock"))
    return State(again)
