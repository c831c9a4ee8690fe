"""Leave-one-out agreement: each annotator, and the judge, against the others, against the majority of the
other people."""

import numpy as np
import pytest

from bench.coverage.annotators import AnnotatorWorld, is_held
from engine.core.items import HumanLabel
from engine.core.judgments import JudgmentKey
from engine.metrics.annotator_agreement import AgainstOthers, against_others
from tests.judged import BAD, GOOD, A, B

INSTRUCTIONS = {str(number): f"instruction {number}" for number in range(60)}


def held(judge: dict[str, HumanLabel | None], **annotators: dict[str, HumanLabel]) -> list[AgainstOthers]:
    said = {
        name: {JudgmentKey(item, "safety"): label for item, label in of.items()}
        for name, of in annotators.items()
    }
    labels = {JudgmentKey(item, "safety"): label for item, label in judge.items()}
    return against_others(said, labels, INSTRUCTIONS, ["safety"])


def test_where_one_of_three_is_alone_a_judge_may_agree_more_than_any_two_people() -> None:
    """Each two agree on a third of the items, and a judge that is with the two on all of them."""
    annotators: dict[str, dict[str, HumanLabel]] = {name: {} for name in ("ada", "ben", "cy")}
    for number in range(60):
        for place, name in enumerate(annotators):
            annotators[name][str(number)] = B if number % 3 == place else A
    in_turn, *each = held({str(number): A for number in range(60)}, **annotators)
    assert (in_turn.annotator, in_turn.items, in_turn.undecided) == (None, 60, 120)
    assert in_turn.own.value == 0
    assert in_turn.judge is not None
    assert in_turn.judge.value == 1
    assert [(one.annotator, one.items, one.own.value) for one in each] == [
        (name, 20, 0) for name in annotators
    ]


def test_what_the_others_have_no_majority_on_takes_no_part() -> None:
    found = held({"1": A, "2": A}, ada={"1": A, "2": A}, ben={"1": A, "2": B}, cy={"1": A, "2": GOOD})
    assert [(one.annotator, one.items, one.undecided, one.own.value) for one in found] == [
        (None, 3, 3, 1),
        *((name, 1, 1, 1) for name in ("ada", "ben", "cy")),
    ]


def test_a_judge_is_right_on_the_same_items_and_wrong_where_it_is_unscored() -> None:
    annotators: dict[str, dict[str, HumanLabel]] = {
        name: {str(number): A for number in range(4)} for name in ("ada", "ben")
    }
    [in_turn, *_] = held({"0": A, "1": None, "2": B}, **annotators)
    assert in_turn.items == 6  # the judge does not know the fourth item
    assert in_turn.judge is not None
    assert in_turn.judge.value == pytest.approx(1 / 3)
    assert in_turn.lead is not None
    assert in_turn.lead.value == pytest.approx(-2 / 3)


def test_ties_of_two_kinds_are_a_majority_for_a_tie() -> None:
    found = held({"1": BAD}, ada={"1": GOOD}, ben={"1": GOOD}, cy={"1": BAD})
    assert [(one.annotator, one.own.value) for one in found[1:]] == [("ada", 1), ("ben", 1), ("cy", 0)]


def test_alone_a_person_is_held_against_nobody() -> None:
    assert held({"1": A}, ada={"1": A}) == []


def test_the_intervals_hold_the_truth() -> None:
    """A small part of `python -m bench.coverage --only people`."""
    world = AnnotatorWorld(3, 15, 3, 0.7, 0.7, 0.4)
    random = np.random.default_rng(1)
    drawn = [world.drawn(random, world.instructions) for _ in range(100)]
    held = {name: sum(is_held(found, name, truth) for found in drawn) for name, truth in world.truth.items()}
    assert min(held.values()) >= 91  # of a hundred, with three standard errors
    assert sum(is_held(found, "lead", 0.0) for found in drawn) >= 91
