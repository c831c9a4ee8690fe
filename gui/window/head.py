"""The line at the head of every page: what is acted on, the same on all. Each part opens its choice."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QWidget

from engine.core.formatting import short_name
from engine.settings.identity import StoredRun
from engine.settings.run_lists import of_what, run_in_a_line, run_in_lines, run_with_model
from gui.judge.rubric_choice import RubricChoice
from gui.review.annotators import WhoButton
from gui.widgets.action_table import OF_MENUS
from gui.widgets.actions import CurrentChoice, add_entry
from gui.widgets.foreign_text import one_line, set_tip, tip
from gui.widgets.labels import STRETCH, in_row, name
from gui.workspace import file_jobs
from gui.workspace.threads import LatestTask, ThreadName
from gui.workspace.workspace import Workspace

Does = Mapping[str, Callable[[], object]]
_MOST_RUNS, _MOST_DATASETS = 20, 12  # in the menus; all are in the list of runs


def _add_all(menu: QMenu, does: Does, *names: str) -> None:
    menu.addSeparator()
    for each in names:
        add_entry(menu, OF_MENUS[each].text, does[each])


def _as_entry(text: str) -> str:
    """A name is no mnemonic, and a tab would begin a column of keys."""
    return one_line(text).replace("&", "&&")


class DatasetChoice(CurrentChoice):
    def __init__(self, workspace: Workspace, does: Does) -> None:
        super().__init__("Dataset")
        self._workspace, self._does = workspace, does
        self._gone: frozenset[Path] = frozenset()
        self._looking = LatestTask(workspace.threads, ThreadName.STORE, self, self._take_gone)
        for signal in (workspace.dataset_changed, workspace.dataset_loading, workspace.run_changed):
            signal.connect(self._show)
        workspace.state.recent_changed.connect(self._look)
        self._look()
        self._show()

    def _show(self, loading: file_jobs.Loading | None = None) -> None:
        space = self._workspace
        if loading is not None:
            self.show_current(f"Reading {short_name(loading.path.name)} …", str(loading.path))
        elif space.dataset is not None:
            self.show_current(short_name(space.dataset.name), str(space.dataset.path))
        elif space.run is not None:
            path = space.run.results.run.identity.dataset_path
            self.show_current(f"{short_name(path.name)} (missing)", str(path))
        else:
            self.show_current("No dataset", "Choose a dataset")

    def _look(self) -> None:
        # Which are gone is known once the menu opens: a folder of a network may let whoever asks wait.
        self._looking.start(file_jobs.missing(self._workspace.state.recent("datasets")))

    def _take_gone(self, gone: frozenset[Path]) -> None:
        self._gone = gone

    def offer(self) -> None:
        self.offer_recent(self._menu)
        _add_all(self._menu, self._does, "open_dataset", "new_from_outputs", "new_from_prompts", "open_demo")
        self._look()

    def offer_recent(self, menu: QMenu) -> None:
        space, current = self._workspace, self._workspace.dataset
        menu.clear()
        for path in space.state.recent("datasets"):
            shown = _as_entry(f"{short_name(path.name)}  ({short_name(str(path.parent))})")
            is_current = current is not None and current.path.absolute() == path
            if path in self._gone:
                add_entry(menu, f"Not there: {shown} - remove", partial(self._remove, path), what=str(path))
            else:
                open_it = partial(space.open_dataset, path)
                add_entry(menu, shown, open_it, what=str(path), checked=is_current)
        if menu.isEmpty():
            menu.addAction("No recent datasets").setEnabled(False)
        else:
            menu.addSeparator()
            add_entry(menu, "Clear this list", partial(space.state.clear_recent, "datasets"))

    def _remove(self, path: Path) -> None:
        self._workspace.state.remove_recent("datasets", path)
        self._workspace.note.emit(f"{path.name} does not exist any more and was removed from the list.")


class RunChoice(CurrentChoice):
    def __init__(self, workspace: Workspace, does: Does) -> None:
        super().__init__("Run")
        self._workspace, self._does = workspace, does
        runs = (workspace.run_changed, workspace.runs_changed, workspace.judging_changed)
        for signal in (workspace.dataset_changed, *runs):
            signal.connect(self._show)
        self._show()

    def _show(self) -> None:
        space, run, judging = self._workspace, self._workspace.run, self._workspace.judging
        if run is None:
            others = (each.id for each in space.runs if not space.is_of_dataset(each))
            own = judging is not None and judging.run_id not in others
            begun = f"Run {judging.run_id} is being judged" if judging and own else "No run yet"
            self.show_current(begun, "Choose a run")
            return
        stored = run.results.run
        far = "" if stored.complete else f" ({stored.judged:,} of {stored.identity.items:,})"
        self.show_current(f"{run_with_model(stored)}{far}", run_in_lines(stored))

    def offer(self) -> None:
        """The runs of the current dataset; those of each other one in a menu under its name."""
        menu, space = self._menu, self._workspace
        menu.clear()
        opened = space.run.id if space.run is not None else None
        runs = [run for run in space.runs if not run.archived or run.id == opened]
        own = [run for run in runs if space.is_of_dataset(run)]
        for run in own[:_MOST_RUNS]:
            self._add(menu, run, run.id == opened)
        if not own:
            menu.addAction("No run of this dataset yet").setEnabled(False)
        menu.addSeparator()
        others: dict[Path, list[StoredRun]] = {}  # the newest first
        for run in runs:
            if run not in own:
                others.setdefault(run.identity.dataset_path, []).append(run)
        for path, of_file in [*others.items()][:_MOST_DATASETS]:
            of_other = menu.addMenu(_as_entry(f"Runs of {short_name(path.name)}"))
            of_other.menuAction().setToolTip(tip(str(path)))
            of_other.setToolTipsVisible(True)
            for run in of_file[:_MOST_RUNS]:
                self._add(of_other, run, False)
        checks = ["check_submission"] if opened is not None else []
        _add_all(menu, self._does, "show_runs", "open_submission", *checks)

    def _add(self, menu: QMenu, run: StoredRun, is_open: bool) -> None:
        text, open_it = _as_entry(run_in_a_line(run)), partial(self._workspace.open_run, run.id)
        add_entry(menu, text, open_it, what=run_in_lines(run), checked=is_open)


class OfferedRun(QPushButton):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.clicked.connect(lambda: workspace.open_run(workspace.offered or 0))  # hidden without one
        workspace.offer_changed.connect(self._follow)
        workspace.runs_changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        number = self._workspace.offered
        run = next((run for run in self._workspace.runs if run.id == number), None)
        text = f"Show run {number}"
        self.setText(text)
        name(self, text)
        set_tip(self, one_line(f"{run.title} {of_what(run)} has ended since.") if run is not None else "")
        self.setVisible(number is not None)


class HeadLine(QWidget):
    """Dataset, run with its model, rubric, who labels."""

    left = Signal()  # the keys go back to the page

    def __init__(self, workspace: Workspace, does: Does, rubric: RubricChoice, who: WhoButton) -> None:
        super().__init__()
        self.setAccessibleName("What is current")
        self.dataset, self.run = DatasetChoice(workspace, does), RunChoice(workspace, does)
        self.offered, self.rubric, self.who = OfferedRun(workspace), rubric, who
        parts = (self.dataset, self.run, self.offered, rubric, who)
        in_row(*parts, STRETCH, on=self, margins=(16, 6, 16, 0), spacing=6)
        self.setMinimumWidth(1)  # no name widens the window
        self.offered.clicked.connect(self.left)  # it vanishes with the offer
        workspace.author_changed.connect(self.left)  # who has said who they are goes on to label

    def take_keys(self) -> None:
        focus = QApplication.focusWidget()
        if focus is not None and self.isAncestorOf(focus):
            self.left.emit()
        else:
            self.dataset.setFocus(Qt.FocusReason.ShortcutFocusReason)
