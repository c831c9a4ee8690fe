"""What is read of a run for its audit: the same numbers as in its readings, one by one."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import numpy as np
import pytest

from engine.analysis.audit_lines import JudgePredictions
from engine.core.items import PREFERENCES, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, JudgedItem, RawPrediction
from engine.core.methods import METHODS, raw_prediction_of
from engine.core.numeric import FloatArray, log_softmax
from engine.core.rubric import DEFAULT_WORDING
from engine.data.dataset import Dataset
from engine.results.run_results import RunResults
from engine.settings.identity import StoredRun
from tests.judged import GOOD, IDENTITY, A, B, Probabilities, dataset, with_texts

GOLD = dataset({"safety": [A, B, GOOD]})
QUESTIONS = [question.name for question in METHODS[Method.PERMUTED_LABELS].questions(DEFAULT_WORDING)]


def drawn(random: np.random.Generator) -> Probabilities:
    values = log_softmax(random.normal(size=4) * 2) - 0.1
    return cast(Probabilities, tuple(values.tolist()))


def run_of(gold: Dataset, judged: tuple[JudgedItem, ...], methods: tuple[Method, ...]) -> RunResults:
    settings = {"mode": "labels", "orders": ["AB", "BA"], "ways": list(methods), "examples": ""}
    identity = replace(IDENTITY, items=len(gold), dataset_hash=gold.hash, settings=settings)
    run = StoredRun(1, datetime(2026, 1, 1, tzinfo=UTC), identity, len(judged))
    return RunResults(run, judged, {}).calibrated(None)


def judged_by(
    gold: Dataset, methods: tuple[Method, ...], random: np.random.Generator
) -> tuple[JudgedItem, ...]:
    items = []
    for place, item in enumerate(gold):
        raw_predictions: list[RawPrediction] = []
        for order in Order:
            if Method.LABEL_TOKENS in methods:
                raw_predictions.append(RawPrediction(order, drawn(random)))
            if Method.PERMUTED_LABELS in methods:
                answers = [AnswerLogProbs(name, drawn(random)) for name in QUESTIONS]
                raw_predictions.append(raw_prediction_of(Method.PERMUTED_LABELS, order, answers))
        items.append(
            JudgedItem(
                place,
                item.id,
                item.content_hash,
                {"safety": tuple(raw_predictions)},
                seconds=1.5,
                tokens_read=9,
            )
        )
    return tuple(items)


@pytest.mark.parametrize("methods", [(Method.LABEL_TOKENS,), (Method.LABEL_TOKENS, Method.PERMUTED_LABELS)])
def test_probabilities_and_labels_are_those_of_the_judgments(methods: tuple[Method, ...]) -> None:
    results = run_of(GOLD, judged_by(GOLD, methods, np.random.default_rng(0)), methods)
    received = JudgePredictions.of_run(results, GOLD)
    judgments = results.judgments["safety"]
    assert np.allclose(received.probabilities[0], [each.probabilities for each in judgments])  # type: ignore[union-attr]
    assert [PREFERENCES[label] for label in received.labels[0]] == [each.preference for each in judgments]  # type: ignore[union-attr]
    alone = received.by_order[0].argmax(axis=2)
    assert [one != other for one, other in alone.tolist()] == [each.flipped for each in judgments]  # type: ignore[union-attr]
    assert np.allclose(received.mass[0], [each.answer_mass for each in judgments])  # type: ignore[arg-type, union-attr]
    assert {key.item_id: label for key, label in received.human.items()} == {"1": A, "2": B, "3": GOOD}
    assert received.seconds.tolist() == [1.5] * 3
    assert (received.letters is None) is (Method.PERMUTED_LABELS not in methods)


def test_letters_are_those_of_the_questions_as_they_were_shown() -> None:
    methods = (Method.PERMUTED_LABELS,)
    judged = judged_by(GOLD, methods, np.random.default_rng(1))
    letters = cast(FloatArray, JudgePredictions.of_run(run_of(GOLD, judged, methods), GOLD).letters)
    for place, item in enumerate(judged):
        for order, reading in enumerate(item.raw_predictions["safety"]):
            for question, answer in enumerate(reading.answers):
                shares = np.exp(answer.log_probs) / sum(map(math.exp, answer.log_probs))
                assert np.allclose(np.exp(letters[0, place, order, question]), shares)


def test_what_could_not_be_judged_is_unknown_and_items_that_changed_are_left_out() -> None:
    methods = (Method.LABEL_TOKENS, Method.PERMUTED_LABELS)
    first, second, third = judged_by(GOLD, methods, np.random.default_rng(2))
    nothing = replace(second, raw_predictions={}, unscored={"safety": "too long"})
    changed = with_texts(GOLD, instruction=["question 1", "question 2", "another"])
    received = JudgePredictions.of_run(run_of(GOLD, (first, nothing, third), methods), changed)
    assert [item.id for item in received.items] == ["1", "2"]
    assert received.scored.tolist() == [[True, False]]
    assert received.labels.tolist()[0][1] == -1
    assert math.isnan(received.mass[0, 1])
    assert Preference.A is received.human[received.items[0].id, "safety"]  # type: ignore[index]


def test_other_labels_may_count() -> None:
    methods = (Method.LABEL_TOKENS,)
    results = run_of(GOLD, judged_by(GOLD, methods, np.random.default_rng(3)), methods)
    received = JudgePredictions.of_run(results, GOLD, dataset({"safety": [B, B, None]}))
    assert list(received.human.values()) == [B, B]
