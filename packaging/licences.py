"""The licence texts of all that is in a bundle.

Knows: where packages, Python and Debian keep theirs. Does not know: what is bundled.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path

from bundle_contents import GPU_FOLDER
from project import PACKAGING, ROOT

_WORDS = ("licen", "copying", "notice", "copyright", "authors")
_DEBIAN_TEXTS = Path("/usr/share/common-licenses")  # what Debian's copyright files and Qt's terms refer to
_REFERENCE = re.compile(rf"{_DEBIAN_TEXTS}/([\w.-]*\w)")
_NAMED_BY_PACKAGES = {"Apache-2.0", "GPL-2", "GPL-3", "LGPL-3"}  # Qt's terms, and what rouge_score is under


def collect_licences(
    inside: Iterable[str], sources: Iterable[Path], llama: Path, folder: Path
) -> list[tuple[str, str, str]]:
    """Copy the texts into `folder`, one sub-folder for each part; the entries for PyInstaller.

    `inside`: paths and modules in the bundle; `sources`: its binary files on this computer; `llama`: the
    licences of llama.cpp. Says which parts come without a text.
    """
    shutil.rmtree(folder, ignore_errors=True)
    inside = [path.replace("\\", "/") for path in inside]
    for name in sorted(_distributions(inside)):
        _copy_of(distribution(name), folder)
    shutil.copytree(llama, folder / "llama.cpp")
    if any(path.startswith(f"{GPU_FOLDER}/") for path in inside):
        shutil.copy(PACKAGING / "khronos_licences.txt", folder / "llama.cpp" / "Khronos.txt")
    shutil.copy(ROOT / "LICENSE", folder / "Tiebreak.txt")
    python = next(Path(sysconfig.get_path("stdlib")).glob("LICENSE*"), Path(sys.base_prefix) / "LICENSE.txt")
    if python.is_file():
        shutil.copy(python, folder / "Python.txt")
    if shutil.which("dpkg"):
        _copy_of_debian(sources, folder)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(str(Path("licences", path.relative_to(folder))), str(path), "DATA") for path in files]


def _distributions(inside: Iterable[str]) -> set[str]:
    """The packages that the paths and modules are of."""
    of_module = packages_distributions()
    tops = {name.partition("/")[0].partition(".")[0] for name in inside}
    return {package for top in tops for package in of_module.get(top, [])}


def _copy_of(package: Distribution, folder: Path) -> None:
    name = f"{package.metadata['Name']}-{package.version}"
    texts = [path for path in package.files or [] if any(word in path.name.lower() for word in _WORDS)]
    texts = [path for path in texts if not path.suffix.startswith(".py")]
    for path in texts:
        # Flat, with what tells two of one name apart: numpy alone has twenty.
        of_records = path.parts[0].endswith(".dist-info")
        inner = [part for part in path.parts[1:-1] if part != "licenses"]
        target = folder / name / ("" if of_records else path.parts[0]) / "-".join([*inner, path.name])
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(str(package.locate_file(path)), target)
    if not texts:
        print(f"{name} comes without the text of its licence; it names: {_terms(package)}")
        (folder / name).mkdir(parents=True)
        (folder / name / "METADATA.txt").write_text(package.read_text("METADATA") or "", encoding="utf-8")


def _terms(package: Distribution) -> str:
    """The licence that a package names, in one line."""
    for field in ("License-Expression", "License"):
        if named := package.metadata.get_all(field, []):
            return str(named[0]).partition("\n")[0]
    classifiers = package.metadata.get_all("Classifier", [])
    return next((str(text) for text in classifiers if text.startswith("License")), "none")


def _copy_of_debian(sources: Iterable[Path], folder: Path) -> None:
    """Of libraries that came with the system: what its packages say, and the texts that they refer to."""
    named = set(_NAMED_BY_PACKAGES)
    of_system = [path for path in sources if path.is_relative_to("/usr") or path.is_relative_to("/lib")]
    for package in sorted(_debian_packages(of_system)):
        text = Path("/usr/share/doc", package, "copyright")
        if text.is_file():
            shutil.copy(text, folder / f"{package}.txt")
            named |= set(_REFERENCE.findall(text.read_text(encoding="utf-8", errors="replace")))
        else:
            print(f"The system's package {package} comes without a copyright file.")
    for name in sorted(named):
        if (_DEBIAN_TEXTS / name).is_file():
            (folder / "common").mkdir(exist_ok=True)
            shutil.copy(_DEBIAN_TEXTS / name, folder / "common" / f"{name}.txt")


def _debian_packages(libraries: Sequence[Path]) -> set[str]:
    packages = set()
    for path in libraries:
        # A file may be registered under /lib or /usr/lib, which are one folder.
        for name in {str(path), str(path.resolve()), str(path.resolve()).removeprefix("/usr")}:
            found = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
            packages |= {line.partition(":")[0] for line in found.stdout.splitlines() if line.endswith(name)}
    return packages
