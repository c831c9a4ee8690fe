"""The review list of a run: which of its judgments an annotator should look at first."""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from engine.annotations.records import LOW_MARGIN, NO_LABEL, Annotation, Filters, LabelRequest, ListOrder
from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, Preference, agree
from engine.core.judgments import (
    AnyJudgment,
    JudgedItem,
    Judgment,
    JudgmentKey,
    Keyed,
    ReviewState,
    SubmittedLabel,
)
from engine.core.rubric import OVERALL
from engine.data.arrow_arrays import number_array, text_array
from engine.data.dataset import Dataset
from engine.data.dataset_views import sorted_places
from engine.data.label_origins import drawn_place
from engine.ranking.weighted_judge import normalised, not_zero, weighted_winner
from engine.results.run_dataset import human_labels
from engine.results.run_results import RunResults
from engine.results.second_order import margin as margin_of
from engine.results.trust import may_stand, valid_trust
from engine.settings.sampling import DEFAULT_SEED


@dataclass(frozen=True)
class ReviewRow(Keyed):
    """One item and criterion that a run judged. `preference`: the effective label, `own`: the model's,
    `human`: the dataset's. `flipped`, `margin` (the highest probability minus the second, 0 to 1),
    `judges_differ`, `judges_missing`, `probabilities`: of the model's own judgment. `overridden`: an
    annotator gave the label or the effective explanation. `annotators_differ`: in their labels; `unsettled`:
    and nobody adjudicated it. `stale`: the effective explanation was written for another label.
    `uncertainty`: 0 to 1, see `review_rows`. `hidden`: all but item and criterion was taken out, for an
    annotator who labels blind. `unanswered`: an opened submission gives no label, and no annotator gave one.
    `escalated`: the label may not stand by the thresholds kept with the run; None where there are none.
    """

    position: int
    item_id: str
    criterion: str
    preference: HumanLabel | None = None
    human: HumanLabel | None = None
    flipped: bool | None = None
    judges_differ: bool = False
    judges_missing: int = 0
    margin: float | None = None
    overridden: bool = False
    annotators_differ: bool = False
    unsettled: bool = False
    stale: bool = False
    escalated: bool | None = None
    uncertainty: float = 0.0
    own: HumanLabel | None = None
    hidden: bool = False
    unanswered: bool = False
    probabilities: Sequence[float] | None = None

    @property
    def blank(self) -> "ReviewRow":
        """All that an annotator is shown of it who labels blind."""
        return ReviewRow(self.position, self.item_id, self.criterion, hidden=True)

    @property
    def differs_from_human(self) -> bool:
        return None not in (self.preference, self.human) and not agree(self.preference, self.human)

    @property
    def judges_apart(self) -> bool:
        """Whether a jury's judges differ, or not all of them said anything."""
        return self.judges_differ or self.judges_missing > 0


@dataclass(frozen=True)
class ReviewItem:
    """One item of a review list. `uncertainty`: the highest of its rows; how many of these differ from the
    human label, are `unsettled`, or have `judges` that are apart.
    """

    position: int
    item_id: str
    uncertainty: float
    differing: int = 0
    unsettled: int = 0
    judges: int = 0


def review_rows(
    results: RunResults, dataset: Dataset | None = None, own: Dataset | None = None
) -> list[ReviewRow]:
    """All that a run judged, item by item in the order of its dataset, each item in the run's criteria.

    The uncertainty of a judgment is 1 where it has no effective label, and 0 where an annotator overrode it.
    Else it is 1 - margin, where the margin is halved for each of these that is true: the two orders disagree,
    or the judges of a jury, or not all of them said anything; the label of overall_quality is the other
    response than the weighted winner of the item; the explanation was written for another label. The weighted
    winner is that of the weights and tie threshold of the run's rubric; ties and items with an unscored
    criterion contradict nothing. The margin of a submission's label is 1.

    `dataset`: where the human labels are taken from, of items with the same id and texts; `own`: the one that
    the run judged, for the labels that `dataset` lacks.
    """
    human = human_labels(results, own) if own is not None else {}
    if dataset is not None and dataset is not own:
        human |= human_labels(results, dataset)
    contradicted, kept = _contradicted(results), valid_trust(results)
    standing = None if kept is None else may_stand(results, kept)
    return [
        _row(
            results, item, column[index], human, contradicted=item.item_id in contradicted, standing=standing
        )
        for index, item in enumerate(results.judged)
        for column in results.judgments.values()
    ]


