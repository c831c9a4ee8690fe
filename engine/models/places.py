"""Where programs keep model files: in the folders that their own settings name, and in their default ones. By
the sources of Ollama 0.33 (envconfig, app/store), LM Studio's lms of 2026 (findLMStudioHome, importCmd), Jan
0.8.4 (src-tauri/src/core/app), GPT4All 3.10 (mysettings.cpp), llama.cpp and huggingface_hub.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from engine.core.codec import plain_values
from engine.system import paths

_UNITS = Path("/etc/systemd/system")
_IN_UNIT = re.compile(r"^Environment=\"?OLLAMA_MODELS=([^\"\n]+)", re.MULTILINE)
_IN_INI = re.compile(r"^modelPaths?=(.+)$", re.MULTILINE)
_IN_MODEL_YML = re.compile(r"^model_path: +['\"]?(.+?)['\"]?$", re.MULTILINE)


def program_folders(platform: str) -> Iterator[tuple[str, Path]]:
    """Name of a program and a folder where it keeps models, on the system that `sys.platform` names."""
    home = paths.home()
    # Where programs keep what they configure, what they own, and what they can fetch again.
    if platform == "win32":
        settings = _folder_from("APPDATA", home / "AppData" / "Roaming")
        data = cache = _folder_from("LOCALAPPDATA", home / "AppData" / "Local")
    elif platform == "darwin":
        settings = data = home / "Library" / "Application Support"
        cache = home / "Library" / "Caches"
    else:
        settings = _folder_from("XDG_CONFIG_HOME", home / ".config")
        data = _folder_from("XDG_DATA_HOME", home / ".local" / "share")
        cache = _folder_from("XDG_CACHE_HOME", home / ".cache")
    yield "Tiebreak", paths.models_folder()
    yield "Tiebreak", paths.project_models_folder()
    moved = filter(None, [_text(home / ".lmstudio-home-pointer").strip()])
    for own in (*map(Path, moved), home / ".lmstudio", home / ".cache" / "lm-studio", settings / "LM Studio"):
        for folder in (*_named_in(own / "settings.json", "downloadsFolder"), own / "models"):
            yield "LM Studio", folder
    apps = [base / name for base in (settings, data) for name in ("Jan", "jan.ai.app")]
    own_choice = [folder for app in apps for folder in _named_in(app / "settings.json", "data_folder")]
    for jan in (*own_choice, *(app / "data" for app in apps), _folder_from("JAN_DATA_FOLDER", home / "jan")):
        yield "Jan", jan / "llamacpp" / "models"
        yield "Jan", jan / "models"
    # Qt keeps files of this format there on macOS, too.
    ini = (home / ".config" if platform == "darwin" else settings) / "nomic.ai" / "GPT4All.ini"
    for named in (*_IN_INI.findall(_text(ini)), data / "nomic.ai" / "GPT4All"):
        yield "GPT4All", Path(named)
    for named in _set_in_window(home / ".ollama" if platform == "linux" else data / "Ollama"):
        yield "Ollama", Path(named)
    yield "Ollama", _folder_from("OLLAMA_MODELS", home / ".ollama" / "models")
    if platform == "linux":
        # Its service has variables and a home of its own.
        for unit in (_UNITS / "ollama.service", *sorted((_UNITS / "ollama.service.d").glob("*.conf"))):
            for named in _IN_UNIT.findall(_text(unit)):
                yield "Ollama", Path(named)
        yield "Ollama", Path("/usr/share/ollama/.ollama/models")
    hugging_face = _folder_from("HF_HOME", _folder_from("XDG_CACHE_HOME", home / ".cache") / "huggingface")
    hub = _folder_from("HUGGINGFACE_HUB_CACHE", hugging_face / "hub")
    yield "Hugging Face", _folder_from("HF_HUB_CACHE", hub)
    yield "llama.cpp", _folder_from("LLAMA_CACHE", cache / "llama.cpp")


def linked_model(description: Path) -> list[Path]:
    """The file elsewhere that Jan's `model.yml` names: a user's own stays where it is when Jan imports it."""
    named = (Path(name.replace("''", "'")) for name in _IN_MODEL_YML.findall(_text(description)))
    return [path for path in named if path.is_absolute()]


def _folder_from(variable: str, default: Path) -> Path:
    # In quotes, too: Ollama takes them off.
    named = (paths.environment(variable) or "").strip().strip("\"'")
    return Path(named) if named else default


def _named_in(settings: Path, key: str) -> list[Path]:
    """The folder that settings in JSON name; none where they name none or cannot be read."""
    try:
        return [path for path in [Path(plain_values(_text(settings))[key])] if path.is_absolute()]
    except (ValueError, KeyError, TypeError):
        return []


def _set_in_window(folder: Path) -> list[str]:
    """The folder of models that is set in Ollama's own window."""
    database = folder.absolute() / "db.sqlite"
    # SQLite would leave a log beside it where there is none.
    way = "mode=ro" if paths.seen_at(folder / "db.sqlite-wal") is paths.PathKind.FILE else "immutable=1"
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?{way}", uri=True)) as opened:
            return [str(named) for (named,) in opened.execute("SELECT models FROM settings") if named]
    except sqlite3.Error:
        return []


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, ValueError):
        return ""
