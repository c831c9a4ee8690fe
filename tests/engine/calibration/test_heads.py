"""Heads: what is found with parts is the least there is, hears the judges that know something, and no others.
`bench/coverage/heads.py` measures the bars on many more seeds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from engine.calibration.fitting import Regularisation, SourceGain, Views, added, fitted, fitted_with
from engine.calibration.run_calibration import OTHER_CRITERIA, FittedCriterion, Labelled, Wishes
from engine.calibration.scaling import (
    OTHER_PLACES,
    PSEUDO_COUNT,
    Solved,
    log_frequencies,
    log_likelihood,
    solve,
)
from engine.core.events import Cancelled, CancelToken, followed
from engine.core.items import Method, Order, digest
from engine.core.judgments import (
    LENGTHS,
    CriterionCalibration,
    Feature,
    FeatureKind,
    JudgedItem,
    Judgment,
    RawPrediction,
)
from engine.core.numeric import FloatArray, IntArray, log_softmax
from engine.metrics.matching import match
from engine.results.decision import SWAPPED, RunPredictions, decide_all, parts_of
from tests.engine.calibration.simulated import SKEWS, biased_judge, without_polarity
from tests.judged import RATHER_A, SURE_A, SURE_B, A, B, calibrate_run, dataset, stored_run

CRITERION = "safety"
BALANCED = SKEWS["balanced"]
NEW = 500  # items that nothing was fitted on


@dataclass(frozen=True)
class Problem:
    """What `solve` is given, with one strength for all."""

    log_probs: FloatArray
    parts: FloatArray
    labels: IntArray

    @classmethod
    def drawn(cls, seed: int, hidden: float = 0.0, items: int = 60) -> "Problem":
        """An informed judge, and beside it a part that knows the same, one that errs and one that is idle."""
        log_probs, labels, _ = biased_judge(items, seed)
        noise = np.random.default_rng(seed).normal(size=(3, items, 4))
        parts = np.stack([0.3 * log_probs + noise[0], noise[1] - 0.5 * log_probs, 5 * noise[2]], axis=1)
        return cls(log_probs, parts, without_polarity(labels, seed, hidden))

    def solved(self, of_parts: float = 1.0, views: int = 1, alike: bool = False) -> Solved:
        """With a strength of 0.3."""
        parts, shrunk = self.parts, [of_parts]
        return solve(self.log_probs, self.labels, [0.3], views, parts=parts, of_parts=shrunk, alike=alike)

    @property
    def in_both_places(self) -> "Problem":
        """Each item once more with A and B exchanged."""
        return Problem(
            np.concatenate([self.log_probs, self.log_probs[:, SWAPPED]]),
            np.concatenate([self.parts, self.parts[..., SWAPPED]]),
            np.concatenate([self.labels, OTHER_PLACES[self.labels]]),
        )

    @property
    def standardised(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Readings and parts less their means, in their own units; the means; the units."""
        together = np.concatenate([self.log_probs[:, None], self.parts], axis=1)
        centred = together - together.mean(axis=0)
        sigmas = np.sqrt((centred**2).mean(axis=(0, 2)))
        return centred / sigmas[:, None], together.mean(axis=0), sigmas

    def value(self, point: FloatArray, of_parts: float, views: int) -> float:
        """What `solve` says that it minimises, of (t, d, c)."""
        slopes, c = point[:4], point[4:]
        log_p = log_softmax(np.einsum("k,ikl->il", slopes, self.standardised[0]) + c)
        likely = log_likelihood(log_p, self.labels).sum() / views + PSEUDO_COUNT * log_softmax(c).sum()
        off = ((c - log_frequencies(self.labels, views)) ** 2).sum()
        return float(0.3 * (slopes[0] ** 2 + off) + of_parts * (slopes[1:] ** 2).sum() - likely)

    def point(self, found: Solved) -> FloatArray:
        """(t, d, c) of what was found."""
        _, means, sigmas = self.standardised
        factors = np.concatenate([found.scales, found.factors[0]])
        return np.concatenate([factors * sigmas, found.biases[0] + factors @ means])


