"""The mouse wheel over a field: followed with the keyboard's focus, left to the page without it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.widgets.fields import ComboBox, DoubleSpinBox, Slider, SpinBox
from tests.gui.wheel import turn_wheel

GUI = Path(__file__).resolve().parents[3] / "gui"
OF_QT = {
    "QComboBox",
    "QSpinBox",
    "QDoubleSpinBox",
    "QSlider",
    "QDial",
    "QDateEdit",
    "QTimeEdit",
    "QFontComboBox",
}


@pytest.mark.parametrize("kind", [ComboBox, SpinBox, DoubleSpinBox, Slider])
def test_a_field_follows_the_wheel_only_with_the_focus(
    qtbot: QtBot, kind: type[ComboBox] | type[SpinBox] | type[DoubleSpinBox] | type[Slider]
) -> None:
    field = kind()
    changes: list[object] = []
    if isinstance(field, ComboBox):
        field.addItems(["first", "second"])
        field.currentIndexChanged.connect(changes.append)
    else:
        field.setValue(5)
        field.valueChanged.connect(changes.append)
    qtbot.addWidget(field)
    with qtbot.waitExposed(field):
        field.show()
    field.clearFocus()
    assert not turn_wheel(field).isAccepted()
    assert (field.hasFocus(), changes) == (False, [])
    assert not field.focusPolicy() & Qt.FocusPolicy.WheelFocus.value & ~Qt.FocusPolicy.StrongFocus.value
    field.setFocus()
    turn_wheel(field)
    assert changes


def made_in(path: Path) -> Iterator[str]:
    """Classes that are called or inherited from."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        named = (
            [node.func]
            if isinstance(node, ast.Call)
            else node.bases
            if isinstance(node, ast.ClassDef)
            else []
        )
        yield from (each.id for each in named if isinstance(each, ast.Name))


@pytest.mark.slow
def test_all_fields_of_the_window_are_such() -> None:
    others = {
        f"{path.relative_to(GUI)}: {name}"
        for path in GUI.rglob("*.py")
        if path != GUI / "widgets" / "fields.py"
        for name in made_in(path)
        if name in OF_QT
    }
    assert others == set()
