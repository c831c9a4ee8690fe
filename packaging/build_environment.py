"""The virtual environment of a bundle: the run time, PyInstaller, and llama.cpp for any processor.

Knows: pip, CMake options of llama.cpp. Does not know: what goes into a bundle.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

_NAME = "llama-cpp-python"
# Everything lands in the package's own folder; the libraries find each other there.
_CMAKE = [
    "-DGGML_NATIVE=OFF",
    "-DLLAVA_BUILD=OFF",
    "-DCMAKE_INSTALL_BINDIR=llama_cpp/lib",
    "-DCMAKE_INSTALL_LIBDIR=llama_cpp/lib",
]
# A library for each generation of processors; the one that fits is chosen when the program starts. A Mac does
# not need it: one build serves all that its system runs on, and most work is done by Metal.
_VARIANTS = ["-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON"]
_OWN_FOLDER = {"linux": "$ORIGIN", "darwin": "@loader_path"}


def cmake_options() -> list[str]:
    """How llama.cpp is compiled for this system."""
    options = list(_CMAKE)
    if sys.platform != "darwin":
        options += _VARIANTS
    if own_folder := _OWN_FOLDER.get(sys.platform):
        options.append(f"-DCMAKE_INSTALL_RPATH={own_folder}")
    return options


class BuildEnvironment:
    """A folder with the environment and what was compiled for it. What did not change is not made again."""

    def __init__(self, root: Path, folder: Path) -> None:
        """`root`: the project; `folder`: for what is made, which may be gone or old."""
        self._root = root
        self._folder = folder
        self._venv = folder / "venv"
        self.python = self._venv / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        self.llama_licences = folder / "llama-licences"

    def make(self) -> None:
        """A new environment, unless the one that is there was made of the same."""
        made_of = hashlib.sha256(
            "\n".join([*self._texts(), sys.version, *cmake_options()]).encode()
        ).hexdigest()
        stamp = self._venv / "made-of"
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == made_of:
            return
        wheel = self._wheel()
        shutil.rmtree(self._venv, ignore_errors=True)
        venv.create(self._venv, with_pip=True)
        self._pip("install", "--upgrade", "pip")
        self._pip("install", str(wheel))
        self._pip("install", "-r", str(self._root / "requirements-bundle.txt"))
        stamp.write_text(made_of, encoding="utf-8")

    def _wheel(self) -> Path:
        """The wheel of llama-cpp-python, compiled here, in a folder named after what decides its content."""
        source = self._source()
        key = hashlib.sha256("\n".join([source.name, *cmake_options()]).encode()).hexdigest()[:12]
        folder = self._folder / f"llama-{key}"
        if not (made := sorted(folder.glob("*.whl"))):
            print("Compiling llama.cpp: 5 to 15 minutes.", flush=True)
            # pip's cache knows nothing of CMake's options: it might hand out a build for this very processor.
            _run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "wheel",
                    "--no-cache-dir",
                    "--no-deps",
                    "--wheel-dir",
                    str(folder),
                    str(source),
                ],
                {
                    "CMAKE_ARGS": " ".join(cmake_options()),
                    "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1),
                },
            )
            made = sorted(folder.glob("*.whl"))
        return made[0]

    def _source(self) -> Path:
        """The source archive of the release that the project asks for, with the licences in it taken out."""
        wanted = re.search(rf"^{_NAME}[^#\s]*", "\n".join(self._texts()), re.MULTILINE)
        if wanted is None:
            sys.exit(f"requirements.txt does not name {_NAME}.")
        folder = self._folder / "source"
        shutil.rmtree(folder, ignore_errors=True)
        download = ["download", "--no-deps", "--no-binary", _NAME, "--dest", str(folder), wanted[0]]
        _run([sys.executable, "-m", "pip", *download])
        source = next(folder.glob("*.tar.gz"))
        self._keep_licences(source)
        return source

    def _keep_licences(self, source: Path) -> None:
        self.llama_licences.mkdir(parents=True, exist_ok=True)
        with tarfile.open(source) as archive:
            for member in archive:
                inside = re.search(
                    r"/vendor/llama\.cpp/((?:licenses/|vendor/[\w-]+/)?LICENSE[\w.-]*)$", member.name
                )
                if inside and (file := archive.extractfile(member)):
                    (self.llama_licences / inside[1].replace("/", "-")).write_bytes(file.read())

    def _texts(self) -> list[str]:
        """What is asked for."""
        names = ("requirements.txt", "requirements-bundle.txt")
        return [(self._root / name).read_text(encoding="utf-8") for name in names]

    def _pip(self, *words: str) -> None:
        _run([str(self.python), "-m", "pip", *words, "--disable-pip-version-check", "--quiet"])


def _run(command: list[str], changes: dict[str, str] | None = None) -> None:
    subprocess.run(command, env={**os.environ, **(changes or {})}, check=True)
