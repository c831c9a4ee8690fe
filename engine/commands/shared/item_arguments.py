"""The options that choose items of a dataset: --items, --sample, --ids.

Knows: the arguments, where the bytes of a list come from. Does not know: the format of a list, how items are
sampled.
"""

import argparse
import sys
from pathlib import Path

from engine.commands.shared.column_arguments import read_dataset
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.item_sample import DEFAULT_SEED, ItemSample
from engine.data.dataset import Dataset
from engine.data.id_list import ids_in, read_ids

_STANDARD_INPUT = "-"


def add_choice(group: argparse._ActionsContainer) -> None:
    """--items, --sample, --sample-by, --ids."""
    group.add_argument("--items", type=int, metavar="N", help="judge only the first N items")
    group.add_argument("--sample", type=int, metavar="N", help="judge a random sample of N items (--seed)")
    group.add_argument(
        "--sample-by",
        metavar="COLUMN",
        help="with --sample: stratify by the values of this column, which may be a human label",
    )
    group.add_argument(
        "--ids",
        metavar="FILE",
        help="judge only the items whose ids are in FILE, one per line (-: standard input)",
    )


def ids_file(options: argparse.Namespace) -> Path | None:
    """The file of --ids, if any. SetupError if other arguments choose other items."""
    named = {"--ids": options.ids, "--items": options.items, "--sample": options.sample}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        all_of_them = "both" if len(given) == 2 else "all"
        raise SetupError(f"{' and '.join(given)} {all_of_them} choose the items.", "Use one of them.")
    if options.ids is None:
        return None
    return None if options.ids == _STANDARD_INPUT else Path(options.ids)


def seed_of(options: argparse.Namespace) -> int:
    """The seed of samples: that of --seed, else the default."""
    return DEFAULT_SEED if options.seed is None else int(options.seed)


def sample_of(options: argparse.Namespace) -> ItemSample | None:
    """The sample that --sample requests; None without it. SetupError if it is impossible."""
    if options.sample is not None:
        return ItemSample(options.sample, seed_of(options), options.sample_by or "")
    if options.sample_by is not None:
        raise SetupError("--sample-by needs the number of items.", "Add --sample N.")
    return None


def chosen_ids(
    options: argparse.Namespace, dataset: Path, cancel: CancelToken
) -> tuple[Dataset | None, tuple[str, ...]]:
    """The dataset and its ids that --ids chooses; neither without --ids. SetupError, InputError."""
    if options.ids is None:
        return None, ()
    loaded = read_dataset(options, dataset, cancel)
    if options.ids == _STANDARD_INPUT:
        data = sys.stdin.buffer.read() if sys.stdin else b""
        return loaded, ids_in(data, Path("standard input"), loaded)
    return loaded, read_ids(Path(options.ids), loaded)
