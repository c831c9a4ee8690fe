"""What goes into a bundle: files, modules, libraries of the system."""

import re

import bundle_contents
import pytest

from gui import screen
from tests.commands import ROOT
from tests.test_layout import PROGRAM, imports

OURS = [path for path in PROGRAM if path.parts[0] != "models"]
LIBRARIES = [name for names in bundle_contents.SYSTEM_LIBRARIES.values() for name in names]


@pytest.mark.parametrize(
    "inside",
    [
        *("PySide6/Qt/plugins/platforms/libqxcb.so", "PySide6/Qt/plugins/platforms/libqwayland.so"),
        *("PySide6/Qt/plugins/platforms/libqoffscreen.so",),
        *("PySide6/Qt/plugins/iconengines/libqsvgicon.so", "PySide6/Qt/plugins/imageformats/libqsvg.so"),
        *("PySide6/Qt/plugins/wayland-shell-integration/libxdg-shell.so",),
        *("PySide6/Qt/plugins/platforms/libqcocoa.dylib", r"PySide6\plugins\platforms\qwindows.dll"),
        *(r"PySide6\plugins\platforms\qoffscreen.dll", r"PySide6\plugins\imageformats\qsvg.dll"),
        *(r"PySide6\plugins\iconengines\qsvgicon.dll", "PySide6/Qt/lib/libQt6Widgets.so.6"),
        *("PySide6/Qt/lib/libQt6Svg.so.6", r"PySide6\Qt6Gui.dll", "PySide6/QtWidgets.abi3.so"),
        *("pyarrow/libarrow.so.2600", "pyarrow/libarrow_substrait.so.2600"),
        *("pyarrow/libarrow_python.so.2600", "pyarrow/_parquet.cpython-311-x86_64-linux-gnu.so"),
        *("libxcb-cursor.so.0", "libstdc++.so.6", "numpy/testing/overrides.py"),
        *("matplotlib/mpl-data/fonts/ttf/DejaVuSans.ttf", "matplotlib/mpl-data/matplotlibrc"),
        *("llama_cpp/lib/libllama.so", "llama_cpp/lib/gpu/libggml-vulkan.so"),
        *(r"llama_cpp\lib\gpu\ggml-vulkan.dll", "examples/demo.tsv", "models/demo-judge.gguf"),
        *("engine/report/report_template.html", "gui/window/mark.svg"),
        *("engine/results/labelling_sheet.html",),
        *("licences/numpy-2.4.6/LICENSE.txt",),
    ],
)
def test_what_the_program_uses_belongs(inside: str) -> None:
    assert bundle_contents.belongs(inside)


@pytest.mark.parametrize(
    "inside",
    [
        *("PySide6/Qt/plugins/platformthemes/libqgtk3.so", "PySide6/Qt/plugins/platforms/libqeglfs.so"),
        *("PySide6/Qt/plugins/platforms/libqvnc.so", r"PySide6\plugins\platforms\qdirect2d.dll"),
        *("PySide6/Qt/plugins/egldeviceintegrations/libqeglfs-x11-integration.so",),
        *("PySide6/Qt/plugins/xcbglintegrations/libqxcb-glx-integration.so",),
        *("PySide6/Qt/plugins/imageformats/libqjpeg.so", r"PySide6\plugins\imageformats\qjpeg.dll"),
        *(r"PySide6\plugins\tls\qschannelbackend.dll", "PySide6/Qt/translations/qt_de.qm"),
        *(r"PySide6\translations\qt_de.qm", "PySide6/Qt/lib/libQt6Network.so.6"),
        *(r"PySide6\Qt6Network.dll", r"PySide6\QtQuick.pyd", r"PySide6\opengl32sw.dll"),
        *("pyarrow/include/arrow/api.h", r"pyarrow\arrow.lib", "pyarrow/lib.pxd"),
        *("pyarrow/libarrow_flight.so.2600", r"pyarrow\arrow_flight.dll"),
        *("pyarrow/_flight.cpython-311-x86_64-linux-gnu.so", "pyarrow/libarrow_python.so"),
        *("pyarrow/libarrow_python.so.2600.0.1", "matplotlib/mpl-data/sample_data/goog.npz"),
        *("PIL/_avif.cpython-311-x86_64-linux-gnu.so", r"PIL\_webp.cp311-win_amd64.pyd", "libX11.so.6"),
        *("llama_cpp/lib/libc.so.6", "numpy/_core/tests/data/recarray_from_file.fits"),
        *(r"numpy\_core\tests\data\recarray_from_file.fits", "sklearn/datasets/data/iris.csv"),
        *("llama_cpp/lib/cmake/llama/llama-config.cmake",),
        *("llama_cpp_python-0.3.36.dist-info/direct_url.json", "vulkan-1.dll"),
        *(r"llama_cpp\lib\gpu\vulkan-1.dll",),
    ],
)
def test_what_nothing_uses_stays_out(inside: str) -> None:
    assert not bundle_contents.belongs(inside)


