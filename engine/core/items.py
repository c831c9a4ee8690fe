"""Items and what is said of them: preferences, orders, ways of asking, human labels, predictions.

Knows: the words of the field (item, preference, order, way of asking, gold, prediction).
Does not know: files, models, how anything is computed.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


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
    """What a human said of one item on one criterion; either part may be missing."""

    preference: Preference | None = None
    explanation: str | None = None


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


def digest(value: object) -> str:
    """SHA-256 (hex) of a value's canonical JSON."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True)
class Prediction:
    """What was predicted for one item on one criterion; no preference means unscored."""

    preference: Preference | None = None
    explanation: str | None = None
