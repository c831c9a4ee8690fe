"""The word that names a model, as commands take it: what it leads to, and what is said where it does not."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli.shared.arguments import model_file
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import SetupError
from engine.system.paths import demo_model, models_folder
from tests.commands import ROOT, refusal

SmallModel = Callable[[str], Path]


@pytest.fixture
def put(small_model: SmallModel, private_home: Path) -> Callable[[str], Path]:
    def put(name: str) -> Path:
        models_folder().mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(small_model("headers"), models_folder() / name))

    return put


Put = Callable[[str], Path]


def test_the_demo_model_has_a_word_of_its_own(put: Put) -> None:
    put("demo.gguf")
    assert model_file("demo") == demo_model()


@pytest.mark.parametrize("word", ["sparrow", "./sparrow", "folder/sparrow", "folder"])
def test_a_path_that_is_there_is_taken_as_it_is(
    put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    put("sparrow-folder.gguf")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "sparrow", tmp_path / "folder" / "sparrow"):
        path.touch()
    assert model_file(word) == Path(word)
    assert not capsys.readouterr().err


def test_what_has_a_folder_in_it_is_a_path_where_no_model_is_called_so(put: Put) -> None:
    sparrow = put("sparrow.gguf")
    assert model_file(f"gone/{sparrow.name}") == Path("gone/sparrow.gguf")
    assert model_file(str(Path("gone").absolute() / "sparrow")) == Path("gone").absolute() / "sparrow"


def test_part_of_a_name_is_enough_and_the_file_is_told(put: Put, capsys: pytest.CaptureFixture[str]) -> None:
    sparrow = put("Quiet-Sparrow-1b.gguf")
    assert model_file("sparrow") == sparrow
    assert capsys.readouterr().err == f"sparrow is {sparrow}\n"


def test_a_name_that_nothing_has_is_refused_with_where_to_look(put: Put) -> None:
    put("goose.gguf")
    with pytest.raises(SetupError, match="sparrow: there is no such file here, and no model") as caught:
        model_file("sparrow")
    assert "main.py models lists" in OPTIONS.of(caught.value.hint)


@pytest.mark.parametrize(("models", "listed", "rest"), [(2, 2, ""), (10, 10, ""), (12, 10, "  and 2 more.")])
def test_a_name_of_several_is_refused_with_their_files(put: Put, models: int, listed: int, rest: str) -> None:
    files = [put(f"sparrow-{number:02}.gguf") for number in range(models)]
    with pytest.raises(SetupError, match="Write more of the name") as caught:
        model_file("sparrow")
    first, *lines = caught.value.problem.splitlines()
    assert first == f"sparrow: {models} models on this computer have that in their names."
    assert lines == [*(f"  {file}" for file in files[:listed]), *([rest] if rest else [])]


def test_a_name_that_no_file_can_have_is_refused_as_that() -> None:
    said = "is not possible" if sys.platform == "win32" else "longer name than the system takes"
    with pytest.raises(SetupError, match=said):
        model_file("x" * 5000)


SAMPLE = ROOT / "examples" / "demo.tsv"


@pytest.mark.parametrize(
    "command",
    [
        ["judge", SAMPLE, "--plan", "--model"],
        ["evaluate", "1", "--gold", SAMPLE, "--judge-model"],
        ["compare", "1", "1", "--gold", SAMPLE, "--judge-model"],
        ["report", "1", "--gold", SAMPLE, "--out", "report.html", "--judge-model"],
        ["models", "check"],
    ],
)
def test_commands_take_a_name_and_say_its_file(put: Put, tmp_path: Path, command: list[object]) -> None:
    broken = put("Quiet-Sparrow-1b.gguf")
    broken.write_bytes(b"<html>")
    done = refusal(*command, "sparrow", *(["--store", tmp_path / "r.sqlite"] if len(command) > 2 else []))
    assert done.startswith(f"sparrow is {broken}\n")
