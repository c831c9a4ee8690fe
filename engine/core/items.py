"""Items and their labels; ids and explanations that pandas would not give back, found without pandas."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

Key = TypeVar("Key")
Thing = TypeVar("Thing")


class Preference(StrEnum):
    """Which response a judge, human or model, prefers on one criterion."""

    A = "A"
    B = "B"
    BOTH_GOOD = "both_good"
    BOTH_BAD = "both_bad"

    @property
    def swapped(self) -> "Preference":
        return {Preference.A: Preference.B, Preference.B: Preference.A}.get(self, self)


PREFERENCES: tuple[Preference, ...] = tuple(Preference)


class Tie(StrEnum):
    """A tie that leaves open whether both responses are good or bad: a human label, never a judge's."""

    TIE = "tie"

    @property
    def swapped(self) -> "Tie":
        return self


HumanLabel = Preference | Tie  # what an annotator may give an item on one criterion

HUMAN_LABELS: tuple[HumanLabel, ...] = (*PREFERENCES, Tie.TIE)
_BY_TEXT: dict[str, HumanLabel] = {label.value: label for label in HUMAN_LABELS}
TIES = (Preference.BOTH_GOOD, Preference.BOTH_BAD)
"""The ties that a judge may give: each says whether both responses are good."""


def written_label(text: str) -> HumanLabel:
    """The human label of this text. ValueError for any other text."""
    return _BY_TEXT.get(text) or Preference(text)


def agree(one: HumanLabel | None, other: HumanLabel | None) -> bool:
    """Whether two labels agree, None being one of its own: the one place that defines what a tie agrees with.
    Both `both_good` and `both_bad` agree with an unspecified tie; not with each other.
    """
    return one is other or (one is Tie.TIE and other in TIES) or (other is Tie.TIE and one in TIES)


def agreeing(human: HumanLabel) -> tuple[Preference, ...]:
    return tuple(label for label in PREFERENCES if agree(label, human))


def probability_of(human: HumanLabel, probabilities: Sequence[float]) -> float:
    """The probability of all labels that agree with a human one; `probabilities`: as in PREFERENCES."""
    return sum(probabilities[PREFERENCES.index(label)] for label in agreeing(human))


def certain(label: HumanLabel) -> tuple[float, ...]:
    """The probabilities of PREFERENCES where a label is certain; a tie of no kind may be either."""
    meant = agreeing(label)
    return tuple((each in meant) / len(meant) for each in PREFERENCES)


def labels_beside(found: Container[Any]) -> tuple[HumanLabel, ...]:
    """The rows of a count of labels: the four, and `tie` if any is one."""
    return HUMAN_LABELS if Tie.TIE in found else PREFERENCES


def majority(labels: Sequence[HumanLabel]) -> HumanLabel | None:
    """The label of more than half; an unspecified tie if these are ties of different kinds, else None."""
    for label, count in Counter(labels).items():
        if 2 * count > len(labels):
            return label
    ties = sum(agree(label, Tie.TIE) for label in labels)
    return Tie.TIE if 2 * ties > len(labels) else None


class Order(StrEnum):
    AB = "AB"
    BA = "BA"

    def arrange(self, a: str, b: str) -> tuple[str, str]:
        return (a, b) if self is Order.AB else (b, a)


class Method(StrEnum):
    """How a model is asked. The values are those of stores, files and identities of runs, and stay."""

    LABEL_TOKENS = "letters"
    PERMUTED_LABELS = "permuted"
    POINTWISE_YES_NO = "absolute"
    POINTWISE_GRADE = "graded"
    CHAIN_OF_THOUGHT = "thinking"

    @property
    def title(self) -> str:  # type: ignore[override]
        """`label tokens`, `pointwise yes/no`."""
        return _TITLES[self]

    @property
    def option(self) -> str:
        return "permuted-labels" if self is Method.PERMUTED_LABELS else re.sub("[ /]", "-", self.title)


_TITLES = {
    Method.LABEL_TOKENS: "label tokens",
    Method.PERMUTED_LABELS: "permuted label tokens",
    Method.POINTWISE_YES_NO: "pointwise yes/no",
    Method.POINTWISE_GRADE: "pointwise grade",
    Method.CHAIN_OF_THOUGHT: "chain of thought",
}
METHOD_TITLES = {method.value: method.title for method in Method}
"""The names for people of the values that stores and files hold."""


