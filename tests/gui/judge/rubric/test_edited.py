from dataclasses import asdict, replace

import pytest

from engine.core.errors import SetupError
from engine.core.rubric import (
    DEFAULT_WORDING,
    ELOQUENT,
    MOST_CRITERIA,
    WORDING_PARTS,
    Criterion,
    PromptWording,
    Rubric,
    marks_of,
)
from gui.judge.rubric_edit import RUBRIC, WORDING, EditedCriterion, EditedRubric, FieldPlace
from gui.judge.rubric_tabs import MARKS

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
        (replace(SOUND, name=" "), FieldPlace(RUBRIC, "name"), "It is empty."),
        (replace(SOUND, name="x" * 256), FieldPlace(RUBRIC, "name"), "It has 256 characters."),
        (replace(SOUND, source="a\x00b"), FieldPlace(RUBRIC, "source"), "which is invisible."),
        (replace(SOUND, criteria=()), FieldPlace(RUBRIC, "criteria"), "at least one"),
        (
            criterion(name=""),
            FieldPlace(0, "name"),
            "It is empty. Write one, of letters, digits and underscores.",
        ),
        (criterion(name="on topic"), FieldPlace(0, "name"), "cannot be part of a column name."),
        (criterion(name="1st"), FieldPlace(0, "name"), "no digit first."),
        (criterion(name="X"), FieldPlace(0, "name"), "It is that of another criterion."),
        (criterion(name="x"), FieldPlace(1, "name"), "It is that of another criterion."),
        (criterion(question="\n"), FieldPlace(0, "question"), "It is empty."),
        (criterion(question="y" * 4001), FieldPlace(0, "question"), "It has 4,001 characters."),
        (criterion(good="a\tb"), FieldPlace(0, "good"), "invisible"),
        (criterion(bad="y" * 4001), FieldPlace(0, "bad"), "It has 4,001 characters."),
        (criterion(weight=float("nan")), FieldPlace(0, "weight"), "Use 0 or a positive number."),
        (
            SOUND.with_part("system", "Judge."),
            FieldPlace(WORDING, "system"),
            "It needs {letters}, each once; it has none.",
        ),
        (SOUND.with_part("verdict", "a\nb"), FieldPlace(WORDING, "verdict"), "more than one line"),
        (SOUND.with_part("end", "] {title}"), FieldPlace(WORDING, "end"), "square bracket"),
        (SOUND.with_part("yes", "NO"), FieldPlace(WORDING, "yes"), "Another of these is the same."),
        (SOUND.with_part("yes", "NO"), FieldPlace(WORDING, "no"), "Another of these is the same."),
        (
            SOUND.with_part("response_a", "Response B"),
            FieldPlace(WORDING, "response_b"),
            "Another of these is the same.",
        ),
    ],
)
def test_what_is_wrong_is_said_of_its_field(edited: EditedRubric, at: FieldPlace, says: str) -> None:
    assert says in edited.problems[at]
    with pytest.raises(SetupError):
        edited.rubric()


def test_of_names_that_are_alike_only_these_are_blamed() -> None:
    edited = SOUND.with_part("response_a", "Response B")
    assert {at.field for at in edited.problems} == {"response_a", "response_b"}


def test_too_many_criteria_are_refused_as_a_whole() -> None:
    many = tuple(EditedCriterion(f"c{number}", "Which?") for number in range(MOST_CRITERIA + 1))
    assert list(replace(SOUND, criteria=many).problems) == [FieldPlace(RUBRIC, "criteria")]


def test_problems_stand_in_the_order_in_which_a_person_reads() -> None:
    wrong = replace(criterion(name="", question=""), name="").with_part("system", "")
    assert list(wrong.problems) == [
        FieldPlace(RUBRIC, "name"),
        FieldPlace(0, "name"),
        FieldPlace(0, "question"),
        FieldPlace(WORDING, "system"),
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
    default = asdict(DEFAULT_WORDING)
    assert sorted(WORDING_PARTS) == sorted(default)
    assert len({part.title for part in WORDING_PARTS.values()}) == len(default)
    assert set(MARKS) == {mark for text in default.values() for mark in marks_of(text)}
    refused = {part for part in WORDING_PARTS if SOUND.with_part(part, f"{default[part]}\nx").problems}
    assert refused == {name for name, part in WORDING_PARTS.items() if part.one_line}
