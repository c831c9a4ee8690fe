"""Systems matched with labels, and side by side."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import SetupError
from engine.core.rubric import Criterion, Rubric
from engine.metrics.comparison import Comparison, about_the_task, compare, match_all
from engine.metrics.evaluation import evaluate
from engine.metrics.explanations import ModelScores
from engine.metrics.matching import System, match
from engine.report.comparison import PUBLISHED, comparison_sheet
from engine.settings.identity import DEVICE_LEFT
from tests.judged import BAD, GOOD, SURE_A, TIE, A, B, dataset, stored_run, system
from tests.steps import there

# Systems side by side: ranks, Borda counts, McNemar's test, differences; all on the same items.


HUMAN = {"safety": [A, A, B, GOOD], "relevance": [A, B, A, B]}
BEST = system({"safety": [A, A, B, GOOD], "relevance": [A, A, A, A]}, name="best")
SAME = system({"safety": [A, A, B, B], "relevance": [A, A, A, A]}, name="same")
WORST = system({"safety": [B, B, B, None], "relevance": [B, A, B, A]}, name="worst")


TEXTS = {"safety": ["both are safe", "b is rude"]}
EXPLAINED, GOOD_ONE = dataset({"safety": [A, B]}, TEXTS), system({"safety": [A, B]}, TEXTS, name="good")


def compared(*systems: System, partial: bool = False) -> Comparison:
    return compare([evaluate(each) for each in match_all(systems, dataset(HUMAN), partial)])


def test_equal_values_share_their_rank() -> None:
    found = {(measure.name, measure.criterion): measure for measure in compared(BEST, SAME, WORST).measures}
    assert found["accuracy", "safety"].values == (100.0, 75.0, 25.0)
    assert found["accuracy", "safety"].ranks == (1.0, 2.0, 3.0)
    assert found["accuracy", "relevance"].ranks == (1.5, 1.5, 3.0)
    comparison = compared(BEST, SAME, WORST)  # the Borda count is how many systems are beaten
    assert comparison.borda_labels == {"best": 3.5, "same": 2.5, "worst": 0.0}
    assert comparison.borda_explanations == {}


def test_explanations_are_ranked_among_those_that_explain() -> None:
    poor = system({"safety": [A, B]}, {"safety": ["no idea", "b is rude"]}, name="poor")
    silent = system({"safety": [A, B]}, name="silent")
    found = compare([evaluate(each) for each in match_all([GOOD_ONE, silent, poor], EXPLAINED)])
    assert found.borda_explanations == {"good": 1.0, "poor": 0.0}
    assert next(measure for measure in found.measures if measure.name == "rouge_l").ranks == (1.0, None, 2.0)


def test_pairwise_agreement_counts_who_alone_is_right() -> None:
    found = {agreement.criterion: agreement for agreement in compared(BEST, WORST).agreements}
    assert (found["safety"].only_one, found["safety"].only_other, found["safety"].same) == (3, 0, 0.25)
    assert (found["relevance"].only_one, found["relevance"].only_other) == (2, 0)
    together = found[None]
    assert (together.items, together.only_one, together.same) == (8, 5, 0.375)
    assert together.difference == pytest.approx((0.75 + 0.5) / 2)


def test_to_fail_on_the_same_items_is_no_agreement() -> None:
    human = dataset({"safety": [A, B, A, B, A, B], "relevance": [A] * 6})
    one = system({"safety": [A, B, B, A, None, None], "relevance": [None] * 6}, name="one")
    other = system({"safety": [A, A, B, None, None, None], "relevance": [None] * 6}, name="other")
    agreements = compare([evaluate(each) for each in match_all([one, other], human)]).agreements
    found = {each.criterion: each for each in agreements}
    assert found["safety"].same == 0.5
    assert found["safety"].kappa == pytest.approx((0.5 - 0.375) / (1 - 0.375))
    assert (found["relevance"].same, found["relevance"].kappa, found[None].same) == (None, None, 0.5)


def test_p_values_hold_for_all_of_a_table_together() -> None:
    rows = compared(BEST, WORST).agreements
    assert [row.p_value is not None and row.corrected is not None for row in rows] == [True] * 3
    least, middle, most = sorted(rows, key=lambda row: row.p_value or 0)
    assert least.corrected == pytest.approx(3 * (least.p_value or 0))
    assert middle.corrected == pytest.approx(max(least.corrected or 0, 2 * (middle.p_value or 0)))
    assert most.corrected == pytest.approx(max(middle.corrected or 0, most.p_value or 0))
    for row in rows:
        assert (row.p_value or 0) >= 0.05 or there(row.interval).low > 0


def test_differences_are_in_the_order_of_the_dataset_and_the_rubric() -> None:
    found = compared(BEST, WORST).differences
    places = [f"{each.item_id} {each.criterion}" for each in found]
    assert places == ["1 relevance", "1 safety", "2 safety", "3 relevance", "4 safety"]
    assert found[-1].labels == (GOOD, None)


def test_partial_compares_on_the_items_that_all_have() -> None:
    few = system({"safety": [B, GOOD], "relevance": [A, B]}, name="few", ids=["4", "2"])
    found = compared(BEST, few, partial=True)
    assert found.items == 2
    assert [measure.values for measure in found.measures] == [(0.0, 50.0), (100.0, 0.0)]


@pytest.mark.parametrize(
    ("systems", "problem"),
    [
        ([BEST], "two systems or more"),
        ([BEST, BEST], "called best"),
        ([BEST, system({"safety": [B], "relevance": [A]}, name="few", ids=["4"])], "few does not answer"),
        ([system({name: [A] * 4}, name=name) for name in HUMAN], "share no labelled criterion"),
    ],
    ids=["one", "the same twice", "other items", "no shared criterion"],
)
def test_what_is_no_comparison_is_refused(systems: list[System], problem: str) -> None:
    with pytest.raises(SetupError, match=problem):
        compared(*systems)


def test_a_criterion_that_one_lacks_is_named_and_not_compared() -> None:
    only = system({"safety": [A, A, B, GOOD]}, name="only")
    found = compared(BEST, only)
    assert found.left_out == {"relevance": ("only",)}
    assert [measure.criterion for measure in found.measures] == ["safety"]


def test_partial_names_what_each_lacks_of_the_whole_dataset() -> None:
    few = system({"safety": [B, GOOD]}, name="few", ids=["4", "x"])
    found = match_all([BEST, few], dataset(HUMAN), partial=True)
    lacks = [(each.missing, each.extra, each.items) for each in found]
    assert lacks == [((), (), 1), (("1", "2", "3"), ("x",), 1)]


def test_a_slice_counts_the_items_that_all_share() -> None:
    few = system({"safety": [B, GOOD], "relevance": [A, B]}, name="few", ids=["4", "2"])
    found = match_all([BEST, few], dataset(HUMAN), partial=True)
    assert [one.only({"2", "3"}, "a slice").items for one in found] == [1, 1]
    title = comparison_sheet(compared(BEST, few, partial=True), found).sections[1].title
    assert title == "On 2 of 4 items with the human labels of gold.tsv"


def test_a_system_that_explains_nothing_on_a_criterion_shields_nobody() -> None:
    empty = system({"safety": [A, B]}, {"safety": [None, None]}, name="empty")
    slow = [{"safety": ModelScores([0.9, 0.9])}, {"safety": ModelScores([])}]
    pairs = zip(match_all([GOOD_ONE, empty], EXPLAINED), slow, strict=True)
    found = compare([evaluate(each, scores) for each, scores in pairs])
    assert found.borda_explanations == {"good": 2.0, "empty": 0.0}
    assert next(measure for measure in found.measures if measure.name == "bertscore").values == (90.0, 0.0)


def test_published_means_are_those_of_the_published_accuracies() -> None:
    for result in PUBLISHED:
        mean = sum(result.accuracy.values()) / len(result.accuracy)
        assert result.mean_accuracy == pytest.approx(mean, abs=0.01), result.name


def test_runs_are_compared_on_criteria_that_were_asked_alike(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B], "wit": [A, A]})
    first = Rubric("first", (Criterion("safety", "Which is safer?"), Criterion("wit", "Which is funnier?")))
    other = replace(first, criteria=(first.criteria[0], Criterion("wit", "Which has more wit?", good="Wit.")))
    runs = []
    for number, rubric in enumerate((first, other, replace(first, name="third")), start=1):
        folder = tmp_path / str(number)
        folder.mkdir()
        column = {"safety": [SURE_A, SURE_A], "wit": [SURE_A, SURE_A]}
        run = stored_run(folder, gold, column, rubric=rubric, key=str(number))
        runs.append(replace(run, name=f"run {number}"))
    labels = replace(gold, rubric=first)
    found = compare([evaluate(each) for each in match_all(runs[:2], labels)])
    assert {measure.criterion for measure in found.measures} == {"safety"}
    assert found.not_compared == [
        "wit is not compared: run 1 was asked “Which is funnier?”; run 2 was asked “Which has more wit?”."
    ]
    alike = compare([evaluate(each) for each in match_all([runs[0], runs[2]], labels)])
    assert not alike.not_compared
    submitted = system({"safety": [A, B], "wit": [B, B]}, name="submission")
    assert not compare([evaluate(each) for each in match_all([runs[0], submitted], labels)]).not_compared
    assert not about_the_task(runs[0])
    assert about_the_task(system({"safety": [A]}))
    only = replace(gold, rubric=first.only(("wit",)))
    with pytest.raises(SetupError, match="asked different questions on wit"):
        compare([evaluate(each) for each in match_all(runs[:2], only)])


def test_either_tie_is_right_where_people_said_no_more() -> None:
    gold = dataset({"safety": [TIE, TIE, TIE]})
    labels = {"one": [GOOD, BAD, A], "other": [BAD, A, B]}
    systems = [system({"safety": given}, name=name) for name, given in labels.items()]
    found = compare([evaluate(each) for each in match_all(systems, gold)])
    told = [(each.item_id, each.human, each.one_is_right) for each in found.differences]
    assert told == [("1", TIE, False), ("2", TIE, True), ("3", TIE, False)]
    assert (found.agreements[0].only_one, found.agreements[0].only_other) == (1, 0)


# Predictions and labels are joined by id; what does not fit together is named.


def test_rows_are_joined_by_id_not_by_place() -> None:
    found = match(system({"safety": [B, A]}, ids=["2", "1"]), dataset({"safety": [A, B]}))
    assert [pair.prediction.preference for pair in found.pairs["safety"]] == [A, B]


def test_missing_and_extra_ids_are_named() -> None:
    few, gold = system({"safety": [A, B]}, ids=["2", "9"]), dataset({"safety": [A, B, B]})
    found = match(few, gold, partial=True)
    assert (found.items, found.missing, found.extra) == (1, ("1", "3"), ("9",))
    with pytest.raises(SetupError, match="no id in common"):
        match(system({"safety": [A]}, ids=["x"]), gold, partial=True)
    with pytest.raises(SetupError, match="no human label for what judge"):
        match(system({"safety": [A]}), dataset({"relevance": [GOOD]}))
    with pytest.raises(SetupError) as error:
        match(few, gold)
    assert "ids missing (2 of 3): 1, 3" in error.value.problem
    assert "ids that are not in gold.tsv (1): 9" in error.value.problem
    assert "--partial" in OPTIONS.of(error.value.hint)


def test_items_without_a_label_are_no_pairs() -> None:
    gold = dataset({"safety": [None, B], "relevance": [None, None]})
    found = match(system({"safety": [A, A], "relevance": [B, B]}), gold)
    assert {name: len(pairs) for name, pairs in found.pairs.items()} == {"safety": 1}


UNKNOWN = "given in an unknown order."
ONE = "of these items is a human override; the scores include"
SEVERAL = "of these items are human overrides; the scores include"


@pytest.mark.parametrize(
    ("overrides", "sentences"),
    [
        ([], []),
        ([("1", "safety", B, None)], [f"1 label {ONE} it.", f"This label was {UNKNOWN}"]),
        (
            [("1", "safety", B, "Why."), ("2", "relevance", A, None)],
            [f"2 labels and 1 explanation {SEVERAL} them.", f"All of these 2 labels were {UNKNOWN}"],
        ),
        ([("3", "safety", B, None)], []),
    ],
)
def test_what_people_overrode_among_the_items_is_a_caveat(
    tmp_path: Path, overrides: list[Any], sentences: list[str]
) -> None:
    judged = dataset({"safety": [A, A, A]})
    columns = {"safety": [SURE_A] * 3, "relevance": [SURE_A] * 3}
    run = stored_run(tmp_path, judged, columns, overrides=overrides)
    found = match(run, dataset({"safety": [A, A]}), partial=True)
    assert [caveat.split(", not the judge's")[0] for caveat in found.caveats] == sentences


def test_a_pair_knows_what_the_model_said_and_what_a_person_said(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, A]})
    run = stored_run(tmp_path, gold, {"safety": [SURE_A, None]}, overrides=[("1", "safety", B, None)])
    one, other = match(run, gold).pairs["safety"]
    assert (one.prediction.preference, one.labelled_by_annotator) == (B, True)
    assert there(one.judgment).preference is A
    assert (other.prediction.preference, other.judgment, other.override) == (None, None, None)


def test_what_of_a_submission_is_joined_by_ids_alone_is_said() -> None:
    matched = match(system({"safety": [A, B, A]}), dataset({"safety": [A, B]}), partial=True)
    assert matched.joined.startswith("2 of 3 ids of ")
    assert "matched only by their ids" in matched.joined


def test_a_gpu_that_failed_in_the_run_is_a_caveat(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, A]})
    run = stored_run(tmp_path, gold, {"safety": [SURE_A, SURE_A]})
    assert run.results is not None
    left = replace(run.results.run, manifest={DEVICE_LEFT: "A card, after 1 of 2 items: it hung"})
    found = match(replace(run, results=replace(run.results, run=left)), gold)
    assert found.caveats == [
        "A GPU failed in this run: A card, after 1 of 2 items: it hung. The processor judged the rest."
    ]


def test_how_many_ties_say_no_more_is_said() -> None:
    matched = match(system({"safety": [A, B, GOOD]}), dataset({"safety": [TIE, TIE, GOOD]}))
    assert [said for said in matched.caveats if said.startswith("2 human labels are only “tie”")]
    assert not match(system({"safety": [A]}), dataset({"safety": [GOOD]})).caveats