def least(problem: Problem, of_parts: float, views: int) -> float:
    """What a general minimiser finds."""
    start = [0.0, 0, 0, 0, *log_frequencies(problem.labels, views)]
    how = {"method": "L-BFGS-B", "bounds": [(0, None), *[(None, None)] * 7], "options": {"ftol": 1e-14}}
    return float(minimize(problem.value, start, (of_parts, views), **how).fun)


class TestSolve:
    @pytest.mark.parametrize("of_parts", [0.3, 30.0])
    @pytest.mark.parametrize("hidden", [0.0, 0.5, 1.0])
    def test_no_general_minimiser_finds_less(self, hidden: float, of_parts: float) -> None:
        for seed in range(2):
            problem = Problem.drawn(seed, hidden)
            found = problem.solved(of_parts)
            assert problem.value(problem.point(found), of_parts, 1) <= least(problem, of_parts, 1) + 1e-7
            assert np.abs(found.factors).min() > 0

    @pytest.mark.parametrize("hidden", [0.0, 0.5])
    def test_none_finds_less_where_a_and_b_are_alike_which_is_a_fit_to_both(self, hidden: float) -> None:
        for seed in range(2):
            problem = Problem.drawn(seed, hidden)
            found, both = problem.solved(alike=True), problem.in_both_places
            assert both.value(both.point(found), 1.0, 2) <= least(both, 1.0, 2) + 1e-7
            assert found.biases[0, 0] == pytest.approx(found.biases[0, 1], abs=1e-9)
            for own, other in zip(vars(found).values(), vars(both.solved(views=2)).values(), strict=True):
                assert own == pytest.approx(other, rel=1e-4, abs=1e-5)

    @pytest.mark.parametrize("alike", [False, True])
    @pytest.mark.parametrize("idle", [np.zeros(4), np.array([1.0, 1.0, -2.0, 0.0])], ids=["zero", "constant"])
    def test_a_part_without_spread_gets_0_and_changes_nothing(self, idle: FloatArray, alike: bool) -> None:
        problem = Problem.drawn(0)
        with_idle = np.concatenate([problem.parts, np.tile(idle, (60, 1, 1))], axis=1)
        found, alone = replace(problem, parts=with_idle).solved(alike=alike), problem.solved(alike=alike)
        assert found.factors[0, 3] == 0
        assert found.factors[:, :3] == pytest.approx(alone.factors)
        assert found.biases == pytest.approx(alone.biases)

    @pytest.mark.parametrize("alike", [False, True])
    def test_the_stronger_parts_are_shrunk_the_nearer_it_comes_to_none(self, alike: bool) -> None:
        problem = Problem.drawn(1)
        alone = solve(problem.log_probs, problem.labels, [0.3], alike=alike)
        free, shrunk = (problem.solved(strength, alike=alike) for strength in (0.3, 1e10))
        assert np.abs(free.factors).max() > 0.05
        assert shrunk.factors == pytest.approx(np.zeros((1, 3)), abs=1e-6)
        assert shrunk.scales == pytest.approx(alone.scales, rel=1e-6)
        assert shrunk.biases == pytest.approx(alone.biases, abs=1e-5)

    @pytest.mark.parametrize("hidden", [0.0, 0.5])
    def test_readings_that_speak_against_the_labels_get_scale_0_and_parts_are_heard_beside(
        self, hidden: float
    ) -> None:
        drawn = Problem.drawn(0, hidden)
        problem = replace(drawn, log_probs=-drawn.log_probs)
        found, both = problem.solved(), problem.in_both_places
        assert found.scales.tolist() == problem.solved(alike=True).scales.tolist() == [0]
        assert np.abs(found.factors).max() > 0.05
        assert problem.value(problem.point(found), 1.0, 1) <= least(problem, 1.0, 1) + 1e-7
        assert both.value(both.point(problem.solved(alike=True)), 1.0, 2) <= least(both, 1.0, 2) + 1e-7


