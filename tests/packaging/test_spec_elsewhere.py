"""The description of the bundle as other systems evaluate it, with a record in the place of PyInstaller."""

import sys
import zipfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import build_environment  # noqa: F401 - these ask for the system when they are imported: here, as it is
import licences
import pytest
import reachable  # noqa: F401
from bundle_contents import LEFT_OUT_AT_START

import gui.window.dialogs  # noqa: F401
from engine.core import VERSION
from tests.commands import ROOT

SPEC = ROOT / "packaging" / "tiebreak.spec"
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
            for name in (
                "FixedFileInfo",
                "StringFileInfo",
                "StringStruct",
                "StringTable",
                "VarFileInfo",
                "VarStruct",
            )
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
    exec(
        compile(SPEC.read_text("utf-8"), SPEC, "exec"),
        {**space, **{kind: made.record(kind) for kind in kinds}},
    )
    return made


def test_windows_gets_two_programs_one_of_them_for_a_console(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = evaluated("win32", tmp_path, monkeypatch)
    assert [(exe["name"], exe["console"]) for exe in made.of("EXE")] == [
        ("Tiebreak", False),
        ("tiebreak-cli", True),
    ]
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
