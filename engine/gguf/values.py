"""A GGUF header asked for values of the kinds that llama.cpp expects.

Knows: how keys are named, and what kind of value stands under them. Does not know: which values are sound.
"""

import functools
from collections.abc import Iterable

import numpy as np

from engine.core.errors import ModelFileError
from engine.core.formatting import without_middle
from engine.gguf.header import LONGEST_PROBLEM, GgufHeader, HeaderValue

CONVERT_AGAIN = "Download the file again, or convert the model again with a current llama.cpp."

_LONGEST_TITLE = 200  # characters


class HeaderValues:
    """A header asked for values of the kinds that llama.cpp expects; ModelFileError where they are others."""

    def __init__(self, header: GgufHeader) -> None:
        self.tensors = header.tensors
        self._name = header.file_name
        self._metadata = header.metadata

    @property
    def architecture(self) -> str:
        """The name of the architecture, `llama`; empty where there is none."""
        return self.text("general.architecture") or ""

    @property
    def title(self) -> str:
        """The name that the header gives its model, on one line; empty where it gives none."""
        name = self.get("general.name")
        return without_middle(" ".join(name.split()), _LONGEST_TITLE) if isinstance(name, str) else ""

    @property
    def file_type(self) -> int | None:
        """The number of llama.cpp's `llama_ftype`; None where there is none."""
        return self.integer("general.file_type")

    def refused(self, what: str, hint: str = CONVERT_AGAIN) -> ModelFileError:
        """The error to raise."""
        return ModelFileError(f"{self._name}: {without_middle(what, LONGEST_PROBLEM)}.", hint)

    def key(self, name: str) -> str:
        """The whole key of one of the architecture's own: `block_count` -> `llama.block_count`."""
        return f"{self.architecture}.{name}"

    def get(self, key: str) -> HeaderValue | None:
        """A value of any kind."""
        return self._metadata.get(key)

    def floats(self) -> Iterable[tuple[str, float]]:
        """All single numbers with a point among the architecture's own keys."""
        for key, value in self._metadata.items():
            if isinstance(value, float) and key.startswith(f"{self.architecture}."):
                yield key, value

    def text(self, key: str) -> str | None:
        """A single string."""
        value = self.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self.refused(f"key {key!r} is not a text")

    def texts(self, key: str) -> list[bytes] | None:
        """An array of strings, each as llama.cpp sees it: up to its first zero byte."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, list):
            return [text.partition(b"\0")[0] if b"\0" in text else text for text in value]
        raise self.refused(f"key {key!r} is not a list of texts")

    @functools.cached_property
    def tokens(self) -> list[bytes]:
        """The vocabulary; empty where there is none."""
        return self.texts("tokenizer.ggml.tokens") or []

    def integer(self, key: str) -> int | None:
        """A single whole number."""
        value = self.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise self.refused(f"key {key!r} is not a whole number")

    def per_layer(self, key: str) -> list[int]:
        """A number for each layer; one element where all layers share it, none where the key is missing."""
        value = self.get(key)
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            return [int(number) for number in value]
        number = self.integer(key)
        return [] if number is None else [number]
