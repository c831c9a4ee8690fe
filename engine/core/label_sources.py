"""Whose labels of a run count: those in force, settled ones, the majority's, one person's, or the judge's.

Knows: the choices, their words. Does not know: labels, how any is found.
"""

from dataclasses import dataclass
from enum import StrEnum

from engine.core.errors import SetupError
from engine.core.formatting import did_you_mean, listed


class Whose(StrEnum):
    """Whose labels stand in the place of the judge's, where there are any."""

    LAST = "last"
    SETTLED = "settled"
    MAJORITY = "majority"
    PERSON = "person"
    JUDGE = "judge"


_WORDS = {
    Whose.LAST: "what people said last, settled labels first",
    Whose.SETTLED: "settled labels",
    Whose.MAJORITY: "the majority of people",
    Whose.JUDGE: "the judge alone",
}


@dataclass(frozen=True)
class LabelSource:
    """One of them; `person`: the name, where it is one person's."""

    kind: Whose = Whose.LAST
    person: str = ""

    @property
    def in_words(self) -> str:
        """`the majority of people`, `Ada`."""
        return self.person if self.kind is Whose.PERSON else _WORDS[self.kind]

    @classmethod
    def of_text(cls, text: str, people: tuple[str, ...]) -> "LabelSource":
        """What a person wrote: a kind, else the name of one of `people`. SetupError for anything else."""
        if text in people:  # a person who is called as a kind is meant
            return cls(Whose.PERSON, text)
        kinds = [kind.value for kind in Whose if kind is not Whose.PERSON]
        if text in kinds:
            return cls(Whose(text))
        near = did_you_mean(text, [*kinds, *people])
        raise SetupError(
            f"Nobody called {text!r} has labelled this.",
            f"{near}Name {', '.join(kinds)}, or one who has: {listed(people) if people else 'nobody has'}.",
        )


LAST = LabelSource()
JUDGE_ALONE = LabelSource(Whose.JUDGE)
