"""What every command that uses a cluster needs: the packages, and the options of the connection.

Knows: --certificates and --plain-tcp, the names of packages that may be missing. Does not know: connections.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

from engine.cluster.certificates import default_folder
from engine.core.errors import SetupError
from engine.core.formatting import listed
from engine.core.remedies import Hint, Step

_PACKAGES = ("dask", "distributed", "cryptography")


def add_connection(group: argparse._ActionsContainer) -> None:
    """--certificates and --plain-tcp."""
    group.add_argument(
        "--certificates",
        type=Path,
        default=default_folder(),
        metavar="FOLDER",
        help="the certificates of the cluster (%(default)s)",
    )
    group.add_argument(
        "--plain-tcp",
        action="store_true",
        help="allow unencrypted tcp:// to other computers: others on the network can read the traffic, and"
        " anyone who reaches the scheduler can run programs on every worker",
    )


def need_cluster() -> None:
    """SetupError if a package is missing."""
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise SetupError(
            f"Judging with several computers needs packages that are not installed: {listed(missing)}.",
            Hint(Step.INSTALL_CLUSTER),
        )
