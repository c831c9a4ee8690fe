"""Folders of other programs, made as they make them, on each system: what is kept in them is found."""

import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.core.events import Note, followed
from engine.models.finder import FoundModel, default_folders, find_models
from engine.operations.opening import find_model

Put = Callable[[Path], Path]
OWN_SETTINGS = (
    *("APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"),
    *("OLLAMA_MODELS", "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "LLAMA_CACHE", "JAN_DATA_FOLDER"),
)
SETTINGS = {"linux": ".config", "darwin": "Library/Application Support", "win32": "AppData/Roaming"}
"""Where programs keep their settings on each system."""


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in OWN_SETTINGS:
        monkeypatch.delenv(variable, raising=False)


def found_in(folder: Path) -> list[FoundModel]:
    """What is found in default folders below a folder: the project's own has models, too."""
    return [entry for entry in find_models(default_folders()) if entry.path.is_relative_to(folder)]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_programs_own_folders_are_among_the_usual_ones(private_home: Path) -> None:
    own = private_home / "tiebreak" / "models"
    assert own not in default_folders()
    own.mkdir(parents=True)
    assert default_folders()[0] == own


PLACES = {
    "linux": [
        ("Jan", ".local/share/Jan/data/llamacpp/models"),
        ("Jan", ".config/Jan/data/llamacpp/models"),
        ("GPT4All", ".local/share/nomic.ai/GPT4All"),
        ("llama.cpp", ".cache/llama.cpp"),
    ],
    "darwin": [
        ("Jan", "Library/Application Support/Jan/data/llamacpp/models"),
        ("GPT4All", "Library/Application Support/nomic.ai/GPT4All"),
        ("llama.cpp", "Library/Caches/llama.cpp"),
    ],
    "win32": [
        ("Jan", "AppData/Roaming/Jan/data/llamacpp/models"),
        ("GPT4All", "AppData/Local/nomic.ai/GPT4All"),
        ("llama.cpp", "AppData/Local/llama.cpp"),
    ],
}
ON_ALL_SYSTEMS = [
    ("Tiebreak", "tiebreak/models"),
    ("LM Studio", ".lmstudio/models"),
    ("LM Studio", ".cache/lm-studio/models"),
    ("Jan", "jan/models"),
    ("Ollama", ".ollama/models"),
    ("Hugging Face", ".cache/huggingface/hub"),
]


@pytest.mark.parametrize(
    ("platform", "place"),
    [(platform, place) for platform, places in PLACES.items() for place in ON_ALL_SYSTEMS + places],
)
def test_models_of_other_programs_are_found_where_they_keep_them(
    private_home: Path, put: Put, monkeypatch: pytest.MonkeyPatch, platform: str, place: tuple[str, str]
) -> None:
    program, folder = place
    monkeypatch.setattr(sys, "platform", platform)
    model = put(private_home / folder / "publisher" / "model.gguf")
    assert [(entry.path, entry.source) for entry in found_in(private_home)] == [(model, program)]


@pytest.mark.parametrize(
    ("variable", "program", "below"),
    [
        ("OLLAMA_MODELS", "Ollama", ""),
        ("HF_HOME", "Hugging Face", "hub"),
        ("HF_HUB_CACHE", "Hugging Face", ""),
        ("HUGGINGFACE_HUB_CACHE", "Hugging Face", ""),
        ("XDG_CACHE_HOME", "Hugging Face", "huggingface/hub"),
        ("LLAMA_CACHE", "llama.cpp", ""),
        ("JAN_DATA_FOLDER", "Jan", "llamacpp/models"),
    ],
)
@pytest.mark.parametrize("mark", ["", '"'])
def test_folders_named_in_the_environment_are_searched(
    tmp_path: Path,
    put: Put,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    program: str,
    below: str,
    mark: str,
) -> None:
    model = put(tmp_path / "else where" / below / "model.gguf")
    monkeypatch.setenv(variable, f"{mark}{tmp_path / 'else where'}{mark}")
    assert [(entry.path, entry.source) for entry in found_in(tmp_path / "else where")] == [(model, program)]


# Where settings of the programs say it


@pytest.mark.parametrize("platform", SETTINGS)
@pytest.mark.parametrize("own", [".lmstudio", ".cache/lm-studio", "elsewhere/studio home", "OLD/LM Studio"])
def test_the_folder_that_lm_studio_was_told_is_searched(
    private_home: Path, put: Put, monkeypatch: pytest.MonkeyPatch, platform: str, own: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    own = own.replace("OLD", SETTINGS[platform])  # where it kept its settings at first
    downloads = private_home / "Modèles" / "gguf"
    models = [
        put(downloads / "a" / "b" / "moved.gguf"),
        put(private_home / own / "models" / "a" / "b" / "old.gguf"),
    ]
    if own.startswith("elsewhere"):
        write(private_home / ".lmstudio-home-pointer", f"{private_home / own}\n")
    write(private_home / own / "settings.json", json.dumps({"downloadsFolder": str(downloads), "tasks": [1]}))
    assert {(entry.path, entry.source) for entry in found_in(private_home)} == {
        (model, "LM Studio") for model in models
    }


JAN_SETTINGS = [
    ("linux", ".local/share/Jan"),
    ("linux", ".config/Jan"),
    ("linux", ".local/share/jan.ai.app"),
    ("darwin", "Library/Application Support/Jan"),
    ("win32", "AppData/Roaming/Jan"),
    ("win32", "AppData/Roaming/jan.ai.app"),
]


@pytest.mark.parametrize(("platform", "own"), JAN_SETTINGS)
def test_jans_data_folder_and_the_files_that_its_models_name_are_found(
    private_home: Path, put: Put, monkeypatch: pytest.MonkeyPatch, platform: str, own: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    data, mine = private_home / "Jan's data", private_home / "mine"
    write(private_home / own / "settings.json", json.dumps({"data_folder": str(data)}))
    kept = put(data / "llamacpp" / "models" / "Qwen3-8B" / "model.gguf")
    put(data / "llamacpp" / "models" / "Qwen3-8B" / "mmproj.gguf")
    relative = (
        "model_path: llamacpp/models/Qwen3-8B/model.gguf\nmmproj_path: llamacpp/models/Qwen3-8B/mmproj.gguf\n"
    )
    write(kept.parent / "model.yml", f"{relative}name: Qwen3-8B\nsize_bytes: 7\n")
    models = [kept]
    for name, mark in (("plain", ""), ("it's", "'")):
        models.append(put(mine / f"{name}.gguf"))
        named = str(models[-1]).replace("'", "''") if mark else models[-1]
        described = data / "llamacpp" / "models" / "imported" / name / "model.yml"
        write(described, f"embedding: false\nmodel_path: {mark}{named}{mark}\nname: {name}\n")
    gone = data / "llamacpp" / "models" / "gone" / "model.yml"
    write(gone, f"model_path: {mine / 'gone.gguf'}\nname: gone\n")
    put(mine / "not imported.gguf")
    assert {(entry.path, entry.source) for entry in found_in(private_home)} == {
        (model, "Jan") for model in models
    }


def test_a_model_that_is_listed_with_its_folder_is_used_by_that_name(private_home: Path, put: Put) -> None:
    model = put(private_home / "jan" / "llamacpp" / "models" / "Qwen3-8B" / "model.gguf")
    (found,) = found_in(private_home)
    assert found.name == "Qwen3-8B/model"
    assert followed(find_model(found.name)) == model
    notes: list[Note] = []
    assert followed(find_model("Qwen3-9B/model"), notes.append) == Path("Qwen3-9B/model")  # a path, then
    assert not notes


@pytest.mark.parametrize(
    ("platform", "own"), [("linux", ".config"), ("darwin", ".config"), ("win32", "AppData/Roaming")]
)
def test_the_folder_that_gpt4all_was_told_is_searched(
    private_home: Path, put: Put, monkeypatch: pytest.MonkeyPatch, platform: str, own: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    model = put(private_home / "gpt models" / "model.gguf")
    write(
        private_home / own / "nomic.ai" / "GPT4All.ini",
        f"[General]\nforceMetal=false\nmodelPath={model.parent.as_posix()}/\n\n[download]\nlastVersionStarted=3.10.0\n",
    )
    assert [(entry.path, entry.source) for entry in found_in(private_home)] == [(model, "GPT4All")]


@pytest.mark.parametrize(
    ("platform", "own"),
    [
        ("linux", ".ollama"),
        ("darwin", "Library/Application Support/Ollama"),
        ("win32", "AppData/Local/Ollama"),
    ],
)
def test_the_folder_that_ollamas_window_was_told_is_searched(
    private_home: Path, put: Put, monkeypatch: pytest.MonkeyPatch, platform: str, own: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    model = put(private_home / "ollama models" / "model.gguf")
    database = private_home / own / "db.sqlite"
    database.parent.mkdir(parents=True)
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("PRAGMA journal_mode=WAL")
        opened.execute("CREATE TABLE settings (id INTEGER, expose BOOLEAN, models TEXT NOT NULL DEFAULT '')")
        opened.execute("INSERT INTO settings VALUES (1, 0, ?)", [str(model.parent)])
    assert [(entry.path, entry.source) for entry in found_in(private_home)] == [(model, "Ollama")]
    assert list(database.parent.iterdir()) == [database]  # nothing is left in Ollama's own folder
    with closing(sqlite3.connect(database)) as at_work:
        with at_work:
            at_work.execute(
                "UPDATE settings SET models = ?", [str(put(private_home / "new" / "new.gguf").parent)]
            )
        assert [entry.path.name for entry in found_in(private_home)] == ["new.gguf"]


@pytest.mark.parametrize("mark", ["", '"'])
def test_the_folder_that_ollamas_service_was_told_is_searched(
    private_home: Path, put: Put, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("engine.models.finder._UNITS", private_home / "system")
    model = put(private_home / "of the service" / "model.gguf")
    named = f"Environment={mark}OLLAMA_MODELS={model.parent}{mark}\n"
    write(
        private_home / "system" / "ollama.service.d" / "override.conf",
        f'[Service]\nEnvironment="A=b"\n{named}',
    )
    assert [(entry.path, entry.source) for entry in found_in(private_home)] == [(model, "Ollama")]


@pytest.mark.parametrize(
    "text", ["{", "[]", "null", '{"downloadsFolder": 7}', '{"downloadsFolder": "here"}', "\udcff"]
)
def test_settings_that_name_no_folder_do_no_harm(private_home: Path, put: Put, text: str) -> None:
    model = put(private_home / ".lmstudio" / "models" / "model.gguf")
    (private_home / ".lmstudio" / "settings.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    (private_home / ".ollama").mkdir()
    (private_home / ".ollama" / "db.sqlite").write_bytes(b"no database")
    assert [entry.path for entry in found_in(private_home)] == [model]
