"""Fit what decides one criterion to human labels, shrunk as inner cross-validation says; measure by outer
folds what it is worth, and what each of its sources adds by leaving it out.
"""

from collections.abc import Collection, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean
from typing import NamedTuple

import numpy as np

from engine.calibration import scaling
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.formatting import counted
from engine.core.items import PREFERENCES
from engine.core.judgments import CriterionCalibration, Feature, FeatureKind
from engine.core.numeric import FloatArray, IntArray, log_softmax
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, LEAST_GROUPS, Interval, OverInstructions, grouped_folds
from engine.results.decision import SWAPPED, calibrated, likeliest

INNER_FOLDS = 5
# From hardly any shrinkage to almost all; next to them stands the infinite one, class frequencies alone.
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
# From a first guess at each part to free factors. Stronger ones lose labels where judges say the opposite of
# each other: then the better one must outweigh what a few labels say of frequencies (simulated:
# `bench/coverage/heads.py`).
PENALTIES_OF_FEATURES = (10.0, 3.0, 1.0, 0.3)
# With fewer instructions nothing can be fitted: raw predictions are taken as they are, or not at all.
LEAST_FOR_FITTING = 10
# With fewer still nothing can be compared: class frequencies are all there is.
LEAST_FOR_PREDICTIONS = 5
# The strength that stands for raw predictions as they are: scale 1, no biases, nothing fitted.
AS_READ = 0.0

_LABELS = len(PREFERENCES)
_AS_GOOD = 1e-12  # nats


@dataclass(frozen=True)
class FeatureValues:
    """What parts say next to the mean of the raw predictions, as `part_values` gives it, and what they would
    say were the responses in the other places: (items, parts, 4), NaN where nothing is known.
    """

    parts: tuple[Feature, ...]
    values: FloatArray
    others: FloatArray


class Regularisation(NamedTuple):
    """The shrinkage of raw predictions towards the class prior, and of parts; as in CriterionCalibration."""

    strength: float | None
    parts: tuple[Feature, ...] = ()
    of_parts: float | None = None

    @classmethod
    def of(cls, fitted: CriterionCalibration) -> "Regularisation":
        return cls(fitted.strength, tuple(fitted.parts), fitted.penalty_of_features)


@dataclass(frozen=True)
class ChosenRegularisation:
    """A shrinkage, with the loss of each item by what is fitted with it without the item's fold, shape
    (items,), nats: on items by which it was chosen, so a little less than on others. `frequencies`: the same
    of the class prior.
    """

    regularisation: Regularisation
    losses: FloatArray
    frequencies: FloatArray


