"""What a review list is to hold; apart from engine.review.doubt, which takes long to import.

Knows: which filters there are. Does not know: what passes them.
"""

from dataclasses import dataclass

LOW_MARGIN = 0.2


@dataclass(frozen=True)
class Filters:
    """What a row must be to be listed: all that is set here at once. Nothing set lists every row.

    `low_margin`: below LOW_MARGIN. `text`: what the item's texts must hold; who filters looks it up in the
    dataset, as `engine.data.item_search.matching_rows` does.
    """

    criterion: str | None = None
    differs_from_human: bool = False
    flipped: bool = False
    unscored: bool = False
    low_margin: bool = False
    overridden: bool = False
    outdated: bool = False
    text: str = ""

    @property
    def narrows(self) -> bool:
        """True where it leaves anything out."""
        return self != Filters()
