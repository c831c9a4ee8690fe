"""Read a record of this program's own from a JSON file: all that is odd in it is refused with the reason.

Read the records of JSON and JSON Lines, numbers as they are written.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from engine.core.codec import plain_values
from engine.core.errors import Hint, InputError
from engine.core.formatting import quoted
from engine.data.file_format import MOST_TEXT, read_data_file


class JsonNumber(str):
    """A number as it stands in the file: `7`, `1.0`, `1e5`, `NaN`. float() reads it."""

    __slots__ = ()


class JsonRecord(NamedTuple):
    """`number` counts records (JSON) or lines (JSON Lines) from 1; `value` is any JSON value."""

    number: int
    value: object


class TextRecord(JsonRecord):
    """The same of an object of sound texts, none of which is too long: there is nothing to check."""

    __slots__ = ()
    value: dict[str, str]


class JsonProblem(Exception):
    """Bytes that are no JSON, or no list of records; the text says what and where."""


class NotUtf8(JsonProblem):
    """Bytes that are no text to begin with."""


class _RepeatedKey(Exception):
    """An object names a key twice; Python's json would keep the last value alone."""


def read_json(
    data: bytes, start: int = 0, key: str = "", known_keys: Callable[[], Collection[str]] = tuple
) -> list[JsonRecord]:
    """The records of a JSON file: a list, or an object that holds exactly one list of records, or one under a
    `key`, such as `results.data`, or just one under `known_keys`,
    which are asked for where there are several lists alone.

    Raises JsonProblem where the bytes are anything else.
    """
    value = parse_json(data[start:], start)
    if isinstance(value, dict):
        value = _under(value, key) if key else _only_list(value, known_keys)
    if not isinstance(value, list):
        raise JsonProblem("contains one value, not a list of records.")
    return [JsonRecord(number, record) for number, record in enumerate(value, start=1)]


def read_json_lines(blocks: Iterable[bytes], start: int = 0) -> Iterator[JsonRecord | JsonProblem]:
    """The record of each line that is not blank, or the problem of that line. `blocks`: the bytes of a file,
    in parts of any length; `start`: how many of the first ones are none of its text.
    """
    number = 0
    for text in _whole_lines(blocks, start):
        for line, quotes in zip(text.split(b"\n"), _quotes_in_lines(text), strict=True):
            number += 1
            if line and not line.isspace():
                try:
                    plain = _plain_object(line, quotes)
                    yield (
                        TextRecord(number, plain)
                        if plain
                        else JsonRecord(number, parse_json(line, start, number))
                    )
                except JsonProblem as problem:
                    yield problem
            start += len(line) + 1


def _whole_lines(blocks: Iterable[bytes], start: int) -> Iterator[bytes]:
    """The same bytes in parts that are lines, without the end of the last one of each."""
    held: list[bytes] = []  # of a line that has not ended yet
    for block in blocks:
        whole, ends, rest = block[start:].rpartition(b"\n")
        if ends:
            yield b"".join((*held, whole))
            held = []
        held.append(rest)
        start = 0
    yield b"".join(held)


def _quotes_in_lines(text: bytes) -> list[int]:
    """Of each line the number of quotes that have no backslash before them; -1 where one has several."""
    data = np.frombuffer(text, np.uint8)
    quotes, ends = np.flatnonzero(data == ord('"')), np.flatnonzero(data == ord("\n"))
    escaped = data[quotes - 1] == ord("\\")
    doubled = quotes[escaped & (data[quotes - 2] == ord("\\"))]
    met = np.searchsorted(quotes[~escaped], [*ends, len(data)])
    counts = np.diff(met, prepend=0)
    counts[np.searchsorted(ends, doubled)] = -1
    found: list[int] = counts.tolist()
    return found


def _plain_object(line: bytes, quotes: int) -> dict[str, str] | None:
    """What `parse_json` makes of an object of texts, in a third of the time; None for anything else."""
    # What msgspec takes for one, json does. But of a key that is named twice it keeps the last value: then
    # the line has more quotes than those around what is kept.
    if len(line) > MOST_TEXT:
        return None
    try:
        value = _OF_TEXTS.decode(line)
    except (msgspec.DecodeError, ValueError):
        return None
    return value if quotes == 4 * len(value) else None


