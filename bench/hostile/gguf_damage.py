"""GGUF files damaged where it hurts: keys, tokenizers, tensors, bytes.

A file is taken apart into values that can be changed one by one, and put together again. Nothing is checked
on the way back: what is written may be as wrong as it was made.
"""

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

TEXT, ARRAY = 8, 9
UINT32, INT32, FLOAT32, UINT64 = 4, 5, 6, 10
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
BOUNDS = {"B": 8, "H": 16, "I": 32, "Q": 64, "b": 8, "h": 16, "i": 32, "q": 64}


@dataclass(frozen=True)
class Field:
    """A key with its value. `kind`: the GGUF type. `of`: of an array, the type of its elements."""

    key: bytes
    kind: int
    value: Any
    of: int = 0


@dataclass(frozen=True)
class Tensor:
    name: bytes
    shape: tuple[int, ...]
    type_id: int
    offset: int


@dataclass(frozen=True)
class DataSplit:
    """A whole file. `infos`: where in the bytes of the file the list of tensors began."""

    fields: tuple[Field, ...]
    tensors: tuple[Tensor, ...]
    data: bytes
    header_bytes: int = 0
    infos: int = 0

    def joined(self, alignment: int = 32) -> bytes:
        out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.fields)))
        for each in self.fields:
            out += _text(each.key) + struct.pack("<I", each.kind) + _value(each)
        for tensor in self.tensors:
            out += _text(tensor.name) + struct.pack("<I", len(tensor.shape))
            out += b"".join(struct.pack("<Q", size & (1 << 64) - 1) for size in tensor.shape)
            out += struct.pack("<IQ", tensor.type_id & 0xFFFFFFFF, tensor.offset & (1 << 64) - 1)
        out += bytes(-len(out) % alignment)
        return bytes(out) + self.data

    def place(self, key: bytes) -> int:
        """Where a key stands in `fields`; -1 where it does not."""
        return next((at for at, each in enumerate(self.fields) if each.key == key), -1)

    def value(self, key: bytes) -> Any:
        at = self.place(key)
        return None if at < 0 else self.fields[at].value

    def with_field(self, new: Field) -> "DataSplit":
        at = self.place(new.key)
        fields = (*self.fields, new) if at < 0 else (*self.fields[:at], new, *self.fields[at + 1 :])
        return replace(self, fields=fields)

    def without(self, at: int) -> "DataSplit":
        return replace(self, fields=(*self.fields[:at], *self.fields[at + 1 :]))

    def with_tensor(self, at: int, *new: Tensor) -> "DataSplit":
        return replace(self, tensors=(*self.tensors[:at], *new, *self.tensors[at + 1 :]))


def _text(data: bytes) -> bytes:
    return struct.pack("<Q", len(data)) + data


