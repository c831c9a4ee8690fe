"""Small models with random weights, one for each tokenizer and template family; made once in a session."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from engine.core.items import Order
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.prompt.judge_prompt import build_prompt
from engine.system.paths import examples_folder
from tests.random_models import (
    CHATML,
    HEADERS,
    INSTRUCTIONS,
    NO_SYSTEM,
    THOUGHT,
    Shape,
    add_random_weights,
    byte_level_bpe,
    sentence_pieces,
    write_random_mamba,
    write_random_model,
)

HEADER_TOKENS = ("<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>")
CHATML_TOKENS = ("<|endoftext|>", "<|im_end|>", "<|im_start|>")
TURN_TOKENS = ("<start_of_turn>", "<end_of_turn>")
LETTERS = (" A", " B", " C", " D")


@cache
def words() -> Sequence[str]:
    """Words of our prompts that are one token each, so that a prompt has about as many as with a real model.

    Byte by byte it has four times as many, and is read ten times as long.
    """
    items = load_dataset(examples_folder() / "sample.tsv").head(5)
    texts = [str(build_prompt(item, order, ELOQUENT)) for item in items for order in Order]
    found = {word for text in texts for word in re.findall(r" [A-Za-z][a-z]{2,}", text)}
    # Answers of several tokens and of different lengths are rare, so these have them: yes and no.
    return sorted(word for word in found if not word.startswith((" no", " y")))


def whole_words() -> Sequence[str]:
    """The letters of verdicts, and those."""
    return [*LETTERS, *words()]


@cache
def _pieces() -> Sequence[str]:
    """The same with their beginnings, by which sentence pieces are put together; the longest first."""
    starts = {word[:end] for word in words() for end in range(2, len(word) + 1)}
    return [*LETTERS, *sorted(starts - set(LETTERS), key=lambda start: (-len(start), start))]


def _headers(path: Path) -> Path:
    return write_random_model(path, byte_level_bpe(HEADER_TOKENS, words=whole_words()), HEADERS)


def _bytes(path: Path) -> Path:
    """Each byte is a token, but for the letters of verdicts: how many there are can be counted by hand."""
    return write_random_model(path, byte_level_bpe(HEADER_TOKENS), HEADERS)


def _chatml(path: Path) -> Path:
    return write_random_model(path, byte_level_bpe(CHATML_TOKENS, pre="qwen2", words=whole_words()), CHATML)


def _instructions(path: Path) -> Path:
    return write_random_model(path, sentence_pieces([], _pieces()), INSTRUCTIONS)


def _no_system(path: Path) -> Path:
    return write_random_model(path, sentence_pieces(TURN_TOKENS, _pieces()), NO_SYSTEM)


def _user_defined_turns(path: Path) -> Path:
    table = sentence_pieces([], _pieces(), user_defined=("<|im_start|>", "<|im_end|>", "  "))
    return write_random_model(path, table, CHATML)


def _no_template(path: Path) -> Path:
    return write_random_model(path, byte_level_bpe(HEADER_TOKENS, words=whole_words()), None)


def _split_letters(path: Path) -> Path:
    """Only ` A` is one token here: the other letters take two, so whole token sequences are scored."""
    return write_random_model(path, byte_level_bpe(HEADER_TOKENS, words=[" A"]), HEADERS)


def _short_context(path: Path) -> Path:
    return write_random_model(path, byte_level_bpe(HEADER_TOKENS), HEADERS, Shape(context=1024))


def _slow(path: Path) -> Path:
    """Large enough that a long prompt takes many seconds."""
    shape = Shape(layers=8, width=512, heads=8, kv_heads=8, feed_forward=1024)
    return write_random_model(path, byte_level_bpe(HEADER_TOKENS), HEADERS, shape)


def _thinker(path: Path) -> Path:
    """Its marks around a thought are control tokens, as some models have them."""
    table = byte_level_bpe((*CHATML_TOKENS, "<think>", "</think>"), pre="qwen2", words=whole_words())
    return write_random_model(path, table, CHATML + THOUGHT)


def _mamba(path: Path) -> Path:
    return write_random_mamba(path, byte_level_bpe(HEADER_TOKENS, words=whole_words()), HEADERS)


FAMILIES: dict[str, Callable[[Path], Path]] = {
    "headers": _headers,
    "bytes": _bytes,
    "chatml": _chatml,
    "instructions": _instructions,
    "no_system": _no_system,
    "user_defined_turns": _user_defined_turns,
    "no_template": _no_template,
    "split_letters": _split_letters,
    "short_context": _short_context,
    "slow": _slow,
    "thinker": _thinker,
    "mamba": _mamba,
}

CHAT_FAMILIES = (
    "headers",
    "chatml",
    "instructions",
    "no_system",
    "user_defined_turns",
    "no_template",
)
"""Those that differ in the format of their chats, which one of them lacks."""

SPLIT = tuple(f"Split-1B-Instruct-F16-{number:05}-of-00003.gguf" for number in (1, 2, 3))
"""The names of the parts that `split_model` writes."""


def split_model(folder: Path) -> Path:
    """Write a model in three parts; the first of them."""
    table = byte_level_bpe(CHATML_TOKENS, pre="qwen2", words=whole_words())
    whole = folder / "Split-1B-Instruct-F16.gguf"
    write_random_model(whole, table, CHATML, tensors_per_part=8)
    return folder / SPLIT[0]


REAL_PAIRS = {
    "llama-3.1": ("llama-bpe", "meta-llama-Llama-3.1-8B-Instruct"),
    "llama-3.2": ("llama-bpe", "meta-llama-Llama-3.2-3B-Instruct"),
    "qwen2.5": ("qwen2", "Qwen-Qwen2.5-7B-Instruct"),
    "phi-3.5": ("phi-3", "microsoft-Phi-3.5-mini-instruct"),
    "gemma-on-spm": ("llama-spm", "google-gemma-2-2b-it"),
    "mistral-on-spm": ("llama-spm", "mistralai-Mistral-Nemo-Instruct-2407"),
}
REAL_THINKERS = {
    "qwen3": ("qwen2", "Qwen-Qwen3-0.6B"),
    "r1-distill": ("llama-bpe", "deepseek-ai-DeepSeek-R1-Distill-Llama-8B"),
    "gemma-4-on-spm": ("llama-spm", "google-gemma-4-31B-it"),
    "gpt-oss-on-bpe": ("llama-bpe", "openai-gpt-oss-120b"),
}
"""Those whose templates have a place for thoughts."""


def real_parts(data: Path, pair: str) -> tuple[Path, str]:
    """The file of a real tokenizer, and a real chat template."""
    vocabulary, template = {**REAL_PAIRS, **REAL_THINKERS}[pair]
    source = (data / "templates" / f"{template}.jinja").read_text(encoding="utf-8")
    return data / "vocabularies" / f"{vocabulary}.gguf", source


def real_model(data: Path, pair: str, path: Path) -> Path:
    """Random weights behind a real tokenizer and a real chat template."""
    vocabulary, template = real_parts(data, pair)
    return add_random_weights(vocabulary, path, template)
