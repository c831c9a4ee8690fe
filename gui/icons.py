"""The icons of the rail and the window, drawn for this project and tinted with the theme.

Knows: SVG. Does not know: where they are used.
"""

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
}
_SIDE = 64  # pixels that an icon is drawn with; Qt makes it smaller


def icon(name: str, colour: str) -> QIcon:
    """An icon by its name, in a colour `#rrggbb`."""
    return QIcon(_drawn(_FRAME.format(colour=colour, shape=_SHAPES[name])))


def _drawn(svg: str) -> QPixmap:
    pixmap = QPixmap(_SIDE, _SIDE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg.encode("ascii"))).render(painter, QRectF(0, 0, _SIDE, _SIDE))
    painter.end()
    return pixmap


_MARK = """
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<rect x="2" y="2" width="60" height="60" rx="14" fill="#1f5f9c"/>
<path d="M32 14v34M22 50h20M14 22h36" stroke="#ffffff" stroke-width="4" stroke-linecap="round" fill="none"/>
<path d="M7.5 38l7.5-15 7.5 15a7.5 7.5 0 0 1-15 0z" fill="#8cc4f4"/>
<path d="M41.500 38l7.500-15 7.500 15a7.500 7.500 0 0 1-15 0z" fill="#f4b55a"/>
</svg>
"""


def window_icon() -> QIcon:
    """The mark of the program."""
    return QIcon(_drawn(_MARK))
