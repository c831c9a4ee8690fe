"""What kind of model a file holds, by its header, for only text generators can judge; and what would end the
process inside llama.cpp, at loading or later, where a header gives that away. A trial in a child process
finds what is left; what llama.cpp refuses politely is not checked twice.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np

from engine.models.header import CONVERT_AGAIN, TENSOR_TYPES, GgufHeader

CHOOSE_CHAT_MODEL = "Choose a chat or instruct model in GGUF format."

# Asked of the library itself: architectures that it runs and that write text word by word.
_TEXT_GENERATORS = """
afmoe apertus arcee arctic arwkv7 baichuan bailingmoe bailingmoe2 bailingmoe3 bitnet bloom chameleon
chatglm codeshell cogvlm cohere2 cohere2moe command-r dbrx deci deepseek deepseek2 deepseek2-ocr
deepseek32 deepseek4 dots1 dots3note ernie4_5 ernie4_5-moe exaone exaone-moe exaone4 falcon
falcon-h1 gemma gemma2 gemma3 gemma3n gemma4 glm-dsa glm4 glm4moe glm5-next gpt-oss gpt2 gptj
gptneox granite granite_swa granitehybrid granitemoe graniteswitch grok grovemoe hrm_text
hunyuan-dense hunyuan-moe hunyuan_vl hy_v3 hy_v4 internlm2 jais jais2 jamba kimi-k3 kimi-linear
laguna lfm2 lfm2moe llama llama4 maincoder mamba mamba2 maple mellum mimo2 minicpm minicpm3
minimax-01 minimax-m2 minimax-m3 mistral3 mistral4 mpt muse-glimmer nanbeige nemotron nemotron_h
nemotron_h_moe olmo olmo2 olmoe openelm orion paddleocr pangu-embedded phi2 phi3 phimoe plamo plamo2
plamo3 plm qwen qwen2 qwen2moe qwen2vl qwen3 qwen35 qwen35moe qwen3moe qwen3next qwen3vl qwen3vlmoe
qwen4exp refact rwkv6 rwkv6qwen2 rwkv7 seed_oss smallthinker smollm3 spark2_5 stablelm starcoder
starcoder2 step35 talkie xverse
"""
_TEXT_GENERATOR_NAMES = frozenset(_TEXT_GENERATORS.split())

# What Ollama 0.33 calls by names of its own, or keeps in the model's file (its convert/ and llama/compat/).
_OLLAMA_NAMES = "deepseekocr glm4moelite glmocr gptoss mllama nemotron_h_omni olmo3 qwen25vl"
_OLLAMA_TENSORS = ("a.", "mm.", "mtp.", "s.", "v.")

_POOLING = {1: "an embedding model", 2: "an embedding model", 3: "an embedding model", 4: "a reranker"}
_ENCODERS = frozenset({"gemma-embedding", "llama-embed", "t5encoder"})  # and all whose name has "bert" in it
_OTHER_ARCHITECTURES = {
    name: what
    for what, names in {
        "an encoder-decoder model: it cannot continue a prompt": ("t5",),
        "the image projector of another model": ("clip",),
        "a draft model, the helper of another model": ("eagle3", "dflash", "gemma4-assistant"),
        "a speech model": ("wavtokenizer-dec", "qwen3tts", "pockettts"),
        "a diffusion model: it does not generate token by token": ("dream", "llada", "llada-moe", "rnd1"),
        # As those name them who make these files for ComfyUI and stable-diffusion.cpp.
        "a generator of images": ("aura", "flux", "hidream", "lumina2", "qwen_image", "sd1", "sd3", "sdxl"),
        "a generator of video": ("cosmos", "hyvid", "ltxv", "wan"),
    }.items()
    for name in names
}
_OTHER_KINDS = {
    "adapter": "an adapter (LoRA) for another model",
    "lora": "an adapter (LoRA) for another model",
    "mmproj": "the image projector of another model",
    "projector": "the image projector of another model",
    "imatrix": "an importance matrix, used when models are quantised",
}


def check_kind(model: GgufHeader, hint: str) -> None:
    """Refuse what is part of other models, adapters for instance; `hint`: what to choose instead."""
    kind = (model.text("general.type") or "model").lower()
    if kind in _OTHER_KINDS:
        raise model.refused(f"this is {_OTHER_KINDS[kind]}, not a model", hint)


def check_not_split(model: GgufHeader) -> None:
    parts = model.integer("split.count") or 0
    if parts > 1:
        part = (model.integer("split.no") or 0) + 1
        raise model.refused(
            f"this is part {part} of a model that was split into {parts} files",
            "Download all parts and join them: `llama-gguf-split --merge FIRST-PART WHOLE.gguf`.",
        )


def check_architecture(model: GgufHeader) -> None:
    """Refuse architectures that do not write text, or that this llama.cpp does not know."""
    name = model.architecture
    if not name:
        raise model.refused("key 'general.architecture' is missing", CONVERT_AGAIN)
    if name in _OTHER_ARCHITECTURES:
        raise model.refused(f"its architecture {name!r} is {_OTHER_ARCHITECTURES[name]}", CHOOSE_CHAT_MODEL)
    if name in _ENCODERS or "bert" in name:
        own_use = " This one may be used as the encoder for BERTScore." if name == "bert" else ""
        found = f"its architecture {name!r} is an encoder, which cannot generate text"
        raise model.refused(found, f"{CHOOSE_CHAT_MODEL}{own_use}")
    tensors = (f"tensor {each.name!r}" for each in model.tensors if each.name.startswith(_OLLAMA_TENSORS))
    if foreign := f"architecture {name!r}" if name in _OLLAMA_NAMES.split() else next(tensors, ""):
        raise model.refused(
            f"its {foreign} is one of Ollama's own engine, which llama.cpp cannot load",
            "Choose an edition made with llama.cpp, from Hugging Face for instance.",
        )
    if name not in _TEXT_GENERATOR_NAMES:
        raise model.refused(
            f"its architecture {name!r} is not supported for text generation by this version of llama.cpp",
            "Choose another model, or a newer version of Tiebreak.",
        )


def check_writes(model: GgufHeader) -> None:
    """Refuse what has the architecture of a text generator, but was trained to read only."""
    pooled = _POOLING.get(model.integer(model.key("pooling_type")) or 0)
    if pooled or model.get(model.key("attention.causal")) is False:
        raise model.refused(
            f"this is {pooled or 'a bidirectional model'}: it was not made to generate text",
            CHOOSE_CHAT_MODEL,
        )


def check_has_tensors(model: GgufHeader, hint: str) -> None:
    """Refuse a vocabulary without a model; `hint`: what to choose instead."""
    if not model.tensors:
        raise model.refused("this file holds a vocabulary only, no model", hint)


_WITHOUT_HEADS = frozenset({"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"})
# Their code in llama.cpp asserts that heads, rotation and query tensor agree; others differ, or are refused.
_ONE_HEAD_SIZE = frozenset({"qwen2", "qwen2moe", "qwen3", "qwen3moe"})
# Beginnings of names. A rotation of 0 makes these run on for ever; others have none and may say so.
_ROTATING_FAMILIES = ("gemma", "llama", "mistral", "phi", "qwen")
_ROPE_SCALINGS = frozenset({"none", "linear", "yarn", "longrope"})
_WITHOUT_KERNEL = frozenset({"Q8_1", "Q8_K", "I8", "I16", "I32", "I64", "F64"})
_GIVEN_UP = "which llama.cpp dropped in 2024"
# Types that files are published in, with what is known of them and what to do. 133 and up: ik_llama.cpp's.
_FOREIGN_TYPES = {
    **dict.fromkeys(
        (31, 32, 33), (f"Q4_0_4_4 or similar, {_GIVEN_UP}", "Choose the Q4_0 edition of this model.")
    ),
    **dict.fromkeys(
        (36, 37, 38), (f"IQ4_NL_4_4 or similar, {_GIVEN_UP}", "Choose the IQ4_NL edition of this model.")
    ),
    **dict.fromkeys(
        range(133, 400),
        ("only ik_llama.cpp can read", "Choose an edition made with llama.cpp itself, Q4_K_M for instance."),
    ),
}
_NO_TOKENIZER = frozenset({"none", "no_vocab"})

_MOST_LAYERS = 512  # LLAMA_MAX_LAYERS
_MOST_EXPERTS = 1024  # LLAMA_MAX_EXPERTS
_MOST_HEADS = 1 << 14
_LARGEST_SIZE = 1 << 20
_LONGEST_CONTEXT = (1 << 31) - 1
_BYTE_TOKEN = 6  # LLAMA_TOKEN_TYPE_BYTE
_BYTE_TOKEN_TEXT = re.compile(rb"<0x[0-9A-Fa-f]{2}>")
_NO_ID = (-1, 0xFFFFFFFF)  # how converters write "no such token"


def precheck(model: GgufHeader) -> None:
    """Raise ModelFileError (key or tensor, what was found, the next step) for a file that cannot judge."""
    for check in _CHECKS:
        check(model)


def check_sizes(model: GgufHeader) -> None:
    """Refuse numbers of layers, of tokens of context, and a width that are missing or absurd."""
    for name, most in (
        ("block_count", _MOST_LAYERS),
        ("context_length", _LONGEST_CONTEXT),
        ("embedding_length", _LARGEST_SIZE),
    ):
        if model.integer(key := model.key(name)) is None:
            raise model.refused(f"key {key!r} is missing")
        _check_between(model, key, model.integer(key), 1, most)


def _check_between(model: GgufHeader, key: str, value: int | None, least: int, most: int) -> None:
    if value is not None and not least <= value <= most:
        raise model.refused(f"key {key!r} is {value:,}, which is not between {least} and {most:,}")


def _check_heads(model: GgufHeader) -> None:
    heads_key, kv_key = model.key("attention.head_count"), model.key("attention.head_count_kv")
    heads = model.per_layer(heads_key)
    kv_heads = model.per_layer(kv_key) or heads
    if model.architecture not in _WITHOUT_HEADS and not any(heads):
        raise model.refused(f"key {heads_key!r} is missing or 0")
    for key, counts in ((heads_key, heads), (kv_key, kv_heads)):
        for count in counts:
            _check_between(model, key, count, 0, _MOST_HEADS)
    for name in ("key_length", "value_length"):
        key = model.key(f"attention.{name}")
        _check_between(model, key, model.integer(key), 1, _LARGEST_SIZE)
    layers = max(len(heads), len(kv_heads))
    for count, kv_count in zip(_spread(heads, layers), _spread(kv_heads, layers), strict=False):
        if kv_count and count % kv_count:
            raise model.refused(f"{count} heads ({heads_key!r}) cannot share {kv_count} ({kv_key!r})")


def _spread(numbers: list[int], layers: int) -> list[int]:
    return numbers * layers if len(numbers) == 1 else numbers


def _check_rotation_and_queries(model: GgufHeader) -> None:
    """Refuse what does not match the size of the heads, where all layers share it."""
    heads = model.per_layer(model.key("attention.head_count"))
    one_size, key = model.architecture in _ONE_HEAD_SIZE, model.key("rope.dimension_count")
    rotated = model.integer(key)
    if len(heads) != 1 or model.architecture in _WITHOUT_HEADS:
        return
    width = model.integer(model.key("embedding_length")) or 0
    head_size = model.integer(model.key("attention.key_length")) or width // heads[0]
    if rotated is not None:
        sound = rotated % 2 == 0 and 0 <= rotated <= head_size
        if one_size:
            sound = rotated == head_size
        elif model.architecture.startswith(_ROTATING_FAMILIES):
            sound = sound and rotated > 0
        if not sound:
            found = f"key {key!r} is {rotated:,}, which does not match heads of size {head_size:,}"
            raise model.refused(found)
    for tensor in model.tensors if one_size else ():
        if tensor.name.endswith(".attn_q.weight") and tensor.shape[1:] != (heads[0] * head_size,):
            raise model.refused(
                f"tensor {tensor.name!r} has shape {tensor.shape}, which does not match {heads[0]} heads of"
                f" size {head_size:,}"
            )


def _check_experts(model: GgufHeader) -> None:
    # The conditions are those that llama.cpp asserts when it reads the keys.
    key = model.key("expert_count")
    experts = max(model.per_layer(key), default=0)
    used = max(model.per_layer(model.key("expert_used_count")), default=0)
    groups = model.integer(model.key("expert_group_count")) or 0
    groups_used = model.integer(model.key("expert_group_used_count")) or 0
    if experts:
        sound = 0 < used <= experts <= _MOST_EXPERTS and 0 <= groups < experts
        sound = sound and (groups <= 1 or (experts % groups == 0 and 0 < groups_used < groups))
    else:
        sound = used == 0 and groups == 0
    if not sound:
        raise model.refused(
            f"its expert counts do not agree: {key!r} is {experts}, {used} are used, in {groups} groups of"
            f" which {groups_used} are used"
        )


def _check_values(model: GgufHeader) -> None:
    key = model.key("rope.scaling.type")
    kind = model.text(key)
    if kind is not None and kind not in _ROPE_SCALINGS:
        raise model.refused(f"key {key!r} is {kind!r}; llama.cpp knows {', '.join(sorted(_ROPE_SCALINGS))}")
    for key, value in model.metadata.items():
        if not isinstance(value, float) or not key.startswith(model.key("")):
            continue
        if math.isnan(value) or (key.endswith("epsilon") and not 0 < value <= 1):
            raise model.refused(f"key {key!r} is {value:g}")
    for tensor in model.tensors:
        stored = TENSOR_TYPES.get(tensor.type_id)
        if tensor.type_id in _FOREIGN_TYPES:
            found, hint = _FOREIGN_TYPES[tensor.type_id]
            raise model.refused(f"its weights are stored as {found}", hint)
        if stored is None or stored.name in _WITHOUT_KERNEL:
            raise model.refused(
                f"tensor {tensor.name!r} has type {tensor.type_name}, which llama.cpp does not support"
            )
        if len(tensor.shape) == 1 and stored.name != "F32":
            raise model.refused(
                f"tensor {tensor.name!r} has one dimension and type {stored.name}; llama.cpp needs F32 there"
            )
        if tensor.shape[0] % stored.block:
            raise model.refused(
                f"tensor {tensor.name!r} has rows of {tensor.shape[0]:,} numbers, which type {stored.name}"
                f" cannot store in blocks of {stored.block}"
            )


def _check_tokenizer_tables(model: GgufHeader) -> None:
    kind = model.text("tokenizer.ggml.model")
    if kind is None or kind in _NO_TOKENIZER:
        raise model.refused(f"key 'tokenizer.ggml.model' is {kind or 'missing'}: the model has no tokenizer")
    if not model.tokens:
        raise model.refused("key 'tokenizer.ggml.tokens' is missing or empty: the model has no tokenizer")
    merges = model.texts("tokenizer.ggml.merges") or []
    if not all(merges):
        raise model.refused(f"key 'tokenizer.ggml.merges' is empty at entry {merges.index(b''):,}")
    for key, kinds in (("tokenizer.ggml.scores", "f"), ("tokenizer.ggml.token_type", "iu")):
        table, count = model.get(key), len(model.tokens)
        if table is None:
            continue
        # llama.cpp reads these tables as 4-byte numbers, one for each token, without looking.
        if not (isinstance(table, np.ndarray) and table.dtype.itemsize == 4 and table.dtype.kind in kinds):
            raise model.refused(f"key {key!r} is not a list of 4-byte numbers")
        if len(table) != count:
            raise model.refused(f"key {key!r} has {len(table):,} entries, but there are {count:,} tokens")


def _check_no_duplicate_tokens(model: GgufHeader) -> None:
    # llama.cpp renames empty tokens by their number, so they may repeat.
    tokens = [token for token in model.tokens if token]
    if len(set(tokens)) == len(tokens):
        return
    token, times = Counter(tokens).most_common(1)[0]
    raise model.refused(
        f"key 'tokenizer.ggml.tokens' has token {token.decode('utf-8', 'replace')!r} {times} times"
    )


def _check_byte_tokens(model: GgufHeader) -> None:
    """SentencePiece writes what it has no token for byte by byte, and llama.cpp ends where it cannot."""
    if model.text("tokenizer.ggml.model") != "llama":
        return
    tokens, known = model.tokens, set(model.tokens)
    for byte in range(256):
        if b"<0x%02X>" % byte not in known and (byte >= 0x80 or bytes((byte,)) not in known):
            raise model.refused(f"the tokenizer has no token for byte <0x{byte:02X}>")
    types = model.get("tokenizer.ggml.token_type")
    if isinstance(types, np.ndarray):
        for index in np.flatnonzero(types == _BYTE_TOKEN):
            if not _BYTE_TOKEN_TEXT.fullmatch(tokens[index]):
                shown = tokens[index].decode("utf-8", "replace")
                raise model.refused(f"token {index} is marked as a byte, but its text is {shown!r}")


def _check_single_bytes(model: GgufHeader) -> None:
    """RWKV's tokenizer begins the text again, for ever, at a byte that tokens begin with and none is."""
    if model.text("tokenizer.ggml.model") != "rwkv":
        return
    known, letters = set(model.tokens), {ord("\t"): b"t", ord("\n"): b"n", ord("\r"): b"r"}
    for byte in range(256):
        # A token of one byte may be written as it is, by its number, or behind a backslash.
        own = bytes((byte,))
        spellings = {b"\\x%02x" % byte, *([] if own == b"\\" else [own])}
        if byte in letters:
            spellings.add(b"\\" + letters[byte])
        if byte not in b"tnrx":
            spellings.add(b"\\" + own)
        if not known & spellings:
            raise model.refused(f"the tokenizer, 'rwkv', has no token for byte 0x{byte:02X}")


