"""A rubric to start from, out of the criteria that a dataset has labels for.

Knows: how columns of labels are called. Does not know: files, what the labels are.
"""

from collections.abc import Iterable

from engine.core.formatting import HIDDEN, words
from engine.core.rubric import ELOQUENT, LONGEST_RUBRIC_NAME, MOST_CRITERIA, Criterion, Rubric

_END = "_preference"


def draft_rubric(columns: Iterable[str], name: str) -> Rubric | None:
    """A rubric of the criteria that columns `<criterion>_preference` name, in their order.

    Those of the task have its questions, each other one a plain question to start from. None where there are
    none besides the task's. A column whose name can be no criterion's is passed over, and so is what is
    beyond the most criteria that a rubric has. `name`: what the rubric is called.
    """
    named = [column.removesuffix(_END) for column in columns if column.endswith(_END)]
    fit = [name for name in dict.fromkeys(named) if name.isidentifier() and len(name) <= LONGEST_RUBRIC_NAME]
    if set(fit) <= set(ELOQUENT.names):
        return None
    known = {criterion.name: criterion for criterion in ELOQUENT.criteria}
    criteria = [known.get(name) or _criterion(name) for name in fit[:MOST_CRITERIA]]
    return Rubric(
        name=_on_one_line(name),
        criteria=tuple(criteria),
        source=f"Drafted from the columns of a dataset with labels on {len(fit)} criteria; the questions are"
        " to be worded by whoever knows what was asked of its annotators.",
    )


def _criterion(name: str) -> Criterion:
    return Criterion(name, f"Which response is better with regard to this: {words(name)}?")


def _on_one_line(name: str) -> str:
    return " ".join(HIDDEN.sub("", name).split())[:LONGEST_RUBRIC_NAME].strip() or "draft"
