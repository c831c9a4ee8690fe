"""Small GGUF models with random weights: they run like any other, and know nothing.

Tests use them: they need several tokenizer and template families.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

from engine.models.header import HeaderValue, read_header
from models.demo.gguf_files import (
    BYTE,
    CONTROL,
    UNKNOWN,
    USER_DEFINED,
    Template,
    TokenTable,
    add_llama_shape,
    add_vocabulary,
    written,
)

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
HEADERS = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|start_header_id|>' + message.role + '<|end_header_id|>\\n\\n'"
    " + message.content | trim + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"
)
INSTRUCTIONS = (
    "{% if messages[0].role == 'system' %}{% set rest = messages[1:] %}"
    "{% set opening = '<<SYS>>\\n' + messages[0].content + '\\n<</SYS>>\\n\\n' %}"
    "{% else %}{% set rest = messages %}{% set opening = '' %}{% endif %}"
    "{% for message in rest %}{% if message.role == 'user' %}"
    "{{ bos_token + '[INST] ' + (opening if loop.first else '') + message.content + ' [/INST]' }}"
    "{% else %}{{ ' ' + message.content + ' ' + eos_token }}{% endif %}{% endfor %}"
)
NO_SYSTEM = (
    "{{ bos_token }}{% for message in messages %}{% if message.role == 'system' %}"
    "{{ raise_exception('no system messages here') }}{% endif %}"
    "{{ '<start_of_turn>' + ('model' if message.role == 'assistant' else message.role) + '\\n'"
    " + message.content | trim + '<end_of_turn>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"
)
THOUGHT = (
    "{% if add_generation_prompt and enable_thinking is defined and enable_thinking is false %}"
    "{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}"
)
"""What a template ends with that lets its model think, unless it is told not to."""

_VERDICTS = (" A", " B", " C", " D")


def byte_level_bpe(
    control: Sequence[str], pre: str = "llama-bpe", words: Sequence[str] = _VERDICTS
) -> TokenTable:
    """All bytes, whole `words` by merges, and control tokens, of which the first two are BOS and EOS."""
    table = TokenTable("gpt2", pre)
    for text in _BYTE_TEXTS:
        table.add(text)
    for word in words:
        pieces = [_BYTE_TEXTS[byte] for byte in word.encode("utf-8")]
        made = pieces[0]
        for piece in pieces[1:]:
            merge = f"{made} {piece}"
            made += piece
            if merge not in table.merges:
                table.merges.append(merge)
            if made not in table.tokens:
                table.add(made)
    for text in control:
        table.add(text, CONTROL)
    return table


def sentence_pieces(
    control: Sequence[str], words: Sequence[str] = _VERDICTS, user_defined: Sequence[str] = ()
) -> TokenTable:
    """Unknown, BOS and EOS, bytes, letters and `words` with their scores, and further special tokens."""
    table = TokenTable("llama", "default")
    table.add("<unk>", UNKNOWN)
    table.add("<s>", CONTROL)
    table.add("</s>", CONTROL)
    for byte in range(256):
        table.add(f"<0x{byte:02X}>", BYTE)
    for code in range(33, 127):
        table.add(chr(code), score=-1000.0 - code)
    table.add("▁", score=-999.0)
    for rank, word in enumerate(words):
        table.add(word.replace(" ", "▁"), score=-float(rank + 1))
    for text in control:
        table.add(text, CONTROL)
    for text in user_defined:
        table.add(text, USER_DEFINED)
    return table


@dataclass(frozen=True)
class Shape:
    """The size of a random Llama."""

    layers: int = 2
    width: int = 32
    heads: int = 4
    kv_heads: int = 2
    feed_forward: int = 64
    context: int = 8192


def write_random_model(
    path: Path,
    table: TokenTable,
    template: Template,
    shape: Shape | None = None,
    tensors_per_part: int = 0,
    more: Sequence[str] = (),
) -> Path:
    """Write a Llama with random weights over a token table, the same at each call; the path.

    `tensors_per_part`: write parts, `NAME-00001-of-00002.gguf`, with so many tensors each; 0: one file.
    `more`: names of tensors that no Llama has.
    """
    writer = gguf.GGUFWriter(path, "llama", split_max_tensors=tensors_per_part)
    writer.add_name("random weights")
    add_vocabulary(writer, table, template)
    _add_weights(writer, shape or Shape(), len(table.tokens))
    for name in more:
        writer.add_tensor(name, np.zeros((4, 32), np.float32))
    return written(writer, path)


def write_random_mamba(path: Path, table: TokenTable, template: str | None) -> Path:
    """Write a Mamba, a recurrent model whose memory cannot be cut back, with random weights; the path."""
    width, inner, state, kernel, rank, layers = 32, 64, 16, 4, 2, 2
    writer = gguf.GGUFWriter(path, "mamba")
    add_vocabulary(writer, table, template)
    writer.add_block_count(layers)
    writer.add_context_length(8192)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_ssm_conv_kernel(kernel)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(state)
    writer.add_ssm_time_step_rank(rank)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(table.tokens))
    random = np.random.default_rng(0)

    def add(name: str, *shape: int, scale: float = 1.0) -> None:
        weights = random.standard_normal(shape) * scale / np.sqrt(shape[-1])
        writer.add_tensor(name, weights.astype(np.float32))

    add("token_embd.weight", len(table.tokens), width, scale=4.0)
    for block in (f"blk.{number}" for number in range(layers)):
        writer.add_tensor(f"{block}.attn_norm.weight", np.ones(width, np.float32))
        add(f"{block}.ssm_in.weight", 2 * inner, width)
        add(f"{block}.ssm_conv1d.weight", inner, kernel)
        add(f"{block}.ssm_conv1d.bias", inner)
        add(f"{block}.ssm_x.weight", rank + 2 * state, inner)
        add(f"{block}.ssm_dt.weight", inner, rank)
        add(f"{block}.ssm_dt.bias", inner)
        decay = -np.tile(np.arange(1, state + 1, dtype=np.float32), (inner, 1))
        writer.add_tensor(f"{block}.ssm_a", decay)
        writer.add_tensor(f"{block}.ssm_d", np.ones(inner, np.float32))
        add(f"{block}.ssm_out.weight", width, inner)
    writer.add_tensor("output_norm.weight", np.ones(width, np.float32))
    add("output.weight", len(table.tokens), width, scale=2.0)
    return written(writer, path)


def add_random_weights(vocabulary: Path, path: Path, template: str | None) -> Path:
    """Write a model with the real tokenizer of a vocabulary-only file and random weights; the path."""
    writer = gguf.GGUFWriter(path, "llama")
    # Not by gguf.GGUFReader, which takes ten seconds for a large vocabulary.
    metadata = read_header(vocabulary).metadata
    for key, value in metadata.items():
        if key.startswith("tokenizer.ggml."):
            add_value(writer, key, value)
    if template is not None:
        writer.add_chat_template(template)
    tokens = metadata["tokenizer.ggml.tokens"]
    assert isinstance(tokens, list)
    _add_weights(writer, Shape(), len(tokens))
    return written(writer, path)


def add_value(writer: gguf.GGUFWriter, key: str, value: HeaderValue | Sequence[str]) -> None:
    """Add a field to a header, in the type that its value has in Python; numbers are of 32 bits."""
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    else:
        writer.add_array(key, value.tolist() if isinstance(value, np.ndarray) else value)


def _add_weights(writer: gguf.GGUFWriter, shape: Shape, vocabulary: int) -> None:
    add_llama_shape(
        writer,
        layers=shape.layers,
        context=shape.context,
        width=shape.width,
        feed_forward=shape.feed_forward,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        vocabulary=vocabulary,
        file_type=gguf.LlamaFileType.MOSTLY_F16,
    )
    kv_width = shape.width // shape.heads * shape.kv_heads
    random = np.random.default_rng(0)

    def matrix(name: str, rows: int, columns: int, scale: float = 1.0) -> None:
        weights = random.standard_normal((rows, columns)) * scale / np.sqrt(columns)
        writer.add_tensor(name, weights.astype(np.float16))

    def ones(name: str) -> None:
        gain: npt.NDArray[np.float32] = np.ones(shape.width, dtype=np.float32)
        writer.add_tensor(name, gain)

    matrix("token_embd.weight", vocabulary, shape.width, scale=4.0)
    for block in range(shape.layers):
        ones(f"blk.{block}.attn_norm.weight")
        matrix(f"blk.{block}.attn_q.weight", shape.width, shape.width, scale=2.0)
        matrix(f"blk.{block}.attn_k.weight", kv_width, shape.width, scale=2.0)
        matrix(f"blk.{block}.attn_v.weight", kv_width, shape.width)
        matrix(f"blk.{block}.attn_output.weight", shape.width, shape.width)
        ones(f"blk.{block}.ffn_norm.weight")
        matrix(f"blk.{block}.ffn_gate.weight", shape.feed_forward, shape.width)
        matrix(f"blk.{block}.ffn_up.weight", shape.feed_forward, shape.width)
        matrix(f"blk.{block}.ffn_down.weight", shape.width, shape.feed_forward)
    ones("output_norm.weight")
    matrix("output.weight", vocabulary, shape.width, scale=2.0)


def _byte_texts() -> list[str]:
    """How byte-level BPE writes each byte: printable ones as themselves, the others from U+0100 on."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    texts = []
    moved = 256
    for byte in range(256):
        if byte in shown:
            texts.append(chr(byte))
        else:
            texts.append(chr(moved))
            moved += 1
    return texts


_BYTE_TEXTS = _byte_texts()
