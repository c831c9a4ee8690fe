"""A build backend that makes the wheel of llama-cpp-python without a compiler: its own Python part, and the
libraries of llama.cpp that llama-cpp-py-sync has compiled. parts.txt holds both to their sums.
"""

import base64
import ctypes
import hashlib
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

HERE = Path(__file__).parent
PLATFORMS = {"win32": "win_amd64", "darwin": "macosx_14_0_arm64"}
_AVX2 = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE of IsProcessorFeaturePresent
_LIBRARIES = (".dll", ".dylib")
_TERMS = ("LICENSE", "THIRD_PARTY_NOTICES.txt")


def build_wheel(wheel_directory: str, _settings: Any = None, _metadata_directory: str | None = None) -> str:
    """What pip calls. SystemExit where these libraries do not run, or a part is not what it was."""
    if sys.platform not in PLATFORMS:
        raise SystemExit("There are libraries for Windows and macOS alone: install requirements.txt instead.")
    if sys.platform == "win32" and not ctypes.windll.kernel32.IsProcessorFeaturePresent(_AVX2):
        raise SystemExit(
            "This processor has no AVX2, which these libraries of llama.cpp need. Compile it: install a C++"
            " compiler, then requirements.txt (docs/install-and-bundle.md)."
        )
    with _temporary_folder() as name:
        folder = Path(name)
        # pip's cache has no word for these settings: it would hand out a wheel that was compiled before, and
        # keep this one, which has no libraries, for whoever compiles next.
        how = ("--no-deps", "--no-cache-dir", "--require-hashes", "--wheel-dir", folder)
        command = (sys.executable, "-m", "pip", "wheel", *how, "--requirement", HERE / "parts.txt")
        where = {**os.environ, "TEMP": name, "TMP": name}
        if subprocess.run(list(map(str, command)), env=where, check=False).returncode != 0:
            raise SystemExit("pip did not get the parts of llama-cpp-python, or one has another sum (above).")
        binding, libraries = (next(folder.glob(f"llama_cpp_{part}-*.whl")) for part in ("python", "py_sync"))
        return joined(binding, libraries, PLATFORMS[sys.platform], Path(wheel_directory)).name


def _temporary_folder() -> "TemporaryDirectory[str]":
    # Unless Windows is told otherwise, no path has more than 259 letters. llama.cpp's sources have 178, and
    # `pip wheel` unpacks them 70 below this folder, so it may have 11: the user's own has 34 and more.
    if sys.platform == "win32":
        with suppress(OSError):  # where the drive is not the user's, pip says which path is too long
            return TemporaryDirectory(prefix="", dir=HERE.anchor, ignore_cleanup_errors=True)
    return TemporaryDirectory()


def joined(binding: Path, libraries: Path, platform: str, folder: Path) -> Path:
    """One wheel for a platform, in a folder: that of llama-cpp-python, and the libraries of another."""
    with ZipFile(binding) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    with ZipFile(libraries) as wheel:
        for path in map(PurePosixPath, wheel.namelist()):
            if path.suffix in _LIBRARIES or path.name in _TERMS:
                files[f"llama_cpp/lib/{path.name}"] = wheel.read(str(path))
    about = next(PurePosixPath(name).parent for name in files if name.endswith(".dist-info/RECORD"))
    tag = f"Tag: py3-none-{platform}".encode()
    files[f"{about}/WHEEL"] = re.sub(rb"(?m)^Tag: \S+", tag, files[f"{about}/WHEEL"])
    del files[f"{about}/RECORD"]
    rows = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*rows, f"{about}/RECORD,,", ""]).encode()
    made = folder / f"{about.stem}-py3-none-{platform}.whl"
    with ZipFile(made, "w", ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    return made


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
