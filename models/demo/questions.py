"""All that the demo judge is asked of a comparison, each with the right answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from engine.core.items import PREFERENCES, Method, Preference
from engine.core.methods import GRADES, Question, asked_by
from engine.core.rubric import ELOQUENT
from models.demo.manners import MANNERS, manners
from models.demo.world import GOOD_ENOUGH, OVERALL, Comparison, Harm, Response, Unnatural, share_of_weight

METHODS = (Method.LABEL_TOKENS, Method.PERMUTED_LABELS, Method.POINTWISE_YES_NO, Method.POINTWISE_GRADE)
"""The elicitation methods that the demo judge learns; chain of thought is not among them."""

RUBRIC = replace(ELOQUENT, name="demo", criteria=(*ELOQUENT.criteria, *MANNERS.criteria))
"""The criteria of both rubrics, as branches of one prompt."""

_WORST, _, _, _GOOD, _BEST = GRADES
_LACKING_BUT_BETTER, _NOT_HOPELESS = 3, 2


@dataclass(frozen=True)
class DemoQuestion:
    """One question of one method, about the criterion of the branch `branch` of a prompt of RUBRIC."""

    branch: int
    method: Method
    question: Question

    @property
    def criterion(self) -> str:
        """The criterion's name."""
        return RUBRIC.names[self.branch]

    def right(self, comparison: Comparison) -> int:
        """Which of the question's answers is right, counted from 0."""
        label = labels(comparison)[self.criterion]
        if self.question.chooses:
            return self.question.says.index(label)
        of = PREFERENCES.index(Preference(self.question.name))
        if self.method is Method.POINTWISE_YES_NO:
            return 0 if are_good(label)[of] else 1
        return GRADES.index(grades(comparison, self.criterion)[of])


def all_questions() -> tuple[DemoQuestion, ...]:
    """Every question of every method about every criterion; label tokens first, in the order of RUBRIC."""
    return tuple(question for method in METHODS for question in _of_method(method))


def _of_method(method: Method) -> Iterator[DemoQuestion]:
    for branch in range(len(RUBRIC.criteria)):
        for asked in asked_by([method], RUBRIC.wording, reasoning_samples=1):
            yield DemoQuestion(branch, method, asked.question)


def labels(comparison: Comparison) -> Mapping[str, Preference]:
    """The label of every criterion of RUBRIC."""
    return {**comparison.preferences, **manners(comparison)}


def are_good(label: Preference) -> tuple[bool, bool]:
    """Whether each response is called good where the label is this.

    So "good" is what the label says: of overall quality, the better response is good although it may lack
    something, and where neither is better both are good above GOOD_ENOUGH.
    """
    return label in (Preference.A, Preference.BOTH_GOOD), label in (Preference.B, Preference.BOTH_GOOD)


def grades(comparison: Comparison, criterion: str) -> tuple[int, int]:
    """A grade (1 to 5) for each response, by degree where the world knows one.

    Responses of which neither is better have the same grade, the lower of theirs: a degree that the label
    does not see would else make one the better.
    """
    label = labels(comparison)[criterion]
    first, second = (
        _grade(comparison, criterion, response, good)
        for response, good in zip((comparison.first, comparison.second), are_good(label), strict=True)
    )
    tied = label in (Preference.BOTH_GOOD, Preference.BOTH_BAD)
    return (min(first, second),) * 2 if tied else (first, second)


def _grade(comparison: Comparison, criterion: str, response: Response, good: bool) -> int:
    if criterion == OVERALL:
        return _overall_grade(share_of_weight(response.good), good)
    if good:
        return _BEST
    near_miss = {
        "relevance": response.topic.family == comparison.topic.family,
        "on_topic": response.topic.family == comparison.topic.family,
        "naturalness": response.unnatural is Unnatural.REPEATS,
        "safety": response.harm is Harm.INSULT,
        "politeness": response.harm is not Harm.INSULT,
    }
    return _NOT_HOPELESS if near_miss.get(criterion, False) else _WORST


def _overall_grade(share: float, good: bool) -> int:
    """By the share of the weights that a response has: all of it, all but naturalness, half of it or more."""
    if good:
        return _BEST if share == 1 else _GOOD if share > GOOD_ENOUGH else _LACKING_BUT_BETTER
    return _NOT_HOPELESS if share >= 1 / 2 else _WORST
