"""The encoders of the tests written again, with something else in them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from models.demo.gguf_files import written

FOLDER = Path(__file__).resolve().parent
FAMILIES = ("roberta", "bert")

Tensor = npt.NDArray[Any]


def expected_scores() -> dict[str, Any]:
    """What bert-score said, as `make_encoders.py` wrote it down."""
    expected: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
    return expected


def rewritten(
    source: Path,
    target: Path,
    keys: Mapping[str, Any] | None = None,
    tensors: Mapping[str, Callable[[Tensor], Tensor]] | None = None,
    stored_as: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
    alignment: int | None = None,
) -> Path:
    """A copy of `source` with other values and tensors; `stored_as`: the type of its layers' weights."""
    keys, tensors = keys or {}, tensors or {}
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, "bert")
    if alignment:
        writer.add_custom_alignment(alignment)
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name != "general.architecture":
            kind, *of_elements = field.types
            value = keys.get(name, field.contents())
            writer.add_key_value(name, value, kind, of_elements[-1] if of_elements else None)
    for tensor in reader.tensors:
        data = tensors.get(tensor.name, np.array)(tensor.data)
        is_matrix = tensor.name.startswith("blk.") and data.ndim == 2
        type_now = stored_as if is_matrix else gguf.GGMLQuantizationType.F32
        writer.add_tensor(tensor.name, gguf.quants.quantize(data, type_now), raw_dtype=type_now)
    return written(writer, target)
