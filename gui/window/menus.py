"""The menus of the window, with the keys of everything that they hold.

Knows: what stands in which menu. Does not know: how any of it is done.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

from engine.core.formatting import without_middle
from engine.settings.run_lists import of_what
from gui.widgets.actions import Entry
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.theme import ThemeChoice
from gui.workspace.state import PageName

if TYPE_CHECKING:
    from engine.settings.identity import StoredRun

_NUMBERED = re.compile(r"^&\d ")  # the pages
_LONGEST_RUN = 60  # characters of a run's name in a menu
_LONGEST_PART = 48  # characters of a name in a menu, and of its folder
_NO_AMPERSAND = str.maketrans({"&": "&&"})
_THEMES = {
    ThemeChoice.SYSTEM: "As the &system",
    ThemeChoice.LIGHT: "&Light",
    ThemeChoice.DARK: "&Dark",
}

Action = Callable[[], object]


@dataclass(frozen=True)
class MenuActions:
    """What the entries of the menus do. `recent_datasets` gives the newest first."""

    open_dataset: Action
    new_from_outputs: Action
    open_submission: Action
    check_submission: Action
    open_demo: Action
    recent_datasets: Callable[[], Sequence[Path]]
    open_recent: Callable[[Path], object]
    clear_recent: Action
    exports: Sequence[Entry]
    add_labels: Action
    show_runs: Action
    show_settings: Action
    quit: Action
    show_page: Callable[[PageName], object]
    show_notices: Action
    set_theme: Callable[[ThemeChoice], object]
    step_text_size: Callable[[int], object]
    reset_text_size: Action
    resize_part: Callable[[Qt.Orientation, bool], object]
    resize_column: Callable[[bool], object]
    run: Action
    stop: Action
    add_to_queue: Action
    start_queue: Action
    show_help: Action
    show_keys: Action
    show_self_test: Action
    copy_diagnostics: Action
    open_data_folder: Action
    open_log_folder: Action
    show_about: Action


class Menus(QObject):
    """Fills the menus of a bar, which has them already."""

    def __init__(self, bar: QMenuBar, actions: MenuActions, parent: QObject) -> None:
        super().__init__(parent)
        self._do = actions
        self._added: list[QAction] = []
        self._exports: Sequence[QAction] = ()
        self._themes: Mapping[ThemeChoice, QAction] = {}
        fillers = (self._fill_file, self._fill_view, self._fill_run, self._fill_help)
        for entry, fill in zip(bar.actions(), fillers, strict=True):
            fill(cast(QMenu, entry.menu()))

    def keys(self) -> Sequence[tuple[str, str]]:
        """Each key of the menus, and what it does."""
        form = QKeySequence.SequenceFormat.NativeText
        return [
            (
                " or ".join(key.toString(form) for key in action.shortcuts()),
                _NUMBERED.sub("", action.text()).replace("&", "").rstrip("…"),
            )
            for action in self._added
            if action.shortcuts()
        ]

    @Slot(bool)
    def enable_exports(self, possible: bool) -> None:
        """Say whether there is a run to export."""
        for action in self._exports:
            action.setEnabled(possible)

    def name_run(self, run: "StoredRun | None") -> None:
        """Say which run is exported, checked and added to; another one may have ended meanwhile."""
        called = of = to = whole = ""
        if run is not None:
            whole = f"Export {run.called}, {run.identity.dataset_path.name}, {run.identity.model_name}"
            called = f" {without_middle(one_line(f'{run.called} {of_what(run)}'), _LONGEST_RUN)}"
            of = "" if run.submitted else f" of {run.in_short}"
            to = f" into {run.in_short}"
        self._export.setTitle(f"&Export{called.translate(_NO_AMPERSAND)}")
        self._export.menuAction().setToolTip(tip(whole or "Export"))
        self._check.setText(f"&Check the submission{of}…")
        self._add_labels.setText(f"&Import annotations{to}…")

    def follow_run(self, running: bool) -> None:
        """Say whether a run is under way."""
        self._run.setEnabled(not running)
        self._stop.setEnabled(running)

    def check_theme(self, chosen: ThemeChoice) -> None:
        """Mark the theme that is in use."""
        for choice, action in self._themes.items():
            action.setChecked(choice is chosen)

    def _add(self, menu: QMenu, entry: Entry) -> QAction:
        action = entry.add_to(menu)
        self._added.append(action)
        return action

    def _fill_file(self, menu: QMenu) -> None:
        self._add(menu, Entry("&Open dataset…", self._do.open_dataset, (QKeySequence.StandardKey.Open,)))
        self._add(menu, Entry("&New dataset from outputs…", self._do.new_from_outputs))
        self._add(menu, Entry("Open s&ubmission…", self._do.open_submission, ("Ctrl+Shift+O",)))
        self._recent = menu.addMenu("Open &recent")
        self._recent.setToolTipsVisible(True)
        self._recent.aboutToShow.connect(self._fill_recent)
        self._add(menu, Entry("Open the &demo dataset", self._do.open_demo))
        menu.addSeparator()
        self._export = menu.addMenu("&Export")
        self._check = self._add(menu, Entry("&Check the submission…", self._do.check_submission))
        self._add_labels = self._add(menu, Entry("&Import annotations…", self._do.add_labels))
        exports = (self._add(self._export, entry) for entry in self._do.exports)
        self._exports = [*exports, self._check, self._add_labels]
        self.enable_exports(False)
        menu.addSeparator()
        self._add(menu, Entry("&Runs…", self._do.show_runs, ("Ctrl+L",)))
        self._add(menu, Entry("&Settings…", self._do.show_settings, ("Ctrl+,",)))
        self._add(menu, Entry("&Quit", self._do.quit, ("Ctrl+Q",)))

    @Slot()
    def _fill_recent(self) -> None:
        self._recent.clear()
        for path in self._do.recent_datasets():
            name, folder = (without_middle(part, _LONGEST_PART) for part in (path.name, str(path.parent)))
            action = self._recent.addAction(one_line(f"{name}   {folder}").translate(_NO_AMPERSAND))
            action.setToolTip(tip(str(path)))
            action.triggered.connect(partial(self._do.open_recent, path))
        if self._recent.isEmpty():
            self._recent.addAction("No files yet").setEnabled(False)
        else:
            self._recent.addSeparator()
            Entry("Clear the list", self._do.clear_recent).add_to(self._recent)

    def _fill_view(self, menu: QMenu) -> None:
        for number, page in enumerate(PageName, start=1):
            self._add(
                menu, Entry(f"&{number} {page}", partial(self._do.show_page, page), (f"Ctrl+{number}",))
            )
        self._add(menu, Entry("N&otices", self._do.show_notices, ("F8",)))
        menu.addSeparator()
        theme = menu.addMenu("&Theme")
        self._themes = {
            choice: self._add(theme, Entry(text, partial(self._do.set_theme, choice)))
            for choice, text in _THEMES.items()
        }
        for action in self._themes.values():
            action.setCheckable(True)
        self._add(menu, Entry("&Larger text", partial(self._do.step_text_size, 1), ("Ctrl++", "Ctrl+=")))
        self._add(menu, Entry("S&maller text", partial(self._do.step_text_size, -1), ("Ctrl+-",)))
        self._add(menu, Entry("&Normal text", self._do.reset_text_size, ("Ctrl+0",)))
        self._fill_resize(menu.addMenu("&Resize"))

    def _fill_resize(self, menu: QMenu) -> None:
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        part, column = self._do.resize_part, self._do.resize_column
        self._add(menu, Entry("&Wider part", partial(part, across, True), ("Ctrl+Shift+Right",)))
        self._add(menu, Entry("&Narrower part", partial(part, across, False), ("Ctrl+Shift+Left",)))
        self._add(menu, Entry("&Higher part", partial(part, down, True), ("Ctrl+Shift+Down",)))
        self._add(menu, Entry("&Lower part", partial(part, down, False), ("Ctrl+Shift+Up",)))
        self._add(menu, Entry("W&ider column", partial(column, True), ("Alt+Right",)))
        self._add(menu, Entry("Na&rrower column", partial(column, False), ("Alt+Left",)))

    def _fill_run(self, menu: QMenu) -> None:
        self._run = self._add(menu, Entry("&Run or resume", self._do.run, ("Ctrl+R", "F5")))
        self._stop = self._add(menu, Entry("&Stop", self._do.stop, ("Ctrl+.",)))
        self._stop.setEnabled(False)
        menu.addSeparator()
        self._add(menu, Entry("&Add to queue", self._do.add_to_queue, ("Ctrl+Shift+R",)))
        self._add(menu, Entry("Start &queue", self._do.start_queue, ("Shift+F5",)))

    def _fill_help(self, menu: QMenu) -> None:
        self._add(menu, Entry("What the &words mean", self._do.show_help, ("F1",)))
        self._add(menu, Entry("&Keys", self._do.show_keys, ("?",)))
        self._add(menu, Entry("Self-&test…", self._do.show_self_test))
        self._add(menu, Entry("&Copy diagnostics", self._do.copy_diagnostics))
        menu.addSeparator()
        self._add(menu, Entry("Open the &data folder", self._do.open_data_folder))
        self._add(menu, Entry("Open the &log folder", self._do.open_log_folder))
        menu.addSeparator()
        self._add(menu, Entry("&About Tiebreak", self._do.show_about))
