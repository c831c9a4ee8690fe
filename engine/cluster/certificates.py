"""Where a scheduler is: an address with its protocol, or the file that a scheduler wrote of itself; and the
certificates of a cluster: one folder, the same on every computer. Whoever has its key belongs to the cluster;
that of the authority that signed it is never written, so nobody can sign another.

Plain tcp is for this computer: to any other, it would carry the dataset for everybody to read, and let
whoever can reach the port run programs on every worker.
"""

import ipaddress
import re
import stat
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from engine.core.codec import plain_values
from engine.core.errors import Hint, SetupError, Step
from engine.system.files import make_folder, write_whole
from engine.system.paths import PathKind, data_folder, found_at, is_there, reason_of, seen_at

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

_YEARS = 5
_DAY = timedelta(days=1)


class CertificateFiles(NamedTuple):
    """The authority's certificate, the cluster's, and its private key."""

    authority: Path
    certificate: Path
    key: Path

    @classmethod
    def within(cls, folder: Path) -> Self:
        return cls(*(folder / f"{name}.pem" for name in cls._fields))


def default_folder() -> Path:
    return data_folder() / "cluster"


def certificate_files(folder: Path) -> CertificateFiles:
    """The certificates in a folder. SetupError where one is missing or others may read the key."""
    files = CertificateFiles.within(folder)
    for path in files:
        if found_at(path) is not PathKind.FILE:
            raise SetupError(
                f"{path} is missing: an encrypted connection needs certificates.",
                Hint(Step.MAKE_CERTIFICATES),
            )
    if sys.platform != "win32" and files.key.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SetupError(
            f"{files.key}: others on this computer can read this private key, and could run programs on the"
            " whole cluster with it.",
            f"Make it readable by you only: chmod 600 {files.key}",
        )
    return files


def make_certificates(folder: Path) -> CertificateFiles:
    """Write new certificates into a folder. SetupError where it holds some, which would be shut out."""
    files = CertificateFiles.within(folder)
    if there := [path for path in files if is_there(path)]:
        raise SetupError(
            f"{there[0]} exists already: new certificates would lock out the computers that have these.",
            "Delete the three files first, or name another folder.",
        )
    make_folder(folder)
    authority, certificate, key = _made()
    write_whole(files.authority, authority)
    write_whole(files.certificate, certificate)
    write_whole(files.key, key, private=True)
    return files


def _made() -> tuple[bytes, bytes, bytes]:
    """An authority's certificate, one that it signed, and the key of that one, as PEM."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - may be missing
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    signer, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _certificate("Tiebreak cluster authority", signer, signer, authority=True)
    own = _certificate("Tiebreak cluster", key, signer, authority=False)
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return authority.public_bytes(pem), own.public_bytes(pem), secret


def _certificate(
    name: str, key: "ec.EllipticCurvePrivateKey", signer: "ec.EllipticCurvePrivateKey", authority: bool
) -> "x509.Certificate":
    from cryptography import x509  # noqa: PLC0415 - may be missing
    from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
    from cryptography.x509.oid import NameOID  # noqa: PLC0415

    now = datetime.now(UTC)
    issuer = name if authority else "Tiebreak cluster authority"
    identifier = x509.SubjectKeyIdentifier.from_public_key(signer.public_key())
    unused = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    usage = dict.fromkeys((*unused, "encipher_only", "decipher_only"), False)
    usage |= {"digital_signature": not authority, "key_cert_sign": authority, "crl_sign": authority}
    built = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)  # clocks differ
        .not_valid_after(now + _YEARS * 365 * _DAY)
        .add_extension(
            x509.BasicConstraints(ca=authority, path_length=0 if authority else None), critical=True
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False
        )
        .add_extension(x509.KeyUsage(**usage), critical=True)
    )
    return built.sign(signer, hashes.SHA256())


PORT = 8786  # where a scheduler listens by itself; Dask's default port

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
        return self.protocol == "tls"


def scheduler_address(text: str, plain_tcp: bool = False) -> ClusterAddress:
    """The address that a text names, or that the scheduler file at this path holds. Without a protocol it is
    tls, but for this computer plain tcp. SetupError for what is no address, and for plain tcp to another
    computer unless `plain_tcp`.
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
