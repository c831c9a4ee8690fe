"""The program's own folders, how it starts itself, and what it leaves to other programs."""

import os
import sys
from pathlib import Path

import pytest

from engine.system import paths


def test_one_variable_moves_all_folders(private_home: Path) -> None:
    folders = (paths.data_folder(), paths.cache_folder(), paths.log_folder(), paths.models_folder())
    assert folders == tuple(private_home / "tiebreak" / name for name in ("data", "cache", "logs", "models"))


def test_a_relative_home_becomes_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIEBREAK_HOME", "here")
    assert paths.data_folder() == Path.cwd() / "here" / "data"


def test_without_it_the_folders_are_the_users_and_bear_our_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIEBREAK_HOME")
    folders = {paths.data_folder(), paths.cache_folder(), paths.models_folder()}
    assert len(folders) == 3
    assert all("Tiebreak" in folder.parts for folder in folders)


def test_an_empty_variable_is_no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", "")
    assert paths.environment("HF_HOME") is None


def test_a_child_gets_our_environment_and_the_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", "kept")
    monkeypatch.setenv("LLAMA_CACHE", "replaced")
    child = paths.child_environment(LLAMA_CACHE="new")
    assert (child["HF_HOME"], child["LLAMA_CACHE"]) == ("kept", "new")


def test_from_source_it_starts_main_with_this_python() -> None:
    python, main = paths.self_command()
    assert python == sys.executable
    assert Path(main) == paths.project_models_folder().parent / "main.py"


def test_a_frozen_program_starts_itself_and_looks_for_its_files_in_its_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert paths.self_command() == [sys.executable]
    assert paths.demo_model() == tmp_path / "models" / "demo-judge.gguf"
    assert paths.demo_dataset() == tmp_path / "examples" / "demo.tsv"


def test_what_comes_with_the_program_is_there() -> None:
    assert paths.demo_model().is_file()
    assert paths.demo_dataset().is_file()


def test_asking_for_folders_makes_none(private_home: Path) -> None:
    for folder in (paths.data_folder, paths.cache_folder, paths.log_folder, paths.models_folder):
        assert not folder().exists()
    assert not (private_home / "tiebreak").exists()


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process looks like a bundle's; the folder of its executable."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "_internal"), raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "Tiebreak.exe"))
    return tmp_path


def test_from_source_a_person_types_python() -> None:
    assert paths.program() == "python main.py"


def test_of_a_bundle_a_person_types_its_name(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths.program() == "Tiebreak"
    monkeypatch.setattr(sys, "executable", str(frozen / "tiebreak"))
    assert paths.program() == "tiebreak"


def test_the_twin_with_a_console_is_what_a_person_types_and_what_starts_children(frozen: Path) -> None:
    twin = frozen / "tiebreak-cli.exe"
    assert paths.self_command() == [str(frozen / "Tiebreak.exe")]
    twin.touch()
    assert paths.self_command() == [str(twin)]
    assert paths.program() == "tiebreak-cli"


def test_the_twin_starts_itself(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = frozen / "tiebreak-cli.exe"
    twin.touch()
    monkeypatch.setattr(sys, "executable", str(twin))
    assert paths.self_command() == [str(twin)]


def test_from_source_a_twin_beside_python_means_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiebreak-cli.exe").touch()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python.exe"))
    assert paths.self_command()[0] == str(tmp_path / "python.exe")
    assert paths.program() == "python main.py"


def test_licences_of_others_lie_in_the_bundle_alone(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths.third_party_licences() == frozen / "_internal" / "licences"
    monkeypatch.delattr(sys, "frozen")
    assert paths.third_party_licences() is None


@pytest.fixture
def as_a_bundle_sets_them(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables by which programs find libraries, as they are while a bundle runs."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "/bundle/_internal")
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/opt/own")
    monkeypatch.setenv("QT_PLUGIN_PATH", "/bundle/plugins")
    monkeypatch.delenv("QT_PLUGIN_PATH_ORIG", raising=False)
    monkeypatch.delenv("QML2_IMPORT_PATH", raising=False)
    return search_variables()


def search_variables() -> dict[str, str]:
    """Those variables, and what they were before."""
    return {name: value for name, value in os.environ.items() if name.startswith(("LD_", "QT_", "QML"))}


def test_other_programs_of_a_bundle_get_the_environment_of_before(
    frozen: Path, as_a_bundle_sets_them: dict[str, str]
) -> None:
    with paths.environment_of_the_system():
        assert os.environ["LD_LIBRARY_PATH"] == "/opt/own"
        assert "QT_PLUGIN_PATH" not in os.environ
    assert search_variables() == as_a_bundle_sets_them


@pytest.mark.parametrize("before", ["", None], ids=["empty", "unset"])
def test_what_was_not_set_before_a_bundle_is_not_set_for_other_programs(
    frozen: Path, as_a_bundle_sets_them: dict[str, str], monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is None:
        monkeypatch.delenv("LD_LIBRARY_PATH_ORIG")
    else:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", before)
    with paths.environment_of_the_system():
        assert "LD_LIBRARY_PATH" not in os.environ
    assert os.environ["LD_LIBRARY_PATH"] == "/bundle/_internal"


def test_a_bundles_environment_comes_back_when_the_other_program_cannot_be_started(
    frozen: Path, as_a_bundle_sets_them: dict[str, str]
) -> None:
    with pytest.raises(OSError, match="no such program"), paths.environment_of_the_system():
        raise OSError("no such program")
    assert search_variables() == as_a_bundle_sets_them


def test_from_source_other_programs_get_our_environment(as_a_bundle_sets_them: dict[str, str]) -> None:
    with paths.environment_of_the_system():
        assert search_variables() == as_a_bundle_sets_them
    assert search_variables() == as_a_bundle_sets_them


def test_matplotlib_keeps_its_fonts_in_our_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLCONFIGDIR", "elsewhere")
    paths.keep_caches_together()
    assert Path(os.environ["MPLCONFIGDIR"]) == paths.cache_folder() / "matplotlib"
    assert not paths.cache_folder().exists()
