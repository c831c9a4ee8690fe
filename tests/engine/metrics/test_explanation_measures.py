"""Explanations held against human ones: what is missing counts 0, and the typical one stands beside."""

from dataclasses import replace

import pytest

from engine.core.judgments import Agreement, Unscored
from engine.core.tables import Sentences, Table
from engine.metrics.comparison import compare, match_all
from engine.metrics.evaluation import evaluate, official_json, wordless_in_words
from engine.metrics.explanations import (
    EXPLANATION_MEASURES,
    ExplanationMeasures,
    ModelScores,
    add_model_scores,
    mean_explanation_interval,
    measure_explanations,
)
from engine.metrics.intervals import Interval, OverInstructions, share_interval
from engine.metrics.matching import match
from engine.report.comparison import comparison_sheet
from engine.report.evaluation import evaluation_methods, explanation_section
from tests.judged import GOOD, A, B, Labels, Texts, dataset, system


def measured(
    given: Texts, human: Texts, labels: Labels | None = None, scores: ModelScores | None = None
) -> ExplanationMeasures:
    labels = labels or [A] * len(human)
    gold = dataset({"safety": labels}, {"safety": human})
    found = match(system({"safety": labels}, {"safety": given}), gold)
    result = measure_explanations("safety", found.pairs["safety"])
    assert result is not None
    return add_model_scores(result, found.pairs["safety"], scores) if scores else result


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
    assert score.answer_mass == pytest.approx(0.75)
    assert score.by_item["bertscore"] == {"1": 0.9, "2": 0.7, "3": 0.0, "4": 0.0}
    assert score.by_item["agreement"] == {"1": 1.0, "2": 0.0, "3": 0.0, "4": 0.0}


def test_each_measure_has_an_interval_over_instructions() -> None:
    words = ["one two", "two", "three", "three four"]
    asked: list[Agreement | Unscored] = [
        Agreement(0.8, 0.2),
        Agreement(0.1, 0.4),
        Unscored("2", "safety", "too long"),
    ]
    asked.append(Agreement(0.9, 0.0))
    score = measured(words, ["one", *words[1:]], scores=ModelScores([0.9, 0.7, 0.5, 0.8], asked))
    # Each of these pairs is an instruction of its own, and one could not be asked about.
    close = OverInstructions.of_one([0.9, 0.7, 0.5, 0.8], range(4))
    assert close is not None
    assert (ends := close.skewed_interval()) is not None
    assert score.intervals["bertscore"] == in_percent(Interval(ends.low, min(ends.high, 1.0)))
    by_words = OverInstructions.of_one(list(score.by_item["rouge_l"].values()), range(4))
    assert by_words is not None
    assert score.intervals["rouge_l"] == pytest.approx(in_percent(by_words.score_interval()))
    assert score.intervals["agreement"] == in_percent(share_interval([1.0, 0.0, 1.0], range(3)))
    assert set(score.intervals) == set(EXPLANATION_MEASURES)


def in_percent(ends: Interval | None) -> tuple[float, float]:
    assert ends is not None
    return (100 * ends.low, 100 * ends.high)


def test_the_mean_over_criteria_has_an_interval_where_all_are_measured() -> None:
    one = measured(["one", "x"], ["one", "two"], scores=ModelScores(bertscores=[0.9, 0.3]))
    other = replace(one, criterion="overall_quality")
    instructions = {item_id: f"what is {item_id}?" for item_id in one.by_item["rouge_l"]}
    # The same values of the same instructions twice are worth one.
    assert mean_explanation_interval("bertscore", [one, other], instructions) == one.intervals["bertscore"]
    without = replace(other, by_item={"rouge_l": other.by_item["rouge_l"]})
    assert mean_explanation_interval("bertscore", [one, without], instructions) is None
    assert mean_explanation_interval("rouge_l", [one, without], instructions) == one.intervals["rouge_l"]


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


THAI, JAPANESE, ARABIC = "คำตอบแรกถูกต้องและสั้นกว่า", "最初の回答は正しくて短い。", "الإجابة الأولى صحيحة وأقصر"


def test_of_explanations_without_a_latin_letter_rouge_l_is_not_measured_and_it_is_said() -> None:
    """It was 0.00 for identical explanations, beside no word."""
    texts = [THAI, JAPANESE, ARABIC, "both are safe"]
    score = measured(texts, texts)
    assert (score.rouge_l, score.typical, score.wordless, score.own_wordless) == (None, None, 3, 3)
    assert not {"rouge_l"} & {*score.by_item, *score.intervals}
    said = wordless_in_words([score])
    assert "3 of 4 human explanations and 3 of 4 of the system's have none" in said
    assert said.endswith("It is not measured on safety, where most human ones hold none.")


def test_where_most_explanations_hold_words_the_mean_stays_that_of_the_task() -> None:
    score = measured(["fine", "both are safe", THAI], ["fine", "both are safe", THAI])
    assert score.rouge_l == pytest.approx(200 / 3)
    assert (score.wordless, score.own_wordless) == (1, 1)
    assert wordless_in_words([score]).endswith("have none, and score 0.")
    assert not wordless_in_words([measured(["fine", None], ["fine", "x"])])


def test_what_is_not_measured_is_not_ranked_and_is_said_wherever_it_would_stand() -> None:
    gold = dataset({"safety": [A] * 4}, {"safety": [THAI] * 4})
    systems = [system({"safety": [A] * 4}, {"safety": [THAI] * 4}, name=name) for name in ("one", "two")]
    matched = match_all(systems, gold)
    evaluations = [evaluate(each) for each in matched]
    comparison = compare(evaluations)
    assert {measure.name for measure in comparison.measures} == {"accuracy"}
    assert comparison.borda_explanations == {}
    sheet = comparison_sheet(comparison, matched)
    shown = [text for part in sheet.sections[1].parts if isinstance(part, Sentences) for text in part.texts]
    assert any(
        text.startswith("one: ROUGE-L compares words of unaccented Latin characters") for text in shown
    )
    section = explanation_section(evaluations[0])
    (caveat, table) = section.parts
    assert isinstance(caveat, Sentences)
    assert isinstance(table, Table)
    assert table.texts()[0][2:4] == ["-", "-"]
    official = official_json(evaluations[0])
    assert "safety_rougeL" not in official
    assert official["details"]["wordless"] == caveat.texts[0]
    methods = " ".join(statement.text for statement in evaluation_methods(evaluations[0]))
    assert "It is not measured on safety" in methods
    assert "by ROUGE-L" not in methods