def test_the_files_that_modules_read_are_named_for_the_bundle() -> None:
    named = (ROOT / "packaging" / "tiebreak.spec").read_text("utf-8")
    files = [path for room in ("engine", "gui") for path in (ROOT / room).rglob("*.*") if path.is_file()]
    read = [path for path in files if path.suffix not in {".py", ".pyc"}]
    assert "migrations.sql" in {path.name for path in read}
    assert not [
        path for path in read if not any(f'"{name}"),' in named for name in (path.name, path.parent.name))
    ]


def test_nothing_imports_a_module_that_is_left_out() -> None:
    # Only what names one is parsed: all that there is takes seconds.
    named = re.compile("|".join({module.split(".")[-1] for module in bundle_contents.LEFT_OUT_MODULES}))
    assert not [
        f"{path}: {used.name}"
        for path in OURS
        if named.search((ROOT / path).read_text("utf-8"))
        for used in imports(path)
        for left_out in bundle_contents.LEFT_OUT_MODULES
        if f"{used.name}.".startswith(f"{left_out}.")
    ]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_of_the_system_is_known_by_its_name_and_stays_out_wherever_it_lies(library: str) -> None:
    assert bundle_contents.is_of_the_system(library)
    assert not bundle_contents.belongs(library)
    assert not bundle_contents.belongs(f"PySide6/Qt/lib/{library}")


def test_the_finder_of_graphics_drivers_stays_out_and_is_not_asked_for() -> None:
    assert bundle_contents.LIBRARIES_FOR_GPUS == {"libvulkan1": ("libvulkan.so.1",)}
    assert bundle_contents.is_for_gpus("libvulkan.so.1")
    assert not bundle_contents.is_of_the_system("libvulkan.so.1")
    assert not bundle_contents.belongs("libvulkan.so.1")


def test_no_library_comes_with_two_packages_of_the_system() -> None:
    assert len(set(LIBRARIES)) == len(LIBRARIES)


@pytest.mark.parametrize("library", ["libxcb-cursor.so.0", "libX11.so", "libX11.so.6.4.0", "libc.so.60"])
def test_other_libraries_are_not_of_the_system(library: str) -> None:
    assert not bundle_contents.is_of_the_system(library)


# The lists of what Linux must have say the same


NEEDED = {**screen.LIBRARIES, **screen.X11_LIBRARIES}
SCRIPT = (ROOT / "packaging" / "system_packages.sh").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "install-and-bundle.md").read_text(encoding="utf-8")


def test_the_page_names_each_package_of_the_system() -> None:
    _, _, about = PAGE.partition("**What Linux needs.**")
    paragraph, _, _ = about.partition("\n\n")
    named = {word.rstrip(".,") for word in paragraph.split()}
    assert named >= (bundle_contents.SYSTEM_LIBRARIES.keys() | bundle_contents.LIBRARIES_FOR_GPUS.keys()) - {
        "libc6"
    }


@pytest.mark.parametrize(("library", "package"), sorted(NEEDED.items()))
def test_the_window_and_the_source_ask_for_a_library_by_the_same_package(library: str, package: str) -> None:
    assert f'"{library}": "{package}"' in SCRIPT


@pytest.mark.parametrize(("library", "package"), sorted(NEEDED.items()))
def test_a_library_that_is_not_bundled_is_documented_by_its_package(library: str, package: str) -> None:
    assert (
        not bundle_contents.is_of_the_system(library) or library in bundle_contents.SYSTEM_LIBRARIES[package]
    )


def test_the_page_has_no_places_left_to_fill() -> None:
    assert not re.findall(r"@[A-Z]+@", PAGE)
