"""Audits of judges with known faults: each is found in its line, and a fair judge passes.

Few draws of each; how often it is so in many is counted by `python -m bench.coverage`.
"""

from dataclasses import replace

import numpy as np
import pytest

from bench.coverage.audits import FAIR, FAULTY, Planted, World, audited
from engine.analysis.audit import SCORE, WON, AuditLine, AuditVerdict, held, judged_together, over_criteria
from engine.analysis.audit_lines import (
    LEAST_MASS,
    MOST_WON,
    JudgePredictions,
    again_line,
    change_lines,
    label_token_line,
    mass_line,
    order_lines,
)
from engine.analysis.audit_run import LEAST_KNOWN, Audit, audit_of, length_line, tie_line
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.core.tables import Sentences, Table
from engine.report.audit import audit_section

DRAWS = 3
LINES = (
    *("flips", "place", "letters", "length", "padded", "formatted", "injected", "again", "ties", "slices"),
    *("format_mass", "speed"),
)


def received_of(judge: Planted, world: World | None = None, seed: int = 0) -> JudgePredictions:
    random = np.random.default_rng(seed)
    return (world or World()).drawn(random).received(judge, random)


def by_name(found: Audit) -> dict[str, AuditLine]:
    return {line.name: line for line in found.lines}


@pytest.mark.parametrize("name", FAULTY)
def test_a_planted_fault_is_found_in_its_line(name: str) -> None:
    line, judge = FAULTY[name]
    random = np.random.default_rng(5)
    found = [by_name(audited(judge, World(), random))[line].found for _ in range(DRAWS)]
    assert sum(map(bool, found)) >= DRAWS - 1  # of all draws nineteen of twenty and more


@pytest.mark.parametrize("name", FAIR)
def test_a_fair_judge_passes_every_line(name: str) -> None:
    random = np.random.default_rng(5)
    faulty = [bool(audited(FAIR[name], World(), random).faults) for _ in range(DRAWS)]
    assert sum(faulty) <= 1


def test_every_line_is_there_whatever_can_be_told() -> None:
    assert tuple(by_name(audited(Planted(), World(), np.random.default_rng(0)))) == LINES
    few = audited(Planted(), World(5), np.random.default_rng(0))
    assert tuple(by_name(few)) == LINES
    assert few.looked_at == 0
    assert few.untold == len(LINES) - 1


def test_a_lean_to_the_second_place_is_one_too() -> None:
    line = order_lines(received_of(Planted(first=-6.0)))[1]
    assert line.value is not None
    assert line.value.value < -0.2
    assert "second position" in line.sentence
    assert line.p is not None
    assert line.p < 0.001


def test_without_both_orders_nothing_is_said_of_order() -> None:
    received = received_of(Planted())
    one = received.by_order.copy()
    one[0, 3, 1] = np.nan
    found = order_lines(replace(received, by_order=one))
    assert [line.verdict for line in found] == [AuditVerdict.UNKNOWN] * 2


def test_the_letter_that_is_leaned_to_is_named() -> None:
    received = received_of(Planted(letter=2.0))
    assert received.letters is not None
    line = label_token_line(replace(received, letters=np.roll(received.letters, 2, axis=-1)))
    assert "The label token C gets" in line.sentence
    assert label_token_line(replace(received, letters=None)).verdict is AuditVerdict.UNKNOWN


def test_the_letter_that_is_shown_is_the_one_whose_chance_is_told() -> None:
    received = received_of(Planted())
    assert received.letters is not None
    # A gets more than B in the mean, but now more and now less; B gets as much of every item.
    letters = np.broadcast_to(np.log([0.2, 0.38, 0.21, 0.21]), received.letters.shape).copy()
    letters[:, received.own[::2]] = np.log([0.61, 0.38, 0.005, 0.005])
    line = label_token_line(replace(received, letters=letters))
    assert "The label token B gets" in line.sentence
    assert line.value is not None
    assert line.value.value == pytest.approx(0.38 - 0.25)


def test_what_a_change_costs_is_no_fault() -> None:
    lines = {line.name: line for line in change_lines(received_of(Planted(with_injection=-3.0)))}
    assert lines["injected"].p == pytest.approx(1.0)
    assert "costs a response" in lines["injected"].sentence


def test_what_none_of_the_items_shows_may_still_be_rare_and_large() -> None:
    """An injection that wins 60 points in 5 % of the items is in none of 40 in one audit of eight."""
    nothing, all_of_it = (over_criteria(np.full((5, 40), won), range(40)) for won in (0.0, 0.04))
    assert nothing is not None
    assert all_of_it is not None
    few, more = (
        judged_together([held(("x", "an x"), found, WON, MOST_WON, "")])[0]
        for found in (nothing, nothing.repeated(4))
    )
    assert (few.verdict, few.times) == (AuditVerdict.NONE_FOUND, 4)
    assert "about 120 more items" in few.with_more(40).sentence
    assert more.verdict is AuditVerdict.SOUND
    assert more.with_more(160).sentence == more.sentence
    # One that wins 4 points everywhere may lose 46 in 4 % of the items, and is within the bound then.
    fair = [line for line in audited(Planted(), World(), np.random.default_rng(0)).lines if line.name != "x"]
    wins = held(("x", "an x"), all_of_it, WON, MOST_WON, "")
    assert judged_together([wins, *fair])[0].verdict is AuditVerdict.PERHAPS
    format_lost = held(("x", "an x"), nothing, SCORE, LEAST_MASS, "", below=True)
    assert format_lost.value is not None
    assert format_lost.value.ends == pytest.approx((0.926, 1.0), abs=1e-3)


