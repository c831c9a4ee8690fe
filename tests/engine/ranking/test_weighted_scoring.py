"""Response scores from probabilities and labels, decisions on them, and weights fitted to people."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import SetupError
from engine.core.judgments import CriterionCalibration
from engine.core.tables import Sentences, Tone
from engine.data.dataset import Dataset
from engine.metrics.matching import System, system_of_run
from engine.operations.measuring import GivenWeights, Weighing
from engine.ranking.weight_fit import fit_weights
from engine.ranking.weighted_judge import winner_of
from engine.ranking.weighted_scoring import (
    ScoredPairs,
    WeightedScoring,
    human_winners,
    informativeness_of,
    scored_pairs_of,
    weigh,
)
from engine.report.weighted_scoring import overall_agreement_table, weighted_scoring_section
from engine.results.calibration import Calibration, judge_of_run
from tests.judged import BAD, GOOD, RATHER_A, SURE_A, TIE, A, B, Probabilities, dataset, stored_run, system

WINNER_OF_SIGN = {1: "A", -1: "B", 0: "tie"}


def scores_of(judge: System) -> list[tuple[float, float]]:
    rows = scored_pairs_of(judge, ["safety"]).rows
    return [(row["scores_a"]["safety"], row["scores_b"]["safety"]) for row in rows]


def test_a_label_without_probabilities_has_probability_1(tmp_path: Path) -> None:
    assert scores_of(system({"safety": [A, B, GOOD, BAD]})) == [(10, 0), (0, 10), (10, 10), (0, 0)]
    run = stored_run(
        tmp_path,
        dataset({"safety": [A] * 4}),
        {"safety": [RATHER_A, RATHER_A, None, RATHER_A]},
        overrides=[("1", "safety", B, None), ("3", "safety", GOOD, None), ("4", "safety", None, "Why.")],
    )
    assert scores_of(run) == [(0, 10), pytest.approx((7, 3)), (10, 10), pytest.approx((7, 3))]


def test_an_item_with_an_unscored_criterion_is_left_out_not_decided() -> None:
    judged = system({"safety": [A, None], "relevance": [A, A]})
    found = scored_pairs_of(judged, ["safety", "relevance"])
    assert ([row["id"] for row in found.rows], found.left_out) == (["1"], ("2",))
    assert scored_pairs_of(judged, ["relevance"]).left_out == ()
    for weights, decided in (({"relevance": 1.0, "safety": 0.0}, 2), ({"relevance": 1.0, "safety": 0.1}, 1)):
        pairs, weighed = Weighing(weights=GivenWeights(weights)).of_system(judged, None)
        assert (len(pairs.rows), len(weighed.result["results"])) == (decided, decided)


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


def test_human_winners_are_those_of_the_overall_label_and_a_tie_is_one_of_whatever_kind() -> None:
    gold = dataset({"overall_quality": [A, None, BAD, TIE, B], "safety": [B] * 5})
    assert human_winners(gold) == {"1": "A", "3": "tie", "4": "tie", "5": "B"}
    assert [winner_of(label) for label in (A, B, GOOD, BAD, TIE)] == ["A", "B", "tie", "tie", "tie"]


def planted(
    count: int, weights: Sequence[float], threshold: float, noise: float = 0.0
) -> tuple[ScoredPairs, dict[str, str]]:
    """Random scores of three criteria, and winners that people with these weights would name."""
    random = np.random.default_rng(count)
    rows, human = [], {}
    for number in range(count):
        a, b = random.random((2, 3)) * 10
        scores = (dict(zip("xyz", side.tolist(), strict=True)) for side in (a, b))
        rows.append(dict(zip(("id", "scores_a", "scores_b"), (str(number), *scores), strict=True)))
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
    # They decide as the weighted judge.
    comparisons, human = planted(2000, (0.7, 0.3, 0.0), 1.0)
    result = weigh(comparisons, fit.weights, fit.tie_threshold).result
    right = sum(entry["winner"] == human[entry["id"]] for entry in result["results"]) / 2000
    assert right == pytest.approx(fit.agreement, abs=0.01)


def test_a_criterion_against_which_people_decide_gets_no_weight() -> None:
    fit = fitted(500, (0.8, -0.4, 0.2), 0.5, noise=0.5)
    assert fit.weights["y"] == 0.0
    assert sum(fit.weights.values()) == pytest.approx(1.0)
    with pytest.raises(SetupError, match="No criterion's scores correlate positively"):
        fitted(200, (-1.0, -1.0, -1.0), 0.5)


def test_each_weight_and_the_threshold_need_ten_instructions() -> None:
    comparisons, human = planted(80, (1, 0, 0), 0.5)
    of_two = {item_id: f"question {int(item_id) // 2}" for item_id in human}
    assert fit_weights(comparisons.rows, human, of_two, "xyz").instructions == 40
    rows, too_few = (
        comparisons.rows[:-2],
        r"39 instructions .* threshold and 3 weights: .* 40, so 1 are missing",
    )
    with pytest.raises(SetupError, match=too_few):
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


TWO = ("safety", "relevance")
GOLD = dataset({name: [A, B] * 15 for name in TWO})
WORSE, BETTER = 1.5, 1.0  # log-loss, nats


def reads(side: float, mass: float) -> Probabilities:
    """Of a reading that is for A (1), for B (-1), for neither (0) or in between; `mass`: of all four."""
    a = 0.4 + 0.35 * side
    return (mass * a, mass * (0.8 - a), mass * 0.1, mass * 0.1)


def judged(folder: Path, *follows: float, gold: Dataset = GOLD, mass: float = 1.0) -> System:
    """A run that reads the label of each criterion so well: 1 right, 0 the same for all, -1 by chance."""
    random = np.random.default_rng(3)
    columns = {}
    for name, strength in zip(TWO, follows, strict=True):
        by_chance = random.choice([-0.5, 0.5], len(gold)).tolist()
        right = [strength * (1 - 2 * (place % 2)) for place in range(len(gold))]
        columns[name] = [reads(value, mass) for value in (by_chance if strength < 0 else right)]
    return stored_run(folder, gold, columns)


def calibrated(run: System, scale: float, after: float = BETTER) -> System:
    """The same, calibrated with such a scale; it says that frequencies have a log-loss of 1.2."""
    assert run.results is not None
    fitted = CriterionCalibration(scale, (0.5, 0.2, -0.3, -0.4), 1.0 if scale else None, 60)
    measured = {
        name: {"after": {"log_loss": after}, "most_frequent_label": {"log_loss": 1.2}} for name in TWO
    }
    judge = judge_of_run(run.results.run.identity)
    calibration = Calibration(judge, "labels.tsv", "d" * 64, dict.fromkeys(TWO, fitted), measured)
    return system_of_run(run.results.calibrated(calibration))


def weighed(run: System, gold: Dataset | None = None) -> WeightedScoring:
    return weigh(scored_pairs_of(run, TWO), dict.fromkeys(TWO, 1.0), 0.5, gold, run)


def test_a_judge_calibrated_to_frequencies_decides_nothing(tmp_path: Path) -> None:
    run = calibrated(judged(tmp_path, 1, 1), scale=0)
    for gold in (None, GOLD):
        found = weighed(run, gold)
        assert found.informative.refused
        assert (found.result["results"], found.agreement) == ([], None)
        with pytest.raises(SetupError, match=r"no criterion is informative.*calibrated to the class prior"):
            found.informative.check()
        assert weighted_scoring_section(found, run).parts == [
            Sentences(found.informative.sentences, Tone.CAVEAT)
        ]


def test_the_same_scores_for_all_items_are_said_by_criterion(tmp_path: Path) -> None:
    run = judged(tmp_path, 1, 0)
    found = weighed(run)
    assert set(found.informative.nothing) == {"relevance"}
    assert not found.informative.refused
    assert len(found.result["results"]) == 30
    first = weighted_scoring_section(found, run).parts[0]
    assert first == Sentences(found.informative.sentences, Tone.CAVEAT)
    assert first.texts[0].startswith("Some criteria are not informative")
    assert "on relevance the scores are the same for all 30 items" in first.texts[0]
    assert found.informative.as_json() == {"carries_nothing": dict(found.informative.nothing)}


def test_what_people_say_does_not_hide_that_the_model_says_nothing(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B, A]})
    run = stored_run(tmp_path, gold, {"safety": [SURE_A] * 3}, overrides=[("2", "safety", B, None)])
    found = informativeness_of(scored_pairs_of(run, ["safety"]).rows, ["safety"], run)
    assert found.nothing["safety"] == "the scores are the same for all 2 items, 8.8 points for A"


def test_labels_show_whether_scores_follow_them(tmp_path: Path) -> None:
    found = weighed(judged(tmp_path, 1, -1), GOLD).informative
    assert set(found.unshown) == {"relevance"}
    assert "30 human labels do not show that its scores agree with annotators" in found.sentences[0]
    assert weighed(judged(tmp_path / "both", 1, 0.5), GOLD).informative.sentences == []
    few = dataset({name: [A, B] * 4 for name in TWO})  # which show nothing and are not asked
    assert not weighed(judged(tmp_path / "few", 1, -1, gold=few), few).informative.unshown


def test_a_calibration_that_was_no_better_than_frequencies_says_so(tmp_path: Path) -> None:
    run = judged(tmp_path, 1, 1)
    assert set(weighed(calibrated(run, 1, after=WORSE)).informative.unshown) == set(TWO)
    assert not weighed(calibrated(run, 1)).informative.sentences
    assert not weighed(calibrated(run, 1, after=WORSE), GOLD).informative.sentences  # labels know better


@pytest.mark.parametrize("measured", [{}, {"safety": 7}, {"safety": {"after": {"log_loss": "?"}}}])
def test_a_calibration_may_say_nothing_of_itself(tmp_path: Path, measured: dict[str, object]) -> None:
    run = calibrated(judged(tmp_path, 1, 1), 1)
    assert run.results is not None
    assert run.results.calibration is not None
    known = replace(run.results.calibration, measured=measured)
    assert not weighed(system_of_run(run.results.calibrated(known))).informative.sentences


def test_a_model_that_does_not_judge_is_not_weighed_unless_labels_speak_for_it(tmp_path: Path) -> None:
    unfit = judged(tmp_path, 1, 1, mass=0.1)
    assert "the model does not judge" in weighed(unfit).informative.sentences[0]
    assert weighed(unfit).informative.refused
    assert not weighed(unfit, GOLD).informative.sentences
    assert not weighed(calibrated(unfit, 1)).informative.refused


def test_a_submission_of_one_label_is_weighed_and_it_is_said() -> None:
    found = weighed(system({name: [A] * 20 for name in TWO}))
    assert found.result["win_rate_a"] == 1.0
    assert "there is one label for all 20 items, 10.0 points for A" in found.informative.sentences[0]
    assert not weighed(system({name: [A, A] for name in TWO})).informative.sentences
