"""The argument that names a model: the path of its file, a part of its name, or the demo model's.

Knows: the forms of the argument, and its errors. Does not know: what the model is for.
"""

from contextlib import suppress
from pathlib import Path

from engine.commands.shared.console import printable, tell
from engine.core.errors import SetupError, WrongKindError
from engine.core.file_kinds import FileKind
from engine.data.file_kinds import kind_of
from engine.gguf.finder import ModelPlace, default_folders, models_named
from engine.system.paths import demo_model, program
from engine.system.places import is_there

MODEL_WORDS = "a GGUF file, a part of the name of a listed model, or 'demo'"
_DEMO = "demo"
_MOST_LISTED = 10


def model_file(word: str) -> Path:
    """The file of the model that a word names; prints which one if it was found by name.

    A path stays as it is; reading it reports if it is missing. SetupError if no model has the word in its
    name, or several have.
    """
    path = Path(word)
    if word == _DEMO:
        return demo_model()
    if path.name != word or is_there(path):
        _refuse_others(path)
        return path
    found = models_named(word, default_folders())
    if not found:
        raise SetupError(
            f"{printable(word)}: there is no such file here, and no model on this computer has this in its"
            " name.",
            f"Check the name. {program()} models lists the models on this computer.",
        )
    if len(found) > 1:
        raise SetupError(_too_many(word, found), "Write more of the name, or the path of the file.")
    tell(f"{printable(word)} is {_shown(found[0])}")
    return found[0].path


def _refuse_others(path: Path) -> None:
    """Raise WrongKindError for another kind of file; an unreadable file is reported when it is read."""
    found = None
    if path.suffix.lower() != ".gguf":
        with suppress(SetupError):
            found = kind_of(path)
    if found is not None and found is not FileKind.MODEL:
        raise WrongKindError(path, found, FileKind.MODEL)


def _too_many(word: str, found: list[ModelPlace]) -> str:
    lines = [f"{printable(word)}: {len(found)} models on this computer have that in their names."]
    lines += [f"  {_shown(place)}" for place in found[:_MOST_LISTED]]
    if len(found) > _MOST_LISTED:
        lines.append(f"  and {len(found) - _MOST_LISTED} more.")
    return "\n".join(lines)


def _shown(place: ModelPlace) -> str:
    path = printable(str(place.path))
    known = place.name in (place.path.name, place.path.stem)
    return path if known else f"{path} ({printable(place.name)})"
