"""An encoder's file cut to its first layers, which are all that BERTScore computes with.

bert-score takes the vectors that the 17th of roberta-large's 24 layers gives. llama.cpp gives those of the
last layer, and nothing comes after it in these models: a file without the upper layers gives the same.
"""

import re
from collections.abc import Generator
from pathlib import Path

import gguf

from engine.core.errors import ModelFileError, SetupError
from engine.core.events import CancelToken
from engine.models.encoder_file import EncoderFile, read_encoder_file
from engine.models.header import CONVERT_AGAIN
from engine.system.files import whole_file

_OF_A_LAYER = re.compile(r"blk\.(\d+)\.")


def cut_encoder(encoder: EncoderFile, layers: int, target: Path, cancel: CancelToken) -> EncoderFile:
    """Write `encoder` with its first `layers` layers to `target`, whole or not at all; the new file.

    All keys are copied but the number of layers (and lists without elements, which hold nothing); tensors
    keep their bytes. Memory does not grow with the file. SetupError where the number does not fit or
    `target` cannot be written, ModelFileError where the file cannot be read, Cancelled.
    """
    if not 1 <= layers <= encoder.layers:
        raise SetupError(
            f"{encoder.path.name} has {encoder.layers} layers: it has no first {layers}.",
            f"Choose a number between 1 and {encoder.layers}.",
        )
    try:
        reader = gguf.GGUFReader(encoder.path)
        values = {name: field.contents() for name, field in reader.fields.items()}
    except ValueError as error:
        raise ModelFileError(f"{encoder.path.name}: it cannot be copied: {error}.", CONVERT_AGAIN) from error
    values[f"{encoder.architecture}.block_count"] = layers
    with whole_file(target) as file:
        writer = gguf.GGUFWriter(file.name, encoder.architecture)
        try:
            writer.data_alignment = reader.alignment
            _add_values(writer, reader, values)
            _write_tensors(
                writer, [tensor for tensor in reader.tensors if _is_kept(tensor.name, layers)], cancel
            )
        finally:
            writer.close()
    return read_encoder_file(target)


def cut_to_scored_layers(cancel: CancelToken, path: Path, target: Path) -> Generator[None, None, Path]:
    """The same with the layers alone that bert-score computes with, without events; the new file's path.

    A work that a process of its own can do: whoever reads a file that is cut short meanwhile is ended.
    """
    yield from ()
    encoder = read_encoder_file(path)
    return cut_encoder(encoder, encoder.scored_layers, target, cancel).path


def _is_kept(tensor: str, layers: int) -> bool:
    of_a_layer = _OF_A_LAYER.match(tensor)
    return of_a_layer is None or int(of_a_layer[1]) < layers


def _add_values(writer: gguf.GGUFWriter, reader: gguf.GGUFReader, values: dict[str, object]) -> None:
    for name, field in reader.fields.items():
        # The reader counts what stands before the keys among them; the writer adds the architecture itself.
        if name.startswith("GGUF.") or name == "general.architecture" or values[name] == []:
            continue
        kind, *of_elements = field.types
        writer.add_key_value(name, values[name], kind, of_elements[-1] if of_elements else None)


def _write_tensors(writer: gguf.GGUFWriter, tensors: list[gguf.ReaderTensor], cancel: CancelToken) -> None:
    for tensor in tensors:
        data = tensor.data
        writer.add_tensor_info(tensor.name, data.shape, data.dtype, data.nbytes, tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in tensors:
        cancel.raise_if_requested()
        writer.write_tensor_data(tensor.data)
