"""`--latex` and `--markdown`: the tables that the commands print, as files."""

import re
from pathlib import Path

import pytest

from engine.core import VERSION
from engine.core.errors import SetupError
from tests.commands import give
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


def test_an_audit_is_written_too(demo_store: Path, tmp_path: Path) -> None:
    out = tmp_path / "audit.md"
    assert give("audit", 1, "--store", demo_store, "--markdown", out) == 0
    assert "## Robustness audit of the judge\n" in out.read_text("utf-8")


def test_a_file_that_is_read_is_not_overwritten(command: Command, demo_gold: Path) -> None:
    for name in COMMANDS_WITH_TABLES:
        out = ("--out", "x.json") if name == "calibrate" else ()
        with pytest.raises(SetupError, match="would be overwritten"):
            command(name, 1, "--gold", demo_gold, *out, "--latex", demo_gold)
    with pytest.raises(SetupError, match="would be overwritten"):
        give("rank", demo_gold, "--markdown", demo_gold)


def test_scores_have_no_tables(tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    scores.write_text('[{"id": "1", "scores_a": {"q": 1}, "scores_b": {"q": 2}}]', "utf-8")
    words = [str(scores), "--weights", "q=1", "--latex", str(tmp_path / "x.tex")]
    with pytest.raises(SetupError, match="scored comparisons have no tables"):
        give("weighted-score", *words)
