"""The model files on this computer, in the folders where programs keep them, all or by a part of the name:
those that the programs' own settings name, and their default ones. By the sources of Ollama 0.33 (envconfig,
app/store), LM Studio's lms of 2026 (findLMStudioHome, importCmd), Jan 0.8.4 (src-tauri/src/core/app), GPT4All
3.10 (mysettings.cpp), llama.cpp and huggingface_hub.
"""

import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from engine.core.codec import plain_values
from engine.core.errors import Hint, ModelFileError
from engine.core.items import grouped
from engine.models import model_file
from engine.models.ollama import is_blob, ollama_models
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


@dataclass(frozen=True)
class FoundModel:
    """A model file that was found, or a file or folder that cannot be used, with the reason."""

    path: Path
    model: model_file.ModelFile | None
    error: ModelFileError | None
    source: str  # the program whose folder it is in, `LM Studio`; else the name of the folder searched
    known_as: str = ""  # where its path does not tell its name

    @cached_property
    def name(self) -> str:
        return self.known_as or (self.model.name if self.model else model_file.called(self.path))

    @cached_property
    def folder(self) -> str:
        """Where it is: the program whose folder it is in, else its folder, `~/models`."""
        folder = self.path.absolute().parent
        program = _program_of(folder)
        if program:
            return program
        return f"~/{folder.relative_to(paths.home())}" if folder.is_relative_to(paths.home()) else str(folder)

    @property
    def reason(self) -> str:
        """Why it cannot be used, without its name, which stands next to it."""
        problem = self.error.problem if self.error else ""
        for own in (self.name, self.path.name, str(self.path)):
            problem = problem.removeprefix(f"{own}: ")
        return problem


@dataclass(frozen=True)
class ModelPlace:
    """Where a model file lies, the first part of a split one; its header is not read."""

    path: Path
    name: str
    source: str
    other_name: str = ""
    error: ModelFileError | None = None  # why it cannot be used, where that is known without a look into it


class Stamp(NamedTuple):
    n_bytes: int
    changed_ns: int


def default_folders() -> list[Path]:
    """Folders in which this program and others keep model files, those that exist."""
    _programs.cache_clear()
    folders = dict.fromkeys(folder for _, folder in _programs())
    return [folder for folder in folders if paths.seen_at(folder) is paths.PathKind.FOLDER]


@cache
def _programs() -> tuple[tuple[str, Path], ...]:
    """As they are when models are looked for: each row of the window asks, and their settings are files."""
    return tuple(program_folders(sys.platform))


def _program_of(folder: Path) -> str:
    for program, place in _programs():
        if folder.absolute().is_relative_to(place):
            return program
    return ""


def by_reason(found: Iterable[FoundModel]) -> dict[tuple[str, Hint], list[FoundModel]]:
    """What cannot be used, by the reason and the next step: many files often share one."""
    failed = [(file, file.error) for file in found if file.error is not None]
    groups = grouped(failed, key=lambda each: (each[0].reason, each[1].hint))
    return {why: [file for file, _ in files] for why, files in groups.items()}


def find_models(folders: Iterable[Path]) -> Iterator[FoundModel]:
    """Model files in the folders, at any depth, each model once; one by one, as headers take time to read.
    Unfinished downloads and image projectors are omitted. What cannot be read comes with its error.
    """
    seen: set[Path] = set()  # a file of Ollama may have several names
    for place in _files(folders):
        if place.error is not None:
            yield FoundModel(place.path, None, place.error, place.source, place.name)
        elif place.path not in seen:
            seen.add(place.path)
            yield found_model(place.path, place.source)


def model_places(folders: Iterable[Path]) -> Iterator[ModelPlace]:
    """The same files, without a look into them; what cannot be read or used is passed over."""
    return (place for place in _files(folders) if place.error is None)


def stamps(folders: Iterable[Path], files: Iterable[Path] = ()) -> dict[Path, Stamp]:
    """Each model file in the folders, with all parts, and each of these files, as it is now."""
    listed = (place for place in _listings(folders) if isinstance(place, _Listing))
    found = {}
    for path in (*(path for place in listed for path in place.files), *files):
        with suppress(OSError):  # it may be gone by now
            status = path.stat()
            found[path] = Stamp(status.st_size, status.st_mtime_ns)
    return found


