"""The items of a dataset by what they have in common: a column, lengths, the script, a label, a tag."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from engine.annotations.effective import skipped_in_words
from engine.core.errors import SetupError
from engine.core.formatting import clipped, did_you_mean, listed, quoted, words
from engine.core.items import grouped
from engine.data.column_content import finite_number
from engine.data.dataset import TEXT_COLUMNS, Dataset

COLUMN, LABEL = "column:", "label:"
"""How the name of a division begins that is by a column of any name, by the human label of a criterion."""

TAG, RANDOM_SAMPLE = "tag", "random-sample"
Tags = Mapping[str, Sequence[str]]
"""What annotators tagged items with, by item id; those without a tag may be missing."""

MOST_VALUES = 20
EMPTY, OTHERS, UNLABELLED, UNTAGGED = "(empty)", "(all others)", "(no label)", "(no tag)"

MIXED = "mixed scripts"
CODE = "with code"
NONE = "no letters"

_LOOKED_AT = 1000  # characters of each text
_MAIN = 0.8  # the share of the letters that makes one script the text's
_KANA = 0.1  # of Han and Kana together: from here on it is Japanese
_SCRIPTS = {"CJK": "Han", "HIRAGANA": "Kana", "KATAKANA": "Kana", "HALFWIDTH": "Kana", "FULLWIDTH": "Latin"}
# A fence; or a line of program text: it ends as one does, or begins as one does and has a sign of one.
_FENCE = re.compile(r"^\s*```", re.MULTILINE)
_CODE_LINE = re.compile(
    r"^\s*(?:(?:def|class|function|fn|public|private|static|void|for|while|if)\b.*[({:]\s*"
    r"|(?:import|from|#include|using|package)\s[\w.<\"/{}*, ]+[;>\"]?"
    r"|[^\s].*[;{}]\s*|[\w.\[\]]+\s*=\s*\S.*|return\b.*)$"
)
_LEAST_CODE_LINES = 2

_NEAR_SHARE = 0.1  # responses whose lengths differ by no more of the longer one are about equally long
_OWN: Mapping[str, str] = {
    "length": "length of both responses",
    "instruction": "length of the instruction",
    "longer": "which response is longer",
    "script": "script of the texts",
    "label": "human label",
    TAG: "tag",
    RANDOM_SAMPLE: "random sample",
}


@dataclass(frozen=True)
class Noted:
    """The annotations of items by which these can be divided: tags, and which are of a random sample.

    `sampled`: the ids of its labelled items; `skipped`: of those that were passed without a label.
    """

    tags: Tags = field(default_factory=dict)
    sampled: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Slice:
    """Some items of a dataset, by their ids in order.

    `key` is what the user types for it and `name` what is shown; both may be a text of the file. `caveat`:
    what is to be known of all that is measured by it, empty for nothing.
    """

    key: str
    name: str
    ids: tuple[str, ...]
    caveat: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.ids)

    def as_json(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        caveat = {"caveat": self.caveat} if self.caveat else {}
        return {"slice": self.name, "key": self.key, **caveat, **facts}


@dataclass(frozen=True)
class Slicing:
    """All items of a dataset, each in one of `slices`; by tag, in that of each of its tags.

    `by`: as it is asked for; `title`: in words.
    """

    by: str
    title: str
    slices: tuple[Slice, ...]

    @property
    def words(self) -> str:
        """What the parts are of, without room for a long name."""
        return clipped(self.title)

    def in_words(self, part: Slice) -> str:
        """One of the slices for users: `subset = reasoning`."""
        return f"{self.words} = {clipped(part.name)}"


class _OfSlice(Protocol):
    def as_json(self) -> dict[str, Any]: ...


PathKind = TypeVar("PathKind", bound=_OfSlice)


@dataclass(frozen=True)
class OfSlices(Generic[PathKind]):
    """What was found of the slices of a division; those of which there is nothing to say are omitted."""

    division: Slicing
    slices: tuple[PathKind, ...]

    def as_json(self) -> dict[str, Any]:
        slices = [found.as_json() for found in self.slices]
        return {"by": self.division.by, "title": self.division.title, "slices": slices}


def divisions(dataset: Dataset, noted: Noted | None = None) -> dict[str, str]:
    """By what the items of a dataset can be divided, each with its title; columns of its own come last."""
    found = {by: title for by, title in _OWN.items() if by not in ("label", TAG, RANDOM_SAMPLE)}
    found |= {TAG: _OWN[TAG]} if noted and noted.tags else {}
    found |= {RANDOM_SAMPLE: _OWN[RANDOM_SAMPLE]} if noted and noted.sampled else {}
    found |= {f"{LABEL}{name}": f"human label: {words(name)}" for name in dataset.criteria}
    return found | {f"{COLUMN}{name}": name for name in dataset.other_columns}


def slicing(dataset: Dataset, by: str, noted: Noted | None = None) -> Slicing:
    """The items divided by `length`, `instruction` (its length), `longer`, `script`, `label`,
    `label:CRITERION`, `tag`, `random-sample`, a column of the file or `column:NAME`; empty slices are left
    out. SetupError for anything else, and by what users `noted` where they noted nothing of it.

    A text column has a slice for each of its 20 most frequent values and one for all others, as tags have;
    numbers with more values than that are divided by quartiles. Source of the division by length: response
    length is the best known bias of judges (Dubois et al., Length-Controlled AlpacaEval, 2024).
    """
    if by in _DIVIDE:
        return _made(dataset, by, _OWN[by], _DIVIDE[by](dataset))
    if by == TAG:
        return _made(dataset, by, _OWN[by], _by_tag(dataset, noted.tags if noted else {}))
    if by == RANDOM_SAMPLE:
        return _by_sample(dataset, noted or Noted())
    if by.startswith(LABEL) and (name := by.removeprefix(LABEL)) in dataset.criteria:
        return _made(dataset, by, f"human label: {words(name)}", _by_label(dataset, name))
    column = by.removeprefix(COLUMN)
    if column not in dataset.other_columns:
        raise _unknown(dataset, by)
    return _made(dataset, by, column, _by_column(dataset, column))


def select(dataset: Dataset, request: str, noted: Noted | None = None) -> tuple[Slicing, Slice]:
    """The one slice that `BY=VALUE` names: any value of a column, any tag, or the key or name of a slice.

    SetupError where there is none, with those that there are.
    """
    by, sign, value = _at_sign(dataset, request)
    if not sign:
        raise SetupError(f"{quoted(request)} is not a slice.", "Write a column and its value: COLUMN=value")
    division = slicing(dataset, by, noted)
    if value.strip() and (ids := _with_value(dataset, by, value, noted.tags if noted else {})):
        return division, Slice(value, value, ids)
    for part in division.slices:
        if value in (part.key, part.name):
            return division, part
    names = [part.key for part in division.slices]
    raise SetupError(
        f"{dataset.name} has no item with {clipped(by)} = {quoted(value)}.",
        f"{did_you_mean(value, names)}There are {listed(names, MOST_VALUES)}.",
    )


def _with_value(dataset: Dataset, by: str, value: str, tags: Tags) -> tuple[str, ...]:
    """The items with a value of a column, or with a tag, also with one that is too rare for a slice."""
    if by == TAG:
        return tuple(item_id for item_id in dataset.ids if value in tags.get(item_id, ()))
    column = by.removeprefix(COLUMN)
    if by in _DIVIDE or by == RANDOM_SAMPLE or column not in dataset.other_columns:
        return ()
    texts: list[str] = dataset.texts(column).to_pylist()
    return tuple(item_id for item_id, text in zip(dataset.ids, texts, strict=True) if text == value)


def is_by_annotators(request: str) -> bool:
    """Whether what annotators noted decides on what the user asks for: `tag`, `tag=VALUE`,
    `random-sample`.
    """
    return request.partition("=")[0] in (TAG, RANDOM_SAMPLE)


def _at_sign(dataset: Dataset, request: str) -> tuple[str, str, str]:
    """A request parted at the sign = that ends a name of the dataset; column names may hold one too."""
    for place, char in enumerate(request):
        by = request[:place]
        if char == "=" and (by in dataset.other_columns or by.removeprefix(COLUMN) in dataset.other_columns):
            return by, char, request[place + 1 :]
    return request.partition("=")


def _unknown(dataset: Dataset, by: str) -> SetupError:
    if by == TAG:
        how = "Tag items on the page Review; for a column of this name write column:tag."
        return SetupError(f"No item of {dataset.name} has a tag.", how)
    if by == RANDOM_SAMPLE:
        how = "On the page Review, list the items in the order “Random sample” and label them from the top."
        return SetupError(f"No item of {dataset.name} was labelled in a random sample.", how)
    known = [*_OWN, *dataset.other_columns]
    if by.startswith(LABEL) or by == "label":
        found = ", ".join(dataset.criteria) or "none"
        return SetupError(
            f"{dataset.name} has no human labels for {quoted(by)}.", f"Criteria with labels: {found}."
        )
    return SetupError(
        f"{dataset.name} cannot be sliced by {quoted(by)}: it has no such column.",
        f"{did_you_mean(by, known)}Items can be sliced by {listed(known, 2 * MOST_VALUES)}.",
    )


_Part = tuple[str, str, npt.NDArray[np.int64]]  # key, name, rows


def _made(dataset: Dataset, by: str, title: str, parts: Iterable[_Part]) -> Slicing:
    ids = dataset.ids
    found = (Slice(key, name, tuple(ids[row] for row in rows)) for key, name, rows in parts if len(rows))
    return Slicing(by, title, tuple(found))


def _by_column(dataset: Dataset, column: str) -> Iterator[_Part]:
    texts: list[str] = dataset.texts(column).to_pylist()
    rows_of = grouped(range(len(texts)), key=lambda row: texts[row] if texts[row].strip() else "")
    empty = rows_of.pop("", [])
    numbers = {text: value for text in rows_of if (value := finite_number(text)) is not None}
    many = len(rows_of) > MOST_VALUES
    if many and len(numbers) == len(rows_of):
        values = np.array([numbers.get(text, math.nan) for text in texts])
        filled = np.isfinite(values)
        yield from _by_bounds(values, filled, ("q1", "q2", "q3", "q4"), "")
        yield "", EMPTY, np.flatnonzero(~filled)
        return
    # Many by their frequency; a few numbers by size, before other texts by their letters.
    by_size = {text: (numbers.get(text, math.inf), text) for text in rows_of}
    order = sorted(rows_of, key=(lambda text: -len(rows_of[text])) if many else by_size.__getitem__)
    yield from _the_first(order, rows_of, "values")
    yield "", EMPTY, _rows(empty)


def _by_tag(dataset: Dataset, tags: Tags) -> Iterator[_Part]:
    """The most frequent tags first; an item with several is in the slice of each."""
    rows_of: dict[str, list[int]] = {}
    for row, item_id in enumerate(dataset.ids):
        for tag in dict.fromkeys(tags.get(item_id, ())):
            rows_of.setdefault(tag, []).append(row)
    if not rows_of:
        raise _unknown(dataset, TAG)
    yield from _the_first(sorted(rows_of, key=lambda tag: (-len(rows_of[tag]), tag)), rows_of, "tags")
    yield "", UNTAGGED, _rows(set(range(len(dataset))).difference(*rows_of.values()))


def _by_sample(dataset: Dataset, noted: Noted) -> Slicing:
    """The labelled items of random samples, those that were skipped in them, and all others."""
    sampled = tuple(item_id for item_id in dataset.ids if item_id in noted.sampled)
    if not sampled:
        raise _unknown(dataset, RANDOM_SAMPLE)
    skipped = tuple(item_id for item_id in dataset.ids if item_id in noted.skipped)
    in_sample = {*sampled, *skipped}
    others = tuple(item_id for item_id in dataset.ids if item_id not in in_sample)
    parts = (
        Slice("labelled", "labelled in it", sampled, skipped_in_words(len(skipped), len(sampled))),
        Slice("skipped", "skipped in it", skipped),
        Slice("others", "not in it", others),
    )
    return Slicing(RANDOM_SAMPLE, _OWN[RANDOM_SAMPLE], tuple(part for part in parts if part.ids))


def _the_first(order: Sequence[str], rows_of: Mapping[str, Sequence[int]], what: str) -> Iterator[_Part]:
    """A part for each of the first values, and one for all others."""
    for value in order[:MOST_VALUES]:
        yield value, value, _rows(rows_of[value])
    rest, others = order[MOST_VALUES:], OTHERS
    while others in rows_of:  # a value of the file's own
        others = f"({others})"
    rows = {row for value in rest for row in rows_of[value]}
    yield others, f"(all others: {len(rest):,} {what})", _rows(rows)


def _by_bounds(
    values: npt.NDArray[np.float64], among: npt.NDArray[np.bool_], keys: Sequence[str], unit: str
) -> Iterator[_Part]:
    """Parts of about equal size by value, each up to a bound that is a value that occurs."""
    shares = [place / len(keys) for place in range(1, len(keys))]
    bounds: list[float] = []
    if among.any():
        bounds = np.quantile(values[among], shares, method="inverted_cdf").tolist()
    low: float = -math.inf
    for place, key in enumerate(keys):
        high = bounds[place] if place < len(bounds) else math.inf
        rows = np.flatnonzero(among & (values > low) & (values <= high))
        over = "" if low == -math.inf else f"over {low:g}"
        up_to = "" if high == math.inf else f"up to {high:g}"
        yield key, f"{' '.join(filter(None, (over, up_to))) or 'all'}{unit}", rows
        low = max(low, high)


def _by_thirds(lengths: npt.NDArray[np.int64]) -> Iterator[_Part]:
    everything = np.ones(len(lengths), np.bool_)
    keys = ("short", "middle", "long")
    for key, name, rows in _by_bounds(lengths.astype(np.float64), everything, keys, " characters"):
        yield key, f"{key}: {name}", rows


def _by_longer(dataset: Dataset) -> Iterator[_Part]:
    a, b = dataset.lengths("output_a"), dataset.lengths("output_b")
    equal = np.abs(a - b) <= _NEAR_SHARE * np.maximum(a, b)
    yield "A", "A is longer", np.flatnonzero(~equal & (a > b))
    yield "equal", "about equal (within 10 %)", np.flatnonzero(equal)
    yield "B", "B is longer", np.flatnonzero(~equal & (b > a))


def _by_script(dataset: Dataset) -> Iterator[_Part]:
    texts = list(zip(*(dataset.texts(name).to_pylist() for name in TEXT_COLUMNS), strict=True))
    rows_of = grouped(range(len(texts)), key=lambda row: script_of(texts[row]))
    for script in sorted(rows_of, key=lambda found: (-len(rows_of[found]), found)):
        yield script, script, _rows(rows_of[script])


def _by_overall(dataset: Dataset) -> Iterator[_Part]:
    if not dataset.criteria:
        raise _unknown(dataset, "label")
    return _by_label(dataset, dataset.criteria[-1])  # the rubric's last is the overall one


def _by_label(dataset: Dataset, criterion: str) -> Iterator[_Part]:
    labels: list[str] = dataset.texts(f"{criterion}_preference").to_pylist()
    rows_of = grouped(range(len(labels)), key=labels.__getitem__)
    for label in sorted(filter(None, rows_of)):
        yield label, words(label), _rows(rows_of[label])
    yield "none", UNLABELLED, _rows(rows_of.get("", ()))


def _rows(rows: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.array(sorted(rows), np.int64)


_DIVIDE: Mapping[str, Callable[[Dataset], Iterator[_Part]]] = {
    "length": lambda dataset: _by_thirds(dataset.lengths("output_a") + dataset.lengths("output_b")),
    "instruction": lambda dataset: _by_thirds(dataset.lengths("instruction")),
    "longer": _by_longer,
    "script": _by_script,
    "label": _by_overall,
}


# Scripts


def script_of(texts: Iterable[str]) -> str:
    """The script of most letters of some texts: `Latin`, `Cyrillic`, `Han`, `Japanese`; MIXED where none has
    four fifths of them; CODE where a text holds program text; NONE without a letter.

    The first 1,000 characters of each text are looked at. Latin letters next to another script count as
    the others do.
    """
    begun = [text[:_LOOKED_AT] for text in texts]
    if any(map(_holds_code, begun)):
        return CODE
    found: Counter[str] = Counter()
    for text in begun:
        for letter, count in Counter(text).items():
            if letter.isalpha():
                found[_script(letter)] += count
    japanese = found["Han"] + found["Kana"]
    if found["Kana"] and found["Kana"] >= _KANA * japanese:
        del found["Han"], found["Kana"]
        found["Japanese"] = japanese
    if not found:
        return NONE
    [(script, count)] = found.most_common(1)
    return script if count >= _MAIN * found.total() else MIXED


@cache
def _script(letter: str) -> str:
    """The script of a letter: the first word of its name, `LATIN SMALL LETTER A`."""
    name = unicodedata.name(letter, "other letters").split()[0]
    return _SCRIPTS.get(name, name.capitalize())


def _holds_code(text: str) -> bool:
    if "```" in text and _FENCE.search(text):
        return True
    if not any(sign in text for sign in ("=", ";", "{", "(")) or "\n" not in text:
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    code = sum(len(line) < 200 and _CODE_LINE.match(line) is not None for line in lines)
    return code >= _LEAST_CODE_LINES and 2 * code >= len(lines)
