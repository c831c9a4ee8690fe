"""A conversation in the model's own chat format, as token ids. Control tokens are recognised only in what the
chat template itself wrote: no text of a dataset ends a turn.
"""

from collections.abc import Iterator, Sequence

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
