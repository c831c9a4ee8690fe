"""What a review list is to hold; apart from engine.analysis.review_order, which takes long to import.

Which labels of a run count: effective, adjudicated, the majority's, one annotator's, or the judge's.

An annotation of a run, an item or a judgment, as a record that can be stored as plain values.

It is checked when it is made, so that the store need refuse none later.
"""

import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from secrets import randbelow
from threading import Lock
from typing import Any, Literal

from engine.core.errors import SetupError
from engine.core.formatting import did_you_mean, listed, quoted
from engine.core.items import HumanLabel, Preference, unsafe_explanation
from engine.core.judgments import Keyed, NewOverride, NewReview, Origin, ReviewState, changes_nothing
from engine.settings.identity import checked_name, checked_note
from engine.settings.sampling import LARGEST_SEED


@dataclass(frozen=True)
class Undo:
    """An annotator undoes their step on an item at that time (UTC); `again`: they redo it.

    `content_hash`: of the item, whose notes are steps, too.
    """

    item_id: str
    content_hash: str
    author: str
    step: datetime
    again: bool = False


@dataclass(frozen=True)
class NewNote:
    """A note on an item, for all runs; without text and tags it removes the last one."""

    content_hash: str
    text: str
    tags: tuple[str, ...]
    author: str


@dataclass(frozen=True)
class NewDraft(Keyed):
    """A draft of an annotator's explanation; None: there is none. Without a criterion: a note."""

    item_id: str
    criterion: str
    author: str
    text: str | None


@dataclass(frozen=True)
class RunWords:
    """What a run is called, and noted of it; empty for nothing, None leaves it as it is."""

    name: str | None = None
    note: str | None = None


_TELLING = Lock()
if sys.platform != "win32":  # a process that is forked meanwhile would find it locked for ever
    _unlock = _TELLING.release
    os.register_at_fork(before=_TELLING.acquire, after_in_parent=_unlock, after_in_child=_unlock)
_NEAR = timedelta(seconds=1)
_TOLD = deque([datetime.fromtimestamp(0, UTC)], maxlen=1)  # the last time that was told

AnyWord = NewOverride | Undo | NewReview | NewNote | NewDraft | RunWords


@dataclass(frozen=True)
class Said:
    """An annotation and its time (UTC).

    `run_id`: of which run, None for an annotation on an item; `made`: when that run was made, for a store
    that was thrown away begins at 1 again; None where that is not known. `over`: names of the drafts that end
    with it.
    """

    what: AnyWord
    at: datetime
    run_id: int | None = None
    made: datetime | None = None
    over: tuple[str, ...] = ()

    def as_values(self) -> dict[str, Any]:
        """All of it as plain values."""
        what = {field.name: _plain(getattr(self.what, field.name)) for field in fields(self.what)}
        values: dict[str, Any] = {"kind": _NAMES[type(self.what)], "at": self.at.isoformat(), "what": what}
        if self.run_id is not None:
            values |= {"run": self.run_id, "made": self.made and self.made.isoformat()}
        return values | ({"over": self.over} if self.over else {})


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def said_of(values: Mapping[str, Any]) -> Said:
    """What `as_values` gave. ValueError for anything else."""
    try:
        made, readers = _KINDS[values["kind"]]
        given = values["what"]
        what = made(**{name: read(given.get(name)) for name, read in readers.items()})
        run_id, since = values.get("run"), values.get("made")
        if run_id is not None and (type(run_id) is not int or run_id < 1):
            raise ValueError(f"{run_id!r} is not a run")
        return Said(
            what,
            datetime.fromisoformat(values["at"]),
            run_id,
            None if since is None else datetime.fromisoformat(since),
            _texts(values.get("over", [])),
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"it is not an annotation: {error!r}") from error


def place_of(what: AnyWord) -> str:
    """The item that an annotation is of: its id, of a note the hash of its content; empty for an
    annotation on a run.
    """
    return str(getattr(what, "item_id", getattr(what, "content_hash", "")))


def later(at: datetime, than: datetime | None) -> datetime:
    """A time, or where it is not after another one, the next moment after that."""
    if than is None or at > than:
        return at
    # Not always the same moment: two computers may both continue from one annotation that came to both.
    return than + timedelta(milliseconds=1, microseconds=randbelow(1000))


def now(after: datetime | None = None) -> datetime:
    """The time in UTC, in milliseconds: the annotations of one annotator keep their order.

    `after`: the time of the last annotation before this one. Clocks are set back, and the latest annotation
    counts: so none is dated before one that was known when it was made.

    No two of one program are equal, for annotations of one time are one step: some clocks go by 16
    milliseconds.
    """
    time = datetime.now(UTC)
    time = time.replace(microsecond=time.microsecond // 1000 * 1000)
    with _TELLING:
        if timedelta() <= _TOLD[-1] - time < _NEAR:  # else the clock was set
            time = _TOLD[-1] + timedelta(milliseconds=1)
        _TOLD.append(time)
    return later(time, after)


def refuse_unfit(what: AnyWord) -> None:
    """Raise the SetupError with which the store would refuse an annotation, whatever is in the store."""
    match what:
        case NewOverride():
            if checked_explanation(what.explanation) is None and what.preference is None:
                raise changes_nothing(what)
            checked_author(what.author)
        case NewNote():
            checked_tags(what.tags)
            checked_author(what.author)
        case RunWords():
            checked_name(what.name or "")
            checked_note(what.note or "")
        case _:
            checked_author(what.author)


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
    """An explanation without white space around it, None if it is empty.

    SetupError for one that a submission cannot hold.
    """
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


def checked_tags(tags: Iterable[str]) -> list[str]:
    """Tags without white space around them, each once; SetupError for one of several lines."""
    cleaned = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if unprintable := [tag for tag in cleaned if not tag.isprintable()]:
        raise SetupError(f"{unprintable[0]!r} cannot be a tag.", "Write a tag in one line.")
    return cleaned


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _truth(value: object) -> bool:
    if type(value) is not bool:
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _seed(value: object) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST_SEED:
        raise TypeError(f"{value!r} is no seed")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"{value!r} is no list of texts")
    return tuple(map(_text, value))


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _truth_or_false(value: object) -> bool:
    return value is not None and _truth(value)


