"""`judge --until`: it stops by itself, says what is clear and that it is a sample, and goes on."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.commands import ROOT, ended, printed, refusal, run_here

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.fixture(scope="module")
def comparisons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's items, of which `good` wrote each better response; of ties it wrote A."""
    rows = pd.read_csv(ROOT / "examples" / "demo.tsv", sep="\t", dtype=str).head(60)
    is_b = rows["overall_quality_preference"] == "B"
    rows["candidate_a"] = is_b.map({True: "poor", False: "good"})
    rows["candidate_b"] = is_b.map({True: "good", False: "poor"})
    path = tmp_path_factory.mktemp("contests") / "contests.tsv"
    rows.to_csv(path, sep="\t", index=False)
    return path


class JudgeCommand:
    def __init__(self, dataset: Path, folder: Path) -> None:
        self.out, self.json, self.store = folder / "out.tsv", folder / "run.json", folder / "runs.sqlite"
        self.words = ["judge", dataset, "--model", "demo", "--mode", "labels", "--threads", 1]
        self.words += ["--out", self.out]
        self.words += ["--criteria", "overall_quality", "--store", self.store, "--json", self.json]

    @property
    def rows(self) -> int:
        return len(pd.read_csv(self.out, sep="\t"))


def what_is_clear(printed: str) -> str:
    assert printed.count("Resolved comparisons:\n") == 1, printed
    return printed.partition("Resolved comparisons:\n")[2].partition(":\n")[0].rpartition("\n\n")[0]


@pytest.mark.slow
def test_it_stops_says_what_is_clear_and_goes_on(comparisons: Path, tmp_path: Path) -> None:
    asked = JudgeCommand(comparisons, tmp_path)
    first = ended(*asked.words, "--until", "significant")
    assert 10 <= asked.rows < 40
    sample = f"a random sample, {asked.rows} of 60 items, seed 0"
    assert f"Submission: {asked.out} ({sample})" in first.stdout
    assert "significantly worse" in first.stdout
    assert re.search(r"[\r\n]Resolved: ", first.stderr)  # not behind the bar, on its line
    run = json.loads(asked.json.read_text("utf-8"))["run"]
    assert run["sample"] == sample
    assert not run["complete"]
    shown = run_here("runs", "show", 1, "--store", asked.store)
    assert f"{asked.rows} of 60 judged, a random sample" in shown.stdout
    assert "contests.tsv, a random sample" in run_here("runs", "--store", asked.store).stdout
    written = {form: tmp_path / f"ranking.{form}" for form in ("json", "methods-text")}
    files = [word for form, path in written.items() for word in (f"--{form}", path)]
    ranked = run_here("rank", 1, "--store", asked.store, *files)
    assert "good is significantly the best" in ranked.stdout
    assert "This run stopped at a significant result" in ranked.stdout
    assert json.loads(written["json"].read_text("utf-8"))["caveats"][0].startswith("This run stopped")
    assert "until it is significant which candidate is better" in written["methods-text"].read_text("utf-8")
    assert f"{asked.rows} of 60 items were read" in written["methods-text"].read_text("utf-8")
    assert what_is_clear(ranked.stdout) == what_is_clear(first.stdout)
    narrow = run_here(*asked.words, "--until", 5)
    assert "0 of 1 interval is narrow enough, 1 open: no item of these is left." in narrow.stdout
    assert "none is left here" in narrow.stdout
    assert "because of significance" in first.stdout
    assert "because of significance" not in narrow.stdout
    assert asked.rows == 60


def test_workers_cannot_be_asked(comparisons: Path, tmp_path: Path) -> None:
    asked = JudgeCommand(comparisons, tmp_path)
    refused = refusal(*asked.words, "--until", "significant", "--cluster", "tls://localhost:8786")
    assert "--until cannot check after each group" in refused


@pytest.mark.parametrize("width", ["1e-300", "0.09", "0", "-5", "100", "1e300", "nan", "inf", "wide"])
def test_a_width_that_nothing_reaches_is_refused(comparisons: Path, tmp_path: Path, width: str) -> None:
    refused = refusal(*JudgeCommand(comparisons, tmp_path).words, "--until", width)
    assert "Use 0.1 or more and less than 100" in refused or "Use significant" in refused


def test_the_least_width_is_asked_for_to_the_end(comparisons: Path, tmp_path: Path) -> None:
    done = printed(*JudgeCommand(comparisons, tmp_path).words, "--until", "0.1", "--items", 12)
    assert "more instructions of this kind" in what_is_clear(done)


def test_a_plan_says_that_it_may_take_less(comparisons: Path, tmp_path: Path) -> None:
    planned = printed(*JudgeCommand(comparisons, tmp_path).words, "--until", "significant", "--plan")
    assert "With --until this is the maximum" in planned
