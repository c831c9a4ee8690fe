"""The records that the rooms of the engine hand to each other: raw predictions, judgments, calibrations, and
which items a fit learned from, by short hashes. Does not know: files, models, how anything is computed.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, NamedTuple, TypeGuard, cast

import msgspec

from engine.core.errors import Hint, SetupError, Step
from engine.core.formatting import words
from engine.core.items import HumanLabel, Item, Method, Order, Prediction, Preference, digest
from engine.core.tables import Estimate

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
    """That of an item on a criterion of a run. Equal to the plain pair in this order."""

    item_id: str
    criterion: str


class Keyed:
    item_id: str
    criterion: str

    @property
    def key(self) -> JudgmentKey:
        return JudgmentKey(self.item_id, self.criterion)


@dataclass(frozen=True)
class AnswerLogProbs:
    """The model's answer to one question of a method, for the responses as it saw them."""

    question: str  # the name that the method gives it
    log_probs: tuple[float, ...]  # natural, of its answers, in its order, out of the whole vocabulary
    thought: str = ""  # what the model wrote before it
    cut: bool = False  # a length limit ended that

    @property
    def mass(self) -> float:
        return sum(map(math.exp, self.log_probs))


@dataclass(frozen=True)
class RawPrediction:
    """The model's answer for one item, criterion, order and method. `log_probs`: natural-log probabilities of
    the four labels, in the order of `PREFERENCES`, as the model saw the responses: A is the first one shown.
    """

    order: Order
    log_probs: tuple[float, float, float, float]
    method: Method = Method.LABEL_TOKENS
    answers: tuple[AnswerLogProbs, ...] = ()  # that it was made of, but for label tokens and in a jury
    judge: int = 0  # which of a jury's judges it is of, from 1; 0 in a run of one
    label_alone: bool = False  # in a jury, a submission's: no order, no method, with a stated certainty

    @property
    def answer_mass(self) -> float:
        """Share (0 to 1) of all probability that the labels hold; low: the format was not understood."""
        return sum(map(math.exp, self.log_probs))


@dataclass(frozen=True)
class Explanation:
    """Why, in a few sentences, written for `preference`. `cut` where the length limit ended it."""

    text: str
    preference: HumanLabel
    cut: bool = False


@dataclass(frozen=True)
class Shortening:
    """Characters omitted of the middle of each response so that the item fits the context."""

    left_out_a: int
    left_out_b: int

    @property
    def in_words(self) -> str:
        of_a, of_b = f"{self.left_out_a:,} characters of response A", f"{self.left_out_b:,} of response B"
        return f"Omitted from the middle: {of_a}, {of_b}."


@dataclass(frozen=True)
class JudgedItem:
    """All that the model gave for one item, raw: decisions are derived from it. Mappings are by criterion;
    each has raw predictions or a reason in `unscored`. `given`: the labels of a submission, in their place.
    """

    position: int  # place in the dataset, from 0
    item_id: str
    content_hash: str
    raw_predictions: Mapping[str, tuple[RawPrediction, ...]]
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)
    shortening: Shortening | None = None
    seconds: float = 0.0  # wall time of its share of the group
    tokens_read: int = 0
    tokens_generated: int = 0
    rewritten: Mapping[tuple[str, HumanLabel], Explanation] = field(default_factory=dict)
    """Explanations written later for another label; the first ones stay in `explanations`."""
    given: Mapping[str, Prediction] = field(default_factory=dict)
    lengths: tuple[int, int] | None = None  # of the responses, in characters; earlier versions kept none

    def only(self, is_kept: Callable[[RawPrediction], bool]) -> "JudgedItem":
        kept = {name: tuple(filter(is_kept, own)) for name, own in self.raw_predictions.items()}
        return replace(self, raw_predictions=kept)

    def of_method(self, method: Method) -> "JudgedItem":
        return self.only(lambda reading: reading.method is method)


LARGEST_FACTOR = 1e6  # what a calibration may multiply by or add at most: fitted ones stay far below


class FeatureKind(StrEnum):
    RAW_PREDICTIONS = "readings"  # of one judge and method, in both orders or in one
    CRITERION = "criterion"  # the mean of the raw predictions on another criterion
    LENGTHS = "lengths"  # of the two responses


