"""A process that is on another computer, as far as SQLite's shared memory is concerned.

Two computers that use a folder of a network see the same bytes of its files and keep each other out by the
same locks, but what one has mapped into its memory the other does not see change. Here SQLite's own table of
system calls (`xSetSystemCall`, made for tests) gets an `mmap` that maps the file of that memory privately.

`python -m tests.other_computer STORE KEY [MOUNTS]` begins a run of this key and says so; given a line, it
adds the run's items and says how many the store holds then. MOUNTS stands for the system's table.
"""

import _sqlite3
import ctypes
import sys
from pathlib import Path
from typing import Any

from engine.core.judgments import JudgedItem
from engine.settings.identity import RunIdentity
from engine.store.run_store import RunStore
from engine.system import paths

ITEMS = 60
_SHARED, _PRIVATE = 1, 2  # MAP_SHARED, MAP_PRIVATE on Linux and macOS

_kept: list[Any] = []  # what SQLite calls must not be collected


class _Vfs(ctypes.Structure):
    """`sqlite3_vfs` of sqlite3.h, up to the call that is wanted."""

    _fields_ = [
        *((name, ctypes.c_int) for name in ("version", "file_size", "longest_path")),
        *((name, ctypes.c_void_p) for name in ("next", "name", *(f"call_{n}" for n in range(14)))),
        ("set_system_call", ctypes.c_void_p),
    ]


def map_privately() -> bool:
    """Let SQLite of this process map its shared memory privately; False where it cannot be told to."""
    if sys.platform == "win32":
        return False
    system, sqlite = ctypes.CDLL(None), ctypes.CDLL(_sqlite3.__file__)
    if not hasattr(sqlite, "sqlite3_vfs_find"):
        return False
    whole = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64)
    system.mmap.restype, system.mmap.argtypes = ctypes.c_void_p, whole
    sqlite.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    vfs = sqlite.sqlite3_vfs_find(None)

    def mmap(address: int, length: int, protection: int, flags: int, file: int, offset: int) -> int:
        # SQLite maps nothing else for writing: what it reads of a database it reads by other calls.
        flags = flags & ~_SHARED | _PRIVATE
        return system.mmap(address, length, protection, flags, file, offset) or 0

    call = ctypes.CFUNCTYPE(ctypes.c_void_p, *whole)(mmap)
    set_call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        vfs.contents.set_system_call
    )
    _kept.append(call)
    return bool(set_call(vfs, b"mmap", ctypes.cast(call, ctypes.c_void_p)) == 0)


def _judge(path: Path, key: str) -> None:
    settings = {"mode": "labels", "orders": ["AB"], "examples": ""}
    hashes = ("d" * 64, ITEMS, Path("model.gguf"), "a model", "m" * 64, "1", ("safety",))
    identity = RunIdentity(key, Path("data.tsv"), *hashes, settings)
    with RunStore(path) as store, store.begin(identity) as run:
        print("begun", flush=True)
        sys.stdin.readline()
        for start in range(0, ITEMS, 4):
            store.add(run.id, [_item(position) for position in range(start, start + 4)])
        print(len(store.positions(run.id)), flush=True)
        sys.stdin.readline()


def _item(position: int) -> JudgedItem:
    return JudgedItem(position, f"id {position}", "c" * 64, {}, {}, {"safety": "too long"})


if __name__ == "__main__":
    if not map_privately():
        sys.exit("cannot")
    if len(sys.argv) > 3:
        paths._MOUNTS = Path(sys.argv[3])
    _judge(Path(sys.argv[1]), sys.argv[2])
