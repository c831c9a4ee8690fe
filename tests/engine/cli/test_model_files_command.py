"""`models speed` and `models convert` as a user gives them."""

import json
import re
import shutil
from pathlib import Path

import pytest

from engine.models.model_file import read_model_file
from engine.system.paths import demo_model, models_folder
from tests.commands import ROOT, interrupt, run_here, start, wait_until
from tests.random_models import HEADERS, Shape, byte_level_bpe, write_random_model
from tests.small_models import HEADER_TOKENS

DEMO = ROOT / "examples" / "demo.tsv"

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """A model that takes a second to convert."""
    shape = Shape(layers=4, width=1024, heads=8, kv_heads=8, feed_forward=2048)
    return write_random_model(tmp_path / "wide-F16.gguf", byte_level_bpe(HEADER_TOKENS), HEADERS, shape)


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
    titles = ["model", "format", "size", "reads", "writes 1", "writes 10", "format mass", "of run"]
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
        (["convert", "demo"], "models convert takes one file and --to"),
        (["convert", "--to", "q8_0"], "models convert takes one file and --to"),
        (["convert", "demo", "--to", "f16"], "demo-judge is in F16 already"),
        (["convert", "none.gguf", "--to", "q8_0"], "none.gguf: there is no such file"),
        (["check", "demo", "--to", "q8_0"], "--to belongs to models convert"),
        (["check", "demo", "--again"], "--again belongs to models speed"),
        (["speed", "demo", "--out", "x.gguf"], "--out belongs to models cut and models convert"),
        (["speed", "demo", "--json", "nowhere/x.json"], "nowhere does not exist"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], problem: str) -> None:
    done = run_here("models", *words)
    assert done.returncode == 2
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    done = run_here("models", "convert", "demo", "--to", "q9")
    assert done.returncode == 2
    assert "q8_0" in done.stderr


def test_a_model_is_converted_among_our_own_and_says_what_it_costs() -> None:
    done = run_here("models", "convert", "demo", "--to", "q8_0")
    assert done.returncode == 0, done.stderr
    made = models_folder() / "demo-judge-Q8_0.gguf"
    assert f"{made}: Q8_0," in done.stdout
    assert "Almost no loss." in done.stdout
    assert read_model_file(made).quantisation == "Q8_0"
    again = run_here("models", "convert", "demo", "--to", "q8_0")
    assert again.returncode == 2
    assert "exists already, and is not overwritten" in again.stderr
    assert run_here("models", "check", "demo-judge-Q8_0").returncode == 0


@pytest.mark.slow
def test_a_small_source_needs_a_word(tmp_path: Path) -> None:
    small, target = tmp_path / "small.gguf", tmp_path / "made.gguf"
    assert run_here("models", "convert", "demo", "--to", "q4_0", "--out", small).returncode == 0
    words = ["models", "convert", small, "--to", "q8_0", "--out", target]
    refused = run_here(*words)
    assert refused.returncode == 2
    assert "small is a small quantisation already" in refused.stderr
    assert "or allow this one: --lossy-source" in refused.stderr
    assert not target.exists()
    assert run_here(*words, "--lossy-source").returncode == 0
    assert target.exists()


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_of_a_conversion(wide: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    child = start("models", "convert", wide, "--to", "q4_k_m", "--out", folder / "made.gguf")
    wait_until(lambda: any(path.stat().st_size for path in folder.iterdir()), child)
    interrupt(child)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 1
    assert "Stopped." in said
    assert not list(folder.iterdir())
    assert shutil.disk_usage(folder).free
