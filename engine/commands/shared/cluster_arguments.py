"""The arguments that say how a cluster is reached.

Knows: --certificates and --plain-tcp. Does not know: connections.
"""

import argparse
from pathlib import Path

from engine.cluster.certificates import usual_folder


def add_connection(group: argparse._ActionsContainer) -> None:
    """--certificates and --plain-tcp."""
    group.add_argument(
        "--certificates",
        type=Path,
        default=usual_folder(),
        metavar="FOLDER",
        help="the certificates of the cluster (%(default)s)",
    )
    group.add_argument(
        "--plain-tcp",
        action="store_true",
        help="allow tcp:// to other computers: all that is sent can be read on the way, and whoever reaches"
        " the scheduler can run programs on every worker",
    )
