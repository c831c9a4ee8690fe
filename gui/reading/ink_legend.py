"""The legend of a shown prompt: for each kind of text in it, a word that is written as that is.

Knows: kinds of text. Does not know: prompts.
"""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from gui.kit.flow import FlowLayout
from gui.kit.theme import colours
from gui.reading.prompt_pane import INK_WORDS, Ink, ShownPrompt, ink_format


class InkLegend(QWidget):
    """As many words as the prompt has kinds of text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._samples = FlowLayout(self, gap=8)

    def show_prompt(self, prompt: ShownPrompt | None) -> None:
        """Show the legend of a prompt; nothing for None."""
        used = {span.ink for span in prompt.spans} if prompt else set()
        samples = self.findChildren(InkSample)
        if {sample.ink for sample in samples} == used:
            return
        for sample in samples:
            self._samples.removeWidget(sample)
            sample.setParent(None)
            sample.deleteLater()
        for ink in Ink:
            if ink in used:
                self._samples.addWidget(InkSample(ink))


class InkSample(QWidget):
    """A word of the legend, written as the text is that it stands for."""

    def __init__(self, ink: Ink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ink = ink
        self._label = QLabel(INK_WORDS[ink])
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._label)
        self._restyle()

    @property
    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_label"):
            self._restyle()

    def _restyle(self) -> None:
        style = ink_format(self.ink, colours(self.palette()))
        ground = style.background().color().name(QColor.NameFormat.HexArgb)
        marked = style.background().style() is not Qt.BrushStyle.NoBrush
        self._label.setStyleSheet(
            f"color: {style.foreground().color().name()};"
            f" background: {ground if marked else 'transparent'};"
            f" font-weight: {600 if self.ink is Ink.CONTROL else 400}; padding: 1px 6px; border-radius: 3px;"
        )
