"""The one codec for JSON: text to plain values within limits, and plain values to records and back. What is
read may be anybody's: what passes can be counted with and shown, all else is a ValueError with words.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from engine.core.errors import SetupError
from engine.core.formatting import quoted

Record = TypeVar("Record")
Default = TypeVar("Default")

MOST_LEVELS = 40  # lists and objects within each other; ours have seven at most
LARGEST = (1 << 63) - 1
"""The largest whole number of 64 bits, which every floating-point number is large enough for."""
_MOST_DIGITS = 20
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[][{}]', re.DOTALL)
"""Texts, which may hold brackets, and the brackets outside of them."""


def plain_values(text: str | bytes, most: int = LARGEST) -> Any:
    """What a JSON text says. ValueError with words also for a key named twice, odd numbers, deep nesting."""
    try:
        text = _decoded(text)
        check_depth(text)
        return json.loads(
            text,
            object_pairs_hook=_once,
            parse_constant=_no_number,
            parse_float=_finite,
            parse_int=partial(_whole, most),
        )
    except json.JSONDecodeError as error:
        raise ValueError(
            f"is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg})"
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text (the byte at offset {error.start:,})") from error


def check_depth(text: str | bytes) -> None:
    """ValueError with words for a text that is nested too deeply to be parsed on a small stack."""
    text = _decoded(text)
    if text.count("[") + text.count("{") <= MOST_LEVELS:
        return
    level = 0
    for mark in _STRUCTURE.finditer(text):
        level += (mark[0] in "[{") - (mark[0] in "]}")
        if level > MOST_LEVELS:
            raise ValueError("is nested too deeply")


def _decoded(text: str | bytes) -> str:
    return text.decode("utf-8-sig") if isinstance(text, bytes) else text


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError where it names a key twice, of which Python's json would keep the last alone."""
    members = dict(pairs)
    if len(members) < len(pairs):
        [(key, times)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"has an object that names the key {quoted(key)} {times} times")
    return members


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


def _whole(most: int, text: str) -> int:
    value = int(text) if len(text) <= _MOST_DIGITS else math.inf
    return int(value) if abs(value) <= most else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"holds {text[:_MOST_DIGITS]}, which is not a usable number")


def plain(record: object) -> Any:
    return msgspec.to_builtins(record, enc_hook=_plain_of)


def record_of(values: object, kind: type[Record]) -> Record:
    """What `plain` gave; unknown keys are passed over. ValueError with the place, or the record's own."""
    try:
        return msgspec.convert(values, kind, dec_hook=_other_kind_of)
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(str(error), values)) from error


def record_or(values: object, kind: type[Record], default: Default) -> Record | Default:
    """The same of values that may be damaged, or `default` in its place."""
    try:
        return record_of(values, kind)
    except (ValueError, SetupError):
        return default


def _plain_of(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value)} is no plain value")


def _other_kind_of(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str) and value and "\0" not in value:
        return Path(value)
    raise ValueError("it is not a path" if kind is Path else f"it is not a {kind.__name__}")


_PLACE = re.compile(r" - at (?:`key` in )?`\$(?P<place>[^`]*)`$")
_STEPS = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
_GOT = re.compile(r", got `(\w+)`$")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_KIND = re.compile(r"`([\w| ]+)`")
_KINDS: Mapping[str, tuple[str, tuple[type, ...]]] = {
    "bool": ("true or false", (bool,)),
    "int": ("a whole number", (int,)),
    "float": ("a number", (float,)),
    "str": ("a text", (str,)),
    "object": ("an object", (dict,)),
    "array": ("a list", (list, tuple)),
    "null": ("nothing", (type(None),)),
}


def _in_words(said: str, values: object) -> str:
    """What msgspec says of values, in the words of users, with the place and what was found there."""
    place = found["place"] if (found := _PLACE.search(said)) else ""
    said = _PLACE.sub("", said)
    got, missing = _GOT.search(said), _MISSING.fullmatch(said)
    # msgspec writes `[...]` for any key: of all such places the one that is meant is told.
    there = [
        (at, value)
        for at, value in _places(values, _STEPS.findall(place))
        if not (got and type(value) not in _KINDS[got[1]][1])
        and (not missing or (isinstance(value, dict) and missing[1] not in value))
    ]
    one = there[0] if there and (got or len(there) == 1) else None
    if missing:
        said = f"{missing[1]!r} is missing"
    elif said.startswith("Invalid enum value"):
        said = f"found {said.removeprefix('Invalid enum value ')}, which is not known here"
    elif said.startswith("Expected"):
        said = _KIND.sub(_kinds_in_words, _GOT.sub("", said).replace("Expected", "expected", 1))
        said = f"found {_value_in_words(one[1])}, {said}" if one else said
    place = (one[0] if one else place).lstrip(".").replace("[...]", "[…]")
    return f"{place}: {said}" if place else said


def _kinds_in_words(found: re.Match[str]) -> str:
    return " or ".join(_KINDS[name][0] if name in _KINDS else name for name in found[1].split(" | "))


def _value_in_words(value: object) -> str:
    if isinstance(value, dict | list | tuple):
        return _KINDS["object" if isinstance(value, dict) else "array"][0]
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _places(value: Any, steps: Sequence[tuple[str, str]], place: str = "") -> Iterator[tuple[str, Any]]:
    if not steps:
        yield place, value
        return
    (name, at), *rest = steps
    if isinstance(value, dict):
        for key in [name] if name else value:
            if key in value:
                yield from _places(value[key], rest, f"{place}.{key}")
    elif isinstance(value, list | tuple) and at.isdecimal() and int(at) < len(value):
        yield from _places(value[int(at)], rest, f"{place}[{at}]")
