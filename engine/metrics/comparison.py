"""Systems side by side on the same items: measures, ranks, Borda counts, and where they differ."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from operator import is_, sub
from typing import Any

from engine.core.errors import Hint, SetupError, Step
from engine.core.formatting import without_middle, words
from engine.core.items import HumanLabel, agree
from engine.core.judgments import Keyed
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset
from engine.metrics.accuracy import is_right, mean
from engine.metrics.beyond_chance import MetLabels, kappa_of
from engine.metrics.evaluation import Evaluation, wordless_in_words
from engine.metrics.explanations import EXPLANATION_MEASURES
from engine.metrics.intervals import Choice, Interval, OverInstructions, cost_of_choosing, holm
from engine.metrics.matching import Matched, Pair, System, match_together

LEAST_SYSTEMS = 2
_LONGEST_SHOWN = 120  # letters of a question


@dataclass(frozen=True)
class Measure:
    """`name`: `accuracy` (in percent) or one of EXPLANATION_MEASURES, higher is better; `values` in the order
    of systems, with `intervals` in their unit, None where not measured; `ranks`: 1 the best, ties share the
    mean.
    """

    name: str
    criterion: str
    values: tuple[float | None, ...]
    ranks: tuple[float | None, ...]
    intervals: tuple[Interval | None, ...]


@dataclass(frozen=True)
class PairAgreement:
    """Over the `items` with a human label. `criterion` None: all, of which shares are means and counts sums.
    `same`: share (0 to 1) of equal labels, `kappa` Cohen's, over those that either labels; unscored by one is
    a label of its own. `only_one`, `only_other`: items that one alone labels as annotators do. `difference`:
    how much more often the one is right (-1 to 1), its `interval` over instructions, the `p_value` that
    neither is, `corrected` for all tests of the comparison; None for a single instruction.
    """

    one: str
    other: str
    criterion: str | None
    items: int
    same: float | None
    kappa: float | None
    only_one: int
    only_other: int
    difference: float
    interval: Interval | None
    p_value: float | None
    corrected: float | None = None
    kappa_interval: Interval | None = None


@dataclass(frozen=True)
class Difference(Keyed):
    """An item and criterion on which systems differ; `labels` in the order of the systems, None unscored."""

    item_id: str
    criterion: str
    human: HumanLabel
    labels: tuple[HumanLabel | None, ...]

    @property
    def one_is_right(self) -> bool:
        """True where the label of exactly one system agrees with the human one."""
        return sum(agree(label, self.human) for label in self.labels) == 1


@dataclass(frozen=True)
class Comparison:
    """Several systems on the same items. Not compared, by criterion: `left_out`: the systems that lack it,
    `asked_otherwise`: what each run was asked where that differs. `borda_labels`, `borda_explanations`: by
    system, the Borda count over the accuracies of all criteria (sub-task 1) and over the explanation measures
    that all explaining systems have (sub-task 2, these alone; empty with fewer than two of them). `baseline`:
    by criterion, the best baseline on these items, named as in Baselines, and its accuracy (0 to 1).
    `mean_intervals`: by measure, those of the means over the criteria. `choice`: what choosing the system
    with the highest mean accuracy (0 to 1) costs. `wordless`: sentences on explanations without words for
    ROUGE-L.
    """

    systems: tuple[str, ...]
    items: int
    left_out: Mapping[str, tuple[str, ...]]
    measures: tuple[Measure, ...]
    borda_labels: Mapping[str, float]
    borda_explanations: Mapping[str, float]
    agreements: tuple[PairAgreement, ...]
    differences: tuple[Difference, ...]
    asked_otherwise: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    baseline: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    mean_intervals: Mapping[str, tuple[Interval | None, ...]] = field(default_factory=dict)
    choice: Choice | None = None
    wordless: tuple[str, ...] = ()

    @property
    def not_compared(self) -> list[str]:
        why = {name: f"{', '.join(systems)} without it" for name, systems in self.left_out.items()}
        for name, questions in self.asked_otherwise.items():
            asked = {run: without_middle(question, _LONGEST_SHOWN) for run, question in questions.items()}
            why[name] = "; ".join(f"{run} was asked “{question}”" for run, question in asked.items())
        return [f"{name} is not compared: {reason}." for name, reason in why.items()]


def match_all(systems: Sequence[System], gold: Dataset, partial: bool = False) -> list[Matched]:
    """`match_together` of at least two systems; SetupError for fewer, and for two of the same name."""
    if len(systems) < LEAST_SYSTEMS:
        raise SetupError("A comparison needs two systems or more.", "Name another run or submission.")
    names = [system.name for system in systems]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SetupError(
            f"Two of the systems are called {', '.join(twice)}.", "Rename one of the files, or name it once."
        )
    return match_together(systems, gold, partial)


def compare(evaluations: Sequence[Evaluation]) -> Comparison:
    """Evaluations of `match_all`, on the criteria of all, if asked alike. SetupError without any."""
    names = tuple(evaluation.name for evaluation in evaluations)
    known = dict.fromkeys(name for evaluation in evaluations for name in evaluation.labels)
    lacking = {name: tuple(each.name for each in evaluations if name not in each.labels) for name in known}
    left_out = {name: systems for name, systems in lacking.items() if systems}
    otherwise = _asked_otherwise(evaluations)
    criteria = _compared(evaluations, {*left_out, *otherwise}, otherwise)
    accuracies, explained = [], []
    for name in criteria:
        found = [evaluation.labels[name] for evaluation in evaluations]
        intervals = [_percents(one.interval) for one in found]
        accuracies.append(_measure("accuracy", name, [100 * one.accuracy for one in found], intervals))
    for kind, name in product(EXPLANATION_MEASURES, criteria):
        told = [evaluation.explanations.get(name) for evaluation in evaluations]
        values = [getattr(one, kind) if one else None for one in told]
        if any(value is not None for value in values):
            ends = [one.intervals.get(kind) if one else None for one in told]
            explained.append(_measure(kind, name, values, ends))
    pairs = combinations(evaluations, 2)
    agreements = [found for two in pairs for found in _agreements(*two, criteria=criteria)]
    p_values = {place: one.p_value for place, one in enumerate(agreements) if one.p_value is not None}
    corrected = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    labels = evaluations[0].labels
    means = [evaluation.mean_accuracy(criteria) for evaluation in evaluations]
    return Comparison(
        systems=names,
        items=evaluations[0].matched.items,
        left_out=left_out,
        measures=(*accuracies, *explained),
        borda_labels=_borda(names, accuracies),
        borda_explanations=_borda_of_explaining(evaluations, explained),
        agreements=tuple(replace(one, corrected=corrected.get(at)) for at, one in enumerate(agreements)),
        differences=tuple(_differences(evaluations, criteria)),
        asked_otherwise={name: asked for name, asked in otherwise.items() if name not in left_out},
        baseline={name: (labels[name].rival, labels[name].rival_accuracy) for name in criteria},
        mean_intervals={
            "accuracy": tuple(_percents(over.share_interval() if over else None) for over in means),
            **{
                measure: tuple(one.explanation_interval(measure, criteria) for one in evaluations)
                for measure in EXPLANATION_MEASURES
            },
        },
        choice=cost_of_choosing(means),
        wordless=tuple(
            f"{evaluation.name}: {said}"
            for evaluation in evaluations
            if (said := wordless_in_words(evaluation.explanations.values()))
        ),
    )


def _percents(ends: Interval | None) -> Interval | None:
    return ends and Interval(100 * ends.low, 100 * ends.high)


def _compared(
    evaluations: Sequence[Evaluation], not_these: Container[str], otherwise: Collection[str]
) -> list[str]:
    criteria = [name for name in evaluations[0].labels if name not in not_these]
    if not criteria and otherwise:
        raise SetupError(
            f"The runs were asked different questions on {', '.join(map(words, otherwise))}; they share no"
            " other labelled criterion.",
            Hint("Compare runs of the same rubric, ", Step.SEE_MOVED),
        )
    if not criteria:
        found = "; ".join(f"{evaluation.name}: {', '.join(evaluation.labels)}" for evaluation in evaluations)
        raise SetupError(f"The systems share no labelled criterion ({found}).", "Compare other systems.")
    return criteria


def about_the_task(system: System) -> bool:
    """Whether a system answers the questions of the task alone; of a submission by name."""
    task = {criterion.name: criterion.question for criterion in ELOQUENT.criteria}
    if system.asked is None:
        return set(system.criteria) <= task.keys()
    return all(task.get(criterion.name) == criterion.question for criterion in system.asked.criteria)


def _asked_otherwise(evaluations: Sequence[Evaluation]) -> dict[str, dict[str, str]]:
    """The criteria on which runs were asked different questions, each with these by run."""
    found: dict[str, dict[str, str]] = {}
    for evaluation in evaluations:
        rubric = evaluation.matched.system.asked
        for criterion in rubric.criteria if rubric else ():
            if criterion.name in evaluation.labels:
                found.setdefault(criterion.name, {})[evaluation.name] = criterion.question
    return {name: asked for name, asked in found.items() if len(set(asked.values())) > 1}


def _measure(
    name: str, criterion: str, values: Sequence[float | None], intervals: Sequence[Interval | None]
) -> Measure:
    # Equal to twelve digits is equal: sums in another order must not make a rank.
    rounded = [None if value is None else round(value, 12) for value in values]
    known = [value for value in rounded if value is not None]
    # Equal ones share the mean of their ranks.
    ranks = tuple(
        None if value is None else sum(other > value for other in known) + (known.count(value) + 1) / 2
        for value in rounded
    )
    return Measure(name, criterion, tuple(values), ranks, tuple(intervals))


def _borda(names: Sequence[str], measures: Sequence[Measure]) -> dict[str, float]:
    """Points: for each measure, how many systems it ranks above, a tie half a point (de Borda, 1781)."""
    points = dict.fromkeys(names, 0.0)
    for measure in measures:
        ranked = sum(rank is not None for rank in measure.ranks)
        for name, rank in zip(names, measure.ranks, strict=True):
            if rank is not None:
                points[name] += ranked - rank
    return points


def _borda_of_explaining(evaluations: Sequence[Evaluation], measures: Sequence[Measure]) -> dict[str, float]:
    places = [place for place, evaluation in enumerate(evaluations) if evaluation.explanations]
    known = [measure for measure in measures if all(measure.values[place] is not None for place in places)]
    if len(places) < LEAST_SYSTEMS or not known:
        return {}
    points = _borda([evaluation.name for evaluation in evaluations], known)
    return {evaluations[place].name: points[evaluations[place].name] for place in places}


def _agreements(first: Evaluation, other: Evaluation, criteria: Sequence[str]) -> Iterator[PairAgreement]:
    leads: dict[str, list[int]] = {}
    instructions: dict[str, list[str]] = {}
    sames: list[float | None] = []
    names: dict[str, Any] = {"one": first.name, "other": other.name}
    for name in criteria:
        pairs, others = first.matched.pairs[name], other.matched.pairs[name]
        leads[name] = list(map(sub, map(is_right, pairs), map(is_right, others)))
        instructions[name] = [pair.item.group for pair in pairs]
        # Judges fail on the same items, such as long ones: that is no agreement between them.
        answered = [met for met in zip(pairs, others, strict=True) if _labels(met) != [None, None]]
        labels, other_labels = ([met[place].prediction.preference for met in answered] for place in (0, 1))
        sames.append(mean(map(is_, labels, other_labels)))
        of_name = _lead(OverInstructions.of_one(leads[name], instructions[name]), [leads[name]])
        groups = [one.item.group for one, _ in answered]
        kappa, ends = MetLabels.of(labels, other_labels, groups).measured(kappa_of)
        of_name |= {"kappa": kappa, "kappa_interval": ends}
        yield PairAgreement(**names, criterion=name, same=sames[-1], **of_name)
    if len(sames) > 1:
        of_all = _lead(OverInstructions.of(leads, instructions), list(leads.values()))
        yield PairAgreement(**names, criterion=None, same=mean(sames), kappa=None, **of_all)


def _lead(over: OverInstructions | None, leads: Sequence[Sequence[int]]) -> dict[str, Any]:
    return {
        "items": sum(map(len, leads)),
        "only_one": sum(lead > 0 for of_one in leads for lead in of_one),
        "only_other": sum(lead < 0 for of_one in leads for lead in of_one),
        "difference": mean([sum(of_one) / len(of_one) for of_one in leads]) or 0.0,
        "interval": over.difference_interval() if over else None,
        "p_value": over.p_value if over else None,
    }


def _differences(evaluations: Sequence[Evaluation], criteria: Sequence[str]) -> list[Difference]:
    """In the order of the dataset, then of the criteria."""
    found = []
    order = {item_id: place for place, item_id in enumerate(evaluations[0].matched.dataset.ids)}
    for criterion in criteria:
        columns = [evaluation.matched.pairs[criterion] for evaluation in evaluations]
        for pairs in zip(*columns, strict=True):
            labels = tuple(_labels(pairs))
            human = pairs[0].gold.label
            if len(set(labels)) > 1 and human is not None:
                found.append(Difference(pairs[0].item.id, criterion, human, labels))
    return sorted(found, key=lambda each: order[each.item_id])  # of an item as the criteria come


def _labels(pairs: Sequence[Pair]) -> list[HumanLabel | None]:
    return [pair.prediction.preference for pair in pairs]
