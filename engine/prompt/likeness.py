"""Which of many texts are most like another by their words: TF-IDF weights, cosine.

Imported where somebody asks, and not before: scikit-learn takes a second to load.

Knows: texts, scikit-learn's vectorizer. Does not know: items, labels, prompts.
"""

import re
from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

# Chinese and Japanese are written without spaces: each of their characters counts as a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[^\W{_UNSPACED}]+|[{_UNSPACED}]")
_DECIMALS = 6  # computers differ in the sixteenth


class WordLikeness:
    """Finds those most like a text among others, which are given once: these alone show how rare a word
    is.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """`texts`: with letter case as it shall count."""
        self._count = len(texts)
        self._vectorizer = TfidfVectorizer(token_pattern=_WORD.pattern, lowercase=False)
        self._by_word = None
        if any(map(_WORD.search, texts)):
            # A text then meets only the texts that have one of its words.
            self._by_word = self._vectorizer.fit_transform(texts).T.tocsr()

    def nearest(self, text: str, count: int) -> list[int]:
        """The places of the `count` texts most like this one, the nearest first; of equals the first first.

        All of them where there are no more.
        """
        likeness = np.zeros(self._count)
        if self._by_word is not None:
            likeness = np.round((self._vectorizer.transform([text]) @ self._by_word).toarray()[0], _DECIMALS)
        least = np.partition(likeness, -count)[-count] if count < self._count else 0.0
        found = np.flatnonzero(likeness >= least)
        order = np.argsort(-likeness[found], kind="stable")[:count]
        places: list[int] = found[order].tolist()
        return places
