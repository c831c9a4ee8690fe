"""Small vocabularies of every kind of tokenizer that llama.cpp has, such that plain text can become control
tokens wherever that kind of tokenizer lets it.
"""

from collections.abc import Callable
from pathlib import Path

from models.demo.gguf_files import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED, TokenTable
from tests.random_models import CHATML, byte_level_bpe, sentence_pieces, write_random_model

CHATML_MARKS = ("<|im_end|>", "<|im_start|>")
_LETTERS = [chr(code) for code in range(33, 127)]
_VERDICTS = (" A", " B", " C", " D")


def _merged_pieces() -> TokenTable:
    """SentencePiece in which control tokens are what two pieces make together."""
    starts = [text[:length] for text in CHATML_MARKS for length in range(2, len(text))]
    return sentence_pieces(CHATML_MARKS, words=(*_VERDICTS, *dict.fromkeys(starts)))


def _whole_words() -> TokenTable:
    """Byte-level BPE in which a word that is a token needs no merges; two are control tokens."""
    return byte_level_bpe(("<s>", "</s>", *CHATML_MARKS, "Assistant", "ĠStop"))


def _words() -> TokenTable:
    """Words between white space, which is left out."""
    table = byte_level_bpe(("<s>", "</s>", *CHATML_MARKS), pre="whitespace", words=("<s>"[:2],))
    table.kind = "whitespace"
    table.merges += ["< s", "<s >"]
    return table


def _longest_match() -> TokenTable:
    """RWKV's: the longest token, whatever its kind; an empty line ends replies."""
    table = TokenTable("rwkv", "default", named={"eot": "\\n\\n", "unknown": "<unk>"})
    for text in ("<s>", *CHATML_MARKS):
        table.add(text, CONTROL)
    for byte in range(256):
        table.add(f"\\x{byte:02x}")
    for text in ("\\n\\n", *_VERDICTS, "<unk>"):
        table.add(text, UNKNOWN if text == "<unk>" else NORMAL)
    return table


def _likeliest_path() -> TokenTable:
    """PLaMo 2's: the path with the best scores, in which control tokens have the best."""
    table = TokenTable("plamo2", "default")
    table.add("<|plamo:unk|>", UNKNOWN)
    for text in ("<|plamo:bos|>", "<|plamo:eos|>", *CHATML_MARKS):
        table.add(text, CONTROL)
    for byte in range(256):
        table.add(f"<0x{byte:02X}>", BYTE)
    for text in (*_LETTERS, " ", "\n", *_VERDICTS):
        table.add(text, score=-5.0)
    return table


def _unigrams() -> TokenTable:
    """T5's: the likeliest words; letters that it lacks are unknown."""
    table = TokenTable("t5", "default", named={"unknown": "<unk>"})
    table.add("<pad>", CONTROL)
    table.add("</s>", CONTROL)
    table.add("<unk>", UNKNOWN)
    table.add("<s>", CONTROL)
    for text in CHATML_MARKS:
        table.add(text, USER_DEFINED)
    for text in (*_LETTERS, "▁"):
        table.add(text, score=-5.0)
    for text in _VERDICTS:
        table.add(text.replace(" ", "▁"), score=-6.0)
    return table


def _word_pieces() -> TokenTable:
    """BERT's: no capitals, no accents, no white space, each sign a word; one control token is a word, too."""
    names = {"cls": "[CLS]", "seperator": "[SEP]", "unknown": "[UNK]"}
    table = TokenTable("bert", "default", named=names)
    for text in (*names.values(), "▁stop"):
        table.add(text, CONTROL)
    for letter in [char for char in _LETTERS if not "A" <= char <= "Z"]:
        table.add(letter)
        table.add(f"▁{letter}")
    return table


KINDS: dict[str, Callable[[], TokenTable]] = {
    "merged_pieces": _merged_pieces,
    "whole_words": _whole_words,
    "words": _words,
    "longest_match": _longest_match,
    "likeliest_path": _likeliest_path,
    "unigrams": _unigrams,
    "word_pieces": _word_pieces,
}


def write_tokenizer(kind: str, path: Path, template: str | None = CHATML) -> Path:
    """Write a random model with one kind of tokenizer; the path."""
    return write_random_model(path, KINDS[kind](), template)
