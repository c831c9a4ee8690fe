"""JSON that may be anybody's: read within limits, so that whatever was read can be counted with and shown.

Knows: JSON. Does not know: what the values mean.
"""

import json
import math
from functools import partial
from typing import Any, NoReturn

MOST_LEVELS = 40
"""Lists and objects within each other; ours have seven at most."""
LARGEST = (1 << 63) - 1
"""The largest whole number of 64 bits, which every floating-point number is large enough for."""
_MOST_DIGITS = 20


def plain_values(text: str | bytes, most: int = LARGEST) -> Any:
    """What a JSON text says, with whole numbers up to `most`. ValueError with words for people else.

    Refused are also numbers that are none or that no computer counts with, and values that are nested so
    deeply that to walk through them would break down.
    """
    try:
        value = json.loads(
            text, parse_constant=_no_number, parse_float=_finite, parse_int=partial(_whole, most)
        )
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError("is no JSON") from error
    if levels(value) > MOST_LEVELS:
        raise ValueError("is nested too deeply")
    return value


def levels(value: object) -> int:
    """How many lists and objects are within each other at most; 0 for a plain value."""
    # Without recursion, which the depth that is looked for would break.
    deepest, left = 0, [(value, 1)]
    while left:
        here, level = left.pop()
        inner = here.values() if isinstance(here, dict) else here if isinstance(here, list) else None
        if inner is not None:
            deepest = max(deepest, level)
            left += [(each, level + 1) for each in inner if isinstance(each, dict | list)]
    return deepest


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
    raise ValueError(f"holds {text[:_MOST_DIGITS]}, which is no number to count with")
