"""What is ranked: by the open run or by human labels, on which criterion, and whose labels of the run count.

Knows: what is open. Does not know: how candidates are ranked.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from engine.core.formatting import capitalised, short_name, words
from engine.core.people import Reviews
from engine.core.rubric import OVERALL, default_criterion
from gui.kit.fields import narrow_box
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import one_line, set_tip, tip
from gui.ranking.ranking_jobs import RankRequest
from gui.weigh.run_weights import RunWeights
from gui.work.source_box import SourceBox
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

WEIGHTED = "weighted"
_WHOLE = int(Qt.ItemDataRole.UserRole) + 1
_OF_WEIGHTED = "The winners by all criteria, with the weights set on Results, under “Weighted scoring”"


class RankingSource(StrEnum):
    """Whose labels rank."""

    RUN = "run"  # of the open run
    GOLD = "gold"  # the human labels that it is compared with
    DATASET = "dataset"  # the human labels of the open dataset


class RankChoice(QWidget):
    """Offers what is open. `changed`: something else is to be ranked, or the same by other labels."""

    changed = Signal()

    def __init__(self, workspace: Workspace, beside: Sequence[QWidget] = ()) -> None:
        """`beside`: what stands in the same row, or where there is no room, in the next."""
        super().__init__()
        self._workspace = workspace
        self._run_id: int | None = None  # of which labels were offered last
        self._wanted = OVERALL  # the criterion that was chosen last
        self.by = narrow_box("Labels to rank by", letters=28)
        self.criterion = narrow_box("Criterion to rank by", letters=16)
        self.whose = SourceBox()
        row = FlowLayout(self)
        for part in (self.by, self.criterion, self.whose, *beside):
            row.addWidget(part)
        self.by.currentIndexChanged.connect(self._offer_criteria)
        self.criterion.currentIndexChanged.connect(self._tell)
        self.criterion.activated.connect(self._keep_criterion)
        self.whose.changed.connect(self.changed)
        for signal in (workspace.run_changed, workspace.dataset_changed, workspace.gold_changed):
            signal.connect(self.offer)
        workspace.reviewed.connect(self._follow_annotators)
        self.offer()

    @property
    def dataset(self) -> "Dataset | None":
        """What is to name the candidates; None where nothing is open, or a run without its items."""
        return self._naming(self._datasets.get(self.chosen)) if self.chosen else None

    @property
    def chosen(self) -> RankingSource | None:
        """Whose labels; None where there are none."""
        return RankingSource(self.by.currentData()) if self.by.count() else None

    @property
    def request(self) -> RankRequest | None:
        """What is to be ranked; None where something is missing."""
        dataset, run = self.dataset, self._workspace.run
        criterion = self.criterion.currentData()
        if dataset is None or criterion is None:
            return None
        if self.chosen is not RankingSource.RUN or run is None:
            return RankRequest(dataset, criterion)
        results = run.results.by(self.whose.source)
        if criterion != WEIGHTED:
            return RankRequest(dataset, criterion, results)
        return RankRequest(dataset, None, results, RunWeights(self._workspace.state).of(results.run))

    @property
    def _datasets(self) -> "dict[RankingSource, Dataset | None]":
        """What is offered, and the items of each."""
        space, found = self._workspace, {}
        gold = space.gold if space.run is not None else None
        if space.run is not None:
            found[RankingSource.RUN] = space.run.dataset or gold
        if gold is not None:
            found[RankingSource.GOLD] = gold
        opened = space.dataset
        if opened is not None and opened.criteria and (gold is None or gold.path != opened.path):
            found[RankingSource.DATASET] = opened
        return found

    def _naming(self, dataset: "Dataset | None") -> "Dataset | None":
        """The same items as they were read last, where only then their candidates were named."""
        opened = self._workspace.dataset
        if dataset is None or dataset.names_candidates or opened is None:
            return dataset
        return opened if opened.path == dataset.path and opened.names_candidates else dataset

    @Slot()
    def offer(self) -> None:
        """Offer what is open now; what is chosen stays where it can, and a run that was just opened is."""
        run, before = self._workspace.run, self.chosen
        is_new = run is not None and run.id != self._run_id
        self._run_id = run.id if run is not None else None
        with QSignalBlocker(self.by):
            self.by.clear()
            for by, dataset in self._datasets.items():
                self._add(by, dataset)
            place = self.by.findData(RankingSource.RUN if is_new else before)
            self.by.setCurrentIndex(max(place, 0) if self.by.count() else -1)
        self._follow_annotators()
        self._offer_criteria()

    def _add(self, by: RankingSource, dataset: "Dataset | None") -> None:
        run = self._workspace.run
        if by is RankingSource.RUN and run is not None:
            text, whole = f"labels of {run.results.run.called}", f"labels of {run.results.run.title}"
        else:
            assert dataset is not None
            text, whole = f"human labels of {short_name(dataset.name)}", f"human labels of {dataset.path}"
        _add_entry(self.by, capitalised(text), by, capitalised(whole))

    @Slot()
    def _offer_criteria(self) -> None:
        chosen, run = self.chosen, self._workspace.run
        names: tuple[str, ...] = ()
        if chosen is RankingSource.RUN and run is not None:
            names = run.results.run.identity.criteria
        elif (dataset := self.dataset) is not None:
            names = dataset.criteria
        with QSignalBlocker(self.criterion):
            self.criterion.clear()
            for each in names:
                _add_entry(self.criterion, capitalised(words(each)), each, each)
            if chosen is RankingSource.RUN:
                _add_entry(self.criterion, "Weighted scoring", WEIGHTED, _OF_WEIGHTED)
            default = default_criterion(names) if names else None
            places = [self.criterion.findData(each) for each in (self._wanted, default)]
            self.criterion.setCurrentIndex(next((place for place in places if place >= 0), -1))
        self.whose.setVisible(chosen is RankingSource.RUN)
        self._tell()

    @Slot()
    def _keep_criterion(self) -> None:
        self._wanted = str(self.criterion.currentData())

    @Slot()
    def _follow_annotators(self) -> None:
        """Offer the annotators who labelled the run; what they say may rank it otherwise."""
        run = self._workspace.run
        reviews = run.results.reviews if run is not None else Reviews()
        with QSignalBlocker(self.whose):
            self.whose.offer(tuple(reviews.labels), bool(reviews.adjudicated))
        self.whose.setEnabled(bool(reviews.annotators))
        self.changed.emit()

    @Slot()
    def _tell(self) -> None:
        for box in (self.by, self.criterion):
            set_tip(box, str(box.currentData(_WHOLE) or ""))
        self.changed.emit()


def _add_entry(box: QComboBox, text: str, value: str, whole: str) -> None:
    """Offer a value; `whole` is what its tip says, and that of the closed list where it is chosen."""
    box.addItem(one_line(text), value)
    box.setItemData(box.count() - 1, tip(whole), Qt.ItemDataRole.ToolTipRole)
    box.setItemData(box.count() - 1, whole, _WHOLE)
