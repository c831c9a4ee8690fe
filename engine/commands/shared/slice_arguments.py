"""The options of the commands that measure for slices: divide the items, or use only one slice.

Knows: arguments and what is printed of slices. Does not know: how items are divided and measured.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from engine.core.measure_words import SLICES_NOTE
from engine.core.sheets import Part, Section
from engine.data.dataset import Dataset
from engine.data.slices import Noted, Slicing, is_by_annotators, select, slicing
from engine.decisions.run_dataset import noted_of_items
from engine.measure.matching import Matched
from engine.measure.slice_measures import SlicedMeasures, measure_slices
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.weigh.slice_weighing import SlicedWeightedScoring


def add_slices(arguments: argparse.ArgumentParser) -> None:
    """--by and --slice."""
    group = arguments.add_argument_group("slices of the items")
    group.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="WHAT",
        help="add a table with a row for each slice: a COLUMN of the dataset, length (of both responses),"
        " instruction (its length), longer (which response), script, label (label:CRITERION), tag, or"
        " random-sample; column:NAME for a column with one of these names; may be repeated",
    )
    group.add_argument(
        "--slice",
        action="append",
        default=[],
        metavar="WHAT=VALUE",
        help="use only this slice: COLUMN=value, length=short, longer=A, random-sample=labelled; if repeated,"
        " only items that are in all of them",
    )


def divided(options: argparse.Namespace, gold: Dataset) -> list[Slicing]:
    """The divisions that --by requests. SetupError, before long work, if one or a --slice does not exist."""
    noted = _noted(options, gold)
    for request in options.slice:
        select(gold, request, noted)
    return [slicing(gold, by, noted) for by in dict.fromkeys(options.by)]


def _noted(options: argparse.Namespace, dataset: Dataset) -> Noted:
    """What the run store knows of the items, if the options divide by it."""
    if not any(map(is_by_annotators, (*options.by, *options.slice))) or not has_store(options.store):
        return Noted()
    with RunStore(options.store) as store:
        return noted_of_items(store, dataset)


def kept(options: argparse.Namespace, matched: Matched) -> Matched:
    """The items of all slices that --slice names; all items without it."""
    if not options.slice:
        return matched
    noted = _noted(options, matched.dataset)
    chosen = [select(matched.dataset, request, noted) for request in options.slice]
    ids = frozenset.intersection(*(part.known for _, part in chosen))
    names = " and ".join(division.in_words(part) for division, part in chosen)
    return matched.only(ids, names, *(part.caveat for _, part in chosen))


def sliced(matched: Matched, divisions: Sequence[Slicing]) -> list[SlicedMeasures]:
    """The measures of each slice of each division."""
    return [measure_slices(matched, division) for division in divisions]


def slices_json(found: Sequence[SlicedMeasures | SlicedWeightedScoring]) -> dict[str, Any]:
    """The slices for a JSON file; nothing if nothing was divided."""
    return {"slices": [measured.as_json() for measured in found]} if found else {}


def table_sections(parts: Sequence[Part]) -> list[Section]:
    """Tables of slices, their caveats and their note; empty if there are none."""
    return [Section("slices", "", parts, SLICES_NOTE)] if parts else []
