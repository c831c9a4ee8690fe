"""How figures look: colours, layout, names that cannot be misread, and their bytes as PNG or SVG.

A drawing function makes a figure of its own and leaves matplotlib's settings as they were: a window may show
it too.
"""

import atexit
import ctypes
import io
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.core.formatting import visible, words
from engine.core.tables import Table

if TYPE_CHECKING:
    from matplotlib import axes, container, figure

    Axes = axes.Axes
    Bars = container.BarContainer
    Figure = figure.Figure
else:  # for annotations alone: loading matplotlib takes 0.6 s
    Axes = Bars = Figure = object

Shown = TypeVar("Shown")
_FONT = "DejaVu Sans"  # comes with matplotlib
_WIDTH = 7.5  # inches
_PANELS_ACROSS = 3
_LONGEST_NAME = 48
_NOT_DRAWABLE = "□"

# matplotlib's library of fonts asks for Python's lock while Windows, which loads it, holds the lock of its
# loader. An import lets go of Python's: the thread of the window takes it, waits for the loader's, and both
# wait for ever. A function of PyDLL keeps Python's lock; what is loaded is not begun again by the import.
if sys.platform == "win32" and (_spec := find_spec("matplotlib")) and _spec.submodule_search_locations:
    _windows = ctypes.PyDLL("kernel32")
    _load, _windows.FreeLibrary.argtypes = _windows.LoadLibraryExW, (ctypes.c_void_p,)
    _load.argtypes, _load.restype = (ctypes.c_wchar_p, ctypes.c_void_p, ctypes.c_uint32), ctypes.c_void_p
    # As an import loads it: its own folder, and those of the system, are searched for what it needs.
    _fonts = _load(
        str(Path(_spec.submodule_search_locations[0], f"ft2font{EXTENSION_SUFFIXES[0]}")), None, 0x1100
    )
    # Where nothing was drawn, it is let go of while Python runs: after its end the library breaks down.
    atexit.register(_windows.FreeLibrary, _fonts)


@dataclass(frozen=True)
class Theme:
    """Colours that colour-blind readers can tell apart, on one kind of paper."""

    paper: str
    text: str
    muted: str
    judge: str
    human: str
    marked: str
    third: str


_LIGHT = Theme("#ffffff", "#1c2024", "#666e78", "#2f74b5", "#868f99", "#c75000", "#b57a12")
_DARK = Theme("#16191d", "#e6e9ec", "#98a1ab", "#4584bf", "#6d7681", "#ff8f4a", "#d9b25f")


@dataclass(frozen=True)
class ReportFigure:
    """`draw`: takes whether the paper is dark. `in_words`: what it shows, for those who do not see it.
    `numbers`: what it draws as a table; None where another table has it.
    """

    draw: Callable[[bool], Figure]
    in_words: str
    numbers: Table | None = None

    def as_bytes(self, form: str, dark: bool = False) -> bytes:
        figure = self.draw(dark)
        return as_svg(figure, self.in_words) if form == "svg" else as_png(figure)


def as_png(figure: Figure, dpi: int = 200) -> bytes:
    """The figure as a PNG; the same figure gives the same bytes."""
    return _saved(figure, "png", dpi, {"Software": None})


def as_svg(figure: Figure, in_words: str) -> bytes:
    """The figure as an SVG that needs nothing else, always the same bytes; `in_words`: its description."""
    drawn = _saved(figure, "svg", 72, dict.fromkeys(("Date", "Creator", "Format", "Type")))
    title, said = (
        escape(visible(" ".join(text.split())), quote=False) for text in (figure.get_suptitle(), in_words)
    )
    begun = drawn.index(b">", drawn.index(b"<svg"))
    told = f' role="img">\n <title>{title}</title>\n <desc>{said}</desc>'
    return drawn[:begun] + told.encode("utf-8") + drawn[begun + 1 :]


def _saved(figure: Figure, form: str, dpi: int, metadata: dict[str, None]) -> bytes:
    from matplotlib import style  # noqa: PLC0415

    buffer = io.BytesIO()
    for axes in figure.axes:
        # Back to where it was made: the layout starts from the last one, and would differ by a hair.
        if place := axes.get_subplotspec():
            axes.set_subplotspec(place)
    with style.context(["default", {"svg.fonttype": "path", "svg.hashsalt": "tiebreak"}]):
        figure.savefig(buffer, format=form, dpi=dpi, metadata=metadata)
    return buffer.getvalue()


