"""What people said of a run: which overrides are in force, who is how far, who gave which label.

Knows: overrides, marks and confirmed labels. Does not know: the run store, models' judgments, measures.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from engine.core.formatting import counted
from engine.core.items import Preference
from engine.core.judgments import (
    Confirmation,
    JudgmentKey,
    Origin,
    Override,
    ReviewMark,
    ReviewState,
)

LabelsOfPerson = Mapping[JudgmentKey, Preference]


def in_force(history: Iterable[Override]) -> dict[JudgmentKey, Override]:
    """By judgment, what stands of those that are not undone; `history` has the oldest first.

    Of each person the last override counts, as a whole. Label and explanation are each the newest of these:
    where they are of two people, both are named as author.
    """
    standing: dict[JudgmentKey, dict[str, Override]] = {}
    for override in history:
        if override.undone is None:
            by_author = standing.setdefault(override.key, {})
            by_author.pop(override.author, None)
            by_author[override.author] = override
    return {key: _together(list(by_author.values())) for key, by_author in standing.items()}


def _together(of_each: Sequence[Override]) -> Override:
    """The last overrides of some people, the oldest first, as one."""
    newest = of_each[-1]
    label = next((given for given in reversed(of_each) if given.preference), newest)
    text = next((given for given in reversed(of_each) if given.explanation), newest)
    if label is text is newest:
        return newest
    authors = dict.fromkeys(
        given.author
        for given, part in ((label, label.preference), (text, text.explanation))
        if part is not None
    )
    return replace(
        newest, preference=label.preference, explanation=text.explanation, author=" and ".join(authors)
    )


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
        counts = [counted(number, name, f"{name}s") for number, name in parts if number]
        return " and ".join(counts) or "nothing"

    @property
    def by_whom(self) -> str:
        """The same with the names: `2 labels and 1 explanation, by Ada, Ben`."""
        return f"{self.in_words}, by {', '.join(self.authors)}" if self.authors else self.in_words


def count_overrides(overrides: Iterable[Override]) -> OverrideCount:
    """Count overrides that are in force."""
    known = list(overrides)
    return OverrideCount(
        labels=sum(override.preference is not None for override in known),
        explanations=sum(override.explanation is not None for override in known),
        authors=tuple(name for name, _ in Counter(override.author for override in known).most_common()),
    )


_PICKED = {
    Origin.DOUBT: "in order of doubt: the hardest items",
    Origin.DISAGREEMENT: "to those items first that differ from the human labels",
    Origin.CHOSEN: "to items that a person picked, by a filter, a search or out of turn",
}
_RANDOM_ALONE = (
    "What is measured by such labels, or learned from them, is not to be expected of other items: a"
    " calibration by the hardest is too careful for the rest. By those of a random sample it is."
)


def picked_in_words(origins: Iterable[Origin | None]) -> list[str]:
    """Sentences on which of some labels are of items that were picked; none where all are of a random sample
    or in the order of the dataset.
    """
    counts = Counter(origins)
    labels = counts.total()

    def some(origin: Origin | None) -> str:
        if labels == 1:
            return "This label was"
        return f"{counts[origin]:,} of these {labels:,} labels {'was' if counts[origin] == 1 else 'were'}"

    said = [f"{some(origin)} given {how}." for origin, how in _PICKED.items() if counts[origin]]
    if said:
        said.append(_RANDOM_ALONE)
    if counts[None]:
        said.append(f"{some(None)} given in an order of the list that is not known.")
    return said


def skipped_in_words(skipped: int, labelled: int) -> str:
    """What skipped items do to a random sample of which so many have labels; empty where none is skipped."""
    if not skipped:
        return ""
    one = skipped == 1
    return (
        f"{counted(skipped, 'item', 'items')} of the random sample {'was' if one else 'were'} skipped and"
        f" {'has' if one else 'have'} no label, {labelled:,} {'has' if labelled == 1 else 'have'} one: it is"
        " not random any more. What is measured by it is to be expected of other items only where the skipped"
        " ones are no harder than the rest."
    )


@dataclass(frozen=True)
class Reviews:
    """All that people said of a run, the oldest first; overrides also where they are undone."""

    overrides: tuple[Override, ...] = ()
    marks: tuple[ReviewMark, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()

    def only(self, ids: Container[str]) -> "Reviews":
        """What they said of these items alone."""
        return Reviews(
            tuple(said for said in self.overrides if said.item_id in ids),
            tuple(said for said in self.marks if said.item_id in ids),
            tuple(said for said in self.confirmations if said.item_id in ids),
        )

    @cached_property
    def marks_in_force(self) -> Mapping[tuple[str, str], ReviewMark]:
        """The last mark of each person and item, by item id and name; also those that say to do."""
        return {(mark.item_id, mark.author): mark for mark in self.marks}

    def state(self, item_id: str, author: str) -> ReviewState:
        """How far a person is with an item."""
        mark = self.marks_in_force.get((item_id, author))
        return mark.state if mark else ReviewState.TO_DO

    @cached_property
    def _marks_by_item(self) -> Mapping[str, tuple[ReviewMark, ...]]:
        found: dict[str, tuple[ReviewMark, ...]] = {}
        for (item_id, _author), mark in self.marks_in_force.items():
            if mark.state is not ReviewState.TO_DO:
                found[item_id] = (*found.get(item_id, ()), mark)
        return found

    def marks_of(self, item_id: str) -> tuple[ReviewMark, ...]:
        """The marks in force of an item, one for each person who said more than to do."""
        return self._marks_by_item.get(item_id, ())

    @cached_property
    def labels(self) -> Mapping[str, LabelsOfPerson]:
        """The labels that each person gave or confirmed, by name: of one item and criterion the last one.

        A label that a person confirmed before he took an override of it back counts no more.
        """
        return {
            author: {key: each.preference for key, each in given.items() if each.preference is not None}
            for author, given in self._given.items()
        }

    @property
    def origins(self) -> list[tuple[str, Origin | None]]:
        """Of each of `labels` the item, and how the person came to it; None where that is not known."""
        return [(key.item_id, each.origin) for given in self._given.values() for key, each in given.items()]

    def given_on(self, key: JudgmentKey) -> dict[str, Override | Confirmation]:
        """By name, what holds each person's label of a judgment."""
        return {author: given[key] for author, given in self._given.items() if key in given}

    @property
    def labels_by_seed(self) -> Mapping[int, int]:
        """How many of `labels` were given in the random sample of each seed."""
        given = (each for of_one in self._given.values() for each in of_one.values())
        return Counter(each.seed for each in given if each.seed is not None)

    @cached_property
    def _given(self) -> Mapping[str, Mapping[JudgmentKey, Override | Confirmation]]:
        """By name and judgment, what holds the label of `labels`."""
        said: list[Override | Confirmation]
        said = [*self.confirmations, *(override for override in self.overrides if override.preference)]
        taken_back = {
            (override.author, override.key): override.undone
            for override in sorted(self.overrides, key=lambda override: override.undone or override.created)
            if override.undone and override.preference
        }
        given: dict[str, dict[JudgmentKey, Override | Confirmation]] = {}
        for each in sorted(said, key=lambda each: each.created):
            undone = each.undone if isinstance(each, Override) else taken_back.get((each.author, each.key))
            stands = undone is None or (isinstance(each, Confirmation) and undone < each.created)
            if stands and each.preference is not None:
                given.setdefault(each.author, {})[each.key] = each
        return given

    def standing(self, key: JudgmentKey, author: str | None = None) -> Override | None:
        """The newest override of a judgment that is not taken back; with `author` of his alone."""
        for each in reversed(self.overrides):
            if each.key == key and each.undone is None and author in (None, each.author):
                return each
        return None

    def author_of_label(self, key: JudgmentKey) -> str | None:
        """Whose label stands for the model's: of each person the last override counts, as a whole."""
        last = (self.standing(key, author) for author in self.people)
        labels = [override for override in last if override is not None and override.preference is not None]
        return max(labels, key=lambda override: override.id).author if labels else None

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody who said anything, sorted by name."""
        everything: tuple[Override | ReviewMark | Confirmation, ...]
        everything = (*self.overrides, *self.marks, *self.confirmations)
        return tuple(sorted({each.author for each in everything}))
