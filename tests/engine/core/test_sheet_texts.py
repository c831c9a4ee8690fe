"""Sheets as LaTeX and as Markdown: nothing of a foreign name is taken for a sign of either."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.core.tables import (
    Column,
    Estimate,
    Facts,
    Kind,
    Picture,
    Section,
    Sentences,
    Sheet,
    Table,
    escaped,
    latex_table,
    markdown_table,
    sheet_latex,
    sheet_markdown,
)
from tests.value_kinds import ASCENDING

BAD_NAMES = (
    "a|b",
    "back\\slash \\| end\\",
    "50 % of R&D_x #1 {y} $z$ ^ ~",
    "[x](y) *bold* `code` <br> &amp; -- ---",
    "two\nlines",
    "größer — 7B",
    "n" * 255,
    "[a]",
    "%",
    "\\end{tabular}",
    "<!-- -->",
)
COLUMNS = (
    Column("name", "model_name | of", Kind.TEXT, "", foreign=True),
    Column("rate", "win rate (%)", Kind.ESTIMATE, ""),
    Column("lead", "lead", Kind.NUMBER, ""),
)
ROWS = [[name, Estimate(-0.5, (-0.9, 0.1)), None] for name in BAD_NAMES]
TABLE = Table(COLUMNS, ROWS, best=frozenset({(0, 1)}))
SHEET = Sheet(
    "run 7, R&D_50 % --> of all",
    [
        Section("rates & more", "Rates", [Sentences(["1. Not a list", "- nor this"]), TABLE], "In_brackets."),
        Section("rates & more", "", [TABLE, Picture("none"), Facts([("a|b", "c")])]),
    ],
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("R&D_50% #1 {x} $y$", r"R\&D\_50\% \#1 \{x\} \$y\$"),
        (r"a\b~c^d", r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d"),
        ("[a]", "{[a]}"),
        ("*", "{*}"),
        ("two\nlines\u202e", r"two lines\textbackslash{}u202e"),
        ("größer 7B", "größer 7B"),
        ("a--b ''c `d", r"a-{}-b '{}'c \textasciigrave{}d"),
        ("<|im_end|>", r"\textless{}\textbar{}im\_end\textbar{}\textgreater{}"),
    ],
)
def test_latex_shows_texts_as_they_are(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_no_sign_of_a_name_means_anything_to_latex() -> None:
    rows = [line for line in latex_table(TABLE, "", "x").splitlines() if line.endswith(r" \\")]
    assert len(rows) == 1 + len(BAD_NAMES)
    for row in rows:
        plain = re.sub(r"\\text[a-z]+(?=\{)|\\[&%$#_{}\\]|\$-\$", "", row)
        assert plain.count("{") == plain.count("}")
        assert plain.count("&") == len(COLUMNS) - 1
        assert not set("\\~^#%_$|<>") & set(plain)


def test_markdown_is_read_back_cell_by_cell() -> None:
    lines = markdown_table(TABLE).split("\n")
    assert len(lines) == 2 + len(BAD_NAMES)
    assert cells_of(lines[0]) == TABLE.titles
    assert lines[1] == "| :--- | ---: | ---: |"
    read, written = [cells_of(line) for line in lines[2:]], TABLE.texts()
    written[0][1] = f"**{written[0][1]}**"
    assert read == written


def cells_of(line: str) -> list[str]:
    """The cells of a row of a table in Markdown, by GitHub's rules: a bar with a backslash before it ends no
    cell, and a backslash before a sign of ASCII is not shown.
    """
    cells = re.split(r"(?<!\\)\|", line)[1:-1]
    return [re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell.strip().replace("<br>", "\n")) for cell in cells]


@pytest.mark.parametrize("kind", Kind)
def test_values_have_the_side_that_the_window_gives_them(kind: Kind) -> None:
    table = Table((Column("x", "x", kind, ""),), [[value] for value in ASCENDING[kind]])
    side = "r" if kind.is_number else "l"
    assert rf"\begin{{tabular}}{{{side}}}" in latex_table(table, "", "x")
    assert ("---:" in markdown_table(table)) == kind.is_number


def test_markdown_has_all_of_a_sheet() -> None:
    text = sheet_markdown(SHEET, "Made by -->")
    assert text.startswith("<!-- Made by - -> -->\n\n# run 7, R\\&D\\_50 % --\\> of all\n\n## Rates\n\n")
    assert "\n\n- 1\\. Not a list\n- \\- nor this\n\n| model" in text
    assert text.count("| :--- | ---: | ---: |") == 2
    assert text.endswith("\n\n- a\\|b: c\n")


def test_latex_has_the_tables_and_what_is_said_beside_them_as_comments() -> None:
    latex = sheet_latex(SHEET, "Made by Tiebreak")
    assert latex.startswith("% Made by Tiebreak\n% run 7, R&D_50 % --> of all\n")
    assert "\n% 1. Not a list\n% - nor this\n" in latex
    assert r"\caption{Rates, run 7, R\&D\_50 \% -{}-\textgreater{} of all. In\_brackets.}" in latex
    assert re.findall(r"\\label\{(.+)\}", latex) == [
        "tab:run-7-rates-more",
        "tab:run-7-rates-more-2",
    ]
    assert r" & \textbf{$-$50.0 ($-$90.0 to 10.0)} & -- \\" in latex


def test_no_two_tables_of_a_sheet_have_one_label() -> None:
    table = Table((Column("x", "x", Kind.TEXT, ""),), [["a"]])
    sections = [Section("a", "", [table, table]), Section("a-2", "", [table]), Section("表", "", [table])]
    latex = sheet_latex(Sheet("run 2 against the human labels of x.tsv", sections), "Made by Tiebreak")
    labels = re.findall(r"\\label\{(.+)\}", latex)
    assert len(set(labels)) == 4
    assert all(label.startswith("tab:run-2") for label in labels)


def test_latex_compiles(tmp_path: Path) -> None:
    program = shutil.which("tectonic") or shutil.which("pdflatex")
    if program is None:
        pytest.skip("neither tectonic nor pdflatex is on the PATH")
    (tmp_path / "tables.tex").write_text(sheet_latex(SHEET, "Made by Tiebreak"), "utf-8")
    inside = "\\begin{document}\\input{tables}\\end{document}"
    paper = f"\\documentclass{{article}}\\usepackage{{booktabs}}{inside}"
    (tmp_path / "paper.tex").write_text(paper, "utf-8")
    how = [] if Path(program).stem == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    ended = subprocess.run([program, *how, "paper.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 0
