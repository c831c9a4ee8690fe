"""A set of probes: some items of a dataset with their perturbations, as a dataset of its own, and read back.

Knows: which items are taken, the columns of the file, which perturbations belong to which item. Does not
know: judges, where the file is kept.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.audit.probes import Perturbation, PerturbationKind, copies, id_among_perturbations, is_copy
from engine.core.errors import SetupError
from engine.core.item_sample import DEFAULT_SEED, checked_seed
from engine.core.items import Item, digest
from engine.data.dataset import REQUIRED_COLUMNS, Dataset
from engine.data.dataset_file import Cell, write_dataset
from engine.data.sampling import drawn_place
from engine.system.files import make_folder

DEFAULT_ITEMS = 40
PROBE_COLUMN, ITEM_ITSELF = "probe", "item"
"""The column that names the kind of each row: an original item, or the kind of perturbation."""
_SHORT = 16  # hex digits


@dataclass(frozen=True)
class MadePerturbations:
    """A set of probes that was made. `items`: the drawn ones, each followed by its perturbations; `drawn`:
    how many of these there are; `left_out`: how many perturbations of each kind could not be made.
    """

    items: tuple[Item, ...]
    drawn: int
    left_out: Mapping[PerturbationKind, int]

    @property
    def name(self) -> str:
        """Of its file: the same probes with the same labels have the same one."""
        rows = [[item.id, item.content_hash, _labels(item)] for item in self.items]
        return f"audit-{digest(rows)[:_SHORT]}.tsv"

    @property
    def lacking(self) -> str:
        """A sentence on the perturbations that could not be made; empty where all could."""
        left_out = ", ".join(f"{count:,} {kind}" for kind, count in self.left_out.items())
        return f"Perturbations that could not be made: {left_out}." if left_out else ""

    def is_at(self, path: Path) -> bool:
        """Whether a file that is there holds just what would be written. OSError where it cannot be read."""
        with TemporaryDirectory() as folder:
            made = Path(folder) / path.name
            self.write(made)
            return made.read_bytes() == path.read_bytes()

    def write(self, path: Path) -> None:
        """Write it as a dataset, in a folder that is made where it is missing. SetupError."""
        make_folder(path.parent)
        write_dataset(path, self._columns())

    def _columns(self) -> dict[str, Sequence[Cell]]:
        texts = [(item.id, item.instruction, item.output_a, item.output_b) for item in self.items]
        perturbations = [Perturbation.of_id(item.id) for item in self.items]
        labels = [_labels(item) for item in self.items]
        labelled = dict.fromkeys(name for of_item in labels for name in of_item)
        return {
            **dict(zip(REQUIRED_COLUMNS, zip(*texts, strict=True), strict=True)),
            PROBE_COLUMN: [
                perturbation.kind.value if perturbation else ITEM_ITSELF for perturbation in perturbations
            ],
            **{f"{name}_preference": [of_item.get(name) for of_item in labels] for name in labelled},
        }


def make_perturbations(
    dataset: Dataset, count: int = DEFAULT_ITEMS, seed: int = DEFAULT_SEED
) -> MadePerturbations:
    """So many items of a dataset, or all that there are, each with its perturbations; SetupError for none.

    They are drawn by instruction: no instruction twice before each was drawn once, for items of one
    instruction say little more together than one of them. They keep the order of the dataset, and all of them
    come before the first perturbation: what is said early of the judge's health is said of different items.
    """
    if count < 1:
        raise SetupError(f"The number of items to audit with is {count}.", "Use 1 or more.")
    checked_seed(seed)
    left_out: Counter[PerturbationKind] = Counter()
    made: list[Item] = []
    taken = [replace(item, id=id_among_perturbations(item.id)) for item in _drawn(list(dataset), count, seed)]
    for perturbation, copy in chain.from_iterable(map(copies, taken)):
        if copy is None:
            left_out[perturbation.kind] += 1
        else:
            made.append(copy)
    return MadePerturbations((*taken, *made), len(taken), left_out)


def _drawn(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    met: Counter[str] = Counter()
    order: list[tuple[int, bytes, int]] = []
    for place, item in sorted(enumerate(items), key=lambda each: drawn_place(each[1].id, seed)):
        met[item.group] += 1
        order.append((met[item.group], drawn_place(item.group, seed), place))
    return [items[place] for place in sorted(place for _, _, place in sorted(order)[:count])]


def _labels(item: Item) -> dict[str, str]:
    return {name: gold.label.value for name, gold in item.gold.items() if gold.label is not None}


@dataclass(frozen=True)
class PerturbationSet:
    """What of some items is what: `own`, those that are no perturbations, and by the id of one its `copies`.

    Where nothing is a perturbation, these are items like any others.
    """

    own: tuple[Item, ...]
    copies: Mapping[str, Mapping[Perturbation, Item]] = field(default_factory=dict)

    @classmethod
    def of(cls, items: Iterable[Item]) -> "PerturbationSet":
        """The perturbations found again. One whose item is not there, or that is no perturbation of it, is an
        item.
        """
        by_id = {item.id: item for item in items}
        own: list[Item] = []
        found: dict[str, dict[Perturbation, Item]] = {}
        for item in by_id.values():
            perturbation = Perturbation.of_id(item.id)
            if (
                perturbation is None
                or (of := by_id.get(perturbation.of)) is None
                or not is_copy(perturbation, of, item)
            ):
                own.append(item)
            else:
                found.setdefault(perturbation.of, {})[perturbation] = item
        return cls(tuple(own), found)

    def __bool__(self) -> bool:
        return bool(self.copies)

    def of_kind(self, kind: PerturbationKind) -> dict[str, dict[Perturbation, Item]]:
        """The perturbations of a kind, by the id of their item."""
        return {
            item_id: chosen
            for item_id, found in self.copies.items()
            if (
                chosen := {
                    perturbation: copy for perturbation, copy in found.items() if perturbation.kind is kind
                }
            )
        }
