"""Whether the program was ended by a fault that no Python code could tell of.

While the program runs, Python keeps a file open, into which it writes where each thread stood when a fault (a
segmentation fault, an abort) ends the process. The next start finds the file with something in it.

Knows: the folder of the logs, faulthandler. Does not know: who tells the user.
"""

import faulthandler
import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from engine.system.files import own_file
from engine.system.paths import log_folder

_NAME = "window-{}.fault"


class FaultWatch:
    """From when it is made until `end`, a fault that ends this process is written down.

    `told_in`: the log file, where one had ended an earlier process and was not reported yet; else None.
    """

    def __init__(self) -> None:
        self.told_in = _gather()
        self._path = log_folder() / _NAME.format(os.getpid())
        self._file: BinaryIO | None = None
        with suppress(OSError):  # a full disk: then a fault leaves no words
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = own_file(self._path)
            faulthandler.enable(self._file)

    def end(self) -> None:
        """The process ends as it should, and nothing is to be told of it."""
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            with suppress(OSError):
                self._path.unlink()


def _gather() -> Path | None:
    """Move what processes left behind that are gone into the log; the log, if there was anything."""
    told_in = None
    for path in sorted(log_folder().glob(_NAME.format("*"))):
        with suppress(OSError):  # another process was faster, or the disk is read-only
            words = path.read_text("utf-8", errors="backslashreplace").strip()
            if words:
                # Only now: the window's first picture need not wait for what logging imports.
                from engine.system.fault_log import log_dump  # noqa: PLC0415

                told_in = log_dump(words, "the window was ended by a fault")
            if words or not _is_of_a_process(path):
                path.unlink()
    return told_in


def _is_of_a_process(path: Path) -> bool:
    # Only now: psutil takes longer to import than all else here, and mostly there is no such file.
    from engine.system.computer import is_running  # noqa: PLC0415

    number = path.stem.rpartition("-")[2]
    return number.isdecimal() and is_running(int(number))
