"""What commands print of a stored study, and the files that they write."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow import parquet

from tests.golden import program
from tests.golden.compared import page_text
from tests.golden.steps import STEPS, Step

_CASES = [pytest.param(step, id=step.name, marks=[pytest.mark.slow] if step.slow else []) for step in STEPS]


def text_of(path: Path) -> str:
    """A file as text: an HTML page's text, a Parquet file's columns and rows."""
    if path.suffix == ".parquet":
        read = parquet.read_table(path)
        columns = [f"{field.name}: {field.type}\n" for field in read.schema]
        return "".join([*columns, *(json.dumps(row, ensure_ascii=False) + "\n" for row in read.to_pylist())])
    text = path.read_bytes().decode()
    return page_text(text) if path.suffix == ".html" else text


@pytest.mark.parametrize("step", _CASES)
def test_output_and_files_are_as_they_were(
    step: Step, study: Path, private_home: Path, golden: Callable[[str, str], None]
) -> None:
    texts = [program.printed(line) for line in step.lines.split("\n")]
    golden(f"steps/{step.name}.txt", "----\n".join(texts))
    for name in step.files:
        path = study / name.replace("{home}", str(private_home))
        golden(f"steps/{step.name}.{path.name}", text_of(path))
