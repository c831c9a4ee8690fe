"""The list of a bundle's parts: whose each file is, and the list as CycloneDX has it."""

import hashlib
import json
import shutil
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import PySide6
import pytest
import rouge_score
from parts import Origin, Part, package_terms, parts_of
from sbom import NAME, sbom, write_checksums, write_sbom

from engine.core import VERSION
from engine.system.paths import demo_dataset, demo_model
from tests.packaging.steps import ran, write

SITE = Path(str(np.__file__)).parents[1]
LLAMA = Path(str(llama_cpp.__file__)).parent / "lib"
MADE = 1_700_000_000


@pytest.fixture(scope="module")
def parts() -> list[Part]:
    """Some parts as they are installed here."""
    files = {
        "numpy/__init__.py": Path(str(np.__file__)),
        f"numpy-{np.__version__}.dist-info/METADATA": next(SITE.glob("numpy-*.dist-info/METADATA")),
        "llama_cpp/lib/libllama.so": next(LLAMA.glob("*llama.*")),
        # Not among what the package says that it put down.
        "llama_cpp/lib/gpu/libggml-vulkan.so": LLAMA / "gpu" / "libggml-vulkan.so",
        "models/demo-judge.gguf": demo_model(),
        "examples/demo.tsv": demo_dataset(),
        "PySide6/QtCore.abi3.so": Path(str(PySide6.__file__)),
        "libsomewhere.so.3": Path(demo_model().anchor, "opt", "libsomewhere.so.3"),
    }
    modules = [
        ("rouge_score", str(rouge_score.__file__)),
        ("json", str(json.__file__)),
        ("engine", "-"),  # a package without a file of its own
    ]
    return parts_of(modules, [(inside, str(source)) for inside, source in files.items()])


@pytest.fixture
def bundle(tmp_path: Path, parts: list[Part]) -> Path:
    """A folder laid out as a bundle, with the files of these parts and two of its own."""
    folder = tmp_path / "bundle"
    inside = [f"_internal/{file}" for part in parts for file in part.files]
    write(folder, **{path: path for path in ("tiebreak", "share/tiebreak.svg", *inside)})
    return folder


def named(parts: list[Part], name: str) -> Part:
    (found,) = [part for part in parts if part.name == name]
    return found


def component(listed: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in listed["components"] if each["name"] == name]
    return dict(found)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_each_file_and_module_is_found_to_be_of_its_part(parts: list[Part]) -> None:
    origins = {part.name: part.origin for part in parts}
    assert origins == {
        "demo-judge": Origin.MODEL,
        "libsomewhere.so.3": Origin.UNKNOWN,
        "llama.cpp": Origin.LLAMA,
        "numpy": Origin.PACKAGE,
        "PySide6_Essentials": Origin.PACKAGE,
        "Python": Origin.PYTHON,
        "rouge_score": Origin.PACKAGE,
        "Tiebreak": Origin.TIEBREAK,
    }
    assert len(named(parts, "llama.cpp").files) == 2
    assert named(parts, "numpy").purl == f"pkg:pypi/numpy@{np.__version__}"
    numpy = named(parts, "numpy")
    assert (numpy.terms, numpy.spdx) == package_terms(distribution("numpy"))
    assert named(parts, "rouge_score").terms == "Apache Software License"  # of no version: not SPDX's
    assert not named(parts, "rouge_score").spdx
    assert list(named(parts, "Python").modules) == ["json"]


@pytest.mark.parametrize(
    ("fields", "terms"),
    [
        (["License-Expression: BSD-3-Clause AND Zlib", "License: a text"], ("BSD-3-Clause AND Zlib", True)),
        (["License: Apache-2.0"], ("Apache-2.0", True)),
        (["License: LGPL-3.0-only OR GPL-2.0-only"], ("LGPL-3.0-only OR GPL-2.0-only", True)),
        (["License: Apache Software License"], ("Apache Software License", False)),  # of no version
        (["Classifier: License :: OSI Approved :: MIT License"], ("MIT", True)),
        (["Classifier: License :: OSI Approved :: BSD License"], ("BSD License", False)),  # which of them
        (
            ["License: Its\n text", "Classifier: License :: OSI Approved :: BSD License"],
            ("BSD License", False),
        ),
        ([], ("not named", False)),
    ],
)
def test_the_terms_of_a_package_are_what_its_records_name(
    tmp_path: Path, fields: list[str], terms: tuple[str, bool]
) -> None:
    (tmp_path / "METADATA").write_text("\n".join(["Name: made", "Version: 1", *fields, ""]), encoding="utf-8")
    assert package_terms(Distribution.at(tmp_path)) == terms


