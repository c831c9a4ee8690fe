"""A ranking as CSV, and what of it goes into a paper."""

import io
import json

import pandas as pd

from engine.core.events import Reports
from engine.core.tables import sheet_latex
from engine.ranking.comparisons import PairComparisons
from engine.ranking.ranking import Ranking, rank, ranking_json
from engine.report.ranking import paper_sheet, ranking_csv
from tests.engine.ranking.worlds import A, B, comparisons, davidson_comparisons


def ranked(of: PairComparisons) -> Ranking:
    reports = Reports(rank(of))
    list(reports)
    return reports.result


def test_the_csv_has_all_values_of_the_json() -> None:
    ranking = ranked(davidson_comparisons([0.8, 0.0, -0.8], 200, seed=1))
    table = pd.read_csv(
        io.BytesIO(ranking_csv(ranking)), dtype=str
    )  # read as numbers, some lose a last digit
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
