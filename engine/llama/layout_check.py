"""Whether the library of llama.cpp is the one whose structures llama-cpp-python declares.

Libraries can come from elsewhere than the declarations (LLAMA_CPP_LIB_PATH, packaging/ready_llama). One of
another version has the same functions, and would read and write the wrong bytes.
"""

import ctypes
import platform
from collections.abc import Mapping
from typing import Any

import llama_cpp

from engine.core.errors import SetupError

VERSION = "0.5.0"
"""Of llama.cpp as llama-cpp-python 0.3.36 has it; 0.6.0 has a member more in llama_context_params."""
# What the defaults are; members that are not named here are zero.
CONTEXT = {
    **{"n_ctx": 512, "n_batch": 2048, "n_ubatch": 512, "n_seq_max": 1, "n_outputs_max_per_seq": 1},
    **{"n_threads": 4, "n_threads_batch": 4, "type_k": 1, "type_v": 1},
    **{"rope_scaling_type": -1, "pooling_type": -1, "attention_type": -1, "flash_attn_type": -1},
    **{"yarn_ext_factor": -1, "yarn_attn_factor": -1, "yarn_beta_fast": -1, "yarn_beta_slow": -1},
    **{"defrag_thold": -1, "offload_kqv": True, "no_perf": True, "op_offload": True, "swa_full": True},
}
MODEL = {"n_gpu_layers": -1, "split_mode": 1, "load_mode": -1, "lazy_mode": 1, "use_extra_bufts": True}
_ROOM = 512


class _Room(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_ubyte * _ROOM),)


def check_layout(library: ctypes.CDLL) -> None:
    """Raises SetupError unless the version, the sizes of the structures and all defaults are as declared."""
    found = (llama_cpp.llama_version() or b"").decode("utf-8", "replace")
    wrong = "" if found.partition("-")[0] == VERSION else f"it is version {found}, not {VERSION}"
    wrong = wrong or _difference(library, "context", llama_cpp.llama_context_params, CONTEXT)
    wrong = wrong or _difference(library, "model", llama_cpp.llama_model_params, MODEL)
    if wrong:
        raise SetupError(
            f"The library {library._name} does not fit llama-cpp-python {llama_cpp.__version__}: {wrong}.",
            "Remove the variable LLAMA_CPP_LIB_PATH if it is set; otherwise set Tiebreak up again.",
        )


def _difference(library: ctypes.CDLL, of: str, struct: Any, values: Mapping[str, float]) -> str:
    """What differs between a structure of defaults and what the library returns, or an empty text."""
    first, second = _answers(library, f"llama_{of}_default_params")
    expected, size = bytes(struct(**values)), ctypes.sizeof(struct)
    end = 0
    for name, *_ in struct._fields_:
        member = getattr(struct, name)
        end = member.offset + member.size
        if first[member.offset : end] != expected[member.offset : end]:
            return f"{struct.__name__} has another default for {name}"
    # What both have alike was written. Behind the last member there may be padding, written or not.
    written = next((place for place in range(_ROOM, 0, -1) if first[place - 1] == second[place - 1]), 0)
    if first is not second and not end <= written <= size:
        return f"{struct.__name__} has {written} bytes, not {size}"
    return ""


def _answers(library: ctypes.CDLL, function: str) -> tuple[bytes, bytes]:
    """What a function returns as a structure, twice, in more room than any takes: a longer one harms nothing.

    On x86-64 a structure is written where a hidden first argument says: each answer has a buffer with a fill
    of its own. Elsewhere that pointer is no argument, and both are one object, whose length is unknown.
    """
    call = library[function]  # an object of its own, so llama_cpp's declarations stay
    if platform.machine().lower() not in ("amd64", "x86_64"):
        call.restype = _Room
        return (bytes(call()),) * 2
    call.restype, call.argtypes = None, [ctypes.c_void_p]
    rooms = [ctypes.create_string_buffer(fill * _ROOM, _ROOM) for fill in (b"\x55", b"\xaa")]
    for room in rooms:
        call(room)
    return rooms[0].raw, rooms[1].raw
