"""The pieces of a prompt: text, each marked with whose it is.

Knows: own text (written for this project) and foreign text (from a dataset).
Does not know: what the text says, how it is tokenized, chat templates.
"""

from dataclasses import dataclass

from engine.core.prompt_text import Source


@dataclass(frozen=True)
class Part:
    """A piece of text. Foreign text may say anything and must never act as a control token."""

    text: str
    source: Source = Source.OWN

    @property
    def foreign(self) -> bool:
        """True for text of somebody else."""
        return self.source.foreign


def own(text: str) -> Part:
    """Text of this project."""
    return Part(text)


def foreign(text: str, source: Source = Source.FOREIGN) -> Part:
    """Text of somebody else: an instruction, a response, a human explanation."""
    return Part(text, source)


@dataclass(frozen=True)
class Conversation:
    """What a model is shown: the system's words, the user's words, and how its reply begins.

    `thought`: its reasoning before its reply; None where it is still to think, and there is no reply yet.
    Only formats with a place for reasoning show it. `fences`: what its own words set around texts of
    others, so that these must not read like it.
    """

    system: tuple[Part, ...]
    user: tuple[Part, ...]
    reply: str
    thought: str | None = None
    fences: tuple[str, ...] = ()
