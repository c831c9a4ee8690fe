"""Every name, method and parameter with values of a wrong kind: it works, or is Refused, and nothing else."""

import inspect
import math
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tiebreak
from engine.api.arguments import taken
from engine.api.tables import FittedCalibration
from engine.core.errors import SetupError

pytestmark = pytest.mark.filterwarnings("ignore")

HOLDS_ITSELF: list[object] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)
HUGE = 10**5000  # more digits than Python writes
WRONG = {
    **{"none": None, "number": 5, "text": "x", "huge": HUGE, "huge in a list": [HUGE], "object": object()},
    **{"holds itself": HOLDS_ITSELF, "not a number": math.nan, "bytes": b"\xff", "negative": -1, "no": "no"},
    **{"dictionary": {"x": HOLDS_ITSELF}, "cell": [pd.NA]},
    "frame": pd.DataFrame([[HUGE]], columns=pd.Index([HUGE], dtype=object), dtype=object),
    **{"truth": np.bool_(True), "class": int, "empty": "", "nul": "\0", "half": "\ud800"},
    "array": np.ones(3),
}
PAIR = {"id": 1, "scores_a": {"x": 2}, "scores_b": {"x": 1}}
HELD = (tiebreak.Judge, tiebreak.Run, tiebreak.PairwiseJudge, FittedCalibration)
"""What has methods; what is only given back, or raised, has none."""


def public(owner: type) -> Iterator[str]:
    for name, _ in inspect.getmembers(owner, inspect.isfunction):
        if not name.startswith("_"):
            yield name


CALLS = [
    *("Judge", "Run", "PairwiseJudge", "read", "runs", "pairwise_preference_judge"),
    *(f"{owner.__name__}.{name}" for owner in HELD for name in public(owner)),
]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One of each class, on a run of one's own with labels of people and candidates."""
    store = tmp_path_factory.mktemp("arguments") / "runs.sqlite"
    judge = tiebreak.Judge(mode="labels", criteria="safety", threads=1, context=4096, store=store)
    frame = tiebreak.read(tiebreak.demo_dataset()).head(30)
    run = judge.run(frame.assign(candidate_a="new", candidate_b="old"), progress=False)
    return {
        "Judge": judge,
        "Run": run,
        "PairwiseJudge": tiebreak.PairwiseJudge(judge),
        "FittedCalibration": run.calibrate(),
    }


def valid(objects: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What parameters are given that have no default, by name."""
    frame = tiebreak.read(tiebreak.demo_dataset()).head(2)
    return {
        **{"judge_with": objects["Judge"], "other": objects["Run"], "others": objects["Run"], "data": frame},
        **{"id": 1, "labels_of": "judge", "calibration": None, "path": folder / "out.tsv", "tool": "dpo"},
        **{"prompts": ["Say a."], "completions": [["a", "b"]], "progress": False, "keep_awake": "no"},
        **{"comparisons": [PAIR], "criteria_weights": {"x": 1}, "tie_threshold": 0.5},
    }


def refusal(call: Callable[..., object], given: dict[str, Any]) -> tuple[str, str] | None:
    """Problem and remedy of what is refused; None where it works."""
    many = [value for name, value in given.items() if name == "others"]
    try:
        call(*many, **{name: value for name, value in given.items() if name != "others"})
    except tiebreak.Refused as refused:
        return refused.problem, refused.hint
    return None


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
@pytest.mark.parametrize("name", CALLS)
def test_a_value_of_a_wrong_kind_is_refused_or_works(
    objects: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    owner, _, method = name.partition(".")
    call = getattr(objects[owner], method) if method else getattr(tiebreak, owner)
    parameters = inspect.signature(call).parameters
    by_default = {one: value for one, value in valid(objects, tmp_path).items() if one in parameters}
    for parameter, declared in parameters.items():
        for kind, value in WRONG.items():
            if value is declared.default:
                continue
            said = refusal(call, {**by_default, parameter: value})
            assert said is None or (all(said) and len("".join(said)) < 2000), (parameter, kind, said)


def test_the_weighted_judge_is_the_engines_and_raises_what_its_page_says() -> None:
    assert tiebreak.pairwise_preference_judge([PAIR], {"x": 1}, 0.5)["win_rate_a"] == 1.0
    with pytest.raises(ValueError, match="Weight of x is -1: use 0 or a positive number"):
        tiebreak.pairwise_preference_judge([PAIR], {"x": -1}, 0.5)
    for raised in (tiebreak.Refused, TypeError):
        with pytest.raises(raised, match="comparisons is None: use a list of dictionaries"):
            tiebreak.pairwise_preference_judge(None, {"x": 1}, 0.5)  # type: ignore[arg-type]
    judge = tiebreak.pairwise_preference_judge
    assert pickle.loads(pickle.dumps(judge)) is judge


@pytest.mark.parametrize("truth", [1, 0, "no", "yes", None, [True]])
def test_a_truth_is_true_or_false(truth: object) -> None:
    with pytest.raises(SetupError, match=r"fresh is .*\.\nUse True or False\."):
        taken("fresh", bool, truth)
    assert taken("fresh", bool, True) is True
    assert taken("fresh", bool, np.bool_(False)) is False
