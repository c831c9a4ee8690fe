"""Read a record of this program's own from a JSON file: all that is odd in it is refused with the reason.

Knows: JSON, what no number is. Does not know: what the record holds.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from engine.core.errors import InputError
from engine.core.formatting import quoted
from engine.core.remedies import Remedy
from engine.data.file_format import read_data_file

Made = TypeVar("Made")


def load_record(path: Path, what: str, made_of: Callable[[Any], Made], remedy: Remedy | str) -> Made:
    """What `made_of` makes of the values in a file. `what`: of people's words, `calibration`.

    SetupError where the file cannot be read; InputError where it is no JSON, has a key twice or what is no
    number, and where `made_of` raises AttributeError, KeyError, OverflowError, TypeError or ValueError.
    """
    _, data = read_data_file(path)
    try:
        return made_of(
            json.loads(data, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite)
        )
    except KeyError as error:
        raise InputError(path, [f"is not a {what}: {error} is missing."], remedy) from error
    except RecursionError as error:
        problem = f"is not a {what}: its lists or objects are nested too deeply."
        raise InputError(path, [problem], remedy) from error
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise InputError(path, [f"is not a {what}: {error}."], remedy) from error


def real_number(value: object) -> float:
    """A plain value that is a number; TypeError for any other."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{quoted(str(value))} stands in the place of a number")
    return float(value)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ValueError where it names a key twice, of which Python's json would keep the last alone."""
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            raise ValueError(f"an object names the key {quoted(key)} {times} times")
    return dict(pairs)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _no_number(text)
    return value


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} stands in the place of a number")
