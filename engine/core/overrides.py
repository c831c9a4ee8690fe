"""Which overrides of a run are in force, and how many there are, in words.

Knows: overrides alone. Does not know: the run store, judgments, measures.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.judgments import Override


def in_force(history: Iterable[Override]) -> dict[tuple[str, str], Override]:
    """By criterion and item id the newest that is not undone; `history` has the oldest first."""
    return {
        (override.criterion, override.item_id): override for override in history if override.undone is None
    }


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
        counts = [f"{number:,} {name}{'' if number == 1 else 's'}" for number, name in parts if number]
        return " and ".join(counts) or "nothing"

    @property
    def by_whom(self) -> str:
        """The same with the names: `2 labels and 1 explanation, by Ada, Ben`."""
        return f"{self.in_words}, by {', '.join(self.authors)}" if self.authors else self.in_words


def count_overrides(overrides: Iterable[Override]) -> OverrideCount:
    """Count overrides that are in force."""
    counted = list(overrides)
    return OverrideCount(
        labels=sum(override.preference is not None for override in counted),
        explanations=sum(override.explanation is not None for override in counted),
        authors=tuple(name for name, _ in Counter(override.author for override in counted).most_common()),
    )
