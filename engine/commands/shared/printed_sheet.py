"""Sheets in a terminal.

Knows: how each part of a section is printed. Does not know: its content.
"""

from engine.commands.shared.console import printable, printed
from engine.core.sheets import Facts, Part, Section, Sentences, Sheet
from engine.core.value_tables import Table


def print_sheet(sheet: Sheet) -> None:
    """Print its title and sections, separated by empty lines."""
    print("\n\n".join([printable(sheet.title), *map(printed_section, sheet.sections)]))


def printed_section(section: Section) -> str:
    """The title, the parts that a terminal can show, and the note in brackets."""
    title = f"{printable(section.title)}:" if section.title else ""
    parts = "\n\n".join(filter(None, map(_printed_part, section.parts)))
    note = f"({printable(section.note)})" if section.note else ""
    return "\n".join(filter(None, [title, parts, note]))


def _printed_part(part: Part) -> str:
    match part:
        case Table():
            return printed(part)
        case Sentences():
            return "\n".join(map(printable, part.texts))
        case Facts():
            width = max((len(name) for name, _ in part.pairs), default=0)
            return "\n".join(f"{name.ljust(width)}  {printable(value)}" for name, value in part.pairs)
        case _:
            return ""  # a picture
