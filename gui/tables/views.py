"""Table views as the whole window uses them.

Knows: how views look and behave. Does not know: what is in them.
"""

from PySide6.QtCore import QAbstractItemModel, QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from gui.tables.text_table import TextTable


class _WholeView(QTableView):
    """As high as its rows, whatever the size of the text."""

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Fit again after another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.model() is not None:
            fit_height(self)


def table_view(model: QAbstractItemModel, accessible: str, view: QTableView | None = None) -> QTableView:
    """A view of whole rows, without grid, with rows one line high."""
    view = view or QTableView()
    view.setAccessibleName(accessible)
    view.setModel(model)
    view.setShowGrid(False)
    view.setAlternatingRowColors(True)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setTabKeyNavigation(False)
    view.setWordWrap(False)
    view.setTextElideMode(Qt.TextElideMode.ElideRight)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    rows = view.verticalHeader()
    rows.setVisible(False)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setDefaultSectionSize(view.fontMetrics().height() + 10)
    view.horizontalHeader().setHighlightSections(False)
    return view


def measure_view(model: TextTable, accessible: str) -> QTableView:
    """A view of a small table that is shown whole, as wide as its texts; Ctrl+C copies all of it."""
    view = table_view(model, accessible, _WholeView())
    view.setProperty("role", "whole")
    view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    header = view.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setStretchLastSection(False)
    model.modelReset.connect(lambda: fit_height(view))
    copy = QShortcut(QKeySequence.StandardKey.Copy, view)
    copy.setContext(Qt.ShortcutContext.WidgetShortcut)
    copy.activated.connect(lambda: QGuiApplication.clipboard().setText(model.as_text()))
    fit_height(view)
    return view


def fit_height(view: QTableView) -> None:
    """Make a view as high as its rows."""
    rows = view.model().rowCount()
    view.verticalHeader().setDefaultSectionSize(view.fontMetrics().height() + 10)
    height = view.horizontalHeader().sizeHint().height() + rows * view.verticalHeader().defaultSectionSize()
    view.setFixedHeight(height + 2 * view.frameWidth() + view.horizontalScrollBar().sizeHint().height())
