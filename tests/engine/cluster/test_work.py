"""What a worker must know of a run to judge, and by what it knows it again."""

from dataclasses import replace

import pytest

from engine.cluster.answers import JudgeWork
from engine.core.rubric import Criterion, PromptWording, Rubric
from engine.prompt.examples import ExamplePool
from engine.settings.rows import JudgeSettings

RUBRIC = Rubric("mine", (Criterion("höflichkeit", "Welche?", good="Gut."),))
WORK = JudgeWork("a model", "d" * 64, 1, RUBRIC, JudgeSettings(), ExamplePool(), None)


@pytest.mark.parametrize(
    "rubric",
    [
        replace(RUBRIC, criteria=(Criterion("höflichkeit", "Welche?", good="Besser."),)),
        replace(RUBRIC, criteria=(Criterion("höflichkeit", "Welche denn?", good="Gut."),)),
        replace(RUBRIC, wording=PromptWording(verdict="Urteil:")),
    ],
    ids=["meaning", "question", "wording"],
)
def test_other_words_are_other_work(rubric: Rubric) -> None:
    assert replace(WORK, rubric=rubric).key != WORK.key


def test_weights_and_names_are_not() -> None:
    other = replace(RUBRIC, name="other", criteria=(replace(RUBRIC.criteria[0], weight=3.0),))
    assert replace(WORK, rubric=other).key == WORK.key