@dataclass(frozen=True)
class Views:
    """Readings with human labels: each item seen once, or also with its responses in the other places.
    `log_probs`: (views, items, 4), normalised; `labels`: (views, items), of each view its own; `groups`: the
    instructions. `beside`: what `parts` say, (views, items, parts, 4). `mirrored`: the second view is the
    first with A and B exchanged, so that what is fitted is the same for both, but for rounding.
    """

    log_probs: FloatArray
    labels: IntArray
    groups: tuple[Hashable, ...]
    parts: tuple[Feature, ...]
    beside: FloatArray
    mirrored: bool = False

    @property
    def instructions(self) -> int:
        return len(set(self.groups))

    def only(self, places: IntArray) -> "Views":
        return replace(
            self,
            log_probs=self.log_probs[:, places],
            labels=self.labels[:, places],
            groups=tuple(self.groups[place] for place in places),
            beside=self.beside[:, places],
        )

    @property
    def as_they_are(self) -> "Views":
        log_probs, labels, beside = self.log_probs[:1], self.labels[:1], self.beside[:1]
        return replace(self, log_probs=log_probs, labels=labels, beside=beside, mirrored=False)

    def looking_at(self, parts: Sequence[Feature]) -> "Views":
        places = [place for place, part in enumerate(self.parts) if part in parts]
        kept = tuple(self.parts[place] for place in places)
        return replace(self, parts=kept, beside=self.beside[:, :, places])

    @property
    def part_sets(self) -> list[tuple[Feature, ...]]:
        """What may be looked at, the least first: nothing more, other criteria, lengths too."""
        kinds = [kind for kind in FeatureKind if any(part.kind is kind for part in self.parts)]
        known = [kinds[: place + 1] for place in range(len(kinds))]
        return [tuple(part for part in self.parts if part.kind in each) for each in known]

    @property
    def part_means(self) -> FloatArray:
        """What each part says on average of where it says something, shape (parts, 4)."""
        known = ~np.isnan(self.beside)
        sums = np.where(known, self.beside, 0).sum(axis=(0, 1))
        return np.asarray(sums / np.maximum(known.sum(axis=(0, 1)), 1))

    def filled(self, means: FloatArray) -> "Views":
        """With these means where a part says nothing."""
        return replace(self, beside=np.where(np.isnan(self.beside), means, self.beside))

    @property
    def frequencies(self) -> FloatArray:
        """Natural logs of those of the labels, shape (4,)."""
        return scaling.log_frequencies(self.labels.ravel(), len(self.labels))

    def solved(
        self, l2_strengths: Sequence[float], of_parts: Sequence[float] = (), within: float = scaling.EXACT
    ) -> scaling.Solved:
        """What decides, as `solve` gives it for each strength; with the parts where they have strengths."""
        full = self.filled(self.part_means)
        # Of mirrored views the second says nothing that the first does not.
        views = 1 if self.mirrored else len(self.labels)
        _, items, parts, _ = full.beside.shape
        beside = full.beside[:views].reshape(views * items, parts, _LABELS)
        return scaling.solve(
            self.log_probs[:views].reshape(-1, _LABELS),
            self.labels[:views].ravel(),
            l2_strengths,
            views,
            parts=beside if of_parts else None,
            of_parts=of_parts,
            alike=self.mirrored,
            within=within,
        )

    def decided(self, fitted: CriterionCalibration) -> FloatArray:
        """Log-probabilities by a calibration, shape (views, items, 4)."""
        return calibrated(self.log_probs, fitted, self.looking_at(tuple(fitted.parts)).beside)

    def losses(self, log_probs: FloatArray) -> FloatArray:
        """-ln p(human label), nats, of what is said of each view: (..., views, items, 4) to (..., items)."""
        flat = log_probs.reshape(*log_probs.shape[:-3], -1, _LABELS)
        likely = scaling.log_likelihood(flat, self.labels.ravel())
        return np.asarray(-likely.reshape(log_probs.shape[:-1]).mean(axis=-2))

    def losses_by(self, found: scaling.Solved) -> FloatArray:
        """Those of what each strength gives, shape (strengths, items)."""
        if self.mirrored:
            return -scaling.log_likelihood(found.log_probs(self.log_probs[0], self.beside[0]), self.labels[0])
        views = zip(self.log_probs, self.beside, strict=True)
        return self.losses(np.stack([found.log_probs(*view) for view in views], axis=1))

    def gain(self, baseline: FloatArray, after: FloatArray) -> OverInstructions:
        """By how much the loss of what is said of each view after is less than that of the baseline, nats."""
        gains = np.round(self.losses(baseline) - self.losses(after), 12)  # both may be the frequencies
        found = OverInstructions.of_one(gains.tolist(), self.groups)
        assert found is not None  # there are two instructions
        return found

    def right(self, log_probs: FloatArray, read: FloatArray) -> list[float]:
        """In what share of its views each item has the human label, shape (items,); as `quality` takes it."""
        chosen = likeliest(log_probs.reshape(-1, _LABELS), read.reshape(-1, _LABELS))
        right = scaling.is_right(chosen, self.labels.ravel()).reshape(self.labels.shape)
        shares: list[float] = right.mean(axis=0).tolist()
        return shares

    def quality(self, log_probs: FloatArray, read: FloatArray | None = None) -> scaling.Quality:
        """Of what is said of each view, shape (views, items, 4); of equals what is `read` decides."""
        known = None if read is None else read.reshape(-1, _LABELS)
        return scaling.quality(log_probs.reshape(-1, _LABELS), self.labels.ravel(), known)


