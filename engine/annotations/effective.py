"""The annotations of a run: which are effective, who is how far, who gave which label, what can be undone."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from engine.annotations.records import LAST, Annotation, AnnotationKind, LabelSource, LabelSourceKind
from engine.core.formatting import counted
from engine.core.items import TIES, HumanLabel, Preference, Tie, grouped, majority
from engine.core.judgments import JudgmentKey, Keyed, Origin, ReviewState

LabelsOfAnnotator = Mapping[JudgmentKey, HumanLabel]


@dataclass(frozen=True)
class EffectiveAnnotation(Keyed):
    """The effective annotation of a judgment, which replaces the judge's label, explanation or both.
    `label_by`, `text_by`: who gave each; empty and None for the judge's own. `created`: the time of the newer
    of them (UTC). `origin`, `seed`: of the label, `written_for` of the explanation, as of an override.
    """

    item_id: str
    criterion: str
    preference: HumanLabel | None
    explanation: str | None
    label_by: tuple[str, ...]
    text_by: str | None
    created: datetime
    written_for: HumanLabel | None = None
    origin: Origin | None = None
    seed: int | None = None
    adjudicated: bool = False

    @property
    def author(self) -> str:
        """`Ada`, or `Ada and Ben` where label and explanation are of two annotators."""
        return " and ".join(self.authors)

    @property
    def authors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.label_by, *([self.text_by] if self.text_by else [])]))

    def fits(self, label: HumanLabel | None) -> bool:
        """Whether its explanation is of this label, as far as is known."""
        return self.written_for is None or label is None or self.written_for is label


def _standing_of(
    label: Annotation | None, texts: Sequence[Annotation], newest: Annotation, label_by: tuple[str, ...] = ()
) -> EffectiveAnnotation:
    """A label (given by `label_by`), and of `texts`, the oldest first, the newest of it, or the newest."""
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
        label is not None and label.settles,
    )


def standing_notes(notes: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """The last note of each annotator that is not undone or empty; `notes` has the oldest first."""
    last: dict[str, Annotation] = {}
    for note in notes:
        if note.undone is None:
            last.pop(note.author, None)
            last[note.author] = note
    return tuple(note for note in last.values() if note.text or note.tags)


def tags_together(notes: Iterable[Annotation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for note in notes for tag in note.tags))


@dataclass(frozen=True)
class AnnotatorStep:
    """All annotations of an item by one annotator at one time (UTC), which are undone or redone together."""

    at: datetime
    undone: datetime | None
    words: tuple[Annotation, ...]

    @property
    def keys(self) -> frozenset[JudgmentKey]:
        """The judgments that it is of; none for a note or a state alone."""
        return frozenset(word.key for word in self.words if word.criterion)


def steps_of(words: Iterable[Annotation], author: str) -> list[AnnotatorStep]:
    """What an annotator did with an item, the oldest first; `words`: all annotations of it."""
    own = (word for word in words if word.author == author and word.kind is not AnnotationKind.REPEAT)
    by_time = grouped(own, key=lambda word: word.created)
    return [
        AnnotatorStep(at, None if any(word.undone is None for word in said) else said[0].undone, tuple(said))
        for at, said in sorted(by_time.items())
    ]


def to_undo(steps: Sequence[AnnotatorStep]) -> AnnotatorStep | None:
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
        parts = ((self.labels, "label"), (self.explanations, "explanation"))
        counts = [counted(number, name, f"{name}s") for number, name in parts if number]
        return " and ".join(counts) or "nothing"

    @property
    def by_whom(self) -> str:
        """The same with the names: `2 labels and 1 explanation, by Ada, Ben`."""
        return f"{self.in_words}, by {', '.join(self.authors)}" if self.authors else self.in_words


def count_overrides(standing: Iterable[EffectiveAnnotation]) -> OverrideCount:
    known = list(standing)
    names = Counter(name for each in known for name in each.authors)
    labels = sum(each.preference is not None for each in known)
    explanations = sum(each.explanation is not None for each in known)
    return OverrideCount(labels, explanations, tuple(name for name, _ in names.most_common()))


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
    """Sentences on which of some labels are of items that were picked; none where none are."""
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
    """All annotations of a run, those of each kind with the oldest first; also undone ones."""

    all: tuple[Annotation, ...] = ()

    @cached_property
    def overrides(self) -> tuple[Annotation, ...]:
        return tuple(word for word in self.all if word.kind is AnnotationKind.OVERRIDE)

    @cached_property
    def confirmations(self) -> tuple[Annotation, ...]:
        return tuple(word for word in self.all if word.kind is AnnotationKind.CONFIRMATION)

    @cached_property
    def repeats(self) -> tuple[Annotation, ...]:
        """Labels of hidden repeats: no source of labels knows them."""
        return tuple(word for word in self.all if word.kind is AnnotationKind.REPEAT)

    @cached_property
    def marks(self) -> tuple[Annotation, ...]:
        return tuple(word for word in self.all if word.kind is AnnotationKind.STATE)

    def only(self, ids: Container[str]) -> "Reviews":
        return Reviews(tuple(word for word in self.all if word.item_id in ids))

    @cached_property
    def effective_marks(self) -> Mapping[tuple[str, str], Annotation]:
        """The last state of each annotator and item, by item id and name; also to do."""
        return {(mark.item_id, mark.author): mark for mark in self.marks if mark.undone is None}

    def state(self, item_id: str, author: str) -> ReviewState:
        mark = self.effective_marks.get((item_id, author))
        return mark.state if mark and mark.state else ReviewState.TO_DO

    def marks_of(self, item_id: str) -> Sequence[Annotation]:
        """The effective states of an item, one for each annotator who has done or skipped it."""
        return self._marks_by_item.get(item_id, ())

    @cached_property
    def _marks_by_item(self) -> Mapping[str, Sequence[Annotation]]:
        marks = (mark for mark in self.effective_marks.values() if mark.state is not ReviewState.TO_DO)
        return grouped(marks, key=lambda mark: mark.item_id)

    @cached_property
    def labels(self) -> Mapping[str, LabelsOfAnnotator]:
        """The labels that each annotator gave or accepted, by name, of each judgment the last; an adjudicated
        label is none, nor one that they accepted and whose override they undid.
        """
        return {
            author: {key: each.preference for key, each in given.items() if each.preference is not None}
            for author, given in self._given.items()
        }

    @property
    def origins(self) -> list[tuple[str, Origin | None]]:
        """Of each of `labels` the item, and how the annotator came to it; None where that is not known."""
        return [(key.item_id, each.origin) for given in self._given.values() for key, each in given.items()]

    def given_on(self, key: JudgmentKey) -> dict[str, Annotation]:
        """By name, what holds each annotator's label of a judgment."""
        return {author: given[key] for author, given in self._given.items() if key in given}

    @property
    def labels_by_seed(self) -> Mapping[int, int]:
        """How many of `labels` were given in the random sample of each seed."""
        given = (each for of_one in self._given.values() for each in of_one.values())
        return Counter(each.seed for each in given if each.seed is not None)

    @cached_property
    def _given(self) -> Mapping[str, Mapping[JudgmentKey, Annotation]]:
        said = [*self.confirmations, *(each for each in self.overrides if not each.settles)]
        taken_back = {
            (override.author, override.key, override.preference): (override.created, override.undone)
            for override in self.overrides
            if override.undone
        }
        given: dict[str, dict[JudgmentKey, Annotation]] = {}
        for each in sorted(said, key=lambda each: each.created):
            if each.undone is None and each.preference is not None:
                gone = taken_back.get((each.author, each.key, each.preference))
                confirms = each.kind is AnnotationKind.CONFIRMATION
                if not (confirms and gone and gone[0] < each.created < gone[1]):
                    given.setdefault(each.author, {})[each.key] = each
        return given

    def standing_by(self, source: LabelSource) -> dict[JudgmentKey, EffectiveAnnotation]:
        """By judgment, what replaces the judge's, where it is of this source."""
        if source not in self._by_source:
            keys = dict.fromkeys([*self._last, *(each.key for each in self.confirmations)])
            found = ((key, self._standing(source, key)) for key in keys)
            self._by_source[source] = {key: standing for key, standing in found if standing is not None}
        return self._by_source[source]

    @cached_property
    def _by_source(self) -> dict[LabelSource, dict[JudgmentKey, EffectiveAnnotation]]:
        return {}

    def made_ready(self) -> "Reviews":
        """The same, with all computed that a window asks for at each key: 45 ms for 6,000 annotations, which
        a worker spends.
        """
        _ = self.accepted, self.effective_marks, self.labels, self.unsettled, self._said, self._words
        return self

    @cached_property
    def accepted(self) -> Mapping[JudgmentKey, EffectiveAnnotation]:
        """By judgment, the last label that an annotator gave, where it was accepted and is no override's."""
        found, standing = {}, self.standing_by(LAST)
        for key in dict.fromkeys(each.key for each in self.confirmations):
            given, now = self.given_on(key).values(), standing.get(key)
            last = max(given, key=lambda each: (each.created, each.author), default=None)
            if last is None or last.kind is not AnnotationKind.CONFIRMATION:
                continue
            if now is None or not (now.adjudicated or now.preference is last.preference):
                texts = [each for each in self.last_of_each(key) if each.explanation]
                found[key] = _standing_of(last, texts, last)
        return found

    def _standing(self, source: LabelSource, key: JudgmentKey) -> EffectiveAnnotation | None:
        last, given = self.last_of_each(key), self.given_on(key)
        texts = [each for each in last if each.explanation]
        labels = [each for each in last if each.preference is not None]
        adjudicated = [each for each in labels if each.settles]
        match source.kind:
            case LabelSourceKind.LAST if last:
                # Of each annotator the last override counts, as a whole: the label is the newest of these,
                # but an adjudicator's comes before all others.
                label = next(reversed(adjudicated or labels), None)
                return _standing_of(label, texts, last[-1])
            case LabelSourceKind.ADJUDICATED if adjudicated:
                label = adjudicated[-1]
                of_label = [text for text in texts if text.settles or text.written_for is label.preference]
                return _standing_of(label, of_label, label)
            case LabelSourceKind.MAJORITY if (wanted := self._majority(key)) is not None:
                meant = (wanted, *TIES) if wanted is Tie.TIE else (wanted,)
                holders = {name: each for name, each in given.items() if each.preference in meant}
                newest = replace(max(holders.values(), key=lambda each: each.created), preference=wanted)
                of_label = [each for each in texts if each.written_for in meant and each.author in holders]
                return _standing_of(newest, of_label, newest, tuple(sorted(holders)))
            case LabelSourceKind.ANNOTATOR:
                label, name = given.get(source.annotator), source.annotator
                own = [text for text in texts if text.author == name and not text.settles]
                return _standing_of(label, own, label or own[-1]) if label or own else None
        return None

    @cached_property
    def differing(self) -> frozenset[JudgmentKey]:
        given = {(key, label) for labels in self.labels.values() for key, label in labels.items()}
        return frozenset(key for key, times in Counter(key for key, _ in given).items() if times > 1)

    @cached_property
    def adjudicated(self) -> Mapping[JudgmentKey, EffectiveAnnotation]:
        return self.standing_by(LabelSource(LabelSourceKind.ADJUDICATED))

    @cached_property
    def unsettled(self) -> frozenset[JudgmentKey]:
        return self.differing - self.adjudicated.keys()

    @property
    def adjudicated_in_words(self) -> str:
        """`7 of 19 adjudicated`, of those on which annotators differ; empty if they differ on none."""
        differing = len(self.differing)
        return f"{differing - len(self.unsettled):,} of {differing:,} adjudicated" if differing else ""

    def proposed(self, key: JudgmentKey) -> Preference | None:
        """The label that more than half of the annotators gave, where it says of which kind a tie is."""
        label = self._majority(key)
        return label if isinstance(label, Preference) else None

    def _majority(self, key: JudgmentKey) -> HumanLabel | None:
        return majority([each.preference for each in self.given_on(key).values() if each.preference])

    def said_on(self, key: JudgmentKey) -> Sequence[Annotation]:
        return self._said.get(key, ())

    @cached_property
    def _said(self) -> Mapping[JudgmentKey, Sequence[Annotation]]:
        said = sorted([*self.overrides, *self.confirmations], key=lambda each: each.created)
        return grouped(said, key=lambda each: each.key)

    def words_of(self, item_id: str) -> Sequence[Annotation]:
        return self._words.get(item_id, ())

    @cached_property
    def _words(self) -> Mapping[str, Sequence[Annotation]]:
        return grouped(self.all, key=lambda each: each.item_id)

    def last_of_each(self, key: JudgmentKey) -> list[Annotation]:
        """Of each annotator the last override, the oldest first; as an adjudicator apart."""
        return list(self._last.get(key, {}).values())

    @cached_property
    def _last(self) -> Mapping[JudgmentKey, Mapping[tuple[str, bool], Annotation]]:
        standing: dict[JudgmentKey, dict[tuple[str, bool], Annotation]] = {}
        texts: dict[tuple[JudgmentKey, str, str], HumanLabel | None] = {}
        for given in self.overrides:
            if given.undone is None:
                written_for = given.written_for
                if given.explanation is not None and written_for is None:
                    # In stores of earlier versions an explanation is of the label that it first came with.
                    place = (given.key, given.author, given.explanation)
                    written_for = texts.setdefault(place, given.preference)
                last = standing.setdefault(given.key, {})
                last.pop((given.author, given.settles), None)
                same = written_for is given.written_for
                last[given.author, given.settles] = given if same else replace(given, written_for=written_for)
        return standing

    def own(self, key: JudgmentKey, author: str, settles: bool = False) -> Annotation | None:
        last = self.last_of_each(key)
        return next((each for each in last if (each.author, each.settles) == (author, settles)), None)

    @property
    def annotators(self) -> tuple[str, ...]:
        return annotators_of(self.all)


def annotators_of(words: Iterable[Annotation]) -> tuple[str, ...]:
    return tuple(sorted({word.author for word in words}))
