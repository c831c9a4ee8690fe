"""Sources: how they are written, and what they read of a row."""

import json

import pytest

from engine.data.column_source import RowReader, SourceProblem, parse_source

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
}


def read(text: str, between: str = "-") -> str:
    return RowReader(CELLS).text(parse_source(text, list(CELLS)), between)


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
        ("a.text", r"'a' holds no list or object of JSON: 'A'\."),
        ("a@reply", r"'a' is no dialogue: 'A'\."),
        ("talk@reply:b", r"'b' is 'B'; a number of rounds is needed\."),
    ],
)
def test_a_cell_that_does_not_hold_it_is_named(text: str, problem: str) -> None:
    with pytest.raises(SourceProblem, match=f"^{problem}$"):
        read(text)
