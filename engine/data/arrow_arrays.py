"""Arrow arrays made of texts and of NumPy's numbers, and the way back.

pyarrow imports pandas, for half a second, as soon as `pyarrow.array`, `pyarrow.scalar` or a kernel is handed
a Python object or a NumPy array, and in its own `to_numpy`. What stands here hands over buffers instead.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_OF_ANY_LENGTH = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)


def text_array(texts: Sequence[str]) -> pa.LargeStringArray:
    """Texts as Arrow's large_string: UTF-8 in one buffer, and where each begins in another."""
    joined = "".join(texts)
    lengths = map(len, texts) if joined.isascii() else (len(text.encode("utf-8")) for text in texts)
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, len(texts)), out=starts[1:])
    buffers = pa.py_buffer(starts), pa.py_buffer(joined.encode("utf-8"))
    return pa.LargeStringArray.from_buffers(len(texts), *buffers)


def number_array(numbers: npt.NDArray[np.int64]) -> pa.Array:
    """Whole numbers, shape (n,), as Arrow's int64, such as the rows that a `take` wants."""
    buffer = pa.py_buffer(np.ascontiguousarray(numbers, np.int64))
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, buffer])


def to_numpy(column: pa.ChunkedArray | pa.Array) -> npt.NDArray[Any]:
    """Numbers or truth values without gaps as a NumPy array of their kind, shape (n,); only to be read."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_boolean(array.type):  # eight in a byte, which NumPy does not know
        return np.from_dlpack(pc.cast(array, pa.uint8())).view(np.bool_)
    return np.from_dlpack(array)


def coded(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], list[str]]:
    """The different texts of a column, as first met, and which of them each row has, shape (n,)."""
    found = column.combine_chunks().dictionary_encode()
    return to_numpy(found.indices).astype(np.int64), found.dictionary.to_pylist()


def holds_bytes(kind: pa.DataType) -> bool:
    """True for bytes and for what holds some, as pictures are stored."""
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    return (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or any(map(holds_bytes, inner))
    )


def unpacked_bytes(column: pa.Array) -> int:
    """The bytes of a column once each row has a value of its own, also where several share one."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not any(test(kind.value_type) for test in _OF_ANY_LENGTH):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths, min_count=0).as_py())
