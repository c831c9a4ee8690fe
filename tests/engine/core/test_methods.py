"""What the ways of asking ask, and how their answers become probabilities of the four labels."""

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest

from engine.core.errors import SetupError
from engine.core.items import PREFERENCES, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, RawPrediction
from engine.core.methods import (
    GRADES,
    LETTERS,
    METHODS,
    asked_by,
    mean_grade,
    mean_grades,
    parse_methods,
    raw_prediction_of,
    together,
)
from engine.core.rubric import DEFAULT_WORDING, PromptWording
from engine.ranking.weighted_judge import score_of


def answer(*probabilities: float, question: str = "") -> AnswerLogProbs:
    return AnswerLogProbs(question, tuple(map(math.log, probabilities)))


def labels(method: Method, *answers: AnswerLogProbs) -> dict[Preference, float]:
    """Probabilities of the labels, normalised."""
    made = raw_prediction_of(method, Order.AB, answers)
    return {
        label: math.exp(value) / made.answer_mass
        for label, value in zip(PREFERENCES, made.log_probs, strict=True)
    }


def grade(at: int, mass: float = 1.0) -> AnswerLogProbs:
    """Nearly all of the mass at one grade."""
    return answer(*(mass * (0.96 if each == at else 0.01) for each in GRADES))


def test_letters_are_read_as_they_are() -> None:
    said = (-0.5, -1.5, -3.0, -4.0)
    read = raw_prediction_of(Method.LABEL_TOKENS, Order.BA, [AnswerLogProbs("", said)])
    assert read == RawPrediction(Order.BA, said)


def test_two_yes_or_no_make_four_labels_as_if_they_were_independent_whatever_their_mass() -> None:
    thin = (answer(0.08, 0.02), answer(0.15, 0.35))
    for answers in ((answer(0.8, 0.2), answer(0.3, 0.7)), thin):
        found = labels(Method.POINTWISE_YES_NO, *answers)
        assert list(found.values()) == pytest.approx([0.8 * 0.7, 0.2 * 0.3, 0.8 * 0.3, 0.2 * 0.7])
    assert raw_prediction_of(Method.POINTWISE_YES_NO, Order.AB, thin).answer_mass == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        (5, 2, Preference.A),
        (1, 3, Preference.B),
        (5, 5, Preference.BOTH_GOOD),
        (4, 4, Preference.BOTH_GOOD),
        (1, 1, Preference.BOTH_BAD),
        (2, 2, Preference.BOTH_BAD),
    ],
)
def test_two_grades_make_a_preference(first: int, second: int, wanted: Preference) -> None:
    found = labels(Method.POINTWISE_GRADE, grade(first), grade(second))
    assert max(found, key=found.__getitem__) is wanted
    assert sum(found.values()) == pytest.approx(1)


def test_a_grade_is_the_mean_of_its_distribution_and_half_a_grade_is_as_likely_as_a_tie() -> None:
    torn = answer(0.3, 0.0001, 0.0001, 0.2998, 0.4)
    assert mean_grade(torn) == pytest.approx(0.3 + 2 * 0.0001 + 3 * 0.0001 + 4 * 0.2998 + 5 * 0.4)
    # Its mode is 5, but a sure 4 is better.
    found = labels(Method.POINTWISE_GRADE, torn, grade(4))
    assert found[Preference.B] > found[Preference.A]
    better, other = answer(0.01, 0.01, 0.01, 0.47, 0.5), answer(0.01, 0.01, 0.01, 0.97, 1e-9)
    half = labels(Method.POINTWISE_GRADE, better, other)
    tie = half[Preference.BOTH_GOOD] + half[Preference.BOTH_BAD]
    assert half[Preference.A] == pytest.approx(tie, rel=0.1)


def test_grades_of_both_orders_are_those_of_the_items_own_responses() -> None:
    sure = [raw_prediction_of(Method.POINTWISE_GRADE, Order.AB, [grade(5), grade(1)])]
    both = [*sure, raw_prediction_of(Method.POINTWISE_GRADE, Order.BA, [grade(2), grade(4)])]
    assert mean_grades(sure) == pytest.approx((4.9, 1.1), abs=0.01)
    # In BA the response that was shown first is the item's B.
    assert mean_grades(both) == pytest.approx(((4.9 + 3.97) / 2, (1.1 + 2.02) / 2), abs=0.02)
    broken = [AnswerLogProbs("A", (math.nan,) * 5), grade(1)]
    for method, answers in (
        (Method.LABEL_TOKENS, [answer(0.7, 0.1, 0.1, 0.1)]),
        (Method.POINTWISE_GRADE, broken),
    ):
        assert mean_grades([raw_prediction_of(method, Order.AB, answers)]) is None
    assert [score_of(each) for each in (1, 3, 5)] == [0, 5, 10]


def test_each_label_stands_once_at_each_letter_where_the_meanings_are_permuted() -> None:
    questions = METHODS[Method.PERMUTED_LABELS].questions(DEFAULT_WORDING)
    assert [each.name for each in questions] == ["ABCD", "BCDA", "CDAB", "DABC"]
    for question in questions:
        lines = question.text.splitlines()[1:]
        said = [DEFAULT_WORDING.meaning(_label(letter)) for letter in question.name]
        assert lines == [f"{letter}: {text}" for letter, text in zip("ABCD", said, strict=True)]
    for place in range(4):
        assert {question.name[place] for question in questions} == set("ABCD")


