"""The notebooks of examples/: sound as files, and run from their first cell to their last by a kernel."""

import ast
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MOST_SECONDS = 120  # of a cell; a whole one takes about half a minute on two free cores


def opened(path: Path) -> Any:
    """A notebook as nbformat knows it, whose import takes as long as a third of all others: only here."""
    import nbformat

    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]


def code_of(path: Path) -> list[str]:
    """Its cells of code."""
    return [cell.source for cell in opened(path).cells if cell.cell_type == "code"]


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_what_it_printed(path: Path) -> None:
    import nbformat

    nbformat.validate(opened(path))
    cells = [cell for cell in opened(path).cells if cell.cell_type == "code"]
    assert not [cell for cell in cells if cell.outputs or cell.execution_count is not None]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_uses_what_tiebreak_offers(path: Path) -> None:
    import tiebreak

    tree = ast.parse("\n".join(code_of(path)))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "tiebreak"
    }
    assert used
    assert used <= set(tiebreak.__all__)


@pytest.mark.models
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private_home: Path
) -> None:
    import nbclient

    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    )
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(private_home / name.lower()))
    notebook = opened(path)
    client = nbclient.NotebookClient(
        notebook, timeout=MOST_SECONDS, resources={"metadata": {"path": str(tmp_path)}}
    )
    kernels = client.create_kernel_manager()
    assert kernels.kernel_spec is not None
    # This Python, whatever kernels somebody has installed.
    kernels.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    client.execute()
    said = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("text/plain" in output.get("data", {}) for output in said)
    assert not [output for output in said if output.output_type == "error"]
