"""The menus of the window, filled from the table of actions."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from engine.core.formatting import without_middle
from engine.settings.run_lists import of_what
from gui.widgets.action_table import MENUS, OF_MENUS, Rows, Submenu, When
from gui.widgets.actions import add_entry
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.theme import ThemeChoice

if TYPE_CHECKING:
    from engine.settings.identity import StoredRun

_LONGEST_RUN = 60  # characters of a run's name in a menu
_LONGEST_PART = 48  # characters of a name in a menu, and of its folder
_NO_AMPERSAND = str.maketrans({"&": "&&"})


class Menus(QObject):
    """Fills the menus of a bar. `does`: what the entries do, by name. `recent`: the files opened last, the
    newest first.
    """

    def __init__(
        self,
        bar: QMenuBar,
        does: Mapping[str, Callable[[], object]],
        recent: Callable[[], Sequence[Path]],
        open_recent: Callable[[Path], object],
    ) -> None:
        super().__init__(bar)
        self._does, self._files, self._open_recent = does, recent, open_recent
        self._entries: dict[str, QAction] = {}
        self._menus: dict[str, QMenu] = {}
        for entry, rows in zip(bar.actions(), MENUS.values(), strict=True):
            self._fill(cast(QMenu, entry.menu()), rows)
        self._export, self._recent = self._menus["export"], self._menus["recent"]
        self._recent.setToolTipsVisible(True)
        self._recent.aboutToShow.connect(self._fill_recent)
        for choice in ThemeChoice:
            self._entries[f"theme_{choice}"].setCheckable(True)
        self.enable(When.RUN_OPEN, False)
        self.enable(When.JUDGING, False)

    def _fill(self, menu: QMenu, rows: Rows) -> None:
        for row in rows:
            if row is None:
                menu.addSeparator()
            elif isinstance(row, Submenu):
                self._menus[row.name] = menu.addMenu(row.title)
                self._fill(self._menus[row.name], row.rows)
            else:
                self._entries[row.name] = add_entry(menu, row.text, self._does[row.name], row.sequences)

    def enable(self, when: When, possible: bool) -> None:
        for name, entry in self._entries.items():
            if OF_MENUS[name].when is when:
                entry.setEnabled(possible)

    def name_run(self, run: "StoredRun | None") -> None:
        called = of = to = whole = ""
        if run is not None:
            whole = f"Export {run.called}, {run.identity.dataset_path.name}, {run.identity.model_name}"
            called = f" {without_middle(one_line(f'{run.called} {of_what(run)}'), _LONGEST_RUN)}"
            of = "" if run.submitted else f" of {run.in_short}"
            to = f" into {run.in_short}"
        self._export.setTitle(f"&Export{called.translate(_NO_AMPERSAND)}")
        self._export.menuAction().setToolTip(tip(whole or "Export"))
        self._entries["check_submission"].setText(f"&Check the submission{of}…")
        self._entries["import_annotations"].setText(f"&Import annotations{to}…")

    def follow_run(self, running: bool) -> None:
        self.enable(When.IDLE, not running)
        self.enable(When.JUDGING, running)

    def check_theme(self, chosen: ThemeChoice) -> None:
        for choice in ThemeChoice:
            self._entries[f"theme_{choice}"].setChecked(choice is chosen)

    @Slot()
    def _fill_recent(self) -> None:
        self._recent.clear()
        for path in self._files():
            name, folder = (without_middle(part, _LONGEST_PART) for part in (path.name, str(path.parent)))
            action = self._recent.addAction(one_line(f"{name}   {folder}").translate(_NO_AMPERSAND))
            action.setToolTip(tip(str(path)))
            action.triggered.connect(partial(self._open_recent, path))
        if self._recent.isEmpty():
            self._recent.addAction("No files yet").setEnabled(False)
        else:
            self._recent.addSeparator()
            add_entry(self._recent, "Clear the list", self._does["clear_recent"])
