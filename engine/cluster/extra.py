"""Whether what a cluster needs is installed here: nothing else of the program needs it.

Knows: the names of the packages. Does not know: what they do.
"""

from importlib.util import find_spec

from engine.core.errors import SetupError
from engine.core.formatting import listed
from engine.core.remedies import Remedy, Step

_PACKAGES = ("dask", "distributed", "cryptography")


def need_cluster() -> None:
    """SetupError where a package is missing."""
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise SetupError(
            f"Judging with several computers needs packages that are not installed: {listed(missing)}.",
            Remedy(Step.INSTALL_CLUSTER),
        )
