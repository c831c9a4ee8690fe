"""`report` as its user gives it: of a run, of a submission, with wrong arguments; and what it leaves."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.report.html_report import FIGURE_NAMES
from tests.able import needs_links
from tests.commands import ROOT, give
from tests.commands import run as run_program

DEMO = ROOT / "examples" / "demo.tsv"

SUBMISSION = "id\tsafety_preference\tsafety_explanation\n1\tA\tBecause.\n2\tB\tBecause.\n"
GOLD = (
    "id\tinstruction\toutput_a\toutput_b\tsafety_preference\n"
    "1\tone\ta\tb\tA\n2\ttwo\t<script>a</script>\t\tboth_good\n"
)


@pytest.fixture
def submission(save: Callable[[str, bytes], Path]) -> list[str]:
    gold = save("gold.tsv", GOLD.encode())
    return [str(save("submission.tsv", SUBMISSION.encode())), "--gold", str(gold)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_a_judged_run_becomes_a_page_and_figures(tmp_path: Path, demo_store: Path, demo_gold: Path) -> None:
    figures = tmp_path / "deep" / "figures"
    words = ["1", "--gold", str(demo_gold), "--store", str(demo_store)]
    page = tmp_path / "one.html"
    assert give("report", *words, "--out", str(page), "--figures", str(figures)) == 0
    for text in ("demo-judge: a model for trying", "F16", "llama.cpp", "gold.tsv"):
        assert text in page.read_text("utf-8")
    assert names(tmp_path) == ["deep", "home", "one.html"]
    assert names(figures) == sorted(f"{name}.{form}" for name in FIGURE_NAMES for form in ("png", "svg"))
    assert "The smallest margin threshold that keeps 99.0 %" in page.read_text("utf-8")
    assert "Weights and tie threshold: default." in page.read_text("utf-8")


@pytest.mark.slow
def test_a_submission_has_a_page_too(tmp_path: Path, submission: list[str]) -> None:
    out, figures = tmp_path / "page.html", tmp_path / "figures"
    out.write_text("an older report", "utf-8")
    words = [*submission, "--out", str(out), "--figures", str(figures), "--tie-threshold", "1"]
    assert give("report", *words) == 0
    page = out.read_text("utf-8")
    assert "A submission file does not record the model" in page
    assert "Weights and tie threshold: as given to the command." in page
    assert "&lt;script&gt;a&lt;/script&gt;" in page
    assert not re.search("<script", page, re.IGNORECASE)
    assert names(figures) == sorted(
        f"{name}.{form}"
        for name in FIGURE_NAMES
        if name not in ("reliability", "orders")
        for form in ("png", "svg")
    )
    assert (figures / "accuracy.png").read_bytes().startswith(b"\x89PNG")
    assert (figures / "accuracy.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--out", "page.pdf"], "a report is HTML"),
        (["--out", "missing/page.html"], "does not exist"),
        (["--weights", "beauty=1"], "has no criterion beauty"),
        (["--weights", "safety=0"], "sum to 0"),
        (["--tie-threshold", "-1"], "use 0 or a positive number"),
        (["--figures", "gold.tsv"], "cannot be made"),
        (["--figures", "taken"], "is a folder"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_written(
    tmp_path: Path, submission: list[str], monkeypatch: pytest.MonkeyPatch, changed: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken" / "margins.svg").mkdir(parents=True)
    before = names(tmp_path)
    with pytest.raises(SetupError, match=message):
        give("report", *submission, "--out", "page.html", *changed)
    assert names(tmp_path) == before


@needs_links
def test_neither_gold_labels_nor_submission_are_overwritten(tmp_path: Path, submission: list[str]) -> None:
    for read in (submission[0], submission[2]):
        linked = tmp_path / f"{Path(read).stem}.html"
        linked.symlink_to(read)
        with pytest.raises(SetupError, match="would be overwritten"):
            give("report", *submission, "--out", str(linked))
    assert Path(submission[0]).read_text("utf-8") == SUBMISSION


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows asks no variable where the user's folders are")
def test_all_that_it_keeps_for_later_lies_in_a_folder_of_our_name(
    tmp_path: Path, private_home: Path, submission: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_system = [f"XDG_{name}_HOME" for name in ("CACHE", "CONFIG", "DATA", "STATE")]
    for name in ("TIEBREAK_HOME", "MPLCONFIGDIR", *of_system):
        monkeypatch.delenv(name, raising=False)
    done = run_program("report", *submission, "--out", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    kept = [path.relative_to(private_home) for path in private_home.rglob("*") if path.is_file()]
    assert any("matplotlib" in path.parts for path in kept)
    assert not [path for path in kept if "Tiebreak" not in path.parts]
