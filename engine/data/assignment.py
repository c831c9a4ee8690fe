"""Who labels what: items dealt to annotators by a seed, with a stated overlap, items that all of them label,
training, and hidden repeats. What is dealt depends on ids, names and the seed, not on the order of the file.

Knows: which item each annotator gets at which place. Does not know: runs, what was labelled.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from engine.core.errors import SetupError
from engine.core.formatting import counted, listed
from engine.data.dataset import Dataset
from engine.data.label_origins import drawn_place, in_drawn_order
from engine.data.submission import Columns
from engine.settings.sampling import DEFAULT_SEED, checked_seed

TRAINING = "training-"
"""How the ids of training items begin, which annotators may know as such. All others tell nothing."""
PLACE = "place-"
_TEXTS = ("instruction", "output_a", "output_b")


class Purpose(StrEnum):
    """Why an annotator gets an item."""

    TRAINING = "training"  # before all others; what is said there never counts
    GOLD = "gold"  # with a human label, and everybody's
    ITEM = "item"
    REPEAT = "repeat"  # one of the others, once more


@dataclass(frozen=True)
class AssignmentDesign:
    """`overlap`: how many annotators label each item. `items`: how many are dealt, None for all. `training`,
    `gold`: how many all annotators get; `repeats`: how many of their items each gets twice. SetupError.
    """

    annotators: tuple[str, ...]
    overlap: int = 1
    items: int | None = None
    training: int = 0
    gold: int = 0
    repeats: int = 0
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        if not self.annotators:
            raise SetupError("No annotator is named.", "Name at least one.")
        if len({name.casefold() for name in self.annotators}) < len(self.annotators):
            raise SetupError(f"An annotator is named twice: {listed(self.annotators)}.", "Name each once.")
        if not 1 <= self.overlap <= len(self.annotators):
            raise SetupError(
                f"An overlap of {self.overlap} is not possible with"
                f" {counted(len(self.annotators), 'annotator', 'annotators')}.",
                f"Use 1 to {len(self.annotators)}.",
            )
        counts = (self.items, self.training, self.gold, self.repeats)
        if any(each is not None and each < 0 for each in counts):
            raise SetupError("A number of items is negative.", "Use 0 or more.")


@dataclass(frozen=True)
class AssignedItem:
    """`id`: in the annotator's file, where neither gold nor repeats can be told from other items; `item_id`:
    in the dataset.
    """

    id: str
    item_id: str
    purpose: Purpose


Assignment = Mapping[str, Sequence[AssignedItem]]
"""By annotator, their items in the order in which they see them."""


def assign(dataset: Dataset, design: AssignmentDesign) -> Assignment:
    """Deal the items of a dataset, but for those whose texts stand in it twice, which nothing could tell
    apart afterwards. Loads differ by one item at most; so, nearly, do items that two annotators share.
    SetupError where there are too few items.
    """
    contents = {item.id: item.content_hash for item in dataset}
    twice = Counter(contents.values())
    ids = in_drawn_order((each for each, content in contents.items() if twice[content] == 1), design.seed)
    known = {item_id for name in dataset.criteria for item_id in dataset.labels(name)}
    labelled = [item_id for item_id in ids if item_id in known]
    common = labelled[: design.training + design.gold]
    if len(common) < design.training + design.gold:
        raise SetupError(
            f"{dataset.name} has {counted(len(labelled), 'item', 'items')} with a human label:"
            f" {design.training:,} for training and {design.gold:,} gold ones need more.",
            "Use fewer of them, or a dataset with more human labels.",
        )
    training, gold = common[: design.training], common[design.training :]
    rest = [item_id for item_id in ids if item_id not in {*common}][: design.items]
    dealt = _dealt(rest, design)
    found = {}
    for name in design.annotators:
        whole = dict.fromkeys(gold, Purpose.GOLD) | dict.fromkeys(dealt[name], Purpose.ITEM)
        own = sorted((drawn_place(f"{name}\0{item_id}", design.seed), item_id) for item_id in whole)
        shown = _with_repeats([(item_id, whole[item_id]) for _, item_id in own], name, design)
        trained = _placed(TRAINING, [(item_id, Purpose.TRAINING) for item_id in training])
        found[name] = [*trained, *_placed(PLACE, shown)]
    return found


def _placed(begins: str, those: Sequence[tuple[str, Purpose]]) -> list[AssignedItem]:
    """With ids that are their places, all as long as the last: lists of files sort ids as texts."""
    digits = len(str(len(those)))
    return [AssignedItem(f"{begins}{place:0{digits}}", *each) for place, each in enumerate(those, start=1)]


def _dealt(ids: Sequence[str], design: AssignmentDesign) -> dict[str, list[str]]:
    """Each item to those with the fewest items yet, and of these to who shares the fewest with the others."""
    names = in_drawn_order(design.annotators, design.seed)
    found: dict[str, list[str]] = {name: [] for name in names}
    shared = Counter[frozenset[str]]()
    for item_id in ids:
        chosen: list[str] = []
        for _ in range(design.overlap):
            chosen.append(
                min(
                    (name for name in names if name not in chosen),
                    key=lambda name: (
                        len(found[name]),
                        sum(shared[frozenset((name, other))] for other in chosen),
                    ),
                )
            )
        for name in chosen:
            found[name].append(item_id)
        shared.update(map(frozenset, combinations(chosen, 2)))
    return found


def _with_repeats(
    shown: Sequence[tuple[str, Purpose]], name: str, design: AssignmentDesign
) -> list[tuple[str, Purpose]]:
    """The repeats are of items of the first half, each half of the list after its item."""
    half = len(shown) // 2
    if design.repeats > half:
        raise SetupError(
            f"{design.repeats:,} hidden repeats are too many for {counted(len(shown), 'item', 'items')} of"
            f" {name}.",
            f"Use {half:,} or fewer, so that half of the list lies between an item and its repeat.",
        )
    again = in_drawn_order((item_id for item_id, _ in shown[:half]), design.seed)[: design.repeats]
    placed = [(float(place), each) for place, each in enumerate(shown)]
    for place, (item_id, _) in enumerate(shown[:half]):
        if item_id in again:
            placed.append((place + half + 0.5, (item_id, Purpose.REPEAT)))
    return [each for _, each in sorted(placed, key=lambda pair: pair[0])]


def columns_for(dataset: Dataset, assigned: Sequence[AssignedItem]) -> Columns:
    """The file of an annotator: ids and texts; human labels of training items alone."""
    items = {item.id: item for item in dataset}
    rows = [(each, items[each.item_id]) for each in assigned]
    columns: dict[str, list[str]] = {"id": [each.id for each, _ in rows]}
    columns |= {text: [str(getattr(item, text)) for _, item in rows] for text in _TEXTS}
    if any(each.purpose is Purpose.TRAINING for each, _ in rows):
        for name in dataset.criteria:
            columns[f"{name}_preference"] = [
                str(gold.label)
                if each.purpose is Purpose.TRAINING and (gold := item.gold.get(name)) and gold.label
                else ""
                for each, item in rows
            ]
    return dict(columns)


def assignment_columns(found: Assignment) -> Columns:
    """All of an assignment, for whoever leads it: a row for each place of each annotator."""
    rows = [(name, each.id, each.item_id, each.purpose.value) for name, own in found.items() for each in own]
    names = ("annotator", "id", "item", "purpose")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
