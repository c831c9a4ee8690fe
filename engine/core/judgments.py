"""The records that the rooms of the engine hand to each other: frozen, checked when made.

Knows: the terms of the field (item, criterion, preference, order, raw prediction, judgment).
Does not know: files, models, how anything is computed.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, TypeGuard, cast

from engine.core.errors import Hint, SetupError, Step
from engine.core.features import Feature, short_hash
from engine.core.items import Method, Order, Prediction, Preference

_LOWEST_LOG_PROB = -1e100  # 32-bit floats, which models compute with, have none below
_ROUNDING = 1e-3  # by which one may be above 0


def is_log_prob(value: object) -> TypeGuard[float]:
    """Whether a plain value can be the logarithm of a probability, minus infinity too."""
    if type(value) not in (float, int):
        return False
    number = cast(float, value)
    return number == -math.inf or _LOWEST_LOG_PROB <= number <= _ROUNDING


_LONGEST = 1e8  # seconds: three years, as long as nobody waits for an item


def is_seconds(value: object) -> TypeGuard[float]:
    """Whether a plain value can be the time that work with an item took."""
    return type(value) in (float, int) and 0 <= cast(float, value) <= _LONGEST


class JudgmentKey(NamedTuple):
    """Which judgment of a run: that of an item on a criterion. Equal to the plain pair in this order."""

    item_id: str
    criterion: str


class Keyed:
    """An annotation of one judgment."""

    item_id: str
    criterion: str

    @property
    def key(self) -> JudgmentKey:
        """Of which one."""
        return JudgmentKey(self.item_id, self.criterion)


@dataclass(frozen=True)
class AnswerLogProbs:
    """The model's answer to one question of a method, for the responses as it saw them.

    `question`: the name that the method gives it. `log_probs`: natural-log probabilities of its answers, in
    the method's order, out of the model's whole vocabulary. `thought`: what the model wrote before it, empty
    for none; `cut` where a length limit ended that.
    """

    question: str
    log_probs: tuple[float, ...]
    thought: str = ""
    cut: bool = False

    @property
    def mass(self) -> float:
        """Share (0 to 1) of all probability that the answers hold."""
        return sum(map(math.exp, self.log_probs))


@dataclass(frozen=True)
class RawPrediction:
    """A raw prediction: the model's answer for one item, criterion, order and method.

    `log_probs`: natural-log probabilities of the four labels, in the order of `PREFERENCES`, out of the
    model's whole vocabulary, as the model saw the responses: A is the first one shown. Not yet un-swapped.
    `answers`: what they were made of, by the method; empty for Method.LABEL_TOKENS, which reads them as they
    are, and in a jury. `judge`: which of a jury's judges it is of, from 1; 0 in a run of one judge.
    `label_alone`: in a jury, a submission's label, without order and method, with a stated certainty.
    """

    order: Order
    log_probs: tuple[float, float, float, float]
    method: Method = Method.LABEL_TOKENS
    answers: tuple[AnswerLogProbs, ...] = ()
    judge: int = 0
    label_alone: bool = False

    @property
    def answer_mass(self) -> float:
        """Share (0 to 1) of all probability that the four labels hold; low: the format was not understood."""
        return sum(map(math.exp, self.log_probs))


@dataclass(frozen=True)
class Explanation:
    """Why, in a few sentences, written for `preference`. `cut` where the length limit ended it."""

    text: str
    preference: Preference
    cut: bool = False


@dataclass(frozen=True)
class Shortening:
    """Characters omitted of the middle of each response so that the item fits the context."""

    left_out_a: int
    left_out_b: int

    @property
    def in_words(self) -> str:
        """What is omitted, in a sentence."""
        of_a, of_b = f"{self.left_out_a:,} characters of response A", f"{self.left_out_b:,} of response B"
        return f"Omitted from the middle: {of_a}, {of_b}."


@dataclass(frozen=True)
class JudgedItem:
    """All that the model gave for one item, raw: decisions are derived from it.

    `position`: place in the dataset, from 0. `raw_predictions`, `explanations`, `unscored` (the reason) by
    criterion; each criterion has raw predictions or a reason. `seconds`: wall time of its share of the group.
    `lengths`: of the responses A and B, in characters; None where an earlier version judged. `rewritten`:
    explanations written later for another label, by criterion and label; the first ones stay in
    `explanations`. `given`: the labels and explanations of an opened submission, by criterion, in the place
    of raw predictions; none of an item that it does not answer, which is unscored on all of them.
    """

    position: int
    item_id: str
    content_hash: str
    raw_predictions: Mapping[str, tuple[RawPrediction, ...]]
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)
    shortening: Shortening | None = None
    seconds: float = 0.0
    tokens_read: int = 0
    tokens_generated: int = 0
    rewritten: Mapping[tuple[str, Preference], Explanation] = field(default_factory=dict)
    given: Mapping[str, Prediction] = field(default_factory=dict)
    lengths: tuple[int, int] | None = None

    def run_writer(self, is_kept: Callable[[RawPrediction], bool]) -> "JudgedItem":
        """The same with some of its raw predictions alone."""
        return replace(
            self,
            raw_predictions={name: tuple(filter(is_kept, own)) for name, own in self.raw_predictions.items()},
        )

    def of_method(self, method: Method) -> "JudgedItem":
        """The same with the raw predictions of one method alone."""
        return self.run_writer(lambda reading: reading.method is method)


LARGEST_FACTOR = 1e6
"""What a calibration may multiply by or add at most: fitted ones stay far below."""


@dataclass(frozen=True)
class CriterionCalibration:
    """How the averaged log-probabilities of one criterion become calibrated: scale x log-probability + bias,
    and factor x value for each of the `parts`.

    `scale`: 0 or more. `biases`: in the order of `PREFERENCES`, natural-log units. No number is beyond
    LARGEST_FACTOR. `strength`: how strongly it was shrunk towards the class prior, None for the prior only
    (scale 0), 0 for raw predictions as they are (scale 1, nothing fitted); `penalty_of_features`: how
    strongly the factors were shrunk towards 0, None without parts; `part_means`: the mean of each part, which
    replaces it for an item without it. `items`: labels it was fitted on. `first_order`: the same for items
    that were read in the first order alone, where that is not all of them; None where it is, and in files of
    before.

    `folds`: fitted in the same way without a part of these items each; `fold_of`: the place of the one that
    was fitted without an item and all others of its instruction, by the short hash of the item's content.
    """

    scale: float
    biases: tuple[float, float, float, float]
    strength: float | None
    items: int
    first_order: "CriterionCalibration | None" = None
    folds: tuple["CriterionCalibration", ...] = ()
    fold_of: Mapping[str, int] = field(default_factory=dict)
    parts: Mapping[Feature, float] = field(default_factory=dict)
    penalty_of_features: float | None = None
    part_means: Mapping[Feature, tuple[float, ...]] = field(default_factory=dict)

    @property
    def judges(self) -> bool:
        """Whether it trusts anything but the frequencies of the labels."""
        return self.scale > 0 or any(self.parts.values())

    @property
    def in_one_order(self) -> "CriterionCalibration | None":
        """What decides items of the first order, with its own folds, for a judge that reads no other; None
        where it is not known.
        """
        if self.first_order is None:
            return None
        folds = tuple(fold.first_order for fold in self.folds if fold.first_order is not None)
        whole = len(folds) == len(self.folds)
        return replace(self.first_order, folds=folds if whole else (), fold_of=self.fold_of if whole else {})

    def fold(self, content_hash: str) -> int | None:
        """The place of what decides an item: it was fitted without it. None for one that took no part."""
        return self.fold_of.get(short_hash(content_hash))

    def by_fold(self, place: int | None) -> "CriterionCalibration":
        """The calibration of a fold; this one for None."""
        return self if place is None else self.folds[place]

    def for_item(self, content_hash: str) -> "CriterionCalibration":
        """What decides an item."""
        return self.by_fold(self.fold(content_hash))

    def __post_init__(self) -> None:
        means = (number for mean in self.part_means.values() for number in mean)
        numbers = (self.scale, *self.biases, *self.parts.values(), *means)
        if not all(abs(number) <= LARGEST_FACTOR for number in numbers) or self.scale < 0:
            factors = f" and factors {tuple(self.parts.values())}" if self.parts else ""
            raise SetupError(
                f"A calibration with scale {self.scale} and biases {self.biases}{factors} cannot be applied.",
                Hint(Step.CALIBRATE_AGAIN),
            )


@dataclass(frozen=True)
class Judgment(Keyed):
    """Both raw predictions of one item and criterion put together.

    `probabilities`: of the four labels, un-swapped, averaged, calibrated where the run is, summing to 1, in
    the order of `PREFERENCES`. `flipped`: whether the two orders alone disagree; None in one order only, and
    in a jury. `judges`: how many of a jury's judges gave a prediction, None in a run of one;
    `judges_missing`: how many did not; `judges_differ`: whether the former alone would give different labels,
    None for fewer than two. `place_decides`: whether the calibrated label would be for another response had
    the two changed places; None without a calibration, and in one order. `answer_mass`: the mean over all
    that was read; None in a jury of labels alone. `explanations`: all that the model wrote.
    """

    item_id: str
    criterion: str
    preference: Preference
    probabilities: tuple[float, float, float, float]
    flipped: bool | None
    answer_mass: float | None
    raw_predictions: tuple[RawPrediction, ...]
    explanations: tuple[Explanation, ...] = ()
    place_decides: bool | None = None
    judges_differ: bool | None = None
    judges: int | None = None
    judges_missing: int = 0

    @property
    def explanation(self) -> Explanation | None:
        """The model's explanation for the label decided now."""
        return self.explanation_for(self.preference)

    def explanation_for(self, label: Preference | None) -> Explanation | None:
        """What the model wrote for a label, the latest; its first text where it wrote none for that label."""
        for explanation in reversed(self.explanations):
            if explanation.preference is label:
                return explanation
        return self.explanations[0] if self.explanations else None

    @property
    def stale(self) -> bool:
        """True where the explanation was written for another label than the one decided now."""
        return self.explanation is not None and self.explanation.preference is not self.preference