def parse_json(data: bytes, offset: int = 0, line: int = 0) -> object:
    """The value that bytes spell; JsonProblem names the line and column of an error. `offset`: where in a
    file the bytes begin; `line`: the number of the only line that they are, 0 where they may be several.
    """
    try:
        return parse_text(data.decode("utf-8"), line)
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + (line or 1)
        raise NotUtf8(f"line {number}: {undecodable(error, offset)}") from error


def parse_text(text: str, line: int = 0) -> object:
    """The same of a text, such as that of a cell."""
    place = max(line - 1, 0)
    try:
        return _DECODER.decode(text)
    except _RepeatedKey as error:
        within, key = _repeated_key(text)
        raise JsonProblem(f"line {place + within}: an object names the key {quoted(key)} twice.") from error
    except json.JSONDecodeError as error:
        where = f"line {place + error.lineno}, column {error.colno}"
        if error.msg == "Extra data" and not line:
            hint = "a second value begins; if each line is a record, give the file the suffix .jsonl"
            raise JsonProblem(f"{where}: {hint}.") from error
        raise JsonProblem(f"{where}: invalid JSON ({error.msg}).") from error
    except RecursionError as error:
        before = f"line {line}: " if line else ""
        raise JsonProblem(f"{before}lists or objects are nested too deeply.") from error


def cell_text(value: object) -> str:
    """What a JSON value says as the text of a cell: null is empty, lists and objects stay JSON.

    RecursionError where it is nested more deeply than Python can follow.
    """
    if isinstance(value, str):
        return str(value)
    return "" if value is None else _dump(value)


def undecodable(error: UnicodeDecodeError, offset: int) -> str:
    """Says which byte of the file is not UTF-8; `offset` is where the decoded bytes began."""
    byte = error.object[error.start]
    return f"byte 0x{byte:02x} at offset {offset + error.start:,} is not UTF-8."


def _under(value: object, key: str) -> object:
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if not _is_list_of_records(value):
        raise JsonProblem(f"contains no list of records under {quoted(key)}.")
    return value


def _only_list(value: dict[str, object], known_keys: Callable[[], Collection[str]]) -> object:
    lists = {key: inner for key, inner in value.items() if _is_list_of_records(inner)}
    if not lists:
        below = dict(_lists_below(value))
        known = [way for way in below if way in known_keys()] if len(below) > 1 else []
        if len(known) == 1 or len(below) == 1:
            return below[known[0]] if known else next(iter(below.values()))
        if below:
            raise _several(below)
        raise JsonProblem("is an object without a list of records.")
    (records, *_) = lists.values()
    # One below would be omitted without a word, as the second split of a dataset; a list of authors may be.
    names = [*lists, *(name for name, inner in _lists_below(value) if _are_alike(records, inner))]
    if len(names) > 1:
        known = [name for name in names if name in known_keys()]
        known += [name for name, inner in lists.items() if are_numbered(inner)]
        if len(known) == 1:
            return _under(value, known[0])
        raise _several(names)
    return records


def _several(lists: Collection[str]) -> JsonProblem:
    return JsonProblem(f"contains {len(lists)} lists of records ({', '.join(lists)}), but one is allowed.")


def are_numbered(values: object) -> bool:
    """Whether each record stands in an object with its number, as Hugging Face's dataset viewer gives it."""
    return isinstance(values, list) and all(
        isinstance(value, dict) and {"row_idx", "row"} <= value.keys() for value in values
    )


def inside_of(values: Sequence[object]) -> str:
    """The key under which all of each record lies, beside a few short values; empty where there is none."""
    keys: set[str] = set()
    for value in values:
        if not isinstance(value, dict) or len(value) > 1 + _MOST_BESIDE:
            return ""
        if "type" in value:  # a log, whose events hold one thing or another
            return ""
        objects = [key for key in _WRAPPERS & value.keys() if isinstance(value[key], dict)]
        others = [inner for key, inner in value.items() if key not in objects]
        if len(objects) != 1 or any(isinstance(each, list) for each in others):
            return ""
        keys.update(objects)
    return keys.pop() if len(keys) == 1 else ""


