"""A judge's ranking compared with human labels of a part of its items: corrected, or why it cannot be. Only
labels of a random part may correct it. Also how many labels it takes: with n labels on the N items that the
judge read, whose word has the correlation r with annotators', a rate has the variance K (r²/N + (1 - r²)/n):
Angelopoulos, Duchi and Zrnic, PPI++ (2023), with the tuned weight. K and r are those of the run itself where
it has labels; before, K is of the judge's own labels and r a typical one.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np

from engine.annotations.records import LAST, LabelSourceKind
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken, MeasureProgress
from engine.core.formatting import counted
from engine.core.items import HumanLabel
from engine.core.judgments import JudgmentKey, Origin
from engine.core.numeric import BoolArray, FloatArray
from engine.data.dataset import Dataset
from engine.data.label_origins import label_origins, sampled_items, skipped_items
from engine.data.slices import RANDOM_SAMPLE, TAG, Slicing
from engine.metrics.intervals import FEW, group_numbers
from engine.metrics.matching import System, system_of_run
from engine.ranking.comparisons import (
    PairComparisons,
    comparisons_of,
    human_said,
    labels_said,
    system_expected,
    system_said,
)
from engine.ranking.correction import Corrected, Correction, correct, filled, label_shares, moved
from engine.ranking.favour import Favour, favour, favoured_features, same_family
from engine.ranking.features import feature_differences
from engine.results.completeness import random_part, sample_of
from engine.results.run_results import RunResults
from engine.settings.sampling import DEFAULT_SEED

MORE = (20, 50, 100)
"""Numbers of additional labels whose effect is shown."""
DIFFERENCES = (0.03, 0.05, 0.1)
"""Differences of two candidates' win rates, 0 to 1, for which the needed labels are shown."""
TYPICAL = (0.3, 0.5, 0.6)
"""Correlations of judges with annotators in A's win per item: a weak one; on PandaLM's 999 pairs, compared
with the mean of three annotators, .51 for PandaLM-7B and .59 for GPT-3.5. One annotator compared with the
other two has .90 there."""
COST = 20
"""Items that the judge reads in the time of one human label: a minute, compared with three seconds on a
laptop."""
_FOUND = 2.802
"""Standard errors of a difference that a test at 5 % finds in four of five samples: 1.960 + 0.842."""
_MOST = 0.99


@dataclass(frozen=True)
class Needed:
    """To tell two candidates apart whose rates differ by `difference` (0 to 1), in four of five samples: so
    many `items` that the judge reads, of which `labels` are labelled; `alone`: labels without any judge.
    """

    difference: float
    items: int
    labels: int
    alone: int


@dataclass(frozen=True)
class Design:
    """`spread`: K, the variance of a difference of rates times the labels; `likeness`: r²; of the median."""

    spread: float
    likeness: float

    def variance(self, labels: float, items: float) -> float:
        """Of a difference of two rates."""
        return self.spread * (self.likeness / items + (1 - self.likeness) / labels)

    def smallest(self, labels: int, items: int) -> float:
        """The smallest difference (0 to 1) that so many would show in four of five samples."""
        return _FOUND * sqrt(self.variance(labels, items))

    def needed(self, difference: float, items: int) -> Needed:
        """The judge reads all items, and more as far as that pays where a label costs what COST items do."""
        alone = self.spread / (difference / _FOUND) ** 2
        alike, unlike = sqrt(self.likeness), sqrt(1 - self.likeness)
        read = max(items, ceil(alone * alike * (unlike * sqrt(COST) + alike)))
        left = 1 / alone - self.likeness / read  # of the variance, for the labels
        labels = ceil((1 - self.likeness) / left) if left > 0 else read
        if labels >= read:  # a judge is of no use where all is labelled
            read = labels = ceil(alone)
        return Needed(difference, read, labels, ceil(alone))


