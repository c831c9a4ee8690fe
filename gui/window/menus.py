"""The menus of the window, with the keys of everything that they hold.

Knows: what stands in which menu. Does not know: how any of it is done.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from engine.system.paths import data_folder, demo_dataset, log_folder
from gui.kit.foreign_text import one_line
from gui.kit.theme import ThemeChoice

if TYPE_CHECKING:
    from gui.window.frame import MainWindow
    from gui.window.interior import Interior

Key = QKeySequence.StandardKey | str

_NUMBERED = re.compile(r"^&\d ")  # the pages
_NO_AMPERSAND = str.maketrans({"&": "&&"})


class Menus(QObject):
    """Fills the menus of a window, which has them already, once its pages are there."""

    def __init__(self, window: "MainWindow", interior: "Interior") -> None:
        super().__init__(window)
        self._window = window
        self._interior = interior
        self._actions: list[QAction] = []
        fillers = (self._fill_file, self._fill_view, self._fill_run, self._fill_help)
        for entry, fill in zip(window.menuBar().actions(), fillers, strict=True):
            fill(cast(QMenu, entry.menu()))
        interior.results.can_export_changed.connect(self.enable_exports)

    def keys(self) -> Sequence[tuple[str, str]]:
        """Each key of the menus, and what it does."""
        form = QKeySequence.SequenceFormat.NativeText
        return [
            (
                " or ".join(key.toString(form) for key in action.shortcuts()),
                _NUMBERED.sub("", action.text()).replace("&", "").rstrip("…"),
            )
            for action in self._actions
            if action.shortcuts()
        ]

    @Slot(bool)
    def enable_exports(self, possible: bool) -> None:
        """Say whether there is a run to export."""
        for action in self._exports:
            action.setEnabled(possible)

    def follow_run(self, running: bool) -> None:
        """Say whether a run is under way."""
        self._run.setEnabled(not running)
        self._stop.setEnabled(running)

    def check_theme(self, chosen: ThemeChoice) -> None:
        """Mark the theme that is in use."""
        for choice, action in self._themes.items():
            action.setChecked(choice is chosen)

    def _add(self, menu: QMenu, text: str, do: Callable[[], object], *keys: Key) -> QAction:
        action = menu.addAction(text)
        action.setShortcuts([QKeySequence(key) for key in keys])
        # A menu's own signal carries whether it is checked, which nobody wants to know.
        action.triggered.connect(lambda _checked=False: do())
        self._actions.append(action)
        return action

    def _fill_file(self, menu: QMenu) -> None:
        window, results, dataset = self._window, self._interior.results, self._interior.dataset
        self._add(menu, "&Open dataset…", dataset.choose_file, QKeySequence.StandardKey.Open)
        self._recent = menu.addMenu("Open &recent")
        self._recent.aboutToShow.connect(self._fill_recent)
        self._add(menu, "Open the &demo dataset", self._open_demo)
        menu.addSeparator()
        export = menu.addMenu("&Export")
        self._exports = [
            self._add(export, "Submission for sub-task &1: labels…", results.export_labels, "Ctrl+E"),
            self._add(
                export,
                "Submission for sub-task &2: labels and explanations…",
                results.export_explained,
                "Ctrl+Shift+E",
            ),
            self._add(export, "All data as &CSV…", results.export_csv),
            self._add(export, "All data as &JSON…", results.export_json),
            self._add(export, "&Report as HTML…", results.export_report),
            self._add(export, "&Figures as PNG and SVG…", results.export_figures),
        ]
        self.enable_exports(False)
        menu.addSeparator()
        self._add(menu, "&Settings…", self._interior.show_settings, "Ctrl+,")
        self._add(menu, "&Quit", window.close, "Ctrl+Q")

    def _open_demo(self) -> None:
        self._interior.workspace.open_dataset(demo_dataset())

    @Slot()
    def _fill_recent(self) -> None:
        self._recent.clear()
        space = self._interior.workspace
        for path in space.state.recent("datasets"):
            action = self._recent.addAction(one_line(f"{path.name}   {path.parent}").translate(_NO_AMPERSAND))
            action.triggered.connect(partial(space.open_dataset, path))
        if self._recent.isEmpty():
            self._recent.addAction("No files yet").setEnabled(False)
        else:
            self._recent.addSeparator()
            clear = self._recent.addAction("Clear the list")
            clear.triggered.connect(partial(space.state.clear_recent, "datasets"))

    def _fill_view(self, menu: QMenu) -> None:
        window = self._window
        for number, page in enumerate(self._interior.pages, start=1):
            self._add(menu, f"&{number} {page.NAME}", partial(window.show_page, page.NAME), f"Ctrl+{number}")
        menu.addSeparator()
        theme = menu.addMenu("&Theme")
        self._themes = {}
        for choice, text in (
            (ThemeChoice.SYSTEM, "As the &system"),
            (ThemeChoice.LIGHT, "&Light"),
            (ThemeChoice.DARK, "&Dark"),
        ):
            self._themes[choice] = self._add(theme, text, partial(window.set_theme, choice))
            self._themes[choice].setCheckable(True)
        self._add(menu, "&Larger text", partial(window.step_text_size, 1), "Ctrl++", "Ctrl+=")
        self._add(menu, "S&maller text", partial(window.step_text_size, -1), "Ctrl+-")
        self._add(menu, "&Normal text", partial(window.set_text_size, 100), "Ctrl+0")

    def _fill_run(self, menu: QMenu) -> None:
        self._run = self._add(menu, "&Run or resume", self._window.run, "Ctrl+R", "F5")
        self._stop = self._add(menu, "&Stop", self._interior.run_control.stop, "Ctrl+.")
        self._stop.setEnabled(False)

    def _fill_help(self, menu: QMenu) -> None:
        window, interior = self._window, self._interior
        self._add(menu, "&Keys", interior.show_keys, "F1", "?")
        self._add(menu, "Self-&test…", interior.show_self_test)
        menu.addSeparator()
        self._add(menu, "Open the &data folder", lambda: window.open_folder(data_folder()))
        self._add(menu, "Open the &log folder", lambda: window.open_folder(log_folder()))
        menu.addSeparator()
        self._add(menu, "&About Tiebreak", interior.show_about)
