"""The records that the rooms of the engine hand to each other: frozen, checked when made.

Knows: the words of the field (item, criterion, preference, order, reading, judgment).
Does not know: files, models, how anything is computed.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeGuard, cast

from engine.core.errors import SetupError
from engine.core.fitted_on import short_hash
from engine.core.head_parts import HeadPart
from engine.core.items import Order, Prediction, Preference, Way
from engine.core.remedies import Remedy, Step

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
    """Something that is said of one judgment."""

    item_id: str
    criterion: str

    @property
    def key(self) -> JudgmentKey:
        """Of which one."""
        return JudgmentKey(self.item_id, self.criterion)


@dataclass(frozen=True)
class RawAnswer:
    """What the model said to one question of a way, as it saw the responses.

    `question`: the name that the way gives it. `log_probs`: natural-log probabilities of its answers, in the
    way's order, out of the model's whole vocabulary. `thought`: what the model wrote before it, empty for
    none; `cut` where a length limit ended that.
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
class Reading:
    """What the model said of one item and criterion in one order and way.

    `log_probs`: natural-log probabilities of the four labels, in the order of `PREFERENCES`, out of the
    model's whole vocabulary, as the model saw the responses: A is the first one shown. Not yet un-swapped.
    `answers`: what they were made of, by the way; empty for Way.LETTERS, which reads them as they are, and in
    a panel. `judge`: which of a panel's judges said it, from 1; 0 in a run of one judge. `label_alone`: of a
    panel, what a submission's label is taken for: nobody read it in an order or a way, and its certainty is
    one that was stated.
    """

    order: Order
    log_probs: tuple[float, float, float, float]
    way: Way = Way.LETTERS
    answers: tuple[RawAnswer, ...] = ()
    judge: int = 0
    label_alone: bool = False

    @property
    def format_mass(self) -> float:
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
    """Characters left out of the middle of each response so that the item fits the context."""

    left_out_a: int
    left_out_b: int

    @property
    def in_words(self) -> str:
        """What is left out, in a sentence."""
        of_a, of_b = f"{self.left_out_a:,} characters of response A", f"{self.left_out_b:,} of response B"
        return f"Left out of the middle: {of_a}, {of_b}."


@dataclass(frozen=True)
class JudgedItem:
    """All that the model gave for one item, raw: decisions are derived from it.

    `position`: place in the dataset, from 0. `readings`, `explanations`, `unscored` (the reason) by
    criterion; each criterion has readings or a reason. `seconds`: wall time of its share of the group.
    `lengths`: of the responses A and B, in characters; None where an earlier version judged. `rewritten`:
    explanations written later for another label, by criterion and label; the first ones stay in
    `explanations`. `given`: the labels and explanations of an opened submission, by criterion, in the place
    of readings; none of an item that it does not answer, which is unscored on all of them.
    """

    position: int
    item_id: str
    content_hash: str
    readings: Mapping[str, tuple[Reading, ...]]
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    unscored: Mapping[str, str] = field(default_factory=dict)
    shortening: Shortening | None = None
    seconds: float = 0.0
    tokens_read: int = 0
    tokens_generated: int = 0
    rewritten: Mapping[tuple[str, Preference], Explanation] = field(default_factory=dict)
    given: Mapping[str, Prediction] = field(default_factory=dict)
    lengths: tuple[int, int] | None = None

    def keeping(self, is_kept: Callable[[Reading], bool]) -> "JudgedItem":
        """The same with some of its readings alone."""
        return replace(
            self, readings={name: tuple(filter(is_kept, own)) for name, own in self.readings.items()}
        )

    def of_way(self, way: Way) -> "JudgedItem":
        """The same with the readings of one way alone."""
        return self.keeping(lambda reading: reading.way is way)


LARGEST_FACTOR = 1e6
"""What a calibration may multiply by or add at most: fitted ones stay far below."""


