"""Who labels what: items dealt to annotators by a seed, with a stated overlap, items that all of them label,
training, and hidden repeats. What is dealt depends on ids, names and the seed, not on the order of the file.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from engine.core.errors import SetupError
from engine.core.formatting import counted, file_stem, listed
from engine.data.dataset import TEXT_COLUMNS, Dataset
from engine.data.label_origins import drawn_place, in_drawn_order
from engine.data.submission import write_dataset
from engine.settings.sampling import DEFAULT_SEED, checked_seed
from engine.system.files import check_targets, make_folder
from engine.system.paths import shown

TRAINING = "training-"
"""How the ids of training items begin, which annotators may know as such. All others tell nothing."""
PLACE = "place-"
LIST = "assignment.tsv"
_LONGEST_STEM = 100  # bytes


class Purpose(StrEnum):
    """Why an annotator gets an item. The values are those of files."""

    TRAINING = "training"  # before all others; what is said there never counts
    GOLD = "gold"  # with a human label, and everybody's
    ITEM = "item"
    REPEAT = "repeat"  # one of the others, once more

    @property
    def in_words(self) -> str:
        return {"item": "other items", "repeat": "hidden repeats"}.get(self, f"{self} items")


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
        known = len({name.casefold() for name in self.annotators})
        if not known or known < len(self.annotators):
            raise SetupError(
                f"Annotators: {listed(self.annotators) or 'none'}.", "Name each once, at least one."
            )
        if not 1 <= self.overlap <= known:
            raise SetupError(f"An overlap of {self.overlap} is not possible.", f"Use 1 to {known}.")
        if min(self.items or 0, self.training, self.gold, self.repeats) < 0:
            raise SetupError("A number of items is negative.", "Use 0 or more.")


class AssignedItem(NamedTuple):
    """`id`: in the annotator's file, where neither gold nor repeats can be told from other items; `item_id`:
    in the dataset.
    """

    id: str
    item_id: str
    purpose: Purpose


def assign(dataset: Dataset, design: AssignmentDesign) -> dict[str, list[AssignedItem]]:
    """The items of each annotator in order; without those whose texts stand in the dataset twice, for nothing
    could tell them apart afterwards. Loads differ by one item at most, as nearly do the items that two share.
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
            f"{dataset.name} has {counted(len(labelled), 'item', 'items')} with a human label, fewer than are"
            " asked for training and as gold.",
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
            loads = [
                (len(found[name]), sum(shared[frozenset((name, other))] for other in chosen), place, name)
                for place, name in enumerate(names)
                if name not in chosen
            ]
            chosen.append(min(loads)[-1])
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
    repeats = ((place, item_id) for place, (item_id, _) in enumerate(shown[:half]) if item_id in again)
    placed += [(place + half + 0.5, (item_id, Purpose.REPEAT)) for place, item_id in repeats]
    return [each for _, each in sorted(placed)]


def assigned_file(annotator: str) -> str:
    return f"{file_stem(annotator, _LONGEST_STEM)}.tsv"


def write_assignment(dataset: Dataset, design: AssignmentDesign, folder: Path) -> list[str]:
    """Write a file for each annotator, and a list of all for whoever leads them; sentences on each file.
    SetupError for too few items, names that make the same name of a file, and files that are there already:
    labels may be in them.
    """
    found = assign(dataset, design)
    files = {name: folder / assigned_file(name) for name in found}
    if there := [path.name for path in (*files.values(), folder / LIST) if path.exists()]:
        raise SetupError(f"{shown(folder)} has {listed(there)} already.", "Choose another folder.")
    make_folder(folder)
    written: dict[str, Path | None] = {f"The file of {name}": path for name, path in files.items()}
    check_targets({"The list": folder / LIST, **written}, {"dataset": dataset.path})
    items = {item.id: item for item in dataset}
    said = []
    for name, own in found.items():
        columns = {"id": [each.id for each in own]}
        for text in (*TEXT_COLUMNS, *dataset.background):
            columns[text] = [getattr(items[each.item_id], text) for each in own]
        for criterion in dataset.criteria if design.training else ():
            labels = dataset.labels(criterion)  # of training items alone: annotators see them
            columns[f"{criterion}_preference"] = [
                labels.get(each.item_id, "") if each.purpose is Purpose.TRAINING else "" for each in own
            ]
        write_dataset(files[name], columns)
        counts = Counter(each.purpose for each in own)
        parts = (counted(counts[each], each.in_words[:-1], each.in_words) for each in Purpose)
        said.append(f"{files[name].name}: {', '.join(parts)}.")
    rows = [(name, *each) for name, own in found.items() for each in own]
    names = ("annotator", "id", "item", "purpose")
    write_dataset(folder / LIST, dict(zip(names, zip(*rows, strict=True), strict=True)))
    return [*said, f"{LIST} says which item stands at which place: keep it from the annotators."]
