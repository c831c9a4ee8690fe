"""The model files on this computer, in the folders where programs keep them, all or by a part of the name."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from engine.core.errors import Hint, ModelFileError
from engine.core.items import grouped
from engine.models import model_file
from engine.system import paths


@dataclass(frozen=True)
class FoundModel:
    """A model file that was found, or a file or folder that cannot be used, with the reason."""

    path: Path
    model: model_file.ModelFile | None
    error: ModelFileError | None
    source: str  # the program whose folder it is in, `LM Studio`; else the name of the folder searched

    @cached_property
    def name(self) -> str:
        return self.model.name if self.model else model_file.called(self.path)

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
        for own in (self.path.name, str(self.path)):
            problem = problem.removeprefix(f"{own}: ")
        return problem


@dataclass(frozen=True)
class ModelPlace:
    """Where a model file lies, the first part of a split one; its header is not read."""

    path: Path
    name: str
    source: str


class Stamp(NamedTuple):
    n_bytes: int
    changed_ns: int


def default_folders() -> list[Path]:
    """Folders in which this program and others keep model files, those that exist."""
    return [
        folder
        for _, folder in _default_places(sys.platform)
        if paths.seen_at(folder) is paths.PathKind.FOLDER
    ]


def _folder_from(variable: str, default: Path) -> Path:
    named = paths.environment(variable)
    return Path(named) if named else default


def _default_places(platform: str) -> Iterator[tuple[str, Path]]:
    """Name of a program and a folder where it keeps models, on the system that `sys.platform` names."""
    # Where programs keep what they configure, what they own, and what they can fetch again.
    if platform == "win32":
        settings = _folder_from("APPDATA", paths.home() / "AppData" / "Roaming")
        data = cache = _folder_from("LOCALAPPDATA", paths.home() / "AppData" / "Local")
    elif platform == "darwin":
        settings = data = paths.home() / "Library" / "Application Support"
        cache = paths.home() / "Library" / "Caches"
    else:
        settings = _folder_from("XDG_CONFIG_HOME", paths.home() / ".config")
        data = _folder_from("XDG_DATA_HOME", paths.home() / ".local" / "share")
        cache = _folder_from("XDG_CACHE_HOME", paths.home() / ".cache")
    yield "Tiebreak", paths.models_folder()
    yield "Tiebreak", paths.project_models_folder()
    yield "LM Studio", paths.home() / ".lmstudio" / "models"
    yield "LM Studio", paths.home() / ".cache" / "lm-studio" / "models"
    for jan in (settings / "Jan" / "data", data / "Jan" / "data", paths.home() / "jan"):
        yield "Jan", jan / "llamacpp" / "models"
        yield "Jan", jan / "models"
    yield "GPT4All", data / "nomic.ai" / "GPT4All"
    yield "Ollama", _folder_from("OLLAMA_MODELS", paths.home() / ".ollama" / "models")
    if platform == "linux":
        yield "Ollama", Path("/usr/share/ollama/.ollama/models")
    hugging_face = _folder_from("HF_HOME", paths.home() / ".cache" / "huggingface")
    yield "Hugging Face", _folder_from("HF_HUB_CACHE", hugging_face / "hub")
    yield "llama.cpp", _folder_from("LLAMA_CACHE", cache / "llama.cpp")


def _program_of(folder: Path) -> str:
    for program, place in _default_places(sys.platform):
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
    for found in _files(folders):
        yield found if isinstance(found, FoundModel) else found_model(found.path, found.source)


def model_places(folders: Iterable[Path]) -> Iterator[ModelPlace]:
    """The same files, without a look into them; folders that cannot be read are passed over."""
    return (found for found in _files(folders) if isinstance(found, ModelPlace))


def stamps(folders: Iterable[Path], files: Iterable[Path] = ()) -> dict[Path, Stamp]:
    """Each model file in the folders, with all parts, and each of these files, as it is now."""
    listed = (place for place in _listings(folders) if isinstance(place, _Listing))
    found = {}
    for path in (*(path for place in listed for path in place.files), *files):
        with suppress(OSError):  # it may be gone by now
            status = path.stat()
            found[path] = Stamp(status.st_size, status.st_mtime_ns)
    return found


def _files(folders: Iterable[Path]) -> Iterator[ModelPlace | FoundModel]:
    """Each model once, and each folder that cannot be read, with its error."""
    for listed in _listings(folders):
        if isinstance(listed, FoundModel):
            yield listed
            continue
        names = model_file.ollama_names(listed.folder)
        firsts: dict[Path, Path] = {}  # of the parts of a split model the first that is there
        for path in listed.files:
            firsts.setdefault(model_file.first_part(path), path)
        for path in firsts.values():
            if names is None:
                yield ModelPlace(path, model_file.called(path), listed.source)
            elif path.name in names:
                yield ModelPlace(path, names[path.name], listed.source)


class _Listing(NamedTuple):
    folder: Path
    source: str
    files: list[Path]


def _listings(folders: Iterable[Path]) -> Iterator[_Listing | FoundModel]:
    """Each folder at any depth once, and each one that cannot be read, with its error."""
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
                yield FoundModel(here, None, unreadable, source)
                continue
            # Taken from the end: so the first folder by name comes first.
            pending.extend(reversed(inner))
            yield _Listing(here, source, files)


def _listing(folder: Path, seen: set[Path]) -> tuple[list[Path], list[Path]]:
    """The model files and the folders in a folder that were not seen before, by name."""
    entries = sorted(folder.iterdir())
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


_PROJECTOR = re.compile(r"(?<![a-z])mmproj(?![a-z])", re.IGNORECASE)


def _may_be_model(path: Path) -> bool:
    # "._" begins the notes that macOS leaves next to each file on foreign disks.
    if path.name.lower().startswith(("incomplete", "._")) or _PROJECTOR.search(path.name):
        return False
    if not model_file.is_blob(path):
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
    places = list(model_places(folders))
    whole = [place for place in places if wanted in _names(place)]
    found = whole or [place for place in places if any(wanted in name for name in _names(place))]
    if not found:
        return [place for place in _by_header(places) if wanted in place.name.casefold()]
    if len(found) == 1:
        return found
    judges = {place.path for place in _by_header(found)}
    return [place for place in found if place.path in judges] or found


def _names(place: ModelPlace) -> set[str]:
    files = () if model_file.is_blob(place.path) else (place.path.name,)
    return {name.casefold() for name in (place.name, *files)}


def _by_header(places: Iterable[ModelPlace]) -> Iterator[ModelPlace]:
    """The places of models that can judge, with the names that their headers give."""
    for place in places:
        try:
            yield replace(place, name=model_file.read_model_file(place.path).title)
        except ModelFileError:
            continue  # the list of models says why
