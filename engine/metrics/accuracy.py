"""How often labels agree with human ones, also beyond chance, next to judges that read nothing. Light, for
judging prints it: scikit-learn is not needed here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import fmean
from typing import NamedTuple

import numpy as np

from engine.core.items import (
    PREFERENCES,
    HumanLabel,
    Item,
    Preference,
    Tie,
    agree,
    agreeing,
    labels_beside,
)
from engine.core.judgments import AnyJudgment, Judgment
from engine.core.tables import Estimate
from engine.data.dataset import Dataset
from engine.metrics.beyond_chance import Measured, MetLabels, ac1_of, kappa_of, macro_f1_of
from engine.metrics.intervals import (
    FEW,
    LEAST_GROUPS,
    Interval,
    OverInstructions,
    group_numbers,
    grouped_folds,
    least_interval,
    share_interval,
)
from engine.metrics.matching import Pair
from engine.results.run_dataset import human_labels
from engine.results.run_results import RunResults

UNSCORED = "unscored"

Labels = Sequence[HumanLabel | None]


@dataclass(frozen=True)
class Accuracy:
    """`right`: of each item with a human label 1 where its label agrees, else 0, also unscored;
    `instructions`: of each. `most_frequent`: the label that agrees with most human ones; `baseline`: on what
    share it does.
    """

    right: tuple[float, ...]
    instructions: tuple[str, ...]
    most_frequent: Preference
    baseline: float

    @property
    def items(self) -> int:
        return len(self.right)

    @property
    def share(self) -> float:
        return sum(self.right) / len(self.right)

    @cached_property
    def interval(self) -> Interval | None:
        """Of the share; None for a single instruction."""
        return share_interval(self.right, self.instructions)


def accuracy(predicted: Labels, human: Sequence[HumanLabel], instructions: Sequence[str]) -> Accuracy:
    """The accuracy of labels, None for unscored, against human ones of the same items; at least one."""
    frequent = most_frequent_label(human)
    assert frequent is not None  # there is at least one
    right = tuple(float(agree(one, other)) for one, other in zip(predicted, human, strict=True))
    baseline = sum(agree(frequent, label) for label in human) / len(human)
    return Accuracy(right, tuple(instructions), frequent, baseline)


def mean_accuracy(accuracies: Mapping[str, Accuracy]) -> OverInstructions | None:
    """The mean over the criteria of their accuracies; None for a single instruction, or without criteria."""
    return OverInstructions.of(
        {name: found.right for name, found in accuracies.items()},
        {name: found.instructions for name, found in accuracies.items()},
    )


def run_accuracy(results: RunResults, dataset: Dataset) -> dict[str, Accuracy]:
    """The accuracy of a run's effective labels, by criterion; criteria without human labels are omitted."""
    human = human_labels(results, dataset)
    instructions = dataset.groups if human else {}
    found = {}
    for name, column in results.judgments.items():
        labelled = [judgment for judgment in column if judgment.key in human]
        if labelled:
            found[name] = accuracy(
                [results.label(judgment) for judgment in labelled],
                [human[judgment.key] for judgment in labelled],
                [instructions[judgment.item_id] for judgment in labelled],
            )
    return found


def label_name(label: HumanLabel | None) -> str:
    return UNSCORED if label is None else label.value


def most_frequent_label(human: Sequence[HumanLabel]) -> Preference | None:
    """The label that agrees with most human ones, of equals the first in `PREFERENCES`; None without any."""
    counts = Counter(human).items()
    agreeing = {label: sum(count for other, count in counts if agree(label, other)) for label in PREFERENCES}
    return max(PREFERENCES, key=agreeing.__getitem__) if human else None


def mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class Baselines:
    """Accuracies (0 to 1) on the same items. `most_frequent`: of the label that agrees with most of these:
    that of other folds is too easy to beat. `longer`: the response with more characters, A if equal.
    `random`: the mean of guessing among the four labels, of which two agree with a `tie`.
    """

    most_frequent: float
    always_a: float
    longer: float
    random: float


