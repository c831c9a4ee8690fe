"""What the labels of a widget say."""

from PySide6.QtWidgets import QLabel, QWidget


def text_of(widget: QWidget) -> str:
    """The texts of the labels in it that are to be seen, a line each or more."""
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())
