"""The differences between two bundles, such as two builds of one commit in different folders.

    python packaging/compare_bundles.py A B

A and B are archives or folders that packaging/build.py made. Exit code: 0 where they are equal.
"""

import hashlib
import stat
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from sbom import file_digest


class Content(NamedTuple):
    """What makes a file of a bundle what it is. `content`: the SHA-256 of a file, the target of a link."""

    content: str
    mode: int
    time: int


def main(arguments: list[str]) -> int:
    """Print what differs; 1 where anything does."""
    if len(arguments) != 2 or not all(Path(name).exists() for name in arguments):
        print("usage: python packaging/compare_bundles.py A B", file=sys.stderr)
        return 2
    first, second = map(Path, arguments)
    if first.is_file() and second.is_file() and file_digest(first) == file_digest(second):
        print(f"Equal byte for byte: SHA-256 {file_digest(first)}")
        return 0
    lines = differences(contents(first), contents(second))
    if not lines:
        packed = first.is_file() and second.is_file()
        lines = ["All files are equal; the archives are packed differently."] if packed else []
    print("\n".join(lines) or "All files are equal.")
    return 1 if lines else 0


def differences(first: Mapping[str, Content], second: Mapping[str, Content]) -> list[str]:
    """A line for each path that is in only one of two bundles, or differs."""
    lines = []
    for path in sorted(first.keys() | second.keys()):
        if path not in second:
            lines.append(f"only in the first   {path}")
        elif path not in first:
            lines.append(f"only in the second  {path}")
        elif other := [
            name
            for name in Content._fields
            if bool(getattr(first[path], name) != getattr(second[path], name))
        ]:
            lines.append(f"another {', '.join(other)}: {path}")
    return lines


def contents(bundle: Path) -> dict[str, Content]:
    """The files of an archive or a folder, by their path below the bundle's own folder."""
    if bundle.is_dir():
        return _of_folder(bundle)
    return _of_zip(bundle) if bundle.suffix == ".zip" else _of_tar(bundle)


def _of_folder(bundle: Path) -> dict[str, Content]:
    """Of a folder, times do not count: they are those of whoever unpacked it."""
    found = {}
    for path in bundle.rglob("*"):
        if path.is_symlink() or path.is_file():
            what = str(path.readlink()) if path.is_symlink() else file_digest(path)
            found[path.relative_to(bundle).as_posix()] = Content(what, _executable(path.lstat().st_mode), 0)
    return found


def _of_zip(bundle: Path) -> dict[str, Content]:
    with zipfile.ZipFile(bundle) as archive:
        return {
            member.filename.partition("/")[2]: Content(
                hashlib.sha256(archive.read(member)).hexdigest(),
                _executable(member.external_attr >> 16),
                int(datetime(*member.date_time, tzinfo=UTC).timestamp()),
            )
            for member in archive.infolist()
            if not member.is_dir()
        }


def _of_tar(bundle: Path) -> dict[str, Content]:
    found = {}
    with tarfile.open(bundle) as archive:
        for member in archive:
            if not member.isdir():
                file = archive.extractfile(member) if member.isfile() else None
                what = hashlib.sha256(file.read()).hexdigest() if file else member.linkname
                found[member.name.partition("/")[2]] = Content(
                    what, _executable(member.mode), int(member.mtime)
                )
    return found


def _executable(mode: int) -> int:
    return mode & stat.S_IXUSR


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
