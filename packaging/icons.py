"""Draw the program's mark in the sizes and formats that the systems want.

PYTHONPATH=. python packaging/icons.py FOLDER
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PIL import Image
from PySide6.QtGui import QGuiApplication

from gui.window.frame import mark

SIZES = (16, 24, 32, 48, 64, 128, 256, 512)


def draw(folder: Path) -> None:
    """Write `<size>.png` for each size, `tiebreak.ico` and `tiebreak.icns`."""
    folder.mkdir(parents=True, exist_ok=True)
    for side in (*SIZES, 1024):
        if not mark(side).save(str(folder / f"{side}.png")):
            sys.exit(f"{folder / f'{side}.png'} cannot be written.")
    with Image.open(folder / "256.png") as image:
        smaller = [Image.open(folder / f"{side}.png") for side in SIZES if side < 256]
        image.save(
            folder / "tiebreak.ico",
            append_images=smaller,
            sizes=[(side, side) for side in SIZES if side <= 256],
        )
    with Image.open(folder / "1024.png") as image:
        image.save(folder / "tiebreak.icns")


if __name__ == "__main__":
    _app = QGuiApplication([])
    draw(Path(sys.argv[1]))
