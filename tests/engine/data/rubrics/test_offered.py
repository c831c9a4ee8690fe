"""The rubrics that come with the program, found by name; one to start from, out of a dataset's columns."""

import re
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.rubrics.files import draft_rubric, find_rubric, save_rubric, shipped_rubrics
from engine.system.paths import rubrics_folder
from tests.steps import there

NAMES = ("task", "helpful-harmless", "summaries", "translation", "code", "faithfulness", "style")


def test_they_are_seven_by_name_and_the_first_is_the_tasks() -> None:
    assert tuple(rubric.name for rubric in shipped_rubrics()) == NAMES
    assert shipped_rubrics()[0] is ELOQUENT


@pytest.mark.parametrize("rubric", shipped_rubrics()[1:], ids=lambda rubric: rubric.name)
def test_each_says_where_it_comes_from_and_what_good_and_bad_mean(rubric: Rubric) -> None:
    assert re.search(r"(19|20)\d\d|ISO/IEC \d+", rubric.source)
    assert all(criterion.good and criterion.bad for criterion in rubric.criteria)
    assert all(criterion.question.startswith("Which ") for criterion in rubric.criteria)
    assert not rubric.wording.own


@pytest.mark.parametrize("name", NAMES)
def test_each_is_found_by_its_name(name: str) -> None:
    assert find_rubric(name).name == name


def test_one_in_the_users_folder_is_found_by_the_name_of_its_file(private_home: Path) -> None:
    rubrics_folder().mkdir(parents=True)
    save_rubric(rubrics_folder() / "mine.toml", ELOQUENT.only(("safety",)))
    assert find_rubric("mine").names == ("safety",)


def test_a_path_is_read(tmp_path: Path) -> None:
    save_rubric(tmp_path / "task", ELOQUENT.only(("safety",)))
    assert find_rubric(str(tmp_path / "task")).names == ("safety",)


def test_an_unknown_name_is_told_the_nearest() -> None:
    with pytest.raises(SetupError, match=r"There is no rubric 'summary'\. The nearest is summaries\."):
        find_rubric("summary")


def test_the_datasets_own_criteria_become_a_rubric() -> None:
    columns = ["id", "on_topic_preference", "on_topic_explanation", "safety_preference", "höfe_preference"]
    draft = there(draft_rubric(columns, "votes"))
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
    draft = there(draft_rubric(columns, "a\nb\u202e" + "c" * 300))
    assert len(draft.criteria) == 24
    assert draft.name.startswith("a bccc")
