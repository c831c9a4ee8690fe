"""How the window looks: two sets of colours, one style sheet, the size of text.

Knows: palettes and style sheets. Does not know: pages, what is shown.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from engine.core.items import Preference

TEXT_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)  # percent of the system's


class ThemeChoice(StrEnum):
    """Which colours the user wants."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class Colours:
    """One set of colours, as `#rrggbb`. Those of labels and states can be told apart by the colour-blind."""

    window: str
    panel: str
    field: str
    border: str
    text: str
    muted: str
    accent: str
    on_accent: str
    selection: str
    hover: str
    good: str
    warning: str
    bad: str
    good_ground: str
    warning_ground: str
    bad_ground: str
    label_a: str
    label_b: str
    label_both_good: str
    label_both_bad: str
    shared_ground: str
    own_ground: str
    unscored: str

    def of_label(self, label: "Preference | None") -> str:
        """The colour of a label; None is unscored."""
        colour: str = self.unscored if label is None else getattr(self, f"label_{label.lower()}")
        return colour

    def ink_on(self, ground: str) -> str:
        """Black or white, whichever can be read better on a ground."""
        colour = QColor(ground)
        parts = zip((0.2126, 0.7152, 0.0722), (colour.redF(), colour.greenF(), colour.blueF()), strict=True)
        # Where the contrast to black and to white is the same, by WCAG's relative luminance.
        return "#000000" if sum(weight * part**2.2 for weight, part in parts) > 0.18 else "#ffffff"


LIGHT = Colours(
    window="#f3f5f7",
    panel="#ffffff",
    field="#ffffff",
    border="#d5dbe1",
    text="#1c2024",
    muted="#5a636d",
    accent="#2166a5",
    on_accent="#ffffff",
    selection="#d6e6f5",
    hover="#e8edf2",
    good="#1b7346",
    warning="#8a5300",
    bad="#b3261e",
    good_ground="#e0f2e8",
    warning_ground="#fdf0d9",
    bad_ground="#fbe4e2",
    label_a="#2f74b5",
    label_b="#d98a00",
    label_both_good="#2a9d74",
    label_both_bad="#b0609c",
    shared_ground="#fff1b8",
    own_ground="#ffdcb8",
    unscored="#9aa3ad",
)

DARK = Colours(
    window="#16191d",
    panel="#1e2227",
    field="#23282e",
    border="#3a414a",
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
    shared_ground="#4a4420",
    own_ground="#5c3c14",
    unscored="#737d88",
)


def is_dark(palette: QPalette) -> bool:
    """True for the palette of the dark colours."""
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def colours(palette: QPalette) -> Colours:
    """The colours that belong to a palette of ours."""
    return DARK if is_dark(palette) else LIGHT


def apply_theme(app: QApplication, choice: ThemeChoice, text_percent: int, base_points: float) -> None:
    """Give the application its colours and text size; `base_points`: the size of the system's own font."""
    scheme = {
        ThemeChoice.SYSTEM: Qt.ColorScheme.Unknown,
        ThemeChoice.LIGHT: Qt.ColorScheme.Light,
        ThemeChoice.DARK: Qt.ColorScheme.Dark,
    }[choice]
    hints = app.styleHints()
    hints.setColorScheme(scheme)
    dark = choice is ThemeChoice.DARK
    if choice is ThemeChoice.SYSTEM:
        dark = hints.colorScheme() is Qt.ColorScheme.Dark
    chosen = DARK if dark else LIGHT
    font = QFont(app.font())
    font.setPointSizeF(base_points * text_percent / 100)
    app.setFont(font)
    app.setPalette(_palette(chosen))
    app.setStyleSheet(_style_sheet(chosen, font.pointSizeF()))


