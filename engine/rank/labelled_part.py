"""Whose labels may correct a judge: those of a random part of the items, and why others may not.

Knows: the annotations of a run and how they came to it, human labels of a dataset. Does not know:
candidates, how anything is corrected.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from engine.core.errors import SetupError
from engine.core.formatting import counted
from engine.core.items import HumanLabel
from engine.core.judgments import JudgmentKey, Origin
from engine.core.label_sources import LAST, LabelSourceKind
from engine.core.log_probs import BoolArray, FloatArray, IntArray
from engine.core.remedies import Hint, Step
from engine.data.dataset import Dataset
from engine.data.label_origins import label_origins, sampled_items, skipped_items
from engine.decisions.random_part import random_part, sample_of
from engine.decisions.run_results import RunResults
from engine.measure.folds import group_numbers
from engine.measure.intervals import FEW
from engine.measure.systems import System, system_of_run
from engine.rank.contests import human_said, labels_said, system_expected
from engine.rank.corrected import moved

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
        """How many items are labelled."""
        return int(np.sum(~np.isnan(self.said[:, 0])))


def labelled_already(system: System, dataset: Dataset, criterion: str, part: LabelledPart | None) -> set[str]:
    """The ids of the items that need no label to be in the part: those of the part, and those that annotators
    labelled on the run in whichever order, which belong to its random sample once that comes so far.
    """
    known = np.zeros(len(dataset), np.bool_) if part is None else ~np.isnan(part.said[:, 0])
    labelled = {dataset.ids[place] for place in np.flatnonzero(known)}
    if system.results is not None and system.results.source.kind is not LabelSourceKind.JUDGE:
        labelled |= {item_id for item_id, _ in _labels_of_annotators(system.results, criterion)}
    return labelled


def judge_expects(system: System, dataset: Dataset, criterion: str) -> FloatArray:
    """What the judge says of each item, where nobody's label stands in the place of its own."""
    return system_expected(_judge_alone(system), dataset, criterion)


def labelled_part(system: System, dataset: Dataset, criterion: str) -> LabelledPart | None:
    """The labels that may correct a judge: those of annotators on its run and of the dataset together, a
    random part each; of one annotator or only adjudicated ones, or of the dataset alone, whichever are more.

    None where there are no human labels. SetupError where there are, but of items that were not picked at
    random, or on fewer than FEW instructions.
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
    fewer = [
        f"There are also {one.labels:,} {one.whose}, which are fewer." for one in found if one is not taken
    ]
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
    labelled = {item_id for item_id, one in zip(dataset.ids, said[:, 0], strict=True) if not np.isnan(one)}
    missing = (of_run.missing | of_dataset.missing) - labelled
    return LabelledPart(said, f"{of_dataset.whose} and {of_run.whose}", tuple(sentences), missing)


def _judge_alone(system: System) -> System:
    return system if system.results is None else system_of_run(system.results.model_alone())


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
    """A sentence on labels that annotators gave while they saw the judge's; none where all were given
    blind.
    """
    seen = sum(any(given.blind is False for given in results.reviews.given_on(key).values()) for key in keys)
    if seen:
        were = "label was" if seen == 1 else "labels were"
        yield (
            f"{seen:,} {were} given with the judge's label visible. If annotators lean towards what they"
            " see, the judge's agreement with them is overestimated."
        )


def _labels_of_annotators(results: RunResults, criterion: str) -> Iterator[tuple[str, HumanLabel]]:
    """By item, the label of the annotators whose labels count, given or confirmed."""
    for judgment in results.judgments.get(criterion, ()):
        standing = results.overrides.get(judgment.key)
        if standing is not None and standing.preference is not None:
            yield judgment.item_id, standing.preference
        elif results.source == LAST:
            given = results.reviews.given_on(judgment.key).values()
            last = max(given, key=lambda each: (each.created, each.author), default=None)
            if last is not None and last.preference is not None:
                yield judgment.item_id, last.preference


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
        if not _enough({dataset.ids[place] for place in np.flatnonzero(kept)}, dataset):
            raise _picked(int(labelled.sum()), int(kept.sum()), whose, len(dataset))
        said[~kept] = np.nan
        missing = sampled_items(dataset) - {dataset.ids[place] for place in np.flatnonzero(kept)}
        sentences = [f"{counted(int(kept.sum()), 'item has', 'items have')} {whose}, by a random sample."]
        if missing:
            sentences.append(_missing(missing, "it", skipped_items(dataset)))
        return LabelledPart(said, whose, tuple(sentences), missing)
    if not _enough({dataset.ids[place] for place in np.flatnonzero(labelled)}, dataset):
        raise _too_few(int(labelled.sum()), whose, len(dataset))
    _check_random(f"{items} {whose}", labelled, system, dataset, criterion)
    return LabelledPart(
        said,
        whose,
        (
            f"{items} {whose}. They count as a random part of all: the dataset does not say how they were"
            " selected, and the judge is as confident of them as of the others.",
        ),
    )


def _check_random(
    who_labelled: str, labelled: BoolArray, system: System, dataset: Dataset, criterion: str
) -> None:
    """SetupError where the judge's predictions show that labelled items are no random part."""
    against = _speaks_against(judge_expects(system, dataset, criterion), labelled, dataset)
    if against:
        problem = f"{who_labelled}, and these were probably not sampled at random: {against}."
        raise SetupError(problem, _hint(0, len(dataset)))


def _speaks_against(expected: FloatArray, labelled: BoolArray, dataset: Dataset) -> str:
    """How the judge's predictions differ between labelled items and others, where that is no chance; else
    empty.
    """
    known = ~np.isnan(expected[:, 0])
    groups = _groups(dataset)
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


def _groups(dataset: Dataset) -> IntArray:
    return group_numbers(dataset.group_column)


def _enough(ids: AbstractSet[str], dataset: Dataset) -> bool:
    """Whether items are of FEW or more instructions."""
    numbered = zip(dataset.ids, _groups(dataset), strict=True)
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
