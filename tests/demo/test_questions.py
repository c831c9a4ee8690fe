"""What the demo judge is asked, and the right answers: those of every way say what the label says."""

from collections import Counter
from dataclasses import asdict, replace
from functools import cache
from itertools import islice
from random import Random

import pytest

from engine.core.items import PREFERENCES, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs
from engine.core.methods import METHODS, raw_prediction_of
from engine.core.rubric import DEFAULT_WORDING, ELOQUENT, Criterion, PromptWording
from models.demo import questions, trained_prompt
from models.demo.manners import MANNERS
from models.demo.questions import METHODS as LEARNED
from models.demo.questions import RUBRIC, DemoQuestion, all_questions, are_good, grades, labels
from models.demo.trained_prompt import prompt_digest
from models.demo.world import OVERALL, Comparison, World

SURE = -0.01


@cache
def many() -> list[Comparison]:
    return list(islice(World().comparisons(Random(11), held_out=False), 500))


def drawn(count: int) -> list[Comparison]:
    return many()[:count]


def asked(criterion: str, method: Method) -> list[DemoQuestion]:
    return [one for one in all_questions() if one.criterion == criterion and one.method is method]


def answered(question: DemoQuestion, comparison: Comparison) -> AnswerLogProbs:
    """The right answer, given with all but certainty."""
    right, count = question.right(comparison), len(question.question.answers)
    return AnswerLogProbs(
        question.question.name, tuple(SURE if number == right else -9.0 for number in range(count))
    )


def test_every_question_of_every_way_is_asked_of_both_rubrics() -> None:
    assert RUBRIC.names == (*ELOQUENT.names, *MANNERS.names)
    assert RUBRIC.wording == DEFAULT_WORDING
    of_methods = sum(len(METHODS[method].questions(DEFAULT_WORDING)) for method in LEARNED)
    assert len(set(all_questions())) == len(all_questions()) == of_methods * len(RUBRIC.names)
    assert LEARNED == (
        Method.LABEL_TOKENS,
        Method.PERMUTED_LABELS,
        Method.POINTWISE_YES_NO,
        Method.POINTWISE_GRADE,
    )


@pytest.mark.parametrize("method", LEARNED)
@pytest.mark.parametrize("criterion", RUBRIC.names)
def test_right_answers_in_every_way_make_the_label(criterion: str, method: Method) -> None:
    for comparison in drawn(100):
        answers = [answered(question, comparison) for question in asked(criterion, method)]
        reading = raw_prediction_of(method, Order.AB, answers)
        label = max(zip(reading.log_probs, PREFERENCES, strict=True))[1]
        assert label is labels(comparison)[criterion], answers


@pytest.mark.parametrize("criterion", RUBRIC.names)
def test_the_other_order_has_the_swapped_answers(criterion: str) -> None:
    for one in drawn(100):
        other = Comparison(one.question, one.instruction, one.topic, first=one.second, second=one.first)
        assert labels(other)[criterion] is labels(one)[criterion].swapped
        assert grades(other, criterion) == grades(one, criterion)[::-1]


@pytest.mark.parametrize("criterion", RUBRIC.names)
def test_grades_go_with_the_label(criterion: str) -> None:
    for comparison in drawn(300):
        first, second = grades(comparison, criterion)
        match labels(comparison)[criterion]:
            case Preference.A:
                assert first > second
            case Preference.B:
                assert first < second
            case Preference.BOTH_GOOD:
                assert first == second > 3
            case Preference.BOTH_BAD:
                assert first == second < 3


def test_overall_quality_has_all_five_grades() -> None:
    given = Counter(grade for comparison in drawn(500) for grade in grades(comparison, OVERALL))
    assert set(given) == {1, 2, 3, 4, 5}
    assert min(given.values()) > 40


def test_a_near_miss_is_graded_above_a_far_one() -> None:
    for comparison in drawn(500):
        if labels(comparison)["relevance"] is not Preference.A:
            continue
        near = comparison.second.topic.family == comparison.topic.family
        assert grades(comparison, "relevance") == (5, 2 if near else 1)


@pytest.mark.parametrize(
    ("label", "good"),
    [("A", (True, False)), ("B", (False, True)), ("both_good", (True, True)), ("both_bad", (False, False))],
)
def test_good_is_what_the_label_says(label: str, good: tuple[bool, bool]) -> None:
    assert are_good(Preference(label)) == good


# The digest of the demo judge's prompts changes with every word that it was trained with


OTHERWISE = {
    "permuted": "Here the letters mean:\n{letters}",
    "absolute": "Is {response} good? Say yes or no.",
    "graded": "Grade {response} from 1 to 5.",
    "answer": "Said:",
    "no": "never",
    "grade": "Mark:",
    "verdict": "Letter:",
    "good": "Well: {meaning}",
    "system": "Compare.\n{letters}",
    "response_b": "Second",
}


@pytest.mark.parametrize("part", OTHERWISE)
def test_every_part_of_the_wording_is_in_the_digest(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = prompt_digest()
    reworded = replace(RUBRIC, wording=PromptWording(**{part: OTHERWISE[part]}))
    for module in (questions, trained_prompt):
        monkeypatch.setattr(module, "RUBRIC", reworded)
    assert prompt_digest() != before


@pytest.mark.parametrize("what", ["question", "good", "bad"])
@pytest.mark.parametrize("criterion", range(5, len(RUBRIC.criteria)))
def test_the_second_rubrics_words_are_in_the_digest(
    criterion: int, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, criteria = prompt_digest(), list(RUBRIC.criteria)
    criteria[criterion] = Criterion(**{**asdict(criteria[criterion]), what: "Something else?"})
    monkeypatch.setattr(trained_prompt, "RUBRIC", replace(RUBRIC, criteria=tuple(criteria)))
    assert prompt_digest() != before
