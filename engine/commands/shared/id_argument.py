"""--ids: a choice of a dataset's items, from a file or from standard input.

Knows: the argument, where its bytes come from. Does not know: how a choice is written down.
"""

import argparse
import sys
from pathlib import Path

from engine.commands.shared.column_arguments import read_dataset
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.data.dataset import Dataset
from engine.data.id_list import ids_in, read_ids

_STANDARD_INPUT = "-"


def add_ids(group: argparse._ActionsContainer) -> None:
    """--ids."""
    group.add_argument(
        "--ids",
        metavar="FILE",
        help="only the items whose ids are in FILE, one on each line (-: standard input)",
    )


def ids_file(options: argparse.Namespace) -> Path | None:
    """The file that is read for --ids, if one is. SetupError where --items asks for other items."""
    if options.ids is None:
        return None
    if options.items is not None:
        raise SetupError("--ids and --items both choose the items.", "Use one of them.")
    return None if options.ids == _STANDARD_INPUT else Path(options.ids)


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
