"""How a chat template writes turns where it uses no tokens of their own: the marks, found in what it writes.

Of all that a template writes around messages a mark is

- markup: `[INST]`, `<|user|>`, `<</SYS>>`, `[Round 1]`, wherever it stands;
- a label: what else stands in a line, with a letter or digit and something that is neither:
  `### Instruction:`, `USER:`, `答：`. A sentence is none, so that a system message of the template is none;
- a line of words alone (`User`), for lines of a foreign text.

Where a token that is no end stands with a label, as in `<|start|>user: `, that token opens the turn: the
label cannot be forged without it, and is none. What has no two signs next to each other (`A`, `- A -`) is no
mark either, for nothing can be put inside.

Knows: what a template writes. Does not know: Jinja, texts of a dataset, how marks are found in them.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from engine.llama.vocabulary import SpecialToken
from engine.prompt.fences import Mark
from engine.prompt.frame import Frame

_MARKUP = re.compile(r"<{1,2}[^<>\n]{1,60}>{1,2}|\[[^\[\]\n]{1,60}\]")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?。！？])\s+")
_SENTENCE = re.compile(r"\s.*[.!?]$|[。！？]$")
_WORDS = re.compile(r"[\w\s▁]*\w[\w\s▁]*")
_LONGEST_LABEL = 80


def turn_marks(
    frame: Frame, split: Callable[[str], Sequence[str | SpecialToken]], closes: Callable[[SpecialToken], bool]
) -> list[Mark]:
    """The marks of a chat format's turns, each once.

    `split`: cuts a text at tokens of structure; `closes`: whether such a token opens no turn.
    """
    found: list[Mark] = []
    for text in (*frame.pieces, *frame.turns):
        runs = split(text)
        opens = any(isinstance(run, SpecialToken) and not closes(run) for run in runs)
        follows_token = False
        for run in runs:
            if isinstance(run, str):
                found += _markup(run)
                found += () if opens else _labels(run, follows_token)
            follows_token = isinstance(run, SpecialToken)
    return [mark for mark in dict.fromkeys(found) if re.search(r"\S\S", mark.text)]


def _markup(text: str) -> Iterator[Mark]:
    return (Mark(shape, counted=True) for shape in _MARKUP.findall(text) if re.search(r"\w", shape))


def _labels(text: str, follows_token: bool) -> Iterator[Mark]:
    """The labels and words in a text of a template."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        parts = _MARKUP.split(line)
        for said in (said for part in parts for said in _SENTENCE_ENDS.split(part.strip())):
            if _is_label(said):
                yield Mark(said, counted=True)
            elif said == line.strip() and _WORDS.fullmatch(said) and (number or not follows_token):
                yield Mark(said, counted=True, begins_line=True, fills_line=number + 1 < len(lines))


def _is_label(text: str) -> bool:
    return (
        len(text) <= _LONGEST_LABEL
        and re.search(r"\w", text) is not None
        and re.search(r"[^\w\s▁]", text) is not None
        and not _SENTENCE.search(text)
    )
