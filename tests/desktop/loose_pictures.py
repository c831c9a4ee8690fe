"""Holds what the screen shows against small stored pictures, loosely: a broken layout is seen, another font's
hinting is not.

    pytest -m desktop -n1 tests/desktop --redraw      draws the stored pictures anew
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops, ImageDraw
from scipy import ndimage

_FOLDER = Path(__file__).resolve().with_name("pictures")
SMALL = (160, 90)
_PATIENCE = 20.0  # seconds
_AROUND = 7  # small pixels, 56 of the screen: how far what is in a picture is smeared before it is compared
_OTHER = 9.0  # grey levels of 255: what differs by more is another thing
# Measured: letters hinted not at all or in full, up to 0.9 %; parts gone, moved or covered, from 3.5 %.
MOST_OTHER = 0.02  # of the picture
_MASK = "#808080"
_TITLE, _STATUS = (0, 0, 1280, 18), (0, 676, 1280, 720)
_PLAN = (668, 340, 1256, 530)  # free memory, time
_RUN = (668, 90, 1256, 480)  # the plan, and the run with its speed
_PICKER = (300, 50, 1280, 80)  # when the run was made
_HEAT = (140, 632, 1240, 676)  # coloured by how each fared, which another processor's last digits decide
_MASKS = {
    "judge-first": [_PLAN],
    "judge-done": [_RUN],
    "results": [_PICKER],
    "results-dark": [_PICKER],
    "review": [_PICKER],
    "review-overridden": [_PICKER],
    "compare": [_PICKER],
    "ranking": [_PICKER, _HEAT],
}
"""What is not compared, since it tells times, sizes or outcomes: left, top, right, bottom."""


def small(name: str, picture: Image.Image) -> Image.Image:
    """A picture of the screen as it is stored: small and grey, with what always changes covered."""
    covered = picture.convert("RGB")
    drawing = ImageDraw.Draw(covered)
    for mask in (_TITLE, _STATUS, *_MASKS.get(name, ())):
        drawing.rectangle(mask, fill=_MASK)
    return covered.convert("L").resize(SMALL, Image.Resampling.BOX)


def stored(name: str) -> Image.Image:
    return Image.open(_FOLDER / f"{name}.png").convert("L")


def share_of_other(seen: Image.Image, before: Image.Image) -> float:
    """How much of a small picture shows another thing than the stored one, from 0 to 1."""
    first, second = (ndimage.uniform_filter(np.asarray(each, float), _AROUND) for each in (seen, before))
    return float((np.abs(first - second) > _OTHER).mean())


@dataclass
class LoosePictures:
    """The pictures of one test: `broken` says which are not as they are stored, one sentence for each.

    `kept`: where what was seen is kept of those. `redraw`: store what is seen.
    """

    kept: Path
    redraw: bool
    broken: list[str] = field(default_factory=list)

    def hold(self, name: str, picture: Image.Image, later: Callable[[], Image.Image] | None = None) -> None:
        """Hold a picture of the screen against the stored one, or store it. `later` gives the next one, where
        a figure is drawn once its library is loaded: seconds in which nothing moves.
        """
        deadline = time.monotonic() + _PATIENCE
        while later is not None and time.monotonic() < deadline:
            if not self.redraw and share_of_other(small(name, picture), stored(name)) <= MOST_OTHER:
                break
            picture = later()
        seen = small(name, picture)
        if self.redraw:
            seen.save(_FOLDER / f"{name}.png", optimize=True)
            return
        share = share_of_other(seen, before := stored(name))
        if share > MOST_OTHER:
            self._keep(name, picture, ImageChops.difference(seen, before))
            self.broken.append(
                f"{name}: {share:.1%} is not as it is stored. It and the difference: {self.kept}"
            )

    def _keep(self, name: str, picture: Image.Image, difference: Image.Image) -> None:
        self.kept.mkdir(parents=True, exist_ok=True)
        picture.save(self.kept / f"{name}.png")
        bright = difference.point(lambda grey: min(255, 4 * grey))
        bright.resize(picture.size, Image.Resampling.NEAREST).save(self.kept / f"{name}-difference.png")