def _scalar(kind: int, value: Any) -> bytes:
    code = SCALARS[kind]
    if code in BOUNDS:
        value = int(value) & ((1 << BOUNDS[code]) - 1)
        return int(value).to_bytes(BOUNDS[code] // 8, "little")
    try:
        return struct.pack(f"<{code}", value)
    except OverflowError:
        return struct.pack(f"<{code}", float("inf"))


def _value(each: Field) -> bytes:
    if each.kind == TEXT:
        return _text(each.value)
    if each.kind != ARRAY:
        return _scalar(each.kind, each.value)
    head = struct.pack("<IQ", each.of, len(each.value))
    if each.of == TEXT:
        return head + b"".join(map(_text, each.value))
    return head + b"".join(_scalar(each.of, value) for value in each.value)


def take_apart(path: Path) -> DataSplit:
    """The parts of a sound file without arrays in arrays."""
    reader = _Reader(path.read_bytes())
    _, tensors, fields = reader.unpack("<IQQ")
    found = tuple(reader.field() for _ in range(fields))
    infos = reader.at
    listed = tuple(reader.tensor() for _ in range(tensors))
    end = reader.at
    start = end + -end % 32
    return DataSplit(found, listed, reader.data[start:], end, infos)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 4

    def unpack(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def text(self) -> bytes:
        (length,) = self.unpack("<Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def field(self) -> Field:
        key = self.text()
        (kind,) = self.unpack("<I")
        if kind == TEXT:
            return Field(key, kind, self.text())
        if kind != ARRAY:
            return Field(key, kind, self.unpack(f"<{SCALARS[kind]}")[0])
        of, count = self.unpack("<IQ")
        if of == TEXT:
            return Field(key, kind, [self.text() for _ in range(count)], of)
        return Field(key, kind, list(self.unpack(f"<{count}{SCALARS[of]}")), of)

    def tensor(self) -> Tensor:
        name = self.text()
        (dimensions,) = self.unpack("<I")
        shape = self.unpack(f"<{dimensions}Q")
        type_id, offset = self.unpack("<IQ")
        return Tensor(name, shape, type_id, offset)


# Values for the keys that decide what llama.cpp does: at the edges, wrong, of other models

NUMBERS = (0, 1, 2, 3, 5, 7, 63, 64, 255, *(1 << bits for bits in (15, 20, 31, 63)), -1, -2)
NUMBERS += ((1 << 31) - 1, (1 << 32) - 1)
FLOATS = (0.0, -0.0, -1.0, 1.0, math.nan, math.inf, -math.inf, 1e38, 1e-38, 1e-6, 0.5, 1e300)
TEXTS = (
    b"",
    b"x",
    b"llama",
    b"\xff\xfe",
    b"none",
    b"yarn",
    b"a" * 5000,
    "日本".encode(),
    b"\0",
    b"0",
    b"true",
)
TOKENIZERS = (*b"llama gpt2 bert t5 rwkv plamo2 none no_vocab replit gemma4 LLAMA".split(), b"")
PRES = b"""
default llama-bpe qwen2 gpt-2 deepseek-llm falcon mpt starcoder command-r tekken chatglm-bpe viking smollm
bloom jais gpt-4o superbpe seed-coder hunyuan kimi-k2 grok-2 afmoe minimax-m2 unheard-of bert-bge olmo dbrx
poro-chat
""".split()
PRES.append(b"")
ARCHITECTURES = b"""
llama qwen2 qwen3 gemma gemma2 gemma3 phi2 phi3 mamba mamba2 rwkv6 rwkv7 gpt2 bloom mpt falcon starcoder2
stablelm internlm2 command-r olmo2 deepseek2 t5 t5encoder bert jamba granite exaone chatglm plamo plamo2
nemotron smollm3 gpt-oss lfm2 minicpm llama4 qwen3next orion dream diffusion-gemma clip x
""".split()
ARCHITECTURES.append(b"")
ADDED = b"""
rope.dimension_count rope.freq_base rope.scaling.factor rope.scaling.type rope.scaling.original_context_length
attention.key_length attention.value_length attention.sliding_window attention.causal attention.clamp_kqv
attention.max_alibi_bias attention.scale attention.head_count_kv attention.layer_norm_epsilon pooling_type
expert_count expert_used_count logit_scale vocab_size attn_logit_softcapping final_logit_softcapping
residual_scale embedding_scale ssm.conv_kernel ssm.inner_size ssm.state_size ssm.time_step_rank
use_parallel_residual leading_dense_block_count nextn_predict_layers
""".split()
IDS = b"bos eos eot eom unknown seperator padding fim_pre fim_suf fim_mid mask cls".split()
FLAGS = b"add_bos_token add_eos_token add_space_prefix remove_extra_whitespaces add_sep_token".split()
TEMPLATES = (
    *(b"", b"{{", b"{{ 1/0 }}", b"x", b"\xff", b"{{ messages[0].content }}", b"{{ bos_token }}", b"{" * 9999),
)


Change = Callable[[DataSplit, Random], tuple[DataSplit, str]]


def _any_field(parts: DataSplit, random: Random, kinds: Callable[[Field], bool]) -> int:
    places = [at for at, each in enumerate(parts.fields) if kinds(each)]
    return random.choice(places) if places else -1


def _architecture_of(parts: DataSplit) -> bytes:
    named = parts.value(b"general.architecture")
    return named if named and isinstance(named, bytes) else b"llama"


def _drop_key(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    at = random.randrange(len(parts.fields))
    return parts.without(at), f"without {parts.fields[at].key!r}"


def _repeat_key(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    each = random.choice(parts.fields)
    return replace(parts, fields=(*parts.fields, each)), f"twice {each.key!r}"


def _extreme(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    at = _any_field(parts, random, lambda each: each.kind != ARRAY)
    each = parts.fields[at]
    if each.kind == TEXT:
        value: object = random.choice(TEXTS)
    else:
        value = random.choice(FLOATS if SCALARS[each.kind] in "fd" else NUMBERS)
    return parts.with_field(replace(each, value=value)), f"{each.key!r} = {value!r:.40}"


def _near(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    """A number that is only a little wrong."""
    at = _any_field(parts, random, lambda each: each.kind in (UINT32, INT32, UINT64))
    if at < 0:
        return _extreme(parts, random)
    each = parts.fields[at]
    old = each.value
    value = random.choice((old + 1, old - 1, old * 2, old // 2, old * 3, old + 32))
    return parts.with_field(replace(each, value=value)), f"{each.key!r} = {value} for {old}"


def _other_type(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    """A value of another type, as a text, a number or an array of one."""
    each = random.choice(parts.fields)
    kind = random.choice((*SCALARS, TEXT, ARRAY, ARRAY))
    number = each.value if isinstance(each.value, int | float) and each.value == each.value else 1
    if kind == ARRAY:
        of = random.choice((UINT32, INT32, FLOAT32, TEXT, 7))
        count = random.choice((0, 1, 2, 3, 300))
        new = Field(each.key, ARRAY, [str(number).encode() if of == TEXT else number] * count, of)
    elif kind == TEXT:
        new = Field(each.key, TEXT, str(number).encode())
    else:
        new = Field(each.key, kind, 0 if math.isinf(number) else number)
    return parts.with_field(new), f"{each.key!r} of type {kind} for {each.kind}"


def _add_key(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    architecture = _architecture_of(parts)
    name = random.choice(ADDED)
    key = architecture + b"." + name
    kind = random.choice((UINT32, FLOAT32, 7, INT32, TEXT))
    value: object = random.choice(TEXTS if kind == TEXT else FLOATS if kind == FLOAT32 else NUMBERS)
    return parts.with_field(Field(key, kind, value)), f"added {key!r} = {value!r:.40}"


def _one_of(key: bytes, kind: int, values: Sequence[object], words: str) -> Change:
    def change(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
        value = random.choice(values)
        return parts.with_field(Field(key, kind, value)), f"{words} {value!r}"

    return change


_tokenizer = _one_of(b"tokenizer.ggml.model", TEXT, TOKENIZERS, "tokenizer")
_pre = _one_of(b"tokenizer.ggml.pre", TEXT, PRES, "pre-tokenizer")
_ALIGNMENTS = (0, 1, 3, 8, 16, 31, 64, 4096, 1 << 31)
_alignment = _one_of(b"general.alignment", UINT32, _ALIGNMENTS, "alignment")


def _architecture(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    """Another architecture, with its keys renamed or not."""
    old, new = _architecture_of(parts), random.choice(ARCHITECTURES)
    fields = parts.fields
    if random.random() < 0.8:
        fields = tuple(
            replace(each, key=new + each.key[len(old) :]) if each.key.startswith(old + b".") else each
            for each in fields
        )
    made = replace(parts, fields=fields).with_field(Field(b"general.architecture", TEXT, new))
    return made, f"architecture {new!r}"


def _special_id(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    tokens = parts.value(b"tokenizer.ggml.tokens")
    count = len(tokens) if isinstance(tokens, list) else 1
    key = b"tokenizer.ggml.%s_token_id" % random.choice(IDS)
    value = random.choice((0, 1, count - 1, count, count + 1, random.randrange(count or 1), -1, 1 << 31))
    return parts.with_field(Field(key, UINT32, value)), f"{key!r} = {value}"


def _flag(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    key, value = b"tokenizer.ggml." + random.choice(FLAGS), random.choice((0, 1, 2))
    return parts.with_field(Field(key, 7, value)), f"{key!r} = {value}"


def _table(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    """A table of the tokenizer cut, doubled, emptied, mixed, or with wrong entries."""
    at = _any_field(parts, random, lambda each: each.kind == ARRAY and len(each.value) > 2)
    if at < 0:
        return _drop_key(parts, random)
    each = parts.fields[at]
    values = list(each.value)
    how = random.choice(("cut", "doubled", "empty", "mixed", "wrong", "wrong", "swapped"))
    if how == "cut":
        values = values[: random.randrange(len(values))]
    elif how == "doubled":
        values += values
    elif how == "empty":
        values = []
    elif how == "mixed":
        random.shuffle(values)
    elif how == "swapped":
        one, other = random.randrange(len(values)), random.randrange(len(values))
        values[one], values[other] = values[other], values[one]
    else:
        of_texts = (*TEXTS, b" ", b"a b c", b"<|im_end|>")
        wrong = of_texts if each.of == TEXT else FLOATS if each.of == FLOAT32 else NUMBERS
        for _ in range(random.choice((1, 3, len(values)))):
            values[random.randrange(len(values))] = random.choice(wrong)
    return parts.with_field(replace(each, value=values)), f"{each.key!r} {how}"


def _token_types(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    at = parts.place(b"tokenizer.ggml.token_type")
    if at < 0 or parts.fields[at].kind != ARRAY:
        return _table(parts, random)
    each = parts.fields[at]
    kind = random.choice((0, 1, 2, 3, 4, 5, 6, 7, -1, 1 << 20))
    values = [kind if random.random() < random.choice((0.01, 1.0)) else value for value in each.value]
    return parts.with_field(replace(each, value=values)), f"token types {kind}"


def _cut_vocabulary(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    """All tables of tokens alike, and perhaps the embedding with them."""
    tokens = parts.value(b"tokenizer.ggml.tokens")
    if not isinstance(tokens, list) or not tokens:
        return _drop_key(parts, random)
    count = random.choice((1, 2, 100, 255, 256, 258, len(tokens) // 2, len(tokens) - 1))
    for name in ("tokens", "scores", "token_type"):
        at = parts.place(f"tokenizer.ggml.{name}".encode())
        if at >= 0 and parts.fields[at].kind == ARRAY:
            parts = parts.with_field(replace(parts.fields[at], value=parts.fields[at].value[:count]))
    if random.random() < 0.7:
        for at, tensor in enumerate(parts.tensors):
            if len(tensor.shape) == 2 and tensor.shape[1] == len(tokens):
                parts = parts.with_tensor(at, replace(tensor, shape=(tensor.shape[0], count)))
    return parts, f"vocabulary of {count}"


def _tensor(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    """A tensor dropped, renamed, reshaped, retyped, moved."""
    if not parts.tensors:
        return _drop_key(parts, random)
    at = random.randrange(len(parts.tensors))
    tensor, other = parts.tensors[at], random.choice(parts.tensors)
    size = random.choice((0, 1, 2, 31, 32, 33, 64, 1 << 20, 1 << 40, 1 << 63))
    offset = random.choice((1, 32, other.offset, 1 << 40, 1 << 63))
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"name": tensor.name + b"x"}, "renamed"),
        ({"name": other.name}, f"called {other.name!r}"),
        ({"shape": tensor.shape[::-1]}, "turned"),
        ({"shape": (size, *tensor.shape[1:])}, f"first size {size}"),
        ({"shape": (*tensor.shape[:-1], size)}, f"last size {size}"),
        ({"shape": (*tensor.shape, 1)}, "one dimension more"),
        ({"shape": tensor.shape[:1]}, "one dimension"),
        ({"shape": ()}, "no dimension"),
        ({"type_id": random.choice((*range(43), 133, 1 << 31))}, "another type"),
        ({"offset": offset}, "another offset"),
    )
    kind = random.randrange(len(changes) + 2)
    if kind == len(changes):
        return parts.with_tensor(at), f"{tensor.name!r} dropped"
    if kind > len(changes):
        return parts.with_tensor(
            at, tensor, replace(tensor, name=b"more.weight")
        ), f"{tensor.name!r} one more"
    new, words = changes[kind]
    return parts.with_tensor(at, replace(tensor, **new)), f"{tensor.name!r} {words}"


def _template(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    source = random.choice(TEMPLATES)
    return parts.with_field(Field(b"tokenizer.chat_template", TEXT, source)), f"template {source[:40]!r}"


def _numbers(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    """Weights overwritten: all over, or in one place."""
    data = bytearray(parts.data)
    if not data:
        return _drop_key(parts, random)
    odd = (b"\xff", b"\0", struct.pack("<e", math.inf), struct.pack("<f", math.nan), b"\x7b")
    pattern = random.choice((*odd, random.randbytes(64)))
    start, length = random.randrange(len(data)), random.choice((64, 4096, len(data)))
    end = min(start + length, len(data))
    data[start:end] = (pattern * (end - start))[: end - start]
    return replace(parts, data=bytes(data)), f"{end - start} bytes of weights = {pattern[:4]!r}"


CHANGES: tuple[Change, ...] = (
    *(_drop_key, _repeat_key, _extreme, _extreme, _near, _near, _other_type, _add_key, _tokenizer),
    *(_tokenizer, _pre, _architecture, _special_id, _flag, _table, _table, _token_types),
    *(_cut_vocabulary, _tensor, _tensor, _alignment, _template, _numbers),
)


def changed(parts: DataSplit, random: Random) -> tuple[DataSplit, str]:
    """One to three changes, and what they are."""
    words = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        parts, what = random.choice(CHANGES)(parts, random)
        words.append(what)
    return parts, "; ".join(words)


def damaged_bytes(parts: DataSplit, data: bytes, random: Random) -> tuple[bytes, str]:
    """Bits, bytes and lengths, in the header, in the list of tensors, or in the weights; or a file cut."""
    lowest, highest, where = random.choice(
        (
            (0, 400, "at the start"),
            (0, parts.infos, "in the keys"),
            (parts.infos, parts.header_bytes, "in the list of tensors"),
            (parts.header_bytes, len(data), "in the weights"),
        )
    )
    changed_data = bytearray(data)
    highest = max(min(highest, len(data)), lowest + 1)
    how = random.choice(("flip", "flip", "byte", "zeros", "ones", "cut", "hole", "more"))
    at = min(random.randrange(lowest, highest), len(data) - 1)
    if how == "flip":
        for _ in range(random.choice((1, 1, 2, 16))):
            changed_data[min(random.randrange(lowest, highest), len(data) - 1)] ^= 1 << random.randrange(8)
    elif how == "byte":
        changed_data[at] = random.randrange(256)
    elif how in ("zeros", "ones"):
        length = len(changed_data[at : at + random.choice((1, 4, 8, 32))])
        changed_data[at : at + length] = (b"\0" if how == "zeros" else b"\xff") * length
    elif how == "cut":
        del changed_data[at:]
    elif how == "hole":
        del changed_data[at : at + random.randint(1, 64)]
    else:
        changed_data[at:at] = random.randbytes(random.randint(1, 64))
    return bytes(changed_data), f"{how} {where}"
