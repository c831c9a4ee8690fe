"""Hands at a desk: they wait until a window rests, and find where to click by its colours."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops, ImageColor
from scipy import ndimage

from engine.store.run_store import RunStore
from gui.widgets.theme import LIGHT
from tests.desktop.desk import PATIENCE, Desk, wait_for

_STILL = 1.2  # seconds without a change: longer than any delay in the window
_CARET = 60  # pixels: what blinks in a field that is written in
_STEP = 0.2

MAIN_BUTTON = LIGHT.accent, (30, 14)  # inside the ring that it has with the focus
BANNER = LIGHT.warning_ground, (300, 24)
BUTTON = LIGHT.panel, (40, 20)
MARK_OF_A = LIGHT.label_a, (10, 10)
CHOSEN_ROW = LIGHT.selection, (100, 14)


@dataclass(frozen=True)
class Patch:
    """A part of the screen in one colour, which letters may interrupt."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def middle(self) -> tuple[int, int]:
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2


def patches(
    picture: Image.Image, colour: str, least: tuple[int, int], inside: Patch | None = None
) -> list[Patch]:
    """The parts of a picture that are mostly of a colour and at least so wide and high, from the top down,
    and beside each other from the left.
    """
    same = (np.asarray(picture) == ImageColor.getrgb(colour)).all(axis=-1)
    numbered, _ = ndimage.label(same)
    found = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(numbered), start=1):
        patch = Patch(columns.start, rows.start, columns.stop, rows.stop)
        share = (numbered[rows, columns] == number).mean()  # a frame is no patch
        large = patch.right - patch.left >= least[0] and patch.bottom - patch.top >= least[1]
        across = inside is None or inside.left <= patch.left < patch.right <= inside.right
        down = inside is None or inside.top <= patch.top < patch.bottom <= inside.bottom
        if large and share > 0.4 and across and down:
            found.append(patch)
    return sorted(found, key=lambda patch: (patch.middle[1] // 8, patch.left))


def _differ(before: Image.Image, now: Image.Image) -> bool:
    difference = np.asarray(ImageChops.difference(before, now))
    return bool(np.count_nonzero(difference.any(axis=-1)) > _CARET)


@dataclass(frozen=True)
class Hands:
    """What a person does who looks before he acts."""

    desk: Desk

    def rest(self) -> Image.Image:
        """Wait until the screen does not change any more; what it shows then."""
        deadline, since = time.monotonic() + PATIENCE, time.monotonic()
        seen = self.desk.picture()
        while time.monotonic() - since < _STILL:
            assert time.monotonic() < deadline, "the window does not come to rest"
            time.sleep(_STEP)
            now = self.desk.picture()
            if _differ(seen, now):
                since = time.monotonic()
            seen = now
        return seen

    def keys(self, *keys: str) -> Image.Image:
        before = self.desk.picture()
        self.desk.press(*keys)
        wait_for(lambda: _differ(before, self.desk.picture()), f"anything new after {' '.join(keys)}")
        return self.rest()

    def click(self, what: tuple[str, tuple[int, int]], which: int = 0, inside: Patch | None = None) -> None:
        """Click at a patch of a colour and size, as soon as there is one."""

        def look() -> list[Patch]:
            return patches(self.desk.picture(), *what, inside=inside)

        found = wait_for(look, f"a patch of {what[0]} of at least {what[1]} pixels")
        self.desk.click(*found[which].middle)

    def name_file(self, dialog: str, path: Path) -> None:
        self.desk.window(dialog)
        self.rest()
        self.desk.press("ctrl+a")
        self.desk.type(str(path))
        self.keys("Return")

    def judged(self, home: Path, items: int) -> None:
        """Wait until the only run of a home has so many items, and the title says no more how far it is."""
        # That it ever said so is not waited for: a short run may be over before the first look.
        store = home / "data" / "runs.sqlite"
        wait_for(lambda: _items_of(store) == items, f"{items} judged items", 5 * PATIENCE)
        wait_for(lambda: not self.desk.windows("%.*Tiebreak"), "the end of the run")
        self.rest()


def _items_of(path: Path) -> int:
    if not path.exists():
        return 0
    with RunStore(path) as store:
        return sum(run.judged for run in store.runs())