class Feature(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of these; the fields that its kind does not need are empty."""

    kind: FeatureKind
    judge: Annotated[int, msgspec.Meta(ge=0)] = 0  # its number in a jury, 0 in a run of one judge
    method: Method | None = msgspec.field(name="way", default=None)
    order: Order | None = None  # None for both together
    criterion: str = ""

    @property
    def in_words(self) -> str:
        """`judge 2, graded`, `the readings on safety`, `the lengths of the responses`."""
        if self.kind is FeatureKind.LENGTHS:
            return "the lengths of the responses"
        if self.kind is FeatureKind.CRITERION:
            return f"the raw predictions on {words(self.criterion)}"
        judge = f"judge {self.judge}" if self.judge else ""
        return ", ".join(filter(None, (judge, self.method and self.method.title, self.order)))


LENGTHS = Feature(FeatureKind.LENGTHS)


def parts_in_words(parts: Sequence[Feature]) -> str:
    """What is looked at: `each of letters; graded; and the readings on safety`; empty for nothing."""
    read = [part for part in parts if part.kind is FeatureKind.RAW_PREDICTIONS]
    beside = [part.in_words for part in parts if part.kind is not FeatureKind.RAW_PREDICTIONS]
    own = [f"each of {'; '.join(part.in_words for part in read)}"] if read else []
    *others, last = [*own, *beside] or [""]
    return f"{'; '.join(others)}; and {last}" if others else last


_DIGITS = 12  # 48 bits: among 10,000 items two share one in 1 of 5 million cases
ShortHash = Annotated[str, msgspec.Meta(pattern=f"^[0-9a-f]{{{_DIGITS}}}$")]


def short_hash(of: str) -> str:
    return of[:_DIGITS]


@dataclass(frozen=True)
class Overlap:
    """Of `of` items so many took part in a fit; `instructions` others have an instruction that did."""

    items: int
    instructions: int
    of: int

    def in_words(self, fitted: str) -> str:
        """`59 of these 60 items took part in the fit of FITTED.`; empty where nothing is in common."""
        have = f"{'has' if self.instructions == 1 else 'have'} an instruction that"
        of = f"of these {self.of:,} items"
        if not self.items:
            some = f"{self.instructions:,} {of} {have} took part in the fit of {fitted}."
            return some if self.instructions else ""
        more = f" {self.instructions:,} more {have} did." if self.instructions else ""
        return f"{self.items:,} {of} took part in the fit of {fitted}.{more}"


@dataclass(frozen=True)
class FittedOn:
    """Short hashes of the items that a fit learned from, in their order, and of their instructions."""

    items: tuple[ShortHash, ...]
    instructions: tuple[ShortHash, ...]

    def __post_init__(self) -> None:
        if len(set(self.items)) < len(self.items):
            raise ValueError("an item took part twice")

    @classmethod
    def of(cls, items: Iterable[Item]) -> "FittedOn":
        learned = {short_hash(item.content_hash): item.group for item in items}
        return cls(tuple(learned), tuple(sorted({short_hash(digest(group)) for group in learned.values()})))

    def overlap(self, items: Iterable[Item]) -> Overlap:
        """How many of some items took part; each is counted as often as it occurs."""
        own, instructions = frozenset(self.items), frozenset(self.instructions)
        count, took_part, others = 0, 0, 0
        for item in items:  # one by one: a dataset's may be more than should be held at once
            count += 1
            if short_hash(item.content_hash) in own:
                took_part += 1
            elif short_hash(digest(item.group)) in instructions:
                others += 1
        return Overlap(took_part, others, count)

    def overlap_of_hashes(self, content_hashes: Collection[str]) -> Overlap:
        """The same by hashes of content; of instructions nothing is said."""
        own = frozenset(self.items)
        return Overlap(sum(short_hash(each) in own for each in content_hashes), 0, len(content_hashes))


Share = Annotated[float, msgspec.Meta(ge=-1, le=1)]  # a share, or a difference of shares


class KeptFit(msgspec.Struct, frozen=True, kw_only=True):
    """What weights and a tie threshold keep of their fit to human overall labels. `dataset`: the labels'
    file; `agreement`: the share of its items that had the human winner, each by what was fitted without it.
    """

    dataset: str
    agreement: Share
    agreement_interval: tuple[Share, Share] | None = None  # which older files lack
    fitted_on: FittedOn = msgspec.field(name="took_part")

    def in_words(self, overlap: Overlap, weights: str = "the weights") -> str:
        """How much of what is scored took part in the fit, and what that means; empty where nothing did."""
        said = overlap.in_words(weights)
        if not said:
            return ""
        agreement = Estimate(self.agreement, self.agreement_interval)
        return (
            f"{said} On these the weights look better than they are; cross-validated on"
            f" {self.dataset}, {agreement} % of the winners agree with the human ones."
        )


@dataclass(frozen=True)
class CriterionCalibration:
    """How the averaged log-probabilities of one criterion become calibrated: scale x log-probability + bias,
    and factor x value for each of the `parts`.

    `scale`: 0 or more. `biases`: in the order of `PREFERENCES`, natural-log units. No number is beyond
    LARGEST_FACTOR. `strength`: how strongly it was shrunk towards the class prior, None for the prior only
    (scale 0), 0 for raw predictions as they are (scale 1, nothing fitted); `penalty_of_features`: how
    strongly the factors were shrunk towards 0; `part_means` replace the parts of an item without them.
    `items`: labels it was fitted on. `first_order`: the same for items read in the first order alone, where
    that is not all of them; None in older files.

    `folds`: fitted in the same way without a part of these items each; `fold_of`: by short hash of an item's
    content, the place of the one fitted without it and all others of its instruction.
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
        """What decides items for a judge that reads the first order alone; None where it is not known."""
        if self.first_order is None:
            return None
        folds = tuple(fold.first_order for fold in self.folds if fold.first_order is not None)
        whole = len(folds) == len(self.folds)
        return replace(self.first_order, folds=folds if whole else (), fold_of=self.fold_of if whole else {})

    def fold(self, content_hash: str) -> int | None:
        """The place of what decides an item: it was fitted without it. None for one that took no part."""
        return self.fold_of.get(short_hash(content_hash))

    def by_fold(self, place: int | None) -> "CriterionCalibration":
        return self if place is None else self.folds[place]

    def for_item(self, content_hash: str) -> "CriterionCalibration":
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
    """Both raw predictions of one item and criterion put together. `probabilities`: of the four labels,
    un-swapped, averaged, calibrated where the run is, summing to 1, in the order of `PREFERENCES`.
    `answer_mass`: the mean over all that was read; None in a jury of labels alone.
    """

    item_id: str
    criterion: str
    preference: Preference
    probabilities: tuple[float, float, float, float]
    flipped: bool | None  # the two orders alone disagree; None in one order only, and in a jury
    answer_mass: float | None
    raw_predictions: tuple[RawPrediction, ...]
    explanations: tuple[Explanation, ...] = ()
    place_decides: bool | None = None
    """The calibrated label would be for another response had the two changed places; None in one order."""
    judges_differ: bool | None = None  # those of a jury that gave a prediction, alone
    judges: int | None = None  # of a jury, that gave a prediction
    judges_missing: int = 0  # that gave none

    @property
    def explanation(self) -> Explanation | None:
        return self.explanation_for(self.preference)

    def explanation_for(self, label: HumanLabel | None) -> Explanation | None:
        """The latest that the model wrote for a label; its first text where it wrote none for it."""
        for explanation in reversed(self.explanations):
            if explanation.preference is label:
                return explanation
        return self.explanations[0] if self.explanations else None

    @property
    def stale(self) -> bool:
        """The explanation was written for another label than the one decided now."""
        return self.explanation is not None and self.explanation.preference is not self.preference


@dataclass(frozen=True)
class SubmittedLabel(Keyed):
    """The label of an opened submission for one item and criterion; it has no probabilities."""

    item_id: str
    criterion: str
    preference: HumanLabel
    text: str | None = None

    @property
    def explanation(self) -> Explanation | None:
        return Explanation(self.text, self.preference) if self.text else None

    def explanation_for(self, _label: HumanLabel | None) -> Explanation | None:
        return self.explanation


class Origin(StrEnum):
    """How an annotator came to the item that they labelled: the order of the list, or their own choice."""

    UNCERTAINTY = "doubt"
    DATASET = "dataset"
    DISAGREEMENT = "disagreement"
    RANDOM = "random"  # in the order of a random sample, with nothing omitted above
    CHOSEN = "chosen"  # by a filter, a search or another page, or out of the turn of a random sample


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
        return self.p_yes > self.p_no

    @property
    def share(self) -> float:
        return self.p_yes / self.answer_mass

    @property
    def answer_mass(self) -> float:
        """Share (0 to 1) of all probability that yes and no hold; low: it was not understood."""
        return self.p_yes + self.p_no


@dataclass(frozen=True)
class Unscored(Keyed):
    """A judgment that could not be made, with the reason; never a default label."""

    item_id: str
    criterion: str
    reason: str
    text: str | None = None  # the explanation that a submission gives all the same


AnyJudgment = Judgment | SubmittedLabel | Unscored
"""The effective judgment of one item and criterion of a run."""


def label_of(judgment: AnyJudgment) -> HumanLabel | None:
    return None if isinstance(judgment, Unscored) else judgment.preference
