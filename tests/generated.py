"""The blocks of code and of docs that are made of the tables of settings and of actions.

`python -m cogapp -r -I . FILE` writes them anew; tests/test_docs.py fails where one is out of date.
"""

import re
from enum import StrEnum
from pathlib import Path

from engine.data.catalogue import every_known
from engine.settings.rows import SettingRow, Surface, rows_on
from engine.settings.run_setup import RunSetup

_NEEDS_SHOWN = 4
_CAPITALS = re.compile(r"(?<![`\w])[A-Z]+_[A-Z_]+\b(?!`)")
ROOT = Path(__file__).resolve().parents[1]
GENERATED = ("docs/commands.md", "docs/window.md", "docs/known-files.md", "engine/api/judge.py")


def known_files() -> str:
    """The catalogue of known files as a table in Markdown, by name."""
    lines = ["", "| file | what it is read as | known by | lost | documented at |", "|---|---|---|---|---|"]
    for known in sorted(every_known(), key=lambda each: each.name.lower()):
        needs = ", ".join(f"`{need.partition('=')[0]}`" for need in known.needs[:_NEEDS_SHOWN])
        cells = (f"{known.name} ({known.published})", known.kind, needs, known.lost)
        shown = [" ".join(cell.split()).replace("|", "\\|") for cell in (*cells, known.documentation)]
        lines.append(_CAPITALS.sub(r"`\g<0>`", f"| {' | '.join(shown)} |"))
    return "\n".join([*lines, ""])


def _with_default(row: SettingRow, text: str) -> str:
    return text.replace("%(default)s", str(getattr(RunSetup, row.name)))


def api_fields() -> str:
    """The parameters of `tiebreak.Judge` that are settings, each with what it is."""
    lines = []
    for row in rows_on(Surface.API):
        kind = row.kind.__name__
        if issubclass(row.kind, StrEnum):
            words = ", ".join(f'"{each}"' for each in row.kind)
            kind = f"Literal[{words}]"
        meaning = _with_default(row, row.help)
        lines += [f"{row.name}: {kind} | None = None", f'"""{meaning[:1].upper()}{meaning[1:]}."""']
    return "\n".join(lines)


def _option(row: SettingRow) -> str:
    value = "" if row.kind is bool else row.metavar
    if issubclass(row.kind, StrEnum):
        value = "\\|".join(row.kind)
    option = f"{row.option} {value}".rstrip()
    return f"`{option}`"


def option_table(surface: Surface) -> str:
    """The options of a command that are settings, as a table in Markdown; those of `judge` are told there."""
    rows = [row for row in rows_on(surface) if row.help]
    shared = [row for row in rows if surface is not Surface.JUDGE and row.surfaces & Surface.JUDGE]
    lines = ["", "| setting | what it does |", "|---|---|"]
    if shared:
        lines.append(f"| {', '.join(map(_option, shared))} | as for [`judge`](#judge) |")
    for row in rows:
        if row not in shared:
            lines.append(f"| {_option(row)} | {_with_default(row, row.docs or row.help)} |")
    return "\n".join([*lines, ""])
