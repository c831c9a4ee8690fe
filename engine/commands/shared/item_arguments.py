"""Which of a dataset's items are judged: --items, --sample, --ids.

Knows: the arguments, where the bytes of a list come from. Does not know: how one is written down, how items
are drawn.
"""

import argparse
import sys
from pathlib import Path

from engine.commands.shared.column_arguments import read_dataset
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.item_sample import USUAL_SEED, ItemSample
from engine.data.dataset import Dataset
from engine.data.id_list import ids_in, read_ids

_STANDARD_INPUT = "-"


def add_choice(group: argparse._ActionsContainer) -> None:
    """--items, --sample, --sample-by, --ids."""
    group.add_argument("--items", type=int, metavar="N", help="the first N items only")
    group.add_argument("--sample", type=int, metavar="N", help="N items at random, by --seed")
    group.add_argument(
        "--sample-by",
        metavar="COLUMN",
        help="with --sample: as evenly as can be over the values of a column, a human label's too",
    )
    group.add_argument(
        "--ids",
        metavar="FILE",
        help="only the items whose ids are in FILE, one on each line (-: standard input)",
    )


def ids_file(options: argparse.Namespace) -> Path | None:
    """The file that is read for --ids, if one is. SetupError where other arguments ask for other items."""
    named = {"--ids": options.ids, "--items": options.items, "--sample": options.sample}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        all_of_them = "both" if len(given) == 2 else "all"
        raise SetupError(f"{' and '.join(given)} {all_of_them} choose the items.", "Use one of them.")
    if options.ids is None:
        return None
    return None if options.ids == _STANDARD_INPUT else Path(options.ids)


def seed_of(options: argparse.Namespace) -> int:
    """What --seed says, by which items are drawn; the usual one without it."""
    return USUAL_SEED if options.seed is None else int(options.seed)


def sample_of(options: argparse.Namespace) -> ItemSample | None:
    """What --sample asks for; None without it. SetupError where nothing can be drawn so."""
    if options.sample is not None:
        return ItemSample(options.sample, seed_of(options), options.sample_by or "")
    if options.sample_by is not None:
        raise SetupError("--sample-by needs the number of items.", "Add --sample N.")
    return None


def chosen_ids(
    options: argparse.Namespace, dataset: Path, cancel: CancelToken
) -> tuple[Dataset | None, tuple[str, ...]]:
    """The dataset and the ids of it that --ids chooses; none of both without it. SetupError, InputError."""
    if options.ids is None:
        return None, ()
    loaded = read_dataset(options, dataset, cancel)
    if options.ids == _STANDARD_INPUT:
        data = sys.stdin.buffer.read() if sys.stdin else b""
        return loaded, ids_in(data, Path("standard input"), loaded)
    return loaded, read_ids(Path(options.ids), loaded)