@dataclass(frozen=True)
class SubmittedLabel(Keyed):
    """The label of an opened submission for one item and criterion; it has no probabilities."""

    item_id: str
    criterion: str
    preference: Preference
    text: str | None = None

    @property
    def explanation(self) -> Explanation | None:
        """Its explanation, which is for its label."""
        return Explanation(self.text, self.preference) if self.text else None

    def explanation_for(self, _label: Preference | None) -> Explanation | None:
        """The only explanation that there is, for any label."""
        return self.explanation


class Origin(StrEnum):
    """How an annotator came to the item that they labelled: the order of the list, or their own choice.

    RANDOM: in the order of a random sample, with nothing omitted above; CHOSEN: by a filter, a search or
    another page, or out of the turn of a random sample.
    """

    UNCERTAINTY = "doubt"
    DATASET = "dataset"
    DISAGREEMENT = "disagreement"
    RANDOM = "random"
    CHOSEN = "chosen"


class ReviewState(StrEnum):
    """How far an annotator is with an item; each item is to do until that annotator changes it."""

    TO_DO = "to_do"
    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Agreement:
    """A judge model's verdict on an explanation: P(yes) and P(no), 0 to 1, out of its whole vocabulary."""

    p_yes: float
    p_no: float

    @property
    def agrees(self) -> bool:
        """True where yes is likelier than no."""
        return self.p_yes > self.p_no

    @property
    def share(self) -> float:
        """P(yes) among yes and no, 0 to 1."""
        return self.p_yes / self.answer_mass

    @property
    def answer_mass(self) -> float:
        """Share (0 to 1) of all probability that yes and no hold; low: the question was not understood."""
        return self.p_yes + self.p_no


@dataclass(frozen=True)
class Unscored(Keyed):
    """A judgment that could not be made, with the reason; never a default label.

    `text`: the explanation that a submission gives all the same.
    """

    item_id: str
    criterion: str
    reason: str
    text: str | None = None


AnyJudgment = Judgment | SubmittedLabel | Unscored
"""The effective judgment of one item and criterion of a run."""


def label_of(judgment: AnyJudgment) -> Preference | None:
    """A judge's verdict on an item; None where it could not be scored."""
    return None if isinstance(judgment, Unscored) else judgment.preference