def _palette(one: Colours) -> QPalette:
    palette = QPalette()
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Window, one.window),
        (roles.WindowText, one.text),
        (roles.Base, one.field),
        (roles.AlternateBase, one.window),
        (roles.Text, one.text),
        (roles.PlaceholderText, one.muted),
        (roles.Button, one.panel),
        (roles.ButtonText, one.text),
        (roles.BrightText, one.bad),
        (roles.ToolTipBase, one.panel),
        (roles.ToolTipText, one.text),
        (roles.Highlight, one.selection),
        (roles.HighlightedText, one.text),
        (roles.Link, one.accent),
        (roles.Accent, one.accent),
        (roles.Mid, one.border),
        (roles.Light, one.panel),
        (roles.Dark, one.border),
        (roles.Shadow, one.border),
    ):
        palette.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(one.unscored))
    return palette


def _style_sheet(one: Colours, points: float) -> str:
    return f"""
    QToolTip {{ color: {one.text}; background: {one.panel}; border: 1px solid {one.border}; padding: 4px; }}
    QLabel[role="title"] {{ font-size: {points * 1.45:.1f}pt; font-weight: 600; }}
    QLabel[role="heading"] {{ font-size: {points * 1.05:.1f}pt; font-weight: 600; }}
    QLabel[role="hint"], QLabel[role="hint"]:disabled {{ color: {one.muted}; }}
    QLabel[role="figure"] {{ font-size: {points * 1.3:.1f}pt; font-weight: 600; }}
    QLabel[role="good"] {{ color: {one.good}; }}
    QLabel[role="warning"] {{ color: {one.warning}; }}
    QLabel[role="bad"] {{ color: {one.bad}; }}
    QFrame[role="panel"] {{ background: {one.panel}; border: 1px solid {one.border}; border-radius: 8px; }}
    QFrame[role="problem"] {{
        background: {one.bad_ground}; border: 1px solid {one.bad}; border-radius: 8px; }}
    QFrame[role="note"] {{
        background: {one.warning_ground}; border: 1px solid {one.warning}; border-radius: 8px; }}
    QPushButton, QToolButton[role="button"] {{
        background: {one.panel}; border: 1px solid {one.border}; border-radius: 6px; padding: 5px 12px; }}
    QToolButton[role="button"][popupMode="2"] {{ padding-right: 26px; }}
    QToolButton[role="button"]::menu-indicator {{
        subcontrol-origin: padding; subcontrol-position: center right; right: 8px; width: 10px; }}
    QPushButton:hover, QToolButton[role="button"]:hover {{ background: {one.hover}; }}
    QPushButton:pressed, QPushButton:checked,
    QToolButton[role="button"]:pressed, QToolButton[role="button"]:checked {{
        background: {one.selection}; border-color: {one.accent}; }}
    QPushButton:focus, QToolButton[role="button"]:focus {{
        border: 2px solid {one.accent}; padding: 4px 11px; }}
    QToolButton[compact="true"] {{ padding: 4px 7px; }}
    QToolButton[compact="true"]:focus {{ padding: 3px 6px; }}
    QPushButton:disabled, QToolButton[role="button"]:disabled {{ color: {one.unscored}; }}
    QPushButton[role="main"] {{
        background: {one.accent}; color: {one.on_accent}; border-color: {one.accent}; font-weight: 600; }}
    QPushButton[role="main"]:focus {{ border: 2px solid {one.text}; }}
    QPushButton[role="main"]:disabled {{
        background: {one.hover}; color: {one.unscored}; border-color: {one.border}; }}
    QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser,
    QAbstractItemView {{
        background: {one.field}; color: {one.text}; border: 1px solid {one.border}; border-radius: 6px;
        selection-background-color: {one.selection}; selection-color: {one.text}; }}
    QLineEdit {{ padding: 4px 6px; }}
    QSpinBox QLineEdit, QDoubleSpinBox QLineEdit, QComboBox QLineEdit {{ border: 0; padding: 0; }}
    QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QTextBrowser:focus,
    QAbstractItemView:focus {{ border: 1px solid {one.accent}; }}
    QTableView, QListView, QTreeView {{
        gridline-color: {one.border}; alternate-background-color: {one.window}; outline: 0; }}
    QTableView::item:selected, QListView::item:selected, QTreeView::item:selected {{
        background: {one.selection}; color: {one.text}; }}
    QAbstractScrollArea::corner {{ background: transparent; border: 0; }}
    QHeaderView {{ background: {one.window}; border: 0; border-radius: 0; }}
    QHeaderView::section {{
        background: {one.window}; color: {one.muted}; border: 0; border-bottom: 1px solid {one.border};
        padding: 5px 6px; font-weight: 600; }}
    QTableView[role="whole"] {{ background: transparent; border: 1px solid transparent; border-radius: 0; }}
    QTableView[role="whole"]:focus {{ border: 1px solid {one.accent}; }}
    QTableView[role="whole"] QHeaderView {{ background: transparent; }}
    QTableCornerButton::section {{ background: {one.window}; border: 0; }}
    QProgressBar {{
        background: {one.hover}; border: 0; border-radius: 4px; text-align: center; color: {one.text}; }}
    QProgressBar::chunk {{ background: {one.accent}; border-radius: 4px; }}
    QSplitter::handle {{ background: transparent; }}
    QScrollArea {{ border: 0; background: transparent; }}
    QScrollArea > QWidget > QWidget[role="content"] {{ background: transparent; }}
    QScrollBar {{ background: transparent; border: 0; margin: 0; }}
    QScrollBar:vertical {{ width: 12px; }}
    QScrollBar:horizontal {{ height: 12px; }}
    QScrollBar::handle {{ background: {one.unscored}; border-radius: 3px; margin: 3px; }}
    QScrollBar::handle:vertical {{ min-height: 28px; }}
    QScrollBar::handle:horizontal {{ min-width: 28px; }}
    QScrollBar::handle:hover {{ background: {one.muted}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QCheckBox::indicator, QListView::indicator {{
        width: {points * 1.4:.0f}px; height: {points * 1.4:.0f}px; }}
    QCheckBox::indicator:unchecked, QListView::indicator:unchecked {{
        background: {one.field}; border: 1px solid {one.muted}; border-radius: 3px; }}
    QSlider::groove:horizontal {{ height: 4px; background: {one.border}; border-radius: 2px; }}
    QSlider::sub-page:horizontal {{ background: {one.accent}; border-radius: 2px; }}
    QSlider::handle:horizontal {{
        width: 14px; margin: -6px 0; border-radius: 8px;
        background: {one.panel}; border: 1px solid {one.muted}; }}
    QSlider::handle:horizontal:focus {{ background: {one.accent}; border: 1px solid {one.text}; }}
    QSlider::handle:horizontal:disabled,
    QSlider::sub-page:horizontal:disabled {{ background: {one.unscored}; }}
    QTabWidget::pane {{ border: 0; }}
    QTabBar::tab {{
        padding: 6px 12px; color: {one.muted}; border: 0; border-bottom: 2px solid transparent; }}
    QTabBar::tab:selected {{ color: {one.text}; border-bottom: 2px solid {one.accent}; }}
    QTabBar::tab:focus {{ color: {one.accent}; }}
    QStatusBar {{ color: {one.muted}; border-top: 1px solid {one.border}; }}
    QStatusBar::item {{ border: 0; }}
    QListView[role="rail"] {{
        background: {one.panel}; border: 0; border-right: 1px solid {one.border}; border-radius: 0; }}
    QListView[role="rail"]::item {{
        padding: 9px 4px; border-left: 3px solid transparent; color: {one.muted}; }}
    QListView[role="rail"]::item:hover {{ background: {one.hover}; }}
    QListView[role="rail"]::item:selected {{
        background: {one.selection}; color: {one.text}; border-left: 3px solid {one.accent}; }}
    QMenu {{ background: {one.panel}; border: 1px solid {one.border}; }}
    QMenu::item {{ padding: 5px 24px; }}
    QMenu::item:selected {{ background: {one.selection}; }}
    QMenuBar {{ background: {one.window}; }}
    QMenuBar::item:selected {{ background: {one.hover}; }}
    """
