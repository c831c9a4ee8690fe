"""What the comparison with stored pictures sees, and what it passes over."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageOps

from tests.desktop.desk import Desk
from tests.desktop.hands import TaskDispatcher
from tests.desktop.loose_pictures import MOST_OTHER, LoosePictures, share_of_other, small, stored

WINDOW, FIELD = 244, 255  # the grey of the light theme's grounds
Break = Callable[[Image.Image], Image.Image]
NO_HINTING = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include>/etc/fonts/fonts.conf</include>
  <match target="font">
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
  </match>
</fontconfig>
"""


def _moved(box: tuple[int, int, int, int], down: int) -> Break:
    """A part of the screen that stands some pixels lower."""

    def move(picture: Image.Image) -> Image.Image:
        part = picture.crop(_on_small(box))
        picture.paste(WINDOW, _on_small(box))
        picture.paste(part, (box[0] // 8, (box[1] + down) // 8))
        return picture

    return move


def _blank(box: tuple[int, int, int, int], ground: int) -> Break:
    """A part of the screen with nothing in it."""

    def blank(picture: Image.Image) -> Image.Image:
        picture.paste(ground, _on_small(box))
        return picture

    return blank


def _overlapping(box: tuple[int, int, int, int], down: int) -> Break:
    """A part of the screen over what stands below it."""

    def overlap(picture: Image.Image) -> Image.Image:
        left, top, right, bottom = _on_small(box)
        part, below = picture.crop((left, top, right, bottom)), (left, top + down // 8)
        under = picture.crop((*below, right, bottom + down // 8))
        picture.paste(ImageChops.subtract(under, ImageOps.invert(part)), below)
        return picture

    return overlap


def _on_small(box: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    left, top, right, bottom = (edge // 8 for edge in box)
    return left, top, right, bottom


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("judge-first", _moved((132, 214, 644, 438), 40)),
        ("judge-first", _moved((668, 88, 1258, 330), 40)),
        ("judge-first", _blank((668, 88, 1258, 330), WINDOW)),
        ("dataset", _blank((137, 240, 890, 640), FIELD)),
        ("review", _blank((136, 220, 504, 362), FIELD)),
        ("review", _overlapping((525, 514, 1250, 560), 40)),
        ("results", lambda _picture: stored("results-dark")),
    ],
)
def test_a_broken_layout_is_seen(name: str, broken: Break) -> None:
    assert share_of_other(broken(stored(name)), stored(name)) > MOST_OTHER


def test_what_is_broken_is_kept_and_told(tmp_path: Path) -> None:
    held = LoosePictures(tmp_path / "kept", redraw=False)
    held.hold("review", Image.new("RGB", (1280, 720), "white"))
    assert [line.partition(":")[0] for line in held.broken] == ["review"]
    assert str(tmp_path / "kept") in held.broken[0]
    assert {path.name for path in held.kept.iterdir()} == {"review.png", "review-difference.png"}


def test_letters_without_hinting_pass(a_desk: Desk, tmp_path: Path) -> None:
    fonts = tmp_path / "fonts.conf"
    fonts.write_text(NO_HINTING, encoding="utf-8")
    with a_desk.program(home=tmp_path, FONTCONFIG_FILE=str(fonts)):
        a_desk.window("demo.tsv")
        seen = small("judge-first", TaskDispatcher(a_desk).rest())
    assert seen.tobytes() != stored("judge-first").tobytes()
    assert share_of_other(seen, stored("judge-first")) <= MOST_OTHER
