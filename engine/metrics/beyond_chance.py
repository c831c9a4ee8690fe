"""Agreement beyond chance and by label, out of how often two labels meet, with intervals over instructions.

A statistic takes how often labels meet, shape (..., labels, labels), and which of them agree, (labels,
labels); it gives shape (...), nan where it has no value.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, Tie, agree
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.intervals import LEAST_GROUPS, Interval, group_numbers, quantile_of_t

ALIKE = np.array([[agree(one, other) for other in HUMAN_LABELS] for one in HUMAN_LABELS])
_AT_ONCE = 50_000  # instructions
_AS_FAR = 1e-12

Statistic = Callable[[FloatArray, BoolArray], FloatArray]


def kappa_of(met: FloatArray, alike: BoolArray) -> FloatArray:
    """Cohen's kappa, -1 to 1: 1 - (share that disagrees) / (share that would by chance). As a `tie` agrees
    with two others, it is the weighted kappa with weight 0 for what agrees and 1 for what does not (Cohen
    1960 and 1968).
    """
    rows, columns = met.sum(axis=-1), met.sum(axis=-2)
    by_chance = _ratio(np.einsum("...i,ij,...j", rows, ~alike, columns), rows.sum(axis=-1))
    return 1 - _ratio((met * ~alike).sum(axis=(-2, -1)), by_chance)


def mean_kappa_of(met: FloatArray, alike: BoolArray) -> FloatArray:
    """The mean over pairs of people, (..., pairs, labels, labels), by their items, of those with a kappa."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = kappa_of(met, alike)
    items = np.where(np.isfinite(found), met.sum(axis=(-2, -1)), 0)
    return _ratio((items * np.nan_to_num(found)).sum(axis=-1), items.sum(axis=-1))


def ac1_of(met: FloatArray, alike: BoolArray) -> FloatArray:
    """Gwet's AC1, at most 1; with a `tie`, which agrees with two others, AC2 (Gwet, Handbook of
    Inter-Rater Reliability, 2014). Where nearly all labels are one, kappa falls to 0 and this does not.
    """
    labels, items = len(alike), met.sum(axis=(-2, -1))
    given = (met.sum(axis=-1) + met.sum(axis=-2)) / 2 / items[..., np.newaxis]
    by_chance = alike.sum() / (labels * (labels - 1)) * (given * (1 - given)).sum(axis=-1)
    return _ratio((met * alike).sum(axis=(-2, -1)) / items - by_chance, 1 - by_chance)


def macro_f1_of(met: FloatArray, _alike: BoolArray, *, labels: int) -> FloatArray:
    """The mean of F1 over those of the first `labels` that occur on either side, 0 to 1."""
    together = np.diagonal(met, axis1=-2, axis2=-1)[..., :labels]
    each = (met.sum(axis=-1) + met.sum(axis=-2))[..., :labels]
    # 2 / (1/precision + 1/recall) is twice those of both over all
    return _ratio(np.where(each > 0, _ratio(2 * together, each), 0).sum(axis=-1), (each > 0).sum(axis=-1))


def alpha_of(met: FloatArray, alike: BoolArray) -> FloatArray:
    """Krippendorff's alpha, nominal, of coincidences: 1 complete, 0 by chance. Source: Krippendorff,
    Computing Krippendorff's Alpha-Reliability (2011), section D. Our own, as the package for it is under the
    GPL.
    """
    given = met.sum(axis=-1)
    by_chance = np.einsum("...i,ij,...j", given, ~alike, given) / (given.sum(axis=-1) - 1)
    return 1 - _ratio((met * ~alike).sum(axis=(-2, -1)), by_chance)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(whole) > 0, part / whole, np.nan)


class Measured(NamedTuple):
    """No value: as kappa of one label only. No interval: for one instruction only."""

    value: float | None
    interval: Interval | None = None

    @property
    def estimate(self) -> Estimate | None:
        return None if self.value is None else Estimate(self.value, self.interval)


