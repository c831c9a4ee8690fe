"""Items and what is said of them: preferences, orders, ways of asking, human labels, predictions.

Knows: the words of the field (item, preference, human label, order, way of asking, gold, prediction).
Does not know: files, models, how anything is computed.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Preference(StrEnum):
    """Which response a judge, human or model, prefers on one criterion."""

    A = "A"
    B = "B"
    BOTH_GOOD = "both_good"
    BOTH_BAD = "both_bad"

    @property
    def swapped(self) -> "Preference":
        """The same preference with the two responses exchanged."""
        return _SWAPPED[self]


_SWAPPED = {
    Preference.A: Preference.B,
    Preference.B: Preference.A,
    Preference.BOTH_GOOD: Preference.BOTH_GOOD,
    Preference.BOTH_BAD: Preference.BOTH_BAD,
}


PREFERENCES: tuple[Preference, ...] = tuple(Preference)


class Tie(StrEnum):
    """A tie of which nobody said whether both responses are good or bad: people's label, never a judge's."""

    TIE = "tie"

    @property
    def swapped(self) -> "Tie":
        """The same: it speaks of both responses alike."""
        return self


HumanLabel = Preference | Tie
"""What people may say of an item on one criterion."""

HUMAN_LABELS: tuple[HumanLabel, ...] = (*PREFERENCES, Tie.TIE)
TIES = (Preference.BOTH_GOOD, Preference.BOTH_BAD)
"""The ties that a judge may give: of each it is said whether both responses are good."""


def written_label(text: str) -> HumanLabel:
    """The human label that is written so. ValueError for any other text."""
    return Tie.TIE if text == Tie.TIE else Preference(text)


def agree(one: HumanLabel | None, other: HumanLabel | None) -> bool:
    """Whether two labels agree, None being one of its own: the one place that says what a tie agrees with.

    Both `both_good` and `both_bad` agree with a tie of which nobody said more; not with each other.
    """
    return one is other or (one is Tie.TIE and other in TIES) or (other is Tie.TIE and one in TIES)


def agreeing(human: HumanLabel) -> tuple[Preference, ...]:
    """The labels of a judge that agree with a human one."""
    return tuple(label for label in PREFERENCES if agree(label, human))


def probability_of(human: HumanLabel, probabilities: Sequence[float]) -> float:
    """The probability of what agrees with a human label; `probabilities`: in the order of PREFERENCES."""
    return sum(probabilities[PREFERENCES.index(label)] for label in agreeing(human))


def certain(label: Preference) -> tuple[float, ...]:
    """The probabilities, in the order of PREFERENCES, of a label that came without any: 1 for itself."""
    return tuple(float(each is label) for each in PREFERENCES)


def labels_beside(found: Container[Any]) -> tuple[HumanLabel, ...]:
    """The rows that human labels are counted in: the four, and `tie` where any is one."""
    return HUMAN_LABELS if Tie.TIE in found else PREFERENCES


def majority(labels: Sequence[HumanLabel]) -> HumanLabel | None:
    """What more than half of some labels say; None where no label has so many.

    Where more than half are ties, but of no one kind, it is a tie of which nobody said more.
    """
    for label, count in Counter(labels).items():
        if 2 * count > len(labels):
            return label
    ties = sum(agree(label, Tie.TIE) for label in labels)
    return Tie.TIE if 2 * ties > len(labels) else None


class Order(StrEnum):
    """Which response the model sees first."""

    AB = "AB"
    BA = "BA"

    def arrange(self, a: str, b: str) -> tuple[str, str]:
        """The two responses in the order in which the model sees them."""
        return (a, b) if self is Order.AB else (b, a)


class Way(StrEnum):
    """A way of asking a model which response is better on a criterion."""

    LETTERS = "letters"
    PERMUTED = "permuted"
    ABSOLUTE = "absolute"
    GRADED = "graded"
    THINKING = "thinking"


@dataclass(frozen=True)
class Gold:
    """What people said of one item on one criterion; each part may be missing.

    `annotators`: where several labelled it, what each of them said, by name; `label` is then their majority,
    or what the file gives beside them.
    """

    label: HumanLabel | None = None
    explanation: str | None = None
    annotators: Mapping[str, HumanLabel] = field(default_factory=dict)

    @property
    def shares(self) -> dict[HumanLabel, float]:
        """How many of the annotators gave each label, 0 to 1 and 1 together; empty without annotators."""
        counts = Counter(self.annotators.values())
        return {label: counts[label] / counts.total() for label in HUMAN_LABELS if label in counts}

    def said_json(self) -> dict[str, Any]:
        """What the annotators said, as plain values: their majority, the shares of labels, who gave which."""
        return {
            "label": self.label,
            "shares": {label.value: share for label, share in self.shares.items()},
            "annotators": {name: label.value for name, label in self.annotators.items()},
        }


@dataclass(frozen=True)
class Item:
    """One instruction with two responses and, by criterion name, the human labels that are known."""

    id: str
    instruction: str
    output_a: str
    output_b: str
    gold: Mapping[str, Gold] = field(default_factory=dict)

    @property
    def content_hash(self) -> str:
        """SHA-256 (hex) of the three texts; neither the id nor the labels take part."""
        return digest([self.instruction, self.output_a, self.output_b])

    @property
    def group(self) -> str:
        """By what items belong together, in intervals, folds and draws: their instruction. One that is empty
        or blank says nothing of what was asked, and such an item is by itself.
        """
        return self.instruction if self.instruction.strip() else f"{self.id}\0{self.content_hash}"

    @property
    def lengths(self) -> tuple[int, int]:
        """Of the responses A and B, in characters."""
        return len(self.output_a), len(self.output_b)

    @property
    def letters(self) -> int:
        """The length of the three texts together."""
        return len(self.instruction) + len(self.output_a) + len(self.output_b)


def digest(value: object) -> str:
    """SHA-256 (hex) of a value's canonical JSON."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True)
class Prediction:
    """What was predicted for one item on one criterion; no preference means unscored."""

    preference: Preference | None = None
    explanation: str | None = None
