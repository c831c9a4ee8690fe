"""Which items a sample holds: drawn at random, or as evenly over a column's values as these allow.

How annotators came to the items whose labels a dataset holds, where it says so: as a run's CSV does.

What is drawn depends on the ids, the values and the seed, not on the order of the file nor on the computer:
each id has its place by a hash, and so has each value. A larger sample of a seed holds the smaller ones.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from engine.core.errors import Hint, Setting, SetupError
from engine.core.formatting import counted, did_you_mean, listed, named, percent, quoted, words
from engine.core.judgments import Origin
from engine.data import file_kinds
from engine.data.dataset import Dataset
from engine.settings.sampling import ItemSample


def label_origins(dataset: Dataset, criterion: str) -> dict[str, Origin | None] | None:
    """By item, how the annotator came to it whose label on a criterion the dataset holds; None where that is
    not known, as of a CSV that an earlier version wrote. No mapping at all where the dataset does not say
    that its labels were given in a review.

    It is read from a column `<criterion>_origin`, else from the columns of a run's CSV. Of several annotators
    the one counts who came to the item by the least choice.
    """
    own = file_kinds.origin_column(criterion)
    if own in dataset.other_columns:
        cells = zip(dataset.ids, dataset.texts(own).to_pylist(), strict=True)
        return {item_id: file_kinds.origin_in(text) for item_id, text in cells if text}
    if not {file_kinds.ORIGINS_BY_ANNOTATORS, file_kinds.LABELS_BY_ANNOTATORS} & {*dataset.other_columns}:
        return None
    return {
        item_id: file_kinds.origin_of_several(origins.values(), row.get(file_kinds.IN_SAMPLE, ""))
        for item_id, row in zip(dataset.ids, dataset.cells_beside(), strict=True)
        if (origins := file_kinds.origins_in_row(row))
    }


def sampled_items(dataset: Dataset) -> frozenset[str]:
    """The ids of the items that belong to a random sample, labelled on any criterion or skipped, as far as
    the dataset says it.
    """
    return _where_in_sample(dataset, file_kinds.SAMPLED, file_kinds.SKIPPED)


def skipped_items(dataset: Dataset) -> frozenset[str]:
    """The ids of the items that were skipped in a random sample, as far as the dataset says it."""
    return _where_in_sample(dataset, file_kinds.SKIPPED)


def _where_in_sample(dataset: Dataset, *cells: str) -> frozenset[str]:
    texts: list[str] = dataset.texts(file_kinds.IN_SAMPLE).to_pylist()
    return frozenset(item_id for item_id, text in zip(dataset.ids, texts, strict=True) if text in cells)


_EMPTY = "(empty)"
_LEAST_RISE = 0.15  # of a label's share among the first items: less is no reason to draw others
_BY_CHANCE = 0.001


@dataclass(frozen=True)
class Drawing:
    """The items that were drawn, in the order of their file, and sentences on how that went."""

    items: Dataset
    notes: tuple[str, ...]


def drawn(dataset: Dataset, sample: ItemSample) -> Drawing:
    """The items of a sample; all where it asks for no fewer. SetupError for a column that is not there."""
    values = _values(dataset, sample.by) if sample.by else [""] * len(dataset)
    if sample.items >= len(dataset):
        fewer = f" The dataset has fewer than {sample.items:,}." if sample.items > len(dataset) else ""
        return Drawing(dataset, (f"{dataset.name}: all {len(dataset):,} items are judged.{fewer}",))
    ids_of: dict[str, list[str]] = {}
    for item_id, value in zip(dataset.ids, values, strict=True):
        ids_of.setdefault(value, []).append(item_id)
    dealt = list(islice(_dealt(ids_of, sample.seed), sample.items))
    of_all = f"{sample.items:,} of {counted(len(dataset), 'item', 'items')}"
    what = f"{dataset.name}: {of_all} are sampled {sample.how}."
    shares = Counter(value for value, _ in dealt)
    notes = (what, *(_on_shares(shares, ids_of, sample) if sample.by else ()))
    return Drawing(dataset.only({item_id for _, item_id in dealt}), notes)


def sorted_by_label(whole: Dataset, first: Dataset) -> Hint | None:
    """A sentence where one label is much more frequent among the first items of a dataset than among all, and
    more than chance would make it; None where the first ones are like the whole.
    """
    rises = [
        (among_first[label] / among_first.total() - among_all[label] / among_all.total(), name, label)
        for name in first.criteria
        for among_first, among_all in [(first.label_counts(name), whole.label_counts(name))]
        for label in among_first
        if _is_above_chance(among_first[label], among_first.total(), among_all[label] / among_all.total())
    ]
    rise, name, label = max(rises, default=(0.0, "", ""))
    if rise < _LEAST_RISE:
        return None
    counts = (first.label_counts(name), whole.label_counts(name))
    shares = [found[label] / found.total() for found in counts]
    return Hint(
        f"{whole.name} seems to be sorted: {words(name)} is {label} in {percent(shares[0])} of the first"
        f" {len(first):,} items, and in {percent(shares[1])} of all."
        " Sample them instead: ",
        Setting.SAMPLE.at(len(first)),
        ".",
    )


def _values(dataset: Dataset, column: str) -> list[str]:
    known = dataset.value_columns
    if column in known:
        texts: list[str] = dataset.texts(column).to_pylist()
        return texts
    raise SetupError(
        f"{dataset.name} has no column {quoted(column)} to stratify by.",
        f"{did_you_mean(column, known)}There are {listed(known, len(known))}."
        if known
        else "Sample without a column: it has neither human labels nor further columns.",
    )


def _dealt(ids_of: Mapping[str, Sequence[str]], seed: int) -> Iterator[tuple[str, str]]:
    """Values with an id each, as cards are dealt: one of each value in turn, and round again while there are
    any. So shares are as even as they can be, and a value that has few items gives all of them.
    """
    hands = {value: in_drawn_order(ids_of[value], seed) for value in in_drawn_order(ids_of, seed)}
    for turn in range(max(map(len, hands.values()))):
        hands = {value: ids for value, ids in hands.items() if len(ids) > turn}
        yield from ((value, ids[turn]) for value, ids in hands.items())


def in_drawn_order(texts: Iterable[str], seed: int) -> list[str]:
    """Texts in the order in which a seed draws them."""
    return sorted(texts, key=lambda text: drawn_place(text, seed))


def drawn_instructions(instructions: Sequence[str], seed: int) -> list[int]:
    """When a seed draws the instruction of each item: the lower the earlier, one number for the same text."""
    places = {text: place for place, text in enumerate(in_drawn_order(dict.fromkeys(instructions), seed))}
    return [places[text] for text in instructions]


def drawn_by_instruction(dataset: Dataset, items: int, seed: int) -> Dataset:
    """So many items, in the order of their file: those of one instruction after another, as a seed draws
    these; all where there are no more.
    """
    places = drawn_instructions(dataset.group_column, seed)
    drawn_rows = sorted(range(len(dataset)), key=places.__getitem__)[:items]
    return dataset.at(sorted(drawn_rows))


def drawn_place(text: str, seed: int) -> bytes:
    """What a seed puts texts in order by."""
    return sha256(f"{seed}\0{text}".encode()).digest()


def _on_shares(
    shares: Mapping[str, int], ids_of: Mapping[str, list[str]], sample: ItemSample
) -> Iterator[str]:
    column = named(sample.by)
    if len(ids_of) > sample.items:
        yield f"{column} has {len(ids_of):,} values: one item each of {sample.items:,} of them is sampled."
        return
    by_size = sorted(shares, key=lambda value: (-shares[value], value))
    of_each = [f"{named(value) if value else _EMPTY}: {shares[value]:,}" for value in by_size]
    yield f"Items by {column}: {listed(of_each, shown=str)}."
    quota = max(shares.values())
    short = [value for value in by_size if shares[value] == len(ids_of[value]) < quota]
    if short:
        which = listed([value or _EMPTY for value in short])
        yield f"{column} has too few items of {which}: all of them are sampled, and more of the others."


def _is_above_chance(hits: int, draws: int, share: float) -> bool:
    """Whether this many hits in this many draws are more than a share makes likely, by Chernoff's bound."""
    found = hits / draws
    if not share < found:
        return False
    rest = (1 - found) * math.log((1 - found) / (1 - share)) if found < 1 else 0.0
    return math.exp(-draws * (found * math.log(found / share) + rest)) < _BY_CHANCE
