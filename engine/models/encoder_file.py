"""An encoder's file for BERTScore: by its header, and cut to its first layers, which are all that are needed.
RoBERTa and BERT are one architecture in GGUF, `bert`, told apart by their tokenizers.
"""

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.core.errors import ModelFileError, SetupError
from engine.core.events import CancelToken
from engine.models import checks
from engine.models.header import CONVERT_AGAIN, GgufHeader, read_header
from engine.models.memory import MemoryEstimate, buffer_bytes
from engine.models.model_file import ModelFile, describe
from engine.system.files import whole_file

_ARCHITECTURE = "bert"
_CHOOSE_ENCODER = "Choose a RoBERTa or BERT encoder in GGUF format."

_ROBERTA, _BERT = "gpt2", "bert"  # names of their tokenizers in GGUF
_FAMILIES = {_ROBERTA: "RoBERTa", _BERT: "BERT"}
# RoBERTa splits words as GPT-2 does; other methods would give other tokens without a word of warning.
_ROBERTA_SPLITS = frozenset({"roberta-bpe", "gpt-2"})
# The special tokens that are needed (GGUF spells them so), and what llama.cpp takes where a file names none.
_NEEDED_TOKENS: Mapping[str, Mapping[str, int | None]] = {
    _ROBERTA: {"bos": None, "seperator": None},
    _BERT: {"bos": 101, "unknown": 100, "seperator": 102},
}
_ORDINARY_TOKEN, _BYTE_TOKEN = 1, 6  # LLAMA_TOKEN_TYPE_NORMAL, LLAMA_TOKEN_TYPE_BYTE
_SHORTEST_CONTEXT = 16
# How many layers bert-score computes with, by family, layers and width of the models that are published.
_SCORED_LAYERS = {
    ("RoBERTa", 24, 1024): 17,
    ("RoBERTa", 12, 768): 10,
    ("BERT", 24, 1024): 18,
    ("BERT", 12, 768): 9,
}


@dataclass(frozen=True)
class EncoderFile(ModelFile):
    """The last of its layers gives the vectors. `notice`: what to know before scores are computed with it."""

    family: str = ""  # `RoBERTa` or `BERT`
    width: int = 0  # numbers in a vector

    @property
    def scored_layers(self) -> int:
        """Of how many layers bert-score takes the last: fewer than all where the file is uncut."""
        return _SCORED_LAYERS.get((self.family, self.layers, self.width), self.layers)


def is_encoder(header: GgufHeader) -> bool:
    return header.architecture == _ARCHITECTURE


def read_encoder_file(path: Path) -> EncoderFile:
    """Read, check and describe a file by its header; ModelFileError where it cannot serve as encoder."""
    header = read_header(path)
    precheck_encoder(header)
    return describe_encoder(header, path)


def describe_encoder(header: GgufHeader, path: Path) -> EncoderFile:
    family = _FAMILIES[header.text("tokenizer.ggml.model") or ""]
    told = vars(describe(header, path))
    encoder = EncoderFile(**told, family=family, width=_size(header, "embedding_length"))
    if encoder.scored_layers == encoder.layers:
        return encoder
    notice = (
        f"{path.name} is not cut: bert-score computes with its first {encoder.scored_layers} layers,"
        " and other layers give other scores."
    )
    return replace(encoder, notice=notice)


def encoder_memory(encoder: EncoderFile) -> MemoryEstimate:
    """Bytes that an encoder takes: the mapped weights, and logits, for which llama.cpp makes room unasked."""
    return MemoryEstimate(
        weights=encoder.size_bytes, kv_cache=0, buffers=buffer_bytes(encoder.vocabulary_size)
    )


def precheck_encoder(model: GgufHeader) -> None:
    """Raise ModelFileError (key or tensor, what was found, the next step) for what cannot be an encoder."""
    checks.check_kind(model, _CHOOSE_ENCODER)
    checks.check_not_split(model)
    name = model.architecture
    if not name:
        raise model.refused("key 'general.architecture' is missing")
    if name != _ARCHITECTURE:
        raise model.refused(
            f"its architecture {name!r} is not that of RoBERTa and BERT, so it cannot be used as encoder",
            _CHOOSE_ENCODER,
        )
    checks.check_has_tensors(model, _CHOOSE_ENCODER)
    checks.check_sizes(model)
    context = _size(model, "context_length")
    if context < _SHORTEST_CONTEXT:
        raise model.refused(f"its context of {context:,} tokens is too small for a text", _CHOOSE_ENCODER)
    _check_heads(model)
    key = model.key("expert_count")
    if experts := max(model.per_layer(key), default=0):
        raise model.refused(f"key {key!r} is {experts:,}, but RoBERTa and BERT have no experts")
    checks.check_numbers_and_tables(model)
    kind = model.text("tokenizer.ggml.model")
    if kind not in _FAMILIES:
        raise model.refused(
            f"its tokenizer {kind!r} is neither RoBERTa's ({_ROBERTA!r}) nor BERT's ({_BERT!r})",
            _CHOOSE_ENCODER,
        )
    split = model.text("tokenizer.ggml.pre")
    if kind == _ROBERTA and split not in _ROBERTA_SPLITS:
        raise model.refused(
            f"key 'tokenizer.ggml.pre' is {split or 'missing'}: it does not split words like RoBERTa's"
        )
    _check_special_tokens(model)
    _check_embeddings(model)


