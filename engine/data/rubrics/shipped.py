"""The rubrics that come with the program, and a rubric by its name or file.

Knows: their names, and where people keep rubrics of their own. Does not know: what a rubric's file holds.
"""

import difflib
from functools import cache
from pathlib import Path

from engine.core.errors import SetupError
from engine.core.formatting import quoted
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.rubrics.files import load_rubric
from engine.system.paths import rubrics_folder
from engine.system.places import Found, seen_at

_SHIPPED = ("helpful-harmless", "summaries", "translation", "code", "faithfulness", "style")
_SUFFIX = ".toml"


@cache
def shipped_rubrics() -> tuple[Rubric, ...]:
    """The rubrics that come with the program, that of the task first; `source` says where each comes from."""
    folder = Path(__file__).parent
    return (ELOQUENT, *(load_rubric(folder / f"{name}{_SUFFIX}") for name in _SHIPPED))


def own_rubrics() -> tuple[Path, ...]:
    """The files in the user's folder of rubrics, by name; empty where there is no such folder."""
    folder = rubrics_folder()
    return tuple(sorted(folder.glob(f"*{_SUFFIX}"))) if seen_at(folder) is Found.FOLDER else ()


def find_rubric(words: str) -> Rubric:
    """A rubric by the name of a shipped one, by the name of a file in the user's folder, or by a path.

    Raises SetupError where there is none, InputError where its file is wrong.
    """
    shipped = {rubric.name: rubric for rubric in shipped_rubrics()}
    if words in shipped:
        return shipped[words]
    own = {path.stem: path for path in own_rubrics()}
    if words in own:
        return load_rubric(own[words])
    path = Path(words)
    if path.suffix or len(path.parts) > 1:
        return load_rubric(path)
    names = (*shipped, *own)
    near = difflib.get_close_matches(words.casefold(), names, n=1)
    hint = f" The nearest is {near[0]}." if near else ""
    raise SetupError(
        f"No rubric is called {quoted(words)}.{hint}",
        f"Choose from {', '.join(names)}, or name a TOML file.",
    )
