"""`judge --plan`, `--kv-type` and `--method` as a user gives them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import ROOT, ended, facts, printed, refusal, run_here

DEMO = ROOT / "examples" / "demo.tsv"


pytestmark = pytest.mark.usefixtures("demo_tried")


def test_a_plan_is_printed_and_nothing_is_judged(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    words = ["--items", 4, "--mode", "labels", "--threads", 1, "--store", store]
    done = printed("judge", DEMO, "--model", "demo", *words, "--plan")
    plan = facts(done)
    assert plan["raw predictions"] == "4 items x 5 criteria x both orders = 40"
    assert "in the store" not in plan
    assert plan["too long"].startswith("none: every item fits.")
    assert re.match(r"about \d+ MiB with 4,096 tokens of context; [\d.]+ [GM]iB are free", plan["memory"])
    assert "at the speed of some items of typical length" in done
    assert not store.exists()


def test_a_plan_knows_what_a_run_in_a_small_cache_has_judged(tmp_path: Path) -> None:
    store, out = tmp_path / "runs.sqlite", tmp_path / "out.tsv"
    words = ["judge", DEMO, "--model", "demo", "--mode", "labels", "--store", store]
    words += ["--kv-type", "q8_0", "--threads", 1]
    ended(*words, "--items", 2, "--out", out)
    same, more = (run_here(*words, "--items", items, "--plan") for items in (2, 4))
    assert facts(same.stdout)["in the store"] == "all 2 items are judged in run 1"
    assert "Time: nothing is left to judge." in same.stdout
    assert "in the store" not in facts(more.stdout)
    assert "at the speed of run 1" in more.stdout
    assert facts(run_here("runs", "show", 1, "--store", store).stdout)["KV-cache type"] == "q8_0"


def test_a_plan_without_an_item_that_fits_judges_none_for_its_speed() -> None:
    done = printed("judge", DEMO, "--model", "demo", "--items", 3, "--context", 256, "--plan")
    assert facts(done)["too long"].startswith("3 of 3 items will be unscored: 1, 2, 3.")
    assert "no item fits" in done


@pytest.mark.parametrize(
    ("options", "found", "hint"),
    [
        ([], "--out is missing", "--out FILE.tsv"),
        (["--kv-type", "q8_0", "--plan"], "does not support the KV-cache type q8_0", "--kv-type f16"),
        (["--method", "chain-of-thought", "--plan"], "has no reasoning block", "--method"),
    ],
)
def test_what_cannot_be_planned_or_judged_says_why(
    tried_model: Callable[[str], Path], options: list[object], found: str, hint: str
) -> None:
    done = refusal("judge", DEMO, "--model", tried_model("headers"), "--items", 2, *options)
    assert found in done
    assert hint in done


@pytest.mark.slow
def test_the_plan_says_what_each_method_costs() -> None:
    asked = ("judge", DEMO, "--model", "demo", "--mode", "labels", "--items", 2, "--plan")
    assert "elicitation methods" not in printed(*asked)
    several = printed(*asked, "--method", "label-tokens,permuted-labels,pointwise-grade")
    assert "elicitation methods" in several
    assert "label tokens 100, permuted label tokens" in several
    assert "x 3 methods x both orders = 60" in several


@pytest.mark.parametrize("methods", ["", "label-token", "label-tokens,label-tokens"])
def test_methods_that_there_are_not_are_refused(methods: str) -> None:
    known = "label-tokens, permuted-labels, pointwise-yes-no, pointwise-grade, chain-of-thought"
    refused = refusal("judge", DEMO, "--model", "demo", "--plan", "--method", methods)
    assert f"Write some of {known}" in refused


def test_grades_are_asked_for_where_there_are_none(demo_store: Path, tmp_path: Path) -> None:
    for what in (("1", "--store", demo_store), (demo_store.with_name("submission.tsv"),)):
        refused = refusal("weighted-score", *what, "--grades")
        assert "has no pointwise grades" in refused
        assert "--method" in refused
    scores = tmp_path / "scores.json"
    scores.write_text('[{"id": "1", "scores_a": {"x": 1}, "scores_b": {"x": 2}}]', encoding="utf-8")
    for option, said in (("--grades", "--grades"), ("--latex", "scored comparisons have no tables")):
        more = [option, tmp_path / "x.tex"] if option == "--latex" else [option]
        assert said in refusal("weighted-score", scores, "--weights", "x=1", *more)
