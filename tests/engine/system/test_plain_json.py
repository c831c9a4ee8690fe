"""JSON of anybody's: what can be counted with is read, and all else refused with words."""

import json

import pytest

from engine.core.codec import LARGEST, MOST_LEVELS, plain_values


def test_plain_values_are_read() -> None:
    text = '{"a": [1, -2.5, null, true, "\\u00e9"], "b": {"c": 9223372036854775807}}'
    assert plain_values(text) == {"a": [1, -2.5, None, True, "é"], "b": {"c": LARGEST}}
    deep = "[" * MOST_LEVELS + "]" * MOST_LEVELS
    assert plain_values(deep)
    assert plain_values(b"\xef\xbb\xbf[1]") == [1]


def test_brackets_in_texts_are_no_levels() -> None:
    text = json.dumps(["[" * 1000, '"{' * 1000, {"\\": "\\"}, *([[]] * 100)])
    assert plain_values(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ("[" * (MOST_LEVELS + 1) + "]" * (MOST_LEVELS + 1), "nested too deeply"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ('["\\"", ' + "[" * 100_000, "nested too deeply"),
        ('{"a": [{"b": 1, "c": 2, "b": 3}]}', "names the key 'b' 2 times"),
        (b"\xff", "not UTF-8"),
        ("[NaN]", "holds NaN"),
        ("[-Infinity]", "holds -Infinity"),
        ("[1e999]", "holds 1e999"),
        ("[9223372036854775808]", "holds 9223372036854775808"),
        ("[" + "9" * 5000 + "]", "holds 9999"),
    ],
)
def test_what_nobody_can_count_with_is_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        plain_values(text)


def test_whole_numbers_may_be_kept_small() -> None:
    assert plain_values("[2147483647]", most=2**31 - 1) == [2**31 - 1]
    with pytest.raises(ValueError, match="holds 2147483648"):
        plain_values("[2147483648]", most=2**31 - 1)
