"""What the labels of a widget say."""

from PySide6.QtWidgets import QLabel, QWidget


def text_of(widget: QWidget) -> str:
    """The texts of the labels in it that are to be seen, a line each or more."""
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def shown_text(widget: QWidget) -> str:
    """The same of those that nobody has hidden, whether the widget is to be seen or not."""
    labels = (label for label in widget.findChildren(QLabel) if not label.isHidden())
    return "\n".join(label.text() for label in labels if label.text())
