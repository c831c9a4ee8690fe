"""Slices of a run: the measures of each are those of a file that holds its items alone."""

from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import SetupError
from engine.core.items import PREFERENCES
from engine.core.judgments import JudgmentKey
from engine.core.tables import Sentences
from engine.data.slices import Noted, slicing
from engine.metrics.evaluation import count_slices, evaluate_labels, lead, mean_of, measure_slices
from engine.metrics.matching import Matched, match
from engine.ranking.weighted_scoring import scored_pairs_of, weigh, weigh_by_default, weigh_slices
from engine.report.slices import (
    compared_slice_table,
    compared_slices_in_words,
    compared_win_table,
    criterion_slice_table,
    slice_sections,
    slice_table,
    slices_in_short,
    slices_in_words,
    weighed_slice_table,
)
from tests.judged import GOOD, A, B, dataset, results_of, system

LABELS = st.one_of(st.none(), st.sampled_from(PREFERENCES))
TEXTS = st.text("ab", max_size=6)
ROWS = st.lists(
    st.tuples(LABELS, LABELS, LABELS, LABELS, st.sampled_from("xyz"), TEXTS, TEXTS), min_size=1, max_size=30
).filter(lambda rows: any(row[0] or row[1] for row in rows))


FORTY = [(A, A, [A, A, A, B][n % 4], A, str(n), "a" * (1 + n % 2), "aa"[n % 2 :]) for n in range(40)]


def matched(rows: list[tuple]) -> Matched:  # type: ignore[type-arg]
    human_1, human_2, given_1, given_2, instructions, a, b = zip(*rows, strict=True)
    gold = dataset(
        {"relevance": human_1, "overall_quality": human_2},
        instructions=instructions,
        outputs=list(zip(a, b, strict=True)),
    )
    return match(system({"relevance": given_1, "overall_quality": given_2}), gold)


@given(ROWS, st.sampled_from(["length", "longer", "instruction", "script", "label"]))
def test_a_slice_is_measured_as_a_file_that_holds_its_items_alone(rows: list, by: str) -> None:  # type: ignore[type-arg]
    whole = matched(rows)
    found = measure_slices(whole, slicing(whole.dataset, by)).slices
    for part in found:
        if part.measures:
            ids = part.part.known
            alone = evaluate_labels(match(whole.system.only(ids), whole.dataset.only(ids)))
            kept = evaluate_labels(whole.only(ids, "x"))
            for name, measured in alone.labels.items():
                assert asdict(measured) == asdict(kept.labels[name]) == asdict(part.measures[name])
            assert part.accuracy == alone.accuracy
            frequent = [measured.baselines.most_frequent for measured in alone.labels.values()]
            assert part.most_frequent == mean_of(frequent)


@given(ROWS, st.sampled_from(["length", "longer", "label"]))
def test_the_slices_sum_up_to_the_whole(rows: list, by: str) -> None:  # type: ignore[type-arg]
    whole = matched(rows)
    found = measure_slices(whole, slicing(whole.dataset, by)).slices
    assert sum(part.items for part in found) == whole.items
    for name, measured in evaluate_labels(whole).labels.items():
        parts = [part.measures[name] for part in found if name in part.measures]
        assert sum(part.items for part in parts) == measured.items
        right = sum(part.accuracy * part.items for part in parts)
        assert right == pytest.approx(measured.accuracy * measured.items)
        for label, row in measured.confusion.items():
            assert row == tuple(map(sum, zip(*(part.confusion[label] for part in parts), strict=True)))


def test_the_win_rates_of_slices_sum_up_to_the_whole() -> None:
    rows = [(A, A, A, GOOD, "x", "a" * (n % 5), "b" * (n % 3)) for n in range(20)]
    rows += [(B, B, B, A, "y", "a", "bb")] * 7
    whole = matched(rows)
    pairs = scored_pairs_of(whole.system, ["relevance", "overall_quality"])
    weights = {"relevance": 1.0, "overall_quality": 1.0}
    decided = weigh(pairs, weights, 0.5, whole.dataset)
    parts = weigh_slices(pairs, decided, whole.dataset, slicing(whole.dataset, "longer"))
    assert sum(part.items for part in parts.slices) == len(rows)
    wins = sum(part.items * part.rates["A"][0] for part in parts.slices)
    assert wins / len(rows) == pytest.approx(decided.result["win_rate_a"], abs=1e-4)
    assert all(sum(share for share, _ in part.rates.values()) == pytest.approx(1) for part in parts.slices)
    table = weighed_slice_table(parts)
    assert [row[0] for row in table.rows] == [part.part.name for part in parts.slices]


def test_a_slice_says_what_it_is_and_keeps_the_warning_of_the_whole() -> None:
    whole = matched([(A, A, A, A, "x", "a", "bbb"), (B, B, A, A, "y", "aaa", "b")])
    part = whole.only({"2"}, "longer = A is longer")
    assert (part.items, list(part.dataset.ids), list(part.system.rows)) == (1, ["2"], ["2"])
    assert "Only a slice is measured: longer = A is longer, 1 item of 2." in part.caveats
    unlabelled = matched([(A, None, A, A, "x", "a", "b"), (None, None, A, A, "y", "a", "b")])
    with pytest.raises(SetupError, match="No item of the slice c = 2 has a human label"):
        unlabelled.only({"2"}, "c = 2")


def test_small_slices_are_marked() -> None:
    rows = [(A, A, A, A, str(n), "a", "bbb") for n in range(10)] + [(A, A, A, A, "z", "aaa", "b")] * 9
    whole = matched(rows)
    measured = measure_slices(whole, slicing(whole.dataset, "longer"))
    assert [part.few for part in measured.slices] == [True, False]
    assert [row[-1] for row in slice_table(measured).rows] == ["under 10 instructions: too few", ""]
    assert criterion_slice_table(measured).texts()[1] == ["B is longer", *["100.0 (69.2 to 100.0)"] * 2]