@dataclass(frozen=True)
class Jury:
    """Judges numbered from 1, whose readings are scale x (signal for the label + noise), of whose variance
    all have `shared` in common, or hard labels with a certainty of 0.9, right as often as `hard` says.
    """

    scales: Sequence[float] = ()
    signals: Sequence[float] = ()
    shared: float = 0.0
    hard: Sequence[float] = ()

    def labelled(self, random: np.random.Generator, items: int, skew: Sequence[float] = BALANCED) -> Labelled:
        """So many items with their labels."""
        labels = random.choice(4, items, p=np.array(skew) / sum(skew))
        return labelled(self._read(random, labels), labels)

    def _read(self, random: np.random.Generator, labels: IntArray) -> FloatArray:
        """Shape (judges, items, 4)."""
        if self.hard:
            return np.stack([_hard(random, labels, right) for right in self.hard])
        known, common = np.eye(4)[labels], random.normal(size=(len(labels), 4))
        noise = [
            self.shared**0.5 * common + (1 - self.shared) ** 0.5 * random.normal(size=common.shape)
            for _ in self.scales
        ]
        judges = zip(self.scales, self.signals, noise, strict=True)
        return np.stack([log_softmax(scale * (signal * known + own)) for scale, signal, own in judges])


def _hard(random: np.random.Generator, labels: IntArray, right: float) -> FloatArray:
    wrong = (labels + random.integers(1, 4, len(labels))) % 4
    said = np.where(random.random(len(labels)) < right, labels, wrong)
    return np.log(np.where(np.eye(4)[said] == 1, 0.9, 0.1 / 3))


def labelled(read: FloatArray, labels: IntArray) -> Labelled:
    """Items of which each judge has a reading."""
    items = []
    for place, rows in enumerate(read.swapaxes(0, 1).tolist()):
        said = (RawPrediction(Order.AB, tuple(row), judge=judge) for judge, row in enumerate(rows, start=1))
        items.append(JudgedItem(place, str(place), digest(place), {CRITERION: tuple(said)}))
    return of_items(items, labels, lengths=False)


def of_items(
    items: Sequence[JudgedItem], labels: IntArray, *, lengths: bool, alike: bool = True, other: str = ""
) -> Labelled:
    """Judged items with labels on one criterion."""
    read = RunPredictions(items)
    others = [other] if other else []
    parts = parts_of(read, CRITERION, others, by_order=not alike, lengths=lengths)
    return Labelled(CRITERION, read, labels, tuple(map(str, range(len(items)))), parts, alike)


def of_judge(panel: Labelled, judge: int) -> Views:
    """With the readings of one judge alone, as its own run would have them."""
    kept = [item.only(lambda reading: reading.judge == judge) for item in panel.read.judged]
    return of_items(kept, panel.labels, lengths=False).views()


def worth(known: Views, new: Views) -> list[float]:
    """Accuracy and log-loss on new items."""
    found = new.quality(new.decided(fitted(known)), new.log_probs)
    return [found.accuracy, found.log_loss]


def worths(panel: Jury, seeds: int, labels: int = 100) -> FloatArray:
    """Mean accuracy and log-loss of the head, of the mean alone and of each judge alone: (judges + 2, 2)."""
    found = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        known, new = panel.labelled(random, labels), panel.labelled(random, NEW)
        alone = (views.views().looking_at(()) for views in (known, new))
        rows = [worth(known.views(), new.views()), worth(*alone)]
        judges = range(1, len(panel.hard or panel.scales) + 1)
        found.append([*rows, *(worth(of_judge(known, judge), of_judge(new, judge)) for judge in judges)])
    return np.asarray(np.mean(found, axis=0))


