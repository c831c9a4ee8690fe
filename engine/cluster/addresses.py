"""Where a scheduler is: an address with its protocol, or the file that a scheduler wrote of itself.

Plain tcp is for this computer: to any other, it would carry the dataset for everybody to read, and let
whoever can reach the port run programs on every worker.

Knows: tls://host:port, tcp://host:port, host:port, scheduler files. Does not know: Dask, certificates.
"""

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import Hint, SetupError, Step
from engine.system.files import plain_values
from engine.system.places import PathKind, reason_of, seen_at

PORT = 8786
"""Where a scheduler listens by itself; Dask's default port."""

_SHAPE = re.compile(
    r"(?:(?P<protocol>[a-z]+)://)?(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+)(?::(?P<port>\d+))?/?"
)
_LARGEST_FILE = 1 << 20


@dataclass(frozen=True)
class ClusterAddress:
    """A scheduler's address, or one to listen at. `host` is a name or number; IPv6 in brackets."""

    protocol: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.protocol}://{self.host}:{self.port}"

    @property
    def encrypted(self) -> bool:
        """Whether both ends show certificates and nobody between them can read."""
        return self.protocol == "tls"


def scheduler_address(text: str, plain_tcp: bool = False) -> ClusterAddress:
    """The address that a text names, or that the scheduler file at this path holds.

    Without a protocol it is tls, but for this computer plain tcp. SetupError for what is no address, and for
    plain tcp to another computer unless `plain_tcp`.
    """
    path = Path(text)
    if "://" not in text and seen_at(path) is PathKind.FILE:
        return address_of(_address_in(path), plain_tcp, f"{path.name}: ")
    return address_of(text, plain_tcp)


def address_of(text: str, plain_tcp: bool = False, place: str = "") -> ClusterAddress:
    """The address in a text; `place`: where it was found. Raises what `scheduler_address` raises."""
    found = _SHAPE.fullmatch(text.strip())
    port = int(found["port"] or PORT) if found else 0
    if found is None or not 0 < port < 1 << 16 or found["protocol"] not in (None, "tls", "tcp"):
        raise SetupError(
            f"{place}{text!r} is not the address of a scheduler.",
            "Write it as tls://host:8786, or name the scheduler file.",
        )
    here = is_this_computer(found["host"])
    protocol = found["protocol"] or ("tcp" if here else "tls")
    address = ClusterAddress(protocol, found["host"], port)
    if protocol == "tcp" and not here and not plain_tcp:
        raise SetupError(
            f"{place}{address} is a plain connection to another computer: anyone on the network path could"
            " read the dataset, and anyone who reaches that port could run programs on all workers.",
            Hint(Step.ALLOW_PLAIN_TCP),
        )
    return address


def is_this_computer(host: str) -> bool:
    """Whether a host can be reached from this computer alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _address_in(path: Path) -> str:
    """What a scheduler file names as its address. SetupError for any other file."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ValueError("too large")
        address = plain_values(path.read_bytes())["address"]
        if not isinstance(address, str):
            raise TypeError("no text")
        return address
    except OSError as error:
        raise SetupError(
            f"{path.name}: the file cannot be read: {reason_of(error)}.", "Check its permissions."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f"{path.name} is not a scheduler file: it has no address.",
            "Name the file that the scheduler wrote, or write the address: tls://host:8786",
        ) from error
