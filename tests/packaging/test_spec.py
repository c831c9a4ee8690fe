"""The description of the bundle names every file that the program reads beside its Python."""

import ast
import sys
import zipfile
from pathlib import Path, PurePosixPath
from types import ModuleType, SimpleNamespace
from typing import Any

import build_environment  # noqa: F401 - these ask for the system when they are imported: here, as it is
import licences
import pytest
import reachable  # noqa: F401
from bundle_contents import LEFT_OUT_AT_START

import gui.window.dialogs  # noqa: F401
from engine.core import VERSION
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


TAKEN = bundled(SPEC.read_text("utf-8"))


def test_every_file_that_is_not_python_is_taken_along() -> None:
    files = [
        path.relative_to(ROOT)
        for room in ("engine", "gui")
        for path in sorted((ROOT / room).rglob("*"))
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    ]
    whole = {path for path, lands in TAKEN.items() if path == lands}  # folders with all that is in them
    left = [file for file in files if file.parent.as_posix() not in whole]
    assert not [file for file in left if TAKEN.get(file.as_posix()) != file.parent.as_posix()]


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


GIVEN = {
    "win32": (r"PySide6\plugins\platforms\qwindows.dll", r"PySide6\plugins\sqldrivers\qsqlite.dll"),
    "darwin": (
        "PySide6/Qt/plugins/platforms/libqcocoa.dylib",
        "PySide6/Qt/plugins/sqldrivers/libqsqlite.dylib",
    ),
}
"""On each system a library that belongs into the bundle, and one that does not, named as there."""


class Made(list[tuple[str, tuple[Any, ...], dict[str, Any]]]):
    """What the description asks PyInstaller to make, in order."""

    def record(self, kind: str) -> Any:
        def make(*given: Any, **named: Any) -> str:
            self.append((kind, given, named))
            return kind

        return make

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [named for made, _, named in self if made == kind]


def evaluated(system: str, work: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """The description, evaluated on a system."""
    made = Made()
    with zipfile.ZipFile(work / "base_library.zip", "w"):
        pass  # PyInstaller's, of Python's own modules
    entries = [(name, str(work / "library"), "BINARY") for name in GIVEN[system]]
    scripts = [(name, str(work / name), "PYSOURCE") for name in sorted(LEFT_OUT_AT_START)]
    found = SimpleNamespace(scripts=[*scripts, ("main", "", "")], binaries=entries, datas=[], pure=[])
    modules: dict[str, dict[str, Any]] = {
        "PyInstaller.utils.hooks": {
            "collect_submodules": lambda name: [name],
            "copy_metadata": lambda name: [(name, ".")],
        },
        "PyInstaller.utils.win32.versioninfo": {
            name: lambda *words, **numbers: (words, numbers)
            for name in [
                "FixedFileInfo",
                "StringFileInfo",
                "StringStruct",
                "StringTable",
                "VarFileInfo",
                "VarStruct",
            ]
        }
        | {"VSVersionInfo": lambda numbers, _: numbers[0]},
    }
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(licences, "collect_licences", lambda *_: [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "platform", system)
    space = {"SPECPATH": str(SPEC.parent), "workpath": str(work), "Analysis": lambda *_, **__: found}
    kinds = ("PYZ", "EXE", "COLLECT", "BUNDLE")
    recorded = {kind: made.record(kind) for kind in kinds}
    exec(compile(SPEC.read_text("utf-8"), SPEC, "exec"), {**space, **recorded})
    return made


def test_windows_gets_two_programs_one_of_them_for_a_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = evaluated("win32", tmp_path, monkeypatch)
    programs = [(exe["name"], exe["console"]) for exe in made.of("EXE")]
    assert programs == [("Tiebreak", False), ("tiebreak-cli", True)]
    assert {Path(exe["icon"]).name for exe in made.of("EXE")} == {"tiebreak.ico"}
    numbers = tuple(map(int, VERSION.split(".")))
    assert {exe["version"] for exe in made.of("EXE")} == {((*numbers, 0),) * 2}
    assert not made.of("BUNDLE")


def test_a_mac_gets_an_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = evaluated("darwin", tmp_path, monkeypatch)
    ((exe,), (bundle,)) = made.of("EXE"), made.of("BUNDLE")
    assert (exe["name"], exe["console"], exe["version"]) == ("tiebreak", False, None)
    assert (bundle["name"], bundle["version"]) == ("Tiebreak.app", VERSION)
    assert {Path(one["icon"]).name for one in (exe, bundle)} == {"tiebreak.icns"}


@pytest.mark.parametrize("system", GIVEN)
def test_what_does_not_belong_is_left_out_there_too(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = evaluated(system, tmp_path, monkeypatch)
    ((_, (_, *_, binaries, _), _),) = [each for each in made if each[0] == "COLLECT"]
    assert [entry[0] for entry in binaries] == [GIVEN[system][0]]
