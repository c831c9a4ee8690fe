"""A model looked for by a part of its name, as people write it.

Knows: names of files, and those that headers give. Does not know: arguments, what is said where none fits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from engine.core.errors import ModelFileError
from engine.gguf.finder import ModelPlace, model_places
from engine.gguf.judge_file import read_model_file
from engine.gguf.names import is_blob


def models_named(text: str, folders: Iterable[Path]) -> list[ModelPlace]:
    """The models in the folders that are called `text`, or have it in their names, whatever the case.

    The whole name of a file goes before a part of one, and that before the name in a header: headers are
    read only where no file's name has the text, and where several have it, to leave out those that cannot
    judge if others can.
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
    """What people call a file, and its whole name; those of Ollama's blobs are hashes."""
    files = () if is_blob(place.path) else (place.path.name,)
    return {name.casefold() for name in (place.name, *files)}


def _by_header(places: Iterable[ModelPlace]) -> Iterator[ModelPlace]:
    """The places of models that can judge, with the names that their headers give."""
    for place in places:
        try:
            yield replace(place, name=read_model_file(place.path).title)
        except ModelFileError:
            continue  # the list of models says why
