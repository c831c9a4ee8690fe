"""Sources: how they are written, and what they read of a row."""

import json
from collections.abc import Mapping

import pytest

from engine.data.column_source import (
    DialoguePart,
    RowReader,
    SourceProblem,
    Turn,
    parse_source,
    part_of,
    turns_of,
)

NESTED = json.dumps({"list": [{"text": "one", "score": 2.50}, {"text": "two", "score": "10"}], "n": None})
CELLS = {
    "a": "A",
    "b": "B",
    "a+b": "both",
    "c.d": "dotted",
    "x@reply": "an address",
    "x>y": "more",
    "nested": NESTED,
    "talk": json.dumps([{"role": "user", "content": "Q"}, {"role": "assistant", "content": "R"}]),
    "turn": "1",
    "empty": "",
    "word": "none",
    "both": "opt-7b_pythia_6.9b",
    "at@before:x": "a column",
    "meta": json.dumps({"+1": "a key", "pair": "one vs two", "turns": [{"content": "T"}]}),
}


def read(text: str, cells: Mapping[str, str] = CELLS) -> str:
    return RowReader(cells).text(parse_source(text, list(cells)), "-")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", "A"),
        ("a+b", "both"),
        ("b+a", "B-A"),
        ("a+b+a", "A-B-A"),
        ("b+empty+a", "B-A"),
        ("a+b+x>y", "A-B-more"),
        ("c.d", "dotted"),
        ("x@reply", "an address"),
        ("x>y", "more"),
        ("nested.list[0].text", "one"),
        ("nested.list[-1].text", "two"),
        ("nested.list[0].score", "2.5"),
        ("nested.list[0].text+nested.list[1].text", "one-two"),
        ("meta.+1", "a key"),
        ("nested.n", ""),
        ("talk@prompt", "Q"),
        ("talk@reply", "R"),
        ("talk@replies:turn", "R"),
        ("talk[0].content", "Q"),
        ("nested.list[1].score>nested.list[0].score", "A"),
        ("nested.list[0].score>nested.list[1].score", "B"),
        ("nested.list[0].score>2.5", "equal"),
        ("1.5>turn", "A"),
        ("word>turn", ""),
        ("empty>turn", ""),
        ("both@before:_", "opt-7b"),
        ("both@after:_", "pythia_6.9b"),
        ("both@after:_pythia", "_6.9b"),
        ("both@after:_+a", "pythia_6.9b-A"),
        ("at@before:x", "a column"),
        ("meta.pair@before: vs ", "one"),
        ("empty@before:_", ""),
        ("meta.turns@replies", "T"),
    ],
)
def test_a_source_reads_what_it_names(text: str, found: str) -> None:
    assert read(text) == found


@pytest.mark.parametrize(
    "text", ["z", "a+z", "z@reply", "a@part", "talk@reply:z", "nested..x", "1>2>3", "", "+", ">"]
)
def test_a_source_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(SourceProblem, match="the file has no column"):
        parse_source(text, list(CELLS))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nested.list[2].text", r"'nested\.list' holds no entry 2\."),
        ("nested.text", r"'nested' holds no 'text'\."),
        ("a.text", r"'a' is not a JSON list or object: 'A'\."),
        ("a@reply", r"'a' is not a dialogue: 'A'\."),
        ("talk@reply:b", r"'b' is 'B', not a number of rounds\."),
        ("word@before:_", r"'word' has no '_': 'none'\."),
    ],
)
def test_a_cell_that_does_not_hold_it_is_named(text: str, problem: str) -> None:
    with pytest.raises(SourceProblem, match=f"^{problem}$"):
        read(text)


def test_half_a_character_that_is_written_as_an_escape_is_named() -> None:
    with pytest.raises(SourceProblem, match=r"^'c' contains \\ud83d, half a character"):
        read("c@users", {"c": '["\\ud83d"]'})


@pytest.mark.parametrize("depth", [300, 900, 5000, 100_000])
def test_a_deeply_nested_cell_is_read_or_named(depth: int) -> None:
    cell = '{"a": ' + "[" * depth + "]" * depth + "}"
    try:
        text = read("c.a", {"c": cell})
    except SourceProblem as problem:
        assert "'c'" in str(problem)  # noqa: PT017 - either is right, for Python's limit differs
    else:
        assert text == "[" * depth + "]" * depth


@pytest.mark.parametrize("rounds", ["inf", "nan", "1e400", "0", "-1", "1.5", "x", "9999999999"])
def test_rounds_that_are_no_number_of_rounds_are_named(rounds: str) -> None:
    with pytest.raises(SourceProblem, match="not a number of rounds"):
        read("talk@reply:turn", {**CELLS, "turn": rounds})


# Dialogues in a cell: which shapes are read, and what of them is taken


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
        *("", "A text. Human: no", "[1, 2]", "[not JSON", "[]", '["x", 3]'),
        '{"role": "user", "content": "x"}',
        '[{"role": "user"}]',
        "Human: only one side speaks",
    ],
)
def test_other_texts_are_no_dialogues(cell: str) -> None:
    assert turns_of(cell) is None


@pytest.mark.parametrize(
    ("part", "rounds", "text"),
    [
        (DialoguePart.PROMPT, None, "User: Hi\n\nAssistant: Hello\n\nUser: Bye"),
        (DialoguePart.REPLY, None, "So long"),
        (DialoguePart.USERS, None, "User: Hi\n\nUser: Bye"),
        (DialoguePart.REPLIES, None, "Assistant: Hello\n\nAssistant: So long"),
        (DialoguePart.DIALOGUE, None, "User: Hi\n\nAssistant: Hello\n\nUser: Bye\n\nAssistant: So long"),
        (DialoguePart.PROMPT, 1, "Hi"),
        (DialoguePart.REPLY, 1, "Hello"),
        (DialoguePart.REPLIES, 1, "Hello"),
    ],
)
def test_a_part_of_several_turns_names_who_speaks_and_of_one_round_the_texts_stand_alone(
    part: DialoguePart, rounds: int | None, text: str
) -> None:
    assert part_of(TURNS, part, rounds) == text


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