@dataclass(frozen=True)
class SampleSize:
    """`smallest`, `smallest_alone`: the difference of two rates (0 to 1) that these `labels` show with the
    judge, and alone, None for too few. `half`: half the width of an interval, `with_more`: with each of MORE.
    `needed`: by correlation, of DIFFERENCES; `is_own`: whether that is the run's own.
    """

    labels: int
    items: int
    smallest: float | None
    smallest_alone: float | None
    half: float | None
    with_more: dict[int, float]
    needed: dict[float, list[Needed]]
    is_own: bool


def sample_size(judge: PairComparisons, correction: Correction | None) -> SampleSize | None:
    """By the run's own labels, if enough, else by what is typical; None for fewer than two candidates."""
    items = len(judge)
    if correction is not None and len(correction.candidates) > 1:
        found = list(correction.candidates.values())
        labels = correction.labelled
        alone = _middle([one.labels_pulls for one in found])
        with_judge = _middle([one.pulls for one in found])
        if alone > 0:
            gain = (1 - with_judge / alone) * items / (items - labels)
            own = Design(alone * labels, min(max(gain, 0.0), _MOST))
            return _by_own(own, correction, [one.rate.ends for one in found])
    spread = _spread_of_judge(judge)
    if spread is None:
        return None
    designs = {typical: Design(spread, typical**2) for typical in TYPICAL}
    needed = {typical: _needed(design, items) for typical, design in designs.items()}
    labels = correction.labelled if correction is not None else 0
    return SampleSize(labels, items, None, None, None, {}, needed, is_own=False)


def _by_own(own: Design, correction: Correction, ends: Sequence[tuple[float, float] | None]) -> SampleSize:
    labels, items = correction.labelled, correction.items
    half = float(np.median([(high - low) / 2 for low, high in filter(None, ends)]))
    now = own.variance(labels, items)
    return SampleSize(
        labels=labels,
        items=items,
        smallest=own.smallest(labels, items),
        smallest_alone=Design(own.spread, 0.0).smallest(labels, items),
        half=half,
        with_more={
            more: half * sqrt(own.variance(labels + more, items) / now)
            for more in MORE
            if labels + more <= items
        },
        needed={sqrt(own.likeness): _needed(own, items)},
        is_own=True,
    )


def _needed(design: Design, items: int) -> list[Needed]:
    return [design.needed(difference, items) for difference in DIFFERENCES]


def _middle(pulls: Sequence[FloatArray]) -> float:
    """The variance of the difference of two candidates' rates: of half of the pairs less, of half more."""
    return float(np.median([np.sum((one - other) ** 2) for one, other in combinations(pulls, 2)]))


def _spread_of_judge(judge: PairComparisons) -> float | None:
    """K, by what the judge itself takes for the more likely label, as if annotators had said that."""
    known = judge.at(judge.known)
    if not len(known):
        return None
    decided = known.with_said(np.eye(known.said.shape[1])[known.said.argmax(axis=1)])
    pulls = []
    for candidate in range(len(decided.names)):
        places = decided.of[candidate]
        won = decided.won(candidate, places)
        if len(places) > 1:
            # Each item by itself: a few labels at random seldom fall on one instruction twice.
            parts = np.zeros(len(decided))
            parts[places] = (won - won.mean()) / len(won)
            pulls.append(parts)
    return (_middle(pulls) * len(known) or None) if len(pulls) > 1 else None


DEFAULT_LABELS = 50
"""The requested number of labels of a random sample if there are none: with fewer, intervals are wide."""
_ROUNDING = 1e-9
_RESTS_ON = (
    "The intervals are valid if this part is random and the judge has seen none of these labels. Whether"
    " a model was trained on them, or a submission made with them, is not known here."
)
_SIGNIFICANTLY = 3.5
"""The difference of labelled items from the others, in standard errors, above which they were probably not
sampled at random."""


@dataclass(frozen=True, eq=False)
class LabelledPart:
    """`said`: the annotations of each item of a dataset, NaN where nothing counts, shape (items, 5). `whose`
    labels these are, in words; `sentences` on how their items were picked.
    `missing`: the ids of items that belong to the part and have no label that counts.
    """

    said: FloatArray
    whose: str
    sentences: tuple[str, ...]
    missing: frozenset[str] = frozenset()

    @property
    def remarks(self) -> tuple[str, ...]:
        """The sentences, and what cannot be checked, which goes next to what is corrected."""
        return *self.sentences, _RESTS_ON

    @property
    def labels(self) -> int:
        return int(np.sum(~np.isnan(self.said[:, 0])))


