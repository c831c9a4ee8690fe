"""Criteria, wordings and rubrics: what can be one, and what makes two the same question."""

from dataclasses import replace
from typing import Any

import pytest

from engine.core.rubric import (
    ELOQUENT,
    LONGEST_TEXT,
    Criterion,
    PromptWording,
    Rubric,
    rubric_for_labels,
    rubric_of_names,
)
from tests.steps import refused


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": "on topic"}, "Criterion 'on topic': name 'on topic' cannot be part of a column name."),
        ({"name": "x" * 256}, "name has 256 characters."),
        ({"question": " \n"}, "Criterion 'x': question is empty."),
        ({"question": "a" * (LONGEST_TEXT + 1)}, "question has 4,001 characters."),
        ({"bad": "a\tb"}, r"bad contains the character '\t', which is invisible."),
        ({"weight": -0.5}, "weight -0.5 is negative or not a number."),
        ({"weight": float("nan")}, "weight nan is negative or not a number."),
    ],
)
def test_what_is_no_criterion_is_refused(values: dict[str, Any], said: str) -> None:
    assert said in refused(lambda: Criterion(**{"name": "x", "question": "Which?", **values})).problem


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"system": "Compare."}, "Wording: system needs {letters}, each once; it has none."),
        ({"good": "{meaning} {meaning}"}, "it has {meaning} and {meaning}."),
        ({"now": "Now {title}"}, "Wording: now needs no mark in braces; it has {title}."),
        ({"verdict": "Verdict:\n"}, "more than one line, or space around it."),
        ({"response_a": "[A]"}, "contains a square bracket"),
        ({"response_a": "Response B"}, "Wording: instruction, response_a, response_b are not all different."),
        ({"yes": "No"}, "Wording: yes, no are not all different."),
    ],
)
def test_what_is_no_wording_is_refused(values: dict[str, str], said: str) -> None:
    assert said in refused(lambda: PromptWording(**values)).problem


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"criteria": ()}, "criteria are missing."),
        ({"criteria": tuple(Criterion(f"c{number}", "Which?") for number in range(25))}, "criteria are 25."),
        ({"criteria": (Criterion("ﬁne", "Which?"), Criterion("Fine", "Which?"))}, "name 'Fine' twice"),
        ({"tie_threshold": -1.0}, "tie_threshold -1 is negative or not a number."),
        ({"name": "two\nlines"}, "name has more than one line"),
        ({"name": "x" * 256}, "name has 256 characters."),
        ({"source": "a\x07"}, "source contains the character"),
    ],
)
def test_what_is_no_rubric_is_refused(values: dict[str, Any], said: str) -> None:
    usual = {"name": "x", "criteria": (Criterion("a", "Which?"),)}
    assert said in refused(lambda: Rubric(**(usual | values))).problem


def test_meanings_and_wording_change_what_is_asked_and_neither_name_nor_weights() -> None:
    (criterion,) = ELOQUENT.only(("safety",)).criteria
    other = Rubric("mine", (replace(criterion, weight=3.0),), 2.0, "me")
    assert other.asked == ELOQUENT.only(("safety",)).asked
    assert not other.is_part_of(ELOQUENT)
    assert replace(other, criteria=(replace(criterion, good="It is kind."),)).asked != other.asked
    assert replace(other, wording=PromptWording(verdict="Urteil:")).asked != other.asked


MANNERS = Rubric("manners", (Criterion("politeness", "Which?", 2.0), Criterion("safety", "Mine?")), 1.5)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("safety", "relevance"), ("relevance", "safety")),
        ((), ELOQUENT.names),
        (("a b", ""), ELOQUENT.names),
        (("tact", "safety"), ("tact", "safety")),
        (("Tact", "tact", "tact"), ("Tact",)),
        (tuple(f"c{number}" for number in range(30)), tuple(f"c{number}" for number in range(24))),
    ],
)
def test_names_of_columns_make_a_rubric(names: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert rubric_of_names(names).names == expected


def test_what_is_known_of_a_name_is_kept() -> None:
    rubric = rubric_of_names(("tact", "politeness"), MANNERS)
    assert rubric.criteria[1] is MANNERS.criteria[0]
    assert rubric.criteria[0].question == "Which response is better with regard to this: tact?"


def test_labels_are_read_for_all_that_was_asked_and_for_the_overall_quality() -> None:
    other = Rubric("b", (Criterion("safety", "Other?"), Criterion("wit", "W?")))
    rubric = rubric_for_labels([MANNERS, other])
    assert rubric.names == ("politeness", "safety", "wit", "overall_quality")
    assert (rubric.criteria[1].question, rubric.tie_threshold) == ("Mine?", 1.5)
    assert rubric_for_labels([]) is ELOQUENT
    assert rubric_for_labels([ELOQUENT.only(("safety",)), ELOQUENT.only(("relevance",))]) is ELOQUENT
