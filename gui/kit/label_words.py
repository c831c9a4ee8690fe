"""Labels in words, or as one letter.

Knows: how a label is named to a person. Does not know: whose label it is.
"""

from collections.abc import Mapping

from engine.core.items import HumanLabel, Preference, Tie

LABEL_WORDS: Mapping[HumanLabel | None, str] = {
    Preference.A: "A",
    Preference.B: "B",
    Preference.BOTH_GOOD: "both good",
    Preference.BOTH_BAD: "both bad",
    Tie.TIE: "tie",
    None: "unscored",
}


LETTERS: Mapping[HumanLabel | None, str] = {
    Preference.A: "A",
    Preference.B: "B",
    Preference.BOTH_GOOD: "G",
    Preference.BOTH_BAD: "X",
    Tie.TIE: "=",
    None: "–",
}
