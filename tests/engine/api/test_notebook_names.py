"""`import tiebreak`: light, all names real, all examples true, and the page on it tells all columns."""

import doctest
import inspect
import re
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

import tiebreak
from engine.core import VERSION

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "notebook.md"
ENCODER = ROOT / "tests" / "encoders" / "roberta.gguf"
MODULES = ("arguments", "judge", "labelling", "pairwise", "refused", "run", "stored", "tables")


@pytest.mark.slow
def test_the_import_is_light() -> None:
    heavy = ["PySide6", "jinja2", "llama_cpp", "matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sklearn"]
    code = f"import sys, tiebreak\nprint([name for name in {heavy} if name in sys.modules])"
    code += "\ntiebreak.Refused\nprint('pandas' in sys.modules)\ntiebreak.Run\nprint('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "False", "True"]


def test_all_names_are_real() -> None:
    assert tiebreak.__version__ == VERSION
    assert set(tiebreak.__all__) <= set(dir(tiebreak))
    assert all(hasattr(tiebreak, name) for name in tiebreak.__all__)
    with pytest.raises(AttributeError, match="no attribute 'judges'"):
        _ = tiebreak.judges  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_the_examples_of_all_names_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    judge = tiebreak.Judge(mode="labels", criteria=["relevance", "overall_quality"], threads=1, context=4096)
    candidates = tiebreak.demo_dataset().with_name("demo-candidates.tsv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tiebreak.Notice)
        run = judge.run(tiebreak.demo_dataset(), items=24, progress=False)
        known = {
            **{name: getattr(tiebreak, name) for name in tiebreak.__all__},
            "judge": judge,
            "run": run,
            "other": judge.run(tiebreak.demo_dataset(), items=12, progress=False),
            "of_candidates": judge.run(candidates, items=24, progress=False),
            "calibration": run.calibrate(),
        }
        tried = 0
        for name in MODULES:
            found = doctest.testmod(import_module(f"engine.api.{name}"), extraglobs=known)
            assert not found.failed, name
            tried += found.attempted
    assert tried > 20


def columns_of(title: str) -> dict[str, str]:
    """The columns that the page tells of a frame, each with its dtype."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n### {title}\n")
    assert rest, title
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+?) \|", rest.partition("\n#")[0], re.M)
    told = {}
    for names, dtype in rows:
        for name in expanded(names):
            told[name] = dtype
    return told


def expanded(name: str) -> list[str]:
    """`probability_LABEL` as the four columns that it stands for."""
    labels = ("A", "B", "both_good", "both_bad")
    return [name.replace("LABEL", label) for label in labels] if "LABEL" in name else [name]


def real(frame: pd.DataFrame) -> dict[str, str]:
    return {str(name): str(dtype) for name, dtype in frame.dtypes.items()}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::engine.api.refused.TiebreakNotice")
def test_the_page_tells_the_columns_as_they_are(run: tiebreak.Run, judge: tiebreak.Judge) -> None:
    assert columns_of("`run.judgments`") == real(run.judgments)
    assert columns_of("`run.raw_predictions`") == real(run.raw_predictions)
    mix = {"A": 0.25, "B": 0.75}
    by_models = run.evaluate(encoder=ENCODER, judge_model="demo", threads=1, by="longer", mix=mix)
    assert columns_of("`run.evaluate()`") == real(by_models)
    assert list(run.evaluate()) == list(by_models)[: len(run.evaluate().columns)]
    assert columns_of("`run.health.signs`") == real(run.health.signs)
    assert columns_of("`judge.plan(data).facts`") == real(judge.plan(run.dataset, items=2).facts)
    assert {"category"} == set(real(run.labels).values())
    assert {"string"} == set(real(run.explanations).values())


def test_the_page_names_every_name() -> None:
    text = PAGE.read_text(encoding="utf-8")
    missing = [name for name in tiebreak.__all__ if f"`tiebreak.{name}" not in text]
    assert not missing
    public = [name for name in dir(tiebreak.Run) if not name.startswith("_")]
    public += [name for name in tiebreak.Judge.__dataclass_fields__ if name != "_"]
    for call in (tiebreak.Judge.run, tiebreak.Judge.plan, tiebreak.Run.evaluate, tiebreak.Run.export):
        public += [name for name in inspect.signature(call).parameters if name != "self"]
    assert not [name for name in public if not re.search(rf"`[^`\n]*\b{name}\b", text)]