def _check_special_tokens(model: GgufHeader) -> None:
    # Padding, separator and the like are omitted: llama.cpp ignores them where they are out of range,
    # and many sound files have such ids.
    count = len(model.tokens)
    for name in ("bos", "eos", "eot", "eom", "unknown"):
        key = f"tokenizer.ggml.{name}_token_id"
        number = model.integer(key)
        if number is not None and number not in _NO_ID and not 0 <= number < count:
            raise model.refused(f"key {key!r} is {number:,}, but there are {count:,} tokens")


def _check_embedding(model: GgufHeader) -> None:
    count = len(model.tokens)
    for tensor in model.tensors:
        if tensor.name == "token_embd.weight" and tensor.shape[1:] != (count,):
            rows = "no rows" if len(tensor.shape) == 1 else f"{tensor.shape[1]:,} rows"
            raise model.refused(f"tensor 'token_embd.weight' has {rows} for {count:,} tokens")


def check_numbers_and_tables(model: GgufHeader) -> None:
    """Refuse what no architecture bears: numbers, tensors or tables of the tokenizer that are not sound."""
    for check in (
        _check_values,
        _check_tokenizer_tables,
        _check_no_duplicate_tokens,
        _check_byte_tokens,
        _check_single_bytes,
        _check_special_tokens,
        _check_embedding,
    ):
        check(model)


_CHECKS: tuple[Callable[[GgufHeader], None], ...] = (
    partial(check_kind, hint=CHOOSE_CHAT_MODEL),
    check_not_split,
    check_architecture,
    check_writes,
    partial(check_has_tensors, hint=CHOOSE_CHAT_MODEL),
    check_sizes,
    _check_heads,
    _check_rotation_and_queries,
    _check_experts,
    check_numbers_and_tables,
)
