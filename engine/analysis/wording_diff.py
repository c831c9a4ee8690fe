"""Which words two texts share in the same order, and which are in one of them alone."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from engine.core.events import CancelToken

MOST_WORDS = 10_000

# Chinese and Japanese are written without spaces: each of their characters is a word.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+")
_LONG_WORD = 4
_LONG_RUN = 3
_ROWS_AT_ONCE = 512

Span = tuple[int, int]
"""Where a passage begins and where it ends (exclusive)."""


@dataclass(frozen=True)
class Marked:
    """The passages of one text, in characters: `shared` with the other, and its `own`; each within one line.
    `compared`: how many characters were compared, from the beginning.
    """

    shared: tuple[Span, ...]
    own: tuple[Span, ...]
    compared: int


@dataclass(frozen=True)
class WordingDiff:
    """`share`: of all words that were compared, those shared, 0 to 1."""

    a: Marked
    b: Marked
    share: float


def wording_diff(a: str, b: str, cancel: CancelToken | None = None) -> WordingDiff:
    """The passages that two texts share in the same order, as many words as possible, and those that differ.
    Letter case, punctuation and white space make no difference. One or two short words between words that
    differ count as different: any two texts share such words. MOST_WORDS of each are compared. Cancelled.
    """
    words_a, words_b = _words(a), _words(b)
    keys_a, keys_b = _keys(a, words_a), _keys(b, words_b)
    runs = list(_telling(_runs(_matches(keys_a, keys_b, cancel)), keys_a, keys_b))
    shared = sum(size for _, _, size in runs)
    total = len(keys_a) + len(keys_b)
    return WordingDiff(
        _marked(a, words_a, [(first, first + size) for first, _, size in runs]),
        _marked(b, words_b, [(first, first + size) for _, first, size in runs]),
        2 * shared / total if total else 0.0,
    )


def _words(text: str) -> list[Span]:
    """Where the words are: one more than are compared where there are more."""
    return [match.span() for match in islice(_WORD.finditer(text), MOST_WORDS + 1)]


def _keys(text: str, words: Sequence[Span]) -> list[str]:
    return [text[start:end].casefold() for start, end in words[:MOST_WORDS]]


def _matches(a: Sequence[str], b: Sequence[str], cancel: CancelToken | None) -> list[Span]:
    """A longest common subsequence, as pairs of places in `a` and `b`, by the bit-parallel algorithm of Hyyrö
    (2004): a row of the usual table is the bits of one integer, so that no text makes it slow. Bit j of
    rows[i] is 0 where the j-th word of b lengthens what is shared with the first i words of a.
    """
    places: dict[str, int] = {}
    for place, word in enumerate(b):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(b)) - 1
    rows = [every]
    for place, word in enumerate(a):
        if cancel is not None and place % _ROWS_AT_ONCE == 0:
            cancel.raise_if_requested()
        row = rows[-1]
        used = row & places.get(word, 0)
        rows.append(((row + used) | (row - used)) & every)
    pairs, at, column = [], len(a), len(b)
    while at and column:  # from the last to the first
        if rows[at] >> (column - 1) & 1:
            column -= 1
        elif at > 1 and not rows[at - 1] >> (column - 1) & 1:
            at -= 1
        else:
            at, column = at - 1, column - 1
            pairs.append((at, column))
    return pairs[::-1]


def _runs(matches: Iterable[Span]) -> Iterator[tuple[int, int, int]]:
    """Matches that follow each other in both texts: place in `a`, place in `b`, number of words."""
    first_a = first_b = size = 0
    for a, b in matches:
        if size and (a, b) == (first_a + size, first_b + size):
            size += 1
            continue
        if size:
            yield first_a, first_b, size
        first_a, first_b, size = a, b, 1
    if size:
        yield first_a, first_b, size


def _telling(
    runs: Iterable[tuple[int, int, int]], a: Sequence[str], b: Sequence[str]
) -> Iterator[tuple[int, int, int]]:
    """The runs that say something: long, or with a long word, or where both texts begin or end."""
    for first_a, first_b, size in runs:
        at_start = first_a == first_b == 0
        at_end = first_a + size == len(a) and first_b + size == len(b)
        long_word = any(len(word) >= _LONG_WORD for word in a[first_a : first_a + size])
        if size >= _LONG_RUN or long_word or at_start or at_end:
            yield first_a, first_b, size


def _marked(text: str, words: Sequence[Span], shared: Sequence[Span]) -> Marked:
    compared = words[MOST_WORDS][0] if len(words) > MOST_WORDS else len(text)
    between = _between(shared, min(len(words), MOST_WORDS))
    return Marked(tuple(_passages(text, words, shared)), tuple(_passages(text, words, between)), compared)


def _between(shared: Sequence[Span], count: int) -> Iterator[Span]:
    """The runs of words that are not shared."""
    last = 0
    for first, end in (*shared, (count, count)):
        if first > last:
            yield last, first
        last = end


def _passages(text: str, words: Sequence[Span], runs: Iterable[Span]) -> Iterator[Span]:
    """Runs of words as stretches of the text, cut at the ends of lines."""
    for first, end in runs:
        start, last = words[first]
        for next_start, next_end in words[first + 1 : end]:
            if "\n" in text[last:next_start]:
                yield start, last
                start = next_start
            last = next_end
        yield start, last