class TestPanels:
    def test_judges_of_uneven_loudness_are_better_together_than_their_mean_and_than_each(self) -> None:
        head, mean, *alone = worths(Jury((1, 5, 0.3), (1.7, 1.7, 1.7), shared=0.3), seeds=4)
        assert head[0] > mean[0] + 0.02
        assert head[1] < mean[1] - 0.05
        assert head[0] > max(accuracy for accuracy, _ in alone) + 0.05
        assert head[1] < min(loss for _, loss in alone) - 0.15

    @pytest.mark.parametrize(("loudness", "shared"), [(5, 0.0), (10, 0.0), (5, 0.3)])
    def test_two_loud_judges_that_know_nothing_hardly_hurt_the_one_that_does(
        self, loudness: float, shared: float
    ) -> None:
        panel = Jury((1, loudness, loudness), (1.7, 0, 0), shared)
        head, mean, good, *_ = worths(panel, seeds=4)
        assert good[0] > mean[0] + 0.3
        assert head[0] > good[0] - 0.02

    def test_of_two_that_contradict_each_other_the_better_one_breaks_the_tie(self) -> None:
        panel = Jury(hard=(0.8, 0.5))
        for seed in range(3):
            random = np.random.default_rng(seed)
            known, new = panel.labelled(random, 100), panel.labelled(random, NEW)
            better, worse = (of_judge(new, judge).log_probs[0].argmax(axis=1) for judge in (1, 2))
            chosen = new.views().decided(fitted(known.views()))[0].argmax(axis=1)
            assert (chosen == better)[better != worse].mean() > 0.95

    @pytest.mark.parametrize("skew", ["relevance", "truthfulness"])
    def test_judges_that_know_nothing_hardly_ever_leave_the_most_frequent_label(self, skew: str) -> None:
        panel, left = Jury((1, 5, 0.3), (0, 0, 0)), []
        for seed in range(5):
            random = np.random.default_rng(seed)
            known, new = panel.labelled(random, 60, SKEWS[skew]), panel.labelled(random, NEW).views()
            chosen = new.decided(fitted(known.views()))[0].argmax(axis=1)
            left.append((chosen != np.bincount(known.labels).argmax()).mean())
        assert np.mean(left) < 0.01


def in_all_methods(random: np.random.Generator, items: int) -> Iterator[tuple[JudgedItem, int]]:
    """Items read by one judge in two ways and both orders on two criteria, with the label of the first."""
    for place in range(items):
        label = int(random.integers(4))
        own = np.eye(4)[label]
        raw_predictions = {
            name: tuple(
                _seen(order, signal * own + random.normal(size=4), asked_by)
                for asked_by in (Method.LABEL_TOKENS, Method.POINTWISE_GRADE)
                for order in Order
            )
            for name, signal in {CRITERION: 1.0, "relevance": 0.7}.items()
        }
        a, b = (int(100 + 200 * own[seat] + random.integers(100)) for seat in (0, 1))
        yield JudgedItem(place, str(place), digest(place), raw_predictions, lengths=(a, b)), label


def _seen(order: Order, own: FloatArray, asked_by: Method) -> RawPrediction:
    """What a model that leans to the first place says."""
    seen = (own if order is Order.AB else own[SWAPPED]) + np.array([0.5, 0, 0, 0])
    a, b, both_good, both_bad = log_softmax(seen).tolist()
    return RawPrediction(order, (a, b, both_good, both_bad), asked_by)


def exchanged_item(item: JudgedItem) -> JudgedItem:
    """The same responses in the other places: what was AB is BA."""
    other = {Order.AB: Order.BA, Order.BA: Order.AB}
    raw_predictions = {
        name: tuple(replace(reading, order=other[reading.order]) for reading in own)
        for name, own in item.raw_predictions.items()
    }
    assert item.lengths
    return replace(item, raw_predictions=raw_predictions, lengths=item.lengths[::-1])


def decided(items: Sequence[JudgedItem], by: CriterionCalibration) -> list[Judgment]:
    judgments = decide_all(items, CRITERION, by)
    return [each for each in judgments if isinstance(each, Judgment)]


