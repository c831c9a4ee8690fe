"""The annotations of a run as it goes from one run store to another, each annotation with its own identity.

The annotations of a run: which overrides are effective, who is how far, who gave which label.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import chain

from engine.annotations.records import LabelSource, LabelSourceKind, NewNote
from engine.core.formatting import counted
from engine.core.items import Preference, majority
from engine.core.judgments import (
    Confirmation,
    ItemNote,
    JudgmentKey,
    Keyed,
    NewOverride,
    NewReview,
    Origin,
    Override,
    ReviewMark,
    ReviewState,
)

LabelsOfAnnotator = Mapping[JudgmentKey, Preference]


@dataclass(frozen=True)
class EffectiveAnnotation(Keyed):
    """The effective annotation of a judgment, which replaces the judge's label, explanation or both.

    `label_by`, `text_by`: who gave each; empty and None for the judge's own. `written_for`: the label
    that the explanation is of, None where that is not known. `created`: the time of the newer of them
    (UTC). `origin`, `seed`: of the label, as of an Override. `adjudicated`: by an adjudicator.
    """

    item_id: str
    criterion: str
    preference: Preference | None
    explanation: str | None
    label_by: tuple[str, ...]
    text_by: str | None
    created: datetime
    written_for: Preference | None = None
    origin: Origin | None = None
    seed: int | None = None
    adjudicated: bool = False

    @property
    def author(self) -> str:
        """Whose annotations these are: `Ada`, or `Ada and Ben` where label and explanation are of two
        annotators.
        """
        return " and ".join(self.authors)

    @property
    def authors(self) -> tuple[str, ...]:
        """The same, each once."""
        return tuple(dict.fromkeys([*self.label_by, *([self.text_by] if self.text_by else [])]))

    def fits(self, label: Preference | None) -> bool:
        """Whether its explanation is of this label, as far as is known."""
        return self.written_for is None or label is None or self.written_for is label


def _with_its_label(
    override: Override, texts: dict[tuple[JudgmentKey, str, str], Preference | None]
) -> Override:
    """In stores of earlier versions an explanation is of the label that it first came with."""
    if override.explanation is None or override.written_for is not None:
        return override
    first = texts.setdefault((override.key, override.author, override.explanation), override.preference)
    return replace(override, written_for=first)


def _standing_of(
    label: Override | Confirmation | None,
    texts: Sequence[Override],
    newest: Override | Confirmation,
    label_by: tuple[str, ...] = (),
) -> EffectiveAnnotation:
    """A label, and the explanation among `texts`, the oldest first, that is the newest of this label, else
    the newest. `label_by`: who gave the label, where it is not one annotator.
    """
    preference = label.preference if label else None
    fitting = [given for given in texts if given.written_for in (None, preference) or preference is None]
    text = (fitting or texts)[-1] if texts else None
    return EffectiveAnnotation(
        newest.item_id,
        newest.criterion,
        preference,
        text.explanation if text else None,
        label_by or ((label.author,) if label else ()),
        text.author if text else None,
        newest.created,
        text.written_for if text else None,
        label.origin if label else None,
        label.seed if label else None,
        isinstance(label, Override) and label.settles,
    )


def standing_notes(notes: Iterable[ItemNote]) -> tuple[ItemNote, ...]:
    """The last note of each annotator that is not undone or empty; `notes` has the oldest first."""
    last: dict[str, ItemNote] = {}
    for note in notes:
        if note.undone is None:
            last.pop(note.author, None)
            last[note.author] = note
    return tuple(note for note in last.values() if note.text or note.tags)


def tags_together(notes: Iterable[ItemNote]) -> tuple[str, ...]:
    """The tags of some notes, each once."""
    return tuple(dict.fromkeys(tag for note in notes for tag in note.tags))


Annotation = Override | Confirmation | ReviewMark | ItemNote


@dataclass(frozen=True)
class AnnotatorStep:
    """All annotations of an item by one annotator at one time (UTC), which are undone or redone together.

    `words`: also those that wait for the store.
    """

    at: datetime
    undone: datetime | None
    words: tuple[Annotation | NewOverride | NewReview | NewNote, ...]

    @property
    def keys(self) -> frozenset[JudgmentKey]:
        """The judgments that it is of; none for a note or a state alone."""
        return frozenset(word.key for word in self.words if isinstance(word, Keyed))


def steps_of(words: Iterable[Annotation], author: str) -> list[AnnotatorStep]:
    """What an annotator did with an item, the oldest first; `words`: all annotations of it."""
    by_time: dict[datetime, list[Annotation]] = {}
    for word in words:
        if word.author == author:
            by_time.setdefault(word.created, []).append(word)
    return [
        AnnotatorStep(at, None if any(word.undone is None for word in said) else said[0].undone, tuple(said))
        for at, said in sorted(by_time.items())
    ]


def to_undo(steps: Sequence[AnnotatorStep]) -> AnnotatorStep | None:
    """The last step that is not undone; None if there is none."""
    return next((step for step in reversed(steps) if step.undone is None), None)


def to_redo(steps: Sequence[AnnotatorStep]) -> AnnotatorStep | None:
    """The step that was undone last, if no annotation followed; else None."""
    undone = [step for step in steps if step.undone is not None]
    last = max(undone, key=lambda step: step.undone or step.at, default=None)  # at one time: the oldest
    if last is None or any(step.at > (last.undone or last.at) for step in steps):
        return None
    return last


@dataclass(frozen=True)
class OverrideCount:
    """How many `labels` and `explanations` are an annotator's; `authors` of them, the most frequent first."""

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