def test_a_lean_to_a_letter_falls_out_of_the_mean_of_the_permutations() -> None:
    """What the model thinks of the labels, and a lean to the letters that is added to it."""
    reasons = dict(zip(PREFERENCES, (-0.4, -2.0, -1.5, -3.0), strict=True))
    answers = []
    for question in METHODS[Method.PERMUTED_LABELS].questions(DEFAULT_WORDING):
        own = zip(question.name, (2.5, 0.0, -1.0, 0.5), strict=True)
        values = tuple(reasons[_label(letter)] + token_bias - 4 for letter, token_bias in own)
        answers.append(AnswerLogProbs(question.name, values))
    found = labels(Method.PERMUTED_LABELS, *answers)
    total = sum(map(math.exp, reasons.values()))
    assert list(found.values()) == pytest.approx([math.exp(value) / total for value in reasons.values()])


def test_thoughts_are_averaged_as_probabilities_each_counting_alike() -> None:
    reasoning_samples = [answer(0.5, 0.4, 0.05, 0.05), answer(0.01, 0.08, 0.005, 0.005)]
    found = labels(Method.CHAIN_OF_THOUGHT, *reasoning_samples)
    assert list(found.values()) == pytest.approx([0.3, 0.6, 0.05, 0.05])
    # By what the letters hold together the first would count ten times as much, and the label be A.
    reading = raw_prediction_of(Method.CHAIN_OF_THOUGHT, Order.AB, reasoning_samples)
    assert reading.answer_mass == pytest.approx((1.0 + 0.1) / 2)


def test_what_is_not_finite_stays_so() -> None:
    for method, answers in {
        Method.POINTWISE_YES_NO: [AnswerLogProbs("A", (math.nan, -1.0)), answer(0.5, 0.5)],
        Method.POINTWISE_GRADE: [AnswerLogProbs("A", (-math.inf,) * 5), grade(3)],
        Method.CHAIN_OF_THOUGHT: [AnswerLogProbs("1", (math.nan,) * 4)],
    }.items():
        assert not any(map(math.isfinite, raw_prediction_of(method, Order.AB, answers).log_probs))


def test_what_is_asked_comes_with_the_letters_last_and_a_question_for_each_thought() -> None:
    asked = asked_by(tuple(Method), DEFAULT_WORDING, reasoning_samples=3)
    methods = [each.method for each in asked]
    assert methods[:3] == [Method.CHAIN_OF_THOUGHT] * 3
    assert methods[-1] is Method.LABEL_TOKENS
    assert [each.name for each in asked[:3]] == ["1", "2", "3"]
    assert methods == sorted(methods, key=list(dict.fromkeys(methods)).index)  # each way in one piece


def test_another_language_asks_in_its_own_words() -> None:
    german = PromptWording(absolute="Ist {response} gut?", yes="ja", no="nein", response_a="Antwort 1")
    first, _ = METHODS[Method.POINTWISE_YES_NO].questions(german)
    assert (first.text, first.answers) == ("Ist Antwort 1 gut?", ("ja", "nein"))


@pytest.mark.parametrize(
    ("text", "methods"),
    [
        (" pointwise-grade , label-tokens", [Method.LABEL_TOKENS, Method.POINTWISE_GRADE]),
        ("chain-of-thought,permuted-labels", [Method.PERMUTED_LABELS, Method.CHAIN_OF_THOUGHT]),
    ],
)
def test_ways_are_named_in_any_order(text: str, methods: Sequence[Method]) -> None:
    assert list(parse_methods(text)) == methods


@pytest.mark.parametrize(
    "text", ["", "label-tokens,", "label-tokens,label-tokens", "LabelTokens", "grades", "graded"]
)
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(SetupError, match="Elicitation methods"):
        parse_methods(text)


def test_several_ways_are_averaged_in_each_order_after_each_is_normalised_and_one_is_left() -> None:
    sure = raw_prediction_of(Method.LABEL_TOKENS, Order.AB, [answer(0.9, 0.02, 0.04, 0.04)])
    thin = raw_prediction_of(Method.POINTWISE_YES_NO, Order.AB, [answer(0.01, 0.03), answer(0.03, 0.01)])
    other = raw_prediction_of(Method.LABEL_TOKENS, Order.BA, [answer(0.25, 0.25, 0.25, 0.25)])
    first, second = together([sure, thin, other])
    assert (first.order, second.order) == (Order.AB, Order.BA)
    assert first.answer_mass == pytest.approx((1.0 + 0.04) / 2)
    steps = [[y - x for x, y in pairwise(each.log_probs)] for each in (first, sure, thin)]
    assert steps[0] == pytest.approx([(one + another) / 2 for one, another in zip(*steps[1:], strict=True)])
    assert together([thin]) == (thin,)


def _label(letter: str) -> Preference:
    return next(label for label, own in LETTERS.items() if own == letter)