def filtered(
    rows: Iterable[ReviewRow], filters: Filters, matching_ids: Container[str] | None = None
) -> list[ReviewRow]:
    """The rows that pass, in their order; with `matching_ids` only those of items with these ids."""
    some = rows if matching_ids is None else (row for row in rows if row.item_id in matching_ids)
    return [row for row in some if _passes(row, filters)]


_COUNTED = {
    ListOrder.DISAGREEMENT: "differing",
    ListOrder.ANNOTATORS: "unsettled",
    ListOrder.JUDGES: "judges",
}


def by_item(
    rows: Collection[ReviewRow],
    order: ListOrder = ListOrder.UNCERTAINTY,
    seed: int = DEFAULT_SEED,
    labelled: Container[JudgmentKey] = frozenset(),
) -> list[ReviewItem]:
    """The items of the rows: the most uncertain first, in the order of the dataset, or those first that
    differ from the human labels on the most criteria, or on which annotators or a jury's judges do, of equal
    ones the most uncertain; or those first of which not all rows are `labelled`, the least certain of them.
    Of equal ones the first in the dataset. Or as a `seed` draws them, which depends on their ids alone.
    """
    by_key: dict[tuple[int, str], list[ReviewRow]] = {}
    for row in rows:
        by_key.setdefault((row.position, row.item_id), []).append(row)
    items = [
        ReviewItem(
            *(*key, max(row.uncertainty for row in own), sum(row.differs_from_human for row in own)),
            *(sum(row.unsettled for row in own), sum(row.judges_apart for row in own)),
        )
        for key, own in sorted(by_key.items())
    ]
    if order is ListOrder.DATASET or not items:
        return items
    if order is ListOrder.RANDOM:
        drawn = np.array([drawn_place(item.item_id, seed) for item in items], "S32")
        return [items[place] for place in np.argsort(drawn, kind="stable")]
    if order is ListOrder.MOST_UNCERTAIN:
        return _most_uncertain_first(items, rows, labelled)
    ranks = [[-item.uncertainty for item in items]]
    if (count := _COUNTED.get(order)) is not None:  # lexsort: the last key counts most
        ranks.append([-float(getattr(item, count)) for item in items])
    # By numpy: Python's own sort of 100,000 items keeps a window waiting.
    return [items[place] for place in np.lexsort(ranks)]


def _most_uncertain_first(
    items: Sequence[ReviewItem], rows: Collection[ReviewRow], labelled: Container[JudgmentKey]
) -> list[ReviewItem]:
    """Those first of which a row is not labelled; by the mean entropy of their rows, the largest first."""
    places = {(item.position, item.item_id): place for place, item in enumerate(items)}
    open_ones, known = np.zeros(len(items)), [row for row in rows if row.probabilities is not None]
    for row in rows:
        open_ones[places[row.position, row.item_id]] += row.key not in labelled
    of_item = np.array([places[row.position, row.item_id] for row in known], np.int64)
    shares = np.array([row.probabilities for row in known], np.float64).reshape(len(known), len(PREFERENCES))
    entropies = -(shares * np.log(np.maximum(shares, np.finfo(np.float64).tiny))).sum(axis=1)
    sums, counts = (np.bincount(of_item, weights, len(items)) for weights in (entropies, None))
    unsure = np.where(counts > 0, sums / np.maximum(counts, 1), -1.0)
    # Rounding must not put equal ones out of the dataset's order.
    return [items[place] for place in np.lexsort([-np.round(unsure, 12), open_ones == 0])]


