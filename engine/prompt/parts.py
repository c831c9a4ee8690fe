"""The pieces of a prompt: text, each marked with whose it is.

Knows: own text (written for this project) and foreign text (from a dataset).
Does not know: what the text says, how it is tokenized, chat templates.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A piece of text. Foreign text may say anything and must never act as a control token."""

    text: str
    foreign: bool = False


def own(text: str) -> Part:
    """Text of this project."""
    return Part(text)


def foreign(text: str) -> Part:
    """Text of somebody else: an instruction, a response, a human explanation."""
    return Part(text, foreign=True)


@dataclass(frozen=True)
class Conversation:
    """What a model is shown: the system's words, the user's words, and how its reply begins."""

    system: tuple[Part, ...]
    user: tuple[Part, ...]
    reply: str
