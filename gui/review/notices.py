"""What the review says beside the judgments: of what they are a part, what is missing, whom not to trust."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QFrame, QPushButton, QWidget

from engine.annotations.records import ListOrder, WantedItems
from engine.core.formatting import visible
from engine.core.health import NOT_LOOKED_AT, HealthVerdict
from gui.widgets.action_table import with_keys
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import OneLine, plain_label, set_tip
from gui.widgets.glossary import MORE_BY_F1
from gui.widgets.labels import STRETCH, button, heading, hint, in_column, in_row, main_button, name, set_role
from gui.widgets.notice import IN_THE_WINDOW
from gui.workspace.open_run import OpenRun, UnderWay
from gui.workspace.state import PageName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_HEALTH = {
    HealthVerdict.LOOK: ("⚠ The model may not judge as it should", "warning"),
    HealthVerdict.DOES_NOT_JUDGE: ("⚠ The model does not judge", "bad"),
    HealthVerdict.TOO_FEW: ("⚠ Few items, with signs that the model does not judge", "warning"),
}

_ALIKE = 0.01  # uncertainties that lie no further apart say nothing
_FEWEST_ALIKE = 3  # items: two are alike by chance


class NothingToReview(QWidget):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._first, self._next = heading(""), hint("", wrap=False)
        self.button = main_button("", self._go)
        what = with_keys("Open a submission file, to review it", "open_submission")
        wanted = workspace.submission_wanted.emit
        self.submission = button("Open submission…", wanted, "Open a submission file", what)
        by_hand = "Label the dataset that is open, without a judge"
        self.by_hand = button("Label this dataset by hand", workspace.label_by_hand, "Label by hand", by_hand)
        workspace.dataset_changed.connect(self.follow)
        shown = (self._first, self._next, self.button, self.by_hand, self.submission)
        parts = ((each, Qt.AlignmentFlag.AlignHCenter) for each in shown)
        in_column(STRETCH, *parts, 2, on=self, margins=None)
        self.follow()

    def follow(self) -> None:
        judging = self._judging
        so_far = "Show what is judged so far" if judging and judging.judged else ""
        self.button.setText(so_far or "Go to Judge")
        name(self.button, so_far or "Go to the Judge page")
        first, then = "The open run has judged nothing yet.", "Its judgments appear here as it goes on."
        if judging is not None:
            far = f"{judging.judged:,} of {judging.items:,} items"
            first, then = f"Run {judging.run_id} is being judged: {far}.", "It opens here when it ends."
        elif self._workspace.run is None:
            first = "No run is open."
            then = "Judge a dataset, label it by hand, choose a run at the head, or open a submission file."
        dataset = self._workspace.dataset
        self.by_hand.setVisible(dataset is not None)
        self._first.setText(first)
        self._next.setText(then)

    @property
    def _judging(self) -> UnderWay | None:
        is_other = self._workspace.run is not None and not self._workspace.judges_open_run
        return None if is_other else self._workspace.judging

    def _go(self) -> None:
        judging = self._judging
        if judging is not None and judging.judged:
            self._workspace.open_run(judging.run_id)
        else:
            self._workspace.page_wanted.emit(PageName.JUDGE)


class PartOfRun(QFrame):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setProperty("role", "note")
        self._workspace = workspace
        self.text = plain_label()
        what = "Read the run again, with what is judged by now"
        self.again = button("Read again", workspace.read_run_again, what)
        in_row((self.text, STRETCH), self.again, on=self, margins=(12, 6, 12, 6))
        self.follow()

    def follow(self) -> None:
        run, judging = self._workspace.run, self._workspace.judging
        shown = len(run.results.judged) if run else 0
        goes_on = self._workspace.judges_open_run
        listed = next((stored for stored in self._workspace.runs if run and stored.id == run.id), None)
        judged = judging.judged if goes_on and judging else listed.judged if listed else 0
        self.setVisible(bool(shown) and (goes_on or judged > shown))
        if run is not None:
            end = "the run goes on" if goes_on else f"{judged:,} are judged by now"
            self.text.setText(f"{shown:,} of {run.results.run.identity.items:,} items; {end}.")
        self.again.setEnabled(judged > shown)


class MissingDataset(QFrame):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setProperty("role", "note")
        self._workspace = workspace
        self._looked_for: int | None = None
        self._found: Dataset | None = None  # in the file that was chosen
        self.text = plain_label()
        self.find_button = button("Find the dataset…", self._ask, "Find the dataset of this run")
        in_column(self.text, (self.find_button, Qt.AlignmentFlag.AlignLeft), on=self, margins=(12, 8, 12, 8))
        self._reading = workspace.reader(self)
        self._reading.finished.connect(self._reopen)
        self._reading.failed.connect(self._forget)
        workspace.failures.follow(self._reading)
        self.follow()

    def follow(self) -> None:
        run = self._workspace.run
        self.setVisible(run is not None and run.dataset is None)
        again = "The file that you chose has other items. " if self._looked_for else ""
        self._looked_for = None
        if run is None or run.dataset is not None:
            return
        path, chosen = run.results.run.identity.dataset_path, self._found
        if again and chosen is not None and chosen.columns is not None:
            again = "Read by these columns, the file that you chose holds other items. "
        missing = f"The dataset of {run.results.run.called} ({path}) is missing or has changed."
        self.text.setText(visible(f"{again}{missing} The judgments are shown without the texts."))

    def look_in(self, path: Path) -> None:
        run = self._workspace.run
        if run is not None:
            self._looked_for = run.id
            self._reading.read(path, judged=[run.results.run], moved=True)

    def _ask(self) -> None:
        run = self._workspace.run
        folder = run.results.run.identity.dataset_path.parent if run else Path()
        chosen, _ = QFileDialog.getOpenFileName(self, "Find the dataset", str(folder))
        if chosen:
            self.look_in(Path(chosen))

    def _reopen(self, dataset: "Dataset") -> None:
        self._found = dataset
        if self._looked_for is not None:
            self._workspace.open_run(self._looked_for, dataset)

    def _forget(self, _error: object) -> None:
        self._looked_for = None


class HealthLine(OneLine):
    """Beside the title: that the judge of the open run is not to be trusted; its tool tip holds the signs."""

    def __init__(self) -> None:
        super().__init__()
        self.hide()

    def look_at(self, run: OpenRun | None) -> None:
        health = run.health if run is not None else NOT_LOOKED_AT
        text, role = _HEALTH[health.verdict] if health.doubted else ("", "hint")
        set_role(self, role)
        self.setText(text)
        said = "\n".join([*health.sentences(IN_THE_WINDOW.of), MORE_BY_F1])
        set_tip(self, said)
        self.setAccessibleDescription(said)
        self.setVisible(bool(text))


class ListLine(QFrame):
    """A remark on the list, with buttons that list otherwise below it."""

    wanted = Signal(object)  # a ListOrder, None for all items again

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.setProperty("role", "note")
        self.text, self._below = plain_label(text), FlowLayout(gap=4)
        in_column(self.text, self._below, on=self, margins=(10, 5, 10, 6), spacing=4)
        self.hide()

    def offer(self, text: str, order: ListOrder | None, what: str) -> QPushButton:
        self._below.addWidget(offered := button(text, lambda: self.wanted.emit(order), what))
        return offered


class WantedLine(ListLine):
    def __init__(self) -> None:
        super().__init__()
        self.show_all = self.offer("Show all", None, "Show all items again")

    def follow(self, wanted: WantedItems | None, shown: int, hidden: bool) -> None:
        self.setVisible(wanted is not None)
        self.show_all.setHidden(hidden)
        if hidden:  # their words may tell of labels
            self.text.setText("You label blind: all items are listed, not only those that were asked for.")
        elif wanted is not None:
            ids = wanted.filters.ids
            of_all = f" of {len(ids):,}" if ids is not None and len(ids) != shown else ""
            items = "item" if shown == 1 and not of_all else "items"
            self.text.setText(visible(f"{shown:,}{of_all} {items}: {wanted.words}"))


class AlikeLine(ListLine):
    def __init__(self) -> None:
        super().__init__("All uncertainties are alike: this order means nothing.")
        differing = "List the items first whose labels differ from the human ones"
        self.by_annotators = self.offer("Disagreements first", ListOrder.DISAGREEMENT, differing)
        in_order = "List the items in the order of the dataset"
        self.by_dataset = self.offer("Dataset order", ListOrder.DATASET, in_order)

    def follow(self, order: ListOrder, items: int, spread: float, labelled: bool) -> None:
        self.by_annotators.setVisible(labelled)
        self.setVisible(order is ListOrder.UNCERTAINTY and items >= _FEWEST_ALIKE and spread < _ALIKE)


NO_SAMPLE = (
    "Use labels in this order to fit a calibration. They are not a random sample: for rates, win rates or"
    " accuracy, label the random sample."
)