def _files(folders: Iterable[Path]) -> Iterator[ModelPlace]:
    """Each model, by each of its names, and each folder that cannot be read, without a name."""
    for listed in _listings(folders):
        if isinstance(listed, ModelPlace):
            yield listed
        elif (models := ollama_models(listed.folder)) is not None:
            for name, path, fault in models:
                error = ModelFileError(f"{name}: {fault}.", _AS_GGUF) if fault else None
                if error or path in listed.files:
                    yield ModelPlace(path, name, listed.source, name.removesuffix(":latest"), error)
        else:
            firsts: dict[Path, Path] = {}  # of the parts of a split model the first that is there
            for path in listed.files:
                firsts.setdefault(model_file.first_part(path), path)
            for path in firsts.values():
                yield ModelPlace(path, model_file.called(path), listed.source, path.name)


class _Listing(NamedTuple):
    folder: Path
    source: str
    files: list[Path]


def _listings(folders: Iterable[Path]) -> Iterator[_Listing | ModelPlace]:
    """Each folder at any depth once, and each one that cannot be read, with its error."""
    _programs.cache_clear()
    seen: set[Path] = set()
    for folder in folders:
        source = _program_of(folder) or folder.name or str(folder)
        pending = [folder]
        while pending:
            here = pending.pop()
            try:
                files, inner = _listing(here, seen)
            except OSError as error:
                unreadable = ModelFileError(
                    f"{paths.shown(here)}: the folder cannot be read: {paths.reason_of(error)}.",
                    "Check its name and your permission, or choose another folder.",
                )
                yield ModelPlace(here, "", source, error=unreadable)
                continue
            # Taken from the end: so the first folder by name comes first.
            pending.extend(reversed(inner))
            yield _Listing(here, source, files)


def _listing(folder: Path, seen: set[Path]) -> tuple[list[Path], list[Path]]:
    """The model files and the folders in a folder that were not seen before, by name."""
    entries = sorted(folder.iterdir())
    entries += [file for path in entries if path.name == "model.yml" for file in linked_model(path)]
    found = {path: paths.seen_at(path) for path in entries}
    files = [
        path
        for path, what in found.items()
        if what is paths.PathKind.FILE and _may_be_model(path) and _is_new(path, seen)
    ]
    return files, [
        path for path, what in found.items() if what is paths.PathKind.FOLDER and _is_new(path, seen)
    ]


def _is_new(path: Path, seen: set[Path]) -> bool:
    target = paths.real_path(path)
    # By where links lead: in the cache of Hugging Face each model lies once and is linked to.
    if target in seen:
        return False
    seen.add(target)
    return True


_AS_GGUF = "Choose another model, or download this one as a GGUF file."
_PROJECTOR = re.compile(r"(?<![a-z])mmproj(?![a-z])", re.IGNORECASE)


def _may_be_model(path: Path) -> bool:
    # "._" begins the notes that macOS leaves next to each file on foreign disks.
    if path.name.lower().startswith(("incomplete", "._")) or _PROJECTOR.search(path.name):
        return False
    if not is_blob(path):
        return path.suffix.lower() == model_file.SUFFIX
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return True  # reading it will say why not


def found_model(path: Path, source: str) -> FoundModel:
    """One file, or the model that it is part of; `source`: the program whose it is, or its folder."""
    try:
        model = model_file.read_model_file(path)
        return FoundModel(model.path, model, None, source)
    except ModelFileError as error:
        return FoundModel(path, None, error, source)


def models_named(text: str, folders: Iterable[Path]) -> list[ModelPlace]:
    """The models that are called `text`, or have it in their names, whatever the case. The whole name of a
    file goes before a part of one, and that before the name in a header; of several those that can judge.
    """
    wanted = text.casefold()
    places = list(_files(folders))
    whole = {place.path: place for place in places if wanted in _names(place)}
    parts = (place for place in places if any(wanted in name for name in _names(place)))
    found = list((whole or {place.path: place for place in parts}).values())
    if not found:
        return [place for place in _by_header(places) if wanted in place.name.casefold()]
    if len(found) == 1:
        return found
    judges = {place.path for place in _by_header(found)}
    return [place for place in found if place.path in judges] or found


def _names(place: ModelPlace) -> set[str]:
    return {place.name.casefold(), place.other_name.casefold()}


def _by_header(places: Iterable[ModelPlace]) -> Iterator[ModelPlace]:
    """The places of models that can judge, with the names that their headers give."""
    for place in (each for each in places if each.error is None):
        try:
            yield replace(place, name=model_file.read_model_file(place.path).title)
        except ModelFileError:
            continue  # the list of models says why
