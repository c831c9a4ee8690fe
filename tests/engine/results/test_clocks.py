"""Clocks set back, or wrong by an hour: what is said later counts, on one computer and on several."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path

import pytest

from engine.annotations.effective import to_redo, to_undo
from engine.annotations.records import Undo, new_override, now
from engine.core.errors import SetupError
from engine.core.items import HumanLabel
from engine.report.annotators import joining_sections
from engine.results.annotation_file import AnnotationFile, load_annotation_file, save_annotation_file
from engine.results.run_results import RunResults
from engine.store.run_store import RunStore
from tests.engine.results.laptops import START, Laptop, Made
from tests.judged import BAD, GOOD, A, B
from tests.steps import results_of, there

HOUR = timedelta(hours=1)


def results(of: Laptop) -> RunResults:
    return results_of(of.path)


def effective(of: Laptop, item: int = 1) -> HumanLabel | None:
    found = results(of)
    return found.label(found.judgments["safety"][item - 1])


def informative(made: AnnotationFile, folder: Path) -> AnnotationFile:
    """The same, once it was written into a file and read again."""
    save_annotation_file(folder / "words.json", made)
    return load_annotation_file(folder / "words.json")


def test_what_is_said_after_the_clock_was_set_back_counts(laptop: Made) -> None:
    one = laptop("one")
    one.label(1, GOOD, "Ada")
    one.note(1, "before", "Ada")
    one.at -= HOUR
    one.label(1, B, "Ada")
    assert effective(one) is B
    one.label(1, BAD, "Ben")
    assert effective(one) is BAD
    one.agree(1, BAD, "Ada")
    assert one.labels == {("Ada", "1"): "both_bad", ("Ben", "1"): "both_bad"}
    one.note(1, "after", "Ada")
    [note] = results(one).all_notes
    assert note.text == "after"


def test_the_store_itself_tells_no_time_before_the_last_word_of_an_item(laptop: Made) -> None:
    one = laptop("one")
    one.at = datetime.now(UTC) + HOUR
    one.label(1, GOOD, "Ada")
    with RunStore(one.path) as store:
        store.annotate(1, new_override("1", "safety", B, None, "Ada"))
        other = store.annotate(1, new_override("2", "safety", B, None, "Ada"))
    assert effective(one) is B
    assert other.created < one.at  # an item of which nothing was said has the time of the clock


def test_a_file_of_many_words_moves_no_clock(laptop: Made) -> None:
    one, away = laptop("one"), laptop("away")
    away.label(1, B, "Ben")
    made = away.file()
    many = [replace(made.words[0], created=START + timedelta(seconds=second)) for second in range(900)]
    one.look(replace(made, words=tuple(many)))
    assert now() < datetime.now(UTC) + timedelta(milliseconds=100)


def test_steps_are_taken_back_in_their_order_after_the_clock_was_set_back(laptop: Made) -> None:
    one = laptop("one")
    first = one.label(1, GOOD, "Ada")
    one.at -= HOUR
    second = one.label(1, B, "Ada")
    for step, left in ((second, GOOD), (first, A)):
        last = there(to_undo(results(one).steps(results(one).judged[0], "Ada")))
        assert last.at == step
        one.at -= HOUR
        one.undo(1, "Ada", step)
        assert effective(one) is left
    again = there(to_redo(results(one).steps(results(one).judged[0], "Ada")))
    assert again.at == first


def test_a_step_taken_back_by_an_earlier_clock_is_seen_by_other_windows(laptop: Made) -> None:
    one = laptop("one")
    steps = [one.label(item, GOOD, "Ada") for item in (1, 2)]
    one.undo(1, "Ada", steps[0])
    with RunStore(one.path) as store:
        before = store.words_mark(1)
        content = one.data[1].content_hash
        one.say(Undo("2", content, "Ada", steps[1]), steps[1] - HOUR)
        assert store.words_mark(1) != before


@pytest.mark.parametrize("wrong", [-HOUR, HOUR])
def test_who_knew_a_word_speaks_after_it_whatever_his_clock_says(
    hub: Laptop, away: Laptop, tmp_path: Path, wrong: timedelta
) -> None:
    hub.label(1, GOOD, "Ada")
    hub.label(2, GOOD, "Ada")
    away.at = hub.at + wrong
    away.add(informative(hub.file(), tmp_path))
    away.label(1, B, "Ada")
    away.undo(2, "Ada", hub.at)
    made = informative(away.file(), tmp_path)
    hub.add(made)
    assert (effective(hub, 1), effective(hub, 2)) == (B, A) == (effective(away, 1), effective(away, 2))
    assert hub.add(made).new == 0
    hub.label(1, BAD, "Ada")
    away.add(hub.file())
    assert effective(away) is effective(hub) is BAD


@pytest.mark.parametrize("wrong", [-HOUR, HOUR])
def test_a_step_done_again_by_another_clock_is_so(hub: Laptop, away: Laptop, wrong: timedelta) -> None:
    step = hub.label(1, GOOD, "Ada")
    for again in (False, True, False, True):
        hub.at += wrong
        hub.undo(1, "Ada", step, again)
        away.add(hub.file())
        assert effective(away) is effective(hub) is (GOOD if again else A)


def test_the_order_of_files_does_not_matter(laptop: Made) -> None:
    at = START + HOUR
    made = []
    for number, (label, wrong) in enumerate(((GOOD, -HOUR), (B, HOUR), (BAD, timedelta()))):
        away = laptop(f"away{number}")
        away.at += wrong
        away.label(1, label, "Ada")
        away.say(new_override("2", "safety", label, None, f"Person {number}"), at)  # at one time
        made.append(away.file())
    found = []
    for number, order in enumerate(permutations(made)):
        hub = laptop(f"hub{number}")
        for file in order:
            hub.add(file, **({"Ada": "Ada"} if hub.words else {}))
        found.append((effective(hub, 1), effective(hub, 2)))
    assert found == [(B, BAD)] * 6  # of item 1 the latest by its clock, of item 2 the last name


def test_two_labels_of_one_time_are_both_kept_and_said(hub: Laptop, away: Laptop, tmp_path: Path) -> None:
    for each, label in ((hub, GOOD), (away, B)):
        each.say(new_override("1", "safety", label, None, "Ada"), START + HOUR)
    with pytest.raises(SetupError, match="Is this one annotator, or two"):
        hub.add(away.file())
    joining = hub.look(away.file(), Ada="Ada")
    [said] = joining.files[0].contradicting
    assert said.startswith(
        "Item 1, safety: Ada gave both good and B at the same time (2026-11-02 09:00:00 UTC)."
    )
    assert said in str(joining_sections(joining))
    assert joining.new == 1
    for each, other in ((hub, away), (away, hub)):
        each.add(informative(other.file(), tmp_path), **({"Ada": "Ada"} if other.words == 1 else {}))
    assert hub.words == away.words == 2
    assert effective(hub) is effective(away)
    again = hub.look(away.file())
    assert (again.new, again.files[0].contradicting) == (0, ())
    hub.label(1, A, "Ada")
    away.add(hub.file())
    assert effective(away) is A


def test_two_labels_of_one_time_in_one_file_are_both_taken(hub: Laptop, away: Laptop, tmp_path: Path) -> None:
    for label in (GOOD, B):
        away.say(new_override("1", "safety", label, None, "Ben"), START + HOUR)
    joining = hub.add(informative(away.file(), tmp_path))
    assert len(joining.files[0].contradicting) == 1
    assert hub.words == joining.new == 2
