"""Who annotates: asked once before the first label or note, changed in the page's head.

Knows: names of annotators. Does not know: labels.
"""

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLineEdit, QWidget

from engine.core.formatting import visible
from gui.kit.actions import MenuButton
from gui.kit.foreign_text import set_tip, tip
from gui.kit.labels import heading, hint, name
from gui.kit.layouts import in_column, ok_and_cancel
from gui.work.workspace import LONGEST_NAME, Workspace

_SHOWN = 16  # characters of a name on the button
_MOST_LISTED = 12


class WhoDialog(QDialog):
    """Asks for a name; `chosen` is what was written, empty where it was left."""

    def __init__(self, suggested: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Who is annotating?")
        self.field = QLineEdit(suggested, maxLength=LONGEST_NAME)
        self.field.selectAll()
        name(self.field, "Your name")
        self._buttons = ok_and_cancel(self)
        self.field.textChanged.connect(self._check)
        in_column(
            heading("Your name"),
            self.field,
            hint(
                "Your name is stored with every label and note that you give, and is in exports."
                " You can change it at any time."
            ),
            self._buttons,
            on=self,
            margins=None,
            spacing=10,
        )
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 56)
        self._check()

    @property
    def chosen(self) -> str:
        """What can be printed of it."""
        return "".join(letter for letter in self.field.text() if letter.isprintable()).strip()

    @Slot()
    def _check(self) -> None:
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(self.chosen))


class WhoButton(MenuButton):
    """`You are Ada ▾`: everybody who labelled the open run, and another name.

    `then` does what needs a name, once there is one.
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(tips=True)
        self._workspace = workspace
        self._request: Callable[[], object] | None = None
        self._wished_of: int | None = None  # the run that was open
        self.dialog: WhoDialog | None = None
        self._menu.aboutToShow.connect(self._fill)
        workspace.author_changed.connect(self.follow)
        self.follow()

    def then(self, request: Callable[[], object]) -> None:
        """Do what needs a name: at once, or after the annotator has given one; never if they cancel.

        It is meant for the run that is open now: if another one is by then, it is not done.
        """
        if self._workspace.knows_author:
            request()
        else:
            self._request, self._wished_of = request, self._open_run
            self.ask()

    @Slot()
    def ask(self) -> None:
        """Ask for a name."""
        if self.dialog is not None:
            return
        self.dialog = WhoDialog(self._workspace.author, self.window())
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.finished.connect(self._take)
        self.dialog.open()

    @Slot()
    def follow(self) -> None:
        """Show who it is."""
        author = visible(self._workspace.author)
        self.setText(f"You are {self._short(author)}".replace("&", "&&"))
        name(self, f"You are {author}: choose the annotator")
        set_tip(self, f"You are {author}. Your annotations are separate from those of others.")

    def minimumSizeHint(self) -> QSize:
        """A few letters: a head with little room cuts it."""
        return QSize(self.fontMetrics().averageCharWidth() * 14, super().minimumSizeHint().height())

    def _short(self, annotator: str) -> str:
        room = self.fontMetrics().averageCharWidth() * _SHOWN
        return self.fontMetrics().elidedText(annotator, Qt.TextElideMode.ElideMiddle, room)

    @Slot(int)
    def _take(self, result: int) -> None:
        dialog, self.dialog = self.dialog, None
        request, self._request = self._request, None
        if dialog is not None and result == QDialog.DialogCode.Accepted:
            self._workspace.set_author(dialog.chosen)
            if request is None:
                return
            if self._open_run == self._wished_of:
                request()
            else:
                self._workspace.note.emit(
                    "Another run is open now: your last action on the previous one was not carried out."
                )

    @property
    def _open_run(self) -> int | None:
        return self._workspace.run.id if self._workspace.run else None

    @Slot()
    def _fill(self) -> None:
        self._menu.clear()
        run = self._workspace.run
        annotators = {*(run.results.reviews.annotators if run else ()), self._workspace.author}
        for annotator in sorted(annotators)[:_MOST_LISTED]:
            action = QAction(self._short(visible(annotator)).replace("&", "&&"), self._menu)
            action.setData(annotator)
            action.setToolTip(tip(annotator))
            action.setCheckable(True)
            action.setChecked(annotator == self._workspace.author)
            action.triggered.connect(self._choose)
            self._menu.addAction(action)
        self._menu.addSeparator()
        self._menu.addAction("&Another name…", self.ask)

    @Slot()
    def _choose(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._workspace.set_author(str(action.data()))