def test_a_slice_on_which_the_judge_is_clearly_worse_is_to_be_read_first() -> None:
    wrong = [(A, A, (A, B)[n % 2], (A, B)[n % 2], *row[4:]) for n, row in enumerate(FORTY)]
    first, other = (
        slices_in_short(measure_slices(one, slicing(one.dataset, "longer")))
        for one in (matched(wrong), matched([(*row[:2], A, A, *row[4:]) for row in FORTY]))
    )
    assert first.startswith("Read the items of “A is longer” first: the judge is right on 0.0 %")
    assert other.startswith("No slice stands out: differences between these 2 may be chance.")


def test_what_the_best_slice_owes_to_being_chosen_is_said_where_two_have_items_enough() -> None:
    one = matched(FORTY)
    division = slicing(one.dataset, "longer")
    measured = measure_slices(one, division)
    [said] = slices_in_words(measured)
    assert said.startswith("The best of 2 slices with 10 instructions or more is selected on these items")
    assert slice_sections([measured])[0].parts[-1] == Sentences([said])
    few = measure_slices(matched(FORTY[:18]), slicing(matched(FORTY[:18]).dataset, "longer"))
    assert slices_in_words(few) == []
    assert slices_in_short(few).startswith("To compare slices, label items of 10 instructions or more")
    # Of each of two systems, and of their difference.
    half = [A if n % 3 else B for n in range(40)]
    other = match(system({"relevance": half, "overall_quality": half}, name="other"), one.dataset)
    pair = [one, other]
    each_said = compared_slices_in_words(pair, [measure_slices(each, division) for each in pair])
    chosen = "with 10 instructions or more is selected on these items: if all were equally good, its"
    assert [sentence.partition(" would")[0] for sentence in each_said] == [
        f"The best of 2 slices of judge.tsv {chosen} accuracy",
        f"The best of 2 slices of other {chosen} accuracy",
        f"The best of 2 differences on slices {chosen} difference",
    ]


def test_an_item_with_two_tags_is_measured_in_both_slices() -> None:
    rows = [(A, A, A, A, "x", "a", "b"), (A, A, B, B, "y", "a", "b"), (B, B, B, B, "z", "a", "b")]
    whole = matched(rows)
    ids = whole.dataset.ids
    division = slicing(whole.dataset, "tag", Noted({ids[0]: ("odd", "hard"), ids[1]: ("hard",)}))
    found = {part.part.name: part for part in measure_slices(whole, division).slices}
    measured = {name: (part.items, part.accuracy) for name, part in found.items()}
    assert measured == {"hard": (2, 0.5), "odd": (1, 1.0), "(no tag)": (1, 1.0)}


def test_win_rates_of_several_systems_stand_in_one_table() -> None:
    rows = [(A, A, A, A, str(n), "a", "bbb") for n in range(12)]
    one = matched(rows)
    other = match(system({"relevance": [B] * 12, "overall_quality": [B] * 12}, name="other"), one.dataset)
    bare = match(system({"safety": [None] * 12, "relevance": [None] * 12}, name="bare"), one.dataset)
    division = slicing(one.dataset, "longer")
    weighed = {each.system.name: weigh_by_default(each, division) for each in (one, other)}
    assert weigh_by_default(bare, division) is None
    known = {name: found for name, found in weighed.items() if found is not None}
    table = compared_win_table(measure_slices(one, division), known)
    assert table.titles[1:] == ["system", "A wins", "B wins", "tie"]
    whole, none = "100.0 (73.5 to 100.0)", "0.0 (0.0 to 26.5)"
    assert table.texts() == [
        ["B is longer", "judge.tsv", whole, none, none],
        ["B is longer", "other", none, whole, none],
    ]


def test_two_systems_have_a_difference_with_its_interval() -> None:
    rows = [(A, A, A, B, str(n), "a", "bbb") for n in range(30)]
    one = matched(rows)
    other = match(system({"relevance": [A] * 30, "overall_quality": [A] * 30}, name="other"), one.dataset)
    division = slicing(one.dataset, "longer")
    found = lead(one, other, division.slices[0])
    assert found is not None
    assert found.value == pytest.approx(-0.5)
    assert found.interval == pytest.approx((-0.598, -0.402), abs=1e-3)
    pair = [one, other]
    table = compared_slice_table(pair, [measure_slices(each, division) for each in pair])
    assert table.texts()[0][2:5] == ["50.0 (36.3 to 63.7)", "100.0 (87.9 to 100.0)", "-50.0 (-59.8 to -40.2)"]


def test_a_run_keeps_of_its_items_what_is_theirs(tmp_path: Path) -> None:
    results = results_of(tmp_path, [("1", "safety", B, None), ("2", "safety", A, None)])
    part = results.only({"2"})
    assert [item.item_id for item in part.judged] == ["2"]
    assert set(part.overrides) == {JudgmentKey("2", "safety")}
    assert {len(column) for column in part.judgments.values()} == {1}
    assert [said.item_id for said in part.reviews.overrides] == ["2"]


def test_without_human_labels_slices_are_counted(tmp_path: Path) -> None:
    results = results_of(tmp_path, [])
    gold = dataset({"safety": [None] * len(results.judged)})
    counted = count_slices(results, slicing(gold, "longer"))
    assert sum(part.items for part in counted.slices) == len(results.judged)
    assert [column.key for column in slice_table(counted).columns] == ["slice", "items", "ties", "flipped"]
