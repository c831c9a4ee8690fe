"""What annotators say, as one record: a row of the run store, a line of the write-ahead log, and a line of an
annotation file; which labels count, and what a review list holds.
"""

import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from secrets import randbelow
from threading import Lock
from typing import Any, Literal

from engine.core.errors import SetupError
from engine.core.formatting import did_you_mean, listed, quoted
from engine.core.items import HumanLabel, unsafe_explanation
from engine.core.judgments import Keyed, Origin, ReviewState
from engine.settings.identity import checked_name, checked_note


class AnnotationKind(StrEnum):
    """What an annotation says; the values are the names of the store's tables."""

    OVERRIDE = "override"  # a label, an explanation or both in the place of the judge's
    CONFIRMATION = "confirmation"  # the effective label is accepted, or one is given blind
    REPEAT = "repeated_label"  # a label of an item that came once more, unmarked; it never counts as one
    STATE = "review_mark"  # how far the annotator is with the item, until their next one
    NOTE = "item_note"  # text and tags of the item, whichever run judged it; the next one replaces it
    DRAFT = "draft"  # an unsaved explanation, or without a criterion an unsaved note


NEVER = datetime.fromtimestamp(0, UTC)  # when something was said that was not said yet


@dataclass(frozen=True)
class Annotation(Keyed):
    """What an annotator says of an item, or of its judgment on a criterion. Times are in UTC. An override
    leaves the judge's label or explanation where it has none. SetupError for one without both.
    """

    kind: AnnotationKind
    item_id: str = ""
    criterion: str = ""
    author: str = ""
    created: datetime = NEVER
    preference: HumanLabel | None = None
    explanation: str | None = None
    written_for: HumanLabel | None = None
    """The label that the explanation is of; None where that is not known."""
    settles: bool = False  # whether it is an adjudicator's
    state: ReviewState | None = None
    text: str = ""
    tags: tuple[str, ...] = ()
    content_hash: str = ""  # of a note, in the place of `item_id`
    origin: Origin | None = None  # how the annotator came to the item; None where that is not known
    seed: int | None = None
    """Of the random sample that it was given in; None in what is new for that of the run."""
    blind: bool | None = None
    """Whether the labels of others, of the judge and of the dataset were hidden; None if not known."""
    undone: datetime | None = None
    redone: datetime | None = None
    id: str = ""  # of a draft, its name in the write-ahead log

    def __post_init__(self) -> None:
        if self.kind is AnnotationKind.OVERRIDE and self.preference is None and not self.explanation:
            raise SetupError(
                f"The override of item {self.item_id}, {self.criterion}, changes nothing.",
                "Choose a label, write an explanation, or do both.",
            )

    @property
    def place(self) -> str:
        """Its item: the id, of a note the hash of the content."""
        return self.content_hash or self.item_id

    @property
    def identity(self) -> tuple[object, ...]:
        """What it has in common with itself in another store; of one time with other content are two."""
        target = (self.kind, self.place, self.criterion, self.author, self.created, self.settles)
        return (*target, self.preference, self.explanation, self.state, self.text, self.tags)

    def turned_after(self, other: "Annotation") -> bool:
        """Whether this is a later state, undone or redone, of the same annotation."""
        turns = [(each.undone, each.redone) for each in (self, other)]
        mine, others = (max((at for at in times if at is not None), default=NEVER) for times in turns)
        return turns[0] != turns[1] and mine > others


def new_override(
    item_id: str,
    criterion: str,
    preference: HumanLabel | None,
    explanation: str | None,
    author: str,
    **how: Any,
) -> Annotation:
    """`how`: further fields of an Annotation: `origin`, `seed`, `written_for`, `blind`, `settles`."""
    kind = AnnotationKind.OVERRIDE
    return Annotation(kind, item_id, criterion, author, preference=preference, explanation=explanation, **how)


