"""Contests, win rates and rankings: small ones that can be counted by hand, and what they cannot say."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from bench.coverage.intervals import holds
from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, DoubtfulCandidates, SetupError
from engine.core.events import followed
from engine.core.items import HUMAN_LABELS, Tie
from engine.data.dataset import load_dataset
from engine.ranking.comparisons import PairComparisons, comparisons_of, human_said, left_out_in_words
from engine.ranking.length_control import length_control
from engine.ranking.ranking import Ranking, rank, ranking_json, win_rates
from engine.report.ranking import candidate_table, pair_table, ranking_sheet
from tests.engine.ranking.worlds import BAD, GOOD, A, B, comparisons, davidson_comparisons
from tests.judged import dataset
from tests.steps import there

FILE = (
    "id\tinstruction\toutput_a\toutput_b\tcandidate_a\tcandidate_b\toverall_quality_preference\n"
    "1\tWhy?\tyes\tno, never\tred\tblue\tA\n"
    "2\tWhy?\tyes\tno\tblue\tred\tboth_bad\n"
    "3\tHow?\tso\tlike this\tred\tgreen\t\n"
    "4\tWho?\tI\tyou\tred\tred\tA\n"
    "5\tWho?\tI\tyou\t\tred\tA\n"
)


def ranked(of: PairComparisons) -> Ranking:
    """The ranking of some contests."""
    return followed(rank(of), id)


def opened(tmp_path: Path, text: str = FILE, columns: ColumnMap | None = None) -> PairComparisons:
    path = tmp_path / "pairs.tsv"
    path.write_text(text, encoding="utf-8")
    dataset = load_dataset(path, columns=columns)
    return comparisons_of(dataset, human_said(dataset, "overall_quality"))


def test_items_of_two_candidates_are_contests(tmp_path: Path) -> None:
    found = opened(tmp_path)
    assert found.ids == ("1", "2", "3")
    assert found.names == ("red", "blue", "green")
    assert found.first.tolist() == [0, 1, 0]
    assert found.second.tolist() == [1, 0, 2]
    assert found.instructions.tolist() == [0, 0, 1]
    assert found.lengths.tolist() == [[3, 9], [3, 2], [2, 9]]
    assert found.known.tolist() == [True, True, False]
    omitted = "2 items name fewer than two different candidates and are omitted."
    assert left_out_in_words(found.left_out) == omitted
    assert found.scores[:2].tolist() == [1.0, 0.5]


def test_a_dataset_without_candidates_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SetupError) as raised:
        opened(tmp_path, FILE.replace("candidate_a", "who"))
    assert "does not name the models that wrote its responses" in raised.value.problem
    with pytest.raises(SetupError, match="no item with responses of two different candidates"):
        opened(tmp_path, "\n".join(FILE.splitlines()[:1] + FILE.splitlines()[4:]) + "\n")


def test_shares_of_annotators_are_what_was_said(tmp_path: Path) -> None:
    header, first, *_ = FILE.splitlines()
    annotators = "".join(f"\toverall_quality_preference|{name}" for name in ("x", "y", "z", "w"))
    found = opened(tmp_path, f"{header}{annotators}\n{first}\tA\tA\tB\ttie\n")
    assert found.said[0].tolist() == [0.5, 0.25, 0, 0, 0.25]
    assert found.scores[0] == 0.625


def test_candidates_are_mapped_and_follow_the_chosen_response(tmp_path: Path) -> None:
    rows = [f"{number}\tq{number}\tgood {number}\tbad {number}\twinner\tloser\n" for number in range(20)]
    text = "".join(["id\tinstruction\tchosen\trejected\tbest\tworst\n", *rows])
    same = {name: name for name in ("instruction", "chosen", "rejected")}
    columns = ColumnMap.of({**same, "candidate_a": "best", "candidate_b": "worst"})
    rates = followed(win_rates(found := opened(tmp_path, text, columns)), id).candidates
    assert len(set(found.first.tolist())) == 2
    assert rates["winner"].rate.value == 1.0
    alone = ColumnMap.of({**columns.source_of, "candidate_b": ""})
    with pytest.raises(ColumnsError, match="only candidate_a is named"):
        opened(tmp_path, text, alone)


def test_win_rates_count_a_tie_half_and_name_its_kinds() -> None:
    of = comparisons(
        [("x", "y", A), ("y", "x", A), ("x", "y", GOOD), ("y", "x", BAD), ("x", "y", Tie.TIE), ("x", "z", B)]
    )
    rates = followed(win_rates(of), id)
    x = rates.candidates["x"]
    assert x.rate.value == pytest.approx((1 + 0 + 0.5 + 0.5 + 0.5 + 0) / 6)
    assert (x.good_ties, x.bad_ties, x.other_ties) == pytest.approx((1 / 6, 1 / 6, 1 / 6))
    assert x.standard_error == pytest.approx(np.std([1, 0, 0.5, 0.5, 0.5, 0], ddof=1) / np.sqrt(6))
    assert rates.pairs["x", "y"].rate.value == 0.5
    assert rates.pairs["y", "x"].comparisons == 5
    assert ("y", "z") not in rates.pairs
    assert of.components == [["x", "y", "z"]]
    assert HUMAN_LABELS[-1] is Tie.TIE


def test_candidates_without_a_common_opponent_are_not_compared() -> None:
    found = ranked(comparisons([("x", "y", A), ("v", "w", B)] * 12))
    assert found.bradley_terry is None
    assert any("2 groups without a common opponent: x, y; v, w" in said for said in found.caveats)
    assert "rank" not in {column.key for column in candidate_table(found).columns}


def test_a_candidate_of_which_nothing_was_said_is_left_out_and_parts_nobody() -> None:
    of = comparisons([*[("x", "y", A), ("y", "x", B)] * 6, ("x", "unsaid", None)])
    assert of.components == [["x", "y"], ["unsaid"]]
    found = ranked(of)
    assert found.order == ["x", "y"]
    assert not any("groups without a common opponent" in said for said in found.caveats)


def test_what_one_wins_of_another_is_what_the_other_loses() -> None:
    pairs = followed(win_rates(davidson_comparisons([0.8, 0.0, -0.8], 90, seed=3)), id).pairs
    assert list(pairs) == sorted(pairs)
    for (one, other), met in pairs.items():
        turned = pairs[other, one]
        assert met.rate.value + turned.rate.value == pytest.approx(1)
        assert met.rate.ends is not None
        assert turned.rate.ends == pytest.approx((1 - met.rate.ends[1], 1 - met.rate.ends[0]))
        assert met.standard_error == turned.standard_error


def test_fewer_than_ten_instructions_call_nobody_better() -> None:
    found = ranked(comparisons([("x", "y", A)] * 9))
    assert found.bradley_terry is None
    assert found.rates.pairs["x", "y"].is_significantly == 0
    few = "9 instructions are labelled; with fewer than 10 no candidate is called better"
    assert any(few in said for said in found.caveats)


@pytest.mark.parametrize(("times", "sure"), [(4, False), (40, True)])
def test_a_circle_of_wins_is_named(times: int, sure: bool) -> None:
    found = ranked(comparisons([("x", "y", A), ("y", "z", A), ("z", "x", A)] * times))
    (said,) = [said for said in found.caveats if "cycle" in said]
    assert "x over y over z over x" in said
    assert ("no single order of the candidates is true" in said) is sure


def test_cycles_are_those_of_all_triples_the_significant_ones_first() -> None:
    rates = followed(win_rates(davidson_comparisons([0.0] * 9, 400, seed=2)), id)
    beats = {pair for pair, met in rates.pairs.items() if met.rate.value > 0.5}
    rings = {
        (one, two, three)
        for one, two, three in permutations(rates.candidates, 3)
        if one == min((one, two, three), key=[*rates.candidates].index)
        and {(one, two), (two, three), (three, one)} <= beats
    }
    assert set(rates.cycles) == rings
    assert len(rates.cycles) == len(rings) > 3
    assert set(rates.sure_cycles) <= rings


def test_candidates_that_look_like_ids_are_asked_about_and_too_many_refused() -> None:
    pairs = [(f"c{number}", f"c{(number + 1) % 30}", (A, B, GOOD)[number % 3]) for number in range(30)]
    with pytest.raises(DoubtfulCandidates, match="30 different candidates are named in 30 items"):
        ranked(comparisons(pairs))
    assert len(followed(rank(comparisons(pairs), many_candidates=True), id).order) == 30
    assert len(ranked(comparisons(pairs * 2)).order) == 30  # each in four
    everybody = comparisons([(f"a{number}", f"b{number}", A) for number in range(1001)])
    with pytest.raises(SetupError, match="at most 2,000 can be ranked"):
        followed(rank(everybody, many_candidates=True), id)


@pytest.mark.parametrize(
    ("wins", "ties", "losses", "warned"),
    [
        *((20, 20, 0, True), (1, 39, 0, True), (0, 40, 0, True)),
        *((20, 19, 1, False), (12, 80, 8, False), (20, 0, 0, False)),
    ],
)
def test_where_ties_lead_strengths_astray_the_win_rates_are_to_be_read(
    wins: int, ties: int, losses: int, warned: bool
) -> None:
    labels = [A] * wins + [GOOD] * ties + [B] * losses
    found = ranked(comparisons([("x", "y", label) for label in labels]))
    assert any("Use the win rates" in said for said in found.caveats) is warned


def test_longer_responses_that_win_by_length_alone_are_equal_at_equal_length() -> None:
    random = np.random.default_rng(4)
    lengths = random.integers(50, 300, (600, 2)).astype(np.float64)
    lengths[:, 0] += 150  # of x, who is liked for it
    chance = 1 / (1 + np.exp(-2 * np.tanh((lengths[:, 0] - lengths[:, 1]) / 180)))
    labels = [A if drawn < each else B for drawn, each in zip(random.random(600), chance, strict=True)]
    of = comparisons([("x", "y", label) for label in labels], lengths=lengths)
    found = there(length_control(of))
    assert followed(win_rates(of), id).candidates["x"].rate.value > 0.7
    ends = there(found.rates["x"].ends)
    assert ends[0] < 0.5 < ends[1]
    assert found.effect_ends[0] < 2 < found.effect_ends[1]


def test_a_candidate_that_is_liked_for_its_lists_is_equal_at_equal_style() -> None:
    random = np.random.default_rng(4)
    lists = random.integers(0, 5, (600, 2)) + np.array([2, 0])  # of x, who writes more of them
    texts = [[" .\n- point" * one + "." * 99 for one in pair] for pair in lists.tolist()]
    difference = lists[:, 0] - lists[:, 1]
    chance = 1 / (1 + np.exp(-2 * np.tanh(difference / np.sqrt(np.mean(difference**2)))))
    labels = [A if drawn < each else B for drawn, each in zip(random.random(600), chance, strict=True)]
    written = dataset({"safety": labels}, outputs=[(one, other) for one, other in texts])
    of = comparisons([("x", "y", label) for label in labels], lengths=random.normal(300, 50, (600, 2)))
    of = replace(of, ids=tuple(written.ids))
    found = followed(rank(of, dataset=written), id)
    assert found.style is not None
    assert [*found.style.effects] == ["length", "lists"]
    assert holds(found.style.effects["lists"].ends, 2)
    assert holds(found.style.rates["x"].ends, 0.5)
    assert found.rates.candidates["x"].rate.value > 0.7
    assert "style-controlled (%)" in [column.title for column in candidate_table(found).columns]
    made = ranking_json(found)
    assert made["style"]["lists"]["effect"] == found.style.effects["lists"].value
    assert made["candidates"][0]["win_rate_at_equal_style"] < 60
    assert ranked(of).style is None


def test_one_that_won_all_is_not_surely_unbeatable_at_equal_length() -> None:
    pairs = [("a", "b", A), ("b", "c", A), ("c", "b", A), ("c", "a", B)] * 6
    lengths = np.random.default_rng(0).integers(50, 500, (len(pairs), 2)).astype(np.float64)
    found = length_control(comparisons(pairs, lengths=lengths))
    assert found is not None
    ends = found.rates["a"].ends
    assert ends is not None
    assert 0.6 < ends[0] < 0.8
    assert ends[1] == pytest.approx(1.0)
    # Lengths that are all one say nothing.
    assert length_control(davidson_comparisons([0.5, -0.5], 60, seed=1)) is None


def test_a_place_that_wins_is_named_and_nothing_said_refused() -> None:
    found = ranked(comparisons([("x", "y", A), ("y", "x", A)] * 20))
    assert any("The response in position A won 100.0 %" in said for said in found.caveats)
    with pytest.raises(SetupError, match="No item with two candidates has a label"):
        ranked(comparisons([("x", "y", None)] * 20))


def test_the_sheet_and_the_json_say_the_same() -> None:
    found = ranked(davidson_comparisons([1.5, 0.0, -1.5], 300, seed=8))
    made = ranking_json(found)
    table = candidate_table(found)
    assert [row[0] for row in table.rows] == [one["name"] for one in made["candidates"]] == ["c0", "c1", "c2"]
    assert made["candidates"][0]["win_rate"] == pytest.approx(100 * found.rates.candidates["c0"].rate.value)
    assert made["candidates"][0]["ranks"] == [1, 1]
    matrix = pair_table(found)
    assert matrix.texts()[0][1] == ""
    assert (0, 3) in matrix.best
    assert (2, 1) not in matrix.best
    titles = [section.title for section in ranking_sheet(found, "run 1").sections]
    assert titles == ["In short", "Candidates", "Pairwise win rates"]
    apart = ranked(davidson_comparisons(list(np.linspace(9, -9, 4)), 300, seed=1))
    assert [row[2] for row in candidate_table(apart).rows] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("other", "shrunk"), [("z", True), ("a", False)], ids=["baseline", "each other"])
def test_effects_that_a_baseline_shrinks_have_no_interval(other: str, shrunk: bool) -> None:
    pairs = [("a", "z", A), ("b", "z", B), ("b", other, A), ("z", "a", A)] * 30
    lengths = np.random.default_rng(0).integers(50, 500, (len(pairs), 2)).astype(np.float64)
    made = ranking_json(ranked(comparisons(pairs, lengths=lengths)))
    assert (made["length"]["interval"] is None) is shrunk
