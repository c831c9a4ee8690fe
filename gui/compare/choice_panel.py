"""What is to be compared: systems, human labels and how; and what is missing before it can be.

Knows: the workspace's runs and labels, what was chosen last time. Does not know: how systems are compared.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QPushButton

from engine.core.errors import EngineError, SetupError, WrongKindError
from engine.core.formatting import visible
from engine.core.label_sources import LabelSource, LabelSourceKind
from engine.system.paths import current_folder, home
from gui.compare.compare_jobs import CompareRequest, Examined, examine
from gui.compare.system_list import SystemList
from gui.kit.file_dialogs import ALL_FILES, DATASETS, ask_source
from gui.kit.foreign_text import one_line, plain_label
from gui.kit.labels import DownScroll, heading, hint, main_button, name, panel, show_text
from gui.kit.layouts import STRETCH, in_row
from gui.kit.remedies import IN_THE_WINDOW
from gui.work.lanes import LatestTask, ThreadName
from gui.work.source_box import SourceBox
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_KEPT = "compare"  # the name under which the choice is remembered
LEAST_SYSTEMS = 2
_IN_USE = "dataset with the human labels of Compare"
_SUBMISSIONS = f"Submissions (*.tsv *.tsv.gz);;{ALL_FILES}"


class ChoicePanel(DownScroll):
    """Systems to tick, labels to choose, options. `compare_button`, which starts, stands in the header."""

    changed = Signal()
    compare_wanted = Signal()
    jury_wanted = Signal()  # the ticked systems are to be decided together
    gold_changed = Signal()
    refused = Signal(object)  # an EngineError: files that cannot be compared were not added

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        name(self, "What is compared")
        self._workspace = workspace
        self._busy = False
        self._chosen: Dataset | None = None
        self._examined_with: Dataset | None = None  # the labels that the files were last compared with
        self._looking = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._reading = workspace.reader(self)
        self.systems = SystemList()
        self.gold_text = plain_label()
        self.whose = SourceBox()
        self.compare_button = main_button("&Compare")
        name(self.compare_button, "Compare the ticked systems", "Ctrl+Enter")
        self._lacking = hint("")
        self._build()
        self._connect()
        self._restore()

    @property
    def choice(self) -> CompareRequest:
        """What is ticked."""
        return CompareRequest(self.systems.runs, self.systems.files, self.whose.source.kind)

    @property
    def gold(self) -> "Dataset | None":
        """The human labels: those chosen here, the open run's own, or those of the open dataset."""
        opened = self._workspace.dataset
        return (
            self._chosen
            or self._workspace.own_gold
            or (opened if opened is not None and opened.criteria else None)
        )

    @property
    def _gold_from(self) -> str:
        """Why it is these labels."""
        if self._chosen is not None:
            return "chosen here"
        run = self._workspace.run
        own = self._workspace.own_gold is not None and run is not None
        return f"the labels of run {run.id}, which is open" if own and run else "the open dataset"

    @property
    def lacking(self) -> list[str]:
        """What is missing before something can be compared, a sentence each."""
        steps = []
        chosen = self.choice.systems
        if chosen < LEAST_SYSTEMS:
            more = "Tick two systems or more" if not chosen else "Tick one more system"
            steps.append(f"{more}: runs from the Judge page, or submission files.")
        gold = self.gold
        if gold is None:
            steps.append("Choose a dataset with human labels.")
        elif not gold.criteria:
            steps.append(f"{one_line(gold.name)} has no human labels: choose another dataset.")
        return steps

    @property
    def folder(self) -> Path:
        """Where files are likely to be: beside the last submission, else beside the labels."""
        if self.systems.all_files:
            return self.systems.all_files[-1].parent
        return self.gold.path.parent if self.gold else Path(current_folder() or home())

    def add_files(self, paths: Sequence[Path]) -> None:
        """List submission files and tick them, once it is known that they can be compared; one that is listed
        already is only ticked.
        """
        adding = self._workspace.threads.start(ThreadName.FILES, examine(list(paths), self.gold))
        adding.finished.connect(self._add)
        adding.failed.connect(self.refused)

    @Slot(object)
    def _add(self, examined: Examined) -> None:
        listed = [path.name for path in examined.fit if path.absolute() in self.systems.all_files]
        if examined.fit:
            self.systems.add_files(examined.fit)
        if listed:
            self._workspace.note.emit(f"Already in the list: {', '.join(listed)}")
        gone = [SetupError(f"{path} does not exist.", "Check the folder.") for path in examined.missing]
        elsewhere = [error for error in examined.unfit.values() if isinstance(error, WrongKindError)]
        for error in elsewhere:  # said where a button opens it in its own place
            self._workspace.problem.emit(error)
        if errors := [*gone, *(error for error in examined.unfit.values() if error not in elsewhere)]:
            problems = [error.problem for error in errors]
            hints = dict.fromkeys(IN_THE_WINDOW.of(error.hint) for error in errors)
            self.refused.emit(SetupError("\n".join(problems), "\n".join(hints)))
        self.look_for_files()

    def choose_gold(self, path: Path) -> None:
        """Read a labelled dataset to hold the systems against; other pages keep theirs."""
        self.gold_text.setText(visible(f"Reading {path.name} …"))
        ticked = [run for run in self._workspace.runs if run.id in self.systems.runs]
        self._reading.read_labels(path, ticked)

    @Slot()
    def use_default_labels(self) -> None:
        """Hold the systems against the labels of the open run, or the open dataset, again."""
        self._reading.drop()
        self._take_gold(None)

    @Slot(object)
    def _take_gold(self, dataset: "Dataset | None") -> None:
        self._workspace.failures.end(self)
        self._chosen = dataset
        self._workspace.in_use.pop(_IN_USE, None)
        if dataset is not None:
            self._workspace.in_use[_IN_USE] = dataset.path
        self.bring_up_to_date()
        self.gold_changed.emit()

    @Slot(object)
    def _refuse_gold(self, error: EngineError) -> None:
        self.bring_up_to_date()
        self._workspace.failures.fail(self, error)

    def look_for_files(self) -> None:
        """See which of the submission files are still there and fit the human labels."""
        self._examined_with = self.gold
        self._looking.start(examine(self.systems.all_files, self.gold))

    def set_busy(self, busy: bool) -> None:
        """While a comparison is under way, no other can be started."""
        self._busy = busy
        self.bring_up_to_date()

    @Slot()
    def bring_up_to_date(self) -> None:
        """Say what is chosen and what is missing."""
        gold, lacking = self.gold, self.lacking
        if gold is not self._examined_with and self.systems.all_files:
            self.look_for_files()
        self.gold_text.setText(visible(f"{_words_on(gold)} ({self._gold_from})") if gold else "None yet.")
        self._own_button.setVisible(self._chosen is not None)
        self.compare_button.setEnabled(not lacking and not self._busy)
        self.panel_button.setEnabled(self.choice.systems >= LEAST_SYSTEMS)
        show_text(self._lacking, "\n".join(lacking))
        self.changed.emit()

    # Making

    def _build(self) -> None:
        self.panel_button = QPushButton("Make a jur&y…")
        name(
            self.panel_button,
            "Make a jury of the ticked systems",
            "Combines them into one judge, stored as a run of its own",
        )
        self._gold_button = QPushButton("Choose &labels…")
        name(self._gold_button, "Choose a dataset with human labels")
        self._own_button = QPushButton("Run's o&wn")
        name(self._own_button, "Use the human labels of the open run's own dataset again")
        buttons = in_row((self._gold_button, STRETCH), self._own_button)
        systems = (heading("Systems"), (self.systems, STRETCH), self.panel_button)
        chosen = (*systems, heading("Human labels"), self.gold_text)
        self.setWidget(panel(*chosen, buttons, self.whose, self._lacking))

    def _connect(self) -> None:
        space = self._workspace
        self._looking.finished.connect(self.systems.show_examined)
        self.systems.files_wanted.connect(self._ask_submissions)
        self._gold_button.clicked.connect(self._ask_gold)
        self._own_button.clicked.connect(self.use_default_labels)
        self._reading.finished.connect(self._take_gold)
        self._reading.failed.connect(self._refuse_gold)
        self._reading.put_off.connect(self.bring_up_to_date)
        self.compare_button.clicked.connect(self.compare_wanted)
        self.panel_button.clicked.connect(self.jury_wanted)
        space.runs_changed.connect(self._list_runs)
        for signal in (self.systems.changed, self.whose.changed):
            signal.connect(self._remember)
        for signal in (space.run_changed, space.dataset_changed):
            signal.connect(self.bring_up_to_date)
        space.run_changed.connect(self._mark_open)

    def _restore(self) -> None:
        values = self._workspace.state.record(_KEPT)
        with QSignalBlocker(self.whose):
            if values.get("labels_of") in list(LabelSourceKind):
                self.whose.choose(LabelSource(LabelSourceKind(values["labels_of"])))
        self.systems.restore(values)
        self._list_runs()

    # What happens

    @Slot()
    def _remember(self) -> None:
        chosen = {**self.systems.as_json(), "labels_of": self.whose.source.kind.value}
        self._workspace.state.set_record(_KEPT, chosen)
        self.bring_up_to_date()

    @Slot()
    def _list_runs(self) -> None:
        self.systems.show_runs(self._workspace.runs)
        self._mark_open()
        self.bring_up_to_date()

    @Slot()
    def _mark_open(self) -> None:
        run = self._workspace.run
        self.systems.mark_open(run.id if run else None)
        if run is not None and not self._workspace.state.record(_KEPT):  # nobody has chosen yet
            self.systems.tick_only(run.id)
            self.bring_up_to_date()

    @Slot()
    def _ask_submissions(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, "Add submissions", str(self.folder), _SUBMISSIONS)
        if names:
            self.add_files([Path(path) for path in names])

    @Slot()
    def _ask_gold(self) -> None:
        path = ask_source(self, "Choose a dataset with human labels", self.folder, DATASETS)
        if path is not None:
            self.choose_gold(path)


def _words_on(gold: "Dataset") -> str:
    items = f"{len(gold):,} {'item' if len(gold) == 1 else 'items'}"
    criteria = f"{len(gold.criteria)} {'criterion' if len(gold.criteria) == 1 else 'criteria'}"
    return f"{one_line(gold.name)}: {items}, {criteria} with labels"
