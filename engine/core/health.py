"""The health of a judge: whether a run judged at all, and the signs that speak against it.

Knows: signs and verdicts. Does not know: how a sign is measured, from where on it counts, who shows it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.core.formatting import counted
from engine.core.remedies import Remedy


class Sign(StrEnum):
    """What speaks against a judge. The value is its name in JSON."""

    UNSCORED = "unscored"
    FORMAT_MASS = "format_mass"
    WAY_MASS = "format_mass_of_a_way"
    FLIPPED = "flipped"
    ONE_LABEL = "one_label"
    UNEXPLAINED = "unexplained"
    REPEATED = "repeated_sentences"
    CUT = "cut"
    NAMELESS = "names_no_response"


class HealthVerdict(StrEnum):
    """What all signs say together. The value is its name in JSON."""

    TOO_FEW = "too_few_items"
    JUDGES = "judges"
    LOOK = "look_closely"
    DOES_NOT_JUDGE = "does_not_judge"


@dataclass(frozen=True)
class Symptom:
    """A sign that was found.

    `values`: what was measured (0 to 1) where it is beyond `limit`, by criterion; by the label as the model
    saw the responses for ONE_LABEL, by the way of asking for WAY_MASS. `serious`: whether it says by itself
    that the model did not judge. `text`: a sentence. `sure`: no matter of chance.
    """

    sign: Sign
    values: Mapping[str, float]
    limit: float
    serious: bool
    text: str
    remedy: Remedy
    sure: bool = True


@dataclass(frozen=True)
class Health:
    """What was found in the judgments of `items` items; `enough`: whether these are enough for a verdict. Of
    too few, the symptoms are only those that are plain already. `unsure`: beyond a limit, but perhaps by
    chance; where there is nothing else, the items are too few. `whole`: of how many items these are some, 0
    where all were looked at.
    """

    items: int
    enough: bool
    symptoms: tuple[Symptom, ...] = ()
    unsure: tuple[Symptom, ...] = ()
    whole: int = 0

    @property
    def verdict(self) -> HealthVerdict:
        """One serious sign is enough."""
        if not self.enough:
            return HealthVerdict.TOO_FEW
        if any(symptom.serious for symptom in self.symptoms):
            return HealthVerdict.DOES_NOT_JUDGE
        return HealthVerdict.LOOK if self.symptoms else HealthVerdict.JUDGES

    @property
    def in_short(self) -> str:
        """The verdict in a few words, without the signs; empty where nothing speaks against the judge."""
        match self.verdict:
            case HealthVerdict.LOOK:
                return "The model may not judge as it should."
            case HealthVerdict.DOES_NOT_JUDGE:
                return "The model does not judge: do not use its labels."
            case HealthVerdict.TOO_FEW if self.symptoms:
                return "The items are too few to judge the model by, but what they show speaks against it."
            case _:
                return ""

    @property
    def headline(self) -> str:
        """The verdict in a sentence."""
        part = f"{self.items:,} of " if self.whole > self.items else ""
        whole = max(self.whole, self.items)
        items = f"{part}{counted(whole, 'item', 'items')}"
        match self.verdict:
            case HealthVerdict.TOO_FEW:
                said = f"Whether the model judges cannot be said yet: {items} are too few."
                return f"{said} But in what it gave for them:" if self.symptoms else said
            case HealthVerdict.JUDGES:
                answers = f"{part}{counted(whole, 'answer', 'answers')}"
                return f"No technical problem in the {answers}{' that were looked at' if part else ''}."
            case _:
                return f"{self.in_short} In what it gave for {items}:"

    @property
    def doubted(self) -> bool:
        """Whether something was found that a person must know before the labels are used."""
        return bool(self.symptoms)

    def remedies(self, word: Callable[[Remedy], str] = str) -> str:
        """What to do about the signs, each remedy once; empty where there is none."""
        return " ".join(dict.fromkeys(word(symptom.remedy) for symptom in self.symptoms))

    def sentences(self, word: Callable[[Remedy], str] = str) -> list[str]:
        """The verdict, each sign, and what to do, worded by whoever shows it."""
        remedies = self.remedies(word)
        signs = [f"- {symptom.text}" for symptom in self.symptoms]
        signs += [f"- It may be chance: {symptom.text}" for symptom in self.unsure]
        return [self.headline, *signs, *([f"What to do: {remedies}"] if remedies else [])]

    def as_json(self) -> dict[str, Any]:
        """What was found, as plain values; what to do about it is for people alone."""
        return {
            "verdict": self.verdict.value,
            "items": self.items,
            "signs": [
                {
                    "sign": symptom.sign.value,
                    "serious": symptom.serious,
                    "sure": symptom.sure,
                    "limit": symptom.limit,
                    "values": dict(symptom.values),
                    "text": symptom.text,
                }
                for symptom in (*self.symptoms, *self.unsure)
            ],
        }


NOT_LOOKED_AT = Health(0, enough=False)
"""Of a judge that nobody has looked at yet."""
