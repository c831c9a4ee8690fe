"""The arguments that say how the computer shall work, for all commands that run a model.

Knows: --threads and --gpu-layers. Does not know: what the model does.
"""

import argparse


def add_computer(group: argparse._ArgumentGroup) -> None:
    """--threads and --gpu-layers."""
    group.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="processor cores to use (the physical ones, fewer while other programs need them)",
    )
    group.add_argument(
        "--gpu-layers", type=int, metavar="N", help="layers on the GPU (all, where there is one)"
    )