def labelled_already(system: System, dataset: Dataset, criterion: str, part: LabelledPart | None) -> set[str]:
    """The ids of the items that need no label to be in the part: those of the part, and those that annotators
    labelled on the run in whichever order, which belong to its random sample once that comes so far.
    """
    labelled = set() if part is None else _ids_of(~np.isnan(part.said[:, 0]), dataset)
    if system.results is not None and system.results.source.kind is not LabelSourceKind.JUDGE:
        labelled |= {item_id for item_id, _ in _labels_of_annotators(system.results, criterion)}
    return labelled


def judge_expects(system: System, dataset: Dataset, criterion: str) -> FloatArray:
    """What the judge says of each item, where nobody's label stands in the place of its own."""
    return system_expected(_alone(system), dataset, criterion)


def _alone(system: System) -> System:
    return system if system.results is None else system_of_run(system.results.model_alone())


def labelled_part(system: System, dataset: Dataset, criterion: str) -> LabelledPart | None:
    """The labels that may correct a judge: of annotators on its run and of the dataset together; of one
    annotator or adjudicated ones, or of the dataset, the more of both. None without any; SetupError where
    they were not picked at random, or on fewer than FEW instructions.
    """
    found: list[LabelledPart] = []
    refused: list[SetupError] = []
    for part in (_of_run, _of_dataset):
        try:
            one = part(system, dataset, criterion)
        except SetupError as error:
            refused.append(error)
        else:
            found += [one] if one is not None else []
    if not found and refused:
        raise refused[0]
    if len(found) > 1 and system.results is not None and system.results.source == LAST:
        return _together(found[0], found[1], dataset)
    taken = max(found, key=lambda one: one.labels, default=None)
    if taken is None:
        return None
    others = (one for one in found if one is not taken)
    fewer = [f"There are also {one.labels:,} {one.whose}, which are fewer." for one in others]
    left_out = [f"Omitted: {each}" for each in (*fewer, *(error.problem for error in refused))]
    return replace(taken, sentences=(*taken.sentences, *left_out))


def _together(of_run: LabelledPart, of_dataset: LabelledPart, dataset: Dataset) -> LabelledPart:
    """Two random parts are one; of an item in both the dataset's label counts."""
    in_both = int(np.sum(~np.isnan(of_run.said[:, 0]) & ~np.isnan(of_dataset.said[:, 0])))
    said = np.where(np.isnan(of_dataset.said), of_run.said, of_dataset.said)
    sentences = [*of_dataset.sentences, *of_run.sentences]
    if in_both:
        items = counted(in_both, "item has", "items have")
        sentences.append(f"{items} both: the labels of the dataset count.")
    missing = (of_run.missing | of_dataset.missing) - _ids_of(~np.isnan(said[:, 0]), dataset)
    return LabelledPart(said, f"{of_dataset.whose} and {of_run.whose}", tuple(sentences), missing)


