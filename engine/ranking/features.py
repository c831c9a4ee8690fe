"""What of two responses may move a judge: by how much more of a feature A has than B, counted by patterns in
the text. The words are English ones. And how much more A is like a reference answer, where one is known.
"""

import numpy as np
import pyarrow.compute as pc

from engine.core.column_map import OUTPUTS
from engine.core.items import BACKGROUND
from engine.core.numeric import FloatArray
from engine.data.arrow_arrays import to_numpy
from engine.data.dataset import Dataset
from engine.metrics.explanations import rouge_l

LENGTH = "length"
LIKENESS = "like the reference"
STYLE = {
    "lists": r"(?m)^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]",
    "headings": r"(?m)^ {0,3}#{1,6} ",
    "bold": r"\*\*[^*\n]+\*\*|__[^_\n]+__|(?i)<(?:b|strong)>",
}
"""Items of lists, headings and bold parts, by RE2 patterns."""
_WORDS = {
    "code": r"(?m)^[ \t]*```|`[^`\n]+`",
    "first person": r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b",
    "hedging": r"(?i)\b(?:may|might|could|perhaps|possibly|probably|likely|seems?|appears?|generally"
    r"|typically|not sure|it depends|I (?:think|believe|guess)|in my opinion)\b",
    "refusals": r"(?i)\b(?:I(?: am|['’]m) (?:sorry|unable|not able)|I apologi[sz]e|I (?:cannot|can['’]?t"
    r"|will not|won['’]?t)|as an AI|I(?: am|['’]m) (?:just |only )?an? (?:AI|(?:large )?language model))\b",
}


def standardised(differences: FloatArray) -> FloatArray:
    """tanh(difference / the root mean square of all), -1 to 1: nearly 1 is much more. Not all 0."""
    return np.asarray(np.tanh(differences / np.sqrt(np.mean(differences**2))))


def style_differences(dataset: Dataset) -> dict[str, FloatArray]:
    """By feature of STYLE how many more of it A has than B: each (items,)."""
    return {name: _more(dataset, pattern) for name, pattern in STYLE.items()}


def feature_differences(dataset: Dataset) -> dict[str, FloatArray]:
    """The same of all features, length in characters first; likeness is ROUGE-L, 0 without a reference."""
    one, other = (dataset.lengths(name) for name in OUTPUTS)
    of_words = {name: _more(dataset, pattern) for name, pattern in _WORDS.items()}
    known = {LENGTH: (one - other).astype(np.float64), **style_differences(dataset), **of_words}
    if (reference := BACKGROUND[1]) in dataset.background:
        texts = (dataset.texts(name).to_pylist() for name in (*OUTPUTS, reference))
        more = [rouge_l(a, of) - rouge_l(b, of) if of else 0.0 for a, b, of in zip(*texts, strict=True)]
        known[LIKENESS] = np.array(more)
    return known


def _more(dataset: Dataset, pattern: str) -> FloatArray:
    texts = (dataset.texts(name) for name in OUTPUTS)
    one, other = (to_numpy(pc.count_substring_regex(each, pattern)) for each in texts)
    return np.asarray(one.astype(np.float64) - other)
