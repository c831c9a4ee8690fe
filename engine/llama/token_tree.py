"""What a session evaluates: token ids that many prompts share, and the branches that differ.

Knows: token ids. Does not know: text, vocabularies, what is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
