"""Contests: pairs of responses to one instruction by candidates, the models that wrote them, and what was
said of which is better. All rankings are computed from these columns of numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from engine.core.column_map import CANDIDATES, OUTPUTS
from engine.core.errors import DoubtfulCandidates, Hint, HintPart, SetupError, Step
from engine.core.formatting import counted, listed, quoted
from engine.core.items import HUMAN_LABELS, PREFERENCES, Gold, HumanLabel, Preference, Tie, written_label
from engine.core.judgments import JudgmentKey
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.data.arrow_arrays import coded
from engine.data.dataset import Dataset
from engine.metrics.intervals import group_numbers
from engine.metrics.matching import System

_LABEL_AT = {label: place for place, label in enumerate(HUMAN_LABELS)}
SCORES = np.array([1.0, 0.0, *[0.5] * (len(HUMAN_LABELS) - 2)])
"""The value of each of HUMAN_LABELS for A: a win, a loss, half a win."""
_OF_TIES = np.array([0.0, 0.0, *[1.0] * (len(HUMAN_LABELS) - 2)])


@dataclass(frozen=True, eq=False)
class PairComparisons:
    """`names`: the candidates, as first met. `first`, `second`: whose response is A and B, places in `names`,
    (items,). `instructions`: their numbers, (items,). `lengths`: characters of A and B, (items, 2). `said`:
    shares (summing to 1) of HUMAN_LABELS, NaN where nothing was said, (items, 5). `left_out`: items beside
    these that do not name two candidates.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    first: IntArray
    second: IntArray
    instructions: IntArray
    lengths: FloatArray
    said: FloatArray
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def known(self) -> BoolArray:
        """Of which items something was said: shape (items,)."""
        return np.asarray(~np.isnan(self.said[:, 0]))

    @cached_property
    def scores(self) -> FloatArray:
        """What A won of each comparison, 0 to 1, half a tie; NaN where nothing was said: shape (items,)."""
        return np.asarray(self.said @ SCORES)

    @cached_property
    def ties(self) -> FloatArray:
        """The share of ties of any kind in what was said, 0 to 1, NaN where nothing was: shape (items,)."""
        return np.asarray(self.said @ _OF_TIES)

    @cached_property
    def components(self) -> list[list[str]]:
        """The candidates that labelled comparisons hold together, the largest group first."""
        from scipy import sparse  # noqa: PLC0415

        met = (self.first[self.known], self.second[self.known])
        size = len(self.names)
        graph = sparse.coo_array((np.ones(len(met[0])), met), shape=(size, size))
        count, of_each = sparse.csgraph.connected_components(graph, directed=False)
        numbered = list(zip(self.names, of_each.tolist(), strict=True))
        groups = [[name for name, number in numbered if number == group] for group in range(count)]
        return sorted(groups, key=len, reverse=True)

    def with_said(self, said: FloatArray) -> "PairComparisons":
        """The same comparisons, of which something else was said."""
        return replace(self, said=said)

    def at(self, rows: BoolArray | IntArray) -> "PairComparisons":
        """Some of them, by their places or a mask; the candidates stay all."""
        if rows is self.known and rows.all():
            return self
        places = np.arange(len(self))[rows]
        return replace(
            self,
            ids=tuple(self.ids[place] for place in places),
            first=self.first[places],
            second=self.second[places],
            instructions=self.instructions[places],
            lengths=self.lengths[places],
            said=self.said[places],
        )

    def without_absent(self) -> "PairComparisons":
        used = np.unique(np.concatenate([self.first, self.second]))
        if len(used) == len(self.names):
            return self
        places = np.full(len(self.names), -1)
        places[used] = np.arange(len(used))
        names = tuple(self.names[place] for place in used)
        return replace(self, names=names, first=places[self.first], second=places[self.second])

    @cached_property
    def labelled(self) -> "PairComparisons":
        """Those of which something was said, and the candidates that stand in them."""
        return self.at(self.known).without_absent()

    @cached_property
    def of(self) -> list[IntArray]:
        """By candidate, the places of its labelled comparisons, in order."""
        rows = np.flatnonzero(self.known)
        sides = np.stack([self.first[rows], self.second[rows]], axis=1).ravel()
        order = np.argsort(sides, kind="stable")
        starts = np.searchsorted(sides[order], np.arange(1, len(self.names)))
        return np.split(np.repeat(rows, 2)[order], starts)

    @cached_property
    def between(self) -> dict[tuple[int, int], IntArray]:
        """By two that met, the lower place first: the places of their labelled comparisons, in order."""
        rows = np.flatnonzero(self.known)
        keys = self.pair_keys[rows]
        order = np.argsort(keys, kind="stable")
        pairs, starts = np.unique(keys[order], return_index=True)
        met = zip(*(each.tolist() for each in np.divmod(pairs, len(self.names))), strict=True)
        return dict(zip(met, np.split(rows[order], starts[1:]), strict=True))

    @property
    def pair_keys(self) -> IntArray:
        """A number for each pair of candidates, whichever stood first: shape (items,)."""
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return np.asarray(low * len(self.names) + high)

    def won(self, candidate: int, places: IntArray) -> FloatArray:
        """What a candidate won of some of its comparisons, 0 to 1."""
        scores = self.scores[places]
        return np.where(self.first[places] == candidate, scores, 1 - scores)


