"""How well a system's labels agree with human ones, how uncertain this is, and what bias there is.

Knows: matched pairs. Does not know: explanations, files, models.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, Preference, Tie, agree, labels_beside
from engine.measure.accuracy import (
    HumanLabels,
    Labels,
    kappa,
    mean,
    share_right,
)
from engine.measure.baselines import (
    Baselines,
    baseline_judges,
    baselines,
    best_baseline,
    longer_response,
)
from engine.measure.intervals import FEW, Interval, OverInstructions, least_interval, share_interval
from engine.measure.label_counts import LabelCounts, count_labels
from engine.measure.matching import Pair


@dataclass(frozen=True)
class LabelMeasures(LabelCounts):
    """One criterion over its labelled items: what the labels say by themselves, and how they agree.

    `accuracy`: share (0 to 1) of the items whose prediction agrees with the human label; an unscored one
    counts as wrong. `interval`: its 95 % interval, None for a single instruction; `instructions`: how many
    different ones the items have. `rival`: the best baseline on the same items, named as in Baselines, of
    equally good ones the first of `baseline_judges`. `lead`: how much more accurate than the rival, with the
    interval of that. `kappa`: Cohen's, with unscored as a label of its own; None where both sides know one
    and the same label only. `macro_f1`: mean over the labels that occur on either side; all ties are one
    where annotators gave any of which they said no more. `confusion`: a row for each human label, `tie` only
    where it occurs, a column for each predicted one and the last for unscored. `longer` and `longer_human`:
    among the preferences for A or B where the lengths differ, the share for the longer response.
    """

    accuracy: float
    instructions: int
    interval: Interval | None
    rival: str
    lead: tuple[float, Interval | None]
    kappa: float | None
    macro_f1: float
    confusion: Mapping[HumanLabel, tuple[int, ...]]
    human: Mapping[HumanLabel, int]
    longer: float | None
    longer_human: float | None
    baselines: Baselines

    @property
    def rival_accuracy(self) -> float:
        """The accuracy of the best baseline (0 to 1)."""
        return self.accuracy - self.lead[0]

    @property
    def better(self) -> str:
        """Whether it beats the best baseline: `yes`, `not significant` (the interval of the lead includes 0),
        `no`, or `-` for fewer than FEW instructions.
        """
        lead, interval = self.lead
        if interval is None or self.instructions < FEW:
            return "-"
        if lead <= 0:
            return "no"
        return "not significant" if interval.low <= 0 else "yes"


def measure_labels(criterion: str, pairs: Sequence[Pair]) -> LabelMeasures:
    """The measures of one criterion; there is at least one pair."""
    predicted = [pair.prediction.preference for pair in pairs]
    human = [pair.gold.label for pair in pairs]
    right = [float(is_right(pair)) for pair in pairs]
    instructions = [pair.item.group for pair in pairs]
    counts = count_labels(criterion, predicted, [pair.judgment for pair in pairs])
    baseline = baseline_judges(pairs)
    return LabelMeasures(
        **vars(counts),
        accuracy=share_right(predicted, human),
        interval=share_interval(right, instructions),
        instructions=len(set(instructions)),
        rival=best_baseline(baseline)[0],
        lead=_lead(right, list(baseline.values()), instructions),
        kappa=kappa(human, predicted),
        macro_f1=_macro_f1(human, predicted),
        confusion=_confusion(human, predicted),
        human=Counter(label for label in human if label is not None),
        longer=_share_for_longer(pairs, predicted),
        longer_human=_share_for_longer(pairs, human),
        baselines=baselines(pairs),
    )


def mean_accuracy_of(pairs: Mapping[str, Sequence[Pair]]) -> OverInstructions | None:
    """The mean over the criteria of their accuracies; None for a single instruction."""
    return OverInstructions.of(
        {name: [float(is_right(pair)) for pair in of_one] for name, of_one in pairs.items()},
        {name: [pair.item.group for pair in of_one] for name, of_one in pairs.items()},
    )


def is_right(pair: Pair) -> bool:
    """Whether the predicted label agrees with the human one; none is wrong."""
    return agree(pair.prediction.preference, pair.gold.label)


def _lead(
    right: Sequence[float], baseline: Sequence[Sequence[float]], instructions: Sequence[str]
) -> tuple[float, Interval | None]:
    """How much better than the best baseline, which is chosen by these items: the interval
    holds that choice, too, for it is of the least of all leads.
    """
    leads = [tuple(own - other for own, other in zip(right, judge, strict=True)) for judge in baseline]
    interval = least_interval([*dict.fromkeys(leads)], instructions)
    return min(map(sum, leads)) / len(right), interval


def _macro_f1(human: HumanLabels, predicted: Labels) -> float:
    """Where annotators gave ties without saying more, every tie is `tie`: nothing else can be right or
    wrong.
    """
    as_one = Tie.TIE in human
    annotators, judge = (_ties_as_one(labels) if as_one else labels for labels in (human, predicted))
    together = Counter(label for label, other in zip(annotators, judge, strict=True) if label == other)
    each = Counter(annotators) + Counter(
        judge
    )  # 2 / (1/precision + 1/recall) is twice those of both over all
    return fmean(2 * together[label] / each[label] for label in HUMAN_LABELS if each[label])


def _ties_as_one(labels: HumanLabels) -> list[HumanLabel | None]:
    return [Tie.TIE if agree(label, Tie.TIE) else label for label in labels]


def _confusion(human: HumanLabels, predicted: Labels) -> dict[HumanLabel, tuple[int, ...]]:
    counts = Counter(zip(human, predicted, strict=True))
    return {
        label: tuple(counts[label, given] for given in (*PREFERENCES, None)) for label in labels_beside(human)
    }


def _share_for_longer(pairs: Sequence[Pair], labels: HumanLabels) -> float | None:
    sided = [
        label is longer
        for label, longer in zip(labels, (longer_response(pair.item) for pair in pairs), strict=True)
        if longer is not None and label in (Preference.A, Preference.B)
    ]
    return mean(sided)