def lifted(records: Iterable[JsonRecord | JsonProblem], inside: str) -> Iterator[JsonRecord | JsonProblem]:
    """The same with what lies inside one level up, beside what stood there."""
    for record in records:
        value = record.value if isinstance(record, JsonRecord) else None
        if isinstance(record, JsonRecord) and isinstance(value, dict) and isinstance(value.get(inside), dict):
            outer = {key: each for key, each in value.items() if key != inside}
            yield JsonRecord(record.number, {**outer, **value[inside]})
        else:
            yield record


def _lists_below(value: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The lists of records in the objects of an object, each with its way there: `test.data`."""
    waiting = [(key, inner) for key, inner in value.items() if isinstance(inner, dict)]
    while waiting:  # no recursion: objects may be nested as deeply as Python can follow
        method, outer = waiting.pop()
        for key, inner in outer.items():
            if isinstance(inner, dict):
                waiting.append((f"{method}.{key}", inner))
            elif _is_list_of_records(inner):
                yield f"{method}.{key}", inner


def _are_alike(records: object, others: object) -> bool:
    """Whether a record among the others has all the keys that the first of the records has."""
    assert isinstance(records, list)
    assert isinstance(others, list)
    keys = next(record.keys() for record in records if isinstance(record, dict))
    return any(isinstance(other, dict) and keys <= other.keys() for other in others)


def _is_list_of_records(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(record, dict) for record in value)


def _dump(value: object) -> str:
    """JSON of a parsed value, as json.dumps writes it but with numbers as they were written."""
    if isinstance(value, JsonNumber):
        return str(value)
    if isinstance(value, dict):
        members = (f"{_dump(key)}: {_dump(inner)}" for key, inner in value.items())
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_dump, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _RepeatedKey
    return members


def _repeated_key(text: str) -> tuple[int, str]:
    """The line of the first key that its object has named before, and the key; the text has one."""
    open_objects: list[set[str] | None] = []  # the keys so far; None for a list
    for found in _STRUCTURE.finditer(text):
        mark = found[0]
        if mark in "{[":
            open_objects.append(set() if mark == "{" else None)
        elif mark in "}]":
            open_objects.pop()
        elif (keys := open_objects[-1] if open_objects else None) is not None and found["key"]:
            key = json.loads(found["key"])
            if key in keys:
                return text.count("\n", 0, found.start()) + 1, key
            keys.add(key)
    raise AssertionError("no key is named twice")


_MOST_BESIDE = 6
_WRAPPERS = frozenset(
    (
        *("data", "record", "row", "fields", "item", "example", "sample", "entry", "doc", "payload"),
        *("features", "content", "value", "node"),
    )
)
_STRING = r'"(?:[^"\\]|\\.)*"'
_STRUCTURE = re.compile(rf"[{{}}\[\]]|(?P<key>{_STRING})(?=\s*:)|{_STRING}", re.DOTALL)
_OF_TEXTS = msgspec.json.Decoder(dict[str, str])
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=JsonNumber, parse_int=JsonNumber, parse_constant=JsonNumber
)


Made = TypeVar("Made")


def load_record(path: Path, what: str, made_of: Callable[[Any], Made], hint: Hint | str) -> Made:
    """What `made_of` makes of the values in a file. `what`: in words of users, `a calibration`.

    SetupError where the file cannot be read; InputError where `plain_values` refuses it, and where `made_of`
    raises AttributeError, KeyError, OverflowError, TypeError or ValueError.
    """
    _, data = read_data_file(path)
    try:
        values = plain_values(data)
    except ValueError as error:
        raise InputError(path, [f"is not {what}: it {error}."], hint) from error
    try:
        return made_of(values)
    except KeyError as error:
        raise InputError(path, [f"is not {what}: {error} is missing."], hint) from error
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise InputError(path, [f"is not {what}: {error}."], hint) from error