def unnamed(dataset: Dataset, *first: HintPart) -> SetupError:
    """What is wrong with a dataset that does not name its candidates; `first`: what else to do."""
    return SetupError(
        f"{dataset.name} does not name the models that wrote its responses.",
        Hint(*first, Step.NAME_CANDIDATES, ". Is there one file per model? ", Step.MAKE_PAIRS),
    )


_MOST_CANDIDATES = 2000
"""Scores, groups and tables of more take hours and gigabytes: all pairs are compared with each other."""
_MANY, _SELDOM, _NEARLY_ALL = 20, 2, 0.9


def check_candidates(comparisons: PairComparisons, many: bool) -> None:
    """SetupError where there are too many candidates to rank, or, unless `many` are meant, nearly all of more
    than 20 are in one or two items.
    """
    names, items = len(comparisons.names), len(comparisons)
    if names > _MOST_CANDIDATES:
        raise SetupError(
            f"{names:,} different candidates are named in {items:,} items: at most {_MOST_CANDIDATES:,} can"
            " be ranked.",
            Hint(Step.NAME_CANDIDATES, "."),
        )
    met = np.bincount(np.concatenate([comparisons.first, comparisons.second]), minlength=names)
    if not many and names > _MANY and np.mean(met <= _SELDOM) > _NEARLY_ALL:
        raise DoubtfulCandidates(
            f"{names:,} different candidates are named in {items:,} items, nearly all of them in one or two:"
            f" {' and '.join(CANDIDATES)} look like ids, not like names of models.",
            Hint(Step.NAME_CANDIDATES, ". If these are models: ", Step.RANK_ALL),
        )


def comparisons_of(dataset: Dataset, said: FloatArray | None = None) -> PairComparisons:
    """`said` as the record has it. Items without two different candidates are omitted. SetupError where none
    is named, or no item has two.
    """
    if not dataset.names_candidates:
        raise unnamed(dataset)
    numbers: dict[str, int] = {"": -1}
    sides = []
    for codes, written in (coded(dataset.texts(side)) for side in CANDIDATES):
        found = [numbers.setdefault((name or "").strip(), len(numbers) - 1) for name in written]
        sides.append(np.array(found, np.int64)[codes])
    kept = (sides[0] >= 0) & (sides[1] >= 0) & (sides[0] != sides[1])
    if not kept.any():
        raise SetupError(
            f"{dataset.name} has no item with responses of two different candidates.",
            f"Fill the columns {' and '.join(CANDIDATES)}.",
        )
    # As first met in the order of the items, not of the columns.
    met, first = np.unique(np.stack(sides, axis=1), return_index=True)
    met = met[np.argsort(first)]
    places = np.full(len(numbers), -1)
    places[met[met >= 0]] = np.arange(np.count_nonzero(met >= 0))
    by_number = [*numbers][1:]
    names = tuple(by_number[number] for number in met[met >= 0])
    everything = _comparisons(dataset, names, *(places[side] for side in sides))
    everything = everything if said is None else everything.with_said(said)
    if kept.all():
        return everything
    return replace(everything.at(kept).without_absent(), left_out=int(np.sum(~kept)))


