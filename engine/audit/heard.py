"""The predictions of a judge on some items, as arrays: all that an audit looks at.

It is the judge as it reads: without a calibration, and without human overrides.

Knows: runs, raw predictions by order, questions with permuted label tokens. Does not know: what is measured
by them.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from engine.audit.probe_set import PerturbationSet
from engine.core.items import PREFERENCES, HumanLabel, Item, Method, Order
from engine.core.judgments import AnswerLogProbs, JudgedItem, JudgmentKey
from engine.core.log_probs import BoolArray, FloatArray, IntArray, log_softmax
from engine.core.ways.letters import LETTERS
from engine.data.dataset import Dataset
from engine.decisions.read_items import RunPredictions, of_order
from engine.decisions.run_dataset import human_labels
from engine.decisions.run_results import RunResults

SHIFTS = len(PREFERENCES)
"""The number of questions with permuted label tokens: one for each label."""


@dataclass(frozen=True)
class JudgePredictions:
    """The predictions on `items`, on each of some `criteria`.

    `by_order`: natural-log probabilities of the four labels, of the items' own A and B, in each order; shape
    (criteria, items, 2, 4), NaN where nothing was read. `mean`: of all raw predictions, (criteria, items, 4).
    `mass`: the answer mass, 0 to 1, (criteria, items). `letters`: log-probabilities of the label tokens A to
    D, whatever label they stand for, in the questions that permute their meanings: (criteria, items, 2, 4
    questions, 4 label tokens); None where the judge was not asked so. `reasons`: it wrote reasoning before
    some answers. `human`: the human labels. `seconds`, `tokens`: what each item took, shape (items,).
    """

    items: tuple[Item, ...]
    criteria: tuple[str, ...]
    by_order: FloatArray
    mean: FloatArray
    mass: FloatArray
    letters: FloatArray | None = None
    reasons: bool = False
    human: Mapping[JudgmentKey, HumanLabel] = field(default_factory=dict)
    seconds: FloatArray = field(default_factory=lambda: np.zeros(0))
    tokens: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_run(cls, results: RunResults, dataset: Dataset, gold: Dataset | None = None) -> "JudgePredictions":
        """Of a run's judged items, as they are in its `dataset`; `gold`: whose labels count, None for its
        own. Items that the dataset has otherwise by now are omitted.
        """
        by_id = {item.id: item for item in dataset.same_items(results.content_hashes)}
        judged = [item for item in results.judged if item.item_id in by_id]
        criteria, read = results.run.identity.criteria, RunPredictions(judged, len(results.run.judges))
        found = [read.of(name) for name in criteria]
        by_order = [np.stack([one.average(of_order(order)) for order in Order], axis=1) for one in found]
        facts = [[one.facts_of(place).answer_mass for place in range(len(judged))] for one in found]
        mean = np.array([one.mean for one in found])
        mass = np.where(np.isfinite(mean).all(axis=2), np.array(facts, dtype=np.float64), np.nan)
        return cls(
            items=tuple(by_id[item.item_id] for item in judged),
            criteria=criteria,
            by_order=np.array(by_order),
            mean=mean,
            mass=mass,
            letters=_letters(judged, criteria) if Method.PERMUTED_LABELS in results.methods else None,
            reasons=Method.CHAIN_OF_THOUGHT in results.methods,
            human=human_labels(results, dataset) if gold is None else human_labels(results, gold),
            seconds=np.array([item.seconds for item in judged]),
            tokens=np.array([float(item.tokens_read + item.tokens_generated) for item in judged]),
        )

    @cached_property
    def perturbations(self) -> PerturbationSet:
        """Which of the items are perturbations."""
        return PerturbationSet.of(self.items)

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """Where each item stands, by its id."""
        return {item.id: place for place, item in enumerate(self.items)}

    @cached_property
    def own(self) -> IntArray:
        """The places of the items that are no perturbations, shape (own items,)."""
        return np.array([self.place_of[item.id] for item in self.perturbations.own], dtype=np.int64)

    @cached_property
    def probabilities(self) -> FloatArray:
        """Of the four labels, shape (criteria, items, 4); NaN where nothing was read."""
        return np.asarray(np.exp(self.mean))

    @cached_property
    def lead(self) -> FloatArray:
        """P(A) less P(B), -1 to 1: shape (criteria, items)."""
        return np.asarray(self.probabilities[..., 0] - self.probabilities[..., 1])

    @cached_property
    def labels(self) -> IntArray:
        """The places of the likeliest labels in PREFERENCES, shape (criteria, items); -1 for none."""
        return likeliest_of(self.mean)

    def groups(self, places: IntArray | Sequence[int]) -> list[Hashable]:
        """The instructions of the items at some places."""
        return [self.items[place].group for place in places]

    @cached_property
    def twice(self) -> BoolArray:
        """Which judgments were read in both orders, shape (criteria, items)."""
        return np.asarray(np.isfinite(self.by_order).all(axis=(2, 3)))

    @cached_property
    def scored(self) -> BoolArray:
        """Which judgments could be made, shape (criteria, items)."""
        return np.asarray(np.isfinite(self.mean).all(axis=2))


def likeliest_of(log_probs: FloatArray) -> IntArray:
    """The places of the highest along the last axis, of equal ones the first; -1 where one is not finite."""
    finite = np.isfinite(log_probs).all(axis=-1)
    return np.asarray(np.where(finite, np.nan_to_num(log_probs, nan=-np.inf).argmax(axis=-1), -1))


def _letters(judged: Sequence[JudgedItem], criteria: Sequence[str]) -> FloatArray:
    """See Heard. An item whose questions are not all there is left NaN."""
    found = np.full((len(criteria), len(judged), len(Order), SHIFTS, len(LETTERS)), np.nan)
    orders = {order: place for place, order in enumerate(Order)}
    for row, name in enumerate(criteria):
        for place, item in enumerate(judged):
            for reading in item.raw_predictions.get(name, ()):
                if reading.method is Method.PERMUTED_LABELS and len(reading.answers) == SHIFTS:
                    found[row, place, orders[reading.order]] = _log_probs(reading.answers)
    finite = np.isfinite(found).all(axis=(3, 4), keepdims=True)
    return np.asarray(np.where(finite, log_softmax(np.where(finite, found, 0.0)), np.nan))


def _log_probs(answers: Sequence[AnswerLogProbs]) -> FloatArray:
    return np.array([answer.log_probs for answer in answers], dtype=np.float64)
