"""A judge's ranking compared with human labels of a part of its items: corrected, or why it cannot be.

Knows: which steps that takes. Does not know: formulas, how it is shown.
"""

from collections.abc import Generator
from dataclasses import dataclass

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import MeasureProgress
from engine.core.item_sample import DEFAULT_SEED
from engine.data.dataset import Dataset
from engine.measure.systems import System
from engine.rank.contests import comparisons_of
from engine.rank.correction import Correction, correct
from engine.rank.how_many import SampleSize, sample_size
from engine.rank.labelled_part import LabelledPart, judge_expects, labelled_already, labelled_part


@dataclass(frozen=True, eq=False)
class RankedByLabels:
    """`part`: the labels that count; None where there are none, or they are `refused`. `correction`: None
    without them, and where all items have a label. `sample_size`: None where nothing can be said of it, and
    where all have one. `labelled`: the ids of items that need no label any more, see `labelled_already`; none
    where all items have one and it does not count, so that they must be gone through again.
    """

    part: LabelledPart | None
    refused: SetupError | None
    correction: Correction | None
    sample_size: SampleSize | None
    labelled: frozenset[str] = frozenset()

    @property
    def more_would_help(self) -> bool:
        """Whether human labels of a random sample are still missing: not all items have one."""
        return self.part is None or self.correction is not None


def by_labels(
    system: System,
    dataset: Dataset,
    criterion: str,
    seed: int = DEFAULT_SEED,
    cancel: CancelToken | None = None,
) -> Generator[MeasureProgress, None, RankedByLabels]:
    """`dataset`: the items, with the candidates, and labels where it has any. Those count that the system
    answers: of the items that a run has not come to, labels of its own part say nothing.

    Raises SetupError where the dataset does not name its candidates, and Cancelled.
    """
    dataset = dataset.only(frozenset(system.rows))
    judge = comparisons_of(dataset, judge_expects(system, dataset, criterion))
    part, refused = None, None
    try:
        part = labelled_part(system, dataset, criterion)
    except SetupError as error:
        refused = error
    labelled = frozenset(labelled_already(system, dataset, criterion, part))
    if labelled >= frozenset(dataset.ids):
        labelled = frozenset()
    annotators = comparisons_of(dataset, part.said) if part is not None else None
    if annotators is None or not annotators.known.any():  # or labels of items alone that are no comparisons
        return RankedByLabels(None, refused, None, sample_size(judge, None), labelled)
    if annotators.known.all():
        return RankedByLabels(part, refused, None, None)
    assert part is not None
    correction = yield from correct(annotators, judge, seed, cancel=cancel, missing=part.missing)
    return RankedByLabels(part, refused, correction, sample_size(judge, correction), labelled)
