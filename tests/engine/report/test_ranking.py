"""Rankings: their sheet and figure, in the report of a judge, as CSV and for a paper."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from engine.core.events import followed
from engine.core.items import HumanLabel, Preference, Tie
from engine.core.tables import Picture, Section, Sentences, Table, sheet_latex
from engine.data.dataset import Dataset
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import Matched, match
from engine.ranking.comparisons import PairComparisons
from engine.ranking.ranking import Ranking, rank, ranking_json
from engine.report.drawing import as_svg
from engine.report.html_report import REPORT_FIGURES, Report, report_html, report_sheet
from engine.report.ranking import (
    candidate_table,
    pair_table,
    paper_sheet,
    ranking_csv,
    ranking_figure,
    ranking_in_words,
    ranking_sheet,
)
from engine.report.rankings import ReportedRanking, reported_ranking
from tests.engine.ranking.worlds import comparisons, davidson_comparisons
from tests.judged import A, B, dataset, system, text_table


def ranked(of: PairComparisons) -> Ranking:
    return followed(rank(of))


@cache
def four() -> Ranking:
    """One that is far ahead, two that are alike, one that is far behind."""
    return ranked(davidson_comparisons((2.0, 0.0, 0.0, -2.0), 400, seed=1))


def section(ranking: Ranking, key: str) -> Section:
    return next(each for each in ranking_sheet(ranking, "by people").sections if each.key == key)


def test_a_row_tells_of_the_items_of_its_candidate_and_a_cell_of_those_of_both() -> None:
    ranking = four()
    of = ranking.comparisons
    table, names = pair_table(ranking), ranking.order
    for row, one in enumerate(names):
        own = of.names.index(one)
        stood = {of.ids[place] for place in range(len(of)) if own in (of.first[place], of.second[place])}
        assert table.behind[row].ids == stood
        for column, other in enumerate(names, start=1):
            if other == one:
                assert (row, column) not in table.behind_cells
                continue
            both = {own, of.names.index(other)}
            met = {of.ids[place] for place in range(len(of)) if {of.first[place], of.second[place]} == both}
            assert table.behind_cells[row, column].ids == met
            assert table.behind_cells[row, column].words == f"{one} against {other}"
    candidates, picture = section(ranking, "candidates").parts
    assert isinstance(candidates, Table)
    assert isinstance(picture, Picture)
    assert [behind.words for behind in candidates.behind] == [f"with a response of {name}" for name in names]


def said_in_short(ranking: Ranking) -> str:
    parts = section(ranking, "in_short").parts
    return " ".join(text for part in parts if isinstance(part, Sentences) for text in part.texts)


def test_the_strongest_is_sure_only_where_nobody_can_be_it_too() -> None:
    sure = [("alpha", "beta", A)] * 100 + [("beta", "alpha", A)] * 50
    few = [("beta", "gamma", A)] * 6 + [("gamma", "beta", A)] * 6
    said = said_in_short(ranked(comparisons([*sure, *few])))
    assert "% against the mean, but is not significantly better than gamma." in said
    assert "1 of 3 pairs of candidates is significantly different." in said
    said = said_in_short(ranked(comparisons([("first", "last", A)] * 40)))
    assert "first is significantly the best: it wins 100.0 % of its comparisons." in said
    said = said_in_short(ranked(comparisons([("x", "y", A), ("z", "w", A)] * 3)))
    assert "x, z have the highest win rate, 100.0 %; nothing shows that one of them is the best." in said


def test_length_that_cannot_be_told_from_who_wrote_leaves_no_rates() -> None:
    lengths = np.array([[300.0, 10.0]] * 60)
    of = comparisons([("x", "y", A), ("y", "z", A), ("z", "x", A)] * 20, lengths=lengths)
    ranking = ranked(of)
    assert "equal_length" not in {column.key for column in candidate_table(ranking).columns}
    (said,) = (part for part in section(ranking, "lengths").parts if isinstance(part, Sentences))
    assert "are confounded here" in said.texts[0]


def test_the_figure_says_in_words_who_cannot_be_told_apart() -> None:
    said = ranking_in_words(four())
    assert said.startswith("Points with 95 % intervals of the win rate against the mean candidate, the best")
    assert "Not significantly different: c1, c2." in said or "Not significantly different: c2, c1." in said
    assert said.index("c0 ") < said.index("c3 ")


def test_the_figure_is_drawn_in_both_themes_also_with_long_and_strange_names_and_without_strengths() -> None:
    svg = as_svg(ranking_figure(four(), "by people"), "A <B>")
    assert svg == as_svg(ranking_figure(four(), "by people"), "A <B>")
    assert svg != as_svg(ranking_figure(four(), "by people", dark=True), "A <B>")
    few = ranked(comparisons([("n" * 255, "$字\u202e$", Preference.A)] * 3))
    assert few.bradley_terry is None
    assert len(said_in_short(few)) < 255  # of one of the names alone
    assert ranking_in_words(few).startswith("Points with 95 % intervals of the win rate, the best first.")
    assert b"<svg" in as_svg(ranking_figure(few, "s" * 255), "")


def test_both_kinds_of_ties_are_shown_and_those_of_which_nobody_said_more_where_there_are_any() -> None:
    def columns(*labels: HumanLabel) -> set[str]:
        of = comparisons([("one", "two", label) for label in labels])
        shown = {column.key for column in candidate_table(ranked(of)).columns}
        return shown & {"both_good", "both_bad", "tie"}

    a, good = Preference.A, Preference.BOTH_GOOD
    assert columns(a, a) == columns(a, good) == {"both_good", "both_bad"}
    assert columns(a, Tie.TIE) == {"tie"}
    assert columns(good, Tie.TIE) == {"both_good", "both_bad", "tie"}


# The ranking in the report of a judge: where the dataset names candidates, and beside people's.


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
    keys = [section.key for section in report_sheet(Report(evaluate(matched))).sections]
    assert keys.index("ranking_in_short") < keys.index("ranking_candidates") < keys.index("side_by_side")
    sections = {section.key: section for section in reported(matched).sections}
    table, said = sections["ranking_candidates"].parts[0], sections["side_by_side"].parts[0]
    assert isinstance(table, Table)
    assert {row[0] for row in table.rows} == set(NAMES)
    assert isinstance(said, Sentences)
    assert said.texts[0] == ("First: judge.tsv, safety. Second: the human labels of gold.tsv, safety.")
    page = report_html(Report(evaluate(matched)), {})
    assert "Ranking: candidates" in page
    assert "&lt;b&gt;one" in page
    assert "<b>one" not in page


@pytest.mark.slow
def test_the_page_has_the_figure_of_the_ranking_once_and_says_it_in_words() -> None:
    report = Report(evaluate(match(JUDGE, gold())))
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


# A ranking as CSV, and what of it goes into a paper.


def test_the_csv_has_all_values_of_the_json() -> None:
    ranking = ranked(davidson_comparisons([0.8, 0.0, -0.8], 200, seed=1))
    table = pd.read_csv(io.BytesIO(ranking_csv(ranking)), dtype=str)  # numbers would lose a last digit
    made = json.loads(json.dumps(ranking_json(ranking)))
    assert len(table) == 3 + 6
    assert table["name"][:3].tolist() == ranking.order
    assert table["against"].isna().sum() == 3
    for row, told in zip(table.to_dict("records"), [*made["candidates"], *made["pairs"]], strict=True):
        values = [float(row[name]) for name in ("win_rate", "win_rate_low", "win_rate_high", "instructions")]
        assert values == [told["win_rate"], *told["win_rate_interval"], told["instructions"]]
    assert [int(table["best_rank"][0]), int(table["worst_rank"][0])] == made["candidates"][0]["ranks"]


def test_a_name_with_commas_quotes_and_halves_of_characters_stays_one_cell() -> None:
    name = 'a, "b"\n\ud800'
    table = pd.read_csv(io.BytesIO(ranking_csv(ranked(comparisons([(name, "c", A), (name, "c", B)])))))
    assert table["name"].tolist() == ['a, "b"\n\\ud800', "c", 'a, "b"\n\\ud800', "c"]
    assert table["win_rate_low"].isna().sum() == 0


def test_the_table_has_a_row_for_each_candidate_and_as_many_cells_as_columns() -> None:
    ranking = ranked(davidson_comparisons([0.8, 0.0, -0.8], 200, seed=1))
    lines = sheet_latex(paper_sheet(ranking, "Run 7, 50 % of_all"), "Made by Tiebreak").splitlines()
    assert r"\caption{Run 7, 50 \% of\_all: 3 candidates in 200 items" in "\n".join(lines)
    rows = [line for line in lines if line.endswith(r"\\")]
    [tabular] = [line for line in lines if line.startswith(r"\begin{tabular}")]
    width = len(tabular.removeprefix(r"\begin{tabular}{").removesuffix("}"))
    assert len(rows) == 1 + 3
    assert {row.count(" & ") + 1 for row in rows} == {width}
    assert rows[1].startswith(f"{ranking.order[0]} & 1 & ")
    inside = [line for line in lines if line.startswith(("\\begin", "\\end"))]
    assert inside == [r"\begin{table}", tabular, r"\end{tabular}", r"\end{table}"]
