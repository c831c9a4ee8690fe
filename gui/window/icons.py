"""The icons of the rail, tinted with the theme, and the mark of the program, all drawn for this project.

Knows: SVG. Does not know: where they are used.
"""

from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="{colour}"'
    ' stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">{shape}</svg>'
)
_SHAPES = {
    "dataset": '<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M3 9.5h18M3 15h18M9 9.5V20"/>',
    "judge": '<path d="M12 4v16M7 20h10M4.5 7.5h15"/><path d="M6.5 7.5l-3 6h6zM17.5 7.5l-3 6h6z"/>',
    "results": '<path d="M4 4v16h16"/><path d="M8.5 16v-4M13 16V7.5M17.5 16v-6"/>',
    "review": '<path d="M4 5h9M4 10h7M4 15h5"/><path d="M12.5 16.5l3 3 5.5-8"/>',
    "compare": '<rect x="3.5" y="5" width="7" height="14" rx="1.5"/>'
    '<rect x="13.5" y="5" width="7" height="14" rx="1.5"/><path d="M6 12.5h2M16 9.5h2M16 12.5h2"/>',
    "ranking": '<path d="M4 6.5h16M4 12h12M4 17.5h8"/><circle cx="14" cy="6.5" r="1.8"/>'
    '<circle cx="10" cy="12" r="1.8"/><circle cx="7.5" cy="17.5" r="1.8"/>',
}
MARK = Path(__file__).resolve().with_name("mark.svg")
_SIDE = 64  # pixels that an icon is drawn with; Qt makes it smaller


def icon(name: str, colour: str) -> QIcon:
    """An icon by its name, in a colour `#rrggbb`."""
    return QIcon(_drawn(_FRAME.format(colour=colour, shape=_SHAPES[name])))


def mark(side: int) -> QPixmap:
    """The mark of the program, `side` pixels wide and high."""
    return _drawn(MARK.read_text(encoding="ascii"), side)


def window_icon() -> QIcon:
    """The mark of the program, for windows."""
    return QIcon(mark(_SIDE))


def _drawn(svg: str, side: int = _SIDE) -> QPixmap:
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg.encode("ascii"))).render(painter, QRectF(0, 0, side, side))
    painter.end()
    return pixmap
