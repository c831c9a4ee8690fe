"""The list of all parts of a bundle, with versions, licences and checksums, as CycloneDX 1.6 has it."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from parts import Origin, Part

NAME = "sbom.cdx.json"
"""Of the file in the bundle."""
_CONTENTS = ("_internal/", "Tiebreak.app/Contents/Frameworks/", "Tiebreak.app/Contents/Resources/")
_TYPES = {Origin.MODEL: "machine-learning-model", Origin.TIEBREAK: "application"}


def write_sbom(bundle: Path, parts_file: Path, made: int) -> Path:
    """Put the list into a finished bundle. `parts_file`: what tiebreak.spec found; `made`: its time."""
    parts = [Part.of_json(values) for values in json.loads(parts_file.read_text(encoding="utf-8"))]
    target = bundle / NAME
    target.unlink(missing_ok=True)
    text = json.dumps(sbom(bundle, parts, made), indent=1, ensure_ascii=False)
    target.write_text(f"{text}\n", encoding="utf-8", newline="\n")
    return target


def sbom(bundle: Path, parts: Sequence[Part], made: int) -> dict[str, Any]:
    """The list for the files that lie in a folder; those that came with no part are the program's own."""
    digests = {path: file_digest(bundle / path) for path in _files(bundle)}
    owners = {inside: part for part in parts for inside in part.files}
    own = next(part for part in parts if part.origin is Origin.TIEBREAK)
    mine: dict[Part, list[str]] = {part: [] for part in parts}
    for path in digests:
        mine[owners.get(_inside(path), own)].append(path)
    components = {
        part: _component(part, paths, digests) for part, paths in mine.items() if paths or part.modules
    }
    main = components.pop(own)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(made, UTC).isoformat().replace("+00:00", "Z"),
            "component": main,
        },
        "components": list(components.values()),
        "dependencies": [
            {"ref": main["bom-ref"], "dependsOn": [each["bom-ref"] for each in components.values()]}
        ],
    }


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(bundle: Path) -> Iterable[str]:
    paths = (path for path in bundle.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(path.relative_to(bundle).as_posix() for path in paths)


def _inside(path: str) -> str:
    """The path that PyInstaller had for a file of a bundle."""
    return next((path.removeprefix(folder) for folder in _CONTENTS if path.startswith(folder)), path)


def _component(part: Part, paths: Sequence[str], digests: dict[str, str]) -> dict[str, Any]:
    digest, of_what = _checksum(part, paths, digests)
    component = {
        "type": _TYPES.get(part.origin, "library"),
        "bom-ref": f"{part.origin}/{part.name}",
        "name": part.name,
        "version": part.version,
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": [{"expression": part.terms} if part.spdx else {"license": {"name": part.terms}}],
        "purl": part.purl,
        "properties": [{"name": "tiebreak:sha256-of", "value": of_what}],
    }
    return {name: value for name, value in component.items() if value}


def _checksum(part: Part, paths: Sequence[str], digests: dict[str, str]) -> tuple[str, str]:
    """A part's SHA-256, and what it is of."""
    if len(paths) == 1 and not part.modules:
        return digests[paths[0]], f"the file {paths[0]}"
    lines = [f"{digests[path]}  {path}\n" for path in sorted(paths)]
    lines += [f"{digest}  {name}\n" for name, digest in sorted(part.modules.items())]
    counted = [f"{len(paths)} files of the bundle, by path" if paths else ""]
    counted += [f"the sources of {len(part.modules)} modules, by name" if part.modules else ""]
    of_what = f"what sha256sum prints of {', then of '.join(filter(None, counted))}"
    return hashlib.sha256("".join(lines).encode()).hexdigest(), of_what


def write_checksums(files: Iterable[Path]) -> Path:
    """SHA256SUMS beside files of one folder, for `sha256sum --check`."""
    found = sorted(files)
    target = found[0].with_name("SHA256SUMS")
    lines = [f"{file_digest(path)}  {path.name}\n" for path in found]
    target.write_text("".join(lines), encoding="utf-8", newline="\n")
    return target
