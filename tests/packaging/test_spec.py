"""The description of the bundle names every file that the program reads beside its Python."""

import ast
from pathlib import Path, PurePosixPath

import pytest

from engine.system.paths import demo_dataset, demo_model
from tests.commands import ROOT

SPEC = ROOT / "packaging" / "tiebreak.spec"


def bundled(source: str) -> dict[str, str]:
    """What of the project a description takes along: its path, and its folder in the bundle."""
    taken = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            origin, folder = node.elts
            path = path_below_root(origin)
            if path and isinstance(folder, ast.Constant):
                taken[path] = str(folder.value)
    return taken


def path_below_root(node: ast.expr) -> str | None:
    """`str(ROOT / "a" / "b")` as `a/b`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"):
        return None
    parts: list[str] = []
    inner = node.args[0]
    while isinstance(inner, ast.BinOp) and isinstance(inner.right, ast.Constant):
        parts.insert(0, str(inner.right.value))
        inner = inner.left
    return "/".join(parts) if parts and isinstance(inner, ast.Name) and inner.id == "ROOT" else None


def forgotten(root: Path, taken: dict[str, str]) -> list[str]:
    """The files in the rooms of the program that are not Python and do not get to the same place."""
    files = [
        path.relative_to(root)
        for room in ("engine", "gui")
        for path in sorted((root / room).rglob("*"))
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    ]
    return [file.as_posix() for file in files if taken.get(file.as_posix()) != file.parent.as_posix()]


TAKEN = bundled(SPEC.read_text("utf-8"))


def test_every_file_that_is_not_python_is_taken_along() -> None:
    assert not forgotten(ROOT, TAKEN)


def test_the_test_sees_a_forgotten_file(tmp_path: Path) -> None:
    for name in ("engine/words.json", "engine/code.py", "gui/pages/sign.svg", "gui/mark.svg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    taken = bundled(
        'datas = [(str(ROOT / "gui" / "mark.svg"), "gui"), (str(ROOT / "engine" / "words.json"), "gui")]'
    )
    assert forgotten(tmp_path, taken) == ["engine/words.json", "gui/pages/sign.svg"]


@pytest.mark.parametrize("path", sorted(TAKEN))
def test_what_is_named_is_there_and_lands_where_it_lies_here(path: str) -> None:
    assert (ROOT / path).exists()
    # The contents of a folder land in the folder that is named, a file beside its name.
    lands = PurePosixPath(TAKEN[path]) / ("" if (ROOT / path).is_dir() else PurePosixPath(path).name)
    assert lands == PurePosixPath(path)


@pytest.mark.parametrize(
    "path", [demo_model(), demo_model().with_suffix(".md"), demo_dataset()], ids=lambda path: path.name
)
def test_the_demo_comes_along(path: Path) -> None:
    inside = path.relative_to(ROOT)
    assert inside.as_posix() in TAKEN or inside.parent.as_posix() in TAKEN
