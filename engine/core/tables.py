"""Sheets: what is shown of something, as a record before it is a text, a page or widgets; and their tables,
whose columns know of what kind their values are, how these are written and what they mean.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import Any, cast

from engine.core.errors import EngineBug
from engine.core.formatting import interval, number, percent, visible, words, yes_or_no


class Kind(StrEnum):
    NAME = "name"  # words of ours, such as the name of a criterion or a measure
    TEXT = "text"  # any other text, also of files and users
    FLAG = "flag"  # true or false
    COUNT = "count"  # a whole number
    SHARE = "share"  # 0 to 1
    NUMBER = "number"  # with the decimals of its column
    SHORTEST = "shortest"  # a number with the digits that it needs
    INTERVAL = "interval"  # its two ends
    SHARE_INTERVAL = "interval of shares"  # its two ends, 0 to 1
    PAIR = "pair"  # two whole numbers
    RANKED = "ranked"  # a Ranked
    PARTIAL = "partial"  # a Partial
    PART = "part"  # a PartOf
    ESTIMATE = "estimate"  # an Estimate
    MEASURE = "measure"  # an Estimate of something that is no share, such as kappa
    FACT = "fact"  # a Fact: each row has a kind of its own

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers: these sort by size, and a window lines them up at the right."""
        return self not in _WORDS


_WORDS = {Kind.NAME, Kind.TEXT, Kind.FLAG}
_SHARES = {Kind.SHARE, Kind.SHARE_INTERVAL, Kind.ESTIMATE}


@dataclass(frozen=True)
class Ranked:
    """A measure, its rank, 1 the best, and its 95 % interval, in its unit; neither where none is given."""

    value: float | None
    rank: float | None = None
    ends: tuple[float, float] | None = None

    def __str__(self) -> str:
        if self.value is None:
            return number(None)
        ends = f" ({interval(self.ends)})" if self.ends else ""
        rank = "" if self.rank is None else f" [{self.rank:g}]"
        return f"{number(self.value)}{ends}{rank}"


@dataclass(frozen=True)
class Partial:
    """A measure, how many items it omits, and its 95 % interval, in its unit, where there is one."""

    value: float | None
    left_out: int = 0
    ends: tuple[float, float] | None = None

    def __str__(self) -> str:
        shown = str(Ranked(self.value, ends=self.ends))
        return f"{shown} ({self.left_out:,} omitted)" if self.left_out else shown


@dataclass(frozen=True)
class PartOf:
    """So many, of how many there are; None where nobody knows that."""

    value: int
    whole: int | None

    def __str__(self) -> str:
        return f"{self.value:,}" if self.whole is None else f"{self.value:,} of {self.whole:,}"


@dataclass(frozen=True)
class Estimate:
    """A share (0 to 1) or a difference of shares (-1 to 1), and its 95 % interval where there is one."""

    value: float
    ends: tuple[float, float] | None = None

    def __str__(self) -> str:
        shown = number(100 * self.value, 1)
        return shown if self.ends is None else f"{shown} ({interval(self.ends, 100)})"

    def turned(self) -> "Estimate":
        ends = None if self.ends is None else (1 - self.ends[1], 1 - self.ends[0])
        return Estimate(1 - self.value, ends)


@dataclass(frozen=True)
class Fact:
    kind: Kind
    value: "Value"

    def __str__(self) -> str:
        return value_text(self.value, self.kind)


Value = str | float | tuple[float, float] | Ranked | Partial | PartOf | Estimate | Fact | None
"""None where it is not known; the empty text where nothing belongs, in a column of any kind."""

_WRITTEN: Mapping[Kind, Callable[[Any], str]] = {
    Kind.FLAG: yes_or_no,
    Kind.COUNT: "{:,}".format,
    Kind.SHARE: percent,
    Kind.SHORTEST: "{:g}".format,
    Kind.INTERVAL: interval,
    Kind.SHARE_INTERVAL: lambda ends: interval(ends, 100),
    Kind.PAIR: lambda numbers: "{}/{}".format(*numbers),
}