def new_review(
    item_id: str,
    author: str,
    state: ReviewState | None = None,
    confirmed: Mapping[str, HumanLabel] = {},
    origin: Origin | None = None,
    **how: Any,
) -> tuple[Annotation, ...]:
    """A step of several annotations: a state, if one is given, and the labels accepted, by criterion."""
    step = Annotation(AnnotationKind.STATE, item_id, "", author, state=state, origin=origin, **how)
    accepted = replace(step, kind=AnnotationKind.CONFIRMATION, state=None)
    labels = (replace(accepted, criterion=name, preference=label) for name, label in confirmed.items())
    return (*([] if state is None else [step]), *labels)


def new_note(content_hash: str, text: str, tags: Iterable[str], author: str) -> Annotation:
    note = Annotation(AnnotationKind.NOTE, author=author, text=text, tags=tuple(tags))
    return replace(note, content_hash=content_hash)


def new_draft(item_id: str, criterion: str, author: str, text: str | None) -> Annotation:
    """One without a text ends those that it replaces."""
    return Annotation(AnnotationKind.DRAFT, item_id, criterion, author, text=text or "")


@dataclass(frozen=True)
class Undo:
    """An annotator undoes their step on an item at that time (UTC), or with `again` redoes it."""

    item_id: str
    content_hash: str
    author: str
    step: datetime
    again: bool = False


@dataclass(frozen=True)
class RunWords:
    """What a run is called, and noted of it; empty for nothing, None leaves it as it is."""

    name: str | None = None
    note: str | None = None


AnyWord = Annotation | tuple[Annotation, ...] | Undo | RunWords
"""What is said at once; several annotations are those of one review of an item."""


def annotations_in(what: AnyWord) -> tuple[Annotation, ...]:
    if isinstance(what, tuple):
        return what
    return (what,) if isinstance(what, Annotation) else ()


def place_of(what: AnyWord) -> str:
    """The item that something is said of: its id, of a note the hash of its content; empty for a run."""
    if isinstance(what, Undo):
        return what.item_id
    return next((word.place for word in annotations_in(what)), "")


_NOTE, _DRAFT = ("content_hash", "text", "tags", "author"), ("item_id", "criterion", "author", "text")
_HOW = ("origin", "seed")
LOGGED: Mapping[str, tuple[str, ...]] = {
    "override": (
        *("item_id", "criterion", "preference", "explanation", "author", *_HOW),
        *("written_for", "blind", "settles"),
    ),
    "undo": ("item_id", "content_hash", "author", "step", "again"),
    "review": ("item_id", "author", "state", "confirmed", *_HOW, "blind"),
    "note": _NOTE,
    "draft": _DRAFT,
    "run": ("name", "note"),
}
"""By the kind of a line of the write-ahead log, the names of its values; they stay."""
LOGGED_KINDS = {
    "override": AnnotationKind.OVERRIDE,
    "note": AnnotationKind.NOTE,
    "draft": AnnotationKind.DRAFT,
}


@dataclass(frozen=True)
class Said:
    what: AnyWord
    at: datetime
    run_id: int | None = None  # None for an annotation on an item
    made: datetime | None = None  # when that run was made, for a store that was thrown away begins at 1 again
    over: tuple[str, ...] = ()  # names of the drafts that end with it

    def as_values(self) -> dict[str, Any]:
        what: Any = self.what
        given: dict[str, Any] = {}
        if isinstance(what, tuple):
            kind, what = "review", what[0]
            words = annotations_in(self.what)
            given["confirmed"] = {each.criterion: each.preference for each in words if each.criterion}
        elif isinstance(what, Annotation):
            kind = next(name for name, of in LOGGED_KINDS.items() if of is what.kind)
        else:
            kind = "undo" if isinstance(what, Undo) else "run"
        values = {name: given.get(name, getattr(what, name, None)) for name in LOGGED[kind]}
        if kind == "undo":
            values["step"] = what.step.isoformat()
        elif kind == "draft":
            values["text"] = what.text or None
        elif kind == "note":
            values["tags"] = list(what.tags)
        line: dict[str, Any] = {"kind": kind, "at": self.at.isoformat(), "what": values}
        if self.run_id is not None:
            line |= {"run": self.run_id, "made": self.made and self.made.isoformat()}
        return line | ({"over": list(self.over)} if self.over else {})


