"""Does by keys what a mouse drags: the line between two parts of a page, the edge of a table's column.

Knows: where the keys are. Does not know: pages, which keys these are.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QHeaderView, QSplitter, QTableView, QWidget

_STEP = 4  # mean characters


def resize_part(direction: Qt.Orientation, larger: bool) -> bool:
    """Let the part of the window that has the keys take room in a direction from the one beside it, or give
    it some back; False where none is beside it.
    """
    part = QApplication.focusWidget()
    while part is not None and not _resized(part, direction, larger):
        part = part.parentWidget()
    return part is not None


def _resized(part: QWidget, direction: Qt.Orientation, larger: bool) -> bool:
    splitter = part.parentWidget()
    if not isinstance(splitter, QSplitter) or splitter.orientation() != direction:
        return False
    parts = [splitter.widget(place) for place in range(splitter.count())]
    shown = [place for place, each in enumerate(parts) if each is not None and not each.isHidden()]
    if len(shown) == 1:
        return False
    at = shown.index(splitter.indexOf(part))
    is_last = at == len(shown) - 1
    line = shown[at] if is_last else shown[at + 1]  # each has the number of the part after it
    edge = splitter.handle(line).pos()
    before = edge.x() if direction is Qt.Orientation.Horizontal else edge.y()
    splitter.moveSplitter(before + _step(part, forward=larger is not is_last), line)
    return True


def resize_column(wider: bool) -> bool:
    """Make the column of the cell that has the keys wider or narrower; False where no mouse could."""
    view = QApplication.focusWidget()
    if not isinstance(view, QTableView) or not view.currentIndex().isValid():
        return False
    header, column = view.horizontalHeader(), view.currentIndex().column()
    if header.sectionResizeMode(column) is not QHeaderView.ResizeMode.Interactive:
        return False
    width = header.sectionSize(column) + _step(view, forward=wider)
    header.resizeSection(column, max(width, header.minimumSectionSize()))
    return True


def _step(widget: QWidget, forward: bool) -> int:
    pixels = _STEP * widget.fontMetrics().averageCharWidth()
    return pixels if forward else -pixels
