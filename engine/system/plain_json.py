"""JSON that may be anybody's: read within limits, so that whatever was read can be counted with and shown.

Knows: JSON. Does not know: what the values mean.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

from engine.core.formatting import quoted

MOST_LEVELS = 40
"""Lists and objects within each other; ours have seven at most."""
LARGEST = (1 << 63) - 1
"""The largest whole number of 64 bits, which every floating-point number is large enough for."""
_MOST_DIGITS = 20
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[][{}]', re.DOTALL)
"""Texts, which may hold brackets, and the brackets outside of them."""


def plain_values(text: str | bytes, most: int = LARGEST) -> Any:
    """What a JSON text says, with whole numbers up to `most`. ValueError with words for users else.

    Refused are also an object that names a key twice, numbers that are none or that no computer counts with,
    and values that are nested so deeply that to walk through them would crash.
    """
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
    """Raise ValueError with words for a text that is nested more than MOST_LEVELS deep, or is no UTF-8.

    To be asked before the text is parsed: on a small stack that alone would end the process.
    """
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
    if not math.isfinite(value):
        _no_number(text)
    return value


def _whole(most: int, text: str) -> int:
    value = int(text) if len(text) <= _MOST_DIGITS else None
    if value is None or abs(value) > most:
        _no_number(text)
    return value


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"holds {text[:_MOST_DIGITS]}, which is not a usable number")