@dataclass(frozen=True)
class CriterionCalibration:
    """How the averaged log-probabilities of one criterion become calibrated: scale x log-probability + bias,
    and factor x what it says beside for each of the `parts`.

    `scale`: 0 or more. `biases`: in the order of `PREFERENCES`, natural-log units. No number is beyond
    LARGEST_FACTOR. `strength`: how strongly it was shrunk towards the class frequencies, None for these
    alone (scale 0), 0 for readings as they are (scale 1, nothing fitted); `strength_of_parts`: how strongly
    the factors were shrunk towards 0, None without parts; `part_means`: what each part said in the mean,
    which stands in its place for an item of which it says nothing. `items`: labels it was fitted on.
    `first_order`: the same for items that were read in the first order alone, where that is not all of them;
    None where it is, and in files of before.

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
    parts: Mapping[HeadPart, float] = field(default_factory=dict)
    strength_of_parts: float | None = None
    part_means: Mapping[HeadPart, tuple[float, ...]] = field(default_factory=dict)

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
                Remedy(Step.CALIBRATE_AGAIN),
            )


@dataclass(frozen=True)
class Judgment(Keyed):
    """Both readings of one item and criterion put together.

    `probabilities`: of the four labels, un-swapped, averaged, calibrated where the run is, summing to 1, in
    the order of `PREFERENCES`. `flipped`: whether the two orders alone disagree; None in one order only, and
    in a panel. `judges`: how many of a panel's judges said anything, None in a run of one; `judges_missing`:
    how many nothing; `judges_differ`: whether the former alone would give different labels, None for fewer
    than two. `place_decides`: whether the calibrated label would be for another response had the two changed
    places; None without a calibration, and in one order. `format_mass`: the mean over all that was read; None
    in a panel of labels alone. `explanations`: all that the model wrote.
    """

    item_id: str
    criterion: str
    preference: Preference
    probabilities: tuple[float, float, float, float]
    flipped: bool | None
    format_mass: float | None
    readings: tuple[Reading, ...]
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
    def outdated(self) -> bool:
        """True where the explanation was written for another label than the one decided now."""
        return self.explanation is not None and self.explanation.preference is not self.preference


@dataclass(frozen=True)
class SubmittedLabel(Keyed):
    """What an opened submission says of one item and criterion; of its probabilities nothing is known."""

    item_id: str
    criterion: str
    preference: Preference
    text: str | None = None

    @property
    def explanation(self) -> Explanation | None:
        """Its explanation, which is for its label."""
        return Explanation(self.text, self.preference) if self.text else None

    def explanation_for(self, _label: Preference | None) -> Explanation | None:
        """What it says in the place of an explanation for a label: the only one there is."""
        return self.explanation


class Origin(StrEnum):
    """How a person came to the item that he labelled: by which order of the list, or by himself.

    RANDOM: in the order of a random sample, with nothing left out above; CHOSEN: by a filter, a search or
    another page, or out of the turn of a random sample.
    """

    DOUBT = "doubt"
    DATASET = "dataset"
    DISAGREEMENT = "disagreement"
    RANDOM = "random"
    CHOSEN = "chosen"


@dataclass(frozen=True)
class NewOverride(Keyed):
    """What a person puts in the place of the model's label, explanation or both; None leaves that part.

    `origin`: None where it is not known. `seed`: of the random sample that it was given in; None for that of
    the run. `written_for`: the label that the explanation is of, None for whatever label. `blind`: whether he
    saw nothing of what others, the model and the dataset say; None where that is not known. `settles`:
    whether it is an adjudicator's last word. Checked when it becomes an Override, as it is stored.
    """

    item_id: str
    criterion: str
    preference: Preference | None
    explanation: str | None
    author: str
    origin: Origin | None = None
    seed: int | None = None
    written_for: Preference | None = None
    blind: bool | None = None
    settles: bool = False


@dataclass(frozen=True)
class Override(Keyed):
    """What a person said of one item and criterion of a run in the place of the model.

    No `preference`: the label stays the model's. No `explanation`: the explanation stays the model's. `id`
    grows with each override of a store. `created`, `undone`: in UTC; one that is undone is history. `origin`,
    `blind`: None in stores of earlier versions. `seed`: of the random sample that it was given in, else None.
    `written_for`, `settles`: as of a NewOverride.
    """

    id: int
    item_id: str
    criterion: str
    preference: Preference | None
    explanation: str | None
    author: str
    created: datetime
    undone: datetime | None = None
    origin: Origin | None = None
    seed: int | None = None
    written_for: Preference | None = None
    blind: bool | None = None
    settles: bool = False

    def __post_init__(self) -> None:
        if self.preference is None and not self.explanation:
            raise changes_nothing(self)


def changes_nothing(override: Override | NewOverride) -> SetupError:
    """What is said of an override without label and explanation."""
    return SetupError(
        f"The override of item {override.item_id}, {override.criterion}, changes nothing.",
        "Choose a label, write an explanation, or do both.",
    )


@dataclass(frozen=True)
class Draft(Keyed):
    """An explanation that a person began to write and did not save; without a criterion the item's note.

    `id`: its own name; `created`: in UTC.
    """

    id: str
    item_id: str
    criterion: str
    author: str
    text: str
    created: datetime


class ReviewState(StrEnum):
    """How far a person is with an item; each item is to do until that person says something else."""

    TO_DO = "to_do"
    DONE = "done"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class NewReview:
    """What a person says of an item of a run: `state`, and the labels that he confirms, by criterion.

    No `state`: it stays what it was. A confirmed label is the one in force, or one that he gave blind.
    `origin`, `seed`, `blind`: as of a NewOverride.
    """

    item_id: str
    author: str
    state: ReviewState | None = None
    confirmed: Mapping[str, Preference] = field(default_factory=dict)
    origin: Origin | None = None
    seed: int | None = None
    blind: bool | None = None


@dataclass(frozen=True)
class ReviewMark:
    """The state of an item of a run for one person, from `created` (UTC) until his next mark of it.

    `undone`: since when it is history.
    """

    item_id: str
    author: str
    state: ReviewState
    created: datetime
    undone: datetime | None = None


@dataclass(frozen=True)
class Confirmation(Keyed):
    """A label that a person agrees with, on one item and criterion of a run; not an override. In UTC.

    `origin`, `seed`, `blind`, `undone`: as of an Override.
    """

    item_id: str
    criterion: str
    preference: Preference
    author: str
    created: datetime
    origin: Origin | None = None
    seed: int | None = None
    blind: bool | None = None
    undone: datetime | None = None


@dataclass(frozen=True)
class ItemNote:
    """What a person noted of an item, whichever run judged it: words, tags, both, or nothing any more.

    It stands until his next one of the item, or until it is `undone`. In UTC.
    """

    content_hash: str
    author: str
    text: str
    tags: tuple[str, ...]
    created: datetime
    undone: datetime | None = None


@dataclass(frozen=True)
class Agreement:
    """What a judge model said of an explanation: P(yes) and P(no), 0 to 1, out of its whole vocabulary."""

    p_yes: float
    p_no: float

    @property
    def agrees(self) -> bool:
        """True where yes is likelier than no."""
        return self.p_yes > self.p_no

    @property
    def share(self) -> float:
        """P(yes) among yes and no, 0 to 1."""
        return self.p_yes / self.format_mass

    @property
    def format_mass(self) -> float:
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
"""What stands for one item and criterion in a run."""


def label_of(judgment: AnyJudgment) -> Preference | None:
    """What a judge said of an item; None where it could not be scored."""
    return None if isinstance(judgment, Unscored) else judgment.preference