def _row(
    results: RunResults,
    item: JudgedItem,
    judgment: AnyJudgment,
    human: Mapping[JudgmentKey, HumanLabel],
    *,
    contradicted: bool,
    standing: Container[JudgmentKey] | None,
) -> ReviewRow:
    key = judgment.key
    preference, stale = results.label(judgment), results.is_stale(judgment)
    scored = judgment if isinstance(judgment, Judgment) else None
    flipped = scored.flipped if scored else None
    margin = margin_of(scored.probabilities) if scored else None
    judges_differ = bool(scored and scored.judges_differ)
    judges_missing = scored.judges_missing if scored else 0
    if results.decided_by_annotator(judgment):
        uncertainty = 0.0
    elif preference is None:
        uncertainty = 1.0
    else:
        apart = bool(flipped) or judges_differ or judges_missing > 0
        reasons = (apart, contradicted and judgment.criterion == OVERALL, stale)
        uncertainty = 1 - (1.0 if margin is None else margin) * 0.5 ** sum(reasons)
    return ReviewRow(
        position=item.position,
        item_id=item.item_id,
        criterion=judgment.criterion,
        preference=preference,
        human=human.get(key),
        flipped=flipped,
        judges_differ=judges_differ,
        judges_missing=judges_missing,
        margin=margin,
        overridden=key in results.overrides,
        annotators_differ=key in results.reviews.differing,
        unsettled=key in results.reviews.unsettled,
        stale=stale,
        escalated=None if standing is None else key not in standing,
        uncertainty=uncertainty,
        own=judgment.preference if isinstance(judgment, Judgment | SubmittedLabel) else None,
        unanswered=preference is None and results.run.submitted,
        probabilities=scored.probabilities if scored else None,
    )


def _contradicted(results: RunResults) -> set[str]:
    """The ids of items whose label of overall quality is A and whose weighted winner is B, or the reverse."""
    if OVERALL not in results.judgments:
        return set()
    rubric = results.run.identity.asked
    weights = not_zero(normalised(rubric.weights(results.judgments)))
    return {
        overall.item_id
        for place, overall in enumerate(results.judgments[OVERALL])
        if (label := results.label(overall)) in (Preference.A, Preference.B)
        and _winner(results, place, weights, rubric.tie_threshold) == label.swapped.value
    }


def _winner(
    results: RunResults, place: int, weights: Mapping[str, float], tie_threshold: float
) -> str | None:
    """The weighted winner of an item, by its place among the judged; None where a criterion is unscored."""
    every = {name: results.probabilities(results.judgments[name][place]) for name in weights}
    known = {name: said for name, said in every.items() if said is not None}
    return weighted_winner(known, weights, tie_threshold) if len(known) == len(every) else None


def _passes(row: ReviewRow, filters: Filters) -> bool:
    wanted = (
        (filters.criterion is not None, row.criterion == filters.criterion),
        (filters.differs_from_human, row.differs_from_human),
        (filters.flipped, bool(row.flipped)),
        (filters.unscored, row.preference is None),
        (filters.low_margin, row.margin is not None and row.margin < LOW_MARGIN),
        (filters.overridden, row.overridden),
        (filters.annotators_differ, row.annotators_differ),
        (filters.stale, row.stale),
        (filters.escalated, bool(row.escalated)),
        (filters.own is not None, _is(row.own, filters.own)),
        (filters.label is not None, _is(row.preference, filters.label)),
        (filters.human is not None, _is(row.human, filters.human)),
        (bool(filters.labelled), row.item_id not in filters.labelled),
        (filters.ids is not None, filters.ids is None or row.item_id in filters.ids),
    )
    return all(holds for asked, holds in wanted if asked)


def _is(label: HumanLabel | None, request: LabelRequest) -> bool:
    return label is None if request == NO_LABEL else label is request


_STATES = (ReviewState.TO_DO, ReviewState.SKIPPED, ReviewState.DONE)
_UNSCORED, _HIDDEN = len(HUMAN_LABELS), len(HUMAN_LABELS) + 1
_BACKWARDS = {
    ListOrder.DONE: ListOrder.TO_DO,
    ListOrder.ID_BACKWARDS: ListOrder.ID,
    ListOrder.LABELS_BACKWARDS: ListOrder.LABELS,
    ListOrder.MOST_MARKS: ListOrder.FEWEST_MARKS,
    ListOrder.INSTRUCTION_BACKWARDS: ListOrder.INSTRUCTION,
}
BY_COLUMN = frozenset({ListOrder.LEAST_UNCERTAINTY, *_BACKWARDS, *_BACKWARDS.values()})
"""The orders that `by_column` knows."""