class TestPlaces:
    @staticmethod
    def drawn(items: int, *, alike: bool) -> Labelled:
        found = list(in_all_methods(np.random.default_rng(0), items))
        labels = np.array([label for _, label in found])
        return of_items([item for item, _ in found], labels, lengths=True, alike=alike, other="relevance")

    def test_nothing_depends_on_the_place_of_a_response_where_a_and_b_are_alike(self) -> None:
        known = self.drawn(60, alike=True)
        made = fitted_with(known.views(), Regularisation(0.1, known.parts, 0.3))
        assert len(made.parts) == 4
        assert min(map(abs, made.parts.values())) > 1e-4
        items = [item for item, _ in in_all_methods(np.random.default_rng(1), 200)]
        here, there = decided(items, made), decided([exchanged_item(item) for item in items], made)
        assert [one.preference for one in here] == [other.preference.swapped for other in there]
        probabilities = np.array([other.probabilities for other in there])[:, SWAPPED]
        assert np.array([one.probabilities for one in here]) == pytest.approx(probabilities, abs=1e-12)
        assert len({one.preference for one in here}) == 4
        assert not any(judgment.place_decides for judgment in (*here, *there))

    def test_where_places_matter_a_label_may_depend_on_the_place(self) -> None:
        known = self.drawn(60, alike=False)
        made = fitted_with(known.views(), Regularisation(0.1, known.parts, 0.3))
        items = [item for item, _ in in_all_methods(np.random.default_rng(1), 200)]
        here, there = decided(items, made), decided([exchanged_item(item) for item in items], made)
        both = zip(here, there, strict=True)
        moved = [one.preference is not other.preference.swapped for one, other in both]
        assert any(moved)
        assert [one.place_decides for one in here] == moved

    def test_where_places_matter_each_order_has_a_part_of_its_own(self) -> None:
        methods = (Method.POINTWISE_GRADE, Method.LABEL_TOKENS)
        apart, together = (set(self.drawn(20, alike=alike).parts) for alike in (False, True))
        read = partial(Feature, FeatureKind.RAW_PREDICTIONS, 0)
        assert apart - together == {read(asked_by, order) for asked_by in methods for order in Order}
        assert together - apart == {read(asked_by) for asked_by in methods}

    def test_a_run_is_calibrated_so_where_that_is_wished(self, tmp_path: Path) -> None:
        gold = dataset({CRITERION: [A, B] * 15})
        read = [SURE_A, SURE_B, RATHER_A, SURE_B, SURE_A, SURE_A] * 5
        matched = match(stored_run(tmp_path, gold, {CRITERION: read}), gold)
        found = [calibrate_run(matched, wishes=Wishes(request)).calibration for request in (False, True)]
        assert [{part.order for part in each.parts} for each in found] == [set(), set(Order)]


LOUD = Jury((1, 1), (1.7, 0))


def fitted_of(known: Labelled) -> FittedCriterion:
    return followed(known.fitting())


def adds(made: FittedCriterion, source: str) -> SourceGain:
    return added({CRITERION: made.without[source]}, {CRITERION: made.report})


class TestSources:
    def test_the_only_judge_that_knows_something_adds_much_and_the_other_nothing(self) -> None:
        made = fitted_of(LOUD.labelled(np.random.default_rng(0), 80))
        good, idle = (adds(made, f"judge {judge}") for judge in (1, 2))
        assert good.nats > 0.3
        assert good.interval is not None
        assert good.interval.low > 0.15
        assert good.right.value > 0.2
        assert idle.nats == pytest.approx(0, abs=0.05)
        assert idle.right.value == pytest.approx(0, abs=0.05)

    def test_another_criterion_adds_what_it_knows_and_lengths_that_say_nothing_add_nothing(self) -> None:
        random = np.random.default_rng(0)
        labels, read = random.integers(4, size=80), random.normal(size=(80, 4))
        items = []
        for place, label in enumerate(labels.tolist()):
            said = {
                name: (_seen(Order.AB, signal * np.eye(4)[label] + read[place], Method.LABEL_TOKENS),)
                for name, signal in ((CRITERION, 0.7), ("relevance", 3))
            }
            lengths = (int(random.integers(900)), int(random.integers(900)))
            items.append(JudgedItem(place, str(place), digest(place), said, lengths=lengths))
        made = fitted_of(of_items(items, labels, lengths=True, other="relevance"))
        other = adds(made, OTHER_CRITERIA)
        assert other.nats > 0.3
        assert other.right.value > 0.2
        assert adds(made, LENGTHS.in_words).nats == pytest.approx(0, abs=0.05)


class TestStopping:
    def test_a_stop_that_is_asked_for_ends_the_fit(self) -> None:
        cancel = CancelToken()
        cancel.cancel()
        with pytest.raises(Cancelled):
            fitted(LOUD.labelled(np.random.default_rng(0), 20).views(), cancel)

    @pytest.mark.parametrize("steps", [1, 11], ids=["in the folds", "in the sources"])
    def test_it_ends_the_steps_of_a_criterion_in_their_midst(self, steps: int) -> None:
        cancel = CancelToken()
        fitting = LOUD.labelled(np.random.default_rng(0), 20).fitting(cancel)
        for _ in range(steps):
            next(fitting)
        cancel.cancel()
        with pytest.raises(Cancelled):
            next(fitting)
