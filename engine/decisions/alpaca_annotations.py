"""A run's labels as annotations of AlpacaEval, whose win rates can be computed from them.

Knows: the names and the scale of its annotations. Does not know: how items are judged, files.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.column_map import CANDIDATES
from engine.core.items import PREFERENCES, Preference
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults

_TIE = 1.5


def alpaca_annotations(results: RunResults, dataset: Dataset, criterion: str) -> Sequence[Mapping[str, Any]]:
    """An annotation for each item with an effective label on a criterion, in the order of the run.

    `preference`: 1 where response A, `output_1`, is certainly better, 2 where B is: 1 + P(B), ties
    counting half; 1.5 where the label is a tie. `generator_1`, `generator_2`: who wrote the responses by the
    dataset, else A and B.
    """
    items = {item.id: item for item in dataset}
    names = dict(zip(dataset.ids, zip(*_generators(dataset), strict=True), strict=True))
    annotator = results.run.identity.model_name
    made = []
    for judgment in results.judgments[criterion]:
        label, probabilities = results.label(judgment), results.probabilities(judgment)
        if label is None or probabilities is None:
            continue
        item, (first, second) = items[judgment.item_id], names[judgment.item_id]
        made.append(
            {
                "instruction": item.instruction,
                "output_1": item.output_a,
                "generator_1": first,
                "output_2": item.output_b,
                "generator_2": second,
                "annotator": annotator,
                "preference": _preference(label, probabilities),
            }
        )
    return made


def _generators(dataset: Dataset) -> Sequence[Sequence[str]]:
    """Who wrote the responses A, and B, of each item."""
    return [
        [name or place for name in dataset.texts(column).to_pylist()]
        for column, place in zip(CANDIDATES, (Preference.A.value, Preference.B.value), strict=True)
    ]


def _preference(label: Preference, probabilities: Sequence[float]) -> float:
    if label not in (Preference.A, Preference.B):
        return _TIE
    by_label = dict(zip(PREFERENCES, probabilities, strict=True))
    return 1 + by_label[Preference.B] + (by_label[Preference.BOTH_GOOD] + by_label[Preference.BOTH_BAD]) / 2
