"""The licence texts of all that is in a bundle."""

import re
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

from bundle_contents import GPU_FOLDER
from parts import Origin, Part
from project import PACKAGING, ROOT

OWN_TEXTS = PACKAGING / "licences"  # of what comes without
_WORDS = ("licen", "copying", "notice", "copyright", "authors")
_DEBIAN_TEXTS = Path("/usr/share/common-licenses")  # what Debian's copyright files refer to
_REFERENCE = re.compile(rf"{re.escape(_DEBIAN_TEXTS.as_posix())}/([\w.-]*\w)")
_UNDER_ANOTHER_NAME = {
    "PySide6_Essentials": "Qt",
    "shiboken6": "Qt",
    "Microsoft Visual C++ runtime": "Microsoft",
}
# For those who bought Qt; its wheels for Windows have no other text. Ours is the LGPL's, in OWN_TEXTS.
_OTHERS_TERMS = "LicenseRef-Qt-Commercial.txt"


def collect_licences(parts: Sequence[Part], llama: Path, folder: Path) -> list[tuple[str, str, str]]:
    """Copy the texts into `folder`, one file or sub-folder for each part; the entries for PyInstaller.

    `llama`: the licences of llama.cpp. Ends the program where parts come without a text, and says what to do.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", folder / "Tiebreak.txt")  # the demo model's, too
    lacking = [part for part in parts if not _copy_text_of(part, llama, folder)]
    if lacking:
        sys.exit(
            "\n".join(
                [
                    "These come without the text of their licence:",
                    *(
                        f"  {part.name} {part.version} ({part.terms or 'of unknown terms'})"
                        for part in lacking
                    ),
                    f"Put the text of each into {OWN_TEXTS}, in a file called after it, such as"
                    f" {lacking[0].name}.txt: from its source archive or its repository.",
                ]
            )
        )
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [(str(Path("licences", path.relative_to(folder))), str(path), "DATA") for path in files]


def _copy_text_of(part: Part, llama: Path, folder: Path) -> bool:
    """Whether there is a text of a part to be copied."""
    if part.origin in (Origin.TIEBREAK, Origin.MODEL):
        return True
    if part.origin is Origin.LLAMA:
        shutil.copytree(llama, folder / "llama.cpp")
        if any(path.startswith(f"{GPU_FOLDER}/") for path in part.files):
            shutil.copy(OWN_TEXTS / "Khronos.txt", folder / "llama.cpp")  # headers become part of the library
        return True
    if part.origin is Origin.PYTHON:
        return _copied(_python_text(), folder / "Python.txt")
    if part.origin is Origin.PACKAGE and _copy_of_package(distribution(part.name), folder):
        return True
    if part.origin is Origin.DEBIAN and _copy_of_debian(part.name, folder):
        return True
    name = _UNDER_ANOTHER_NAME.get(part.name, part.name)
    return _copied(OWN_TEXTS / f"{name}.txt", folder / f"{name}.txt")


def _copied(text: Path, target: Path) -> bool:
    if text.is_file():
        shutil.copy(text, target)
    return text.is_file()


def _python_text() -> Path:
    found = next(Path(sysconfig.get_path("stdlib")).glob("LICENSE*"), None)
    return found or Path(sys.base_prefix) / "LICENSE.txt"


def _copy_of_package(package: Distribution, folder: Path) -> bool:
    name = f"{package.metadata['Name']}-{package.version}"
    texts = [path for path in package.files or [] if any(word in path.name.lower() for word in _WORDS)]
    texts = [path for path in texts if not path.suffix.startswith(".py") and path.name != _OTHERS_TERMS]
    for path in texts:
        # Flat, with what tells two of one name apart: numpy alone has twenty.
        of_records = path.parts[0].endswith(".dist-info")
        inner = [part for part in path.parts[1:-1] if part != "licenses"]
        target = folder / name / ("" if of_records else path.parts[0]) / "-".join([*inner, path.name])
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(str(package.locate_file(path)), target)
    return bool(texts)


def _copy_of_debian(package: str, folder: Path) -> bool:
    """What Debian's package says, and the texts that it refers to."""
    text = Path("/usr/share/doc", package, "copyright")
    if not _copied(text, folder / f"{package}.txt"):
        return False
    for name in sorted(set(_REFERENCE.findall(text.read_text(encoding="utf-8", errors="replace")))):
        (folder / "common").mkdir(exist_ok=True)
        _copied(_DEBIAN_TEXTS / name, folder / "common" / f"{name}.txt")
    return True
