"""The sheet and the figure of a ranking: what they say of candidates of known strength."""

from functools import cache

import numpy as np

from engine.core.events import Reports
from engine.core.items import HumanLabel, Preference, Tie
from engine.core.tables import Picture, Section, Sentences, Table
from engine.ranking.comparisons import PairComparisons
from engine.ranking.ranking import Ranking, rank
from engine.report.drawing import as_svg
from engine.report.ranking import (
    RANKING_FIGURE,
    candidate_table,
    pair_table,
    ranking_figure,
    ranking_in_words,
    ranking_sheet,
)
from tests.engine.ranking.worlds import A, comparisons, davidson_comparisons


def ranked(of: PairComparisons) -> Ranking:
    reports = Reports(rank(of))
    list(reports)
    return reports.result


@cache
def four() -> Ranking:
    """One that is far ahead, two that are alike, one that is far behind."""
    return ranked(davidson_comparisons((2.0, 0.0, 0.0, -2.0), 400, seed=1))


def section(ranking: Ranking, key: str) -> Section:
    return next(each for each in ranking_sheet(ranking, "by people").sections if each.key == key)


def test_the_picture_stands_below_the_candidates() -> None:
    parts = section(four(), "candidates").parts
    assert [part.name for part in parts if isinstance(part, Picture)] == [RANKING_FIGURE]


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
    candidates = section(ranking, "candidates").parts[0]
    assert isinstance(candidates, Table)
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
    assert "first is significantly the best: it wins 100.0 % of its comparisons." in said_in_short(
        ranked(comparisons([("first", "last", A)] * 40))
    )


def test_all_that_share_the_highest_win_rate_are_named() -> None:
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
    assert ranking_in_words(few).startswith("Points with 95 % intervals of the win rate, the best first.")
    assert b"<svg" in as_svg(ranking_figure(few, "s" * 255), "")


def test_both_kinds_of_ties_are_shown_and_those_of_which_nobody_said_more_where_there_are_any() -> None:
    def columns(*labels: HumanLabel) -> set[str]:
        of = comparisons([("one", "two", label) for label in labels])
        return {column.key for column in candidate_table(ranked(of)).columns} & {
            "both_good",
            "both_bad",
            "tie",
        }

    a, good = Preference.A, Preference.BOTH_GOOD
    assert columns(a, a) == columns(a, good) == {"both_good", "both_bad"}
    assert columns(a, Tie.TIE) == {"tie"}
    assert columns(good, Tie.TIE) == {"both_good", "both_bad", "tie"}


def test_long_names_leave_the_sentences_readable() -> None:
    few = ranked(comparisons([("n" * 255, "m" * 255, Preference.A)] * 3))
    said = [
        text for part in section(few, "in_short").parts if isinstance(part, Sentences) for text in part.texts
    ]
    assert max(map(len, said)) < 200