def views_of(
    log_probs: FloatArray,
    labels: IntArray,
    groups: Sequence[Hashable],
    others: FloatArray | None = None,
    *,
    beside: FeatureValues | None = None,
) -> Views:
    """`log_probs`: natural-log probabilities, shape (items, 4), normalised here; `labels`: places in
    HUMAN_LABELS, shape (items,); `groups`: the instructions, none of which is on both sides of a split.
    `others`: what would be read were the responses in the other places, shape (items, 4): with it, A and B
    are treated alike, and without they are free. `beside`: what parts say of these items.
    """
    rows, known = log_softmax(np.asarray(log_probs, np.float64)), tuple(groups)
    places = np.asarray(labels, np.int64)
    if beside is None:
        nothing = np.empty((len(known), 0, _LABELS))
        beside = FeatureValues((), nothing, nothing)
    if others is None:
        return Views(rows[None], places[None], known, beside.parts, beside.values[None])
    shown = log_softmax(np.asarray(others, np.float64))
    both = np.stack([beside.values, beside.others])
    mirrored = all(
        np.allclose(one[..., SWAPPED], other, rtol=1e-9, atol=1e-9, equal_nan=True)
        for one, other in ((rows, shown), both)
    )
    labels_of_both = np.stack([places, scaling.OTHER_PLACES[places]])
    return Views(np.stack([rows, shown]), labels_of_both, known, beside.parts, both, mirrored)


def fitted(seen: Views, cancel: CancelToken | None = None) -> CriterionCalibration:
    """With the shrinkage that is best by cross-validation. Cancelled between two folds."""
    return fitted_with(seen, chosen(seen, cancel).regularisation)


def fitted_with(seen: Views, regularisation: Regularisation) -> CriterionCalibration:
    """With one that was chosen elsewhere; parts that are not seen take no part."""
    strength, looked_at = regularisation.strength, seen.looking_at(regularisation.parts)
    of_parts = regularisation.of_parts if looked_at.parts else None
    factors: list[float] = []
    if strength is None:
        scale, biases = 0.0, seen.frequencies
    elif strength == AS_READ:
        scale, biases = 1.0, np.zeros(_LABELS)
    else:
        solved = looked_at.solved([strength], () if of_parts is None else [of_parts])
        scale, biases, factors = float(solved.scales[0]), solved.biases[0], solved.factors[0].tolist()
    a, b, both_good, both_bad = (float(bias) for bias in biases - biases.mean())
    parts = looked_at.parts if factors else ()
    means = map(tuple, looked_at.part_means.tolist() if factors else ())
    return CriterionCalibration(
        scale,
        (a, b, both_good, both_bad),
        strength,
        seen.labels.shape[1],
        parts=dict(zip(parts, factors, strict=True)),
        penalty_of_features=of_parts,
        part_means=dict(zip(parts, means, strict=True)),
    )


def chosen(seen: Views, cancel: CancelToken | None = None) -> ChosenRegularisation:
    """What has the least loss by inner cross-validation: of raw predictions alone a strength, AS_READ, or
    None, the infinite one; of equally good ones that which trusts them least. With parts: see `_with_parts`.
    Cancelled between two folds.
    """
    # To ask more of raw predictions than that, such as to be significantly better than the frequencies, costs
    # more than it saves; so does it to let raw predictions as they are compete with fitted ones: they win by
    # luck too often (simulated: `bench/coverage/calibrations.py`).
    cancel = cancel or CancelToken()
    if seen.instructions < LEAST_FOR_PREDICTIONS:
        losses = seen.losses(np.broadcast_to(seen.frequencies, seen.log_probs.shape))
        return ChosenRegularisation(Regularisation(None), losses, losses)
    frequencies, by_strength = _inner_losses(seen, cancel)
    if seen.instructions < LEAST_FOR_FITTING:
        rivals = {AS_READ: seen.losses(seen.log_probs)}
    else:
        rivals = dict(zip(STRENGTHS, by_strength, strict=True))
    strength = min(rivals, key=lambda each: (rivals[each].mean(), -each))
    if rivals[strength].mean() < frequencies.mean() - _AS_GOOD:
        alone = ChosenRegularisation(Regularisation(strength), rivals[strength], frequencies)
    else:
        alone = ChosenRegularisation(Regularisation(None), frequencies, frequencies)
    if not seen.parts or strength == AS_READ:
        return alone
    return _with_parts(seen, strength, alone, cancel)