def _size(model: GgufHeader, name: str) -> int:
    return model.integer(model.key(name)) or 0


def _check_heads(model: GgufHeader) -> None:
    # llama.cpp asserts that the heads share the width of a vector evenly.
    width, heads = _size(model, "embedding_length"), _size(model, "attention.head_count")
    if heads < 1 or width % heads:
        raise model.refused(f"its heads do not share vectors of {width:,} numbers: there are {heads:,}")
    expected = {"head_count_kv": heads, "key_length": width // heads, "value_length": width // heads}
    for own, number in expected.items():
        name = f"attention.{own}"
        found = model.integer(model.key(name))
        if found not in (None, number):
            raise model.refused(f"key {model.key(name)!r} is {found:,}, but should be {number:,}")


def _check_special_tokens(model: GgufHeader) -> None:
    """A text cannot begin and end without them; llama.cpp does not look whether they are there."""
    count = len(model.tokens)
    types = model.get("tokenizer.ggml.token_type")
    for name, default in _NEEDED_TOKENS[model.text("tokenizer.ggml.model") or ""].items():
        key = f"tokenizer.ggml.{name}_token_id"
        number = model.integer(key)
        number = default if number is None else number
        if number is None:
            raise model.refused(f"key {key!r} is missing")
        if not 0 <= number < count:
            raise model.refused(f"key {key!r} is {number:,}, but there are {count:,} tokens")
        if isinstance(types, np.ndarray) and types[number] == _ORDINARY_TOKEN:
            raise model.refused(f"key {key!r} is missing or wrong: token {number:,} is an ordinary one")
    # llama.cpp ends the process where a token is marked so, and its kind of tokenizer has none.
    if isinstance(types, np.ndarray) and (types == _BYTE_TOKEN).any():
        raise model.refused("key 'tokenizer.ggml.token_type' marks tokens as bytes, which these models lack")


def _check_embeddings(model: GgufHeader) -> None:
    width = _size(model, "embedding_length")
    expected = {
        "token_embd.weight": (width, len(model.tokens)),
        "position_embd.weight": (width, _size(model, "context_length")),
        "token_embd_norm.weight": (width,),
        "token_embd_norm.bias": (width,),
    }
    found = {tensor.name: tensor.shape for tensor in model.tensors}
    for name, shape in expected.items():
        if name not in found:
            raise model.refused(f"tensor {name!r} is missing")
        if found[name] != shape:
            raise model.refused(f"tensor {name!r} has shape {found[name]}, but should have {shape}")
    for tensor in model.tensors:
        # llama.cpp adds its first row as it is.
        if tensor.name == "token_types.weight" and tensor.type_name != "F32":
            raise model.refused(f"tensor {tensor.name!r} has type {tensor.type_name}; llama.cpp needs F32")


# bert-score takes the vectors that the 17th of roberta-large's 24 layers gives. llama.cpp gives those of the
# last layer, and nothing comes after it in these models: a file without the upper layers gives the same.
_OF_A_LAYER = re.compile(r"blk\.(\d+)\.")


def cut_encoder(encoder: EncoderFile, layers: int, target: Path, cancel: CancelToken) -> EncoderFile:
    """Write `encoder` with its first `layers` layers to `target`, whole or not at all; tensors keep their
    bytes. SetupError where the number does not fit or `target` cannot be written, ModelFileError, Cancelled.
    """
    if not 1 <= layers <= encoder.layers:
        raise SetupError(
            f"{encoder.path.name} has {encoder.layers} layers: it has no first {layers}.",
            f"Choose a number between 1 and {encoder.layers}.",
        )
    import gguf  # noqa: PLC0415 - takes as long to import as all else here, and only this needs it

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
            for name, field in reader.fields.items():
                # Counted among the keys is what stands before them; the architecture is added by itself.
                if name.startswith("GGUF.") or name == "general.architecture" or values[name] == []:
                    continue
                kind, *of_elements = field.types
                writer.add_key_value(name, values[name], kind, of_elements[-1] if of_elements else None)
            layer_of = {tensor.name: _OF_A_LAYER.match(tensor.name) for tensor in reader.tensors}
            above = {name for name, found in layer_of.items() if found and int(found[1]) >= layers}
            kept = [tensor for tensor in reader.tensors if tensor.name not in above]
            for tensor in kept:
                data = tensor.data
                writer.add_tensor_info(tensor.name, data.shape, data.dtype, data.nbytes, tensor.tensor_type)
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_ti_data_to_file()
            for tensor in kept:
                cancel.raise_if_requested()
                writer.write_tensor_data(tensor.data)
        finally:
            writer.close()
    return read_encoder_file(target)


def cut_to_scored_layers(cancel: CancelToken, path: Path, target: Path) -> Generator[None, None, Path]:
    """The same with the layers alone that bert-score computes with: a work for a process of its own."""
    yield from ()
    encoder = read_encoder_file(path)
    return cut_encoder(encoder, encoder.scored_layers, target, cancel).path
