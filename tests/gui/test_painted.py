"""What `painted` finds in a widget: texts that are hard to read, and too many that it cannot look at."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from tests.gui.painted import hard_to_read


class Lines(QWidget):
    """Lines of text in black on white, of which the last ones are painted over."""

    def __init__(self, hidden: int, ink: Qt.GlobalColor = Qt.GlobalColor.black) -> None:
        super().__init__()
        self._hidden, self._ink = hidden, ink
        self.resize(200, 800)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Write 20 lines, and paint over some."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), Qt.GlobalColor.white)
        painter.setPen(self._ink)
        for line in range(20):
            painter.drawText(10, 30 + 40 * line, f"Line {line}")
        if self._hidden:
            painter.fillRect(0, 40 * (20 - self._hidden), 200, 800, Qt.GlobalColor.white)


def test_faint_letters_are_hard_to_read(qtbot: QtBot) -> None:
    plain, faint = Lines(0), Lines(0, Qt.GlobalColor.lightGray)
    for made in (plain, faint):
        qtbot.addWidget(made)
        made.show()
    assert hard_to_read(plain) == []
    assert len(hard_to_read(faint)) == 20


def test_few_texts_may_be_hidden_and_no_more(qtbot: QtBot) -> None:
    two, three = Lines(2), Lines(3)
    for made in (two, three):
        qtbot.addWidget(made)
        made.show()
    assert hard_to_read(two) == []
    with pytest.raises(
        AssertionError, match=r"of 20 texts no ink is seen of \['Line 17', 'Line 18', 'Line 19'\]"
    ):
        hard_to_read(three)
