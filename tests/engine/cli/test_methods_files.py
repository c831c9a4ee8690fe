"""`--methods-text` and `--bib`: each work that a paragraph cites has an entry, and no other one has."""

import re
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from tests.commands import ROOT, give
from tests.engine.cli.in_process import Command


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


def test_a_ranking_cites_what_it_uses(tmp_path: Path) -> None:
    files = tmp_path / "methods.tex", tmp_path / "works.bib"
    words = [ROOT / "examples" / "demo-candidates.tsv", "--methods-text", files[0], "--bib", files[1]]
    assert give("rank", *words) == 0
    bradley_terry = {"bradley1952rank", "davidson1970extending", "hesterberg2015teachers", "holm1979simple"}
    assert bradley_terry | {"korn1998confidence", "tiebreak"} <= cited(*files)


def test_a_plain_paragraph_cites_nothing_by_a_key(command: Command, demo_gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "methods.txt"
    command("evaluate", 1, "--gold", demo_gold, "--methods-text", path)
    text = path.read_text("utf-8")
    assert "Korn and Graubard (1998)" in text
    assert "\\" not in text
    assert "\n\nWhere the numbers come from:\n[1] gold.tsv, " in text


def test_a_bibliography_alone_is_refused(command: Command, demo_gold: Path, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="none is requested"):
        command("evaluate", 1, "--gold", demo_gold, "--bib", tmp_path / "works.bib")
