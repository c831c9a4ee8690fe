"""ROUGE-L between texts, and the most typical text of several.

Knows: words as rouge-score cuts them. Does not know: items, labels, systems.

Source: Lin, ROUGE: A Package for Automatic Evaluation of Summaries (2004), as the task's script has it: words
of the rouge-score package, no stemming, F-measure. Its scorer, to which the tests hold this one, is not
imported: that takes two seconds (nltk, scikit-learn, pandas), at each start of a command.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from rouge_score.tokenize import tokenize

MOST_COMPARED = 256  # texts that each candidate for the most typical one is compared with


@lru_cache(maxsize=1 << 16)  # a window scores the same texts again after each change of a label
def rouge_l(candidate: str, reference: str) -> float:
    """The F-measure (0 to 1) of ROUGE-L; 0 where either text has no words."""
    words = _words(candidate)
    return _f_measure(_places(words), words, _words(reference))


def holds_words(text: str) -> bool:
    """Whether a text has anything that ROUGE-L compares: a Latin letter without accent, or a digit."""
    return bool(_words(text))


class Typicality:
    """Which of some texts is most like the others, by mean ROUGE-L; computed once, asked for any subset.

    At most MOST_COMPARED of the texts, evenly spread, are those that all are compared with.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        words = [_words(text) for text in texts]
        step = -(-len(texts) // MOST_COMPARED) if texts else 1
        self._compared = np.arange(0, len(texts), step)
        self._likeness = _likeness(words, [words[index] for index in self._compared])

    def most_typical(self, indices: Sequence[int]) -> int | None:
        """The index, out of `indices`, of the text most like the others of them; of equal ones the first.

        None without indices. Where none of them is among the texts compared with, the first.
        """
        if not len(indices):
            return None
        chosen = np.asarray(indices)
        columns = np.flatnonzero(np.isin(self._compared, chosen))
        if not len(columns):
            return int(chosen[0])
        likeness = self._likeness[np.ix_(chosen, columns)]
        # A text is not compared with itself, which would favour those that are among the columns.
        itself = chosen[:, None] == self._compared[columns][None, :]
        counts = np.maximum((~itself).sum(axis=1), 1)
        return int(chosen[int(np.argmax((likeness * ~itself).sum(axis=1) / counts))])


Words = tuple[str, ...]


def _words(text: str) -> Words:
    return tuple(tokenize(text, None))


def _likeness(texts: Sequence[Words], others: Sequence[Words]) -> npt.NDArray[np.float64]:
    """ROUGE-L F-measures, shape (texts, others)."""
    rows: dict[Words, list[float]] = {}
    for text in texts:
        if text not in rows:
            places = _places(text)
            rows[text] = [_f_measure(places, text, other) for other in others]
    return np.array([rows[text] for text in texts]).reshape(len(texts), len(others))


def _places(words: Words) -> dict[str, int]:
    """For each word the places where it stands, as bits."""
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        places[word] = places.get(word, 0) | 1 << place
    return places


def _f_measure(places: dict[str, int], words: Words, other: Words) -> float:
    """ROUGE-L by a longest common subsequence in bits, some 50 times as fast as by a table.

    A zero bit of `open_places` marks where the subsequence grew. Source: Hyyrö, Bit-Parallel LCS-length
    Computation Revisited (2004).
    """
    if not words or not other:
        return 0.0
    every = (1 << len(words)) - 1
    open_places = every
    for word in other:
        met = open_places & places.get(word, 0)
        open_places = ((open_places + met) | (open_places - met)) & every
    common = len(words) - open_places.bit_count()
    return 2 * common / (len(words) + len(other))