@dataclass(frozen=True)
class Gold:
    """The human label and explanation of one item on one criterion; each part may be missing."""

    label: HumanLabel | None = None
    explanation: str | None = None
    annotators: Mapping[str, HumanLabel] = field(default_factory=dict)
    """If several labelled it, by name; `label` is then their majority, or the one that the file gives."""

    @property
    def shares(self) -> dict[HumanLabel, float]:
        """The share of the annotators that gave each label, 0 to 1; empty without annotators."""
        counts = Counter(self.annotators.values())
        return {label: counts[label] / counts.total() for label in HUMAN_LABELS if label in counts}

    def said_json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "shares": {label.value: share for label, share in self.shares.items()},
            "annotators": {name: label.value for name, label in self.annotators.items()},
        }


BACKGROUND = ("context", "reference")
"""The texts of an item that a judge sees by choice: what responses were to rely on; a correct answer."""


def content_hash(instruction: str, output_a: str, output_b: str) -> str:
    """SHA-256 (hex) of the three texts of an item, without its id, labels and BACKGROUND: what annotators and
    runs say of a pair belongs together whether a judge saw these or not, which a run's identity tells.
    """
    return hashlib.sha256(_list_of(instruction, output_a, output_b)).hexdigest()


@dataclass(frozen=True, slots=True)
class Item:
    """One instruction with two responses and, by criterion name, the human labels that are known."""

    id: str
    instruction: str
    output_a: str
    output_b: str
    gold: Mapping[str, Gold] = field(default_factory=dict)
    context: str = ""
    reference: str = ""

    @property
    def content_hash(self) -> str:
        return content_hash(self.instruction, self.output_a, self.output_b)

    @property
    def background(self) -> dict[str, str]:
        """By name of BACKGROUND what it has of it."""
        return {name: text for name in BACKGROUND if (text := getattr(self, name))}

    @property
    def group(self) -> str:
        """What items are grouped by: their instruction; without one, each is its own."""
        return self.instruction if self.instruction.strip() else f"{self.id}\0{self.content_hash}"

    @property
    def lengths(self) -> tuple[int, int]:
        return len(self.output_a), len(self.output_b)

    @property
    def letters(self) -> int:
        return len(self.instruction) + len(self.output_a) + len(self.output_b)


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    found: dict[Key, list[Thing]] = {}
    for each in things:
        found.setdefault(key(each), []).append(each)
    return found


def digest(value: object) -> str:
    """SHA-256 (hex) of a value's canonical JSON."""
    return hashlib.sha256(_CANONICAL.encode(value).encode("ascii")).hexdigest()


def digest_of_lists(lists: Iterable[Sequence[str]]) -> str:
    """`digest` of a list of lists of texts, one by one: at once, all threads would wait for a long one."""
    found, before = hashlib.sha256(), b"["
    for texts in lists:
        found.update(before + _list_of(*texts))
        before = b","
    found.update(b"]" if before == b"," else b"[]")
    return found.hexdigest()


def _list_of(*texts: str) -> bytes:
    """Canonical JSON of a list of texts, in three quarters of the time: a text alone is no work to begin."""
    return f"[{','.join(map(_CANONICAL.encode, texts))}]".encode("ascii")


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Prediction:
    """The prediction for one item on one criterion; no preference means unscored.

    Another judge may say `tie` alone. `confidence`: how sure it says that it is of the label, 0 to 1.
    """

    preference: HumanLabel | None = None
    explanation: str | None = None
    confidence: float | None = None


# The cells that pandas takes for a missing value, quoted or not.
_MISSING_WORDS = frozenset(
    (
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
        *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)

_NUMBER_OR_TRUTH = re.compile(
    r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*|\s*[+-]?inf(inity)?\s*|true|false", re.I
)
_NEVER_READ_BACK = re.compile("[\0\ud800-\udfff]")


def unsafe_explanation(text: str) -> bool:
    """Whether pandas.read_csv would not give a text back: nothing, `nan`, `7`, `true`, NUL, a surrogate."""
    return bool(text in _MISSING_WORDS or _NUMBER_OR_TRUTH.fullmatch(text) or _NEVER_READ_BACK.search(text))


def unwritable_ids(ids: Sequence[str]) -> list[str]:
    return [item_id for item_id in ids if item_id in _MISSING_WORDS or _NEVER_READ_BACK.search(item_id)]
