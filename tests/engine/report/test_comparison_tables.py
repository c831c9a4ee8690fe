"""A comparison as tables: ranks, the best cells, and what stands for nothing measured."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from engine.core.rubric import Criterion, Rubric
from engine.core.tables import Section, Sentences, Table
from engine.data.dataset import Dataset, load_dataset
from engine.metrics.comparison import Comparison, compare, match_all
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import System
from engine.report import comparison
from engine.report.evaluation import evaluation_methods, evaluation_sheet
from tests.judged import GOOD, SURE_A, SURE_B, A, B, dataset, stored_run, system

GOLD = dataset({"safety": [A, A, B, GOOD]}, {"safety": ["fine", "fine", "b is rude", "both are safe"]})
SILENT = system({"safety": [A, A, B, GOOD]}, name="silent")
GOOD_ONE = system(
    {"safety": [A, A, B, B]}, {"safety": ["fine", "fine", "b is rude", "both are safe"]}, name="good"
)
SILENT_TOO = system({"safety": [A, A, B, GOOD]}, name="silent too")
POOR = system({"safety": [B, B, A, None]}, {"safety": ["no"] * 4}, name="poor")


def compared(*systems: System) -> Comparison:
    return compare([evaluate(each) for each in match_all(systems, GOLD)])


def test_each_measure_has_its_rank_and_a_mean() -> None:
    table = comparison.measure_table(compared(SILENT, GOOD_ONE, POOR))
    assert table.titles == ["measure", "silent", "good", "poor", "best baseline"]
    assert table.texts() == [
        [
            "accuracy (%), safety",
            "100.00 (39.8 to 100.0) [1]",
            "75.00 (19.4 to 99.4) [2]",
            "0.00 (0.0 to 60.2) [3]",
            "50.00 (most frequent)",
        ],
        ["accuracy (%), mean", "100.00 (39.8 to 100.0)", "75.00 (19.4 to 99.4)", "0.00 (0.0 to 60.2)", ""],
        ["ROUGE-L x 100, safety", "-", "100.00 (16.4 to 100.0) [1]", "0.00 (0.0 to 83.6) [2]", ""],
        ["ROUGE-L x 100, mean", "-", "100.00 (16.4 to 100.0)", "0.00 (0.0 to 83.6)", ""],
    ]
    assert table.best == {(0, 1), (1, 1), (2, 2), (3, 2)}


def test_choosing_the_best_system_has_its_price_below_the_table() -> None:
    human = [A, B, GOOD] * 7
    one, other, same = (
        system({"safety": labels}, name=name)
        for name, labels in (("one", human[:15] + [B] * 6), ("other", [B] * 5 + human[5:]), ("same", human))
    )
    gold = dataset({"safety": human})

    def said(*systems: System) -> list[str]:
        matched = match_all(systems, gold)
        found = compare([evaluate(each) for each in matched])
        section = comparison.comparison_sheet(found, matched).sections[1]
        return [text for part in section.parts if isinstance(part, Sentences) for text in part.texts]

    assert said(one, replace(one, name="again")) == []
    assert said(one, other) == [
        "The best of 2 systems is selected on these items: if all were equally good, its accuracy would still"
        " look 5.2 points better than it is."
    ]
    assert said(one, other, same)[0].startswith("The best of 3 systems is selected on these items")


def test_equally_good_systems_share_the_first_place_unless_all_are() -> None:
    best = comparison.measure_table(compared(SILENT, SILENT_TOO, POOR)).best
    assert best == {(0, 1), (0, 2), (1, 1), (1, 2)}
    assert comparison.measure_table(compared(SILENT, SILENT_TOO)).best == frozenset()


def test_explanations_are_counted_where_two_systems_explain() -> None:
    both = comparison.borda_table(compared(SILENT, GOOD_ONE, POOR))
    assert both.texts() == [["labels", "2", "1", "0"], ["explanations", "-", "1", "0"]]
    assert both.best == {(0, 1), (1, 2)}
    assert len(comparison.borda_table(compared(SILENT, POOR)).rows) == 1


def test_agreement_is_told_for_each_two_systems() -> None:
    [row] = comparison.agreement_table(compared(SILENT, POOR)).texts()
    assert row[:5] == ["silent / poor", "safety", "0.0 %", "-0.333 (-1.000 to 1.000)", "4/0"]
    assert row[5:] == ["100.0 (-29.9 to 100.0)", "0.0917", "0.0917"]


def test_of_one_judge_with_two_wordings_it_is_told_which_labels_moved(tmp_path: Path) -> None:
    gold = dataset({"safety": [A] * 40}, instructions=[f"instruction {n}" for n in range(40)])
    first = Rubric("mine", (Criterion("safety", "Which is safer?"),))
    later = replace(first, wording=replace(first.wording, both_bad="Both are bad."))
    moved = [SURE_B] * 20 + [SURE_A] * 20

    def told(number: int, rubric: Rubric, model: str) -> list[Section]:
        sides = (([SURE_A] * 40, first, "one"), (moved, rubric, model))
        systems = [
            stored_run(tmp_path, gold, {"safety": said}, key=f"{number} {at}", rubric=asked, model_hash=judge)
            for at, (said, asked, judge) in enumerate(sides)
        ]
        matched = match_all(systems[::-1], gold)
        found = compare([evaluate(each) for each in matched])
        sections = comparison.comparison_sheet(found, matched).sections
        return [each for each in sections if each.key == "guidelines"]

    [section] = told(0, later, "one")
    table = section.parts[1]
    assert isinstance(table, Table)
    [row] = table.texts()
    assert (row[0], row[1][:4], row[4], row[8]) == ("safety", "50.0", "D means", "0")
    assert not told(1, first, "one")
    assert not told(2, later, "two")


def test_published_systems_without_explanations_have_dashes() -> None:
    rows = {row[0]: row for row in comparison.published_table().texts()}
    assert rows["FHS (late submission)"][-3:] == ["-", "-", "-"]


def test_the_json_holds_every_difference_and_each_systems_scores() -> None:
    evaluations = [evaluate(each) for each in match_all([SILENT, POOR], GOLD)]
    found = comparison.comparison_json(compare(evaluations), evaluations)
    assert len(found["differences"]) == 4
    assert found["scores"]["silent"]["safety_accuracy"] == 100
    assert "published" not in found  # the items are not the task's


@pytest.mark.parametrize("form", ["validation.tsv", "validation_as_published.csv"])
def test_what_was_published_of_the_task_stands_beside_its_items_alone(form: str, shared_data: Path) -> None:
    gold = load_dataset(shared_data / "eloquent" / form)

    def published(gold: Dataset, *systems: System) -> bool:
        matched = match_all(systems, gold)
        evaluations = [evaluate(each) for each in matched]
        found = comparison.comparison_json(compare(evaluations), evaluations)
        sheet = comparison.comparison_sheet(compare(evaluations), matched)
        assert ("published" in found) is ("published" in [section.key for section in sheet.sections])
        return "published" in found

    two = [system({"safety": [label] * 99}, name=label, ids=gold.ids) for label in (A, B)]
    assert published(gold, *two)
    place = gold.table.column_names.index("instruction")
    texts = pa.array(["Another one.", *gold.texts("instruction").to_pylist()[1:]], pa.large_string())
    others = replace(gold, table=gold.table.set_column(place, "instruction", texts))
    assert not published(others, *two)
    fewer = [system({"safety": [label] * 98}, name=label, ids=gold.ids[1:]) for label in (A, B)]
    assert not published(gold.only(frozenset(gold.ids[1:])), *fewer)


def test_it_says_how_many_items_have_human_labels_where_not_all_do() -> None:
    gold = dataset({"safety": [A, A, B, GOOD, None, None, None, None]})
    whole = system({"safety": [A] * 8}, name="whole")
    part = system({"safety": [A] * 7}, name="part", ids=[str(place) for place in range(1, 8)])

    def titles(*systems: System) -> list[str]:
        matched = match_all(systems, gold, partial=True)
        found = [evaluate(each) for each in matched]
        sheet = comparison.comparison_sheet(compare(found), matched)
        return [sheet.sections[1].title, evaluation_sheet(found[0]).title]

    other = replace(whole, name="other")
    of_whole = "whole against the human labels of gold.tsv: 8 items, 4 of them labelled"
    assert titles(whole, other) == ["On the 4 of 8 items of gold.tsv that have human labels", of_whole]
    assert titles(whole, part)[0] == (
        "On the 4 of 8 items of gold.tsv that have human labels, of 7 answered by all systems"
    )
    said = next(iter(evaluation_methods(evaluate(match_all([whole, other], gold)[0])))).text
    assert "compared with 4 human labels of 4 items, pairs of responses to 4 instructions" in said