def by_column(
    items: Sequence[ReviewItem],
    order: ListOrder,
    rows_of: Callable[[str], Sequence[ReviewRow]],
    states: Mapping[str, ReviewState],
    dataset: Dataset | None,
) -> list[ReviewItem]:
    """The items in one of BY_COLUMN; equal ones stay in the order in which they come. `rows_of`: the rows of
    an item as they are shown. `states`: by item id, TO_DO where one lacks. Labels come in the order of
    HUMAN_LABELS, then unscored, then hidden ones. Ids sort as numbers where all are some.
    """
    forwards, backwards = _BACKWARDS.get(order, order), order in _BACKWARDS
    if forwards in (ListOrder.ID, ListOrder.INSTRUCTION):
        is_id = forwards is ListOrder.ID
        texts = text_array([item.item_id for item in items]) if is_id else _instructions(items, dataset)
        return [items[place] for place in sorted_places(texts, as_numbers=is_id, descending=backwards)]
    keys: Mapping[ListOrder, Callable[[ReviewItem], Any]] = {
        ListOrder.LEAST_UNCERTAINTY: lambda item: item.uncertainty,
        ListOrder.TO_DO: lambda item: _STATES.index(states.get(item.item_id, ReviewState.TO_DO)),
        ListOrder.LABELS: lambda item: list(map(_rank, rows_of(item.item_id))),
        ListOrder.FEWEST_MARKS: lambda item: sum(map(_marks, rows_of(item.item_id))),
    }
    return sorted(items, key=keys[forwards], reverse=backwards)


def _instructions(items: Sequence[ReviewItem], dataset: Dataset | None) -> pa.ChunkedArray | pa.Array:
    if dataset is None:
        return text_array([""] * len(items))
    positions = np.array([item.position for item in items], np.int64)
    return dataset.texts("instruction").take(number_array(positions))


def _rank(row: ReviewRow) -> int:
    if row.hidden:
        return _HIDDEN
    return _UNSCORED if row.preference is None else HUMAN_LABELS.index(row.preference)


def _marks(row: ReviewRow) -> int:
    return bool(row.flipped) + row.judges_apart + row.differs_from_human + row.overridden + row.stale


NOTE, TAG = "note", "tag"


class Remarks:
    """What `author` may see of what is said of each item. `seen`: the judgments of which they may see
    everything, None for all. Of the others they see only their own annotations, and only their own notes
    until they may see all judgments of the item.
    """

    def __init__(
        self, results: RunResults, author: str = "", seen: Container[JudgmentKey] | None = None
    ) -> None:
        self._results, self._author, self._seen = results, author, seen
        self._by_annotators: dict[str, list[Annotation]] = {}
        for override in reversed(results.reviews.overrides):
            if override.explanation:
                self._by_annotators.setdefault(override.item_id, []).append(override)

    def of(self, place: int) -> Sequence[tuple[str, str]]:
        """Of an item, by its place among the judged: what each text is (the criterion of an explanation, NOTE
        or TAG), and the text. All explanations of a judgment: annotators' first, each the latest first.
        """
        judgments = [column[place] for column in self._results.judgments.values()]
        found = [(each.criterion, text) for each in judgments for text in self._explanations(each)]
        return list(dict.fromkeys([*found, *self._noted(place, judgments)]))

    def _sees(self, judgment: AnyJudgment) -> bool:
        return self._seen is None or judgment.key in self._seen

    def _explanations(self, judgment: AnyJudgment) -> Sequence[str]:
        sees = self._sees(judgment)
        by_annotators = [
            override.explanation or ""
            for override in self._by_annotators.get(judgment.item_id, ())
            if override.criterion == judgment.criterion and (sees or override.author == self._author)
        ]
        if not sees:
            return by_annotators
        if isinstance(judgment, Judgment):
            return [*by_annotators, *(written.text for written in reversed(judgment.explanations))]
        return [*by_annotators, judgment.text] if judgment.text else by_annotators

    def _noted(self, place: int, judgments: Sequence[AnyJudgment]) -> Iterator[tuple[str, str]]:
        sees_all = all(map(self._sees, judgments))
        for note in self._results.notes_on(self._results.judged[place].content_hash):
            if sees_all or note.author == self._author:
                yield from ((NOTE, text) for text in (note.text,) if text)
                yield from ((TAG, tag) for tag in note.tags)