_TELLING = Lock()
if sys.platform != "win32":  # a process that is forked meanwhile would find it locked for ever
    _unlock = _TELLING.release
    os.register_at_fork(before=_TELLING.acquire, after_in_parent=_unlock, after_in_child=_unlock)
_NEAR = timedelta(seconds=1)
_TOLD = deque([NEVER], maxlen=1)  # the last time that was told


def later(at: datetime, than: datetime | None) -> datetime:
    """A time, or where it is not after another one, the next moment after that."""
    if than is None or at > than:
        return at
    # Not always the same moment: two computers may both continue from one annotation that came to both.
    return than + timedelta(milliseconds=1, microseconds=randbelow(1000))


def now(after: datetime | None = None) -> datetime:
    """The time in UTC, in milliseconds; no two of one program are equal, for annotations of one time are one
    step. `after`: the time of the last annotation before this one, which this one's is never before.
    """
    # Clocks are set back and the latest annotation counts, and some clocks go by 16 milliseconds.
    time = datetime.now(UTC)
    time = time.replace(microsecond=time.microsecond // 1000 * 1000)
    with _TELLING:
        if timedelta() <= _TOLD[-1] - time < _NEAR:  # else the clock was set
            time = _TOLD[-1] + timedelta(milliseconds=1)
        _TOLD.append(time)
    return later(time, after)


def refuse_unfit(what: AnyWord) -> None:
    """Raise the SetupError with which the store would refuse an annotation, whatever is in the store."""
    for word in annotations_in(what):
        checked(word)
    if isinstance(what, Undo):
        checked_author(what.author)
    elif isinstance(what, RunWords):
        checked_name(what.name or "")
        checked_note(what.note or "")


def checked(word: Annotation) -> Annotation:
    """An annotation as the store keeps it, texts stripped. SetupError for no name, odd texts and tags."""
    word = replace(word, author=checked_author(word.author))
    if word.kind is AnnotationKind.DRAFT:  # the text as it stands in the editor
        return word
    tags = tuple(dict.fromkeys(tag.strip() for tag in word.tags if tag.strip()))
    if unprintable := [tag for tag in tags if not tag.isprintable()]:
        raise SetupError(f"{unprintable[0]!r} cannot be a tag.", "Write a tag in one line.")
    return replace(word, explanation=checked_explanation(word.explanation), text=word.text.strip(), tags=tags)


def checked_author(author: str) -> str:
    """A name without white space around it; SetupError where nothing is left, or more than a line."""
    name = author.strip()
    if not name or not name.isprintable():
        raise SetupError(
            f"An annotation needs the annotator's name; {author!r} is not a name.",
            "Write a name in one line.",
        )
    return name


def checked_explanation(explanation: str | None) -> str | None:
    """Stripped, None if it is empty; SetupError for one that a submission cannot hold."""
    text = (explanation or "").strip()
    if not text:
        return None
    if unsafe_explanation(text):
        raise SetupError(
            f"A submission cannot contain the explanation {quoted(text)}: pandas would not read it back as"
            " text.",
            "Use a sentence as explanation.",
        )
    return text


class LabelSourceKind(StrEnum):
    """Which human labels replace the judge's. The values are those of files and stay."""

    LAST = "last"
    ADJUDICATED = "settled"
    MAJORITY = "majority"
    ANNOTATOR = "person"
    JUDGE = "judge"

    @property
    def option(self) -> str:
        """Its name on the command line; empty for ANNOTATOR, which is chosen by name."""
        return "" if self is LabelSourceKind.ANNOTATOR else _CALLED[self][0]


_CALLED = {
    LabelSourceKind.LAST: (
        "effective",
        "effective labels: adjudicated, else the newest annotation, else the judge's",
    ),
    LabelSourceKind.ADJUDICATED: ("adjudicated", "adjudicated labels"),
    LabelSourceKind.MAJORITY: ("majority", "the annotators' majority"),
    LabelSourceKind.JUDGE: ("judge", "judge only"),
}
LABEL_SOURCES = tuple(option for option, _ in _CALLED.values())
"""What is written on the command line, but for an annotator's name."""


@dataclass(frozen=True)
class LabelSource:
    kind: LabelSourceKind = LabelSourceKind.LAST
    annotator: str = ""

    @property
    def in_words(self) -> str:
        return self.annotator if self.kind is LabelSourceKind.ANNOTATOR else _CALLED[self.kind][1]

    @classmethod
    def of_text(cls, text: str, annotators: tuple[str, ...]) -> "LabelSource":
        """One of LABEL_SOURCES, or the name of one of `annotators`. SetupError for anything else."""
        if text in annotators:  # an annotator with the name of a kind comes first
            return cls(LabelSourceKind.ANNOTATOR, text)
        for kind, (option, _) in _CALLED.items():
            if text in (option, kind):  # callers within the program pass the kind
                return cls(kind)
        near = did_you_mean(text, [*LABEL_SOURCES, *annotators])
        known = listed(annotators) if annotators else "there is none"
        raise SetupError(
            f"There is no annotator {text!r} of these items.",
            f"{near}Use {', '.join(LABEL_SOURCES)}, or the name of an annotator: {known}.",
        )


LAST = LabelSource()
JUDGE_ALONE = LabelSource(LabelSourceKind.JUDGE)


LOW_MARGIN = 0.2
_LONGEST_SEARCH = 1000  # characters

NO_LABEL: Literal["none"] = "none"

LabelRequest = HumanLabel | Literal["none"] | None
"""A label that a row must have, NO_LABEL for none at all; None for whatever it has."""


class ListOrder(StrEnum):
    """How a review list is put in order; the last ones by what stands in a column of it."""

    UNCERTAINTY = "doubt"
    DATASET = "dataset"
    DISAGREEMENT = "disagreement"
    ANNOTATORS = "people"
    JUDGES = "judges"
    MOST_UNCERTAIN = "least sure"
    RANDOM = "random"
    LEAST_UNCERTAINTY = "least doubt"
    TO_DO = "to do"
    DONE = "done"
    ID = "id"
    ID_BACKWARDS = "id backwards"
    LABELS = "labels"
    LABELS_BACKWARDS = "labels backwards"
    MOST_MARKS = "most marks"
    FEWEST_MARKS = "fewest marks"
    INSTRUCTION = "instruction"
    INSTRUCTION_BACKWARDS = "instruction backwards"


@dataclass(frozen=True)
class Filters:
    """What a row must be to be listed: all that is set here at once. Nothing set lists every row."""

    criterion: str | None = None
    differs_from_human: bool = False
    flipped: bool = False
    unscored: bool = False
    low_margin: bool = False  # below LOW_MARGIN
    overridden: bool = False
    annotators_differ: bool = False
    stale: bool = False
    escalated: bool = False  # the label may not stand by the thresholds kept with the run
    own: LabelRequest = None  # the judge's
    label: LabelRequest = None  # the effective one
    human: LabelRequest = None  # the dataset's
    ids: frozenset[str] | None = None
    labelled: frozenset[str] = frozenset()  # items omitted for their labels: a random sample continues theirs
    text: str = ""
    """What the item's texts must hold; looked up in the dataset, as engine.data.dataset_views does."""

    @property
    def narrows(self) -> bool:
        return self != Filters()


@dataclass(frozen=True)
class WantedItems:
    """Items of a run that are to be listed, because somebody saw how many they are and asks which."""

    run_id: int
    filters: Filters
    words: str  # `human A, model both good, on relevance`
    order: ListOrder | None = None  # None for the one that is chosen


def search_pattern(text: str) -> str:
    """For `re` and RE2: finds every word of a search; empty for none, and for more than is typed."""
    if len(text) > _LONGEST_SEARCH:
        return ""
    # The longest first: where one word begins with another, the longer one is to be found.
    words = sorted(set(text.split()), key=lambda word: (-len(word), word))
    return "|".join(map(re.escape, words))