def baseline_judges(pairs: Sequence[Pair]) -> dict[str, list[float]]:
    """By the names of Baselines whether that judge is right of each pair, 0 or 1; of guessing the chance."""
    gold = [pair.gold.label for pair in pairs]
    different = {*gold}
    frequent = most_frequent_label([label for label in gold if label is not None])
    longer = [longer_response(pair.item) or Preference.A for pair in pairs]
    chance = {human: len(agreeing(human)) / len(PREFERENCES) if human else 0.0 for human in different}
    is_frequent, is_a = (
        {human: float(agree(label, human)) for human in different} for label in (frequent, Preference.A)
    )
    return {
        "most_frequent": [is_frequent[human] for human in gold],
        "longer": [(0.0, 1.0)[agree(label, human)] for label, human in zip(longer, gold, strict=True)],
        "always_a": [is_a[human] for human in gold],
        "random": [chance[human] for human in gold],
    }


def best_baseline(judges: Mapping[str, Sequence[float]]) -> tuple[str, float]:
    """The one that is right most often, of equals the first; its accuracy (0 to 1)."""
    name = max(judges, key=lambda each: sum(judges[each]))
    return name, sum(judges[name]) / len(judges[name])


def most_frequent_by_fold(pairs: Sequence[Pair]) -> list[Preference | None]:
    """For each pair the most frequent label of the folds it is not in; empty for a single instruction."""
    groups = [pair.item.group for pair in pairs]
    if len(set(groups)) < LEAST_GROUPS:
        return []
    guessed: list[Preference | None] = [None] * len(pairs)
    for train, test in grouped_folds(groups):
        labels = [pairs[index].gold.label for index in train]
        label = most_frequent_label([label for label in labels if label is not None])
        for index in test:
            guessed[index] = label
    return guessed


def longer_response(item: Item) -> Preference | None:
    """The response with more characters, None where both have as many."""
    a, b = item.lengths
    return None if a == b else Preference.A if a > b else Preference.B


@dataclass(frozen=True)
class LabelCounts:
    """`predicted` counts effective labels, which annotators may have given; `unscored`: items without one.
    `flipped`: share (0 to 1) of the judgments in two orders that the order decides; `answer_mass`: its mean;
    None where no model read anything. `in_both_orders`: judgments read in two orders, and all scored.
    """

    criterion: str
    items: int
    unscored: int
    predicted: Mapping[HumanLabel, int]
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
    flips = [judgment.flipped for judgment in scored if judgment.flipped is not None]
    return LabelCounts(
        criterion=criterion,
        items=len(labels),
        unscored=sum(label is None for label in labels),
        predicted=Counter(label for label in labels if label is not None),
        flipped=mean(flips),
        in_both_orders=(len(flips), len(scored)),
        answer_mass=mean(judgment.answer_mass for judgment in scored),
    )


def count_run(results: RunResults) -> list[LabelCounts]:
    return [
        count_labels(name, [results.label(judgment) for judgment in column], column)
        for name, column in results.judgments.items()
    ]


class LabelQuality(NamedTuple):
    """Of a label, with intervals over instructions. `precision`: the share of the items with it that are
    right, `recall`: of those that humans gave it; None where there are none.
    """

    precision: Estimate | None
    recall: Estimate | None


