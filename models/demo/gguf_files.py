"""GGUF files of this project's own models: the parts that trained and random ones share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf

ROPE_BASE = 10_000.0
NORM_EPSILON = 1e-5
"""How every Llama of this project computes; its file says so."""

_MERGING = ("gpt2", "whitespace")  # tokenizers that merge pairs; the others weigh tokens
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, _UNUSED, BYTE = range(1, 7)


@dataclass
class TokenTable:
    """A vocabulary as GGUF keeps it.

    `kind`: `gpt2` (byte-level BPE), `llama` (SentencePiece), or another that llama.cpp knows. `named`:
    further tokens of the header by their names there, such as `unknown`.
    """

    kind: str
    pre: str
    tokens: list[str] = field(default_factory=list)
    types: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    merges: list[str] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)

    def add(self, text: str, kind: int = NORMAL, score: float = 0.0) -> int:
        """Append a token; its id."""
        self.tokens.append(text)
        self.types.append(kind)
        self.scores.append(score)
        return len(self.tokens) - 1


Template = str | Sequence[Mapping[str, str]] | None
"""A chat template, several with a `name` and a `template` each, or none."""


def add_vocabulary(writer: gguf.GGUFWriter, table: TokenTable, template: Template) -> None:
    """Add the tokens, the first two control tokens as BOS and EOS, and the chat template."""
    bos, eos = _ends(table)
    writer.add_tokenizer_model(table.kind)
    writer.add_tokenizer_pre(table.pre)
    writer.add_token_list(table.tokens)
    writer.add_token_types(table.types)
    if table.kind in _MERGING:
        writer.add_token_merges(table.merges)
    else:
        writer.add_token_scores(table.scores)
    if table.kind == "llama":
        writer.add_add_space_prefix(True)
    writer.add_bos_token_id(bos)
    writer.add_eos_token_id(eos)
    for name, text in table.named.items():
        writer.add_uint32(f"tokenizer.ggml.{name}_token_id", table.tokens.index(text))
    writer.add_add_bos_token(table.kind == "llama" or table.pre == "llama-bpe")
    if template is not None:
        writer.add_chat_template(template)


def _ends(table: TokenTable) -> tuple[int, int]:
    """Ids of the first two control tokens: BOS and EOS."""
    first, second, *_ = (index for index, kind in enumerate(table.types) if kind == CONTROL)
    return first, second


def add_llama_shape(
    writer: gguf.GGUFWriter,
    *,
    layers: int,
    context: int,
    width: int,
    feed_forward: int,
    heads: int,
    kv_heads: int,
    vocabulary: int,
    file_type: gguf.LlamaFileType,
) -> None:
    """Add what llama.cpp must know of a Llama's size, and how it computes."""
    writer.add_block_count(layers)
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(feed_forward)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(NORM_EPSILON)
    writer.add_rope_dimension_count(width // heads)
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_vocab_size(vocabulary)
    writer.add_file_type(file_type)


def written(writer: gguf.GGUFWriter, path: Path) -> Path:
    """Write everything that was added; the path."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def read_vocabulary(path: Path) -> TokenTable:
    """The tokens of a byte-level BPE file, back from it."""
    fields = gguf.GGUFReader(path).fields

    def content(key: str) -> Any:
        return fields[f"tokenizer.ggml.{key}"].contents()

    return TokenTable(
        kind=content("model"),
        pre=content("pre"),
        tokens=content("tokens"),
        types=content("token_type"),
        merges=content("merges"),
    )
