"""Which labels of a run count: effective, adjudicated, the majority's, one annotator's, or the judge's.

Knows: the choices, their names. Does not know: labels, how any is found.
"""

from dataclasses import dataclass
from enum import StrEnum

from engine.core.errors import SetupError
from engine.core.formatting import did_you_mean, listed


class LabelSourceKind(StrEnum):
    """Which human labels replace the judge's. The values are those of files and stay."""

    LAST = "last"
    ADJUDICATED = "settled"
    MAJORITY = "majority"
    ANNOTATOR = "person"
    JUDGE = "judge"

    @property
    def option(self) -> str:
        """Its name on the command line; empty for ANNOTATOR, which is chosen by name."""
        return _OPTIONS.get(self, "")


_WORDS = {
    LabelSourceKind.LAST: "effective labels: adjudicated, else the newest annotation, else the judge's",
    LabelSourceKind.ADJUDICATED: "adjudicated labels",
    LabelSourceKind.MAJORITY: "the annotators' majority",
    LabelSourceKind.JUDGE: "judge only",
}
_OPTIONS = {
    LabelSourceKind.LAST: "effective",
    LabelSourceKind.ADJUDICATED: "adjudicated",
    LabelSourceKind.MAJORITY: "majority",
    LabelSourceKind.JUDGE: "judge",
}
LABEL_SOURCES = tuple(_OPTIONS.values())
"""What is written on the command line, but for an annotator's name."""


@dataclass(frozen=True)
class LabelSource:
    """One of them; `annotator`: the name, if it is one annotator's."""

    kind: LabelSourceKind = LabelSourceKind.LAST
    annotator: str = ""

    @property
    def in_words(self) -> str:
        """`the annotators' majority`, `Ada`."""
        return self.annotator if self.kind is LabelSourceKind.ANNOTATOR else _WORDS[self.kind]

    @classmethod
    def of_text(cls, text: str, annotators: tuple[str, ...]) -> "LabelSource":
        """One of LABEL_SOURCES, or the name of one of `annotators`. SetupError for anything else."""
        if text in annotators:  # an annotator with the name of a kind comes first
            return cls(LabelSourceKind.ANNOTATOR, text)
        for kind, option in _OPTIONS.items():
            if text in (option, kind):  # callers within the program pass the kind
                return cls(kind)
        near = did_you_mean(text, [*LABEL_SOURCES, *annotators])
        known = listed(annotators) if annotators else "there is none"
        raise SetupError(
            f"There is no annotator {text!r} of these items.",
            f"{near}Use {', '.join(LABEL_SOURCES)}, or the name of an annotator: {known}.",
        )


LAST = LabelSource()
JUDGE_ALONE = LabelSource(LabelSourceKind.JUDGE)
