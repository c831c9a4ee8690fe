"""A conversation in the model's own chat format, as token ids.

Control tokens are recognised only in what the chat template itself wrote; messages are tokenized as plain
text. So no text of a dataset can end a turn or open another. Where a template writes its turns as ordinary
text (`[INST]`), that text is made harmless in foreign parts by a space after its first character.

Knows: frames, turns, special tokens. Does not know: Jinja, what is asked, datasets, llama.cpp's calls.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from engine.llama.vocabulary import SpecialToken, Vocabulary
from engine.prompt.frame import REPLY, SYSTEM, THOUGHT, USER, Frame
from engine.prompt.parts import Conversation, Part, Source, foreign, own

# How templates write turns where they use no control tokens: [INST], <<SYS>>, <user>, ### Response:, USER:
_ROLES = "system|user|human|assistant|instruction|input|response|question|answer|model|gpt"
_TURN_TEXT = re.compile(
    rf"\[/?[A-Z_]+\]|<</?[A-Z]+>>|</?[|｜]?[A-Za-z_▁]+[|｜]?>|(?:\#+\ *)?\b(?:{_ROLES})\b\ ?:", re.I
)
# User-defined tokens are recognised in any text. Those that hold anything but words and white space are
# structure: turns, tools, thoughts, markup.
_NO_WORDS = re.compile(r"[^\w\s▁]")
_MOST_ROUNDS = 8  # of breaking literals, for what is left of one may be another
_C_SPACE = " \t\n\v\f\r"

Piece = tuple[str, Source]
"""Text, and whose it is."""


class ChatTemplate:
    """Turns conversations into token ids for one model.

    `frame` is the format in use; `merges_system` is true where it has no system message and the user's
    message carries it. `thinking`: the format in which the model thinks before it replies; None for a model
    that does not.
    """

    def __init__(self, frame: Frame, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.frame = frame
        self.merges_system = SYSTEM not in frame.slots
        self._harmful = _harmful_text(frame, vocabulary.special_tokens)
        self._pieces = [_split_at_control(piece, vocabulary.special_tokens) for piece in frame.pieces]
        self._tokenize_run = lru_cache(maxsize=64)(self._tokenize_plain)
        self.thinking = ChatTemplate(frame.thinking, vocabulary) if frame.thinking else None

    def tokenize(self, conversation: Conversation) -> list[int]:
        """Token ids of the whole conversation, up to where the model goes on writing the reply."""
        return [token for _, ids in self.tokenized(conversation) for token in ids]

    def tokenized(self, conversation: Conversation) -> list[tuple[Sequence[Piece], list[int]]]:
        """What `tokenize` gives, run by run: a control token, or all text up to the next one, and its ids."""
        done: list[tuple[Sequence[Piece], list[int]]] = []
        for run in self._runs(conversation):
            if isinstance(run, SpecialToken):
                done.append((_shown(run.text), [run.id]))
            else:
                done.append((run, self._tokenize_run("".join(text for text, _ in run))))
        first = next((ids[0] for _, ids in done if ids), None)
        bos = self.vocabulary.bos
        if self.vocabulary.wants_bos and bos is not None and first != bos:
            done.insert(0, (_shown(self.vocabulary.bos_text), [bos]))
        return done

    def _contents(self, conversation: Conversation) -> dict[str, Sequence[Part]]:
        user: Sequence[Part] = conversation.user
        if self.merges_system:
            user = (*conversation.system, own("\n\n"), *conversation.user)
        return {
            SYSTEM: conversation.system,
            USER: user,
            THOUGHT: (foreign(conversation.thought or "", Source.THOUGHT),),
            REPLY: (own(conversation.reply),),
        }

    def _message(self, parts: Sequence[Part]) -> list[Piece]:
        texts = (self._harmless(part.text) if part.foreign else part.text for part in parts)
        pieces = [(text, part.source) for text, part in zip(texts, parts, strict=True)]
        return _without_start(_without_end(pieces))

    def _harmless(self, text: str) -> str:
        if self._harmful is None:
            return text
        for _ in range(_MOST_ROUNDS):
            broken = self._harmful.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)
            if broken == text:
                break
            text = broken
        return text

    def _runs(self, conversation: Conversation) -> Iterator[list[Piece] | SpecialToken]:
        """Control tokens of the template, and between them all plain text in one run each.

        The white space that a control token strips is taken from its neighbours.
        """
        contents = self._contents(conversation)
        runs: list[list[Piece] | SpecialToken] = [[]]
        for index, piece in enumerate(self._pieces):
            for part in piece:
                _append(runs, part if isinstance(part, SpecialToken) else [(part, Source.TEMPLATE)])
            if index < len(self.frame.slots):
                if self.frame.slots[index] == THOUGHT and conversation.thought is None:
                    break
                _append(runs, self._message(contents[self.frame.slots[index]]))
        for index, run in enumerate(runs):
            if isinstance(run, SpecialToken):
                yield run
                continue
            pieces = run
            before = runs[index - 1] if index else None
            after = runs[index + 1] if index + 1 < len(runs) else None
            if isinstance(before, SpecialToken) and before.strips_right:
                pieces = _without_start(pieces, _C_SPACE)
            if isinstance(after, SpecialToken) and after.strips_left:
                pieces = _without_end(pieces, _C_SPACE)
            if any(text for text, _ in pieces):
                yield pieces

    def _tokenize_plain(self, text: str) -> list[int]:
        return self.vocabulary.tokenize(text, parse_special=False)


def _append(runs: list[list[Piece] | SpecialToken], run: list[Piece] | SpecialToken) -> None:
    last = runs[-1]
    if isinstance(run, list) and isinstance(last, list):
        last.extend(run)
    else:
        runs.append(run)


def _shown(control: str) -> list[Piece]:
    return [(control, Source.CONTROL)]


def _without_start(pieces: list[Piece], space: str | None = None) -> list[Piece]:
    """The pieces without the white space that they begin with."""
    for place, (text, source) in enumerate(pieces):
        if rest := text.lstrip(space):
            return [(rest, source), *pieces[place + 1 :]]
    return []


def _without_end(pieces: list[Piece], space: str | None = None) -> list[Piece]:
    """The pieces without the white space that they end with."""
    for place in range(len(pieces) - 1, -1, -1):
        text, source = pieces[place]
        if rest := text.rstrip(space):
            return [*pieces[:place], (rest, source)]
    return []


def _split_at_control(text: str, special_tokens: Sequence[SpecialToken]) -> list[str | SpecialToken]:
    """The text cut at control tokens, the longest literal first, as llama.cpp does it."""
    runs: list[str | SpecialToken] = [text]
    for token in special_tokens:
        if not token.control or token.text not in text:
            continue
        cut: list[str | SpecialToken] = []
        for run in runs:
            if isinstance(run, SpecialToken):
                cut.append(run)
                continue
            first, *rest = run.split(token.text)
            cut.append(first)
            for piece in rest:
                cut += [token, piece]
        runs = cut
    return [run for run in runs if run != ""]


def _harmful_text(frame: Frame, special_tokens: Sequence[SpecialToken]) -> re.Pattern[str] | None:
    """What foreign text must not say: turns written as plain text, and structure that any text can write.

    Control tokens are not among them: they are not recognised in messages at all.
    """
    rendered = "".join(frame.pieces)
    literals = {
        token.text
        for token in special_tokens
        if not token.control
        and len(token.text) > 1
        and token.text.strip()
        and (token.text in rendered or _NO_WORDS.search(token.text))
    }
    for run in _split_at_control(rendered, special_tokens):
        if isinstance(run, str):
            literals.update(_TURN_TEXT.findall(run))
    if not literals:
        return None
    return re.compile("|".join(re.escape(text) for text in sorted(literals, key=len, reverse=True)))