@dataclass(frozen=True)
class MetLabels:
    """How often two labels meet in an instruction. `tables`: the different ones, (tables, labels, labels), or
    (tables, pairs, labels, labels) of several pairs of people; `times`: how many instructions have each,
    (tables,); `alike`: which labels agree, (labels, labels).
    """

    tables: FloatArray
    times: FloatArray
    alike: BoolArray

    @classmethod
    def of(
        cls,
        one: Sequence[HumanLabel | None],
        other: Sequence[HumanLabel | None],
        instructions: Sequence[Hashable],
        pairs: IntArray | None = None,
        among: Sequence[HumanLabel] = PREFERENCES,
    ) -> "MetLabels":
        """Of two labels of each item; None, unscored, is a label of its own where it occurs. `pairs`: the
        number of the pair of people that each item is of, from 0, where there are several. `among`: the
        labels that an instruction more may have, beside a `tie` and None where these occur.
        """
        met = {*one, *other}
        labels = [*among, *([Tie.TIE] if Tie.TIE in met else []), *([None] if None in met else [])]
        place = {label: number for number, label in enumerate(labels)}
        side = len(labels)
        cells = np.array([place[a] * side + place[b] for a, b in zip(one, other, strict=True)], np.int64)
        alike = np.array([[agree(a, b) for b in labels] for a in labels])
        shape: tuple[int, ...] = alike.shape
        if pairs is not None:
            cells, shape = cells + pairs * side**2, (int(pairs.max()) + 1, *shape)
        return cls._counted(cells, group_numbers(instructions), np.ones(len(cells)), alike, shape)

    @classmethod
    def among(
        cls, counts: Sequence[Sequence[int]], instructions: Sequence[Hashable], alike: BoolArray = ALIKE
    ) -> "MetLabels":
        """Coincidences among annotators: `counts` of each label, (items, labels), two or more an item."""
        given = np.array(counts, np.float64)
        each = given[:, :, np.newaxis] * given[:, np.newaxis, :]
        own = np.arange(given.shape[1])
        each[:, own, own] -= given
        each /= given.sum(axis=1)[:, np.newaxis, np.newaxis] - 1
        items, cells = each.reshape(len(each), -1).nonzero()
        numbers = group_numbers(instructions)[items]
        return cls._counted(cells, numbers, each.reshape(len(each), -1)[items, cells], alike, alike.shape)

    @classmethod
    def _counted(
        cls,
        cells: IntArray,
        instructions: IntArray,
        amounts: FloatArray,
        alike: BoolArray,
        shape: tuple[int, ...],
    ) -> "MetLabels":
        order, size = np.argsort(instructions, kind="stable"), math.prod(shape)
        cells, instructions, amounts = cells[order], instructions[order], amounts[order]
        found: Counter[bytes] = Counter()
        count = int(instructions.max(initial=-1)) + 1
        for first in range(0, count, _AT_ONCE):
            last = min(first + _AT_ONCE, count)
            part = slice(*np.searchsorted(instructions, (first, last)))
            places = (instructions[part] - first) * size + cells[part]
            every = np.bincount(places, amounts[part], minlength=(last - first) * size).reshape(-1, size)
            for table, times in zip(*np.unique(every, axis=0, return_counts=True), strict=True):
                found[table.tobytes()] += int(times)
        tables = np.frombuffer(b"".join(found)).reshape(-1, *shape)
        return cls(tables, np.array([*found.values()], np.int64), alike)

    def measured(self, statistic: Statistic, least: float = -1.0) -> Measured:
        """The statistic of all, and its 95 % interval by Student's t over instructions, each end as if one
        instruction more lay wholly there: of an average number of items, all at the two labels that move it
        furthest. Simulated coverage: `bench/coverage/README.md`.
        """
        value = self.value(statistic)
        if value is None:
            return Measured(None)
        count = int(self.times.sum())
        if count < LEAST_GROUPS:
            return Measured(value)
        labels = len(self.alike)
        share = self._shares
        t = quantile_of_t(max(1 / float(self.times @ share**2) - 1, 1.0))
        items = self._all.sum(axis=(-2, -1), keepdims=True) / count
        cells = np.eye(labels**2).reshape(-1, *np.ones_like(items.shape[2:]), labels, labels) * items
        if np.allclose(self.tables, self.tables.swapaxes(-2, -1)):  # coincidences come both ways
            cells = (cells + cells.swapaxes(-2, -1)) / 2
        moved = statistic(self._all + cells, self.alike)
        agrees = np.eye(labels, dtype=bool).ravel()
        # Of cells that move it as far, such as (A, B) and (B, A), all: else the first of two would decide.
        lowest, highest = np.where(agrees, np.nan, moved), np.where(agrees, moved, np.nan)
        lows = self._with_each(cells[lowest <= np.nanmin(lowest) + _AS_FAR], statistic)
        highs = self._with_each(cells[highest >= np.nanmax(highest) - _AS_FAR], statistic)
        low = min(found - t * error for found, error in lows)
        high = max(found + t * error for found, error in highs)
        ends = np.clip([low, high], least, 1.0)
        return Measured(value, Interval(min(float(ends[0]), value), max(float(ends[1]), value)))

    def value(self, statistic: Statistic) -> float | None:
        value = float(statistic(self._all, self.alike))
        return None if np.isnan(value) else value

    @property
    def _all(self) -> FloatArray:
        return np.tensordot(self.times, self.tables, 1)

    @property
    def _shares(self) -> FloatArray:
        """What part of all items an instruction of each table has, (tables,)."""
        items = self.tables.reshape(len(self.tables), -1).sum(axis=1)
        return np.asarray(items / (self.times @ items))

    def _with_each(self, cells: FloatArray, statistic: Statistic) -> list[tuple[float, float]]:
        """The statistic and its standard error with one instruction more, of each such table."""
        times = np.append(self.times, 1)
        more = (replace(self, tables=np.stack([*self.tables, cell]), times=times) for cell in cells)
        return [each._with_error(statistic) for each in more]

    def _with_error(self, statistic: Statistic) -> tuple[float, float]:
        """The statistic and its standard error, by leaving out each instruction (Efron and Stein 1981)."""
        every, share = self._all, self._shares
        value = float(statistic(every, self.alike))
        pulls = (value - statistic(every - self.tables, self.alike)) * (1 - share)
        pulls = np.where(np.isfinite(pulls), pulls, 0.0)
        pulls -= share * (self.times @ pulls)
        count = int(self.times.sum())
        return value, float(np.sqrt(count / (count - 1) * (self.times @ pulls**2)))
