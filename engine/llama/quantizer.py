"""A model file written again with its weights in another format, by llama.cpp's own quantiser.

Knows: what the quantiser is asked for, and how it says that it failed. Does not know: which models.
"""

import ctypes
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import llama_cpp

from engine.core.errors import ModelFileError, SetupError
from engine.llama.library import forget_errors, last_errors, start_library
from engine.system.files import whole_file

_ROOM = 128  # bytes of a key and of its text, with the zero byte that ends each
# A disk that was too full for llama.cpp may still take a few bytes.
_PROBE = bytes(1 << 20)


def write_q8_0(source: Path, target: Path, texts: Mapping[str, str]) -> None:
    """Write `source` with its weights in Q8_0 to `target`, whole or not at all, with texts for its header.

    Weights that are quantised already are rounded once more, to 8 bits. The same source gives the same bytes,
    whatever the number of threads. SetupError where `target` cannot be written, ModelFileError where
    llama.cpp cannot read `source`, ValueError for a key or a text longer than 127 bytes.
    """
    with whole_file(target) as file:
        quantise(source, Path(file.name), "q8_0", texts)


def quantise(source: Path, part: Path, to: str, texts: Mapping[str, str], threads: int = 0) -> None:
    """Write `source` as it is, with its weights in a format, `q4_k_m`, into the file `part`, which is there.

    Of a split one, one file is made. `threads`: 0 for all cores. Raises what `write_q8_0` raises, and OSError
    where writing fails.
    """
    overrides = _overrides(texts)
    start_library()
    params = llama_cpp.llama_model_quantize_default_params()
    params.nthread = threads
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{to.upper()}")
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
