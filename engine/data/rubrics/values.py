"""A rubric out of plain values, such as TOML gives, with everything that is wrong in them.

Knows: which names a rubric's file has, of what kind their values are, how a place in it is named.
Does not know: files, TOML's syntax.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from typing import Any

from engine.core.errors import MOST_PROBLEMS_SHOWN, SetupError
from engine.core.formatting import listed, quoted
from engine.core.rubric import (
    WORDING_PARTS,
    Criterion,
    FieldProblem,
    PromptWording,
    Rubric,
    criteria_problems,
    criterion_problems,
    rubric_problems,
    wording_problems,
)

OF_RUBRIC = ("name", "source", "tie_threshold", "criteria", "wording")
OF_CRITERION = ("name", "question", "good", "bad", "weight")
OF_WORDING = tuple(WORDING_PARTS)
_NUMBERS = ("weight", "tie_threshold")
_NEAR = 0.6
_KINDS = {bool: "yes or no", str: "text", int: "a number", float: "a number", list: "a list"}


class RubricValuesError(SetupError):
    """Plain values are no rubric; `problems`: a sentence for each, beginning with its place."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems), "Fix the values.")


def rubric_of_values(values: Mapping[str, Any]) -> Rubric:
    """The rubric that plain values describe. Raises RubricValuesError with all that is wrong in them."""
    problems: list[str] = []
    whole = _fields("", values, OF_RUBRIC, ("name", "criteria"), problems)
    problems += _sentences("", rubric_problems({name: whole[name] for name in _PLAIN if name in whole}))
    criteria = _criteria(whole["criteria"], problems) if "criteria" in whole else []
    wording = _wording(whole.get("wording", {}), problems)
    if problems:
        raise RubricValuesError(problems)
    texts = {name: whole[name] for name in _PLAIN if name in whole}
    parts = (Criterion(**criterion) for criterion in criteria)
    return Rubric(criteria=tuple(parts), wording=PromptWording(**wording), **texts)


_PLAIN = ("name", "source", "tie_threshold")


def _criteria(found: Any, problems: list[str]) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(part, Mapping) for part in found):
        problems.append(f'"criteria": {_kind(found)}. Begin each criterion with a line [[criteria]].')
        return []
    criteria = []
    for number, part in enumerate(found, start=1):
        place = f"criteria {number}"
        known = _fields(place, part, OF_CRITERION, ("name", "question"), problems)
        problems += _sentences(place, criterion_problems(known))
        criteria.append(known)
    names = [criterion["name"] for criterion in criteria if "name" in criterion]
    if len(names) == len(criteria):
        problems += _sentences("", criteria_problems(names))
    return criteria


def _wording(found: Any, problems: list[str]) -> dict[str, str]:
    if not isinstance(found, Mapping):
        problems.append(f'"wording": {_kind(found)}. Begin it with a line [wording].')
        return {}
    known = _fields("wording", found, OF_WORDING, (), problems)
    problems += _sentences("wording", wording_problems(known))
    return known


def _fields(
    place: str,
    values: Mapping[str, Any],
    known: tuple[str, ...],
    needed: tuple[str, ...],
    problems: list[str],
) -> dict[str, Any]:
    """The values of the known names that are of the right kind; what is wrong with the others is reported."""
    right = {}
    for name, value in values.items():
        if name not in known:
            seek = len(problems) < MOST_PROBLEMS_SHOWN
            near = difflib.get_close_matches(name.casefold(), known, 1, _NEAR) if seek else []
            hint = f'The nearest is "{near[0]}".' if near else f"Known are {listed(known, len(known))}."
            problems.append(f"{_place(place, name)}: not known. {hint}")
        elif name in ("criteria", "wording"):
            right[name] = value
        elif name in _NUMBERS:
            if isinstance(value, bool) or not isinstance(value, int | float) or _is_huge(value):
                problems.append(f"{_place(place, name)}: {_kind(value)}. Write a number, such as 1.0.")
            else:
                right[name] = float(value)
        elif isinstance(value, str):
            right[name] = value.replace("\r\n", "\n")
        else:
            problems.append(f"{_place(place, name)}: {_kind(value)}. Write a text in quotes.")
    problems += [
        f"{_place(place, name)}: missing. Add {_EXAMPLES[name]}." for name in needed if name not in values
    ]
    return right


_EXAMPLES = {
    "name": 'name = "…"',
    "question": 'question = "Which response …?"',
    "criteria": "a part that begins with [[criteria]] for each criterion",
}


def _is_huge(value: float) -> bool:
    try:
        float(value)
    except OverflowError:
        return True
    return False


def _sentences(place: str, found: Iterator[FieldProblem]) -> list[str]:
    return [f"{_place(place, problem.field)}: {problem.problem} {problem.advice}" for problem in found]


def _place(place: str, name: str) -> str:
    shown = '"' + quoted(name)[1:-1] + '"'
    return f"{place}, {shown}" if place else shown


def _kind(value: Any) -> str:
    """What a value is, for users."""
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, date | time):
        return "a day or a time"
    return "a table" if isinstance(value, Mapping) else _KINDS.get(type(value), "another kind of value")