@dataclass(frozen=True)
class LabelMeasures(LabelCounts):
    """One criterion over its labelled items: what the labels say by themselves, and how they agree.
    `accuracy`: share (0 to 1) of the items whose prediction agrees with the human label, unscored is wrong,
    with its 95 % `interval`, None for a single instruction. `rival`: the best baseline on the same items,
    named as in Baselines, of equals the first of `baseline_judges`; `lead`: how much more accurate, with its
    interval. `kappa`: Cohen's, `ac1`: Gwet's, unscored as a label of its own. `macro_f1`: mean over the
    labels that occur on either side; all ties are one where one gave any of which it said no more.
    `confusion`: a row for each human label, a column for each predicted one, `tie` where it occurs, the last
    for unscored. `longer`, `longer_human`: among the preferences for A or B where the lengths differ, the
    share for the longer
    response.
    """

    accuracy: float
    instructions: int
    interval: Interval | None
    rival: str
    lead: tuple[float, Interval | None]
    kappa: Measured
    ac1: Measured
    macro_f1: Measured
    by_label: Mapping[HumanLabel, LabelQuality]
    confusion: Mapping[HumanLabel, tuple[int, ...]]
    human: Mapping[HumanLabel, int]
    longer: float | None
    longer_human: float | None
    baselines: Baselines

    @property
    def rival_accuracy(self) -> float:
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
    pairs = tuple(pairs)
    predicted = [pair.prediction.preference for pair in pairs]
    human = [pair.gold.label for pair in pairs]
    right = [(0.0, 1.0)[is_right(pair)] for pair in pairs]
    # Numbers of instructions, not their texts, which would be numbered anew for each interval.
    instructions = group_numbers([pair.item.group for pair in pairs]).tolist()
    baseline, counts = baseline_judges(pairs), Counter(zip(human, predicted, strict=True))
    met = MetLabels.of(human, predicted, instructions)
    leads = [np.subtract(right, judge) for judge in baseline.values()]
    different = {lead.tobytes(): lead for lead in leads}.values()
    return LabelMeasures(
        **vars(count_labels(criterion, predicted, [pair.judgment for pair in pairs])),
        accuracy=sum(right) / len(right),
        interval=share_interval(right, instructions),
        instructions=len(set(instructions)),
        rival=best_baseline(baseline)[0],
        # The rival is chosen by these items; the interval holds that, for it is of the least of all leads.
        lead=(min(float(lead.sum()) for lead in leads) / len(right), least_interval(different, instructions)),
        kappa=met.measured(kappa_of),
        ac1=met.measured(ac1_of),
        macro_f1=_macro_f1(human, predicted, instructions),
        by_label=_by_label(human, predicted, instructions),
        confusion={
            label: tuple(counts[label, given] for given in (*labels_beside(predicted), None))
            for label in labels_beside(human)
        },
        human=Counter(label for label in human if label is not None),
        longer=_share_for_longer(pairs, predicted),
        longer_human=_share_for_longer(pairs, human),
        baselines=Baselines(**{name: sum(judge) / len(judge) for name, judge in baseline.items()}),
    )


def mean_accuracy_of(pairs: Mapping[str, Sequence[Pair]]) -> OverInstructions | None:
    """The mean over the criteria of their accuracies; None for a single instruction."""
    return OverInstructions.of(
        {name: np.array([is_right(pair) for pair in of_one], float) for name, of_one in pairs.items()},
        {name: [pair.item.group for pair in of_one] for name, of_one in pairs.items()},
    )


def is_right(pair: Pair) -> bool:
    """Whether the predicted label agrees with the human one; none is wrong."""
    return agree(pair.prediction.preference, pair.gold.label)


def _macro_f1(human: Labels, predicted: Labels, instructions: Sequence[int]) -> Measured:
    """Where either side gave plain ties, every tie is `tie`: nothing else can be right or wrong."""
    as_one = Tie.TIE in (*human, *predicted)
    annotators, judge = (
        [Tie.TIE if agree(label, Tie.TIE) else label for label in labels] if as_one else labels
        for labels in (human, predicted)
    )
    # An instruction more with a label that never occurs would take the interval to 0 to 1.
    given = {*annotators, *judge}
    among = [label for label in PREFERENCES if label in given] if len(given - {None}) > 1 else PREFERENCES
    met = MetLabels.of(annotators, judge, instructions, among=among)
    return met.measured(partial(macro_f1_of, labels=len(among) + as_one), 0.0)


def _by_label(
    human: Labels, predicted: Labels, instructions: Sequence[int]
) -> Mapping[HumanLabel, LabelQuality]:
    right = list(map(agree, predicted, human))
    found = {}
    for label in labels_beside([*human, *predicted]):
        shares = []
        for given in (predicted, human):
            places = [place for place, each in enumerate(given) if each is label]
            values = [float(right[place]) for place in places]
            own = [instructions[place] for place in places]
            shares.append(Estimate(fmean(values), share_interval(values, own)) if values else None)
        found[label] = LabelQuality(*shares)
    return found


def _share_for_longer(pairs: Sequence[Pair], labels: Labels) -> float | None:
    both = zip(labels, (longer_response(pair.item) for pair in pairs), strict=True)
    sided = (Preference.A, Preference.B)
    return mean([label is longer for label, longer in both if longer is not None and label in sided])
