"""The virtual environment of a bundle: the run time, PyInstaller, and llama.cpp for any processor and GPU.

All of it is what `locks/` lists, file by file.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bundle_contents import GPU_FOLDER
from project import BUILD, PACKAGING

_NAME = "llama-cpp-python"
_LOCKS = PACKAGING / "locks"
# Everything lands in the package's own folder; the libraries find each other there.
_CMAKE = [
    "-DGGML_NATIVE=OFF",
    "-DCMAKE_INSTALL_BINDIR=llama_cpp/lib",
    "-DCMAKE_INSTALL_LIBDIR=llama_cpp/lib",
]
# A library for each generation of processors; the one that fits is chosen when the program starts. A Mac does
# not need it: one build serves all that its system runs on, and most work is done by Metal.
_VARIANTS = ["-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON"]
# A library for GPUs of any maker. A Mac has Metal, which llama.cpp is compiled with there in any case.
_GPU = ["-DGGML_VULKAN=ON"]
# With this variant the program does without any of llama.cpp's layouts (engine/llama/library.py says why).
# Without it, processors with AMX get the layouts of AVX-512, as others do.
_AMX_LIBRARY = re.compile(r"(lib)?ggml-cpu-sapphirerapids\.(so|dll)")
_GPU_LIBRARY = re.compile(r"(lib)?ggml-vulkan\.(so|dll)")
# What CMake reads for us inside llama-cpp-python's project, and what that has the compiler read.
_CHANGES = tuple(PACKAGING / name for name in ("llama.cmake", "llama_only.cmake", "vulkan_layer_settings.h"))
_DISTURBING = {"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "CFLAGS", "CXXFLAGS", "SOURCE_DATE_EPOCH"}
_LICENCE = re.compile(r"/vendor/llama\.cpp/((?:licenses/|vendor/[\w-]+/)?LICENSE[\w.-]*)$")
_OWN_FOLDER = {"linux": "$ORIGIN", "darwin": "@loader_path"}


def cmake_options(gpu: bool) -> list[str]:
    """How llama.cpp is compiled for this system; `gpu`: with a library for GPUs, which a Mac does without."""
    options = list(_CMAKE)
    if sys.platform != "darwin":
        options += _VARIANTS + (_GPU if gpu else [])
    if own_folder := _OWN_FOLDER.get(sys.platform):
        options.append(f"-DCMAKE_INSTALL_RPATH={own_folder}")
    return options


def changes_option() -> str:
    """Has CMake read what we change of llama-cpp-python's project."""
    return f"-DCMAKE_PROJECT_llama_cpp_INCLUDE={_CHANGES[0].as_posix()}"


