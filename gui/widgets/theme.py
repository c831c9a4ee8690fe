"""How the window looks: two sets of colours, one style sheet, the size of text."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from string import Template
from typing import cast

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPaintDevice, QPainter, QPalette, QPen
from PySide6.QtWidgets import QApplication

from engine.core.items import HumanLabel

_STYLE_SHEET = Path(__file__).resolve().with_name("theme.qss")
# Windows has fonts of its own for these, and sets them again when it likes.
_OWN_FONTS = ("QAbstractItemView", "QMenu", "QMenuBar", "QMessageBox", "QStatusBar", "QTipLabel")
TEXT_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)  # percent of the system's


class ThemeChoice(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class Colours:
    """One set of colours, as `#rrggbb`, by default the light one; those of labels and states for the
    colour-blind, too, and 3:1 to any ground. `edge`: of what can be filled in, 3:1 around it; `border`: of
    what only holds others. `deepest`: the share of a label's colour in the shade of 0 and 100 %, on which
    letters keep a contrast of 4.5.
    """

    window: str = "#f3f5f7"
    panel: str = "#ffffff"
    field: str = "#ffffff"
    border: str = "#d5dbe1"
    edge: str = "#808993"
    text: str = "#1c2024"
    muted: str = "#5a636d"
    accent: str = "#2166a5"
    on_accent: str = "#ffffff"
    selection: str = "#d6e6f5"
    hover: str = "#e8edf2"
    good: str = "#1b7346"
    warning: str = "#8a5300"
    bad: str = "#b3261e"
    good_ground: str = "#e0f2e8"
    warning_ground: str = "#fdf0d9"
    bad_ground: str = "#fbe4e2"
    label_a: str = "#2f74b5"
    label_b: str = "#b87400"
    label_both_good: str = "#258f69"
    label_both_bad: str = "#b0609c"
    label_tie: str = "#6f6a99"
    shared_ground: str = "#fff1b8"
    own_ground: str = "#ffdcb8"
    hit_ground: str = "#8fe3cf"
    unscored: str = "#7c858f"
    deepest: float = 0.6

    def of_label(self, label: "HumanLabel | None") -> str:
        colour: str = self.unscored if label is None else getattr(self, f"label_{label.lower()}")
        return colour

    def shade(self, share: float) -> str:
        """The ground for a share from 0 to 1: none at one half, towards the colour of A above, of B below."""
        far = 2 * min(max(share, 0.0), 1.0) - 1
        ground, full = QColor(self.field), QColor(self.label_a if far > 0 else self.label_b)
        depth = self.deepest * abs(far) ** 0.7  # most shares are not far from one half
        parts = ((part(ground), part(full)) for part in (QColor.red, QColor.green, QColor.blue))
        return QColor(*(round(own + depth * (other - own)) for own, other in parts)).name()

    def ink_on(self, ground: str) -> str:
        colour = QColor(ground)
        parts = zip((0.2126, 0.7152, 0.0722), (colour.redF(), colour.greenF(), colour.blueF()), strict=True)
        # Where the contrast to black and to white is the same, by WCAG's relative luminance.
        return "#000000" if sum(weight * part**2.2 for weight, part in parts) > 0.18 else "#ffffff"


LIGHT = Colours()
DARK = Colours(
    window="#16191d",
    panel="#1e2227",
    field="#23282e",
    border="#3a414a",
    edge="#7b8590",
    text="#e6e9ec",
    muted="#a3acb6",
    accent="#6fb1ec",
    on_accent="#10161c",
    selection="#2c4863",
    hover="#2a3037",
    good="#6fd3a0",
    warning="#f0b860",
    bad="#ff9189",
    good_ground="#1d3a2c",
    warning_ground="#40321a",
    bad_ground="#472523",
    label_a="#6fb1ec",
    label_b="#f0b24a",
    label_both_good="#58c79b",
    label_both_bad="#d78fc6",
    label_tie="#a7a2d1",
    shared_ground="#4a4420",
    own_ground="#5c3c14",
    hit_ground="#0f6b5c",
    unscored="#87919c",
    deepest=0.4,
)


def is_dark(palette: QPalette) -> bool:
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def colours(palette: QPalette) -> Colours:
    return DARK if is_dark(palette) else LIGHT


def draw_frame(on: QPaintDevice, place: QRectF, colour: str, width: int) -> None:
    painter = QPainter(on)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(colour), width))
    inside = width / 2
    painter.drawRoundedRect(place.adjusted(inside, inside, -inside, -inside), 3, 3)
    painter.end()


@dataclass(frozen=True)
class Look:
    colours: Colours
    points: float


def apply_theme(
    app: QApplication, choice: ThemeChoice, text_percent: int, base_points: float, worn: Look | None = None
) -> Look:
    """Dress the application, unless it is `worn`; say how. `base_points`: of the system's own font."""
    hints, schemes = app.styleHints(), Qt.ColorScheme
    wanted = {ThemeChoice.LIGHT: schemes.Light, ThemeChoice.DARK: schemes.Dark}.get(choice, schemes.Unknown)
    # What the system itself draws, such as title bars, follows this and not our palette.
    hints.setColorScheme(wanted)
    scheme = hints.colorScheme() if wanted is schemes.Unknown else wanted
    look = Look(DARK if scheme is schemes.Dark else LIGHT, base_points * text_percent / 100)
    if look != worn:
        _put_on(app, look, worn)
    return look


