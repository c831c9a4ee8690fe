"""How large the stack of a thread really is, which Linux alone tells."""

import ctypes
import sys

import pytest

CAN_BE_SEEN = pytest.mark.skipif(sys.platform != "linux", reason="asks the C library of Linux")


def stack_bytes() -> int:
    """The stack of the thread that asks."""
    library = ctypes.CDLL(None)
    library.pthread_self.restype = ctypes.c_ulong
    attributes, size = (ctypes.c_char * 256)(), ctypes.c_size_t()
    assert library.pthread_getattr_np(ctypes.c_ulong(library.pthread_self()), attributes) == 0
    library.pthread_attr_getstacksize(attributes, ctypes.byref(size))
    library.pthread_attr_destroy(attributes)
    return size.value
