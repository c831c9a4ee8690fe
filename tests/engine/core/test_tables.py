"""Tables of values: how values of each kind are written, and by what they are sorted."""

import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.core.errors import EngineBug
from engine.core.items import Preference
from engine.core.tables import (
    Column,
    Estimate,
    Fact,
    Facts,
    Kind,
    Partial,
    Picture,
    Ranked,
    Section,
    Sentences,
    Sheet,
    Table,
    Value,
    escaped,
    latex_table,
    markdown_table,
    sheet_latex,
    sheet_markdown,
)
from tests.value_kinds import ASCENDING


def column(kind: Kind, key: str = "key") -> Column:
    return Column(key, "title", kind, "What it holds.")


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Kind.NAME, "overall quality", "overall quality"),
        (Kind.TEXT, "3 of\nthem\x00", "3 of\nthem\x00"),
        (Kind.TEXT, Preference.BOTH_GOOD, "both_good"),
        (Kind.FLAG, True, "yes"),
        (Kind.COUNT, 12345, "12,345"),
        (Kind.SHARE, 0.4567, "45.7 %"),
        (Kind.NUMBER, 3.14159, "3.14"),
        (Kind.NUMBER, -0.001, "0.00"),
        (Kind.NUMBER, 12345.678, "12345.68"),
        (Kind.SHORTEST, 0.5, "0.5"),
        (Kind.INTERVAL, (-1.04, 31.55), "-1.0 to 31.6"),
        (Kind.SHARE_INTERVAL, (0.153, 1.0), "15.3 to 100.0"),
        (Kind.PAIR, (4, 0), "4/0"),
        (Kind.RANKED, Ranked(85.126, 2.5), "85.13 [2.5]"),
        (Kind.RANKED, Ranked(85, 1, (80.04, 90)), "85.00 (80.0 to 90.0) [1]"),
        (Kind.RANKED, Ranked(None), "-"),
        (Kind.PARTIAL, Partial(33.3, 2, (20.04, 50)), "33.30 (20.0 to 50.0) (2 omitted)"),
        (Kind.PARTIAL, Partial(None, 2), "- (2 omitted)"),
        (Kind.ESTIMATE, Estimate(0.5, (0.25, 0.751)), "50.0 (25.0 to 75.1)"),
        (Kind.ESTIMATE, Estimate(-0.025), "-2.5"),
        (Kind.FACT, Fact(Kind.COUNT, 1234), "1,234"),
        (Kind.FACT, Fact(Kind.SHARE, None), "-"),
    ],
)
def test_a_value_is_written_by_the_kind_of_its_column(kind: Kind, value: Value, text: str) -> None:
    assert column(kind).text(value) == text


@pytest.mark.parametrize("kind", Kind)
def test_what_is_not_known_is_a_dash_and_sorts_first_and_what_does_not_belong_is_empty(kind: Kind) -> None:
    assert (column(kind).text(None), column(kind).text("")) == ("-", "")
    descending = ASCENDING[kind][::-1]
    assert sorted(descending, key=column(kind).sort_key) == ASCENDING[kind]
    assert column(kind).sort_key("") == column(kind).sort_key(None)


@pytest.mark.parametrize(
    ("digits", "least", "value", "text"),
    [
        (3, None, 0.0004, "0.000"),
        (3, 0.001, 0.0004, "<0.001"),
        (4, 0.0001, 0.0, "<0.0001"),
        (4, 0.0001, None, "-"),
    ],
)
def test_a_column_says_how_many_decimals_and_which_number_is_the_least(
    digits: int, least: float | None, value: float | None, text: str
) -> None:
    shown = Column("key", "title", Kind.NUMBER, "What it holds.", digits=digits, least=least)
    assert shown.text(value) == text


def test_words_stand_for_some_values() -> None:
    strength = Column("key", "title", Kind.SHORTEST, "What.", instead={0.0: "as it is", math.inf: "all"})
    assert [strength.text(value) for value in (0.0, 0.03, math.inf)] == ["as it is", "0.03", "all"]
    assert [strength.sort_key(value) for value in (0.0, 0.03, math.inf)] == [0.0, 0.03, math.inf]


