"""The parts of the labelled items: examples to be shown, items to choose by, items that take no part in it.

All items of an instruction are in one part. A seed draws the instructions, as it does in the runs: so
whatever is judged of a part, however early it ended, is a random sample of it.

Knows: instructions, labels that are there. Does not know: models, what the labels say.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from engine.core.errors import SetupError
from engine.core.formatting import counted
from engine.core.items import Preference
from engine.data.dataset import Dataset
from engine.data.dataset_file import Columns
from engine.data.sampling import in_drawn_order

LEAST = 30
"""Labelled instructions: of fewer nothing is chosen that would hold elsewhere."""
_EXAMPLES = (8, 24)  # instructions, at least and at most
_SHARE_OF_EXAMPLES = 8  # one in this many
_SHARE_TO_CHOOSE_BY = 0.6  # of the others
_SHARE_LOOKED_AT_FIRST = 1 / 3  # of those
_LEAST_LOOKED_AT = 12  # of fewer nothing is given up


@dataclass(frozen=True)
class DataSplit:
    """The ids of the items of each part. `examples`: to be shown, empty where a file has them or there are
    too few. `first`, `rest`: to choose by, of which `first` is looked at before anything is given up.
    `held_out`: to say what the chosen settings are worth.
    """

    examples: tuple[str, ...]
    first: tuple[str, ...]
    rest: tuple[str, ...]
    held_out: tuple[str, ...]

    @property
    def to_choose_by(self) -> tuple[str, ...]:
        """The first and the rest."""
        return (*self.first, *self.rest)

    @property
    def judged(self) -> tuple[str, ...]:
        """All that runs may judge."""
        return (*self.to_choose_by, *self.held_out)


def parts_of(
    dataset: Dataset, criteria: Collection[str], seed: int, most: int | None, own_examples: bool
) -> DataSplit:
    """The parts of the items that have a label on one of the criteria.

    `most`: this many items are judged at most. `own_examples`: whether examples are to be held out.
    SetupError for labels of fewer than LEAST instructions.
    """
    labelled = {item_id for name in criteria for item_id in dataset.labels(name)}
    by_instruction: dict[str, list[str]] = {}
    for item_id, instruction in dataset.groups.items():
        if item_id in labelled:
            by_instruction.setdefault(instruction, []).append(item_id)
    drawn = in_drawn_order(by_instruction, seed)
    if len(drawn) < LEAST:
        raise SetupError(
            f"{dataset.name} has human labels for {counted(len(drawn), 'instruction', 'instructions')};"
            f" selecting and evaluating settings needs {LEAST}.",
            "Label more items, or use a dataset with more labels.",
        )
    least, largest = _EXAMPLES
    aside = min(max(len(drawn) // _SHARE_OF_EXAMPLES, least), largest)
    shown = aside if own_examples and len(drawn) >= LEAST + aside else 0
    asked = _at_most(drawn[shown:], by_instruction, most)
    if len(asked) < LEAST:
        raise SetupError(
            f"{counted(len(asked), 'instruction', 'instructions')} would be judged: too few to select"
            " settings.",
            f"Judge items of at least {LEAST} different instructions.",
        )
    chosen_by = round(_SHARE_TO_CHOOSE_BY * len(asked))
    first = max(round(_SHARE_LOOKED_AT_FIRST * chosen_by), _LEAST_LOOKED_AT)

    def ids(instructions: Sequence[str]) -> tuple[str, ...]:
        return tuple(item_id for instruction in instructions for item_id in by_instruction[instruction])

    return DataSplit(
        ids(drawn[:shown]), ids(asked[:first]), ids(asked[first:chosen_by]), ids(asked[chosen_by:])
    )


def _at_most(drawn: Sequence[str], ids: Mapping[str, Sequence[str]], most: int | None) -> list[str]:
    kept, items = [], 0
    for instruction in drawn:
        items += len(ids[instruction])
        if most is not None and items > most:
            break
        kept.append(instruction)
    return kept


def columns_of_examples(dataset: Dataset, parts: DataSplit) -> Columns:
    """The examples with their labels and explanations, as columns of a file."""
    shown = dataset.only(frozenset(parts.examples))
    return {name: shown.table[name].to_pylist() for name in shown.table.column_names}


class PartOfItems:
    """Judge some items, as long as there is time: an Inquiry (engine/judge/inquiry.py)."""

    width: float | None = None
    leaves_out = False
    is_tuning = True

    def __init__(self, ids: Collection[str], seed: int, criterion: str, seconds: float) -> None:
        """`seconds`: from now on."""
        self.seed = seed
        self.criterion = criterion
        self._left = set(ids)
        self._end = time.monotonic() + seconds

    @property
    def is_answered(self) -> bool:
        """Whether all are judged, or the time is over."""
        return not self._left or time.monotonic() >= self._end

    def wants(self, item_id: str) -> bool:
        """Whether it is one of the items, and there is time."""
        return item_id in self._left and not self.is_answered

    def add(self, labels: Mapping[str, Preference | None]) -> Sequence[str]:
        """What was judged is done; nothing is reported of it."""
        self._left -= labels.keys()
        return ()