def _with_parts(
    seen: Views, strength: float, alone: ChosenRegularisation, cancel: CancelToken
) -> ChosenRegularisation:
    """The simplest of what is within one standard error of the best, by inner cross-validation: the raw
    predictions `alone`, then fewer kinds of parts before more, stronger shrinkage before weaker. The error is
    that of the difference to the best, over instructions (Breiman et al. 1984, section 3.4.3, on pairs).
    """
    rivals = [Regularisation(strength, *more) for more in product(seen.part_sets, PENALTIES_OF_FEATURES)]
    by_rival = np.empty((len(rivals), len(alone.losses)))
    for known, asked, test in _inner_folds(seen, cancel):
        rows = []
        for parts in seen.part_sets:
            looked_at, strengths = known.looking_at(parts), [strength] * len(PENALTIES_OF_FEATURES)
            solved = looked_at.solved(strengths, PENALTIES_OF_FEATURES, scaling.NEAR)
            rows.append(asked.looking_at(parts).filled(looked_at.part_means).losses_by(solved))
            cancel.raise_if_requested()
        by_rival[:, test] = np.concatenate(rows)
    # Several judges or methods that count alike are no simpler than the same with a first guess at each.
    if alone.regularisation.strength is None or seen.parts[0].kind is not FeatureKind.RAW_PREDICTIONS:
        rivals, by_rival = [alone.regularisation, *rivals], np.vstack([alone.losses, by_rival])
    best = by_rival[by_rival.mean(axis=1).argmin()]
    for rival, own in zip(rivals, by_rival, strict=True):
        worse = OverInstructions.of_one((own - best).tolist(), seen.groups)
        if worse is None or worse.mean <= worse.standard_error + _AS_GOOD:
            return ChosenRegularisation(rival, own, alone.frequencies)
    raise AssertionError("the best is as good as itself")


def _inner_folds(seen: Views, cancel: CancelToken) -> Iterator[tuple[Views, Views, IntArray]]:
    """What is known and what is asked in each, and the places of the latter."""
    for train, test in grouped_folds(seen.groups, INNER_FOLDS):
        cancel.raise_if_requested()
        yield seen.only(train), seen.only(test), test


def _inner_losses(seen: Views, cancel: CancelToken) -> tuple[FloatArray, FloatArray]:
    """Cross-validated -ln p(human label), nats: of class frequencies, (items,), and (strengths, items)."""
    frequencies, by_strength = np.empty(len(seen.groups)), np.empty((len(STRENGTHS), len(seen.groups)))
    for known, asked, test in _inner_folds(seen.looking_at(()), cancel):
        by_strength[:, test] = asked.losses_by(known.solved(STRENGTHS, within=scaling.NEAR))
        frequencies[test] = asked.losses(np.broadcast_to(known.frequencies, asked.log_probs.shape))
    return frequencies, by_strength


OUTER_FOLDS = 10


@dataclass(frozen=True)
class CalibrationReport:
    """`before`: raw predictions; `after`, `baseline` (smoothed label frequencies): cross-validated on the
    same folds; all treat A and B as the `calibration` does, which is fitted on all `items`. `gain`: by how
    many nats the log-loss after is below the baseline's. `log_probs_after`: (views, items, 4), by fits
    without the item's fold; `one_label_out_of_fold`: whether these give all items one label. `right_before`,
    `right_after`: how right (0 to 1) each item's label is, `groups` its instruction. `folds`: places, and
    what was fitted without.
    """

    criterion: str
    items: int
    instructions: int
    before: scaling.Quality
    after: scaling.Quality
    baseline: scaling.Quality
    gain: float
    gain_interval: Interval | None
    calibration: CriterionCalibration
    one_label_out_of_fold: bool
    log_probs_after: FloatArray = field(compare=False, repr=False)
    right_before: Sequence[float] = field(default=(), compare=False, repr=False)
    right_after: Sequence[float] = field(default=(), compare=False, repr=False)
    groups: Sequence[Hashable] = field(default=(), compare=False, repr=False)
    folds: Sequence[tuple[Sequence[int], CriterionCalibration]] = field(default=(), repr=False)

    @property
    def helps_significantly(self) -> bool:
        """Whether raw predictions significantly say more than the class prior."""
        known = self.gain_interval
        return self.instructions >= FEW and known is not None and known.low > 0


