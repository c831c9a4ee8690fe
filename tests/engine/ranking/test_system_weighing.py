"""Response scores from probabilities and labels, decisions on them, and weights fitted to people."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import SetupError
from engine.ranking.weight_fit import fit_weights
from engine.ranking.weighted_judge import winner_of
from engine.ranking.weighted_scoring import ScoredPairs, human_winners, scored_pairs_of, weigh
from engine.report.weighted_scoring import overall_agreement_table
from tests.judged import BAD, GOOD, RATHER_A, TIE, A, B, dataset, stored_run, system

WINNER_OF_SIGN = {1: "A", -1: "B", 0: "tie"}


def test_a_label_without_probabilities_gives_10_points_to_what_it_favours() -> None:
    found = scored_pairs_of(system({"safety": [A, B, GOOD, BAD]}), ["safety"])
    scores = [(row["scores_a"]["safety"], row["scores_b"]["safety"]) for row in found.rows]
    assert scores == [(10, 0), (0, 10), (10, 10), (0, 0)]


def test_a_label_of_a_person_has_probability_1_where_the_model_has_its_own(tmp_path: Path) -> None:
    gold = dataset({"safety": [A] * 4})
    run = stored_run(
        tmp_path,
        gold,
        {"safety": [RATHER_A, RATHER_A, None, RATHER_A]},
        overrides=[("1", "safety", B, None), ("3", "safety", GOOD, None), ("4", "safety", None, "Why.")],
    )
    found = scored_pairs_of(run, ["safety"])
    scores = [(row["scores_a"]["safety"], row["scores_b"]["safety"]) for row in found.rows]
    assert scores == [(0, 10), pytest.approx((7, 3)), (10, 10), pytest.approx((7, 3))]
    assert found.left_out == ()


def test_an_item_with_an_unscored_criterion_is_left_out_not_decided() -> None:
    judged = system({"safety": [A, None], "relevance": [A, A]})
    found = scored_pairs_of(judged, ["safety", "relevance"])
    assert ([row["id"] for row in found.rows], found.left_out) == (["1"], ("2",))
    assert scored_pairs_of(judged, ["relevance"]).left_out == ()


def test_agreement_takes_both_good_and_both_bad_as_a_tie() -> None:
    judged = system({"overall_quality": [A, BAD, B, A]})
    gold = dataset({"overall_quality": [A, GOOD, A, A]})
    found = weigh(scored_pairs_of(judged, ["overall_quality"]), {"overall_quality": 1}, 0.5, gold, judged)
    assert found.agreement is not None
    assert (found.agreement.accuracy, found.agreement.own_label) == (0.75, 0.75)
    assert found.agreement.most_frequent == 0.75
    assert found.agreement.confusion == ((2, 1, 0), (0, 0, 0), (0, 0, 1))
    counted = overall_agreement_table(found.agreement).texts()[:3]
    assert [count for _, count in counted] == ["4", "3", "1"]  # a tie is no winner
    assert [fact for fact, _ in counted][1:] == ["of these, A or B wins", "of these, a tie"]


def test_without_human_overall_labels_there_is_no_agreement() -> None:
    judged = system({"safety": [A, B]})
    pairs = scored_pairs_of(judged, ["safety"])
    found = weigh(pairs, {"safety": 1}, 0.5, dataset({"safety": [A, B]}), judged)
    assert found.agreement is None
    assert found.margins == [10, 10]


def test_human_winners_are_those_of_the_overall_label() -> None:
    gold = dataset({"overall_quality": [A, None, BAD], "safety": [B, B, B]})
    assert human_winners(gold) == {"1": "A", "3": "tie"}
    assert winner_of(B) == "B"


def test_a_tie_is_a_tie_of_whatever_kind() -> None:
    assert {winner_of(label) for label in (GOOD, BAD, TIE)} == {"tie"}
    assert human_winners(dataset({"overall_quality": [TIE, B]})) == {"1": "tie", "2": "B"}


def planted(
    count: int, weights: Sequence[float], threshold: float, noise: float = 0.0
) -> tuple[ScoredPairs, dict[str, str]]:
    """Random scores of three criteria, and winners that people with these weights would name."""
    random = np.random.default_rng(count)
    rows, human = [], {}
    for number in range(count):
        a, b = random.random((2, 3)) * 10
        rows.append(
            {
                "id": str(number),
                "scores_a": dict(zip("xyz", a.tolist(), strict=True)),
                "scores_b": dict(zip("xyz", b.tolist(), strict=True)),
            }
        )
        margin = float((a - b) @ np.array(weights)) + noise * float(random.standard_normal())
        human[str(number)] = WINNER_OF_SIGN[0 if abs(margin) <= threshold else int(np.sign(margin))]
    return ScoredPairs(rows), human


def fitted(count: int, weights: Sequence[float], threshold: float, noise: float = 0.0):  # type: ignore[no-untyped-def]
    comparisons, human = planted(count, weights, threshold, noise)
    return fit_weights(comparisons.rows, human, {item_id: f"question {item_id}" for item_id in human}, "xyz")


def test_planted_weights_and_threshold_are_found() -> None:
    fit = fitted(2000, (0.7, 0.3, 0.0), 1.0)
    assert tuple(fit.weights.values()) == pytest.approx((0.7, 0.3, 0.0), abs=0.05)
    assert fit.tie_threshold == pytest.approx(1.0, abs=0.15)
    assert fit.agreement > 0.93
    assert fit.agreement > fit.equal > fit.most_frequent


def test_a_criterion_against_which_people_decide_gets_no_weight() -> None:
    fit = fitted(500, (0.8, -0.4, 0.2), 0.5, noise=0.5)
    assert fit.weights["y"] == 0.0
    assert sum(fit.weights.values()) == pytest.approx(1.0)


def test_the_same_weights_and_threshold_decide_as_the_weighted_judge() -> None:
    comparisons, human = planted(300, (0.5, 0.3, 0.2), 1.0)
    fit = fit_weights(comparisons.rows, human, {item_id: item_id for item_id in human}, "xyz")
    result = weigh(comparisons, fit.weights, fit.tie_threshold).result
    right = sum(entry["winner"] == human[entry["id"]] for entry in result["results"]) / 300
    assert right >= fit.agreement


def test_scores_that_explain_nothing_are_refused() -> None:
    with pytest.raises(SetupError, match="No criterion's scores correlate positively"):
        fitted(200, (-1.0, -1.0, -1.0), 0.5)


def test_each_weight_and_the_threshold_need_ten_instructions() -> None:
    comparisons, human = planted(80, (1, 0, 0), 0.5)
    of_two = {item_id: f"question {int(item_id) // 2}" for item_id in human}
    assert fit_weights(comparisons.rows, human, of_two, "xyz").instructions == 40
    rows = comparisons.rows[:-2]
    with pytest.raises(
        SetupError, match=r"39 instructions .* threshold and 3 weights: .* 40, so 1 are missing"
    ):
        fit_weights(rows, human, of_two, "xyz")
    assert set(fit_weights(rows, human, of_two, "xz").weights) == {"x", "z"}  # fewer weights need fewer


def test_ranges_say_how_sure_a_weight_is() -> None:
    sure, unsure = fitted(1000, (0.7, 0.3, 0.0), 1.0), fitted(40, (0.7, 0.3, 0.0), 1.0, noise=6.0)
    for name, weight in zip("xyz", (0.7, 0.3, 0.0), strict=True):
        low, high = sure.ranges[name]
        assert low - 1e-9 <= weight <= high
        assert high - low < 0.1
    assert unsure.ranges["y"].high - unsure.ranges["y"].low > 0.5
    assert sure == fitted(1000, (0.7, 0.3, 0.0), 1.0)  # the same labels have the same ranges
    assert sure.threshold_range.low <= sure.tie_threshold <= sure.threshold_range.high


def test_shares_have_intervals_where_instructions_are_known() -> None:
    gold = dataset({"overall_quality": [A] * 9 + [B]})
    judged = system({"overall_quality": [A] * 5 + [B] * 5})
    pairs = scored_pairs_of(judged, ["overall_quality"])
    found = weigh(pairs, {"overall_quality": 1}, 0.5, gold, judged)
    share, ends = found.rates["A"]
    assert share == 0.5
    assert ends == pytest.approx((0.187, 0.813), abs=1e-3)  # Clopper and Pearson's of 5 of 10
    assert found.agreement is not None
    assert found.agreement.accuracy == 0.6
    assert found.agreement.intervals["accuracy"] == pytest.approx((0.262, 0.878), abs=1e-3)
    assert weigh(pairs, {"overall_quality": 1}, 0.5).rates["A"] == (0.5, None)
    assert weigh(pairs, {"overall_quality": 1}, 0.5, items=gold).rates["A"] == (0.5, ends)
