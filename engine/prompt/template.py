"""A conversation in the model's own chat format, as token ids; where its reply begins. Control tokens are
recognised only in what the chat template itself wrote: no text of a dataset ends a turn. A verdict must not
continue reasoning with which a template lets a model begin.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from engine.core.prompt_text import Source
from engine.llama.model import Pieces, SpecialToken, Vocabulary
from engine.prompt.conversation import REPLY, SYSTEM, THOUGHT, USER, Conversation, Frame, Part, foreign, own
from engine.prompt.guard import Guard, Piece, split_at

_C_SPACE = " \t\n\v\f\r"


class ChatTemplate:
    """Turns conversations into token ids for one model."""

    def __init__(self, frame: Frame, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.frame = frame
        self.merges_system = SYSTEM not in frame.slots  # the user's message carries it
        self._guard = Guard(frame, vocabulary)
        control = [token for token in vocabulary.special_tokens if token.control]
        self._pieces = [split_at(piece, control) for piece in frame.pieces]
        self.thinking = ChatTemplate(frame.thinking, vocabulary) if frame.thinking else None

    @property
    def tokens_written(self) -> Pieces:
        return self._guard.pieces

    def tokenize(self, conversation: Conversation) -> list[int]:
        return [token for _, ids in self.tokenized(conversation) for token in ids]

    def tokenized(self, conversation: Conversation) -> list[tuple[Sequence[Piece], Sequence[int]]]:
        """What `tokenize` gives, run by run: a control token, or all text up to the next one as the model
        reads it, and its ids. UnbreakableTextError where text of others cannot be kept from being structure.
        """
        done: list[tuple[Sequence[Piece], Sequence[int]]] = []
        for run in self._runs(conversation):
            if isinstance(run, SpecialToken):
                done.append(([(run.text, Source.CONTROL)], [run.id]))
            else:
                done.append(self._guard.read(tuple(run), conversation.fences))
        # Many templates write it themselves: twice would be another prompt.
        first = next((ids[0] for _, ids in done if ids), None)
        bos = self.vocabulary.bos
        if self.vocabulary.wants_bos and bos is not None and first != bos:
            done.insert(0, ([(self.vocabulary.bos_text, Source.CONTROL)], [bos]))
        return done

    def _runs(self, conversation: Conversation) -> Iterator[list[Piece] | SpecialToken]:
        """Control tokens of the template, and between them all plain text in one run each."""
        system = (*conversation.system, own("\n\n")) if self.merges_system else ()
        contents: dict[str, Sequence[Part]] = {
            SYSTEM: conversation.system,
            USER: (*system, *conversation.user),
            THOUGHT: (foreign(conversation.thought or "", Source.THOUGHT),),
            REPLY: (own(conversation.reply),),
        }
        runs: list[list[Piece] | SpecialToken] = [[]]
        for index, piece in enumerate(self._pieces):
            for part in piece:
                _append(runs, part if isinstance(part, SpecialToken) else [(part, Source.TEMPLATE)])
            if index < len(self.frame.slots):
                if self.frame.slots[index] == THOUGHT and conversation.thought is None:
                    break
                parts = contents[self.frame.slots[index]]
                texts = (self._guard.harmless(each.text) if each.foreign else each.text for each in parts)
                pieces = [(text, each.source) for text, each in zip(texts, parts, strict=True)]
                _append(runs, _without_start(_without_end(pieces)))
        for index, run in enumerate(runs):
            if isinstance(run, SpecialToken):
                yield run
                continue
            pieces = run
            before = runs[index - 1] if index else None
            after = runs[index + 1] if index + 1 < len(runs) else None
            # As llama.cpp does it where it reads a whole text; run by run it would not know of the neighbour.
            if isinstance(before, SpecialToken) and before.strips_right:
                pieces = _without_start(pieces, _C_SPACE)
            if isinstance(after, SpecialToken) and after.strips_left:
                pieces = _without_end(pieces, _C_SPACE)
            if any(text for text, _ in pieces):
                yield pieces


def _append(runs: list[list[Piece] | SpecialToken], run: list[Piece] | SpecialToken) -> None:
    last = runs[-1]
    if isinstance(run, list) and isinstance(last, list):
        last.extend(run)
    else:
        runs.append(run)


def _without_start(pieces: list[Piece], space: str | None = None) -> list[Piece]:
    for place, (text, source) in enumerate(pieces):
        if rest := text.lstrip(space):
            return [(rest, source), *pieces[place + 1 :]]
    return []


def _without_end(pieces: list[Piece], space: str | None = None) -> list[Piece]:
    for place in range(len(pieces) - 1, -1, -1):
        text, source = pieces[place]
        if rest := text.rstrip(space):
            return [*pieces[:place], (rest, source)]
    return []


_NAME = r"(?:\w+:)?(?:think|thinking|thought|reasoning)"
_OPENED = re.compile(rf"<{_NAME}>")
_FIELD = re.compile(r"reasoning_content|[.'\"](?:reasoning|thinking)\b")  # of a message
_OPEN_THOUGHT = re.compile(rf"<({_NAME})>\s*$")
# Before and after reasoning, in formats that do not name it by a tag; the first is looked for in templates.
_CHANNELS = (
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel>thought\n", "\n<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
)
_THOUGHT_NAMED = re.compile(rf"</({_NAME})>|\[/(THINK)\]", re.I)
_MARKUP = r"<[^<>\s]*>|\[[^\[\]\s]*\]"
_SYMBOL = re.compile(rf"{_MARKUP}|.", re.DOTALL)  # markup counts as one
_LONGEST_QUOTE = 200


@dataclass(frozen=True)
class Opening:
    """What a template writes after the last message."""

    prompt: str  # for a reply to be written, without reasoning where there is a switch for it
    finished: str | None  # before a finished reply; None where it does not write one
    switched: bool  # there is such a switch
    opens: bool  # it writes more than where no reply is asked for


def reply_start(opening: Opening) -> tuple[str, str]:
    """What stands before the first word of a reply, and a note where the model would not have begun so."""
    prompt, finished = opening.prompt, opening.finished
    if finished is None or finished == prompt:
        return _with_closed_thought(prompt, "")
    if finished.startswith(prompt):
        return _with_closed_thought(finished, _note_of_more(opening, finished[len(prompt) :]))
    if _OPEN_THOUGHT.search(prompt):
        return _with_closed_thought(prompt, "")
    # How many characters both begin with, markup counted whole.
    symbols = zip(_SYMBOL.findall(prompt), _SYMBOL.findall(finished), strict=False)
    alike = takewhile(lambda pair: pair[0] == pair[1], symbols)
    common = sum(len(symbol) for symbol, _ in alike)
    ours, theirs = prompt[common:], finished[common:]
    if not ours.strip():
        return prompt, ""
    if opening.switched:  # the model was taught to begin so where it does not think
        return (prompt if ours.endswith(theirs) else prompt + theirs), ""
    return _with_closed_thought(
        finished,
        f"The model's chat template lets replies begin with {_quoted(ours)}, unlike its finished replies: the"
        " verdict is read where finished replies begin.",
    )


def may_reason(source: str) -> bool:
    """Whether a template's `source` speaks of reasoning: it is certain once it is rendered."""
    return bool(_OPENED.search(source) or _FIELD.search(source)) or thought_around("", source) is not None


