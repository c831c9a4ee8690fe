"""`models speed` as a user gives it, and what `models` refuses."""

import json
import re
from pathlib import Path

import pytest

from engine.system.paths import demo_model
from tests.commands import ROOT, refusal, run_here

DEMO = ROOT / "examples" / "demo.tsv"

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.mark.slow
def test_the_speed_of_models_is_a_table_beside_the_format_mass_and_tells_a_plan_its_time(
    tmp_path: Path,
) -> None:
    store, out, broken = tmp_path / "runs.sqlite", tmp_path / "speed.json", tmp_path / "broken.gguf"
    judge = ["judge", DEMO, "--model", "demo", "--mode", "labels", "--threads", 1]
    assert run_here(*judge, "--items", 2, "--store", store, "--out", tmp_path / "out.tsv").returncode == 0
    broken.write_bytes(demo_model().read_bytes()[:5000])
    words = ["--store", store, "--threads", 1, "--json", out]
    done = run_here("models", "speed", broken, "demo", tmp_path / "none.gguf", *words)
    # A file that cannot be opened is an error for it alone.
    assert done.returncode == 2
    assert "broken.gguf" in done.stderr
    assert "none.gguf: there is no such file" in done.stderr
    header, line, *_ = done.stdout.splitlines()
    titles = ["model", "format", "size", "reads", "writes 1", "writes 10", "answer mass", "of run"]
    assert re.split(" {2,}", header) == titles
    assert line.startswith("demo-judge     F16")
    assert line.split()[-1] == "1"
    (found,) = json.loads(out.read_bytes())
    assert found["file"] == str(demo_model())
    assert found["newest_run"]["id"] == 1
    assert 0.5 < found["newest_run"]["format_mass"] <= 1
    assert min(found[name] for name in ("reading", "writing_one_text", "writing_10_texts")) > 0
    # Remembered: the very same numbers, until they are wanted anew.
    assert run_here("models", "speed", "demo", *words).returncode == 0
    assert json.loads(out.read_bytes()) == [found]
    asked = [*judge, "--items", 4, "--store", tmp_path / "none.sqlite", "--plan"]
    plan = run_here(*asked)
    assert "at the speed of this model file when it was measured here." in plan.stdout
    assert "judging some items" not in plan.stderr
    assert "measured here, with explanations of 50 tokens." in run_here(*asked, "--mode", "explain").stdout
    assert "at the speed of some items of typical length" in run_here(*asked, "--threads", 2).stdout
    assert run_here("models", "speed", "--again", "demo", *words).returncode == 0
    assert json.loads(out.read_bytes())[0]["reading"] != found["reading"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["speed"], "models speed takes one file or more"),
        (["devices", "demo", "demo"], "models devices takes one file at most"),
        (["check", "none.gguf"], "none.gguf: there is no such file"),
        (["check", "demo", "--again"], "--again belongs to models speed"),
        (["speed", "demo", "--out", "x.gguf"], "--out belongs to models cut"),
        (["speed", "demo", "--json", "nowhere/x.json"], "nowhere does not exist"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], problem: str) -> None:
    done = refusal("models", *words)
    assert problem in done
    assert "Traceback" not in done
