"""Sentences of an explanation: where it repeats itself, and where it has said enough.

Knows: what ends a sentence. Does not know: models, tokens, languages' grammar.
"""

import re
from collections.abc import Sequence

# Abbreviations and the numbers of a list have a full stop, and the sentence goes on.
_NO_END = (
    "[a-z]",
    "[A-Z]\\.[A-Z]",
    r"\d",
    r"\d\d",
    r"e\.g",
    r"i\.e",
    "vs",
    "etc",
    "Dr",
    "Mr",
    "Mrs",
    "Ms",
    "St",
)
_END = re.compile(
    "(?<=[.!?])" + "".join(rf"(?<!\b{word}\.)" for word in _NO_END) + r"[\"'”’)\]]*\s+|(?<=[。！？])|\n+"
)
_CLOSED = re.compile(r"[.!?。！？][\"'”’)\]]*\s*$")
_LEAST_WORDS = 3  # of a sentence that can be a repeated one


def repeats_a_sentence(text: str) -> bool:
    """True where a sentence of three words or more stands in a text twice, but for case and punctuation."""
    return _first_repeat([text[start:end] for start, end in _sentences(text)]) is not None


def complete_length(text: str, most_sentences: int, ended: bool = False) -> int | None:
    """Where a text that a model writes is to end, in characters; None where it stays as it is, or goes on.

    It ends before a sentence that it has said already, and after `most_sentences` sentences. `ended`: whether
    the last sentence is whole; of a growing text it may still become another.
    """
    found = _sentences(text)
    whole = found if ended else found[:-1]
    repeat = _first_repeat([text[start:end] for start, end in whole])
    if repeat is not None:
        return found[repeat - 1][1]
    return found[most_sentences - 1][1] if len(found) > most_sentences else None


def without_half_sentence(text: str) -> str:
    """A text that was cut, without what was begun of its last sentence; as it is where that is all of it."""
    found = _sentences(text)
    return text if len(found) == 1 or _CLOSED.search(text) else text[: found[-2][1]]


def _sentences(text: str) -> list[tuple[int, int]]:
    """Where each sentence begins and ends, in characters; the last one may go on."""
    found, start = [], 0
    for end in _END.finditer(text):
        if text[start : end.start()].strip():
            found.append((start, end.start()))
            start = end.end()
    return [*found, (start, len(text))] if text[start:].strip() or not found else found


def _first_repeat(sentences: Sequence[str]) -> int | None:
    """The place of the first sentence that stood before it too."""
    known = set()
    for place, sentence in enumerate(sentences):
        words = tuple(re.findall(r"\w+", sentence.lower()))
        if len(words) >= _LEAST_WORDS and words in known:
            return place
        known.add(words)
    return None
