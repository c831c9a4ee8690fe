"""A chat template as it was rendered: its own text around the messages.

The pieces of a prompt: text, each marked with whose it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


FRAME_VERSION = 4
"""Changes with the way in which templates are rendered: what was rendered otherwise does not hold."""

RENDER_SECONDS = 6.0
"""What a template may take; those of real models take milliseconds."""

SYSTEM, USER, THOUGHT, REPLY = "system", "user", "thought", "reply"
_FIXED_FRAMES = ({SYSTEM, USER, REPLY}, {USER, REPLY})


class UnusableTemplateError(Exception):
    """A template that does not do what a chat template must; plain text is used instead."""


@dataclass(frozen=True)
class Frame:
    """What a template writes of its own, with the names of the messages where they belong.

    `slots[i]` stands between `pieces[i]` and `pieces[i + 1]`. The last slot is the reply, which the piece
    before it begins. `note` says what the user should know: that this is not the model's own format, or that
    replies begin elsewhere than the template would let them; empty where all is as the model has it.
    `thinking`: the frame in which the model thinks first, with a slot for the reasoning before the reply;
    None for a model that does not. `turns`: what the template writes between the messages of longer
    conversations, and after their last ones, each text once: all that a model was taught to take for the end
    of a turn.
    """

    pieces: tuple[str, ...]
    slots: tuple[str, ...]
    note: str = ""
    thinking: "Frame | None" = None
    turns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        slots = set(self.slots)
        if len(self.pieces) != len(self.slots) + 1 or slots - {THOUGHT} not in _FIXED_FRAMES:
            raise ValueError(f"{len(self.pieces)} pieces around the slots {self.slots}")
        if THOUGHT in slots and self.slots[-2:] != (THOUGHT, REPLY):
            raise ValueError(f"reasoning elsewhere than before the reply: {self.slots}")

    def as_json(self) -> dict[str, Any]:
        """The frame as plain values."""
        return {
            "pieces": list(self.pieces),
            "slots": list(self.slots),
            "note": self.note,
            "thinking": self.thinking and self.thinking.as_json(),
            "turns": list(self.turns),
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> "Frame":
        """A frame written by `as_json`. Raises ValueError, KeyError or TypeError for anything else."""
        texts = [*value["pieces"], *value["slots"], value["note"], *value["turns"]]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("a frame is made of texts")
        thinking = None if value["thinking"] is None else cls.of_json(value["thinking"])
        pieces, slots, turns = (tuple(value[name]) for name in ("pieces", "slots", "turns"))
        return cls(pieces, slots, value["note"], thinking, turns)


def plain_frame(reason: str) -> Frame:
    """Plain text, an empty line between the messages; `reason`: why it is used, a whole clause."""
    return Frame(("", "\n\n", "\n\n", ""), (SYSTEM, USER, REPLY), f"{reason}: plain text is used.")
