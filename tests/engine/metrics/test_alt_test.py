"""The alternative annotator test: in worlds whose truth is known, and against its formulas by hand."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from engine.core.items import PREFERENCES, HumanLabel, Tie
from engine.core.judgments import JudgmentKey
from engine.core.numeric import IntArray
from engine.core.tables import Sentences
from engine.metrics.alt_test import AltTest, Annotators, alt_tests, rejected
from engine.metrics.annotator_agreement import AnnotatorAgreement
from engine.metrics.intervals import OverInstructions
from engine.report.annotators import annotator_sections, stands_in_table
from tests.judged import BAD, GOOD, A, B

SKILLED = Annotators.SKILLED


def keyed(labels: list[HumanLabel | None], criterion: str = "safety") -> dict[JudgmentKey, HumanLabel | None]:
    return {JudgmentKey(str(number), criterion): label for number, label in enumerate(labels)}


def found_of(
    judge: list[HumanLabel | None], *annotators: list[HumanLabel | None], each: int = 1
) -> list[AltTest]:
    """Of labels by item; None of a person for an item that he did not label."""
    said = {
        str(place): {key: label for key, label in keyed(labels).items() if label is not None}
        for place, labels in enumerate(annotators)
    }
    instructions = {str(number): str(number // each) for number in range(len(judge))}
    return list(alt_tests(said, keyed(judge), instructions, ["safety", None]))


def noisy(random: np.random.Generator, truth: IntArray, knows: float) -> list[HumanLabel | None]:
    """Labels of somebody who sees the truth so often, and else guesses."""
    guessed = random.integers(len(PREFERENCES), size=len(truth))
    said = np.where(random.random(len(truth)) < knows, truth, guessed)
    return [PREFERENCES[place] for place in said]


def passes(knows: float, seeds: int, items: int = 100) -> float:
    """How often a judge who knows so much may stand in for one of three skilled people who know .8."""
    passed = 0
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        truth = random.integers(len(PREFERENCES), size=items)
        [found] = found_of(noisy(random, truth, knows), *(noisy(random, truth, 0.8) for _ in range(3)))
        passed += found.may_replace(SKILLED)
    return passed / seeds


def test_a_judge_as_good_as_people_passes_and_a_coin_does_not() -> None:
    assert passes(0.85, 30) >= 0.9
    assert passes(0.0, 30) == 0


def test_the_rates_are_those_of_the_formulas() -> None:
    """Three people; the judge is with one of two others where the person is with none, and so on."""
    rounds: list[tuple[HumanLabel | None, ...]] = [(A, A, B, A), (B, A, A, A), (None, A, B, GOOD)]
    judge, *annotators = (list(column) for column in zip(*rounds * 10, strict=True))
    [found] = found_of(judge, *annotators)
    first = found.annotators[0]
    # Of person 0 the others say (B, A), (A, A), (B, GOOD); the judge A, B, nothing: 1/2, 0, 0; he 1/2, 1, 0.
    assert first.judge.value == pytest.approx(2 / 3)
    assert (first.items, first.own.value) == (30, 1)
    assert found.advantage.value == pytest.approx(np.mean([held.judge.value for held in found.annotators]))


def test_a_tie_that_says_no_more_agrees_with_both_kinds_of_ties() -> None:
    [found] = found_of([GOOD] * 40, [Tie.TIE] * 40, [Tie.TIE] * 40)
    assert found.advantage.value == 1
    assert found.winning_rate(Annotators.CROWD) == 1
    [other] = found_of([GOOD] * 40, [BAD] * 40, [Tie.TIE] * 40)
    assert [held.judge.value for held in other.annotators] == [1, 0]


@pytest.mark.parametrize(
    ("items", "annotators", "each"),
    [(29, 2, 1), (60, 1, 1), (60, 3, 10)],
    ids=["29 items", "one annotator", "6 instructions"],
)
def test_of_too_little_nothing_is_said(items: int, annotators: int, each: int) -> None:
    labels: list[HumanLabel | None] = [A] * items
    assert found_of(labels, *[labels] * annotators, each=each) == []


def test_only_people_with_enough_items_are_left_out_in_turn() -> None:
    few: list[HumanLabel | None] = [B] * 20 + [None] * 20
    [found] = found_of([A] * 40, [A] * 40, [A] * 40, few)
    assert [held.annotator for held in found.annotators] == ["0", "1"]


def test_several_criteria_are_told_apart_and_together() -> None:
    labels = {**keyed([A] * 40), **keyed([B] * 40, "relevance")}
    annotators = {name: {key: label for key, label in labels.items() if label} for name in ("ada", "ben")}
    of = {str(number): str(number) for number in range(40)}
    found = list(alt_tests(annotators, labels, of, ["safety", "relevance", None]))
    assert [(one.criterion, one.annotators[0].items) for one in found] == [
        ("safety", 40),
        ("relevance", 40),
        (None, 80),
    ]


@pytest.mark.parametrize(
    ("instructions", "each", "epsilon"), [(30, 1, 0.15), (40, 5, 0.1)], ids=["30 items", "5 alike"]
)
def test_a_judge_that_is_worse_by_epsilon_rarely_wins_where_it_is_never_better(
    instructions: int, each: int, epsilon: float
) -> None:
    """The plain t-test lets it win in one of seven such worlds of thirty items; an error without a least one
    in one of twelve where five items of an instruction are alike.
    """
    random = np.random.default_rng(0)
    drawn = np.repeat(random.random((1500, instructions)) < epsilon, each, axis=1).astype(float)
    groups = np.repeat(np.arange(instructions), each).tolist()
    found = [OverInstructions.of_one(row.tolist(), groups) for row in drawn]
    assert np.mean([one is not None and one.p_below(epsilon) < 0.05 for one in found]) <= 0.06


@pytest.mark.slow
def test_the_interval_of_the_advantage_holds_the_truth() -> None:
    """Ten items for each instruction, which are hard or easy together."""

    def drawn(random: np.random.Generator, instructions: int) -> AltTest:
        truth = random.integers(2, size=instructions * 10)
        knows = np.repeat(random.choice([0.3, 0.95], instructions), 10)

        def labels() -> list[HumanLabel | None]:
            said = np.where(random.random(len(truth)) < knows, truth, random.integers(2, size=len(truth)))
            return [PREFERENCES[place] for place in said]

        [found] = found_of(labels(), labels(), labels(), labels(), each=10)
        return found

    random = np.random.default_rng(2)
    truth = drawn(random, 2000).advantage.value
    ends = [drawn(random, 15).advantage.ends for _ in range(100)]
    assert sum(each is not None and each[0] <= truth <= each[1] for each in ends) >= 91


def test_the_correction_is_that_of_scipy() -> None:
    random = np.random.default_rng(1)
    for count in (1, 2, 3, 8):
        for _ in range(50):
            p_values = random.random(count) ** 4
            theirs = false_discovery_control(p_values, method="by") <= 0.05
            assert rejected(p_values.tolist()) == theirs.tolist()


def test_what_is_shown_names_the_kinds_of_people_and_what_is_not_shown() -> None:
    random = np.random.default_rng(3)
    truth = random.integers(4, size=60)
    found = found_of(noisy(random, truth, 0.3), noisy(random, truth, 0.9), noisy(random, truth, 0.9))
    section = annotator_sections(AnnotatorAgreement((), {}, alt_tests=tuple(found)))[1]
    assert section.key == "stands_in"
    said = section.parts[0]
    assert isinstance(said, Sentences)
    [sentence] = said.texts
    assert sentence.startswith("Safety: not shown that the judge can replace skilled annotators (.15)")
    assert "experts (.2)" in sentence
    assert "With two annotators" in sentence
    assert [row[1] for row in stands_in_table(found).rows] == ["all, in turn", "0", "1"]
    plain = found[0].as_json()
    assert [kind["epsilon"] for kind in plain["by_annotators"]] == [0.2, 0.15, 0.1]
    assert plain["people"][0]["items"] == 60