def new_figure(height: float) -> Figure:
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure(figsize=(_WIDTH, height), layout="constrained")


@contextmanager
def new_panels(
    height: float,
    title: str,
    dark: bool,
    legend_columns: int = 0,
    shape: tuple[int, int] = (1, 1),
    *,
    legend_of: int = 0,
    sharey: bool = False,
) -> Iterator[tuple[Figure, list[Axes], Theme]]:
    """A figure of panels in rows and columns, to be drawn into, whatever the user's own settings are; with a
    legend of one of them.
    """
    from matplotlib import style  # noqa: PLC0415

    theme = _DARK if dark else _LIGHT
    settings = {
        "font.family": [_FONT],
        "font.size": 8,
        "axes.titlesize": 8.5,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.text,
        "axes.facecolor": theme.paper,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.facecolor": theme.paper,
        "figure.constrained_layout.h_pad": 0.06,
        "figure.constrained_layout.w_pad": 0.06,
        "grid.color": theme.muted,
        "grid.alpha": 0.25,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "text.color": theme.text,
        "text.parse_math": False,
        "xtick.labelsize": 7.5,
        "ytick.labelsize": 7.5,
    }
    with style.context(["default", settings]):
        figure = new_figure(height)
        panels: list[Axes] = list(figure.subplots(*shape, squeeze=False, sharey=sharey).flat)
        yield figure, panels, theme
        figure.suptitle(title, x=0.01, ha="left", fontsize=9)
        for axes in panels:
            axes.tick_params(color=theme.muted, labelcolor=theme.text)  # of ticks made later, too
        if legend_columns:
            _add_legend(figure, panels[legend_of], legend_columns)


def draw_panels(
    shown: Sequence[Shown],
    draw: Callable[[Axes, Shown, Theme], None],
    height: float,
    axes_names: tuple[str, str],
    title: str,
    *,
    dark: bool,
    legend_columns: int = 0,
) -> Figure:
    """A figure with one panel for each criterion, of `height` inches each; with a legend they share y."""
    count, down = len(shown), math.ceil(len(shown) / _PANELS_ACROSS)
    shape, sharey = (down, _PANELS_ACROSS), legend_columns > 0
    made = new_panels(0.8 + height * down, title, dark, legend_columns, shape, sharey=sharey)
    with made as (figure, panels, theme):
        for axes in panels[count:]:
            axes.remove()
        del panels[count:]
        for place, (axes, each) in enumerate(zip(panels, shown, strict=True)):
            draw(axes, each, theme)
            if place % _PANELS_ACROSS == 0:
                axes.set_ylabel(axes_names[1])
            if place + _PANELS_ACROSS >= count:
                axes.set_xlabel(axes_names[0])
        if legend_columns:
            panels[0].margins(y=0.15)
    return figure


def _add_legend(figure: Figure, axes: Axes, columns: int) -> None:
    """What the marks of these axes mean, below all panels; bars first."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    handles, names = axes.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda place: isinstance(handles[place], Line2D))
    figure.legend(
        [handles[place] for place in order],
        [names[place] for place in order],
        loc="outside lower center",
        ncols=columns,
    )


def stripe(bars: Bars, hatch: str, theme: Theme) -> None:
    """Let bars be told apart also where their colours are not: by a pattern in the colour of the paper."""
    for bar in bars:
        bar.set(hatch=hatch, edgecolor=theme.paper, linewidth=0)


def narrow_count(count: int) -> str:
    """A count for a narrow place: 999, 1.2k, 12k."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 9950 else f"{count / 1000:.0f}k"


def drawn_words(criterion: str) -> str:
    return drawable(words(criterion))


def drawable(name: str) -> str:
    """A foreign name on one line: long ones are cut, and what the font does not have is a square."""
    known, name = _characters(), " ".join(name.split())
    cut = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return "".join(char if char.isprintable() and ord(char) in known else _NOT_DRAWABLE for char in cut)


@cache
def _characters() -> frozenset[int]:
    from matplotlib import font_manager  # noqa: PLC0415

    path = font_manager.findfont(_FONT)
    return frozenset(font_manager.get_font(path).get_charmap())