def thought_around(prompt: str, source: str) -> tuple[str, str] | None:
    """What stands before reasoning and after it, where a reply with one begins with `prompt`: the mark that
    the prompt opens, or else one that is closed in the template's `source`. None where no reasoning is known.
    """
    if thought := _OPEN_THOUGHT.search(prompt):
        return prompt, f"\n</{thought[1]}>\n\n"
    for before, after in _CHANNELS:
        # Some of Gemma 4's templates write no thought, and only cut the channel out of replies.
        if before.strip().removesuffix("thought") in source:
            return prompt.removesuffix(before) + before, after
    if named := _THOUGHT_NAMED.search(source):
        opens = f"<{named[1]}>" if named[1] else f"[{named[2]}]"
        return f"{prompt}{opens}\n", f"\n{named[0]}\n\n"
    return None


def note_of_thought(begins: str, before: str, after: str) -> str:
    """Of a template without a switch: `begins` stands before a reply, the others around reasoning."""
    closed_empty = "".join(begins.split()) == "".join(f"{before}{after}".split())
    # Command's templates have marks for a plan to use tools also where their models do not reason.
    if closed_empty or any(after == known[-1] for known in _CHANNELS):
        return ""
    return (
        f"The model's chat template has reasoning, which ends with {_quoted(after)}, and no switch for it is"
        " known: the verdict is read where a reasoning model would begin to reason."
    )


def _note_of_more(opening: Opening, more: str) -> str:
    if not opening.switched and (thought := _OPEN_THOUGHT.search(opening.prompt)):
        return _closed(thought[1])
    if not opening.switched and opening.opens and re.search(_MARKUP, more):
        return (
            "The model's chat template lets the model begin with reasoning: the verdict is read"
            f" after {_quoted(more)}, with which finished replies begin."
        )
    return ""


def _with_closed_thought(begins: str, note: str) -> tuple[str, str]:
    thought = _OPEN_THOUGHT.search(begins)
    if thought is None:
        return begins, note
    return f"{begins.rstrip()}\n\n</{thought[1]}>\n\n", _closed(thought[1])


def _closed(tag: str) -> str:
    return (
        f"The model's chat template opens a reasoning block (<{tag}>), and no switch for it is known: it is"
        " closed empty, and the verdict is read after it."
    )


def _quoted(text: str) -> str:
    text = text.strip()
    return f"“{text if len(text) <= _LONGEST_QUOTE else f'{text[:_LONGEST_QUOTE]}…'}”"
