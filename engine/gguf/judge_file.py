"""A GGUF model file: what it is, by its header.

Knows: headers, how much cache a token of context takes.
Does not know: where files are, llama.cpp, tensor data.
"""

from dataclasses import dataclass
from pathlib import Path

from engine.core.formatting import short_count, without_middle
from engine.core.settings import KvType
from engine.gguf.header import GgufHeader
from engine.gguf.names import called, says_more
from engine.gguf.precheck import precheck
from engine.gguf.quantisation import quantisation
from engine.gguf.split import read_whole
from engine.gguf.values import HeaderValues

NOTICE_KEY = "tiebreak.notice"

NO_TEMPLATE = "plain text is used. It may be a base model, which is not trained to follow instructions."

_LONGEST_NOTICE = 600  # characters
_BYTES_PER_F16 = 2
Q8_0_BLOCK = 32
"""Numbers in a block of the Q8_0 format, kept in 34 bytes."""


@dataclass(frozen=True)
class ModelFile:
    """A model file as its header describes it.

    `path`: the file, the first part where it is split; `more_files`: the other parts, in order.
    `size_bytes`: of all. `name`: what users call it, by its file. `title`: what its header calls it, empty
    where it does not. `parameters`: numbers in all tensors. `trained_context`: tokens. `kv_bytes_per_token`:
    of KV cache in f16, for one token of context. `kv_types`: what the KV cache can be kept in.
    `vocabulary_size`: tokens. `experts`: how many a mixture has, and how many of them a token is read by; 0
    in others. `notice`: what a model made for this program has to tell its users, empty in others.
    `layers`: how many a GPU could take some of.
    """

    path: Path
    size_bytes: int
    name: str
    architecture: str
    quantisation: str
    parameters: int
    trained_context: int
    kv_bytes_per_token: int
    vocabulary_size: int
    has_chat_template: bool
    notice: str = ""
    kv_types: tuple[KvType, ...] = tuple(KvType)
    title: str = ""
    more_files: tuple[Path, ...] = ()
    experts: tuple[int, int] = (0, 0)
    layers: int = 0

    @property
    def size_in_words(self) -> str:
        """Its parameters, `46.7 B (2 of 8 experts at a time)`."""
        every, used = self.experts
        at_a_time = f" ({used} of {every} experts at a time)" if every else ""
        return f"{short_count(self.parameters)}{at_a_time}"

    @property
    def files(self) -> tuple[Path, ...]:
        """All its files, in order."""
        return (self.path, *self.more_files)

    @property
    def other_name(self) -> str:
        """The name in its header where that tells more than the name of the file, else empty."""
        return self.title if says_more(self.title, self.name) else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the user should know before a run with it, to be read after its name; empty for nothing."""
        template = "" if self.has_chat_template else f"no chat template: {NO_TEMPLATE}"
        return tuple(filter(None, (template, self.notice)))


def read_model_file(path: Path) -> ModelFile:
    """Read, check and describe a model by its file or any part; ModelFileError where it cannot judge."""
    whole = read_whole(path)
    precheck(whole.header)
    return describe(whole.header, *whole.files)


def template_source(path: Path) -> str:
    """The chat template of a model as its file has it, empty for none. ModelFileError as above."""
    whole = read_whole(path)
    precheck(whole.header)
    return HeaderValues(whole.header).text("tokenizer.chat_template") or ""


def describe(header: GgufHeader, path: Path, *more_files: Path) -> ModelFile:
    """What a header that passed `precheck` says of its model; `more_files`: further parts of it."""
    values = HeaderValues(header)
    return ModelFile(
        path=path,
        size_bytes=header.file_size,
        name=called(path),
        architecture=values.architecture,
        quantisation=quantisation(header.tensors, values.file_type, called(path)),
        parameters=sum(tensor.n_elements for tensor in header.tensors),
        trained_context=values.integer(values.key("context_length")) or 0,
        kv_bytes_per_token=_kv_bytes_per_token(values),
        vocabulary_size=len(values.tokens),
        has_chat_template=bool(values.get("tokenizer.chat_template")),
        notice=without_middle((values.text(NOTICE_KEY) or "").strip(), _LONGEST_NOTICE),
        kv_types=_kv_types(values),
        title=values.title,
        more_files=more_files,
        experts=_experts(values),
        layers=values.integer(values.key("block_count")) or 0,
    )


def _experts(values: HeaderValues) -> tuple[int, int]:
    every, used = (
        max(values.per_layer(values.key(name)), default=0) for name in ("expert_count", "expert_used_count")
    )
    return every, used


def _kv_bytes_per_token(values: HeaderValues) -> int:
    """Bytes of KV cache for one token: over the layers, KV heads x (key length + value length) x 2.

    Sliding windows take less; recurrent states, which do not grow with the context, are omitted.
    """
    kv_heads = values.per_layer(values.key("attention.head_count_kv")) or _heads(values)
    # One number stands for all layers.
    if len(kv_heads) == 1:
        kv_heads *= values.integer(values.key("block_count")) or 0
    return sum(kv_heads) * sum(_head_lengths(values)) * _BYTES_PER_F16


def _kv_types(values: HeaderValues) -> tuple[KvType, ...]:
    """f16 in any case; q8_0 where a head's numbers fill whole blocks, or where there are no heads."""
    # A row of a cache in q8_0 must be whole blocks; llama.cpp refuses others, once all is loaded.
    whole = all(length % Q8_0_BLOCK == 0 for length in _head_lengths(values))
    return tuple(KvType) if whole or not any(_heads(values)) else (KvType.F16,)


def _heads(values: HeaderValues) -> list[int]:
    return values.per_layer(values.key("attention.head_count"))


def _head_lengths(values: HeaderValues) -> tuple[int, int]:
    """Numbers in the key and in the value of one head."""
    head_size = (values.integer(values.key("embedding_length")) or 0) // max([*_heads(values), 1])
    key_length = values.integer(values.key("attention.key_length")) or head_size
    value_length = values.integer(values.key("attention.value_length")) or head_size
    return key_length, value_length
