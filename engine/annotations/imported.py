"""The annotations of a run as it goes from one run store to another, each annotation with its own identity.

Knows: by what an annotation is the same one in two stores, which of two states of it is the later one. Does
not know: files, the run store, which items are in which run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

from engine.annotations.effective import Annotation, Reviews
from engine.core.judgments import Confirmation, ItemNote, Override, ReviewMark

StepKey = tuple[str, str, datetime]
"""Which step of an annotator: the id of the item (of a note the hash of its content), their name, when it
was.
"""


def identity_of(word: Annotation) -> tuple[object, ...]:
    """What an annotation has in common with itself in another store: kind, item, criterion, author, time, and
    content: two annotations of one time with different content are two, and none of them is lost.
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


def step_of(word: Annotation) -> StepKey:
    """The step that an annotation is of."""
    place = word.content_hash if isinstance(word, ItemNote) else word.item_id
    return place, word.author, word.created


@dataclass(frozen=True)
class UndoneStep:
    """When an annotation was undone, if it is, and when it was redone last (UTC); None for never."""

    undone: datetime | None
    redone: datetime | None

    def is_after(self, other: "UndoneStep") -> bool:
        """Whether this is a later state than another one of the same annotation."""
        return self != other and self._at > other._at

    @property
    def _at(self) -> float:
        return max((at.timestamp() for at in (self.undone, self.redone) if at is not None), default=0.0)


@dataclass(frozen=True)
class ImportedAnnotations:
    """The annotations of some items of a run by some annotators, also undone ones.

    `notes`: of these items, by the hash of their content. `redone`: by step, when it was done again.
    """

    reviews: Reviews = field(default_factory=Reviews)
    notes: tuple[ItemNote, ...] = ()
    redone: Mapping[StepKey, datetime] = field(default_factory=dict)

    @property
    def all(self) -> Iterator[Annotation]:
        """Each annotation."""
        return chain(self.reviews.overrides, self.reviews.confirmations, self.reviews.marks, self.notes)

    @property
    def annotators(self) -> tuple[str, ...]:
        """All annotators, sorted by name."""
        return tuple(sorted({word.author for word in self.all}))

    def turned(self, word: Annotation) -> UndoneStep:
        """Whether an annotation is undone, and since when."""
        return UndoneStep(word.undone, self.redone.get(step_of(word)))

    @property
    def states(self) -> dict[tuple[object, ...], UndoneStep]:
        """The state of each annotation, by its identity."""
        return {identity_of(word): self.turned(word) for word in self.all}

    def of(self, names: frozenset[str]) -> "ImportedAnnotations":
        """The annotations of these annotators only."""
        return self.changed(lambda word: word if word.author in names else None)

    def called(self, names: Mapping[str, str]) -> "ImportedAnnotations":
        """The same with other names for some annotators."""
        renamed = self.changed(lambda word: replace(word, author=names.get(word.author, word.author)))
        redone = {(place, names.get(name, name), at): when for (place, name, at), when in self.redone.items()}
        return replace(renamed, redone=redone)

    def changed(self, change: Callable[[Annotation], Annotation | None]) -> "ImportedAnnotations":
        """The same with each annotation as `change` makes it, without those of which it makes None."""
        return _of_words((word for word in map(change, self.all) if word is not None), self.redone)

    def together(self, other: "ImportedAnnotations") -> "ImportedAnnotations":
        """These annotations and those of another, the later state of each that both have."""
        found = {identity_of(word): (word, self.turned(word)) for word in self.all}
        for word in other.all:
            known = found.get(identity_of(word))
            if known is None or other.turned(word).is_after(known[1]):
                found[identity_of(word)] = (word, other.turned(word))
        words = sorted((word for word, _ in found.values()), key=lambda word: word.created)
        redone = {step_of(word): turned.redone for word, turned in found.values() if turned.redone}
        return _of_words(words, redone)


def _of_words(words: Iterable[Annotation], redone: Mapping[StepKey, datetime]) -> ImportedAnnotations:
    """Annotations of all kinds, in their order."""
    known = list(words)
    reviews = Reviews(
        tuple(word for word in known if isinstance(word, Override)),
        tuple(word for word in known if isinstance(word, ReviewMark)),
        tuple(word for word in known if isinstance(word, Confirmation)),
    )
    return ImportedAnnotations(reviews, tuple(word for word in known if isinstance(word, ItemNote)), redone)
