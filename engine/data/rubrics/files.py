"""The rubrics to choose from: those of the program, the users' own, one drafted of a dataset's labels.

A rubric out of plain values, such as TOML gives, with everything that is wrong in them.

Rubrics in TOML files: read whole or refused with all that is wrong, written whole or not at all.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import date, time
from functools import cache
from pathlib import Path
from typing import Any

from engine.core.codec import plain
from engine.core.errors import MOST_PROBLEMS_SHOWN, FileKind, InputError, SetupError
from engine.core.formatting import HIDDEN, counted, listed, quoted
from engine.core.rubric import (
    ELOQUENT,
    LONGEST_RUBRIC_NAME,
    WORDING_PARTS,
    Criterion,
    FieldProblem,
    PromptWording,
    Rubric,
    criteria_problems,
    criterion_problems,
    fitting_names,
    rubric_of_names,
    rubric_problems,
    wording_problems,
)
from engine.data.file_format import SAVE_AS_UTF8, read_text_file
from engine.data.file_kinds import expecting
from engine.settings.run_lists import amount_of_file
from engine.system.files import write_whole
from engine.system.paths import PathKind, is_there, rubrics_folder, seen_at
from engine.system.sandbox import sandboxed

OF_RUBRIC = ("name", "source", "tie_threshold", "criteria", "wording")
OF_CRITERION = ("name", "question", "good", "bad", "weight")
OF_WORDING = tuple(WORDING_PARTS)
_NUMBERS = ("weight", "tie_threshold")
_NEAR = 0.6
_HUGE = 2**1024 - 2**970  # whole numbers from here on are beyond all floating-point numbers
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
    plain_values = {name: whole[name] for name in _PLAIN if name in whole}
    problems += _sentences("", rubric_problems(plain_values))
    criteria = _criteria(whole["criteria"], problems) if "criteria" in whole else []
    wording = whole.get("wording", {})
    if isinstance(wording, Mapping):
        wording = _fields("wording", wording, OF_WORDING, (), problems)
        problems += _sentences("wording", wording_problems(wording))
    else:
        problems.append(f'"wording": {_kind(wording)}. Begin it with a line [wording].')
    if problems:
        raise RubricValuesError(problems)
    parts = (Criterion(**criterion) for criterion in criteria)
    return Rubric(criteria=tuple(parts), wording=PromptWording(**wording), **plain_values)


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
            is_huge = isinstance(value, int) and abs(value) >= _HUGE
            if isinstance(value, bool) or not isinstance(value, int | float) or is_huge:
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


MOST_BYTES_OF_RUBRIC = 1 << 20
"""More than the longest questions in any script take."""

_MOST_PARTS = 100  # of a key: Python's parser takes memory by their square
_NO_KEYS = re.compile(
    r'"""(?:[^\\]|\\.|\\\Z)*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'[^'\n]*+'?|#[^\n]*+",
    re.DOTALL,
)
"""Texts and comments; one that does not end runs to the end, so that a search takes one walk."""
_TABLES = (".tsv", ".csv", ".json", ".jsonl", ".ndjson", ".parquet")
_DEFAULT = {"weight": 1.0, "tie_threshold": 0.5}
_WHAT_A_RUBRIC_IS = (
    "A rubric is a TOML file: name, optionally source and tie_threshold, then [[criteria]] with name,"
    " question and optionally good, bad and weight, then optionally [wording]."
)
_MEND = "Fix the file in a text editor, or choose another one."


@sandboxed
def load_rubric(path: Path) -> Rubric:
    """The rubric in a TOML file.

    Raises SetupError where the file cannot be read, InputError with all that is wrong in it.
    """
    with expecting(path, FileKind.RUBRIC):
        return own_rubric(path)


def own_rubric(path: Path) -> Rubric:
    """The same of a file that comes with the program: it is read here."""
    try:
        return rubric_of_values(_toml(path, _text_of(path)))
    except RubricValuesError as error:
        raise InputError(path, error.problems, _MEND) from error


def rubric_text(rubric: Rubric) -> str:
    """A rubric as TOML: what is the default is omitted, but for the weights."""
    lines = [f"{name} = {_value(value)}" for name, value in _whole(rubric).items()]
    for criterion in rubric.criteria:
        lines += ["", "[[criteria]]"]
        lines += [f"{name} = {_value(value)}" for name, value in _of_criterion(criterion).items()]
    if rubric.wording.own:
        lines += ["", "[wording]"]
        lines += [f"{name} = {_value(text)}" for name, text in rubric.wording.own.items()]
    return "\n".join(lines) + "\n"


def save_rubric(path: Path, rubric: Rubric) -> None:
    """Write a rubric to a file, whole or not at all; `load_rubric` gives it back.

    Where the file holds one already, its comments, its order and what has not changed stay. Raises SetupError
    where it cannot be written, or where it is there and is not valid TOML: nothing else is overwritten.
    """
    text = _kept_text(path, rubric) if is_there(path) else rubric_text(rubric)
    write_whole(path, text.encode("utf-8"))


