"""Where each token of a text stands in it, also where the tokenizer changes the text before it reads it.

What a session evaluates: token ids that many prompts share, and the branches that differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.llama.model import Vocabulary

LONE_TOKEN_CELLS = 1
"""Tokens of context that a session takes for itself: the company of a token that is read alone."""


@dataclass(frozen=True)
class BranchTokens:
    """One question's whole prompt, and the ids that each of its labels adds to it (1 or more).

    Without labels the prompt is one that a text is to continue.
    """

    prompt: tuple[int, ...]
    labels: tuple[tuple[int, ...], ...]

    @property
    def cells(self) -> int:
        """Tokens of context that it takes by itself: the prompt, and its longest label."""
        return len(self.prompt) + max(map(len, self.labels), default=0)


@dataclass(frozen=True)
class PromptTokens:
    """The prompts of one item and order; `trunk` is the prefix they share, shorter than each of them."""

    trunk: tuple[int, ...]
    branches: tuple[BranchTokens, ...]

    @property
    def cells(self) -> int:
        """Tokens of context that the tree takes: the trunk once, each branch's own part."""
        own = sum(branch.cells for branch in self.branches)
        return len(self.trunk) + own - len(self.trunk) * len(self.branches)

    def cells_beside(self, stem: Sequence[int]) -> int:
        """Tokens of context that the tree takes where `stem` is held already."""
        begins_with_it = self.trunk[: len(stem)] == tuple(stem)
        return self.cells - (len(stem) if begins_with_it else 0)


def usable_prefix(held: Sequence[int], tokens: Sequence[int], keeps_state: bool) -> int:
    """How many of `tokens` need not be read where `held` is.

    `keeps_state`: a memory that cannot be cut back to what is shared; then all of it must be.
    """
    shared = common_prefix([held, tokens])
    return 0 if keeps_state and shared < len(held) else shared


def common_prefix(sequences: Sequence[Sequence[int]]) -> int:
    """Length of the prefix that all sequences share."""
    shared, most = 0, min(map(len, sequences), default=0)
    # By halves: whole pieces are compared in C, several times faster than one id after another (measured).
    while shared < most:
        middle = (shared + most + 1) // 2
        first, *others = (tuple(ids[shared:middle]) for ids in sequences)
        if all(piece == first for piece in others):
            shared = middle
        else:
            most = middle - 1
    return shared


# Where a tokenizer changes its text: how many bytes before a token may be those that it omitted.
_NEAR, _FAR, _LONG = 4, 24, 3  # far only for a token so long that it is hardly there by chance


class Pieces:
    """What tokens write, as text that can be shown: bytes that are no whole character are written out."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._special = {token.id: token.text for token in vocabulary.special_tokens}
        self._known: dict[int, bytes] = {}

    def written(self, token: int) -> bytes:
        """The bytes of a token; of one that writes nothing its name."""
        if token not in self._known:
            data = self._vocabulary.piece(token) or self._special.get(token, "").encode()
            self._known[token] = data
        return self._known[token]

    def shown(self, token: int) -> str:
        """The same as text."""
        return self.written(token).decode("utf-8", "backslashreplace")


def token_places(text: str, pieces: Sequence[bytes]) -> tuple[list[tuple[int, int]], bool]:
    """For each token the stretch of the text that it writes, in characters; and whether they write just it.

    Some tokenizers write a space before a text and after special tokens, which has no place in it.
    """
    data = text.encode("utf-8")
    first = _character_of_byte(text)
    exact, place, places = True, 0, []
    for begin, end, fits in _stretches(data, pieces):
        exact = exact and fits
        # A token that ends within a character reaches to its end.
        places.append((first[begin], first[end - 1] + 1 if end > begin else first[begin]))
        place = max(place, end)
    return places, exact and place == len(data)


def _stretches(data: bytes, pieces: Sequence[bytes]) -> Iterator[tuple[int, int, bool]]:
    """The bytes of each token, and whether they are those that it writes, but for a space before them."""
    folded, place, missed = data.lower(), 0, 0
    for piece in pieces:
        added = piece[:1] == b" " and not data.startswith(piece, place)
        if piece and data.startswith(piece[added:], place):
            yield place, place + len(piece) - added, True
            place, missed = place + len(piece) - added, 0
            continue
        # The tokenizer changed the text, or left some of it out: near by is where this was.
        word = piece.strip().lower()
        far = (_FAR if len(word) >= _LONG else _NEAR) + _NEAR * missed
        found = folded.find(word, place, place + far + len(word)) if word else -1
        end = found + len(word) if found >= 0 else place
        yield place, end, False
        place, missed = end, 0 if found >= 0 else missed + 1


def _character_of_byte(text: str) -> Sequence[int]:
    """For each byte of a text, and for its end, the character that it is of."""
    if text.isascii():
        return range(len(text) + 1)
    characters = [place for place, character in enumerate(text) for _ in character.encode("utf-8")]
    return [*characters, len(text)]
