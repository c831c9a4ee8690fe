"""Dialogues in a cell: which shapes are read, and what of them is taken."""

import json

import pytest

from engine.data.column_source import DialoguePart, SourceProblem, Turn, part_of, turns_of

MESSAGES = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"},
    {"role": "user", "content": "Bye"},
    {"role": "assistant", "content": "So long"},
]
TURNS = [Turn(message["role"], message["content"]) for message in MESSAGES]


@pytest.mark.parametrize(
    "cell",
    [
        json.dumps(MESSAGES),
        json.dumps(
            [{"from": "human" if m["role"] == "user" else "gpt", "value": m["content"]} for m in MESSAGES]
        ),
        json.dumps([{**m, "content": [{"type": "text", "text": m["content"]}]} for m in MESSAGES]),
        "\n\nHuman: Hi\n\nAssistant: Hello\n\nHuman: Bye\n\nAssistant: So long",
        "Human: Hi\n\nAssistant: Hello\n\nHuman: Bye\n\nAssistant: So long",
    ],
)
def test_published_shapes_of_dialogues_are_read(cell: str) -> None:
    assert turns_of(cell) == TURNS


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "A text. Human: no",
        "[1, 2]",
        "[not JSON",
        "[]",
        '["x", 3]',
        '{"role": "user", "content": "x"}',
        '[{"role": "user"}]',
        '[{"role": "user", "content": [{"type": "image"}]}]',
        "Human: only one side speaks",
    ],
)
def test_other_texts_are_no_dialogues(cell: str) -> None:
    assert turns_of(cell) is None


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (DialoguePart.PROMPT, "User: Hi\n\nAssistant: Hello\n\nUser: Bye"),
        (DialoguePart.REPLY, "So long"),
        (DialoguePart.USERS, "User: Hi\n\nUser: Bye"),
        (DialoguePart.REPLIES, "Assistant: Hello\n\nAssistant: So long"),
        (DialoguePart.DIALOGUE, "User: Hi\n\nAssistant: Hello\n\nUser: Bye\n\nAssistant: So long"),
    ],
)
def test_a_part_of_several_turns_names_who_speaks(part: DialoguePart, text: str) -> None:
    assert part_of(TURNS, part) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [(DialoguePart.PROMPT, "Hi"), (DialoguePart.REPLY, "Hello"), (DialoguePart.REPLIES, "Hello")],
)
def test_of_one_round_the_texts_stand_alone(part: DialoguePart, text: str) -> None:
    assert part_of(TURNS, part, rounds=1) == text


def test_a_system_message_belongs_to_the_instruction_and_is_named() -> None:
    turns = [Turn("system", "Be short."), *TURNS[:2]]
    for part in (DialoguePart.PROMPT, DialoguePart.USERS):
        assert part_of(turns, part) == "System: Be short.\n\nUser: Hi"


def test_a_list_of_texts_is_one_side_or_both_by_turns() -> None:
    turns = turns_of('["Hi", "Hello", null]')
    assert turns is not None
    assert part_of(turns, DialoguePart.USERS) == "User: Hi\n\nUser: Hello\n\nUser: "
    assert part_of(turns[:1], DialoguePart.REPLIES) == "Hi"
    assert part_of(turns[:2], DialoguePart.REPLY) == "Hello"
    assert part_of(turns[:2], DialoguePart.PROMPT) == "Hi"


@pytest.mark.parametrize("part", [DialoguePart.REPLY, DialoguePart.PROMPT, DialoguePart.REPLIES])
def test_without_a_reply_there_is_none_to_take(part: DialoguePart) -> None:
    with pytest.raises(SourceProblem, match="it has no turn of the assistant"):
        part_of(TURNS[:1], part)