def value_text(value: Value, kind: Kind, digits: int = 2, least: float | None = None) -> str:
    """A value as users read it, a dash for None; `digits` and `least` as `number` takes them."""
    if value is None:
        return "-"
    if kind is Kind.MEASURE and isinstance(value, Estimate):
        shown = [number(each, digits) for each in (value.value, *(value.ends or ()))]
        return shown[0] if value.ends is None else f"{shown[0]} ({shown[1]} to {shown[2]})"
    if isinstance(value, str | Ranked | Partial | PartOf | Estimate | Fact):
        return str(value)
    if kind is Kind.NUMBER:
        return number(cast(float, value), digits, least)
    return _WRITTEN[kind](value)


@dataclass(frozen=True)
class Column:
    key: str  # its name among the columns
    title: str
    kind: Kind
    meaning: str = ""  # a sentence on what it holds
    digits: int = 2  # decimals of a NUMBER
    least: float | None = None  # a NUMBER below it is shown as less than it
    instead: Mapping[Value, str] = field(default_factory=dict)  # what is shown for some values
    foreign: bool = False  # its title is a name that the user gave
    shaded: bool = False
    """Estimates of shares about one half: a window colours cells by them, with intervals in tool tips."""

    def means(self, meaning: str) -> "Column":
        """The same with what it holds, where that needs lines of its own."""
        return replace(self, meaning=meaning)

    def text(self, value: Value) -> str:
        if value in self.instead:
            return self.instead[value]
        return value_text(value, self.kind, self.digits, self.least)

    def cells(self, value: Value) -> list[str]:
        """Of a spreadsheet: what `in_parts` gives, shares in percent, nothing beside the numbers."""
        if value in self.instead:
            return [self.instead[value], *[""] * (len(parts_of(self.kind)) - 1)]
        kind = value.kind if isinstance(value, Fact) else self.kind
        return [self._cell(part, kind) for part in in_parts(value, self.kind)]

    def _cell(self, part: str | float | None, kind: Kind) -> str:
        if part is None or isinstance(part, str):
            return part or ""
        if kind is Kind.FLAG:
            return yes_or_no(bool(part))
        if kind in _SHARES:
            return number(100 * part, 1)
        digits = _EXACT if kind is Kind.SHORTEST or isinstance(part, int) else self.digits
        return f"{round(part, digits) + 0.0:.{_EXACT}g}"

    def sort_key(self, value: Value) -> float | str:
        """By what a value is sorted: what is not known, or not there, comes before all."""
        return _size(value) if self.kind.is_number else "" if value is None else self.text(value)


def _size(value: Value) -> float:
    """A value as one number: the low end of an interval, the first of a pair."""
    if isinstance(value, Ranked | Partial | PartOf | Estimate | Fact):
        return _size(value.value)
    if isinstance(value, tuple):
        return value[0]
    return -math.inf if value is None or isinstance(value, str) else value


_EXACT = 12  # digits, of a number that is not rounded
_ONE = ("", "")
_ENDS = (("low", "The lower end of its 95 % interval."), ("high", "The upper end of its 95 % interval."))
_PARTS: Mapping[Kind, Sequence[tuple[str, str]]] = {
    Kind.INTERVAL: (("low", "The lower end."), ("high", "The upper end.")),
    Kind.SHARE_INTERVAL: (("low", "The lower end."), ("high", "The upper end.")),
    Kind.PAIR: (("first", "The first of two numbers."), ("second", "The second of two numbers.")),
    Kind.RANKED: (_ONE, ("rank", "Its rank, 1 the best."), *_ENDS),
    Kind.PARTIAL: (_ONE, ("left_out", "How many items it leaves out."), *_ENDS),
    Kind.PART: (_ONE, ("of", "Of how many.")),
    Kind.ESTIMATE: (_ONE, *_ENDS),
    Kind.MEASURE: (_ONE, *_ENDS),
    Kind.FACT: (_ONE, *_ENDS),
}


def parts_of(kind: Kind) -> Sequence[tuple[str, str]]:
    """The columns of single values that a column of a kind becomes: suffix of the name, and meaning."""
    return _PARTS.get(kind, (_ONE,))


