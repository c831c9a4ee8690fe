"""What notebooks are given: names, types and meanings of columns, and the first rows."""

import warnings
from collections.abc import Callable

import pandas as pd
import pytest

import tiebreak
from tests.golden.steps import FRAMES

_ROWS = 2


def text_of(value: object) -> str:
    """Whatever is given, as text; a frame by its columns and first rows."""
    if isinstance(value, pd.DataFrame):
        meanings = value.attrs.get("meaning", {})
        columns = [f"{name}: {kind}; {meanings.get(name)}" for name, kind in value.dtypes.items()]
        return "\n".join(
            [f"index {list(value.index.names)}", *columns, value.head(_ROWS).to_csv(lineterminator="\n")]
        )
    if isinstance(value, dict):
        return "\n".join(f"== {name}\n{text_of(each)}" for name, each in value.items())
    return f"{value!r}\n"


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("name", FRAMES)
def test_notebooks_are_given_what_they_were(name: str, golden: Callable[[str, str], None]) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", tiebreak.Notice)
        text = text_of(eval(FRAMES[name], {"tiebreak": tiebreak}))
    golden(f"frames/{name}.txt", text + "".join(f"--- notice\n{each.message}\n" for each in told))
