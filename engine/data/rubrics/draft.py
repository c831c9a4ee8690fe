"""A rubric to start from, out of the criteria that a dataset has labels for.

Knows: how columns of labels are called. Does not know: files, what the labels are.
"""

from collections.abc import Iterable
from dataclasses import replace

from engine.core.formatting import HIDDEN
from engine.core.rubric import ELOQUENT, LONGEST_RUBRIC_NAME, Rubric, fitting_names, rubric_of_names

_END = "_preference"


def criteria_of_columns(columns: Iterable[str]) -> list[str]:
    """The criteria that columns `<criterion>_preference` name, in their order, as many as a rubric has."""
    return fitting_names(column.removesuffix(_END) for column in columns if column.endswith(_END))


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
        f"Drafted from the columns of a dataset with labels on {len(names)} criteria; the questions are to be"
        " worded by whoever knows what its annotators were asked."
    )
    return replace(rubric_of_names(names), name=_on_one_line(name), source=source)


def _on_one_line(name: str) -> str:
    return " ".join(HIDDEN.sub("", name).split())[:LONGEST_RUBRIC_NAME].strip() or "draft"
