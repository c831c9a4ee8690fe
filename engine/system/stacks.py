"""How large the stack of a thread is: as large as needed by whatever walks through nested values.

Systems differ by a factor of sixteen, and what passes the end of a stack ends the process.

Knows: threads of Python. Does not know: what they do, threads of Qt.
"""

import threading

STACK_BYTES = 16 << 20
"""Of each thread that this program makes. macOS would give 512 KiB, Linux 8 MiB, Windows 1 MiB."""


def give_room() -> None:
    """Let every thread that Python makes from now on have a stack of STACK_BYTES."""
    threading.stack_size(STACK_BYTES)