class BuildEnvironment:
    """The environment and what was compiled for it, in `build/`. What did not change is not made again.

    `vulkan`: the versions of what the library for GPUs is compiled with; empty: there is to be none.
    """

    def __init__(self, vulkan: Sequence[str] = ()) -> None:
        self._vulkan = vulkan
        self._venv = BUILD / "venv"
        self.python = self._venv / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        self.llama_licences = BUILD / "llama-licences"

    def time_needed(self) -> str:
        """How long the bundle takes, for who waits for it."""
        if self._is_there():
            return "The environment and llama.cpp are there from before: 5 minutes, on a busy computer 20."
        return (
            "A new environment: 10 minutes with the bundle, on a busy computer 30. Where llama.cpp is to be"
            " compiled it takes more; a message says so when it starts."
        )

    def make(self) -> None:
        """A new environment, unless the one that is there was made of the same."""
        if self._is_there():
            return
        compiled_with = self._compiled_with()
        shutil.rmtree(self._venv, ignore_errors=True)
        venv.create(self._venv, with_pip=True, symlinks=sys.platform != "win32")
        self._install("build.txt")
        self._pip("install", "--quiet", "--no-deps", str(self._wheel(compiled_with)))
        leave_amx_out(self._packages())
        put_gpu_apart(self._packages())
        self._install("bundle.txt")
        self._stamp.write_text(self._made_of(), encoding="utf-8")

    @property
    def _stamp(self) -> Path:
        return self._venv / "made-of"

    def _is_there(self) -> bool:
        made_of = self._stamp.read_text(encoding="utf-8") if self._stamp.is_file() else ""
        return self.llama_licences.is_dir() and made_of == self._made_of()

    def _made_of(self) -> str:
        return _digest([*self._texts(), sys.version, *self._compiled_with()])

    def _install(self, lock: str) -> None:
        """What a lock lists, of which each file has the sum that stands there; what is installed stays."""
        checked = ("--no-build-isolation", "--require-hashes")
        self._pip("install", "--quiet", *checked, "-r", str(_LOCKS / lock))

    def _compiled_with(self) -> list[str]:
        """What decides how llama.cpp comes out of the compiler, beside its source; no folder is among it."""
        changes = [path.read_text(encoding="utf-8") for path in _CHANGES]
        return [*_computer(), *cmake_options(bool(self._vulkan)), *changes, *self._vulkan]

    def _packages(self) -> Path:
        base = str(self._venv)
        return Path(sysconfig.get_path("platlib", "venv", {"base": base, "platbase": base}))

    def _wheel(self, compiled_with: list[str]) -> Path:
        """The wheel of llama-cpp-python, compiled here, in a folder named after what decides its content."""
        source = self._source()
        folder = BUILD / "compiled" / _digest([source.name, *compiled_with])[:12]
        if not (made := sorted(folder.glob("*.whl"))):
            minutes = "15 to 40" if self._vulkan else "10 to 30"
            takes = f"Compiling llama.cpp: {minutes} minutes."
            print(f"{takes} The next bundle takes it from {folder}.", flush=True)
            # pip's cache knows nothing of CMake's options: it might hand out a build for this very processor.
            self._pip(
                *("wheel", "--no-cache-dir", "--no-deps", "--no-build-isolation"),
                *("--wheel-dir", str(folder), str(source)),
                CMAKE_ARGS=shlex.join([*cmake_options(bool(self._vulkan)), changes_option()]),
                CMAKE_BUILD_PARALLEL_LEVEL=str(os.cpu_count() or 1),
                # Notes of MSBuild whose paths can be longer than it opens, whatever the system allows.
                TrackFileAccess="false",
            )
            made = sorted(folder.glob("*.whl"))
        return made[0]

    def _source(self) -> Path:
        """The source archive of the release in the lock, with the licences in it taken out."""
        wanted = re.search(rf"^{_NAME}==.*\n(?: .*\n)*", "".join(self._texts()), re.MULTILINE)
        if wanted is None:
            sys.exit(f"packaging/locks/bundle.txt does not name {_NAME}: make lock")
        folder = BUILD / "source"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        alone = folder / "lock.txt"
        alone.write_text(wanted[0], encoding="utf-8")
        self._pip(
            *("download", "--no-deps", "--no-binary", _NAME, "--no-build-isolation", "--require-hashes"),
            *("--dest", str(folder), "-r", str(alone)),
        )
        source = next(folder.glob("*.tar.gz"))
        self._keep_licences(source)
        return source

    def _keep_licences(self, source: Path) -> None:
        self.llama_licences.mkdir(parents=True, exist_ok=True)
        with tarfile.open(source) as archive:
            for member in archive:
                inside = _LICENCE.search(member.name)
                if inside and (file := archive.extractfile(member)):
                    (self.llama_licences / inside[1].replace("/", "-")).write_bytes(file.read())

    def _texts(self) -> list[str]:
        """What is asked for."""
        return [(_LOCKS / name).read_text(encoding="utf-8") for name in ("build.txt", "bundle.txt")]

    def _pip(self, *words: str, **variables: str) -> None:
        command = [str(self.python), "-m", "pip", "--disable-pip-version-check", *words]
        with short_temporary_folder() as short:
            subprocess.run(command, env={**undisturbed_environment(), **short, **variables}, check=True)


@contextmanager
def short_temporary_folder() -> Iterator[dict[str, str]]:
    """On Windows, the variables that name a temporary folder with a short path, which goes at the end.

    Unless the system is told otherwise, no path there has more than 259 letters. Those in llama.cpp's sources
    have 178, and `pip wheel` unpacks them 70 letters below this folder, so it may have 11: the user's own
    has 34 and more.
    """
    if sys.platform == "win32":
        with tempfile.TemporaryDirectory(prefix="", dir=BUILD.anchor, ignore_cleanup_errors=True) as folder:
            yield {"TEMP": folder, "TMP": folder}
    else:
        yield {}


def leave_amx_out(packages: Path) -> None:
    """Take away the library for processors with AMX; `packages`: where Python packages are installed."""
    for path in list((packages / "llama_cpp" / "lib").iterdir()):
        if _AMX_LIBRARY.fullmatch(path.name):
            path.unlink()


def put_gpu_apart(packages: Path) -> None:
    """Give llama.cpp's library for GPUs a folder of its own; `packages`: where Python packages are installed.

    For the processor the program lets llama.cpp load whatever lies beside it. A library for GPUs, and with it
    the graphics driver, is not to be among that: it is loaded, by its path, where a GPU was chosen.
    """
    apart = packages / GPU_FOLDER
    for path in [path for path in apart.parent.iterdir() if _GPU_LIBRARY.fullmatch(path.name)]:
        apart.mkdir(exist_ok=True)
        path.replace(apart / path.name)


def undisturbed_environment() -> dict[str, str]:
    """The variables of this process without those that bring in other packages or change the compiler."""
    return {name: value for name, value in os.environ.items() if name not in _DISTURBING}


def _computer() -> list[str]:
    """What a compiled library depends on beside its source."""
    return [sysconfig.get_platform(), *platform.libc_ver()]


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