def _of_run(system: System, dataset: Dataset, criterion: str) -> LabelledPart | None:
    results = system.results
    if results is None or results.source.kind is LabelSourceKind.JUDGE:
        return None
    labels = dict(_labels_of_annotators(results, criterion))
    if not labels:
        return None
    if results.source.kind is LabelSourceKind.ADJUDICATED:
        raise SetupError(
            "Adjudicated labels are on items where annotators disagreed: these are not a random part.",
            "Use the effective labels for the correction.",
        )
    author = results.source.annotator if results.source.kind is LabelSourceKind.ANNOTATOR else None
    sample = sample_of(results.reviews, dataset.ids, author, criterion)
    kept, how, part = labels.keys() & sample, "the random sample on Review", "the random sample"
    said_by = f"labels of {results.source.in_words}" if results.source != LAST else "labels of annotators"
    if not _enough(kept, dataset):
        in_order = [
            item_id
            for item_id in dataset.ids
            for given in results.reviews.given_on(JudgmentKey(item_id, criterion)).values()
            if item_id in labels and given.origin is Origin.DATASET and author in (None, given.author)
        ]
        last = dataset.ids.index(in_order[-1]) + 1 if in_order else 0
        sample, at_random = frozenset(dataset.ids[:last]), len(kept)
        kept, part = labels.keys() & sample, "the items up to the last of these"
        how = "the order of the dataset: as good as random only if that order is arbitrary"
        if not _enough(set(in_order), dataset) or 2 * len(kept) < len(sample):
            raise _picked(len(labels), at_random, said_by, len(dataset))
        of_kept = np.array([item_id in kept for item_id in dataset.ids])
        items = counted(len(kept), "item has", "items have")
        _check_random(f"{items} {said_by}, in the order of the dataset", of_kept, system, dataset, criterion)
    missing = sample - kept
    sentences = [f"{counted(len(kept), 'item has', 'items have')} {said_by}, by {how}."]
    if missing:
        sentences.append(_missing(missing, part, random_part(results.reviews, author).skipped))
    if left := len(labels.keys() - kept):
        were = counted(left, "label is", "labels are")
        sentences.append(f"{were} omitted: their items were selected in another way.")
    sentences += _in_sight(results, [JudgmentKey(item_id, criterion) for item_id in kept])
    said = labels_said(labels[item_id] if item_id in kept else None for item_id in dataset.ids)
    return LabelledPart(said, said_by, tuple(sentences), missing)


def _missing(ids: AbstractSet[str], part: str, skipped: AbstractSet[str]) -> str:
    """What items without a label do to a random part that they belong to."""
    has, these = ("has", "it") if len(ids) == 1 else ("have", "them")
    how = f", {len(ids & skipped):,} of them skipped" if ids & skipped else ""
    items = f"{counted(len(ids), 'item', 'items')} of {part}"
    return f"{items} {has} no such label{how}: the intervals are valid for any labels of {these}."


def _in_sight(results: RunResults, keys: Sequence[JudgmentKey]) -> Iterator[str]:
    """A sentence on labels that were given with the judge's in sight; none where all were blind."""
    seen = sum(any(given.blind is False for given in results.reviews.given_on(key).values()) for key in keys)
    if seen:
        were = "label was" if seen == 1 else "labels were"
        yield (
            f"{seen:,} {were} given with the judge's label visible. If annotators tend to follow it,"
            " the judge's agreement with them is overestimated."
        )


def _labels_of_annotators(results: RunResults, criterion: str) -> Iterator[tuple[str, HumanLabel]]:
    """By item, the label of the annotators whose labels count, given or confirmed."""
    for judgment in results.judgments.get(criterion, ()):
        label = results.label(judgment)
        if label is not None and results.label_by(judgment):
            yield judgment.item_id, label


def _of_dataset(system: System, dataset: Dataset, criterion: str) -> LabelledPart | None:
    if criterion not in dataset.criteria:
        return None
    said, whose = human_said(dataset, criterion), f"human labels of {dataset.name}"
    labelled = ~np.isnan(said[:, 0])
    if not labelled.any() or labelled.all():
        return LabelledPart(said, whose, ()) if labelled.any() else None
    items = counted(int(labelled.sum()), "item has", "items have")
    origins = label_origins(dataset, criterion)
    if origins is not None:
        at_random = np.array([origins.get(item_id) is Origin.RANDOM for item_id in dataset.ids])
        kept = labelled & at_random
        ids = _ids_of(kept, dataset)
        if not _enough(ids, dataset):
            raise _picked(int(labelled.sum()), len(ids), whose, len(dataset))
        said[~kept] = np.nan
        missing = sampled_items(dataset) - ids
        sentences = [f"{counted(len(ids), 'item has', 'items have')} {whose}, by a random sample."]
        if missing:
            sentences.append(_missing(missing, "it", skipped_items(dataset)))
        return LabelledPart(said, whose, tuple(sentences), missing)
    if not _enough(_ids_of(labelled, dataset), dataset):
        raise _too_few(int(labelled.sum()), whose, len(dataset))
    _check_random(f"{items} {whose}", labelled, system, dataset, criterion)
    how = (
        f"{items} {whose}. They count as a random part of all: the dataset does not say how they were"
        " selected, and the judge is as confident of them as of the others."
    )
    return LabelledPart(said, whose, (how,))


