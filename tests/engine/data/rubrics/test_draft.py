"""A rubric to start from, out of a dataset's columns."""

import pytest

from engine.core.rubric import ELOQUENT
from engine.data.rubrics.draft import draft_rubric


def test_the_datasets_own_criteria_become_a_rubric() -> None:
    columns = ["id", "on_topic_preference", "on_topic_explanation", "safety_preference", "höfe_preference"]
    draft = draft_rubric(columns, "votes")
    assert draft is not None
    assert draft.name == "votes"
    assert draft.names == ("on_topic", "safety", "höfe")
    assert draft.criteria[0].question == "Which response is better with regard to this: on topic?"
    assert draft.criteria[1] == ELOQUENT.criteria[3]


@pytest.mark.parametrize(
    "columns",
    [
        [],
        ["preference"],
        ["_preference"],
        ["a b_preference"],
        [f"{name}_preference" for name in ELOQUENT.names],
    ],
)
def test_none_where_there_are_none_besides_the_tasks(columns: list[str]) -> None:
    assert draft_rubric(columns, "x") is None


def test_what_no_rubric_holds_is_passed_over() -> None:
    columns = [*(f"c{number}_preference" for number in range(30)), "x" * 300 + "_preference"]
    draft = draft_rubric(columns, "a\nb\u202e" + "c" * 300)
    assert draft is not None
    assert len(draft.criteria) == 24
    assert draft.name.startswith("a bccc")
