"""The parts of a bundle: whose each file and module of it is, with version, licence and package."""

import csv
import ctypes
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import Any

from project import ROOT, VERSION

_MODEL = ROOT / "models"
_DEBIAN_RECORDS = Path("/usr/share/doc")
# Names of SPDX that packages give without saying so: words of these alone are an expression of SPDX.
_SPDX = {"Apache-2.0", "BSD-3-Clause", "GPL-2.0-only", "GPL-3.0-only", "LGPL-3.0-only", "MIT", "MPL-2.0"}
# Microsoft's runtime, which Python and many packages bring for Windows, some with a sum in its name.
_MICROSOFT = re.compile(
    r"(vcruntime|msvcp|concrt|vccorlib|vcomp|vcamp)140[\w-]*\.dll|(ucrtbase|api-ms-win-[\w-]+)\.dll"
)
# Folders that Python shares with all else that is installed.
_SHARED = {Path("/usr"), Path("/usr/local")}
_MIT_CLASSIFIER = "License :: OSI Approved :: MIT License"


class Origin(StrEnum):
    """Who gives a part out, which says where the text of its licence is."""

    TIEBREAK = "Tiebreak"
    MODEL = "model"
    PYTHON = "Python"
    PACKAGE = "package"  # of Python
    LLAMA = "llama.cpp"
    BUNDLED = "bundled"  # in a package of Python that says nothing of it
    DEBIAN = "Debian"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Part:
    """One part. `files`: its paths in the bundle; `modules`: the SHA-256 of its modules' sources, by name.

    `terms`: its licence, an expression of SPDX where `spdx`, else in words; `purl`: the address of its
    package, empty where it has none.
    """

    origin: Origin
    name: str
    version: str = ""
    terms: str = ""
    spdx: bool = False
    purl: str = ""
    files: tuple[str, ...] = ()
    modules: Mapping[str, str] = field(default_factory=dict, hash=False)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> "Part":
        """What `as_json` gave."""
        origin, files = Origin(values["origin"]), tuple(values["files"])
        return cls(**{**values, "origin": origin, "files": files})


def parts_of(modules: Iterable[tuple[str, str]], files: Iterable[tuple[str, str]]) -> list[Part]:
    """The parts, by name. `modules`, `files`: each its name or path in the bundle, and its source here."""
    owners = _Owners()
    mine: dict[Part, tuple[list[str], dict[str, str]]] = {}
    for inside, source in files:
        mine.setdefault(owners.of(Path(source)), ([], {}))[0].append(inside.replace("\\", "/"))
    for module, source in modules:
        if source in ("-", "", "None"):  # a package that is a folder alone
            continue
        digest = hashlib.sha256(Path(source).read_bytes()).hexdigest()
        mine.setdefault(owners.of(Path(source)), ([], {}))[1][module] = digest
    found = [
        replace(part, files=tuple(sorted(paths)), modules=dict(sorted(sources.items())))
        for part, (paths, sources) in mine.items()
    ]
    return sorted(found, key=lambda part: (part.name.lower(), part.origin))


class _Owners:
    """Whose a file of this computer is, as a part without files."""

    def __init__(self) -> None:
        self._packages: dict[str, Part] = {}
        self._system: dict[Path, Part] = {}

    def of(self, source: Path) -> Part:
        """The part that a file belongs to."""
        if _MICROSOFT.fullmatch(source.name.lower()):
            return Part(Origin.BUNDLED, "Microsoft Visual C++ runtime", terms="see licences/Microsoft.txt")
        if of_llama := _of_llama(source):
            return of_llama
        if name := self._by_path.get(str(source)) or self._by_path.get(str(source.resolve())):
            return self._of_package(name, source)
        return _of_project(source) or _of_python(source) or self._of_system(source)

    @cached_property
    def _by_path(self) -> dict[str, str]:
        """The package of each file that packages have put down, by its path with links and without."""
        found: dict[str, str] = {}
        for package in distributions():
            folder, name = str(package.locate_file("")), package.metadata["Name"]
            # package.files would look for each of them on the disk.
            paths = [row[0] for row in csv.reader((package.read_text("RECORD") or "").splitlines())]
            for base in {folder, os.path.realpath(folder)}:
                found |= {os.path.normpath(f"{base}/{path}"): name for path in paths}
        return found

    def _of_package(self, name: str, source: Path) -> Part:
        if name == "PySide6_Essentials" and (of_qt := _of_qt(source)):
            return of_qt
        if name not in self._packages:
            self._packages[name] = _of_records(distribution(name))
        return self._packages[name]

    def _of_system(self, source: Path) -> Part:
        if source not in self._system:
            self._system[source] = _system_part(source)
        return self._system[source]


def _of_records(package: Distribution) -> Part:
    name, version = package.metadata["Name"], package.version
    address = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    return Part(Origin.PACKAGE, name, version, *package_terms(package), address)


def package_terms(package: Distribution) -> tuple[str, bool]:
    """The licence that a package names, in one line, and whether that is an expression of SPDX."""
    if expression := _field(package, "License-Expression"):
        return expression, True
    classifiers = [str(each) for each in package.metadata.get_all("Classifier", [])]
    classifiers = [each for each in classifiers if each.startswith("License")]
    named = _field(package, "License")
    if named and set(re.findall(r"[\w.-]+", named)) <= _SPDX | {"AND", "OR"}:
        return named, True
    if classifiers == [_MIT_CLASSIFIER]:
        return "MIT", True
    short = named if named and "\n" not in named else ""  # some put the whole text there
    return short or (classifiers[0].rpartition(":: ")[2] if classifiers else "not named"), False


