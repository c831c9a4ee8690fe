"""The program's own folders, and how it starts itself."""

import sys
from pathlib import Path

import pytest

from engine import paths


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
