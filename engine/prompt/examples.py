"""Labelled examples for the prompt: which ones, and never the item that is judged.

Knows: items and their human labels. Does not know: prompts, tokens, models.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.errors import SetupError
from engine.core.items import Item, digest
from engine.core.remedies import Remedy, Setting
from engine.core.rubric import Rubric


@dataclass(frozen=True)
class ExamplePool:
    """Labelled items in the order of their use; the first `shots` that fit an item are shown with it."""

    ranked: tuple[Item, ...] = ()
    shots: int = 0

    def for_item(self, item: Item) -> tuple[Item, ...]:
        """The examples to show with `item`: neither itself nor one with the same instruction."""
        same = _folded(item.instruction)
        allowed = (example for example in self.ranked if _folded(example.instruction) != same)
        return tuple(example for example, _ in zip(allowed, range(self.shots), strict=False))

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of all that the pool can put into a prompt; empty without examples."""
        if not self.shots:
            return ""
        shown = [
            [
                item.content_hash,
                {name: [gold.preference, gold.explanation] for name, gold in item.gold.items()},
            ]
            for item in self.ranked
        ]
        return digest([self.shots, shown])


def choose_examples(items: Iterable[Item], rubric: Rubric, shots: int) -> ExamplePool:
    """Rank labelled items: first those that show a label not yet shown, the shortest of them first.

    Items without a label on the rubric's criteria, and repeated instructions, are left out. SetupError
    where fewer than `shots` different instructions are labelled.
    """
    if shots < 1:
        raise SetupError(
            f"The number of examples is {shots}.",
            Remedy("Use 1 or more, or leave ", Setting.EXAMPLES, " out."),
        )
    candidates: dict[str, Item] = {}
    for item in sorted(items, key=_length):
        if _shown_labels(item, rubric):
            candidates.setdefault(_folded(item.instruction), item)
    # One more than is shown: an item that is itself an example gets the next one instead.
    wanted = shots + 1
    if len(candidates) < wanted:
        most = max(len(candidates) - 1, 0)
        raise SetupError(
            f"{shots} examples were asked for, but only {len(candidates)} different instructions carry labels"
            " (one more than the examples is needed, to stand in for an example that is judged itself).",
            Remedy("Use ", Setting.SHOTS.at(most), " or fewer, or a file with more labelled items."),
        )
    rest = list(candidates.values())
    ranked: list[Item] = []
    seen: set[tuple[str, str]] = set()
    while len(ranked) < wanted:
        best = max(rest, key=lambda item: len(_shown_labels(item, rubric) - seen))
        rest.remove(best)
        ranked.append(best)
        seen |= _shown_labels(best, rubric)
    return ExamplePool(tuple(ranked), shots)


def _shown_labels(item: Item, rubric: Rubric) -> set[tuple[str, str]]:
    return {
        (name, item.gold[name].preference or "")
        for name in rubric.names
        if name in item.gold and item.gold[name].preference
    }


def _length(item: Item) -> int:
    return len(item.instruction) + len(item.output_a) + len(item.output_b)


def _folded(instruction: str) -> str:
    return " ".join(instruction.casefold().split())
