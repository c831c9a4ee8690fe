"""The animated picture: what is in its frames, how long they stand."""

from pathlib import Path

from film import Film
from PIL import Image, ImageColor
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

SIZE = (320, 200)
GROUND, DIALOG = "#b0609c", "#2a9d74"


def a_window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.setStyleSheet(f"QWidget {{ background: {GROUND}; }} QDialog {{ background: {DIALOG}; }}")
    window.setFixedSize(*SIZE)
    with qtbot.waitExposed(window):
        window.show()
    return window


def frames_of(path: Path) -> list[tuple[Image.Image, int]]:
    frames = []
    with Image.open(path) as film:
        for number in range(getattr(film, "n_frames", 1)):
            film.seek(number)
            frames.append((film.convert("RGB"), film.info["duration"]))
    return frames


def test_a_film_shows_window_pointer_dialog_and_key_and_holds_what_does_not_change(
    qtbot: QtBot, tmp_path: Path
) -> None:
    window, film = a_window(qtbot), Film(SIZE)
    film.add(window, "Nothing yet", "", None, 1.5)
    film.add(window, "Nothing yet", "", None, 0.5)
    film.add(window, "It comes", "Ctrl+E", QPoint(20, 20), 1)
    dialog = QDialog(window)
    dialog.setFixedSize(100, 60)
    dialog.move(window.pos() + QPoint(150, 80))
    with qtbot.waitExposed(dialog):
        dialog.show()
    film.add(window, "There it is", "", QPoint(20, 20), 2)
    film.save(tmp_path / "film.gif")
    (empty, first), (pressed, second), (shown, third) = frames_of(tmp_path / "film.gif")
    assert (first, second, third) == (2000, 1000, 2000)
    assert film.seconds == 5
    place = (window.width() - 10, window.height() - 10)
    assert {frame.getpixel(place) for frame in (empty, pressed, shown)} == {ImageColor.getrgb(GROUND)}
    assert empty.getpixel((24, 30)) == ImageColor.getrgb(GROUND)
    assert pressed.getpixel((24, 30)) == ImageColor.getrgb("#1c2024")
    assert pressed.getpixel((20, SIZE[1] + 22)) == ImageColor.getrgb("#f0b860")
    at_dialog = (200, 110)
    assert [frame.getpixel(at_dialog) for frame in (pressed, shown)] == [
        ImageColor.getrgb(GROUND),
        ImageColor.getrgb(DIALOG),
    ]
