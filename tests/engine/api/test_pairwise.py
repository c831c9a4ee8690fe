"""The shape of a judge that trainers expect: winners by place, scores, and no winner."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tiebreak
from engine.analysis.recipe import Recipe, save_recipe
from engine.settings.run_setup import RunSetup
from engine.system.paths import demo_model

pytestmark = pytest.mark.filterwarnings("ignore::engine.api.refused.TiebreakNotice")
ITEMS = 8


@pytest.fixture
def asked(demo_gold: Path) -> tuple[list[str], list[list[str]]]:
    frame = tiebreak.read(demo_gold).head(ITEMS)
    return frame["instruction"].tolist(), frame[["output_a", "output_b"]].to_numpy().tolist()


def test_winners_are_those_of_the_judge(
    judge: tiebreak.Judge, demo_gold: Path, asked: tuple[list[str], list[list[str]]]
) -> None:
    of_file = replace(judge, criteria="safety").run(demo_gold, items=ITEMS, progress=False)
    found = tiebreak.PairwiseJudge(judge, "safety").judge(*asked)
    alone = tiebreak.runs(judge.store)[-1]
    assert alone.labels.columns.tolist() == ["safety"]
    places = {"A": 0, "B": 1, "both_good": -1, "both_bad": -1}
    assert found == [places[label] for label in of_file.by("judge").labels["safety"]]
    assert len(set(found)) > 1


@pytest.mark.slow
def test_scores_are_of_the_first_with_ties_as_halves(
    judge: tiebreak.Judge, asked: tuple[list[str], list[list[str]]]
) -> None:
    pairwise = tiebreak.PairwiseJudge(judge)
    scores = pairwise.judge(*asked, return_scores=True)
    winners = pairwise.judge(*asked)
    run = tiebreak.runs(judge.store)[-1]
    assert run.id == 1  # the same call judges nothing again
    row = run.judgments.iloc[0]
    ties = row["probability_both_good"] + row["probability_both_bad"]
    assert scores[0] == row["probability_A"] + ties / 2
    assert all(0 <= score <= 1 for score in scores)
    clear = [(score, winner) for score, winner in zip(scores, winners, strict=True) if winner != -1]
    assert clear
    assert all((score > 0.5) == (winner == 0) for score, winner in clear)


@pytest.mark.slow
def test_chance_says_what_is_read_first_and_is_taken_back(
    judge: tiebreak.Judge, asked: tuple[list[str], list[list[str]]]
) -> None:
    in_one = tiebreak.PairwiseJudge(replace(judge, orders="one"))
    shuffled, plain = in_one.judge(*asked), in_one.judge(*asked, shuffle_order=False)
    assert [run.id for run in tiebreak.runs(judge.store)] == [1, 2]
    assert in_one.judge(*asked) == shuffled  # by the seed, so that the run goes on
    of_chance, of_none = (tiebreak.read(run.dataset) for run in tiebreak.runs(judge.store))
    swapped = of_chance["output_a"] == of_none["output_b"]
    assert 0 < swapped.sum() < ITEMS
    assert of_chance["output_a"].where(~swapped, of_chance["output_b"]).equals(of_none["output_a"])
    both = tiebreak.PairwiseJudge(judge).judge(*asked)
    sure = [place for place, winner in enumerate(both) if winner != -1]
    assert any(swapped[place] for place in sure)
    assert [shuffled[place] for place in sure] == [plain[place] for place in sure]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of_prompts", "of_completions"),
    [
        (pd.Series, pd.Series),
        (np.array, np.array),
        (tuple, lambda pairs: [tuple(pair) for pair in pairs]),
        (iter, lambda pairs: map(np.array, pairs)),
    ],
)
def test_what_is_like_a_list_is_one(
    judge: tiebreak.Judge,
    asked: tuple[list[str], list[list[str]]],
    of_prompts: Callable[[Any], Any],
    of_completions: Callable[[Any], Any],
) -> None:
    prompts, completions = asked[0][:2], asked[1][:2]
    pairwise = tiebreak.PairwiseJudge(judge, "safety")
    assert pairwise.judge(of_prompts(prompts), of_completions(completions)) == pairwise.judge(
        prompts, completions
    )


@pytest.mark.slow
def test_a_recipe_and_a_calibration_judge_all_their_criteria(
    judge: tiebreak.Judge, demo_gold: Path, asked: tuple[list[str], list[list[str]]], tmp_path: Path
) -> None:
    criteria = ("relevance", "overall_quality")
    of_two = replace(judge, criteria=criteria)
    fitted = of_two.run(tiebreak.demo_dataset(), items=24, progress=False).calibrate()
    calibrated = replace(of_two, calibration=fitted.save(tmp_path / "calibration.json"))
    setup = RunSetup(demo_gold, demo_model(), criteria=criteria)
    save_recipe(tmp_path / "recipe.json", Recipe(setup, fitted.made.calibration))
    by_recipe = replace(judge, recipe=tmp_path / "recipe.json")
    wanted = calibrated.run(demo_gold, items=ITEMS, progress=False).by("judge").judgments
    for with_it in (calibrated, by_recipe):
        for criterion in (*criteria, None):
            pairwise = tiebreak.PairwiseJudge(with_it, criterion)
            found = wanted[wanted["criterion"] == (criterion or "overall_quality")]
            ties = found["probability_both_good"] + found["probability_both_bad"]
            scores = (found["probability_A"] + ties / 2).tolist()
            assert pairwise.judge(*asked, return_scores=True) == scores
        assert tiebreak.runs(judge.store)[-1].labels.columns.tolist() == list(criteria)
        with pytest.raises(tiebreak.Refused, match="Unknown criterion: safety"):
            tiebreak.PairwiseJudge(with_it, "safety").judge(*asked)


@pytest.mark.slow
def test_no_winner_for_what_is_unscored(judge: tiebreak.Judge) -> None:
    too_long = "word " * 6000
    pairwise = tiebreak.PairwiseJudge(judge)
    assert pairwise.judge(["Say a word."], [[too_long, "word"]]) == [-1]
    (score,) = pairwise.judge(["Say a word."], [[too_long, "word"]], return_scores=True)
    assert math.isnan(score)


@pytest.mark.parametrize(
    ("prompts", "completions", "said"),
    [
        (["a"], [], "1 prompts and 0 pairs"),
        (["a"], [["b"]], "Prompt 1 has no pair"),
        (["a"], ["bc"], "Prompt 1 has no pair"),
        (["a"], [{"b", "c"}], "Prompt 1 has no pair"),
        ("a", [["b", "c"]], "prompts is of the type str"),
        (["a"], None, "completions is of the type NoneType"),
        (["a", None], [["b", "c"]] * 2, "Prompt 2: None is no text"),
        (["a"], [["b", None]], "Prompt 1, second completion: None is no text"),
        (["a"], [["b\ud800", "c"]], r"Prompt 1, first completion: \\ud800 is half a character"),
        (["a\ud800"], [["b", "c"]], r"Prompt 1: \\ud800 is half a character"),
    ],
)
def test_what_is_no_pair_of_texts_is_refused_by_place(
    judge: tiebreak.Judge, prompts: Any, completions: Any, said: str
) -> None:
    with pytest.raises(tiebreak.Refused, match=said):
        tiebreak.PairwiseJudge(judge).judge(prompts, completions)
    assert not Path(str(judge.store)).exists()


def test_no_pairs_have_no_winners_and_an_unknown_criterion_is_refused(judge: tiebreak.Judge) -> None:
    assert tiebreak.PairwiseJudge(judge).judge([], []) == []
    with pytest.raises(tiebreak.Refused, match="humour"):
        tiebreak.PairwiseJudge(judge, "humour").judge(["a"], [["b", "c"]])