def _check_random(
    who_labelled: str, labelled: BoolArray, system: System, dataset: Dataset, criterion: str
) -> None:
    """SetupError where the judge's predictions show that labelled items are no random part."""
    against = _speaks_against(judge_expects(system, dataset, criterion), labelled, dataset)
    if against:
        problem = f"{who_labelled}, and these were probably not sampled at random: {against}."
        raise SetupError(problem, _hint(0, len(dataset)))


def _speaks_against(expected: FloatArray, labelled: BoolArray, dataset: Dataset) -> str:
    """How the judge's predictions of labelled items differ from others by more than chance; else empty."""
    known = ~np.isnan(expected[:, 0])
    groups = group_numbers(dataset.group_column)
    measured = {
        "the judge's uncertainty on them": 1 - expected.max(axis=1),
        "the judge's rate of ties on them": expected[:, 2:].sum(axis=1),
    }
    for what, values in measured.items():
        apart = moved(values[known], labelled[known], groups[known])
        if apart is not None and abs(apart[0]) > max(_SIGNIFICANTLY * apart[1], _ROUNDING):
            here, there = (100 * float(values[known & which].mean()) for which in (labelled, ~labelled))
            return f"{what} is {here:.0f} %, of the others {there:.0f} %"
    return ""


def _ids_of(which: BoolArray, dataset: Dataset) -> set[str]:
    ids = dataset.ids  # a list of all, made anew each time
    return {ids[place] for place in np.flatnonzero(which)}


def _enough(ids: AbstractSet[str], dataset: Dataset) -> bool:
    numbered = zip(dataset.ids, group_numbers(dataset.group_column), strict=True)
    return len({int(group) for item_id, group in numbered if item_id in ids}) >= FEW


def _picked(labels: int, at_random: int, whose: str, items: int) -> SetupError:
    if labels == at_random:
        return _too_few(labels, whose, items)
    others = f"{at_random:,} of them in a random sample: the others" if at_random else "all of them"
    return SetupError(
        f"{_there_are(labels, whose)}, {others} of items that were selected by uncertainty or by hand."
        " Labels of the hardest items do not represent the rest.",
        _hint(at_random, items),
    )


def _too_few(labels: int, whose: str, items: int) -> SetupError:
    return SetupError(
        f"{_there_are(labels, whose)}, on fewer than {FEW} instructions: too few for an estimate.",
        _hint(labels, items),
    )


def _there_are(labels: int, whose: str) -> str:
    return f"There are {labels:,} {whose}" if labels != 1 else f"1 item has {whose}"


def _hint(labels: int, items: int) -> Hint:
    """`labels`: how many of the items have one that counts."""
    more = counted(max(min(DEFAULT_LABELS, items) - labels, 1), "item", "items")
    return Hint(f"Label {more} more, of a random sample: ", Step.LABEL_AT_RANDOM)


@dataclass(frozen=True, eq=False)
class RankedByLabels:
    """`part`: the labels that count, None for none, or `refused`. `correction`, `sample_size`: None where
    unknown, or all is labelled. `labelled`: see `labelled_already`; none where all are and it does not count.
    `favour`: of each candidate with enough labels; `features`, `same_family`: as the operations give them.
    """

    part: LabelledPart | None
    refused: SetupError | None
    correction: Correction | None
    sample_size: SampleSize | None
    labelled: frozenset[str] = frozenset()
    favour: Mapping[str, Favour] = field(default_factory=dict)
    features: Mapping[str, Favour] = field(default_factory=dict)
    same_family: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def more_would_help(self) -> bool:
        """Whether human labels of a random sample are still missing: not all items have one."""
        return self.part is None or self.correction is not None


