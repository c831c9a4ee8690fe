"""Which overrides of a run are in force, and how many there are, in words.

Knows: overrides alone. Does not know: the run store, judgments, measures.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.judgments import Override


def in_force(history: Iterable[Override]) -> dict[tuple[str, str], Override]:
    """By criterion and item id the newest that is not undone; `history` has the oldest first."""
    return {(one.criterion, one.item_id): one for one in history if one.undone is None}


@dataclass(frozen=True)
class OverrideCount:
    """How many `labels` and `explanations` are a person's; `authors` of them, the most frequent first."""

    labels: int
    explanations: int
    authors: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """`2 labels and 1 explanation`, without a part that is 0; `nothing` where both are."""
        parts = ((self.labels, "label"), (self.explanations, "explanation"))
        said = [f"{number:,} {name}{'' if number == 1 else 's'}" for number, name in parts if number]
        return " and ".join(said) or "nothing"

    @property
    def by_whom(self) -> str:
        """The same with the names: `2 labels and 1 explanation, by Ada, Ben`."""
        return f"{self.in_words}, by {', '.join(self.authors)}" if self.authors else self.in_words


def count_overrides(overrides: Iterable[Override]) -> OverrideCount:
    """Count overrides that are in force."""
    counted = list(overrides)
    return OverrideCount(
        labels=sum(one.preference is not None for one in counted),
        explanations=sum(one.explanation is not None for one in counted),
        authors=tuple(name for name, _ in Counter(one.author for one in counted).most_common()),
    )
