"""Ids and explanations that pandas would not give back as they were written, found without pandas.

Knows: which lone words pandas takes for missing values. Does not know: files, submissions.
"""

import re
from collections.abc import Sequence

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
    """True for a text that pandas.read_csv would not give back: quoting does not help it.

    Such are the empty text, the words that pandas takes for a missing value (`None`, `N/A`, `nan`), a
    number or truth value alone (`7`, `1.`, `true`), and texts with a NUL or a lone surrogate.
    """
    return (
        text in _MISSING_WORDS
        or _NUMBER_OR_TRUTH.fullmatch(text) is not None
        or _NEVER_READ_BACK.search(text) is not None
    )


def unwritable_ids(ids: Sequence[str]) -> list[str]:
    """The ids that write_submission refuses: words for a missing value, and those with a NUL or surrogate."""
    return [item_id for item_id in ids if item_id in _MISSING_WORDS or _NEVER_READ_BACK.search(item_id)]
