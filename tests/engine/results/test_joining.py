"""What people said on several computers, put together: each word once, with its author and its time."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from engine.annotations.records import new_override
from engine.core.errors import SetupError, StoreError
from engine.data.submission import write_submission
from engine.results.annotation_file import annotation_file
from engine.results.annotation_import import join_items, look_at
from engine.results.completeness import open_submission
from engine.store.run_store import RunStore
from tests.engine.results.laptops import START, Laptop, Made
from tests.judged import BAD, GOOD, A, B, system
from tests.steps import results_of


def test_what_was_said_elsewhere_comes_with_all_that_is_known_of_it(hub: Laptop, away: Laptop) -> None:
    away.label(1, B, "Ben", "B is safer.", blind=True)
    away.agree(2, A, "Ben", blind=True)
    away.note(3, "odd", "Ben", "rare")
    hub.add(away.file())
    with RunStore(hub.path) as mine, RunStore(away.path) as theirs:
        here, there = mine.all_annotations(1), theirs.all_annotations(1)
    assert here == there


def test_adding_twice_says_nothing_twice(hub: Laptop, away: Laptop) -> None:
    away.label(1, B, "Ben")
    assert hub.add(away.file()).new == 1
    assert hub.add(away.file()).new == 0
    away.label(2, B, "Ben")
    again = hub.add(away.file(), away.file())
    assert [file.annotators[0].labels for file in again.files] == [1, 0]
    assert hub.words == 2


def test_the_later_word_counts_whichever_came_first_into_the_store(hub: Laptop, away: Laptop) -> None:
    away.label(1, B, "Ben")
    hub.at = START + timedelta(days=1)
    hub.label(1, BAD, "Ada")
    hub.add(away.file())
    results = results_of(hub.path)
    assert results.label(results.judgments["safety"][0]) is BAD


@pytest.mark.parametrize(
    ("turns", "stands"), [((), True), ((False,), False), ((False, True), True), ((False, True, False), False)]
)
def test_what_was_taken_back_or_done_again_since_is_so_here(
    hub: Laptop, away: Laptop, turns: tuple[bool, ...], stands: bool
) -> None:
    step = away.label(1, B, "Ben")
    early = away.file()
    hub.add(early)
    for again in turns:
        away.undo(1, "Ben", step, again)
        hub.add(away.file())
        hub.add(early)  # of before: it brings nothing back
    assert ("Ben", "1") in hub.labels if stands else ("Ben", "1") not in hub.labels
    assert hub.words == 1


def test_items_with_another_text_are_refused_and_counted(laptop: Made) -> None:
    hub, away = laptop("hub", items=19), laptop("away", items=20)
    for item in range(1, 21):
        away.label(item, B, "Ben")
    [file] = hub.add(away.file()).files
    assert file.items_in_words == "19 of 20 items are in this run; 1 is not in it, refused."
    assert not file.is_whole
    assert len(hub.labels) == 19


@pytest.mark.parametrize(
    ("theirs", "here", "same", "by_text", "other", "missing"),
    [
        ({"1": "x"}, {"1": "x"}, {"1": "1"}, 0, (), ()),
        ({"1": "x"}, {"1": "y"}, {}, 0, ("1",), ()),
        ({"1": "x"}, {"2": "x"}, {"1": "2"}, 1, (), ()),
        ({"1": "x"}, {"2": "x", "3": "x"}, {}, 0, (), ("1",)),
        ({"1": "x", "2": "x"}, {"3": "x"}, {}, 0, (), ("1", "2")),
        ({"1": "x", "2": "x"}, {"2": "x", "1": "x"}, {"1": "1", "2": "2"}, 0, (), ()),
        ({"1": "x"}, {"1": "y", "2": "x"}, {"1": "2"}, 1, (), ()),
    ],
)
def test_items_are_joined_by_text_and_by_id_where_texts_are_equal(
    theirs: dict[str, str],
    here: dict[str, str],
    same: dict[str, str],
    by_text: int,
    other: tuple[str, ...],
    missing: tuple[str, ...],
) -> None:
    joined = join_items(theirs, here)
    assert (joined.same, joined.by_text, joined.other_text, joined.missing) == (same, by_text, other, missing)


def test_words_on_criteria_that_the_run_has_not_are_left_out_and_counted(laptop: Made) -> None:
    hub, away = laptop("hub"), laptop("away", criteria=("safety", "relevance"))
    away.label(1, B, "Ben")
    away.say(new_override("1", "relevance", B, None, "Ben"))
    [file] = hub.add(away.file()).files
    assert dict(file.lacking) == {"relevance": 1}
    assert hub.words == 1


def test_a_label_of_no_criterion_is_left_out_and_counted(hub: Laptop, away: Laptop) -> None:
    away.label(1, B, "Ben")
    away.agree(2, A, "Ben")
    away.note(3, "odd", "Ben")
    made = away.file()
    nowhere = replace(made, words=tuple(replace(word, criterion="") for word in made.words))
    [file] = hub.add(nowhere).files
    assert dict(file.lacking) == {"": 2}
    assert hub.words == 2
    with RunStore(hub.path) as store, pytest.raises(StoreError, match="no criterion"):
        store.add_imported(1, nowhere.words, {})


def test_a_name_that_both_have_is_asked_about_before_anything_is_written(hub: Laptop, away: Laptop) -> None:
    hub.label(1, GOOD, "Ada")
    away.label(1, B, "Ada")
    [namesake] = hub.look(away.file()).namesakes
    assert (namesake.name, namesake.here, namesake.suggested) == ("Ada", 1, "Ada (2)")
    with pytest.raises(SetupError, match="Is this one annotator, or two with the same name"):
        hub.add(away.file())
    assert hub.words == 1


def test_two_of_a_name_stay_two_and_are_asked_about_once(hub: Laptop, away: Laptop) -> None:
    hub.label(1, GOOD, "Ada")
    away.label(1, B, "Ada")
    hub.add(away.file(), Ada="Ada (2)")
    assert hub.labels == {("Ada", "1"): "both_good", ("Ada (2)", "1"): "B"}
    away.label(2, B, "Ada")
    assert hub.add(away.file()).new == 1
    assert hub.labels["Ada (2)", "2"] == "B"
    with pytest.raises(SetupError, match=r"Ada.* is already mapped to .*Ada \(2\).* here"):
        hub.add(away.file(), Ada="Ada")


def test_one_person_on_two_laptops_is_one_and_asked_about_once(hub: Laptop, away: Laptop) -> None:
    hub.label(1, GOOD, "Ada")
    away.label(2, B, "Ada")
    hub.add(away.file(), Ada="Ada")
    away.label(3, B, "Ada")
    hub.add(away.file())
    assert sorted(hub.labels) == [("Ada", "1"), ("Ada", "2"), ("Ada", "3")]


def test_who_comes_home_under_another_name_is_known_again(hub: Laptop, away: Laptop) -> None:
    hub.label(1, GOOD, "Ada")
    away.label(1, B, "Ada")
    hub.add(away.file(), Ada="Ada (2)")
    home = away.add(hub.file(), Ada="Ada (hub)")
    assert {annotator.name: (annotator.called, annotator.new) for annotator in home.files[0].annotators} == {
        "Ada": ("Ada (hub)", 1),
        "Ada (2)": ("Ada", 0),
    }
    assert away.labels == {("Ada", "1"): "B", ("Ada (hub)", "1"): "both_good"}


def test_words_that_are_here_already_answer_who_it_is(laptop: Made) -> None:
    hub, away, third = laptop("hub"), laptop("away"), laptop("third")
    away.label(1, B, "Ben")
    hub.add(away.file())
    third.add(hub.file())
    away.label(2, B, "Ben")
    third.add(away.file())  # never met, but his first word is there, by way of the hub
    assert sorted(third.labels) == [("Ben", "1"), ("Ben", "2")]


def test_a_store_that_refuses_one_word_takes_none(hub: Laptop, away: Laptop) -> None:
    away.label(1, B, "Ben")
    away.note(1, "odd", "Ben")
    joining = hub.look(away.file())
    with RunStore(hub.path) as store:
        bad = [*joining.words, new_override("no item", "safety", B, None, "Ben")]
        with pytest.raises(SetupError, match="has not judged an item"):
            store.add_imported(1, bad, joining.met)
        assert not store.imported_annotators()
    assert hub.words == 0


def test_words_of_an_opened_submission_join_a_run_of_the_same_items(laptop: Made, tmp_path: Path) -> None:
    hub, away = laptop("hub", items=3), laptop("away", items=3)
    path, texts = tmp_path / "judge.tsv", {"safety": ["x is y.", "y is x.", "z is x."]}
    write_submission(path, system({"safety": [A, B, A]}, texts).submission)
    with RunStore(away.path) as store:
        opened = open_submission(path, away.data, store)
        store.annotate(opened.id, new_override("2", "safety", GOOD, None, "Ben"))
        made = annotation_file(store, opened.id)
    assert made.run.title == "Submission judge.tsv"
    hub.add(made)
    assert hub.labels == {("Ben", "2"): "both_good"}
    with RunStore(away.path) as store:
        back = look_at(store, opened.id, [("hub.json", hub.file())])
    assert back.new == 0


def test_clocks_that_are_ahead_are_told(hub: Laptop, away: Laptop) -> None:
    away.at = START + timedelta(days=9999)
    away.label(1, B, "Ben")
    assert hub.look(away.file()).files[0].ahead == 1