@sandboxed
def _kept_text(path: Path, rubric: Rubric) -> str:
    """The text of a rubric in the place of what a file holds, with what the user wrote into that."""
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415 - only a rubric that is kept needs it

    before = _text_of(path)
    _toml(path, before)
    with suppress(TOMLKitError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        after = _changed(before, rubric)
        # What cannot be changed in place, as tables in one line, is written anew.
        if rubric_of_values(tomllib.loads(after)) == rubric:
            return after
    return rubric_text(rubric)


def _text_of(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in _TABLES:
        raise InputError(path, [f"is a table by its name ({suffix}), not a rubric."], _WHAT_A_RUBRIC_IS)
    with suppress(OSError):
        size = path.stat().st_size if seen_at(path) is PathKind.FILE else 0
        if size > MOST_BYTES_OF_RUBRIC:
            found = f"has {amount_of_file(size)}; at most {amount_of_file(MOST_BYTES_OF_RUBRIC)} are read."
            raise InputError(path, [found], _WHAT_A_RUBRIC_IS)
    data = read_text_file(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"line {line}: the byte 0x{data[error.start]:02x} is not UTF-8."
        raise InputError(path, [found], SAVE_AS_UTF8) from error


def _toml(path: Path, text: str) -> dict[str, Any]:
    if any(line.count(".") > _MOST_PARTS for line in _NO_KEYS.sub("", text).split("\n")):
        raise InputError(path, [f"has a key of more than {_MOST_PARTS} parts."], _WHAT_A_RUBRIC_IS)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        first = text.lstrip().partition("\n")[0]
        if "\t" in first and "=" not in first:
            raise InputError(path, ["looks like a table, not a rubric."], _WHAT_A_RUBRIC_IS) from error
        raise InputError(path, [_said_of_toml(error)], f"{_MEND} {_WHAT_A_RUBRIC_IS}") from error


def _said_of_toml(error: Exception) -> str:
    """`line 3, column 5: not valid TOML: ...`, of what the parser says."""
    if isinstance(error, RecursionError):
        return "is not valid TOML: its values are nested too deeply."
    said = re.fullmatch(r"(.*?) \(at (?:(line \d+, column \d+)|(end of document))\)", str(error), re.S)
    if said is None:
        return f"is not valid TOML: {error}."
    return f"{said[2] or 'at its end'}: not valid TOML: {said[1][:1].lower()}{said[1][1:]}."


def _whole(rubric: Rubric) -> dict[str, Any]:
    source = {"source": rubric.source} if rubric.source else {}
    return {"name": rubric.name, **source, "tie_threshold": rubric.tie_threshold}


def _of_criterion(criterion: Criterion) -> dict[str, Any]:
    values = plain(criterion)
    weight = values.pop("weight")
    return {**{name: value for name, value in values.items() if value}, "weight": weight}


def _value(value: str | float) -> str:
    if not isinstance(value, str):
        return repr(value)
    plain = value.replace("\\", "\\\\")
    if "\n" not in plain:
        return '"' + plain.replace('"', '\\"') + '"'
    plain = plain.replace('"""', '""\\"')
    plain = plain[:-1] + '\\"' if plain.endswith('"') else plain
    return f'"""\n{plain}"""'


def _changed(before: str, rubric: Rubric) -> str:
    """The text of a file with another rubric in it; what users wrote around it stays."""
    import tomlkit  # noqa: PLC0415
    from tomlkit.items import AoT  # noqa: PLC0415

    document = tomlkit.parse(before)
    _set_values(document, _whole(rubric), {"source": rubric.source, **_whole(rubric)})
    tables = document["criteria"]
    if not isinstance(tables, AoT):
        raise TypeError("criteria in one line")
    old = list(tables)
    by_name = {str(table.get("name")): table for table in old}
    free = [table for name, table in by_name.items() if name not in rubric.names]
    # Each in the table that had its name, or one that was renamed in its place, or a new one.
    kept = []
    for place, criterion in enumerate(rubric.criteria):
        table = by_name.get(criterion.name)
        if table is None and place < len(old) and old[place] in free:
            table = old[place]
        if table is None:
            table = tomlkit.table()
        _set_values(table, _of_criterion(criterion), plain(criterion))
        kept.append(table)
    if [id(table) for table in kept] != [id(table) for table in old]:
        del tables[:]
        for table in kept:
            tables.append(table)
    if rubric.wording.own and "wording" not in document:
        document["wording"] = tomlkit.table()
    if "wording" in document:
        _set_values(document["wording"], rubric.wording.own, asdict(rubric.wording))
    text = tomlkit.dumps(document)
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in before else text


def _set_values(table: Any, written: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Give a table these values; those that are equal stay as they are, those not to be `written` go."""
    from tomlkit import parse  # noqa: PLC0415

    for name, value in values.items():
        if table.get(name, _DEFAULT.get(name)) == value:
            continue
        if name in written:
            table[name] = parse(f"value = {_value(value)}\n")["value"]
        elif name in table:
            del table[name]


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
    name = " ".join(HIDDEN.sub("", name).split())[:LONGEST_RUBRIC_NAME].strip() or "draft"
    return replace(rubric_of_names(names), name=name, source=source)