def in_parts(value: Value, kind: Kind) -> tuple[str | float | None, ...]:
    """A value by these columns."""
    if isinstance(value, Fact) and kind is Kind.FACT:
        if isinstance(value.value, tuple):
            return None, *value.value
        if isinstance(value.value, Estimate):
            return in_parts(value.value, Kind.ESTIMATE)
        return in_parts(value.value, value.kind)[0], None, None
    match value:
        case Ranked():
            found: tuple[str | float | None, ...] = (value.value, value.rank, *(value.ends or ()))
        case Partial():
            found = (value.value, value.left_out, *(value.ends or ()))
        case PartOf():
            found = (value.value, value.whole)
        case Estimate():
            found = (value.value, *(value.ends or ()))
        case tuple():
            found = value
        case str() | int() | float() | None:
            found = (value,)
        case _:
            raise EngineBug(f"a {kind} of a table is {value!r}")
    return (*found, *[None] * (len(parts_of(kind)) - len(found)))


Row = Sequence[Value]


@dataclass(frozen=True)
class ItemsBehind:
    """Items that a row of a table reports, on one criterion or, for None, on all."""

    ids: frozenset[str]
    criterion: str | None
    words: str


@dataclass(frozen=True)
class Table:
    """`best`: row and column, from 0, of the cells that stand out. `behind`: of each row what it reports;
    `behind_cells`: of some cells. EngineBug where a row does not fit the columns.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    best: frozenset[tuple[int, int]] = frozenset()
    behind: Sequence[ItemsBehind] = ()
    behind_cells: Mapping[tuple[int, int], ItemsBehind] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keys = [column.key for column in self.columns]
        if len(set(keys)) < len(keys):
            raise EngineBug(f"two columns of a table have one key: {keys}")
        if any(len(row) != len(keys) for row in self.rows):
            raise EngineBug(f"a row of a table does not have {len(keys)} values, as its columns: {keys}")

    @property
    def titles(self) -> list[str]:
        return [column.title for column in self.columns]

    def texts(self) -> list[list[str]]:
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows
        ]

    def with_tabs(self) -> str:
        """For a spreadsheet: each number in a cell of its own, also the ends of an interval."""
        made: list[list[str]] = []
        for place, column in enumerate(self.columns):
            rows = [column.cells(row[place]) for row in self.rows]
            for (suffix, _), *cells in zip(parts_of(column.kind), *rows, strict=True):
                if not suffix or any(cells):
                    made.append([f"{column.title} {words(suffix)}".strip(), *cells])
        return "\n".join("\t".join(line) for line in zip(*made, strict=True))


class Tone(StrEnum):
    PLAIN = "plain"
    CAVEAT = "caveat"  # a reader must not miss them


@dataclass(frozen=True)
class Sentences:
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
    key: str  # its name among the sections of a sheet
    title: str
    parts: Sequence[Part]
    note: str = ""  # what its parts show
    help: Sequence[str] = ()  # its words that the window's help explains
    spelt_out: bool = False  # a page, which has no tool tips, says what the columns of its tables mean


@dataclass(frozen=True)
class Sheet:
    title: str
    sections: Sequence[Section]

    def with_section(self, section: Section) -> "Sheet":
        by_key = {each.key: each for each in self.sections}
        return replace(self, sections=tuple({**by_key, section.key: section}.values()))

    def without(self, key: str) -> "Sheet":
        return replace(self, sections=tuple(each for each in self.sections if each.key != key))


_MEANT_BY_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_LATEX = re.compile("|".join(map(re.escape, _MEANT_BY_LATEX)))
_LIGATURE = re.compile(r"([-',])(?=\1)")
_MINUS = re.compile(r"(?<!\w)-(?=[\d.])")
_MARKDOWN = re.compile(r"[\\`*_{}\[\]<>|~&#$]")
_OF_WHAT = re.compile(" against |[,:]")  # what ends the name of what a sheet is about
_BEGINS_A_LIST, _NO_LIST = re.compile(r"^(\d*)([-+.)])"), r"\1\\\2"


def sheet_latex(sheet: Sheet, made_by: str) -> str:
    """All tables of a sheet, with captions. `made_by`: with what, in a comment at the beginning."""
    blocks = ["\n".join(map(_comment, (made_by, sheet.title, _NEEDS)))]
    labels: Counter[str] = Counter()
    for section in sheet.sections:
        said = [_comment(text) for text in chain.from_iterable(map(_said, section.parts))]
        blocks += ["\n".join(said)] if said else []
        caption = f"{', '.join(filter(None, (section.title, sheet.title)))}. {section.note}"
        for table in (part for part in section.parts if isinstance(part, Table)):
            label = latex_label(_OF_WHAT.split(sheet.title)[0], section.key)
            while labels[label]:
                labels[label] += 1
                label = f"{label}-{labels[label]}"
            labels[label] += 1
            blocks.append(latex_table(table, caption, label))
    return "\n\n".join(blocks) + "\n"


_NEEDS = r"Needs \usepackage{booktabs}; for names in other scripts than Latin XeLaTeX or LuaLaTeX."


def latex_label(*texts: str) -> str:
    """What a table may be called in LaTeX, out of the letters and digits of some texts: `run-2-labels`."""
    return "-".join(filter(None, (re.sub("[^a-z0-9]+", "-", each.lower()).strip("-") for each in texts)))


def latex_table(table: Table, caption: str, label: str) -> str:
    """With the rules of booktabs, a caption, and the name `tab:label`."""
    columns = "".join("r" if column.kind.is_number else "l" for column in table.columns)
    cells = (map(escaped, table.titles), *_cells(table, escaped, r"\textbf{%s}", _number))
    titles, *rows = (rf"{' & '.join(row)} \\" for row in cells)
    return "\n".join(
        (
            *(r"\begin{table}", r"\centering", rf"\caption{{{escaped(caption)}}}", rf"\label{{tab:{label}}}"),
            *(rf"\begin{{tabular}}{{{columns}}}", r"\toprule", titles, r"\midrule"),
            *rows,
            *(r"\bottomrule", r"\end{tabular}", r"\end{table}"),
        )
    )


def escaped(text: str) -> str:
    r"""A text that LaTeX shows as it is, on one line: `R\&D`. Hidden characters are written out."""
    plain = " ".join(visible(text).split())
    shown = _LIGATURE.sub(r"\1{}", _LATEX.sub(lambda found: _MEANT_BY_LATEX[found[0]], plain))
    # A bracket at the beginning of a row is taken for an option of the row before it.
    return f"{{{shown}}}" if shown.startswith(("[", "*")) else shown


def sheet_markdown(sheet: Sheet, made_by: str) -> str:
    """All of a sheet but its pictures; `made_by`: with what, in a comment at the beginning."""
    comment = " ".join(visible(made_by).split()).replace("--", "- -")  # which would end it
    blocks = [f"<!-- {comment} -->", f"# {_markdown(sheet.title)}"]
    for section in sheet.sections:
        blocks += [f"## {_markdown(section.title)}"] if section.title else []
        for part in section.parts:
            said = [f"- {_BEGINS_A_LIST.sub(_NO_LIST, _markdown(text))}" for text in _said(part)]
            blocks += ["\n".join(said)] if said else []
            blocks += [markdown_table(part)] if isinstance(part, Table) else []
        blocks += [_markdown(section.note)] if section.note else []
    return "\n\n".join(blocks) + "\n"


def markdown_table(table: Table) -> str:
    """A table in Markdown, as GitHub and pandoc read it: a line for each row."""
    sides = ["---:" if column.kind.is_number else ":---" for column in table.columns]
    rows = [map(_markdown, table.titles), sides, *_cells(table, _markdown, "**%s**")]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _cells(
    table: Table, written: Callable[[str], str], bold: str, number: Callable[[str], str] = str
) -> Iterator[Sequence[str]]:
    """The texts of each row; `number`: what is made of one of a number, once it is written."""
    for row, texts in enumerate(table.texts()):
        shown = [
            number(written(text)) if column.kind.is_number else written(text)
            for column, text in zip(table.columns, texts, strict=True)
        ]
        best = {place for at, place in table.best if at == row}
        yield [bold % cell if place in best and cell else cell for place, cell in enumerate(shown)]


def _number(written: str) -> str:
    """A number in LaTeX: a minus instead of a hyphen, a dash for what is not known."""
    return "--" if written == "-" else _MINUS.sub("$-$", written)


def _comment(text: str) -> str:
    return f"% {' '.join(visible(text).split())}"


def _said(part: Part) -> Iterator[str]:
    """What a part says in sentences or as facts; nothing of a table and of a picture."""
    if isinstance(part, Sentences):
        yield from part.texts
    elif isinstance(part, Facts):
        yield from (f"{name}: {value}" for name, value in part.pairs)


def _markdown(text: str) -> str:
    """A text that Markdown shows as it is, on one line of the file."""
    shown = _MARKDOWN.sub(lambda found: f"\\{found[0]}", visible(text).strip())
    return shown.replace("\t", " ").replace("\n", "<br>")
