"""The ranking in the report of a judge: where the dataset names candidates, and beside people's."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from engine.core.tables import Sentences, Table
from engine.data.dataset import Dataset
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import Matched, match
from engine.report.html_report import REPORT_FIGURES, gather, report_html, report_sheet
from engine.report.rankings import ReportedRanking, reported_ranking
from tests.judged import A, B, dataset, system, text_table

NAMES = ("<b>one", "two", "three")
ITEMS = 30
LABELS = [A if number % 3 else B for number in range(ITEMS)]


def gold(first: Sequence[str] | None = None) -> Dataset:
    """Thirty items; the candidate of each response, in turn, unless other names are given for A."""
    made = dataset({"safety": LABELS})
    a = first or [NAMES[number % 3] for number in range(ITEMS)]
    b = [NAMES[(number + 1) % 3] for number in range(ITEMS)]
    return replace(made, others=text_table({"candidate_a": a, "candidate_b": b}))


JUDGE = system({"safety": [A] * ITEMS})


def reported(matched: Matched) -> ReportedRanking:
    found = reported_ranking(matched)
    assert found is not None
    return found


def test_the_report_ranks_the_candidates_and_holds_the_judge_against_people() -> None:
    matched = match(JUDGE, gold())
    keys = [section.key for section in report_sheet(gather(evaluate(matched))).sections]
    assert keys.index("ranking_in_short") < keys.index("ranking_candidates") < keys.index("side_by_side")
    *_, last = reported(matched).sections
    said = last.parts[0]
    assert isinstance(said, Sentences)
    assert said.texts[0] == ("First: judge.tsv, safety. Second: the human labels of gold.tsv, safety.")
    page = report_html(gather(evaluate(matched)), {})
    assert "Ranking: candidates" in page
    assert "&lt;b&gt;one" in page
    assert "<b>one" not in page


def test_each_candidate_has_a_row() -> None:
    sections = {section.key: section for section in reported(match(JUDGE, gold())).sections}
    table = sections["ranking_candidates"].parts[0]
    assert isinstance(table, Table)
    assert {row[0] for row in table.rows} == set(NAMES)


@pytest.mark.slow
def test_the_page_has_the_figure_of_the_ranking_once_and_says_it_in_words() -> None:
    report = gather(evaluate(match(JUDGE, gold())))
    assert set(report.figures) <= set(REPORT_FIGURES)
    page = report_html(report)
    assert page.count("Points with 95 % intervals of the win rate against the mean candidate") == 1
    assert "A point for each candidate, its 95 % interval as a line." in page


def test_labels_of_a_part_correct_the_ranking_and_all_labels_do_not() -> None:
    part = dataset({"safety": [label if number % 2 else None for number, label in enumerate(LABELS)]})
    keys = [
        [section.key for section in reported(match(JUDGE, replace(labelled, others=gold().others))).sections]
        for labelled in (part, gold())
    ]
    assert ["ranking_corrected" in each for each in keys] == [True, False]
    assert "ranking_how_many" not in keys[0]


@pytest.mark.parametrize(
    "plain",
    [dataset({"safety": LABELS}), gold([NAMES[(number + 1) % 3] for number in range(ITEMS)])],
    ids=["no candidates", "each against itself"],
)
def test_without_two_candidates_there_is_no_ranking(plain: Dataset) -> None:
    assert reported_ranking(match(JUDGE, plain)) is None