def judged_apart(system: System, dataset: Dataset, criterion: str) -> RankedByLabels:
    """How the judge differs from the labels that count, of items that it answers; nothing is corrected.
    SetupError where the `dataset` does not name its candidates.
    """
    dataset = dataset.only(frozenset(system.rows))
    judge = comparisons_of(dataset, system_said(_alone(system), dataset, criterion))
    part, refused = None, None
    try:
        part = labelled_part(system, dataset, criterion)
    except SetupError as error:
        refused = error
    labelled = frozenset(labelled_already(system, dataset, criterion, part))
    if labelled >= frozenset(dataset.ids):
        labelled = frozenset()
    found = RankedByLabels(part, refused, None, None, labelled, same_family=same_family(system, judge.names))
    annotators = comparisons_of(dataset, part.said) if part is not None else None
    if annotators is None or not (known := annotators.known & judge.known).any():
        return found
    annotators, judge = annotators.at(known), judge.at(known)
    features = feature_differences(dataset.only(frozenset(annotators.ids)))
    return replace(
        found,
        favour=favour(annotators, judge),
        features=favoured_features(annotators, judge, features),
    )


def by_labels(
    system: System,
    dataset: Dataset,
    criterion: str,
    seed: int = DEFAULT_SEED,
    cancel: CancelToken | None = None,
) -> Generator[MeasureProgress, None, RankedByLabels]:
    """Labels of what the system answers count: of items that a run has not come to they say nothing.
    SetupError where the `dataset` does not name its candidates; Cancelled.
    """
    found = judged_apart(system, dataset, criterion)
    dataset = dataset.only(frozenset(system.rows))
    judge = comparisons_of(dataset, judge_expects(system, dataset, criterion))
    part = found.part
    annotators = comparisons_of(dataset, part.said) if part is not None else None
    # Or labels of items alone that are no comparisons.
    if part is None or annotators is None or not annotators.known.any():
        return replace(found, part=None, sample_size=sample_size(judge, None))
    if annotators.known.all():
        return found
    correction = yield from correct(annotators, judge, seed, cancel=cancel, missing=part.missing)
    return replace(found, correction=correction, sample_size=sample_size(judge, correction))


ALL = "all items"


class CorrectedShares(NamedTuple):
    """By slice (ALL is the first), the shares of labels as annotators of the random `part` say them."""

    part: LabelledPart
    shares: Mapping[str, Mapping[str, Corrected]]


def corrected_shares(
    system: System, dataset: Dataset, divisions: Sequence[Slicing] = ()
) -> dict[str, CorrectedShares | SetupError]:
    """Of all items that the judge answered and of each slice, by criterion; or why labels cannot correct it
    there. Left out: criteria of which no item or every item has a label; slices by what annotators say, which
    the labelled part is no random part of.
    """
    dataset = dataset.only(frozenset(system.rows))
    groups = group_numbers(dataset.group_column)
    kept = (by for by in divisions if by.by.partition(":")[0] not in ("label", TAG, RANDOM_SAMPLE))
    slices = {f"{by.words}: {part.name}": part.known for by in kept for part in by.slices}
    found: dict[str, CorrectedShares | SetupError] = {}
    for criterion in system.criteria:
        judge = judge_expects(system, dataset, criterion)
        try:
            part = labelled_part(system, dataset, criterion)
        except SetupError as error:
            found[criterion] = error
            continue
        if part is None or np.isnan(judge).all() or not np.isnan(part.said).any():
            continue
        judge, missing = filled(judge), np.isin(dataset.ids, [*part.missing])
        shares = {ALL: label_shares(part.said, judge, groups, missing)}
        for name, ids in slices.items():
            rows = np.isin(dataset.ids, [*ids])
            shares[name] = label_shares(part.said[rows], judge[rows], groups[rows], missing[rows])
        found[criterion] = CorrectedShares(part, shares)
    return found