def comparisons_of_places(dataset: Dataset) -> PairComparisons:
    """The items of a dataset as comparisons of whatever stood as A with whatever stood as B."""
    items = len(dataset)
    return _comparisons(dataset, ("A", "B"), np.zeros(items, np.int64), np.ones(items, np.int64))


def _comparisons(
    dataset: Dataset, names: tuple[str, ...], first: IntArray, second: IntArray
) -> PairComparisons:
    return PairComparisons(
        ids=tuple(dataset.ids),
        names=names,
        first=first,
        second=second,
        instructions=group_numbers(dataset.group_column),
        lengths=np.stack([dataset.lengths(name) for name in OUTPUTS], axis=1).astype(np.float64),
        said=nothing_said(len(dataset)),
    )


def nothing_said(items: int) -> FloatArray:
    """What `said` is of items of which nothing was said: shape (items, 5)."""
    return np.full((items, len(HUMAN_LABELS)), np.nan)


def human_said(dataset: Dataset, criterion: str) -> FloatArray:
    """Human labels of each item, as shares where several annotators gave theirs: shape (items, 5)."""
    if criterion not in dataset.annotators:
        codes, labels = coded(dataset.texts(f"{criterion}_preference"))
        return labels_said(written_label(label) if label else None for label in labels)[codes]
    return said_of([item.gold.get(criterion) for item in dataset])


def said_of(golds: Sequence[Gold | None]) -> FloatArray:
    """The same of human labels, an item each."""
    said = nothing_said(len(golds))
    for row, gold in zip(said, golds, strict=True):
        one = {} if gold is None or gold.label is None else {gold.label: 1.0}
        shares = gold.shares if gold is not None and gold.annotators else one
        if shares:
            row[:] = 0
        for label, share in shares.items():
            row[_LABEL_AT[label]] = share
    return said


def labels_said(labels: Iterable[HumanLabel | None]) -> FloatArray:
    """What labels say, one an item, None for none: shape (items, 5)."""
    return said_of([None if label is None else Gold(label) for label in labels])


def system_said(system: System, dataset: Dataset, criterion: str) -> FloatArray:
    """A system's effective labels: shape (items, 5). SetupError where it does not judge by the criterion."""
    if criterion not in system.criteria:
        raise SetupError(
            f"{system.name} has no labels on {quoted(criterion)}.",
            f"Its criteria: {listed(system.criteria, shown=str)}.",
        )
    rows = system.rows
    return labels_said(
        rows[item_id].predictions[criterion].preference if item_id in rows else None
        for item_id in dataset.ids
    )


def system_expected(system: System, dataset: Dataset, criterion: str) -> FloatArray:
    """The judge's own probabilities, whoever overrode them; a submission's labels: shape (items, 5)."""
    said = system_said(system, dataset, criterion)
    for row, item_id in zip(said, dataset.ids, strict=True):
        judgment = system.judgments.get(JudgmentKey(item_id, criterion))
        if judgment is not None:
            row[:] = 0
            row[: len(PREFERENCES)] = judgment.probabilities
    return said


def winners_said(winners: Mapping[str, str], dataset: Dataset) -> FloatArray:
    """What the weighted judge decided, one of WINNERS by item id: shape (items, 5)."""
    sides = {Preference.A.value: Preference.A, Preference.B.value: Preference.B}
    return labels_said(
        sides.get(winners[item_id], Tie.TIE) if item_id in winners else None for item_id in dataset.ids
    )


def left_out_in_words(items: int) -> str:
    """A sentence on so many items that are no comparisons; empty for none."""
    names, are = counted(items, "item names", "items name"), "is" if items == 1 else "are"
    return f"{names} fewer than two different candidates and {are} omitted." if items else ""


def in_words(comparisons: PairComparisons) -> str:
    """`5 candidates in 999 items, 300 instructions`; where of some nothing was said, `in 90 of 999 items`."""
    labelled = comparisons.labelled
    candidates = counted(len(labelled.names), "candidate", "candidates")
    instructions = counted(len(np.unique(labelled.instructions)), "instruction", "instructions")
    part = f"{len(labelled):,} of " if len(labelled) < len(comparisons) else ""
    return f"{candidates} in {part}{counted(len(comparisons), 'item', 'items')}, {instructions}"
