from dataclasses import asdict, replace

import pytest

from engine.core.errors import SetupError
from engine.core.rubric import (
    ELOQUENT,
    MOST_CRITERIA,
    USUAL_WORDING,
    WORDING_PARTS,
    Criterion,
    PromptWording,
    Rubric,
    marks_of,
)
from gui.judge.rubric.edited import RUBRIC, WORDING, At, EditedCriterion, EditedRubric
from gui.judge.rubric.wording_tab import MARKS

MANNERS = Rubric(
    "Manners",
    (
        Criterion("politeness", "Which is more polite?", 2.0, "It thanks.", "It insults."),
        Criterion("x", "y?"),
    ),
    1.0,
    "Made up.",
    PromptWording(verdict="Urteil:"),
)
SOUND = EditedRubric.of(MANNERS)


@pytest.mark.parametrize("rubric", [ELOQUENT, MANNERS])
def test_what_is_not_changed_comes_back_as_it_was(rubric: Rubric) -> None:
    edited = EditedRubric.of(rubric)
    assert edited.problems == {}
    assert edited.rubric() == rubric


def criterion(**values: object) -> EditedRubric:
    return SOUND.with_criterion(0, replace(SOUND.criteria[0], **values))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edited", "at", "says"),
    [
        (replace(SOUND, name=" "), At(RUBRIC, "name"), "It is empty."),
        (replace(SOUND, name="x" * 256), At(RUBRIC, "name"), "It has 256 letters."),
        (replace(SOUND, source="a\x00b"), At(RUBRIC, "source"), "which nobody sees."),
        (replace(SOUND, criteria=()), At(RUBRIC, "criteria"), "at least one"),
        (criterion(name=""), At(0, "name"), "It is empty. Write one, of letters, digits and underscores."),
        (criterion(name="on topic"), At(0, "name"), "cannot be part of a column name."),
        (criterion(name="1st"), At(0, "name"), "no digit first."),
        (criterion(name="X"), At(0, "name"), "It is that of another criterion."),
        (criterion(name="x"), At(1, "name"), "It is that of another criterion."),
        (criterion(question="\n"), At(0, "question"), "It is empty."),
        (criterion(question="y" * 4001), At(0, "question"), "It has 4,001 letters."),
        (criterion(good="a\tb"), At(0, "good"), "nobody sees"),
        (criterion(bad="y" * 4001), At(0, "bad"), "It has 4,001 letters."),
        (criterion(weight=float("nan")), At(0, "weight"), "Use 0 or a positive number."),
        (
            SOUND.with_part("system", "Judge."),
            At(WORDING, "system"),
            "It needs {letters}, each once; it has none.",
        ),
        (SOUND.with_part("verdict", "a\nb"), At(WORDING, "verdict"), "more than one line"),
        (SOUND.with_part("end", "] {title}"), At(WORDING, "end"), "square bracket"),
        (SOUND.with_part("yes", "NO"), At(WORDING, "yes"), "Others of these say the same."),
        (SOUND.with_part("yes", "NO"), At(WORDING, "no"), "Others of these say the same."),
        (
            SOUND.with_part("response_a", "Response B"),
            At(WORDING, "response_b"),
            "Others of these say the same.",
        ),
    ],
)
def test_what_is_wrong_is_said_of_its_field(edited: EditedRubric, at: At, says: str) -> None:
    assert says in edited.problems[at]
    with pytest.raises(SetupError):
        edited.rubric()


def test_of_names_that_are_alike_only_these_are_blamed() -> None:
    edited = SOUND.with_part("response_a", "Response B")
    assert {at.field for at in edited.problems} == {"response_a", "response_b"}


def test_too_many_criteria_are_refused_as_a_whole() -> None:
    many = tuple(EditedCriterion(f"c{number}", "Which?") for number in range(MOST_CRITERIA + 1))
    assert list(replace(SOUND, criteria=many).problems) == [At(RUBRIC, "criteria")]


def test_problems_stand_in_the_order_in_which_a_person_reads() -> None:
    wrong = replace(criterion(name="", question=""), name="").with_part("system", "")
    assert list(wrong.problems) == [
        At(RUBRIC, "name"),
        At(0, "name"),
        At(0, "question"),
        At(WORDING, "system"),
    ]


@pytest.mark.parametrize("name", ["höflichkeit", "الأدب", "礼貌", "n" * 255])
def test_names_of_any_script_and_length_are_sound(name: str) -> None:
    assert criterion(name=name).problems == {}


def test_what_is_wrong_is_left_open_in_what_is_shown() -> None:
    wrong = criterion(question="").with_part("system", "Judge.").with_part("now", "Jetzt:")
    shown = wrong.sound(0)
    assert shown.criteria[0].question == "…"
    assert shown.criteria[0].good == "It thanks."
    assert shown.wording == PromptWording(verdict="Urteil:", now="Jetzt:")
    assert replace(SOUND, criteria=()).sound(-1).names == ("criterion",)


def test_the_tab_of_the_wording_has_every_part_with_its_marks() -> None:
    usual = asdict(USUAL_WORDING)
    assert sorted(WORDING_PARTS) == sorted(usual)
    assert len({part.title for part in WORDING_PARTS.values()}) == len(usual)
    assert set(MARKS) == {mark for text in usual.values() for mark in marks_of(text)}
    refused = {part for part in WORDING_PARTS if SOUND.with_part(part, f"{usual[part]}\nx").problems}
    assert refused == {name for name, part in WORDING_PARTS.items() if part.one_line}
