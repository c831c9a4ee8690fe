"""Explanations held against human ones: what is missing counts 0, and the typical one stands beside."""

import pytest

from engine.core.judgments import Agreement, Unscored
from engine.measure.explanation_measures import (
    ExplanationMeasures,
    ModelScores,
    add_model_scores,
    measure_explanations,
)
from engine.measure.matching import match
from tests.judged import GOOD, A, B, Labels, Texts, dataset, system


def measured(
    given: Texts, human: Texts, labels: Labels | None = None, scores: ModelScores | None = None
) -> ExplanationMeasures:
    labels = labels or [A] * len(human)
    gold = dataset({"safety": labels}, {"safety": human})
    found = match(system({"safety": labels}, {"safety": given}), gold)
    result = measure_explanations("safety", found.pairs["safety"])
    assert result is not None
    return add_model_scores(result, scores) if scores else result


def test_rouge_l_is_the_mean_with_0_for_what_is_missing() -> None:
    score = measured(["both are safe", None], ["both are safe", "neither is"])
    assert (score.rouge_l, score.unexplained, score.items) == (50.0, 1, 2)


def test_items_without_a_human_explanation_do_not_count() -> None:
    assert measured(["x", "both are safe"], [None, "both are safe"]).items == 1


def test_scores_of_models_count_missing_explanations_as_0() -> None:
    scores = ModelScores([0.9, 0.7], [Agreement(0.8, 0.2), Agreement(0.1, 0.4)])
    score = measured(["one", "two", None, None], ["one", "two", "three", "four"], scores=scores)
    assert score.bertscore == pytest.approx(40.0)
    assert score.agreement == pytest.approx(25.0)
    assert score.p_yes == pytest.approx(25.0)
    assert score.format_mass == pytest.approx(0.75)


def test_what_the_judge_model_could_not_be_asked_is_counted_and_left_out() -> None:
    scores = ModelScores(agreements=[Agreement(0.9, 0.0), Unscored("2", "safety", "too long")])
    score = measured(["one", "two"], ["one", "two"], scores=scores)
    assert (score.agreement, score.unmeasured, score.bertscore) == (100.0, 1, None)


def test_the_typical_explanation_is_of_the_most_frequent_label_and_of_other_instructions() -> None:
    human = ["both are safe"] * 9 + ["a insults the reader"]
    labels = [GOOD] * 9 + [B]
    assert measured(human, human, labels).typical == pytest.approx(90.0)


def test_words_are_counted_at_white_space() -> None:
    score = measured(["one two  three", "one"], ["one", "one"])
    assert (score.words, score.human_words) == (2.0, 1.0)
