"""The arguments that say how the computer shall work, for all commands that run a model.

Knows: --threads and --gpu-layers. Does not know: what the model does.
"""

import argparse

from engine.llama_library import gpu_offload_supported
from engine.settings import MachineSettings, default_threads

_ALL_LAYERS = 999


def add_computer(group: argparse._ArgumentGroup) -> None:
    """--threads and --gpu-layers."""
    group.add_argument("--threads", type=int, metavar="N", help="processor cores to use (the physical ones)")
    group.add_argument(
        "--gpu-layers", type=int, metavar="N", help="layers on the GPU (all, where there is one)"
    )


def machine_settings(options: argparse.Namespace) -> MachineSettings:
    """What the options say, with what is usual for the rest. SetupError for impossible numbers."""
    layers = options.gpu_layers
    if layers is None:
        layers = _ALL_LAYERS if gpu_offload_supported() else 0
    threads = default_threads() if options.threads is None else options.threads
    return MachineSettings(threads=threads, gpu_layers=layers)
