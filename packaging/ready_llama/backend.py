"""A build backend that makes the wheel of llama-cpp-python without a compiler: its own Python part, and llama.cpp's
libraries as llama-cpp-py-sync has them compiled. parts.txt holds both to their sums.
"""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
_AVX2 = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE of IsProcessorFeaturePresent
_PLATFORMS = {"win32": "win_amd64", "darwin": "macosx_14_0_arm64"}
_LIBRARIES = (".dll", ".dylib")
_TERMS = ("LICENSE", "THIRD_PARTY_NOTICES.txt")


def build_wheel(wheel_directory: str, _settings: Any = None, _metadata_directory: str | None = None) -> str:
    """What pip calls. SystemExit where these libraries do not run, or a part is not what it was."""
    if sys.platform not in _PLATFORMS:
        raise SystemExit("There are libraries for Windows and macOS alone: install requirements.txt instead.")
    if sys.platform == "win32" and not ctypes.windll.kernel32.IsProcessorFeaturePresent(_AVX2):
        raise SystemExit(
            "This processor has no AVX2, which these libraries of llama.cpp need. Compile llama.cpp for it: install"
            " a C++ compiler, then requirements.txt (docs/install-and-bundle.md)."
        )
    with TemporaryDirectory() as folder:
        made = _joined(Path(folder))
        shutil.copy(made, wheel_directory)
    return made.name


def _joined(folder: Path) -> Path:
    """One wheel of the two parts, made in a folder."""
    # The cache of pip would hand out a wheel that was compiled before, and keep this one without libraries for later.
    _run("pip", "wheel", "--no-deps", "--no-cache-dir", "--require-hashes", "-r", HERE / "parts.txt", "-w", folder)
    binding, libraries = (next(folder.glob(f"{name}-*.whl")) for name in ("llama_cpp_python", "llama_cpp_py_sync"))
    for wheel in (binding, libraries):
        _run("wheel", "unpack", wheel, "--dest", folder / "unpacked")
    ours, theirs = sorted((folder / "unpacked").glob("llama_cpp_py*"), key=lambda path: "sync" in path.name)
    target = ours / "llama_cpp" / "lib"
    target.mkdir()
    for path in (theirs / "llama_cpp_py_sync").iterdir():
        if path.suffix in _LIBRARIES:
            shutil.copy(path, target)
    for name in _TERMS:
        shutil.copy(next(theirs.rglob(name)), target)
    packed = folder / "packed"
    packed.mkdir()
    _run("wheel", "pack", ours, "--dest-dir", packed)
    _run("wheel", "tags", "--remove", "--platform-tag", _PLATFORMS[sys.platform], *packed.iterdir())
    return next(packed.iterdir())


def _run(module: str, *arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", module, *map(str, arguments)], check=True)  # noqa: S603
