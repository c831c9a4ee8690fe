"""The demo judge's vocabulary: byte-level BPE learned from its world, with control tokens."""

import json
from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from models.demo.gguf_files import CONTROL, TokenTable

BOS, EOS = "<|begin|>", "<|end|>"
CONTROL_TOKENS = (BOS, EOS, "<|system|>", "<|user|>", "<|assistant|>")
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)

# Where words may end, and llama.cpp's name for it.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_WORDS_NAME = "llama-bpe"


def learn_vocabulary(texts: Iterable[str], size: int) -> TokenTable:
    """A vocabulary of `size` tokens, the control tokens first among them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(CONTROL_TOKENS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    learned = json.loads(tokenizer.to_str())["model"]
    table = TokenTable("gpt2", _WORDS_NAME, merges=[" ".join(pair) for pair in learned["merges"]])
    for text in sorted(learned["vocab"], key=learned["vocab"].get):
        if text in CONTROL_TOKENS:
            table.add(text, CONTROL)
        else:
            table.add(text)
    return table
