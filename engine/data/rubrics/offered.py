"""The rubrics to choose from: those of the program, the users' own, one drafted of a dataset's labels.

Knows: their names, where users keep their own, how columns of labels are called.
Does not know: what a rubric's file holds, what the labels are.
"""

import difflib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from engine.core.errors import SetupError
from engine.core.formatting import HIDDEN, counted, quoted
from engine.core.rubric import ELOQUENT, LONGEST_RUBRIC_NAME, Rubric, fitting_names, rubric_of_names
from engine.data.rubrics.files import load_rubric, own_rubric
from engine.system.paths import rubrics_folder
from engine.system.places import PathKind, seen_at

_SHIPPED = ("helpful-harmless", "summaries", "translation", "code", "faithfulness", "style")
_SUFFIX = ".toml"
_LABELS = "_preference"  # how columns of labels end


@cache
def shipped_rubrics() -> tuple[Rubric, ...]:
    """The rubrics that come with the program, that of the task first; `source` says where each comes from."""
    folder = Path(__file__).parent
    return (ELOQUENT, *(own_rubric(folder / f"{name}{_SUFFIX}") for name in _SHIPPED))


def own_rubrics() -> tuple[Path, ...]:
    """The files in the user's folder of rubrics, by name; empty where there is no such folder."""
    folder = rubrics_folder()
    return tuple(sorted(folder.glob(f"*{_SUFFIX}"))) if seen_at(folder) is PathKind.FOLDER else ()


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
        f"There is no rubric {quoted(words)}.{hint}", f"Choose from {', '.join(names)}, or name a TOML file."
    )


def criteria_of_columns(columns: Iterable[str]) -> list[str]:
    """The criteria that columns `<criterion>_preference` name, in their order, as many as a rubric has."""
    return fitting_names(column.removesuffix(_LABELS) for column in columns if column.endswith(_LABELS))


def draft_rubric(columns: Iterable[str], name: str) -> Rubric | None:
    """A rubric of the criteria that columns `<criterion>_preference` name, in their order.

    Those of the task have its questions, each other one a plain question to start from. None where there are
    none besides the task's. A column whose name can be no criterion's is passed over, and so is what is
    beyond the most criteria that a rubric has. `name`: what the rubric is called.
    """
    names = criteria_of_columns(columns)
    if set(names) <= set(ELOQUENT.names):
        return None
    source = (
        "Drafted from the columns of a dataset with labels on"
        f" {counted(len(names), 'criterion', 'criteria')}; replace the questions by those that its annotators"
        " were asked."
    )
    return replace(rubric_of_names(names), name=_on_one_line(name), source=source)


def _on_one_line(name: str) -> str:
    return " ".join(HIDDEN.sub("", name).split())[:LONGEST_RUBRIC_NAME].strip() or "draft"