def test_a_table_writes_its_rows_by_their_columns() -> None:
    table = Table((column(Kind.NAME, "a"), column(Kind.SHARE, "b")), [["safety", 0.5], ["mean", None]])
    assert table.titles == ["title", "title"]
    assert table.texts() == [["safety", "50.0 %"], ["mean", "-"]]


def test_in_a_spreadsheet_each_number_has_a_cell_of_its_own() -> None:
    kinds = (Kind.NAME, Kind.COUNT, Kind.ESTIMATE, Kind.RANKED, Kind.FACT)
    rows: list[list[Value]] = [
        ["safety", 1200, Estimate(0.5, (0.25, 0.75)), Ranked(7.5), Fact(Kind.SHARE, 0.125)],
        ["mean", None, Estimate(-0.1), Ranked(8.25, 1.0), Fact(Kind.FLAG, True)],
    ]
    lines = Table([column(kind, kind.value) for kind in kinds], rows).with_tabs().split("\n")
    assert lines[0].split("\t") == [
        "title",
        "title",
        "title",
        "title low",
        "title high",
        "title",
        "title rank",
        "title",
    ]
    assert lines[1].split("\t") == ["safety", "1200", "50.0", "25.0", "75.0", "7.5", "", "12.5"]
    assert lines[2].split("\t") == ["mean", "", "-10.0", "", "", "8.25", "1", "yes"]


@pytest.mark.parametrize(("keys", "row"), [("ab", ["x"]), ("ab", ["x", 1, 2]), ("aa", ["x", 1])])
def test_a_table_that_does_not_fit_its_columns_is_a_fault_of_ours(keys: str, row: list[Value]) -> None:
    with pytest.raises(EngineBug):
        Table([column(Kind.TEXT, key) for key in keys], [row])


def test_a_section_takes_the_place_of_that_with_its_key() -> None:
    sheet = Sheet("title", [Section("one", "One", []), Section("two", "Two", [])])
    for key, titles in (("one", ["New", "Two"]), ("three", ["One", "Two", "New"])):
        assert [each.title for each in sheet.with_section(Section(key, "New", [])).sections] == titles
    assert [each.key for each in sheet.without("one").sections] == ["two"]


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
FOREIGN = Sheet(
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
    text = sheet_markdown(FOREIGN, "Made by -->")
    assert text.startswith("<!-- Made by - -> -->\n\n# run 7, R\\&D\\_50 % --\\> of all\n\n## Rates\n\n")
    assert "\n\n- 1\\. Not a list\n- \\- nor this\n\n| model" in text
    assert text.count("| :--- | ---: | ---: |") == 2
    assert text.endswith("\n\n- a\\|b: c\n")


def test_latex_has_the_tables_and_what_is_said_beside_them_as_comments() -> None:
    latex = sheet_latex(FOREIGN, "Made by Tiebreak")
    assert latex.startswith("% Made by Tiebreak\n% run 7, R&D_50 % --> of all\n")
    assert "\n% 1. Not a list\n% - nor this\n" in latex
    assert r"\caption{Rates, run 7, R\&D\_50 \% -{}-\textgreater{} of all. In\_brackets.}" in latex
    assert re.findall(r"\\label\{(.+)\}", latex) == ["tab:run-7-rates-more", "tab:run-7-rates-more-2"]
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
    (tmp_path / "tables.tex").write_text(sheet_latex(FOREIGN, "Made by Tiebreak"), "utf-8")
    inside = "\\begin{document}\\input{tables}\\end{document}"
    paper = f"\\documentclass{{article}}\\usepackage{{booktabs}}{inside}"
    (tmp_path / "paper.tex").write_text(paper, "utf-8")
    how = [] if Path(program).stem == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    ended = subprocess.run([program, *how, "paper.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 0
