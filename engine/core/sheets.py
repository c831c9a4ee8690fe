"""Sheets: what is shown of something, as a record before it is a text, a page or widgets.

A function for each section makes it once; the terminal, the HTML page and the window each have one renderer.

Knows: of what sections are made. Does not know: what they say, how they look.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.core.value_tables import Table


class Tone(StrEnum):
    """How sentences are meant."""

    PLAIN = "plain"
    CAVEAT = "caveat"  # a reader must not miss them


@dataclass(frozen=True)
class Sentences:
    """Sentences that belong together, each on a line of its own."""

    texts: Sequence[str]
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Facts:
    """Names and values, a pair on a line of its own."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Picture:
    """Where the figure of a name belongs, for a page that has it; `note`: how it is read."""

    name: str
    note: str = ""


Part = Facts | Table | Sentences | Picture


@dataclass(frozen=True)
class Section:
    """Parts under a title.

    `key`: its name among the sections of a sheet. `note`: what its parts show. `help`: its words that the
    window's help explains, by their headings there. `spelt_out`: whether a page, which has no tool tips, says
    what the columns of its tables mean.
    """

    key: str
    title: str
    parts: Sequence[Part]
    note: str = ""
    help: Sequence[str] = ()
    spelt_out: bool = False


@dataclass(frozen=True)
class Sheet:
    """Sections in the order in which they are read."""

    title: str
    sections: Sequence[Section]

    def with_section(self, section: Section) -> "Sheet":
        """The same with a section in the place of that with its key, else at the end."""
        by_key = {each.key: each for each in self.sections}
        return replace(self, sections=tuple({**by_key, section.key: section}.values()))

    def without(self, key: str) -> "Sheet":
        """The same without a section."""
        return replace(self, sections=tuple(each for each in self.sections if each.key != key))
