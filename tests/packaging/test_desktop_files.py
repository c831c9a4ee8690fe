"""What a desktop reads of the program: its entry, its description, its mark, its version."""

import re
import shutil
from configparser import RawConfigParser
from datetime import date
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from film import Film
from PIL import Image, ImageColor
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from engine.core import RELEASED, VERSION
from gui.window.frame import MARK, mark
from main import main
from tests.commands import ROOT
from tests.packaging.steps import ran

LINUX = ROOT / "packaging" / "linux"
ENTRY = LINUX / "tiebreak.desktop"
METAINFO = LINUX / "tiebreak.metainfo.xml"


@pytest.fixture
def entry() -> dict[str, str]:
    """The keys of the desktop entry."""
    parser = RawConfigParser(delimiters=["="])
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read_string(ENTRY.read_text("utf-8"))
    return dict(parser["Desktop Entry"])


def described(name: str) -> str:
    """The text of an element of the description."""
    found = ElementTree.parse(METAINFO).getroot().find(name)
    assert found is not None
    return found.text or ""


def test_the_entry_starts_the_program_with_a_file_and_shows_its_mark(entry: dict[str, str]) -> None:
    assert entry["Exec"].split() == ["tiebreak", "%f"]
    assert (entry["Type"], entry["Name"], entry["Icon"]) == ("Application", "Tiebreak", "tiebreak")
    assert entry["Terminal"] == "false"


@pytest.mark.skipif(not shutil.which("desktop-file-validate"), reason="needs desktop-file-utils")
def test_the_desktops_own_check_finds_nothing_to_say_of_the_entry() -> None:
    done = ran("desktop-file-validate", ENTRY, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_description_names_the_entry_and_says_the_same(entry: dict[str, str]) -> None:
    assert described("launchable") == ENTRY.name
    assert described("name") == entry["Name"]
    assert described("summary") == entry["Comment"]
    assert described("provides/binary") == entry["Exec"].split()[0]
    assert described("provides/mediatype") == entry["MimeType"].strip(";")
    assert described("categories/category") in entry["Categories"].split(";")


def test_only_the_version_and_the_day_are_left_to_fill_in() -> None:
    text = METAINFO.read_text("utf-8")
    assert sorted(re.findall(r"@\w*@", text)) == ["@DATE@", "@VERSION@"]
    release = ElementTree.fromstring(text).find("releases/release")
    assert release is not None
    assert release.attrib == {"version": "@VERSION@", "date": "@DATE@"}
    assert "@" not in ENTRY.read_text("utf-8")


def test_the_version_is_three_numbers_that_fit_into_a_windows_resource_and_has_a_day() -> None:
    assert re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", VERSION)
    assert max(int(part) for part in VERSION.split(".")) < 2**16
    assert date.fromisoformat(RELEASED).isoformat() == RELEASED


def test_the_program_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    version, citation = capsys.readouterr().out.splitlines()
    assert version == f"Tiebreak {VERSION}"
    assert citation == (
        f"How to cite it (CITATION.cff): The Tiebreak authors ({RELEASED[:4]}). Tiebreak (version {VERSION})"
        " [computer software]."
    )


@pytest.mark.parametrize("side", [16, 24, 48, 256, 1024])
def test_the_mark_is_drawn_in_the_size_that_is_asked_for_and_fills_it(qapp: QApplication, side: int) -> None:
    image = mark(side).toImage()
    assert (image.width(), image.height()) == (side, side)
    places = product(range(0, side, max(side // 64, 1)), repeat=2)
    drawn = [(x, y) for x, y in places if image.pixelColor(x, y).alpha() > 0]
    columns, rows = {x for x, _ in drawn}, {y for _, y in drawn}
    assert max(columns) - min(columns) > side // 2
    assert max(rows) - min(rows) > side // 2
    colours = [image.pixelColor(x, y) for x, y in drawn]
    assert len({colour.name() for colour in colours if colour.alpha() == 255}) > 1


def test_the_mark_is_an_svg_that_needs_nothing_else() -> None:
    root = ElementTree.parse(MARK).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [name for element in root.iter() for name in element.attrib if name.endswith("href")]
    assert Path(MARK).read_bytes().isascii()


# The animated picture: what is in its frames, how long they stand


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
    at_dialog = [frame.getpixel((200, 110)) for frame in (pressed, shown)]
    assert at_dialog == [ImageColor.getrgb(GROUND), ImageColor.getrgb(DIALOG)]
