"""JSON of anybody: what can be counted with is read, records come back, all else is refused in words."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from engine.core.codec import LARGEST, MOST_LEVELS, plain, plain_values, record_of, record_or
from engine.core.items import Preference


def test_plain_values_are_read_and_brackets_in_texts_are_no_levels() -> None:
    text = '{"a": [1, -2.5, null, true, "\\u00e9"], "b": {"c": 9223372036854775807}}'
    assert plain_values(text) == {"a": [1, -2.5, None, True, "é"], "b": {"c": LARGEST}}
    assert plain_values("[" * MOST_LEVELS + "]" * MOST_LEVELS)
    assert plain_values(b"\xef\xbb\xbf[1]") == [1]
    text = json.dumps(["[" * 1000, '"{' * 1000, {"\\": "\\"}, *([[]] * 100)])
    assert plain_values(text) == json.loads(text)
    assert plain_values("[2147483647]", most=2**31 - 1) == [2**31 - 1]
    with pytest.raises(ValueError, match="holds 2147483648"):
        plain_values("[2147483648]", most=2**31 - 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{'a': 1}", "not valid JSON"),
        ("[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1), "nested too deeply"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ('["\\"", ' + "[" * 100_000, "nested too deeply"),
        ('{"a": [{"b": 1, "c": 2, "b": 3}]}', "names the key 'b' 2 times"),
        (b"\xff", "not UTF-8"),
        ("[NaN]", "holds NaN"),
        ("[1e999]", "holds 1e999"),
        ("[9223372036854775808]", "holds 9223372036854775808"),
        ("[" + "9" * 5000 + "]", "holds 9999"),
    ],
)
def test_what_nobody_can_count_with_is_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plain_values(text)


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    factor: float
    label: Preference | None = msgspec.field(name="of", default=None)


@dataclass(frozen=True)
class Whole:
    count: Annotated[int, msgspec.Meta(ge=0)]
    parts: Mapping[str, tuple[Part, ...]]
    path: Path = Path("a.json")
    yes: bool = False

    def __post_init__(self) -> None:
        if self.count > 99:
            raise ValueError("it counts too far")


VALUES: dict[str, Any] = {
    "count": 3,
    "parts": {"x": [{"factor": 0.5}], "y": [{"factor": 2, "of": "both_good"}, {"factor": 0.0}]},
    "path": str(Path("b/c.json")),
    "yes": True,
}


def test_a_record_comes_back_with_the_keys_of_its_file_alone() -> None:
    record = record_of(VALUES | {"unknown": 1}, Whole)
    assert record.parts["y"][0] == Part(2.0, Preference.BOTH_GOOD)
    assert json.loads(json.dumps(plain(record))) == VALUES
    assert list(plain(record)) == list(VALUES)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"count": "3"}, "count: found '3', expected a whole number"),
        ({"count": True}, "count: found true, expected a whole number"),
        ({"count": -1}, "count: found -1, expected a whole number >= 0"),
        ({"count": 100}, "it counts too far"),
        ({"yes": "no"}, "yes: found 'no', expected true or false"),
        ({"parts": "xy"}, "parts: found 'xy', expected an object"),
        ({"parts": {"x": "abc"}}, "parts.x: found 'abc', expected a list"),
        ({"parts": {"x": [], "y": [{"factor": 1}, {"of": "A"}]}}, "parts.y[1]: 'factor' is missing"),
        ({"parts": {"x": [{"factor": {}}]}}, "parts.x[0].factor: found an object, expected a number"),
        ({"parts": {"x": [{"factor": 1, "of": "C"}]}}, "parts.x[0].of: found 'C', which is not known here"),
        ({"parts": {"x": [{"factor": 1, "of": 7}]}}, "parts.x[0].of: found 7, expected a text or nothing"),
        ({"path": "a\0b"}, "path: it is not a path"),
        ({"path": ""}, "path: it is not a path"),
    ],
)
def test_what_is_none_is_refused_with_its_place_and_what_was_found(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as refused:
        record_of(VALUES | change, Whole)
    assert str(refused.value) == said
    assert record_or(VALUES | change, Whole, None) is None


@pytest.mark.parametrize(("values", "said"), [([VALUES], "a list"), (None, "null"), ("x" * 99, "'xxx")])
def test_what_is_no_record_at_all_is_named(values: object, said: str) -> None:
    with pytest.raises(ValueError, match=f"^found {said}.*, expected an object$"):
        record_of(values, Whole)


@pytest.mark.parametrize("other", [None, "factor", ["factor"], {"factor": 1}])
def test_what_lacks_a_key_is_named_next_to_what_has_none(other: object) -> None:
    with pytest.raises(ValueError, match=r"^x: 'factor' is missing$"):
        record_of({"x": {}, "y": other}, dict[str, Part])
