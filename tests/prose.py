"""Sentences of Markdown pages, and how many words they have."""

import re

LONG = 30
"""A sentence of more words than this is long."""

_BLOCKS = re.compile(r"^```.*?^```[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_BREAK = re.compile(r"^\s*(?:[-*+]|\d+\.|>)\s+|^\s*$|^#+ .*$|^\|.*$", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])[\"”)*_`]*\s+(?=[\"“(*_`\[]*[A-Z0-9])|(?<=:)\s*\n\s*\n")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|vs|No|Fig|cf)\.$")


def sentences(text: str) -> list[str]:
    """The sentences of a page's running text: no code blocks, headings or tables; list items one by one."""
    found: list[str] = []
    for part in _BREAK.sub("\n\n", _BLOCKS.sub("\n\n", text)).split("\n\n"):
        whole = ""
        for piece in _END.split(" ".join(part.split())):
            whole = f"{whole} {piece}".strip()
            if not _ABBREVIATION.search(whole):
                found.append(whole)
                whole = ""
        found.append(whole)
    return [sentence for sentence in found if sentence]


def words_of(sentence: str) -> int:
    """How many words a sentence has; a piece of code or a link is one."""
    plain = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence))
    return sum(any(letter.isalnum() for letter in word) for word in plain.split())


def long_share(text: str) -> float:
    """The share, 0 to 1, of the sentences that are long; 0 where there are none."""
    found = sentences(text)
    return sum(words_of(sentence) > LONG for sentence in found) / len(found) if found else 0.0
