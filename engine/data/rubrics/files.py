"""Rubrics in TOML files: read whole or refused with all that is wrong, written whole or not at all.

Knows: TOML, and how what the user wrote into a file stays there. Does not know: what a model is asked.
"""

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from engine.core.errors import InputError
from engine.core.file_kinds import FileKind
from engine.core.rubric import Criterion, Rubric
from engine.core.run_deletion import amount_of_file
from engine.data.file_format import SAVE_AS_UTF8, read_text_file
from engine.data.file_kinds import expecting
from engine.data.rubrics.values import RubricValuesError, rubric_of_values
from engine.system.files import write_whole
from engine.system.gate import sandboxed
from engine.system.places import PathKind, is_there, seen_at

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
    values = asdict(criterion)
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
    document = tomlkit.parse(before)
    _set_values(document, _whole(rubric), {"source": rubric.source, **_whole(rubric)})
    tables = document["criteria"]
    if not isinstance(tables, AoT):
        raise TypeError("criteria in one line")
    _set_criteria(tables, rubric)
    if rubric.wording.own and "wording" not in document:
        document["wording"] = tomlkit.table()
    if "wording" in document:
        _set_values(document["wording"], rubric.wording.own, asdict(rubric.wording))
    text = tomlkit.dumps(document)
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in before else text


def _set_criteria(tables: AoT, rubric: Rubric) -> None:
    """Each criterion in the table that had its name, or one that was renamed in its place, or a new one."""
    old = list(tables)
    by_name = {str(table.get("name")): table for table in old}
    free = [table for name, table in by_name.items() if name not in rubric.names]
    kept = []
    for place, criterion in enumerate(rubric.criteria):
        table = by_name.get(criterion.name)
        if table is None and place < len(old) and old[place] in free:
            table = old[place]
        if table is None:
            table = tomlkit.table()
        _set_values(table, _of_criterion(criterion), asdict(criterion))
        kept.append(table)
    if [id(table) for table in kept] != [id(table) for table in old]:
        del tables[:]
        for table in kept:
            tables.append(table)


def _set_values(table: Any, written: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Give a table these values; those that are equal stay as they are, those not to be `written` go."""
    for name, value in values.items():
        if table.get(name, _DEFAULT.get(name)) == value:
            continue
        if name in written:
            table[name] = tomlkit.parse(f"value = {_value(value)}\n")["value"]
        elif name in table:
            del table[name]
