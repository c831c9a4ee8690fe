"""How a test lets go of a whole window.

Knows: when Qt has ended a window. Does not know: what is in it.
"""

from PySide6.QtCore import QCoreApplication, QEvent

from gui.window.interior import Interior


def end_window(interior: Interior) -> None:
    """Close a window in which nothing runs, and end it: each change of style takes longer with it."""
    interior.frame.close()
    ended = interior.end()
    interior.frame.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert ended
