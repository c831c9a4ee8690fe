"""A run's labels as pairs of a chosen and a rejected response, for who trains a model by preferences.

The columns are those of TRL's preference data with an explicit prompt, in its standard form: texts alone.

Knows: which labels make a pair, the two formats. Does not know: how items are judged, chat templates.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import SetupError
from engine.core.formatting import counted, words
from engine.core.items import PREFERENCES, Order, Preference
from engine.data.dataset import Dataset
from engine.data.dataset_file import Cell, write_dataset
from engine.decisions.run_results import RunResults
from engine.system.files import whole_file

SUFFIXES = (".jsonl", ".parquet")
_TIES, _UNSCORED = "ties", "unscored"


@dataclass(frozen=True)
class PreferencePairs:
    """`columns`: what is written, with a cell for each pair. `in_words`: how many, and what is omitted."""

    columns: Mapping[str, Sequence[Cell]]
    in_words: str


def preference_pairs(results: RunResults, dataset: Dataset, criterion: str) -> PreferencePairs:
    """The items whose effective label on a criterion is A or B, in the order of the run.

    `margin`: the probability of the chosen response less that of the rejected one, 0 to 1; a label of an
    annotator or a submission has 1. Ties and what has no label are omitted. SetupError where no item is left.
    """
    items = {item.id: item for item in dataset}
    rows: list[tuple[str, str, str, float, str]] = []
    left_out: Counter[str] = Counter()
    for judgment in results.judgments[criterion]:
        label, probabilities = results.label(judgment), results.probabilities(judgment)
        if label is None or probabilities is None:
            left_out[_UNSCORED] += 1
        elif label in (Preference.A, Preference.B):
            item = items[judgment.item_id]
            order = Order.AB if label is Preference.A else Order.BA
            chosen, rejected = order.arrange(item.output_a, item.output_b)
            by_label = dict(zip(PREFERENCES, probabilities, strict=True))
            margin = by_label[label] - by_label[label.swapped]
            rows.append((item.instruction, chosen, rejected, margin, item.id))
        else:
            left_out[_TIES] += 1
    if not rows:
        raise SetupError(
            f"No item of {results.run.called} has the label A or B on {words(criterion)}: there are no"
            " preference pairs to write.",
            f"Name another criterion: {', '.join(results.judgments)}",
        )
    names = ("prompt", "chosen", "rejected", "margin", "id")
    pairs = counted(len(rows), "pair", "pairs")
    ties = counted(left_out[_TIES], "tie", "ties")
    return PreferencePairs(
        dict(zip(names, zip(*rows, strict=True), strict=True)),
        f"{pairs} on {words(criterion)}; omitted: {ties}, {left_out[_UNSCORED]:,} without a label",
    )


def write_preference_pairs(path: Path, pairs: PreferencePairs) -> None:
    """Write them as JSON Lines or as Parquet, by one of SUFFIXES, whole or not at all. SetupError."""
    if path.suffix.lower() == ".parquet":
        write_dataset(path, pairs.columns)
        return
    with whole_file(path) as file:
        for row in zip(*pairs.columns.values(), strict=True):
            line = json.dumps(dict(zip(pairs.columns, row, strict=True)), ensure_ascii=False)
            file.write(f"{line}\n".encode())