def test_the_interval_of_what_is_lost_reaches_below_it() -> None:
    random = np.random.default_rng(0)
    held_in = 0
    for _ in range(200):  # worlds in which a copy loses 90 points in four of ten items, 4 in the others
        lost = over_criteria(np.where(random.random((1, 40)) < 0.4, -0.9, -0.04), range(40))
        assert lost is not None
        line = held(("x", "an x"), lost, WON, MOST_WON, "")
        assert line.value is not None
        assert line.value.ends is not None
        held_in += line.value.ends[0] <= -0.384 <= line.value.ends[1]
    assert held_in >= 180


def test_a_judge_that_repeats_itself_differs_nowhere() -> None:
    line = again_line(received_of(Planted()))
    assert line.value is not None
    assert line.value.value == 0.0
    assert line.value.ends is not None
    assert line.value.ends[1] > 0.01  # of forty items that is not sure


def test_a_judge_that_thinks_repeats_itself_by_its_seeds_alone() -> None:
    line = again_line(replace(received_of(Planted()), reasons=True))
    assert line.verdict is AuditVerdict.UNKNOWN
    assert "the same texts get the same reasoning" in line.sentence


def test_without_copies_only_they_cannot_be_told() -> None:
    received = received_of(Planted())
    own = received.own
    alone = replace(
        received,
        items=tuple(received.items[place] for place in own),
        by_order=received.by_order[:, own],
        mean=received.mean[:, own],
        mass=received.mass[:, own],
        letters=None,
        seconds=received.seconds[own],
        tokens=received.tokens[own],
    )
    drawn = World().drawn(np.random.default_rng(0))
    found, whole = (by_name(audit_of(each, drawn.dataset, "x")) for each in (alone, received))
    copies = {"padded", "formatted", "injected", "again"}
    untold = {name for name, line in found.items() if line.verdict is AuditVerdict.UNKNOWN}
    assert untold == {*copies, "letters"}
    for name in set(LINES) - untold - {"speed"}:
        assert found[name].value == whole[name].value


def test_without_labels_only_they_cannot_be_told() -> None:
    random = np.random.default_rng(0)
    drawn = World().drawn(random)
    found = by_name(audit_of(replace(drawn.received(Planted(), random), human={}), drawn.dataset, "x"))
    untold = {name for name, line in found.items() if line.verdict is AuditVerdict.UNKNOWN}
    assert untold == {"length", "ties", "slices"}


def test_ties_are_known_as_often_as_the_odds_stand_the_right_way_round() -> None:
    received = received_of(Planted())
    sure = received.mean.copy()
    for row, name in enumerate(received.criteria):
        for place, item in enumerate(received.items):
            sure[row, place, 2:] = (-1.0, -2.0) if item.gold[name].label == "both_good" else (-2.0, -1.0)
    known = tie_line(replace(received, mean=sure))
    assert known.value is not None
    assert known.value.value == 1.0
    wrong = tie_line(replace(received, mean=sure[..., [0, 1, 3, 2]]))
    assert wrong.value is not None
    assert wrong.value.value == 0.0
    assert wrong.p is not None
    assert wrong.p < 0.001 < LEAST_KNOWN


def test_length_is_what_doubling_adds_beside_the_label() -> None:
    received = received_of(Planted())
    lead = {"A": 0.3, "B": -0.3}
    mean = np.full(received.mean.shape, -2.0)
    for row, name in enumerate(received.criteria):
        for place, item in enumerate(received.items):
            a, b = (length + 1 for length in item.lengths)
            wished = lead.get(str(item.gold[name].label), 0.0) + 0.1 * np.log2(a / b)
            mean[row, place, :2] = np.log([0.5 + wished / 2, 0.5 - wished / 2])
    line = length_line(replace(received, mean=mean))
    assert line.value is not None
    assert line.value.value == pytest.approx(0.1)
    assert (
        "At the same human label, a response twice as long is preferred by 10.0 points more" in line.sentence
    )


def test_where_the_label_follows_the_length_exactly_neither_is_told_from_the_other() -> None:
    drawn = received_of(Planted())
    own, name = drawn.own.tolist(), drawn.criteria[0]
    # Twelve words beside four, or the other way round, as the label says: not all floats of these cancel.
    longer = {place: (Preference.A, Preference.B)[number % 2] for number, place in enumerate(own)}
    texts = {Preference.A: ("word " * 12, "word " * 4), Preference.B: ("word " * 4, "word " * 12)}
    items = list(drawn.items)
    for place, label in longer.items():
        a, b = texts[label]
        items[place] = replace(items[place], output_a=a, output_b=b)
    human = {JudgmentKey(items[place].id, name): label for place, label in longer.items()}
    line = length_line(replace(drawn, items=tuple(items[place] for place in own), human=human))
    assert line.verdict is AuditVerdict.UNKNOWN
    assert line.p is None
    assert "determine the length ratio exactly" in line.sentence


def test_half_of_the_mass_lost_is_seen() -> None:
    received = received_of(Planted())
    line = mass_line(replace(received, mass=np.full(received.mass.shape, 0.5)))
    assert line.value is not None
    assert line.value.value == 0.5
    assert line.p is not None
    assert line.p < 0.001


def test_the_section_has_a_row_and_a_sentence_for_each_line() -> None:
    found = audited(FAULTY["always the first"][1], World(), np.random.default_rng(0))
    said, table, sentences = audit_section(found).parts
    assert isinstance(said, Sentences)
    assert "order: flip rate" in said.texts[0]
    assert isinstance(table, Table)
    assert [row[3] for row in table.rows][:2] == ["fault", "fault"]
    assert isinstance(sentences, Sentences)
    assert len(sentences.texts) == len(table.rows) == len(LINES)
    assert found.as_json()["faults"][:2] == ["flips", "place"]
