"""What the labels of a system say by themselves, without human ones.

Knows: judgments, the effective labels. Does not know: human labels, files, models.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.items import Preference
from engine.core.judgments import AnyJudgment, Judgment
from engine.decisions.run_results import RunResults
from engine.measure.accuracy import Labels, mean


@dataclass(frozen=True)
class LabelCounts:
    """One criterion over some `items`.

    `predicted` counts the effective labels, which annotators may have given; `unscored`: the items without
    one. `flipped`: share (0 to 1) of the model's judgments in two orders that the orders alone would decide
    differently; `answer_mass`: its mean; both None where no model read anything, as in a submission.
    `in_both_orders`: how many of its judgments were read in two orders, and how many it scored.
    """

    criterion: str
    items: int
    unscored: int
    predicted: Mapping[Preference, int]
    flipped: float | None
    in_both_orders: tuple[int, int]
    answer_mass: float | None

    @property
    def partly_in_both_orders(self) -> bool:
        """True where some judgments were read in two orders, and others in one."""
        twice, scored = self.in_both_orders
        return 0 < twice < scored


def count_labels(criterion: str, labels: Labels, judgments: Sequence[AnyJudgment | None]) -> LabelCounts:
    """Count the effective labels of one criterion; `judgments`: the model's own of the same items, if any."""
    scored = [judgment for judgment in judgments if isinstance(judgment, Judgment)]
    masses = [judgment.answer_mass for judgment in scored if judgment.answer_mass is not None]
    flips = [judgment.flipped for judgment in scored if judgment.flipped is not None]
    return LabelCounts(
        criterion=criterion,
        items=len(labels),
        unscored=sum(label is None for label in labels),
        predicted=Counter(label for label in labels if label is not None),
        flipped=mean(flips),
        in_both_orders=(len(flips), len(scored)),
        answer_mass=mean(masses),
    )


def count_run(results: RunResults) -> list[LabelCounts]:
    """The counts of each criterion of a run."""
    return [
        count_labels(name, [results.label(judgment) for judgment in column], column)
        for name, column in results.judgments.items()
    ]
