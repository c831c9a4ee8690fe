"""What human labels agree with, and what several of them say together."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as some

from engine.core.items import (
    HUMAN_LABELS,
    PREFERENCES,
    Gold,
    HumanLabel,
    Tie,
    agree,
    agreeing,
    majority,
    probability_of,
    written_label,
)

A, B, GOOD, BAD = PREFERENCES
TIE = Tie.TIE


def test_a_tie_agrees_with_both_ties_that_a_judge_may_give_and_is_as_probable_as_both() -> None:
    unlike = {(one, other) for one, other in product(HUMAN_LABELS, repeat=2) if one is not other}
    assert {pair for pair in unlike if agree(*pair)} == {(TIE, GOOD), (TIE, BAD), (GOOD, TIE), (BAD, TIE)}
    assert all(agree(label, label) and not agree(None, label) for label in HUMAN_LABELS)
    assert [agreeing(label) for label in HUMAN_LABELS] == [(A,), (B,), (GOOD,), (BAD,), (GOOD, BAD)]
    assert [probability_of(label, (0.5, 0.125, 0.25, 0.125)) for label in HUMAN_LABELS] == [
        *(0.5, 0.125, 0.25, 0.125, 0.375)
    ]


@pytest.mark.parametrize("label", HUMAN_LABELS)
def test_a_label_is_read_as_it_is_written(label: HumanLabel) -> None:
    assert written_label(str(label)) is label
    assert label.swapped.swapped is label


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([], None),
        ([A], A),
        ([A, B], None),
        ([A, A, TIE], A),
        ([A, B, TIE], None),
        ([GOOD, BAD, A], TIE),
        ([GOOD, GOOD, BAD], GOOD),
        ([GOOD, TIE], TIE),
        ([TIE, TIE, GOOD, GOOD], TIE),
        ([GOOD, BAD, A, B], None),
    ],
)
def test_the_majority_is_more_than_half(labels: Sequence[HumanLabel], expected: HumanLabel | None) -> None:
    assert majority(labels) is expected


@given(some.lists(some.sampled_from(HUMAN_LABELS), min_size=1))
def test_half_and_more_agree_with_a_majority_in_whatever_order_asked(labels: list[HumanLabel]) -> None:
    found = majority(labels)
    assert found is majority(labels[::-1])
    assert found is None or 2 * sum(agree(label, found) for label in labels) > len(labels)


def test_annotators_have_shares() -> None:
    gold = Gold(A, None, {"ann": A, "ben": A, "cem": TIE, "dee": B})
    assert gold.shares == {A: 0.5, B: 0.25, TIE: 0.25}
    assert Gold(A).shares == {}
