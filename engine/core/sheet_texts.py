"""Sheets and their tables as LaTeX, for a paper, and as Markdown, for notes.

A table is written as users read it; what stands out is bold, numbers are aligned at the right. LaTeX has the
tables, with what was said next to them as comments; Markdown has all of a sheet but its pictures.

Knows: how each part is written, what must be escaped. Does not know: what it says, files.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from engine.core.formatting import visible
from engine.core.sheets import Facts, Part, Sentences, Sheet
from engine.core.value_tables import Table

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
_BEGINS_A_LIST = re.compile(r"^(\d*)([-+.)])")


def sheet_latex(sheet: Sheet, made_by: str) -> str:
    r"""All tables of a sheet, each by itself, for \input; their captions say what they show, and of what.

    `made_by`: with what, in a comment at the beginning.
    """
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
    r"""A table in LaTeX, with the rules of booktabs, a caption, and the name `tab:label`."""
    columns = "".join("r" if column.kind.is_number else "l" for column in table.columns)
    rows = [_latex_row(map(escaped, table.titles)), r"\midrule"]
    rows += [_latex_row(cells) for cells in _cells(table, escaped, r"\textbf{%s}", _number)]
    return "\n".join(
        (
            *(r"\begin{table}", r"\centering", rf"\caption{{{escaped(caption)}}}", rf"\label{{tab:{label}}}"),
            *(rf"\begin{{tabular}}{{{columns}}}", r"\toprule"),
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
            said = [f"- {_BEGINS_A_LIST.sub(_no_list, _markdown(text))}" for text in _said(part)]
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


def _latex_row(cells: Iterator[str] | Sequence[str]) -> str:
    return rf"{' & '.join(cells)} \\"


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


def _no_list(found: re.Match[str]) -> str:
    return f"{found[1]}\\{found[2]}"