def _field(package: Distribution, name: str) -> str:
    values = package.metadata.get_all(name, [])
    return str(values[0]).strip() if values else ""


def _of_llama(source: Path) -> Part | None:
    if source.parts[-3:-1] != ("llama_cpp", "lib") and source.parts[-4:-2] != ("llama_cpp", "lib"):
        return None
    libraries = next(folder for folder in source.parents if folder.name == "lib")
    commit = _llama_commit(libraries)
    return Part(Origin.LLAMA, "llama.cpp", commit, "MIT", True, f"pkg:github/ggml-org/llama.cpp@{commit}")


def _llama_commit(libraries: Path) -> str:
    """The commit of llama.cpp that libraries were compiled of, as they say themselves."""
    names = ("libggml-base.so", "libggml-base.dylib", "ggml-base.dll")
    library = ctypes.CDLL(str(next(path for name in names if (path := libraries / name).is_file())))
    library.ggml_commit.restype = ctypes.c_char_p
    commit: bytes = library.ggml_commit()
    # The source archive lacks some files of the repository.
    return commit.decode("ascii").removesuffix("-dirty")


def _of_qt(source: Path) -> Part | None:
    """Qt itself, and ICU, which lie in the package of their Python modules."""
    name = source.name.lower()
    if icu := re.match(r"(?:lib)?icu(?:data|i18n|uc|dt|in)(?:\.so\.)?(\d+)?", name):
        return Part(Origin.BUNDLED, "ICU", icu[1] or "", "Unicode-3.0", True)
    if "Qt" not in source.parts and not name.startswith("qt6") and "plugins" not in source.parts:
        return None
    version = distribution("PySide6_Essentials").version
    return Part(Origin.BUNDLED, "Qt", version, "LGPL-3.0-only", True, f"pkg:generic/qt@{version}")


def _of_project(source: Path) -> Part | None:
    if not source.is_relative_to(ROOT) or {"venv", ".venv"} & set(source.relative_to(ROOT).parts[:2]):
        return None
    if source.name == "base_library.zip":  # PyInstaller puts it together
        return _python()
    if source.is_relative_to(_MODEL):
        return Part(Origin.MODEL, "demo-judge", VERSION, "MIT", True)
    return Part(Origin.TIEBREAK, "Tiebreak", VERSION, "MIT", True)


def _of_python(source: Path) -> Part | None:
    real = source.resolve()
    libraries = (Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))
    own = any(real.is_relative_to(folder) for folder in libraries) or _beside_python(real)
    return _python() if own or re.match(r"(lib)?python\d", real.name, re.IGNORECASE) else None


def _beside_python(real: Path) -> bool:
    """True for what came with Python: on Windows DLLs/, on a Mac OpenSSL and the framework's library."""
    base = Path(sys.base_prefix).resolve()
    # Of conda, a package lies there like Python itself.
    if base in _SHARED or (base / "conda-meta").is_dir() or not real.is_relative_to(base):
        return False
    return "site-packages" not in real.relative_to(base).parts


def _python() -> Part:
    version = platform.python_version()
    return Part(Origin.PYTHON, "Python", version, "Python-2.0.1", True, f"pkg:generic/python@{version}")


def _system_part(source: Path) -> Part:
    """The system's package of a file; where no package is known, a part by the file's own name."""
    if shutil.which("dpkg-query"):
        # A file may be registered under /lib or /usr/lib, which are one folder.
        names = {str(source), str(source.resolve()), str(source.resolve()).removeprefix("/usr")}
        for name in sorted(names):
            found = _printed("dpkg-query", "--search", name)
            owners = [line.partition(": ")[0] for line in found.splitlines() if line.endswith(f": {name}")]
            if owners:
                return _debian_record(owners[0].partition(",")[0])
    return Part(Origin.UNKNOWN, source.name)


def _debian_record(package: str) -> Part:
    form = "${source:Package} ${Version} ${Architecture}"
    source, version, machine = _printed("dpkg-query", "--show", f"--showformat={form}", package).split()
    name = package.partition(":")[0]
    distro = _release()
    package_of = f"pkg:deb/{distro[0]}/{name}@{version.replace('+', '%2B').replace(':', '%3A')}"
    address = f"{package_of}?arch={machine}&distro={'-'.join(distro)}&upstream={source}"
    terms = _debian_terms(_DEBIAN_RECORDS / name / "copyright")
    return Part(Origin.DEBIAN, name, version, terms, False, address)


def _debian_terms(copyright_file: Path) -> str:
    """The short names of the licences that a package's own words give; else where those are."""
    words = copyright_file.read_text(encoding="utf-8", errors="replace") if copyright_file.is_file() else ""
    names = dict.fromkeys(re.findall(r"^License: *(\S.*?) *$", words, re.MULTILINE))
    return ", ".join(names) or f"see licences/{copyright_file.parent.name}.txt"


def _release() -> Sequence[str]:
    """The distribution and its version, such as debian and 12."""
    known = platform.freedesktop_os_release()
    return known.get("ID", "debian"), known.get("VERSION_ID", "unknown")


def _printed(*command: str) -> str:
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False).stdout