def _labels(value: object) -> dict[str, Preference]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} has no labels")
    return {_text(name): Preference(label) for name, label in value.items()}


_JUDGMENT = {"item_id": _text, "criterion": _text, "author": _text}
_KINDS: Mapping[str, tuple[Callable[..., AnyWord], Mapping[str, Callable[[Any], Any]]]] = {
    "override": (
        NewOverride,
        _JUDGMENT
        | {
            "preference": _or_none(Preference),
            "explanation": _or_none(_text),
            "origin": _or_none(Origin),
            "seed": _or_none(_seed),
            "written_for": _or_none(Preference),
            "blind": _or_none(_truth),
            "settles": _truth_or_false,
        },
    ),
    "undo": (
        Undo,
        {
            "item_id": _text,
            "content_hash": _text,
            "author": _text,
            "step": datetime.fromisoformat,
            "again": _truth_or_false,
        },
    ),
    "review": (
        NewReview,
        {
            "item_id": _text,
            "author": _text,
            "state": _or_none(ReviewState),
            "confirmed": _labels,
            "origin": _or_none(Origin),
            "seed": _or_none(_seed),
            "blind": _or_none(_truth),
        },
    ),
    "note": (NewNote, {"content_hash": _text, "text": _text, "tags": _texts, "author": _text}),
    "draft": (NewDraft, _JUDGMENT | {"text": _or_none(_text)}),
    "run": (RunWords, {"name": _or_none(_text), "note": _or_none(_text)}),
}
_NAMES = {made: name for name, (made, _readers) in _KINDS.items()}


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
        return _OPTIONS.get(self, "")


_WORDS = {
    LabelSourceKind.LAST: "effective labels: adjudicated, else the newest annotation, else the judge's",
    LabelSourceKind.ADJUDICATED: "adjudicated labels",
    LabelSourceKind.MAJORITY: "the annotators' majority",
    LabelSourceKind.JUDGE: "judge only",
}
_OPTIONS = {
    LabelSourceKind.LAST: "effective",
    LabelSourceKind.ADJUDICATED: "adjudicated",
    LabelSourceKind.MAJORITY: "majority",
    LabelSourceKind.JUDGE: "judge",
}
LABEL_SOURCES = tuple(_OPTIONS.values())
"""What is written on the command line, but for an annotator's name."""


@dataclass(frozen=True)
class LabelSource:
    """One of them; `annotator`: the name, if it is one annotator's."""

    kind: LabelSourceKind = LabelSourceKind.LAST
    annotator: str = ""

    @property
    def in_words(self) -> str:
        """`the annotators' majority`, `Ada`."""
        return self.annotator if self.kind is LabelSourceKind.ANNOTATOR else _WORDS[self.kind]

    @classmethod
    def of_text(cls, text: str, annotators: tuple[str, ...]) -> "LabelSource":
        """One of LABEL_SOURCES, or the name of one of `annotators`. SetupError for anything else."""
        if text in annotators:  # an annotator with the name of a kind comes first
            return cls(LabelSourceKind.ANNOTATOR, text)
        for kind, option in _OPTIONS.items():
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
    """What a row must be to be listed: all that is set here at once. Nothing set lists every row.

    `low_margin`: below LOW_MARGIN. `own`, `label`, `human`: the judge's own label, the effective one, the
    dataset's. `ids`: only rows of these items. `labelled`: items that are omitted because they have a label
    already; a random sample of the others continues theirs. `text`: what the item's texts must hold; who
    filters looks it up in the dataset, as `engine.data.dataset_views.matching_rows` does.
    """

    criterion: str | None = None
    differs_from_human: bool = False
    flipped: bool = False
    unscored: bool = False
    low_margin: bool = False
    overridden: bool = False
    annotators_differ: bool = False
    stale: bool = False
    own: LabelRequest = None
    label: LabelRequest = None
    human: LabelRequest = None
    ids: frozenset[str] | None = None
    labelled: frozenset[str] = frozenset()
    text: str = ""

    @property
    def narrows(self) -> bool:
        """True where it leaves anything out."""
        return self != Filters()


@dataclass(frozen=True)
class WantedItems:
    """Items of a run that are to be listed, because somebody saw how many they are and asks which.

    `words`: what they have in common, `human A, model both good, on relevance`. `order`: None for the one
    that is chosen.
    """

    run_id: int
    filters: Filters
    words: str
    order: ListOrder | None = None


def search_pattern(text: str) -> str:
    """A regular expression (of `re` and RE2 alike) that finds every word of a search.

    Where one word begins with another, the longer one is found. Empty without a word, and for a search that
    is longer than any that is typed.
    """
    if len(text) > _LONGEST_SEARCH:
        return ""
    words = sorted(set(text.split()), key=lambda word: (-len(word), word))
    return "|".join(map(re.escape, words))
