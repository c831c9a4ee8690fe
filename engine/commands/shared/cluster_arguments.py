"""What every command that has to do with a cluster needs: the packages, and how a cluster is reached.

Knows: --certificates and --plain-tcp, the names of packages that may be missing. Does not know: connections.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

from engine.cluster.certificates import usual_folder
from engine.core.errors import SetupError
from engine.core.formatting import listed
from engine.core.remedies import Remedy, Step

_PACKAGES = ("dask", "distributed", "cryptography")


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


def need_cluster() -> None:
    """SetupError where a package is missing."""
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise SetupError(
            f"Judging with several computers needs packages that are not installed: {listed(missing)}.",
            Remedy(Step.INSTALL_CLUSTER),
        )
