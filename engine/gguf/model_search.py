"""A model looked for by a part of its name, as people write it.

Knows: names of files, and those that headers give. Does not know: arguments, what is said where none fits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from engine.core.errors import ModelFileError
from engine.gguf.finder import ModelPlace, model_places
from engine.gguf.judge_file import read_model_file


def models_named(text: str, folders: Iterable[Path]) -> list[ModelPlace]:
    """The models in the folders that are called `text`, or have it in their names, whatever the case.

    The whole name of a file goes before a part of one, and that before the name in a header: headers are
    read only where no file's name has the text, and where several have it, to leave out those that cannot
    judge if others can.
    """
    wanted = text.casefold()
    places = list(model_places(folders))
    whole = [place for place in places if wanted in _whole_names(place)]
    found = whole or [place for place in places if wanted in place.name.casefold()]
    if not found:
        return [place for place in _by_header(places) if wanted in place.name.casefold()]
    if len(found) == 1:
        return found
    judges = {place.path for place in _by_header(found)}
    return [place for place in found if place.path in judges] or found


def _whole_names(place: ModelPlace) -> tuple[str, str]:
    """What people call it, and the name of its file."""
    return place.name.casefold(), place.path.name.casefold()


def _by_header(places: Iterable[ModelPlace]) -> Iterator[ModelPlace]:
    """The places of models that can judge, with the names that their headers give."""
    for place in places:
        try:
            yield replace(place, name=read_model_file(place.path).title or place.name)
        except ModelFileError:
            continue  # the list of models says why
