"""Labelled examples for the prompt, never the item that is judged: the same for all items, or for each item
those with the instructions most like its own. Likeness goes by the instruction alone: with the responses,
neighbours agree no more on their labels (bench.likeness), and items of one instruction would not begin alike.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from engine.core.errors import Hint, Setting, SetupError
from engine.core.items import Item, Preference, digest
from engine.core.rubric import Rubric
from engine.settings.rows import ExampleKind

_METHOD = "words 1"  # raised with whatever changes which are the nearest: runs are tied to it
_REMEMBERED = 1024  # instructions whose examples are known: an item and its neighbours ask several times


@dataclass(frozen=True)
class ExamplePool:
    """Labelled items of different instructions, of which `shots` are shown with an item."""

    ranked: tuple[Item, ...] = ()  # the first that fit are shown; where the nearest are, all that there are
    shots: int = 0
    choice: ExampleKind = ExampleKind.FIXED

    def for_item(self, item: Item) -> tuple[Item, ...]:
        """Neither `item` itself nor one of its instruction; the same for items of one instruction."""
        same = _asked(item)
        if self.are_own:
            # The nearest last: what stands last weighs most with many models (Zhao et al. 2021).
            return tuple(self.ranked[place] for place in reversed(self._nearest(same)))
        allowed = (example for example in self.ranked if _asked(example) != same)
        return tuple(example for example, _ in zip(allowed, range(self.shots), strict=False))

    def for_probe(self, probe: Item) -> tuple[Item, ...]:
        """Those of an item that stands for any: as little is known of them where each has its own."""
        return (probe,) * self.shots if self.are_own else self.for_item(probe)

    @property
    def are_own(self) -> bool:
        """Whether the examples depend on the item's instruction, so that they are no part of the stem."""
        return self.shots > 0 and self.choice is ExampleKind.NEAR

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) of all that the pool can put into a prompt; empty without examples. Before it stands
        how it is chosen, where that is not as it once always was: `near:5f2c…`.
        """
        if not self.shots:
            return ""
        shown = [
            [item.content_hash, {name: [gold.label, gold.explanation] for name, gold in item.gold.items()}]
            for item in self.ranked
        ]
        if not self.are_own:
            # As it was before examples could be chosen in another way: stored runs continue.
            return digest([self.shots, shown])
        return f"{self.choice}:{digest([self.shots, shown, _METHOD])}"

    @cached_property
    def _nearest(self) -> Callable[[str], list[int]]:
        instructions = [_asked(example) for example in self.ranked]
        likeness = WordLikeness(instructions)

        @lru_cache(_REMEMBERED)
        def nearest(same: str) -> list[int]:
            # One of them at most has the same instruction: it is the item itself, or as good as that.
            found = likeness.nearest(same, self.shots + 1)
            return [place for place in found if instructions[place] != same][: self.shots]

        return nearest

    def __getstate__(self) -> dict[str, Any]:
        """What travels to another process, which makes the table of words again."""
        return {name: value for name, value in self.__dict__.items() if name != "_nearest"}


def choose_examples(
    items: Iterable[Item], rubric: Rubric, shots: int, choice: ExampleKind = ExampleKind.FIXED
) -> ExamplePool:
    """Rank labelled items: first those that show a label not yet shown, or where the nearest are shown those
    with labels on more criteria, the shortest first. Unlabelled items and repeated instructions are omitted.
    SetupError where fewer than `shots` different instructions are labelled, besides the one that may be the
    item's own.
    """
    if shots < 1:
        raise SetupError(
            f"The number of examples is {shots}.",
            Hint("Use 1 or more, or omit ", Setting.EXAMPLES, "."),
        )
    near = choice is ExampleKind.NEAR
    candidates: dict[str, Item] = {}
    for item in sorted(
        items, key=lambda item: (-len(_shown_labels(item, rubric)) if near else 0, item.letters)
    ):
        if _shown_labels(item, rubric):
            candidates.setdefault(_asked(item), item)
    # One more than is shown: an item that is itself an example gets the next one instead.
    wanted = shots + 1
    if len(candidates) < wanted:
        most = max(len(candidates) - 1, 0)
        raise SetupError(
            f"{shots} examples were requested, but only {len(candidates)} different instructions have labels"
            " (one more than the examples is needed, to replace an example that is judged itself).",
            Hint("Use ", Setting.SHOTS.at(most), " or fewer, or a file with more labelled items."),
        )
    rest = list(candidates.values())
    if near:
        return ExamplePool(tuple(rest), shots, choice)
    ranked: list[Item] = []
    seen: set[tuple[str, str]] = set()
    while len(ranked) < wanted:
        best = max(rest, key=lambda item: len(_shown_labels(item, rubric) - seen))
        rest.remove(best)
        ranked.append(best)
        seen |= _shown_labels(best, rubric)
    return ExamplePool(tuple(ranked), shots)


def _shown_labels(item: Item, rubric: Rubric) -> set[tuple[str, str]]:
    """What an item can show, by criterion; a `tie` is no answer that a judge may give."""
    labels = {name: item.gold[name].label for name in rubric.names if name in item.gold}
    return {(name, label) for name, label in labels.items() if isinstance(label, Preference)}


def _asked(item: Item) -> str:
    """By what items may not be shown together: the instruction, without one all that an item says."""
    return folded(item.instruction) or item.content_hash


def folded(instruction: str) -> str:
    """By which instructions are the same: letter case and spaces aside."""
    return " ".join(instruction.casefold().split())


# Chinese and Japanese are written without spaces: each of their characters counts as a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[^\W{_UNSPACED}]+|[{_UNSPACED}]")
_DECIMALS = 6  # computers differ in the sixteenth


class WordLikeness:
    """Finds the texts most like another by their words: cosine of TF-IDF weights, by how rare a word is in
    these texts alone, with letter case as it shall count.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # Runs without it need no scikit-learn, which takes a second to load.
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

        self._count = len(texts)
        self._vectorizer = TfidfVectorizer(token_pattern=_WORD.pattern, lowercase=False)
        self._by_word = None
        if any(map(_WORD.search, texts)):
            # A text then meets only the texts that have one of its words.
            self._by_word = self._vectorizer.fit_transform(texts).T.tocsr()

    def nearest(self, text: str, count: int) -> list[int]:
        """The places of the `count` texts most like this one, the nearest first, then the first."""
        likeness = np.zeros(self._count)
        if self._by_word is not None:
            likeness = np.round((self._vectorizer.transform([text]) @ self._by_word).toarray()[0], _DECIMALS)
        least = np.partition(likeness, -count)[-count] if count < self._count else 0.0
        found = np.flatnonzero(likeness >= least)
        order = np.argsort(-likeness[found], kind="stable")[:count]
        places: list[int] = found[order].tolist()
        return places