def mean_accuracies(reports: Collection[CalibrationReport]) -> dict[str, Estimate]:
    """The shares of labels that are right `before` and `after`, and how many `more`: means over criteria."""
    before = {report.criterion: report.right_before for report in reports}
    after = {report.criterion: report.right_after for report in reports}
    groups = {report.criterion: report.groups for report in reports}
    more = {name: np.subtract(after[name], before[name]).tolist() for name in groups}
    was, is_now, gained = (OverInstructions.of(values, groups) for values in (before, after, more))
    shares = [fmean(getattr(report, when).accuracy for report in reports) for when in ("before", "after")]
    return {
        "before": Estimate(shares[0], was.share_interval() if was else None),
        "after": Estimate(shares[1], is_now.share_interval() if is_now else None),
        "more": Estimate(shares[1] - shares[0], gained.difference_interval() if gained else None),
    }


@dataclass(frozen=True)
class Ablation:
    """What is lost without a source, by item, (items,), cross-validated with the same folds and shrinkage.
    `nats`: of the loss; `right`: by how much less the label is right, -1 to 1.
    """

    nats: Sequence[float]
    right: Sequence[float]


@dataclass(frozen=True)
class SourceGain:
    """What is lost without a source, as the mean over criteria. `nats`: of the log-loss, `interval`: over
    instructions, None where nothing varies; `right`: as a share of labels.
    """

    nats: float
    interval: Interval | None
    right: Estimate


def added(lost: Mapping[str, Ablation], reports: Mapping[str, CalibrationReport]) -> SourceGain:
    groups = {name: reports[name].groups for name in lost}
    nats = OverInstructions.of({name: each.nats for name, each in lost.items()}, groups)
    right = OverInstructions.of({name: each.right for name, each in lost.items()}, groups)
    more_right = fmean(fmean(each.right) for each in lost.values())
    return SourceGain(
        fmean(fmean(each.nats) for each in lost.values()),
        nats.mean_interval() if nats else None,
        Estimate(more_right, right.difference_interval() if right else None),
    )


def refuse_too_few(criterion: str, groups: Sequence[Hashable]) -> None:
    """SetupError for labels of fewer than two instructions."""
    instructions = len(set(groups))
    if instructions < LEAST_GROUPS:
        raise SetupError(
            f"Criterion {criterion}: {counted(len(groups), 'human label', 'human labels')} of"
            f" {counted(instructions, 'instruction', 'instructions')}. That is too few to calibrate.",
            f"Use a dataset with human labels for {LEAST_FOR_FITTING} different instructions or more.",
        )


def measuring(
    criterion: str, seen: Views, cancel: CancelToken | None = None
) -> Generator[None, None, CalibrationReport]:
    """Fit, and measure by nested cross-validation, step by step; two instructions or more. Cancelled."""
    after, baseline = np.empty_like(seen.log_probs), np.empty_like(seen.log_probs)
    folds = []
    for train, test in grouped_folds(seen.groups, OUTER_FOLDS):
        known = seen.only(train)
        found = fitted(known, cancel)
        folds.append((test.tolist(), found))
        after[:, test] = seen.only(test).decided(found)
        baseline[:, test] = known.frequencies
        yield
    calibration = fitted(seen, cancel)
    yield
    gain = seen.gain(baseline, after)
    return CalibrationReport(
        criterion=criterion,
        items=len(seen.groups),
        instructions=seen.instructions,
        before=seen.quality(seen.log_probs),
        after=seen.quality(after, seen.log_probs),
        baseline=seen.quality(baseline),
        gain=gain.mean,
        gain_interval=gain.mean_interval(),
        calibration=calibration,
        one_label_out_of_fold=len(np.unique(likeliest(after[0], seen.log_probs[0]))) == 1,
        log_probs_after=after,
        right_before=seen.right(seen.log_probs, seen.log_probs),
        right_after=seen.right(after, seen.log_probs),
        groups=seen.groups,
        folds=folds,
    )


def left_out(report: CalibrationReport, seen: Views, without: Views) -> Ablation:
    """What is lost where a source is omitted: `seen` with it and `without` it are the items of a report."""
    after = np.empty_like(without.log_probs)
    for asked, fold in report.folds:
        test = np.array(asked)
        train = np.setdiff1d(np.arange(len(seen.groups)), test)
        found = fitted_with(without.only(train), Regularisation.of(fold))
        after[:, test] = without.only(test).decided(found)
    nats = np.round(seen.losses(after) - seen.losses(report.log_probs_after), 12)
    right = np.subtract(report.right_after, without.right(after, without.log_probs))
    return Ablation(nats.tolist(), right.tolist())