@contextmanager
def dressed_at_once() -> Iterator[None]:
    # Else Qt polishes each widget once more for each step on its way up: five times as long.
    app = cast("QApplication", QApplication.instance())
    worn = app.styleSheet()
    app.setStyleSheet("")
    try:
        yield
    finally:
        app.setStyleSheet(worn)


def set_font(app: QApplication, points: float) -> None:
    """Give all that is shown, and will be, the system's font in this size."""
    font = QFont(app.font())
    font.setPointSizeF(points)
    # As a font and not in a new style sheet, for which Qt polishes each widget: .1 s a step in place of .45.
    # Only now, for colours must not come down from widget to widget, else some stay those of the last theme.
    down = Qt.ApplicationAttribute.AA_UseStyleSheetPropagationInWidgetStyles
    app.setAttribute(down)
    for of in (None, *_OWN_FONTS):
        app.setFont(font, of)  # type: ignore[arg-type]  # the stub asks for bytes, which are refused
    app.sendPostedEvents(None, QEvent.Type.ApplicationFontChange)
    app.setAttribute(down, False)


def _put_on(app: QApplication, look: Look, worn: Look | None) -> None:
    set_font(app, look.points)
    if worn is not None and worn.colours == look.colours:
        return
    # Where a style sheet takes the place of another one, Qt polishes each widget once more for each of its
    # ancestors; where one goes and then one comes, twice.
    app.setStyleSheet("")
    app.setPalette(_palette(look.colours))
    app.setStyleSheet(Template(_STYLE_SHEET.read_text(encoding="utf-8")).substitute(asdict(look.colours)))


def _palette(used: Colours) -> QPalette:
    palette = QPalette()
    roles = QPalette.ColorRole
    texts = (roles.WindowText, roles.Text, roles.ButtonText)
    for colour, *coloured in (
        (used.text, *texts, roles.ToolTipText, roles.HighlightedText),
        (used.muted, roles.PlaceholderText),
        (used.bad, roles.BrightText),
        (used.accent, roles.Link, roles.Accent),
        (used.selection, roles.Highlight),
        (used.window, roles.Window, roles.AlternateBase),
        (used.field, roles.Base),
        (used.panel, roles.Button, roles.ToolTipBase, roles.Light),
        (used.border, roles.Mid, roles.Dark, roles.Shadow),
    ):
        for role in coloured:
            palette.setColor(role, QColor(colour))
    # The colours above are for all states: else what cannot be used would look like the rest.
    for role in texts:
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(used.unscored))
    return palette