PYTHON, MICROSOFT = "Python", "Microsoft Visual C++ runtime"


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        ("Python312/DLLs/_ssl.pyd", PYTHON),
        ("Python312/DLLs/libcrypto-3.dll", PYTHON),
        ("Python312/DLLs/sqlite3.dll", PYTHON),
        ("Python.framework/Versions/3.12/Python", PYTHON),
        ("Python.framework/Versions/3.12/lib/libssl.3.dylib", PYTHON),
        ("Python312/vcruntime140_1.dll", MICROSOFT),
        ("Python312/Lib/site-packages/numpy.libs/msvcp140-a4c2229bdc2a2a63.dll", MICROSOFT),
        ("Python312/Lib/site-packages/llama_cpp/lib/vcomp140.dll", MICROSOFT),
        ("Python312/Lib/site-packages/nobodys.pyd", "nobodys.pyd"),
        ("conda/Library/bin/mkl.dll", "mkl.dll"),
        ("elsewhere/libssl-3.dll", "libssl-3.dll"),
    ],
)
def test_what_came_with_python_is_pythons_but_for_microsofts_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, owner: str
) -> None:
    bases = ("Python.framework/Versions/3.12", "conda", "Python312")
    (tmp_path / "conda" / "conda-meta").mkdir(parents=True)
    base = next((base for base in bases if path.startswith(base)), "Python312")
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / base))
    (part,) = parts_of([], [(path, str(tmp_path / path))])
    assert part.name == owner
    assert (part.origin is Origin.UNKNOWN) is (owner not in {PYTHON, MICROSOFT})


@pytest.mark.skipif(sys.platform == "win32", reason="the paths are those of Linux")
def test_what_the_system_keeps_beside_python_is_not_pythons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    (part,) = parts_of([], [("libssl.so.9", "/usr/lib/libssl.so.9")])
    assert part.name == "libssl.so.9"


@pytest.mark.skipif(sys.platform != "linux", reason="the names of libraries are those of Linux")
def test_qt_and_icu_are_parts_of_their_own() -> None:
    folder = Path(str(PySide6.__file__)).parent / "Qt" / "lib"
    libraries = [*folder.glob("libQt6Core.so.6"), *folder.glob("libicudata.so.*")]
    found = parts_of([], [(path.name, str(path)) for path in libraries])
    assert [(part.name, part.terms) for part in found] == [("ICU", "Unicode-3.0"), ("Qt", "LGPL-3.0-only")]
    assert found[0].version.isdigit()
    assert found[1].version == distribution("PySide6_Essentials").version


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="not a Debian")
def test_a_library_of_debian_is_its_packages() -> None:
    library = next(Path("/usr/lib").glob("*/libc.so.6"))
    (part,) = parts_of([], [("libc.so.6", str(library))])
    version = ran("dpkg-query", "--show", "--showformat=${Version}", "libc6").stdout
    assert (part.origin, part.name, part.version) == (Origin.DEBIAN, "libc6", version)
    assert part.purl.startswith("pkg:deb/")


def test_parts_come_back_from_their_plain_values(parts: list[Part]) -> None:
    assert [Part.of_json(json.loads(json.dumps(part.as_json()))) for part in parts] == parts


@pytest.mark.slow
def test_the_list_is_valid_cyclonedx(bundle: Path, parts: list[Part]) -> None:
    # Imported here alone: its grammars of addresses take seconds to make, in each process of the tests.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    validator = JsonStrictValidator(SchemaVersion.V1_6)
    text = json.dumps(sbom(bundle, parts, MADE))
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace("SHA-256", "SHA-257", 1)) is not None


def test_a_part_of_one_file_has_its_sum_and_others_that_of_the_list_of_sums(
    bundle: Path, parts: list[Part]
) -> None:
    listed = sbom(bundle, parts, MADE)
    model = component(listed, "demo-judge")
    assert model["hashes"] == [{"alg": "SHA-256", "content": digest("_internal/models/demo-judge.gguf")}]
    assert model["properties"][0]["value"] == "the file _internal/models/demo-judge.gguf"
    paths = [f"_internal/{path}" for path in named(parts, "numpy").files]
    lines = "".join(f"{digest(path)}  {path}\n" for path in paths)
    numpy = component(listed, "numpy")
    assert numpy["hashes"][0]["content"] == digest(lines)
    assert "2 files of the bundle" in numpy["properties"][0]["value"]
    assert "the sources of 1 modules" in component(listed, "rouge_score")["properties"][0]["value"]


def test_what_came_with_no_part_is_the_programs_and_any_change_of_it_is_seen(
    bundle: Path, parts: list[Part]
) -> None:
    before = sbom(bundle, parts, MADE)["metadata"]["component"]
    assert (before["name"], before["version"]) == ("Tiebreak", VERSION)
    assert "3 files" in before["properties"][0]["value"]  # with an example
    (bundle / "tiebreak").write_text("another", encoding="ascii")
    assert sbom(bundle, parts, MADE)["metadata"]["component"]["hashes"] != before["hashes"]


def test_the_list_is_the_same_each_time_and_is_none_of_what_it_lists(
    bundle: Path, tmp_path: Path, parts: list[Part]
) -> None:
    found = tmp_path / "parts.json"
    found.write_text(json.dumps([part.as_json() for part in parts]), encoding="utf-8")
    first = write_sbom(bundle, found, MADE).read_bytes()
    assert write_sbom(bundle, found, MADE).read_bytes() == first
    assert b"2023-11-14T22:13:20Z" in first
    assert (bundle / NAME).read_bytes() == first


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="no sha256sum")
def test_the_sums_are_what_sha256sum_checks(tmp_path: Path) -> None:
    write(tmp_path, **{"b.tar.xz": "b", "a.json": "a"})
    sums = write_checksums([tmp_path / "b.tar.xz", tmp_path / "a.json"])
    command = ("sha256sum", "--check", "--strict", sums.name)
    assert ran(*command, cwd=tmp_path).stdout == "a.json: OK\nb.tar.xz: OK\n"
    (tmp_path / "a.json").write_text("changed", encoding="ascii")
    assert ran(*command, cwd=tmp_path, check=False).returncode == 1
