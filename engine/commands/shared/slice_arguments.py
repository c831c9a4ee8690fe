"""What the commands that measure share about slices: to divide the items, and to keep to one slice.

Knows: arguments and what is printed of slices. Does not know: how items are divided and measured.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from engine.core.measure_words import SLICES_NOTE
from engine.core.sheets import Part, Section
from engine.data.dataset import Dataset
from engine.data.slices import Noted, Slicing, is_by_people, select, slicing
from engine.decisions.run_dataset import noted_of_items
from engine.measure.matching import Matched
from engine.measure.slice_measures import SlicedMeasures, measure_slices
from engine.store.opening import is_there
from engine.store.run_store import RunStore
from engine.weigh.slice_weighing import SlicedWeighing


def add_slices(arguments: argparse.ArgumentParser) -> None:
    """--by and --slice."""
    group = arguments.add_argument_group("slices of the items")
    group.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="WHAT",
        help="a table with a row for each slice: a COLUMN of the dataset, length (of both responses),"
        " instruction (its length), longer (which response), script, label (label:CRITERION), tag, or"
        " random-sample;"
        " column:NAME for a column of one of these names; may be given again",
    )
    group.add_argument(
        "--slice",
        action="append",
        default=[],
        metavar="WHAT=VALUE",
        help="only this slice: COLUMN=value, length=short, longer=A, random-sample=labelled; again: items"
        " that are in all of them",
    )


def divided(options: argparse.Namespace, gold: Dataset) -> list[Slicing]:
    """The divisions that --by asks for; SetupError, before long work, where one or a --slice is not there."""
    noted = _noted(options, gold)
    for wish in options.slice:
        select(gold, wish, noted)
    return [slicing(gold, by, noted) for by in dict.fromkeys(options.by)]


def _noted(options: argparse.Namespace, dataset: Dataset) -> Noted:
    """What the run store holds of the items by which these are divided, where the options ask for any."""
    if not any(map(is_by_people, (*options.by, *options.slice))) or not is_there(options.store):
        return Noted()
    with RunStore(options.store) as store:
        return noted_of_items(store, dataset)


def kept(options: argparse.Namespace, matched: Matched) -> Matched:
    """The items of all slices that --slice names; all items without it."""
    if not options.slice:
        return matched
    noted = _noted(options, matched.dataset)
    chosen = [select(matched.dataset, wish, noted) for wish in options.slice]
    ids = frozenset.intersection(*(part.known for _, part in chosen))
    names = " and ".join(division.in_words(part) for division, part in chosen)
    return matched.only(ids, names, *(part.caveat for _, part in chosen))


def sliced(matched: Matched, divisions: Sequence[Slicing]) -> list[SlicedMeasures]:
    """The measures of each slice of each division."""
    return [measure_slices(matched, division) for division in divisions]


def slices_json(found: Sequence[SlicedMeasures | SlicedWeighing]) -> dict[str, Any]:
    """What goes into a JSON file; nothing where nothing was divided."""
    return {"slices": [measured.as_json() for measured in found]} if found else {}


def table_sections(parts: Sequence[Part]) -> list[Section]:
    """Tables of slices, and sentences on them, with the note that belongs under all of them; none of none."""
    return [Section("slices", "", parts, SLICES_NOTE)] if parts else []
