"""The shape of a judge that trainers expect: winners by place, scores, and no winner."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

import tiebreak

pytestmark = pytest.mark.filterwarnings("ignore::engine.api.refused.TiebreakNotice")
ITEMS = 8


@pytest.fixture
def asked(demo_gold: Path) -> tuple[list[str], list[list[str]]]:
    frame = tiebreak.read(demo_gold).head(ITEMS)
    return frame["instruction"].tolist(), frame[["output_a", "output_b"]].to_numpy().tolist()


def test_winners_are_those_of_the_judge(
    judge: tiebreak.Judge, demo_gold: Path, asked: tuple[list[str], list[list[str]]]
) -> None:
    run = judge.run(demo_gold, items=ITEMS, progress=False)
    found = tiebreak.PairwiseJudge(judge, "safety").judge(*asked)
    alone = tiebreak.runs(judge.store)[-1]
    assert alone.labels.columns.tolist() == ["safety"]
    places = {"A": 0, "B": 1, "both_good": -1, "both_bad": -1}
    assert found == [places[label] for label in alone.labels["safety"]]
    assert len(found) == len(run.labels)
    assert {0, 1, -1} >= set(found)


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


def test_chance_says_what_is_read_first_and_is_taken_back(
    judge: tiebreak.Judge, asked: tuple[list[str], list[list[str]]]
) -> None:
    in_one = tiebreak.PairwiseJudge(replace(judge, orders="one"))
    shuffled, plain = in_one.judge(*asked), in_one.judge(*asked, shuffle_order=False)
    assert [run.id for run in tiebreak.runs(judge.store)] == [1, 2]
    assert in_one.judge(*asked) == shuffled  # by the seed, so that the run goes on
    both = tiebreak.PairwiseJudge(judge).judge(*asked)
    sure = [place for place, winner in enumerate(both) if winner != -1]
    assert [shuffled[place] for place in sure] == [plain[place] for place in sure]


def test_no_winner_for_what_is_unscored(judge: tiebreak.Judge) -> None:
    too_long = "word " * 6000
    pairwise = tiebreak.PairwiseJudge(judge)
    assert pairwise.judge(["Say a word."], [[too_long, "word"]]) == [-1]
    (score,) = pairwise.judge(["Say a word."], [[too_long, "word"]], return_scores=True)
    assert math.isnan(score)


def test_lists_that_do_not_fit_are_refused(judge: tiebreak.Judge) -> None:
    pairwise = tiebreak.PairwiseJudge(judge)
    assert pairwise.judge([], []) == []
    with pytest.raises(tiebreak.Refused, match="1 prompts and 0 pairs"):
        pairwise.judge(["a"], [])
    with pytest.raises(tiebreak.Refused, match="Prompt 1 has no pair"):
        pairwise.judge(["a"], [["b"]])
    with pytest.raises(tiebreak.Refused, match="Prompt 1 has no pair"):
        pairwise.judge(["a"], ["bc"])
    with pytest.raises(tiebreak.Refused, match="humour"):
        tiebreak.PairwiseJudge(judge, "humour").judge(["a"], [["b", "c"]])
