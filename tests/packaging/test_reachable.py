"""Which shared libraries stay in a bundle, tried with real ones of Qt and Python."""

import sys
from pathlib import Path

import PySide6
import pytest
import shiboken6

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only a bundle on Linux is thinned out like this"
)

if sys.platform == "linux":
    from reachable import Entry, without_unreachable

QT = Path(PySide6.__file__).parent
EXTENSION = ("PySide6/QtSvg.abi3.so", str(QT / "QtSvg.abi3.so"), "EXTENSION")


def library(name: str) -> "Entry":
    return (f"PySide6/Qt/lib/{name}", str(QT / "Qt" / "lib" / name), "BINARY")


def top(path: Path) -> "Entry":
    """A library as PyInstaller puts it when it knows no better place: at the top."""
    return (path.name, str(path), "BINARY")


SVG, GUI, DBUS, CORE, NETWORK = (
    library(f"libQt6{name}.so.6") for name in ("Svg", "Gui", "DBus", "Core", "Network")
)


def test_what_an_extension_is_linked_with_stays_also_through_another_library() -> None:
    entries = [NETWORK, CORE, DBUS, GUI, SVG, EXTENSION]
    assert without_unreachable(entries) == [CORE, DBUS, GUI, SVG, EXTENSION]


def test_without_what_is_linked_with_them_libraries_go() -> None:
    lonely = (EXTENSION[0].replace("Svg", "Core"), str(QT / "QtCore.abi3.so"), "EXTENSION")
    assert without_unreachable([SVG, GUI, DBUS, CORE, lonely]) == [CORE, lonely]
    assert without_unreachable([SVG, GUI, CORE]) == []


def test_a_library_at_the_top_stays_where_something_is_linked_with_it() -> None:
    shiboken = next(Path(shiboken6.__file__).parent.glob("libshiboken6*.so*"))
    assert without_unreachable([top(shiboken), EXTENSION]) == [top(shiboken), EXTENSION]
    assert without_unreachable([top(shiboken)]) == []


def test_plugins_and_libraries_in_the_folder_of_their_package_stay_though_nothing_is_linked_with_them() -> (
    None
):
    plugin = "Qt/plugins/imageformats/libqsvg.so"
    entries = [
        (f"PySide6/{plugin}", str(QT / plugin), "BINARY"),
        ("llama_cpp/lib/libggml-cpu-haswell.so", str(QT / "Qt/lib/libQt6Core.so.6"), "BINARY"),
    ]
    assert without_unreachable(entries) == entries


def test_python_itself_stays() -> None:
    python = ("libpython3.11.so.1.0", sys.executable, "BINARY")
    assert without_unreachable([python]) == [python]


def test_two_files_of_one_name_both_stay() -> None:
    twins: list[Entry] = [GUI, top(QT / "Qt" / "lib" / "libQt6Gui.so.6")]
    assert without_unreachable([*twins, EXTENSION]) == [*twins, EXTENSION]


def test_what_is_linked_only_through_a_library_that_is_not_bundled_goes() -> None:
    # QtSvg needs QtGui, and that QtDBus: as libXdmcp of the system needs libbsd, which no file of ours does.
    assert without_unreachable([EXTENSION, SVG, DBUS]) == [EXTENSION, SVG]
