"""By whose labels candidates are ranked: annotators', a judge's on one criterion, or the weighted judge's.

Knows: datasets, systems, which labels each gives. Does not know: how candidates are ranked, how it is shown.
"""

from contextlib import suppress
from dataclasses import dataclass

from engine.core.errors import SetupError
from engine.core.formatting import words
from engine.core.log_probs import FloatArray
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults
from engine.measure.systems import System
from engine.rank.contests import PairComparisons, comparisons_of, human_said, system_said, winners_said
from engine.rank.until_sure import UntilSignificant, told_of, until_significant
from engine.weigh.system_weighing import WeightedScoring

_STOPPED = (
    "This run stopped at a significant result, or before: rates here and their intervals may be too far"
    " from 50 %. The intervals under “Resolved comparisons” are valid however often you look."
)


@dataclass(frozen=True, eq=False)
class RankedBy:
    """`said`: what was said of each item of the dataset, shape (items, 5), as Contests has it. `system`: by
    whom; None for annotators in the dataset. `criterion`: None for the weighted judge, whose
    `weighted_scoring` it is.
    """

    dataset: Dataset
    said: FloatArray
    criterion: str | None
    system: System | None = None
    weighted_scoring: WeightedScoring | None = None

    @classmethod
    def by_annotators(cls, dataset: Dataset, criterion: str) -> "RankedBy":
        """By the human labels of a dataset."""
        return cls(dataset, human_said(dataset, criterion), criterion)

    @classmethod
    def by_system(cls, system: System, dataset: Dataset, criterion: str) -> "RankedBy":
        """By a system's labels on the items of a dataset. SetupError where it lacks the criterion."""
        return cls(dataset, system_said(system, dataset, criterion), criterion, system)

    @classmethod
    def by_weights(cls, system: System, dataset: Dataset, weighted_scoring: WeightedScoring) -> "RankedBy":
        """By the winners of the weighted judge."""
        winners = {decision["id"]: decision["winner"] for decision in weighted_scoring.result["results"]}
        return cls(dataset, winners_said(winners, dataset), None, system, weighted_scoring)

    @property
    def title(self) -> str:
        """By whom on what, in words: `run 7, overall quality`."""
        whose = f"{self.dataset.name} by human labels" if self.system is None else self.system.name
        return f"{whose}, {'weighted judge' if self.criterion is None else words(self.criterion)}"

    @property
    def stopped(self) -> RunResults | None:
        """The run whose labels these are, where it stopped once something was clear, or before; else None."""
        results = self.system.results if self.system is not None else None
        return results if results is not None and results.run.stopped_early else None

    @property
    def remark(self) -> str:
        """What is to be said of such a run; empty of all others."""
        return _STOPPED if self.stopped is not None else ""

    @property
    def until(self) -> UntilSignificant | None:
        """What is clear of what a run was to answer before it stopped, by its judge alone, however often one
        looks; None of all others, and of the weighted judge.
        """
        results = self.stopped
        asked = results.run.until if results is not None else None
        if results is None or asked is None or self.criterion is None:
            return None
        with suppress(SetupError):  # nobody is named: comparisons say so
            return told_of(until_significant(self.dataset, self.criterion, asked), results)
        return None

    @property
    def judge(self) -> tuple[System, Dataset, str] | None:
        """Whose labels those of annotators may correct: a system on a criterion, on which items; else
        None.
        """
        if self.system is None or self.criterion is None:
            return None
        return self.system, self.dataset, self.criterion

    @property
    def comparisons(self) -> PairComparisons:
        """The comparisons of the dataset with what was said of them. SetupError as `comparisons_of` raises
        it.
        """
        return comparisons_of(self.dataset, self.said)


def stopped(*ranked: RankedBy) -> list[str]:
    """By whom on what, of those that are by a run which stopped once something was clear, or before."""
    return [by.title for by in ranked if by.stopped is not None]
