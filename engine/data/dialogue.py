r"""Dialogues in a cell: their turns, and what of them is the instruction and what the response.

Three shapes are read: a JSON list of messages, each with who speaks (`role` or `from`) and what is said
(`content` or `value`); a JSON list of texts; a text with the marks `\n\nHuman: ` and `\n\nAssistant: `.

Knows: these shapes, how several turns are written as one text. Does not know: columns, files.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from engine.data.json_records import JsonNumber, JsonProblem, parse_json


class DialoguePart(StrEnum):
    """What is taken of a dialogue; the value stands after the @ of a source."""

    PROMPT = "prompt"  # all before the assistant's last message
    REPLY = "reply"  # the assistant's last message
    USERS = "users"  # all that is not the assistant's
    REPLIES = "replies"  # all that is the assistant's
    DIALOGUE = "dialogue"  # all


class Turn(NamedTuple):
    """One message. `role`: "user", "assistant", another word of the file, or empty in a list of texts."""

    role: str
    text: str


class NotADialogue(Exception):
    """A cell that holds no dialogue, or not the part of one that is asked for; the text says so."""


USER, ASSISTANT = "user", "assistant"
_ROLES = {
    **dict.fromkeys(("user", "human", "prompter", "customer", "instruction"), USER),
    **dict.fromkeys(("assistant", "gpt", "model", "bot", "ai", "chatgpt", "chatbot", "response"), ASSISTANT),
}
_ROLE_KEYS, _TEXT_KEYS = ("role", "from", "speaker"), ("content", "value", "text")
_MARK = re.compile(r"(?:\A\s*|\n\n)(Human|Assistant): ?")


def turns_of(cell: str) -> list[Turn] | None:
    """The turns of a dialogue; None where the cell holds none."""
    start = cell.lstrip()[:1]
    if start == "[":
        try:
            return turns_of_value(parse_json(cell.encode("utf-8", "surrogatepass")))
        except (JsonProblem, UnicodeError):
            return None
    return _marked(cell)


def turns_of_value(value: object) -> list[Turn] | None:
    """The turns of a parsed JSON value: a list of messages, or of texts; None for anything else."""
    if not isinstance(value, list) or not value:
        return None
    if all(_is_text(message) or message is None for message in value):
        return [Turn("", str(message or "")) for message in value]
    turns = [_message(message) for message in value]
    return None if None in turns else [turn for turn in turns if turn is not None]


def part_of(turns: Sequence[Turn], part: DialoguePart, rounds: int | None = None) -> str:
    """A part of a dialogue as text: one message as it is, several as paragraphs that name who speaks.

    `rounds`: only so many messages of the user, and what answers them. Raises NotADialogue where the
    assistant says nothing, and the part is about what he says.
    """
    if not any(turn.role for turn in turns):
        return _part_of_texts(turns, part, rounds)
    turns = _first(turns, rounds)
    match part:
        case DialoguePart.DIALOGUE:
            return _written(turns)
        case DialoguePart.USERS:
            return _written([turn for turn in turns if turn.role != ASSISTANT])
        case DialoguePart.REPLIES:
            return _written(_said([turn for turn in turns if turn.role == ASSISTANT]))
    last = max((place for place, turn in enumerate(turns) if turn.role == ASSISTANT), default=None)
    if last is None:
        raise NotADialogue("the assistant says nothing in it.")
    return turns[last].text if part is DialoguePart.REPLY else _written(turns[:last])


def _part_of_texts(turns: Sequence[Turn], part: DialoguePart, rounds: int | None) -> str:
    """Of a list of texts: those of one side where a side is asked for, else user and assistant by turns."""
    if part in (DialoguePart.USERS, DialoguePart.REPLIES):
        role = USER if part is DialoguePart.USERS else ASSISTANT
        return _written([Turn(role, turn.text) for turn in turns[:rounds]])
    spoken = [Turn(ASSISTANT if place % 2 else USER, turn.text) for place, turn in enumerate(turns)]
    return part_of(spoken, part, rounds)


def _said(turns: list[Turn]) -> list[Turn]:
    if not turns:
        raise NotADialogue("the assistant says nothing in it.")
    return turns


def _first(turns: Sequence[Turn], rounds: int | None) -> Sequence[Turn]:
    if rounds is None:
        return turns
    asked = 0
    for place, turn in enumerate(turns):
        asked += turn.role == USER
        if asked > rounds:
            return turns[:place]
    return turns


def _written(turns: Sequence[Turn]) -> str:
    if len(turns) == 1 and turns[0].role in (USER, ASSISTANT):
        return turns[0].text
    return "\n\n".join(f"{turn.role.capitalize()}: {turn.text}" for turn in turns)


def _message(message: object) -> Turn | None:
    if not isinstance(message, dict):
        return None
    role = next((message[key] for key in _ROLE_KEYS if isinstance(message.get(key), str)), None)
    texts = (_content(message[key]) for key in _TEXT_KEYS if key in message)
    text = next(texts, None)
    if role is None or text is None:
        return None
    return Turn(_ROLES.get(role.strip().lower(), role), text)


def _content(value: object) -> str | None:
    """The text of a message; None where it is none, or holds more than texts, such as a picture."""
    if value is None or _is_text(value):
        return str(value or "")
    if isinstance(value, list):
        texts = [part.get("text") for part in value if isinstance(part, dict)]
        if len(texts) == len(value) and all(isinstance(text, str) for text in texts):
            return "\n\n".join(map(str, texts))
    return None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, JsonNumber)


def _marked(cell: str) -> list[Turn] | None:
    marks = list(_MARK.finditer(cell))
    if (
        not marks
        or cell[: marks[0].start()].strip()
        or ASSISTANT not in {_ROLES[m[1].lower()] for m in marks}
    ):
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(cell)]
    return [
        Turn(_ROLES[mark[1].lower()], cell[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)
    ]


def is_dialogue(cell: str) -> bool:
    """Whether a cell holds messages with who speaks."""
    turns = turns_of(cell)
    return turns is not None and any(turn.role for turn in turns)


def is_list_of_texts(cell: str) -> bool:
    """Whether a cell holds a JSON list of texts."""
    turns = turns_of(cell)
    return turns is not None and not any(turn.role for turn in turns)
