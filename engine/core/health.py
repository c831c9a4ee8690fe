"""The health of a judge: whether a run judged at all, and its symptoms; not how these are measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.core.codec import plain
from engine.core.errors import Hint
from engine.core.formatting import counted

_TOLD = ("sign", "serious", "sure", "limit", "values", "text")  # of a symptom, in JSON


class Sign(StrEnum):
    """A kind of problem of a judge. The value is its name in JSON."""

    UNSCORED = "unscored"
    ANSWER_MASS = "format_mass"
    METHOD_MASS = "format_mass_of_a_way"
    FLIPPED = "flipped"
    ONE_LABEL = "one_label"
    UNEXPLAINED = "unexplained"
    REPEATED = "repeated_sentences"
    CUT = "cut"
    NAMELESS = "names_no_response"


class HealthVerdict(StrEnum):
    """The verdict from all signs. The value is its name in JSON."""

    TOO_FEW = "too_few_items"
    JUDGES = "judges"
    LOOK = "look_closely"
    DOES_NOT_JUDGE = "does_not_judge"


@dataclass(frozen=True)
class Symptom:
    sign: Sign
    values: Mapping[str, float]
    """Measured (0 to 1) beyond `limit`, by criterion; of ONE_LABEL by label, of METHOD_MASS by method."""
    limit: float
    serious: bool  # it shows by itself that the model did not judge
    text: str
    hint: Hint
    sure: bool = True  # statistically significant


@dataclass(frozen=True)
class Health:
    """The symptoms in the judgments of `items` items."""

    items: int
    enough: bool  # for a verdict
    symptoms: tuple[Symptom, ...] = ()
    unsure: tuple[Symptom, ...] = ()  # beyond a limit, but perhaps by chance
    whole: int = 0  # of how many items these are some, 0 where all were looked at

    @property
    def verdict(self) -> HealthVerdict:
        if not self.enough:
            return HealthVerdict.TOO_FEW
        if any(symptom.serious for symptom in self.symptoms):
            return HealthVerdict.DOES_NOT_JUDGE
        return HealthVerdict.LOOK if self.symptoms else HealthVerdict.JUDGES

    @property
    def in_short(self) -> str:
        """The verdict without the signs; empty where nothing speaks against the judge."""
        match self.verdict:
            case HealthVerdict.LOOK:
                return "The model may not judge properly."
            case HealthVerdict.DOES_NOT_JUDGE:
                return "The model does not judge: do not use its labels."
            case HealthVerdict.TOO_FEW if self.symptoms:
                return "There are too few items to assess the model, but they already show problems."
            case _:
                return ""

    @property
    def headline(self) -> str:
        part = f"{self.items:,} of " if self.whole > self.items else ""
        whole = max(self.whole, self.items)
        items = f"{part}{counted(whole, 'item', 'items')}"
        match self.verdict:
            case HealthVerdict.TOO_FEW:
                said = f"Too few items to tell whether the model judges: {items}."
                return f"{said} But its answers already show:" if self.symptoms else said
            case HealthVerdict.JUDGES:
                answers = f"{part}{counted(whole, 'answer', 'answers')}"
                return f"No technical problem in the {answers}{' checked' if part else ''}."
            case _:
                return f"{self.in_short} In its answers for {items}:"

    @property
    def doubted(self) -> bool:
        """Something was found that the user must know before using the labels."""
        return bool(self.symptoms)

    def hints(self, word: Callable[[Hint], str] = str) -> str:
        """What to do about the symptoms, each hint once; empty if there is none."""
        return " ".join(dict.fromkeys(word(symptom.hint) for symptom in self.symptoms))

    def sentences(self, word: Callable[[Hint], str] = str) -> list[str]:
        """The verdict, each symptom, and what to do, in the words of the command line or the window."""
        hints = self.hints(word)
        signs = [f"- {symptom.text}" for symptom in self.symptoms]
        signs += [f"- This may be chance: {symptom.text}" for symptom in self.unsure]
        return [self.headline, *signs, *([f"What to do: {hints}"] if hints else [])]

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict.value,
            "items": self.items,
            "signs": [
                {name: plain(getattr(symptom, name)) for name in _TOLD}
                for symptom in (*self.symptoms, *self.unsure)
            ],
        }


NO_JUDGE = Health(0, enough=False)  # of labels by hand
NOT_LOOKED_AT = Health(0, enough=False)  # of a judge that is not checked yet
