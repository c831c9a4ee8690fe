"""A batch of tokens as llama.cpp takes it, over arrays of numpy that are filled again for each call.

Knows: llama_cpp's batch structure. Does not know: contexts, what the tokens say.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

Entry = tuple[int, int, int, bool, int]
"""A token to compute: its id, position, sequence, whether its logits are wanted, index of its feed."""


class TokenBatch:
    """Room for `size` tokens, each in one sequence."""

    def __init__(self, size: int) -> None:
        self._tokens = np.zeros(size, dtype=np.int32)
        self._positions = np.zeros(size, dtype=np.int32)
        self._sequences = np.zeros(size, dtype=np.int32)
        self._counts = np.ones(size, dtype=np.int32)
        self._wanted = np.zeros(size, dtype=np.int8)
        pointer = self._sequences.ctypes.data
        step = self._sequences.itemsize
        # Made once: llama.cpp wants a list of sequences for each token, and each of ours is in one.
        self._sequence_pointers = np.array([pointer + step * i for i in range(size)], dtype=np.uintp)
        self._struct = llama_cpp.llama_batch(
            n_tokens=0,
            token=_as(self._tokens, "token"),
            embd=None,
            pos=_as(self._positions, "pos"),
            n_seq_id=_as(self._counts, "n_seq_id"),
            seq_id=_as(self._sequence_pointers, "seq_id"),
            logits=_as(self._wanted, "logits"),
        )

    def filled(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sequences: Sequence[int],
        wanted: Sequence[bool],
    ) -> Any:
        """The batch that holds these tokens, all four of one length; valid until the next call.

        `wanted`: whether the output of a token is asked for.
        """
        count = len(tokens)
        self._tokens[:count] = tokens
        self._positions[:count] = positions
        self._sequences[:count] = sequences
        self._wanted[:count] = wanted
        self._struct.n_tokens = count
        return self._struct


def batches(entries: Sequence[Entry], size: int, equal: bool) -> Iterator[Sequence[Entry]]:
    """Tokens in batches of at most `size`, none of which llama.cpp splits so that one token is left alone.

    `equal`: for models that keep a state, of which it takes equally many tokens of each sequence at once. A
    sequence that is one token longer than all others would leave that one; so it comes in the next batch.
    """
    for begin in range(0, len(entries), size):
        part = entries[begin : begin + size]
        lengths = Counter(entry[2] for entry in part).most_common(2)
        if equal and len(lengths) == 2 and lengths[0][1] - lengths[1][1] == 1:
            last = max(place for place, entry in enumerate(part) if entry[2] == lengths[0][0])
            yield [*part[:last], *part[last + 1 :]]
            yield [part[last]]
        else:
            yield part


_FIELD_TYPES: Mapping[str, Any] = {name: kind for name, kind, *_ in llama_cpp.llama_batch._fields_}


def _as(array: npt.NDArray[Any], field: str) -> Any:
    return array.ctypes.data_as(_FIELD_TYPES[field])
