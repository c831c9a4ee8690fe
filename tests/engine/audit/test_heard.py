"""What is read of a run for its audit: the same numbers as in its readings, one by one."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

import numpy as np
import pytest

from engine.audit.heard import Heard
from engine.core.items import PREFERENCES, Order, Preference, Way
from engine.core.judgments import JudgedItem, RawAnswer, Reading
from engine.core.log_probs import FloatArray, log_softmax
from engine.core.rubric import USUAL_WORDING
from engine.core.run_records import StoredRun
from engine.core.ways.all_ways import WAYS, reading_of
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults
from tests.judged import GOOD, IDENTITY, A, B, Probabilities, dataset, with_texts

GOLD = dataset({"safety": [A, B, GOOD]})
QUESTIONS = [question.name for question in WAYS[Way.PERMUTED].questions(USUAL_WORDING)]


def drawn(random: np.random.Generator) -> Probabilities:
    values = log_softmax(random.normal(size=4) * 2) - 0.1
    return cast(Probabilities, tuple(values.tolist()))


def run_of(gold: Dataset, judged: tuple[JudgedItem, ...], ways: tuple[Way, ...]) -> RunResults:
    settings = {"mode": "labels", "orders": ["AB", "BA"], "ways": list(ways), "examples": ""}
    identity = replace(IDENTITY, items=len(gold), dataset_hash=gold.hash, settings=settings)
    run = StoredRun(1, datetime(2026, 1, 1, tzinfo=UTC), identity, len(judged))
    return RunResults(run, judged, {}).calibrated(None)


def judged_by(gold: Dataset, ways: tuple[Way, ...], random: np.random.Generator) -> tuple[JudgedItem, ...]:
    items = []
    for place, item in enumerate(gold):
        readings: list[Reading] = []
        for order in Order:
            if Way.LETTERS in ways:
                readings.append(Reading(order, drawn(random)))
            if Way.PERMUTED in ways:
                answers = [RawAnswer(name, drawn(random)) for name in QUESTIONS]
                readings.append(reading_of(Way.PERMUTED, order, answers))
        items.append(
            JudgedItem(
                place, item.id, item.content_hash, {"safety": tuple(readings)}, seconds=1.5, tokens_read=9
            )
        )
    return tuple(items)


@pytest.mark.parametrize("ways", [(Way.LETTERS,), (Way.LETTERS, Way.PERMUTED)])
def test_probabilities_and_labels_are_those_of_the_judgments(ways: tuple[Way, ...]) -> None:
    results = run_of(GOLD, judged_by(GOLD, ways, np.random.default_rng(0)), ways)
    heard = Heard.of_run(results, GOLD)
    judgments = results.judgments["safety"]
    assert np.allclose(heard.probabilities[0], [each.probabilities for each in judgments])  # type: ignore[union-attr]
    assert [PREFERENCES[label] for label in heard.labels[0]] == [each.preference for each in judgments]  # type: ignore[union-attr]
    alone = heard.by_order[0].argmax(axis=2)
    assert [one != other for one, other in alone.tolist()] == [each.flipped for each in judgments]  # type: ignore[union-attr]
    assert np.allclose(heard.mass[0], [each.format_mass for each in judgments])  # type: ignore[arg-type, union-attr]
    assert {key.item_id: label for key, label in heard.human.items()} == {"1": A, "2": B, "3": GOOD}
    assert heard.seconds.tolist() == [1.5] * 3
    assert (heard.letters is None) is (Way.PERMUTED not in ways)


def test_letters_are_those_of_the_questions_as_they_were_shown() -> None:
    ways = (Way.PERMUTED,)
    judged = judged_by(GOLD, ways, np.random.default_rng(1))
    letters = cast(FloatArray, Heard.of_run(run_of(GOLD, judged, ways), GOLD).letters)
    for place, item in enumerate(judged):
        for order, reading in enumerate(item.readings["safety"]):
            for question, answer in enumerate(reading.answers):
                shares = np.exp(answer.log_probs) / sum(map(math.exp, answer.log_probs))
                assert np.allclose(np.exp(letters[0, place, order, question]), shares)


def test_what_could_not_be_judged_is_unknown_and_items_that_changed_are_left_out() -> None:
    ways = (Way.LETTERS, Way.PERMUTED)
    first, second, third = judged_by(GOLD, ways, np.random.default_rng(2))
    nothing = replace(second, readings={}, unscored={"safety": "too long"})
    changed = with_texts(GOLD, instruction=["question 1", "question 2", "another"])
    heard = Heard.of_run(run_of(GOLD, (first, nothing, third), ways), changed)
    assert [item.id for item in heard.items] == ["1", "2"]
    assert heard.scored.tolist() == [[True, False]]
    assert heard.labels.tolist()[0][1] == -1
    assert math.isnan(heard.mass[0, 1])
    assert Preference.A is heard.human[heard.items[0].id, "safety"]  # type: ignore[index]


def test_other_labels_may_count() -> None:
    ways = (Way.LETTERS,)
    results = run_of(GOLD, judged_by(GOLD, ways, np.random.default_rng(3)), ways)
    heard = Heard.of_run(results, GOLD, dataset({"safety": [B, B, None]}))
    assert list(heard.human.values()) == [B, B]
