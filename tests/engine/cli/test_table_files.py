"""Files for a paper: the tables that commands print (`--latex`, `--markdown`); methods with references."""

import re
from pathlib import Path

import pytest

from engine.core import VERSION
from engine.core.errors import SetupError
from tests.engine.cli.in_process import Command

COMMANDS_WITH_TABLES = {
    "evaluate": ("--confusion", "--by", "length"),
    "compare": ("--by", "length"),
    "calibrate": ("--out", "calibration.json"),
    "weighted-score": ("--by", "length"),
    "learning-curve": (),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS_WITH_TABLES)
def test_what_is_printed_is_written_too(
    command: Command,
    demo_store: Path,
    demo_gold: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    systems = [1, demo_store.parent / "submission.tsv"] if name == "compare" else [1]
    files = ("--latex", "tables.tex", "--markdown", "tables.md")
    printed = command(name, *systems, "--gold", demo_gold, *COMMANDS_WITH_TABLES[name], *files)
    assert "Tables: tables.tex\n\nTables: tables.md\n\n" in printed
    latex, markdown = (Path(file).read_text("utf-8") for file in files[1::2])
    assert latex.startswith(f"% Made by Tiebreak {VERSION}, command {name}\n% run 1")
    assert latex.count(r"\begin{tabular}") == markdown.count("\n| ---") + markdown.count("\n| :---") > 0
    captions = re.findall(r"\\caption\{(.+)\}", latex)
    assert all("run 1" in caption for caption in captions)
    assert len({*re.findall(r"\\label\{(.+)\}", latex)}) == len(captions)
    for line in markdown.splitlines():
        if line.startswith("| ") and "---" not in line:
            cells = [re.sub(r"\\(.)", r"\1", cell).strip(" *") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            assert re.search(r"\s+".join(re.escape(cell) for cell in cells if cell), printed)


def cited(paragraph: Path, bib: Path) -> set[str]:
    """The keys that a paragraph cites: each has an entry of BibTeX, and each entry is cited."""
    entries = re.findall(r"^@\w+\{(.+),$", bib.read_text("utf-8"), re.M)
    keys = set(re.findall(r"\\cite\{([^}]+)\}", paragraph.read_text("utf-8")))
    assert sorted(keys) == entries
    return keys


def test_an_evaluation_cites_what_it_uses(command: Command, demo_gold: Path, tmp_path: Path) -> None:
    files = tmp_path / "methods.tex", tmp_path / "works.bib"
    printed = command("evaluate", 1, "--gold", demo_gold, "--methods-text", files[0], "--bib", files[1])
    assert f"Methods: {files[0]}\n\nReferences: {files[1]}\n\n" in printed
    assert {"korn1998confidence", "lin2004rouge", "tiebreak"} <= cited(*files)
    first, *lines = files[0].read_text("utf-8").splitlines()
    assert first.startswith("% Made by Tiebreak ")
    assert all(line.startswith("% ") for line in lines[::2])
    assert not [line for line in lines[1::2] if line.startswith("%") or re.search(r"(?<!\\)[%&#_]", line)]
    assert "demo-judge" in lines[3]


def test_a_bibliography_alone_is_refused(command: Command, demo_gold: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="none is requested"):
        command("evaluate", 1, "--gold", demo_gold, "--bib", tmp_path / "works.bib")
