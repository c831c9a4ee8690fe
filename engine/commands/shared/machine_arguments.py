"""The arguments that say how the computer shall work, for all commands that run a model.

Knows: --threads, --device and --gpu-layers. Does not know: what the model does.
"""

import argparse

from engine.commands.shared.setting_arguments import add_settings


def add_computer(group: argparse._ArgumentGroup) -> None:
    """--threads."""
    add_settings(group, "threads")


def add_device(group: argparse._ArgumentGroup, usual: str = "") -> None:
    """--device and --gpu-layers. `usual`: what computes where nothing is said, if not the best known."""
    usual = usual or "the faster, where `models devices` has tried this model, else the processor"
    group.add_argument(
        "--device",
        metavar="NAME",
        help="what computes: cpu, or a GPU by its name or a part of it, as `models devices` lists them"
        f" ({usual})",
    )
    add_settings(group, "gpu_layers")
