"""The arguments that say how the computer shall work, for all commands that run a model.

Knows: --threads, --device and --gpu-layers. Does not know: what the model does.
"""

import argparse


def add_computer(group: argparse._ArgumentGroup) -> None:
    """--threads."""
    group.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="processor cores to use (the physical ones, fewer while other programs need them)",
    )


def add_device(group: argparse._ArgumentGroup) -> None:
    """--device and --gpu-layers."""
    group.add_argument(
        "--device",
        metavar="NAME",
        help="what computes: cpu, or a GPU by its name or a part of it, as `models devices` lists them"
        " (the faster, where `models devices` has tried this model, else the processor)",
    )
    group.add_argument(
        "--gpu-layers",
        type=int,
        metavar="N",
        help="layers of the model on the GPU (as many as its memory holds)",
    )
