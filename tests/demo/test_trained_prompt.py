"""The digest of the demo judge's prompts changes with every word that it was trained with."""

from dataclasses import asdict, replace

import pytest

from engine.core.rubric import Criterion, PromptWording
from models.demo import questions, trained_prompt
from models.demo.questions import RUBRIC
from models.demo.trained_prompt import prompt_digest

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
