"""Read a record of this program's own from a JSON file: all that is odd in it is refused with the reason.

Knows: how such a file is refused, what no number is. Does not know: JSON, what the record holds.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from engine.core.errors import InputError
from engine.core.formatting import quoted
from engine.core.remedies import Hint
from engine.data.file_format import read_data_file
from engine.system.plain_json import plain_values

Made = TypeVar("Made")


def load_record(path: Path, what: str, made_of: Callable[[Any], Made], hint: Hint | str) -> Made:
    """What `made_of` makes of the values in a file. `what`: of the users' words, `calibration`.

    SetupError where the file cannot be read; InputError where `plain_values` refuses it, and where `made_of`
    raises AttributeError, KeyError, OverflowError, TypeError or ValueError.
    """
    _, data = read_data_file(path)
    try:
        values = plain_values(data)
    except ValueError as error:
        raise InputError(path, [f"is not a {what}: it {error}."], hint) from error
    try:
        return made_of(values)
    except KeyError as error:
        raise InputError(path, [f"is not a {what}: {error} is missing."], hint) from error
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise InputError(path, [f"is not a {what}: {error}."], hint) from error


def real_number(value: object) -> float:
    """A plain value that is a number; TypeError for any other."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{quoted(str(value))} is not a number")
    return float(value)
