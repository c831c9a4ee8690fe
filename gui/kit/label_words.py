"""The words and the letters of the four labels.

Knows: how a label is named to a person. Does not know: whose label it is.
"""

from engine.core.items import Preference

LABEL_WORDS = {
    Preference.A: "A",
    Preference.B: "B",
    Preference.BOTH_GOOD: "both good",
    Preference.BOTH_BAD: "both bad",
    None: "unscored",
}


LETTERS = {
    Preference.A: "A",
    Preference.B: "B",
    Preference.BOTH_GOOD: "G",
    Preference.BOTH_BAD: "X",
    None: "–",
}
