"""The names of the pages, in the order of the rail.

Knows: what the rail and the menus call a page. Does not know: any page.
"""

from enum import StrEnum


class PageName(StrEnum):
    """A page of the window."""

    DATASET = "Dataset"
    JUDGE = "Judge"
    RESULTS = "Results"
    REVIEW = "Review"
    COMPARE = "Compare"
    RANKING = "Ranking"