def count_overrides(standing: Iterable[EffectiveAnnotation]) -> OverrideCount:
    """Count the effective annotations."""
    known = list(standing)
    names = Counter(name for each in known for name in each.authors)
    return OverrideCount(
        labels=sum(each.preference is not None for each in known),
        explanations=sum(each.explanation is not None for each in known),
        authors=tuple(name for name, _ in names.most_common()),
    )


_PICKED = {
    Origin.UNCERTAINTY: "in order of uncertainty: the hardest items",
    Origin.DISAGREEMENT: "to items where the judge differs from the human labels first",
    Origin.CHOSEN: "to items that the annotator picked, by a filter, a search or out of order",
}
_RANDOM_ALONE = (
    "Measures and calibrations from such labels do not generalise to other items: a calibration on the"
    " hardest is underconfident on the rest. Those from a random sample do."
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
        if counts[origin] == labels:
            return f"All of these {labels:,} labels were"
        return f"{counts[origin]:,} of these {labels:,} labels {'was' if counts[origin] == 1 else 'were'}"

    said = [f"{some(origin)} given {how}." for origin, how in _PICKED.items() if counts[origin]]
    if said:
        said.append(_RANDOM_ALONE)
    if counts[None]:
        said.append(f"{some(None)} given in an unknown order.")
    return said


def skipped_in_words(skipped: int, labelled: int) -> str:
    """How skipped items affect a random sample with this many labels; empty if none is skipped."""
    if not skipped:
        return ""
    one = skipped == 1
    return (
        f"{counted(skipped, 'item', 'items')} of the random sample {'was' if one else 'were'} skipped and"
        f" {'has' if one else 'have'} no label, {labelled:,} {'has' if labelled == 1 else 'have'} one: the"
        " sample is no longer random. Its measures generalise to other items only if the skipped ones are no"
        " harder than the rest."
    )


@dataclass(frozen=True)
class Reviews:
    """All annotations of a run, the oldest first; overrides also where they are undone."""

    overrides: tuple[Override, ...] = ()
    marks: tuple[ReviewMark, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()

    def only(self, ids: Container[str]) -> "Reviews":
        """The annotations of these items only."""
        return Reviews(
            tuple(said for said in self.overrides if said.item_id in ids),
            tuple(said for said in self.marks if said.item_id in ids),
            tuple(said for said in self.confirmations if said.item_id in ids),
        )

    @cached_property
    def effective_marks(self) -> Mapping[tuple[str, str], ReviewMark]:
        """The last mark of each annotator and item, by item id and name; also those with the state to do."""
        return {(mark.item_id, mark.author): mark for mark in self.marks if mark.undone is None}

    def state(self, item_id: str, author: str) -> ReviewState:
        """How far an annotator is with an item."""
        mark = self.effective_marks.get((item_id, author))
        return mark.state if mark else ReviewState.TO_DO

    @cached_property
    def _marks_by_item(self) -> Mapping[str, tuple[ReviewMark, ...]]:
        found: dict[str, tuple[ReviewMark, ...]] = {}
        for (item_id, _author), mark in self.effective_marks.items():
            if mark.state is not ReviewState.TO_DO:
                found[item_id] = (*found.get(item_id, ()), mark)
        return found

    def marks_of(self, item_id: str) -> tuple[ReviewMark, ...]:
        """The effective marks of an item, one for each annotator with a state other than to do."""
        return self._marks_by_item.get(item_id, ())

    @cached_property
    def labels(self) -> Mapping[str, LabelsOfAnnotator]:
        """The labels that each annotator gave or accepted, by name: of one item and criterion the last one.

        An adjudicated label is no such label. One that an annotator accepted no longer counts once
        they undid the override that had given it.
        """
        return {
            author: {key: each.preference for key, each in given.items() if each.preference is not None}
            for author, given in self._given.items()
        }

    @property
    def origins(self) -> list[tuple[str, Origin | None]]:
        """Of each of `labels` the item, and how the annotator came to it; None where that is not known."""
        return [(key.item_id, each.origin) for given in self._given.values() for key, each in given.items()]

    def given_on(self, key: JudgmentKey) -> dict[str, Override | Confirmation]:
        """By name, what holds each annotator's label of a judgment."""
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
        said = [*self.confirmations, *(each for each in self.overrides if not each.settles)]
        taken_back = {
            (override.author, override.key, override.preference): (override.created, override.undone)
            for override in self.overrides
            if override.undone
        }
        given: dict[str, dict[JudgmentKey, Override | Confirmation]] = {}
        for each in sorted(said, key=lambda each: each.created):
            if each.undone is None and each.preference is not None:
                gone = taken_back.get((each.author, each.key, each.preference))
                if not (isinstance(each, Confirmation) and gone and gone[0] < each.created < gone[1]):
                    given.setdefault(each.author, {})[each.key] = each
        return given

    def standing_by(self, source: LabelSource) -> dict[JudgmentKey, EffectiveAnnotation]:
        """By judgment, what replaces the judge's, where it is of this source."""
        finders: dict[LabelSourceKind, Callable[[JudgmentKey], EffectiveAnnotation | None]] = {
            LabelSourceKind.LAST: self._of_last,
            LabelSourceKind.ADJUDICATED: self._of_adjudicator,
            LabelSourceKind.MAJORITY: self._of_majority,
            LabelSourceKind.ANNOTATOR: partial(self._of_annotator, source.annotator),
            LabelSourceKind.JUDGE: lambda _key: None,
        }
        keys = dict.fromkeys([*self._last, *(each.key for each in self.confirmations)])
        found = ((key, finders[source.kind](key)) for key in keys)
        return {key: standing for key, standing in found if standing is not None}

    def _texts(self, key: JudgmentKey) -> list[Override]:
        return [each for each in self.last_of_each(key) if each.explanation]

    def _of_last(self, key: JudgmentKey) -> EffectiveAnnotation | None:
        """Of each annotator the last override counts, as a whole: the label is the newest of these, but an
        adjudicator's comes before all others.
        """
        last = self.last_of_each(key)
        labels = [each for each in last if each.preference is not None]
        label = next((each for each in reversed(labels) if each.settles), labels[-1] if labels else None)
        return _standing_of(label, self._texts(key), last[-1]) if last else None

    def _of_adjudicator(self, key: JudgmentKey) -> EffectiveAnnotation | None:
        adjudicated = [
            each for each in self.last_of_each(key) if each.settles and each.preference is not None
        ]
        if not adjudicated:
            return None
        label = adjudicated[-1]
        of_label = [text for text in self._texts(key) if text.settles or text.written_for is label.preference]
        return _standing_of(label, of_label, label)

    def _of_majority(self, key: JudgmentKey) -> EffectiveAnnotation | None:
        label = self.proposed(key)
        if label is None:
            return None
        holders = {name: each for name, each in self.given_on(key).items() if each.preference is label}
        newest = max(holders.values(), key=lambda each: each.created)
        of_label = [text for text in self._texts(key) if text.written_for is label and text.author in holders]
        return _standing_of(newest, of_label, newest, tuple(sorted(holders)))

    def _of_annotator(self, name: str, key: JudgmentKey) -> EffectiveAnnotation | None:
        label = self.given_on(key).get(name)
        own = [text for text in self._texts(key) if text.author == name and not text.settles]
        return _standing_of(label, own, label or own[-1]) if label or own else None

    @cached_property
    def differing(self) -> frozenset[JudgmentKey]:
        """The judgments to which annotators gave different labels."""
        given: dict[JudgmentKey, set[Preference]] = {}
        for labels in self.labels.values():
            for key, label in labels.items():
                given.setdefault(key, set()).add(label)
        return frozenset(key for key, labels in given.items() if len(labels) > 1)

    @cached_property
    def adjudicated(self) -> Mapping[JudgmentKey, EffectiveAnnotation]:
        """By judgment, the adjudicated label."""
        return self.standing_by(LabelSource(LabelSourceKind.ADJUDICATED))

    @cached_property
    def unsettled(self) -> frozenset[JudgmentKey]:
        """Those of `differing` that nobody adjudicated."""
        return self.differing - self.adjudicated.keys()

    @property
    def adjudicated_in_words(self) -> str:
        """`7 of 19 adjudicated`, of those on which annotators differ; empty if they differ on none."""
        differing = len(self.differing)
        return f"{differing - len(self.unsettled):,} of {differing:,} adjudicated" if differing else ""

    def proposed(self, key: JudgmentKey) -> Preference | None:
        """The label that more than half of the annotators gave to a judgment, if there is one."""
        given = [each.preference for each in self.given_on(key).values() if each.preference is not None]
        label = majority(given)
        return label if isinstance(label, Preference) else None

    def said_on(self, key: JudgmentKey) -> Sequence[Override | Confirmation]:
        """All annotations of a judgment, the oldest first; also what is undone."""
        return self._said.get(key, ())

    @cached_property
    def _said(self) -> Mapping[JudgmentKey, Sequence[Override | Confirmation]]:
        found: dict[JudgmentKey, list[Override | Confirmation]] = {}
        everything: list[Override | Confirmation] = [*self.overrides, *self.confirmations]
        for each in sorted(everything, key=lambda each: each.created):
            found.setdefault(each.key, []).append(each)
        return found

    def marks_on(self, item_id: str) -> Sequence[ReviewMark]:
        """All marks of an item, the oldest first; also those that are undone."""
        return [mark for mark in self._words.get(item_id, ()) if isinstance(mark, ReviewMark)]

    def words_of(self, item_id: str) -> Sequence[Annotation]:
        """All annotations of an item, but for notes; also what is undone."""
        return self._words.get(item_id, ())

    @cached_property
    def _words(self) -> Mapping[str, Sequence[Annotation]]:
        found: dict[str, list[Annotation]] = {}
        everything: tuple[Override | Confirmation | ReviewMark, ...]
        everything = (*self.overrides, *self.confirmations, *self.marks)
        for each in everything:
            found.setdefault(each.item_id, []).append(each)
        return found

    def last_of_each(self, key: JudgmentKey) -> list[Override]:
        """Of each annotator who labelled or explained a judgment the last override that is not undone, the
        oldest first; an adjudicator's label apart from their own.
        """
        return list(self._last.get(key, {}).values())

    @cached_property
    def _last(self) -> Mapping[JudgmentKey, Mapping[tuple[str, bool], Override]]:
        """The same by judgment and annotator, apart as an adjudicator."""
        standing: dict[JudgmentKey, dict[tuple[str, bool], Override]] = {}
        texts: dict[tuple[JudgmentKey, str, str], Preference | None] = {}
        for given in self.overrides:
            if given.undone is None:
                last = standing.setdefault(given.key, {})
                last.pop((given.author, given.settles), None)
                last[given.author, given.settles] = _with_its_label(given, texts)
        return standing

    def own(self, key: JudgmentKey, author: str, settles: bool = False) -> Override | None:
        """An annotator's effective annotation of a judgment; `settles`: as an adjudicator."""
        last = self.last_of_each(key)
        return next((each for each in last if (each.author, each.settles) == (author, settles)), None)

    @property
    def annotators(self) -> tuple[str, ...]:
        """All annotators, sorted by name."""
        everything: tuple[Override | ReviewMark | Confirmation, ...]
        everything = (*self.overrides, *self.marks, *self.confirmations)
        return tuple(sorted({each.author for each in everything}))


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
