"""What people said of a run as it goes from one run store to another, each word with its own identity.

Knows: by what a word is the same one in two stores, which of two states of it is the later one. Does not
know: files, the run store, which items are in which run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

from engine.core.judgments import Confirmation, ItemNote, Override, ReviewMark
from engine.core.people import Reviews, Word

StepKey = tuple[str, str, datetime]
"""Which step of a person: the id of the item (of a note the hash of its content), his name, when it was."""


def identity_of(word: Word) -> tuple[object, ...]:
    """What a word has in common with itself in another store: kind, item, criterion, author, time, and what
    it says: two words of one time that say different things are two, and none of them is lost.
    """
    match word:
        case Override():
            said = (word.settles, word.preference, word.explanation)
            return ("override", *word.key, word.author, word.created, *said)
        case Confirmation():
            return ("confirmation", *word.key, word.author, word.created, word.preference)
        case ReviewMark():
            return ("mark", word.item_id, "", word.author, word.created, word.state)
        case ItemNote():
            return ("note", word.content_hash, "", word.author, word.created, word.text, word.tags)


def step_of(word: Word) -> StepKey:
    """The step that a word is of."""
    place = word.content_hash if isinstance(word, ItemNote) else word.item_id
    return place, word.author, word.created


@dataclass(frozen=True)
class Turned:
    """When a word was taken back, if it is, and when it was done again last (UTC); None for never."""

    undone: datetime | None
    redone: datetime | None

    def is_after(self, other: "Turned") -> bool:
        """Whether this is a later state than another one of the same word."""
        return self != other and self._at > other._at

    @property
    def _at(self) -> float:
        return max((at.timestamp() for at in (self.undone, self.redone) if at is not None), default=0.0)


@dataclass(frozen=True)
class HandedWords:
    """All that some people said of some items of a run, also what they took back.

    `notes`: of these items, by the hash of their content. `redone`: by step, when it was done again.
    """

    reviews: Reviews = field(default_factory=Reviews)
    notes: tuple[ItemNote, ...] = ()
    redone: Mapping[StepKey, datetime] = field(default_factory=dict)

    @property
    def all(self) -> Iterator[Word]:
        """Each word."""
        return chain(self.reviews.overrides, self.reviews.confirmations, self.reviews.marks, self.notes)

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody who said anything, sorted by name."""
        return tuple(sorted({word.author for word in self.all}))

    def turned(self, word: Word) -> Turned:
        """Whether a word of these stands, and since when."""
        return Turned(word.undone, self.redone.get(step_of(word)))

    @property
    def states(self) -> dict[tuple[object, ...], Turned]:
        """By the identity of each word, whether it stands."""
        return {identity_of(word): self.turned(word) for word in self.all}

    def of(self, names: frozenset[str]) -> "HandedWords":
        """What these people alone said."""
        return self.changed(lambda word: word if word.author in names else None)

    def called(self, names: Mapping[str, str]) -> "HandedWords":
        """The same with other names for some people."""
        renamed = self.changed(lambda word: replace(word, author=names.get(word.author, word.author)))
        redone = {(place, names.get(name, name), at): when for (place, name, at), when in self.redone.items()}
        return replace(renamed, redone=redone)

    def changed(self, change: Callable[[Word], Word | None]) -> "HandedWords":
        """The same with each word as `change` makes it, without those of which it makes None."""
        return _of_words((word for word in map(change, self.all) if word is not None), self.redone)

    def together(self, other: "HandedWords") -> "HandedWords":
        """These words and those of another, the later state of each that both have."""
        found = {identity_of(word): (word, self.turned(word)) for word in self.all}
        for word in other.all:
            known = found.get(identity_of(word))
            if known is None or other.turned(word).is_after(known[1]):
                found[identity_of(word)] = (word, other.turned(word))
        words = sorted((word for word, _ in found.values()), key=lambda word: word.created)
        redone = {step_of(word): turned.redone for word, turned in found.values() if turned.redone}
        return _of_words(words, redone)


def _of_words(words: Iterable[Word], redone: Mapping[StepKey, datetime]) -> HandedWords:
    """Words of all kinds, in their order."""
    known = list(words)
    reviews = Reviews(
        tuple(word for word in known if isinstance(word, Override)),
        tuple(word for word in known if isinstance(word, ReviewMark)),
        tuple(word for word in known if isinstance(word, Confirmation)),
    )
    return HandedWords(reviews, tuple(word for word in known if isinstance(word, ItemNote)), redone)
