"""Arguments that name a file or a folder, with names that lead nowhere: exit code 2, and the name is said."""

import sys
from pathlib import Path

import pytest

from bench.hostile.sound_files import command, home_in
from engine.cli.shared.console import WRONG_INPUT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")

HERE, DATA, STORE, OUT, DRAFT = "HERE", "DATA", "STORE", "OUT", "DRAFT"
GOLD = ["--gold", DATA, "--store", STORE]


@pytest.mark.parametrize(
    "words",
    [
        [HERE],
        [DATA, HERE],
        ["check", HERE],
        ["judge", HERE, "--model", "demo", "--plan"],
        ["judge", DATA, "--model", HERE, "--plan"],
        ["judge", DATA, "--model", "demo", "--plan", "--rubric", HERE],
        ["judge", DATA, "--model", "demo", "--store", STORE, "--out", HERE],
        ["rubrics", "show", HERE],
        ["rubrics", "draft", HERE, "--out", DRAFT],
        ["models", HERE],
        ["models", "check", HERE],
        ["models", "cut", HERE, "--layers", "1", "--out", DRAFT],
        ["runs", "--store", HERE],
        ["runs", "add", HERE, "--dataset", DATA, "--store", STORE],
        ["runs", "export", "1", "--json", HERE, "--store", STORE],
        ["runs", "recalibrate", "1", "--calibration", HERE, "--store", STORE],
        ["evaluate", HERE, *GOLD],
        ["evaluate", "1", "--gold", HERE, "--store", STORE],
        ["evaluate", "1", *GOLD, "--json", HERE],
        ["evaluate", "1", *GOLD, "--judge-model", HERE],
        ["weighted-score", HERE, "--weights", "safety=1", "--store", STORE],
        ["compare", "1", HERE, *GOLD],
        ["report", "1", *GOLD, "--out", OUT, "--figures", HERE],
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_a_name_that_leads_nowhere_is_wrong_input(
    words: list[str], demo_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    loop = tmp_path / "loop.tsv"
    loop.symlink_to("loop.tsv")
    for name in (str(loop), "n" * 252 + ".tsv", "n" * 5000 + ".tsv"):
        made = {OUT: str(tmp_path / "out.html"), DRAFT: str(tmp_path / "draft.toml")}
        named = {DATA: str(demo_gold), STORE: str(demo_store), HERE: name, **made}
        code, said = command([named.get(word, word) for word in words])
        assert code == WRONG_INPUT, said
        assert Path(name).name[:4] in said
        assert max(map(len, said.splitlines())) < 1000


@pytest.mark.parametrize("words", [["runs"], ["rubrics"], ["rubrics", "show", "mine"], ["models"]])
def test_a_home_that_leads_nowhere_is_no_fault(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Put back at the end: the program names a folder there, and Matplotlib would warn of it in a later test.
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path))
    (tmp_path / "loop").symlink_to("loop")
    for home in (tmp_path / "loop", tmp_path / ("n" * 256), "n" * 5000):
        with home_in(home):
            code, said = command(words)
        assert code in (0, WRONG_INPUT), said
