"""What a review list is to hold; apart from engine.analysis.review_order, which takes long to import.

Knows: which filters and orders there are, which words a search looks for. Does not know: what passes them.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from engine.core.items import HumanLabel

LOW_MARGIN = 0.2
_LONGEST_SEARCH = 1000  # characters

NO_LABEL: Literal["none"] = "none"

LabelRequest = HumanLabel | Literal["none"] | None
"""A label that a row must have, NO_LABEL for none at all; None for whatever it has."""


class ListOrder(StrEnum):
    """How a review list is put in order; the last ones by what stands in a column of it."""

    UNCERTAINTY = "doubt"
    DATASET = "dataset"
    DISAGREEMENT = "disagreement"
    ANNOTATORS = "people"
    JUDGES = "judges"
    MOST_UNCERTAIN = "least sure"
    RANDOM = "random"
    LEAST_UNCERTAINTY = "least doubt"
    TO_DO = "to do"
    DONE = "done"
    ID = "id"
    ID_BACKWARDS = "id backwards"
    LABELS = "labels"
    LABELS_BACKWARDS = "labels backwards"
    MOST_MARKS = "most marks"
    FEWEST_MARKS = "fewest marks"
    INSTRUCTION = "instruction"
    INSTRUCTION_BACKWARDS = "instruction backwards"


@dataclass(frozen=True)
class Filters:
    """What a row must be to be listed: all that is set here at once. Nothing set lists every row.

    `low_margin`: below LOW_MARGIN. `own`, `label`, `human`: the judge's own label, the effective one, the
    dataset's. `ids`: only rows of these items. `labelled`: items that are omitted because they have a label
    already; a random sample of the others continues theirs. `text`: what the item's texts must hold; who
    filters looks it up in the dataset, as `engine.data.dataset_views.matching_rows` does.
    """

    criterion: str | None = None
    differs_from_human: bool = False
    flipped: bool = False
    unscored: bool = False
    low_margin: bool = False
    overridden: bool = False
    annotators_differ: bool = False
    stale: bool = False
    own: LabelRequest = None
    label: LabelRequest = None
    human: LabelRequest = None
    ids: frozenset[str] | None = None
    labelled: frozenset[str] = frozenset()
    text: str = ""

    @property
    def narrows(self) -> bool:
        """True where it leaves anything out."""
        return self != Filters()


@dataclass(frozen=True)
class WantedItems:
    """Items of a run that are to be listed, because somebody saw how many they are and asks which.

    `words`: what they have in common, `human A, model both good, on relevance`. `order`: None for the one
    that is chosen.
    """

    run_id: int
    filters: Filters
    words: str
    order: ListOrder | None = None


def search_pattern(text: str) -> str:
    """A regular expression (of `re` and RE2 alike) that finds every word of a search.

    Where one word begins with another, the longer one is found. Empty without a word, and for a search that
    is longer than any that is typed.
    """
    if len(text) > _LONGEST_SEARCH:
        return ""
    words = sorted(set(text.split()), key=lambda word: (-len(word), word))
    return "|".join(map(re.escape, words))
