"""The audit of a judge: planted faults are found, sound judges are left alone, each line by its numbers."""

import math
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np
import pytest

from bench.coverage.audits import FAIR, FAULTY, Planted, World, audited
from engine.analysis.audit import (
    LEAST_MASS,
    MOST_WON,
    SCORE,
    WON,
    AuditLine,
    AuditVerdict,
    JudgePredictions,
    again_line,
    change_lines,
    held,
    judged_together,
    label_token_line,
    mass_line,
    order_lines,
    over_criteria,
    wording_line,
)
from engine.analysis.audit_run import LEAST_KNOWN, Audit, audit_of, length_line, tie_line
from engine.core.column_map import CANDIDATES
from engine.core.items import PREFERENCES, HumanLabel, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, JudgedItem, Judgment, JudgmentKey, RawPrediction
from engine.core.methods import METHODS, raw_prediction_of
from engine.core.numeric import FloatArray, log_softmax
from engine.core.rubric import DEFAULT_WORDING
from engine.core.tables import Estimate, Sentences, Table
from engine.data.dataset import Dataset
from engine.report.audit import audit_section
from engine.results.run_results import RunResults
from engine.settings.identity import StoredRun
from tests.judged import GOOD, IDENTITY, A, B, Probabilities, dataset, text_table, with_texts
from tests.steps import there

# Audits of judges with known faults: each is found in its line, and a fair judge passes. Few draws of
# each; how often it is so in many is counted by `python -m bench.coverage`.


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


def value_of(line: AuditLine) -> float:
    return there(line.value).value


def test_a_lean_to_the_second_place_and_lost_mass_are_seen() -> None:
    received = received_of(Planted(first=-6.0))
    lean = order_lines(received)[1]
    assert value_of(lean) < -0.2
    assert "second position" in lean.sentence
    lost = mass_line(replace(received, mass=np.full(received.mass.shape, 0.5)))
    assert value_of(lost) == 0.5
    assert all(line.p is not None and line.p < 0.001 for line in (lean, lost))


def test_without_both_orders_nothing_is_said_of_order() -> None:
    received = received_of(Planted())
    one = received.by_order.copy()
    one[0, 3, 1] = np.nan
    found = order_lines(replace(received, by_order=one))
    assert [line.verdict for line in found] == [AuditVerdict.UNKNOWN] * 2


def test_labels_that_other_words_change_are_counted_by_item_whatever_its_place() -> None:
    received = received_of(Planted())
    own = received.own[::-1]
    mean = received.mean[:, own].copy()
    mean[:, ::4] = np.roll(mean[:, ::4], 1, axis=2)  # of one item in four each label is another
    items = tuple(received.items[place] for place in own)
    moved = replace(received, items=items, mean=mean, by_order=received.by_order[:, own])
    unread = replace(moved, mean=np.full(mean.shape, np.nan))
    alike = replace(moved, mean=received.mean[:, own])
    for others, share in (([moved], 0.25), ([moved, alike], 0.125), ([moved, unread], 0.25)):
        assert value_of(wording_line(received, others)) == pytest.approx(share)
    assert wording_line(received, [unread]).verdict is AuditVerdict.UNKNOWN


def test_the_letter_that_is_leaned_to_is_named() -> None:
    received = received_of(Planted(letter=2.0))
    line = label_token_line(replace(received, letters=np.roll(there(received.letters), 2, axis=-1)))
    assert "The label token C gets" in line.sentence
    assert label_token_line(replace(received, letters=None)).verdict is AuditVerdict.UNKNOWN


def test_the_letter_that_is_shown_is_the_one_whose_chance_is_told() -> None:
    received = received_of(Planted())
    # A gets more than B in the mean, but now more and now less; B gets as much of every item.
    letters = np.broadcast_to(np.log([0.2, 0.38, 0.21, 0.21]), there(received.letters).shape).copy()
    letters[:, received.own[::2]] = np.log([0.61, 0.38, 0.005, 0.005])
    line = label_token_line(replace(received, letters=letters))
    assert "The label token B gets" in line.sentence
    assert value_of(line) == pytest.approx(0.38 - 0.25)


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
    assert there(format_lost.value).ends == pytest.approx((0.926, 1.0), abs=1e-3)


def test_the_interval_of_what_is_lost_reaches_below_it() -> None:
    random = np.random.default_rng(0)
    held_in = 0
    for _ in range(200):  # worlds in which a copy loses 90 points in four of ten items, 4 in the others
        lost = there(over_criteria(np.where(random.random((1, 40)) < 0.4, -0.9, -0.04), range(40)))
        line = held(("x", "an x"), lost, WON, MOST_WON, "")
        assert line.value is not None
        assert line.value.ends is not None
        held_in += line.value.ends[0] <= -0.384 <= line.value.ends[1]
    assert held_in >= 180


def test_a_judge_that_repeats_itself_differs_nowhere_and_one_that_thinks_by_its_seeds_alone() -> None:
    received = received_of(Planted())
    line = again_line(received)
    assert value_of(line) == 0.0
    assert line.value is not None
    assert there(line.value.ends)[1] > 0.01  # of forty items that is not sure
    thinking = again_line(replace(received, reasons=True))
    assert thinking.verdict is AuditVerdict.UNKNOWN
    assert "the same texts get the same reasoning" in thinking.sentence


def untold_of(found: dict[str, AuditLine]) -> set[str]:
    return {name for name, line in found.items() if line.verdict is AuditVerdict.UNKNOWN}


def test_without_copies_or_labels_only_they_cannot_be_told() -> None:
    random = np.random.default_rng(0)
    drawn = World().drawn(random)
    received = drawn.received(Planted(), random)
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
    found, whole, unlabelled = (
        by_name(audit_of(each, drawn.dataset, "x")) for each in (alone, received, replace(received, human={}))
    )
    assert untold_of(found) == {"padded", "formatted", "injected", "again", "letters"}
    for name in set(LINES) - untold_of(found) - {"speed"}:
        assert found[name].value == whole[name].value
    assert untold_of(unlabelled) == {"length", "ties", "slices"}


def test_ties_are_known_as_often_as_the_odds_stand_the_right_way_round() -> None:
    received = received_of(Planted())
    sure = received.mean.copy()
    for row, name in enumerate(received.criteria):
        for place, item in enumerate(received.items):
            sure[row, place, 2:] = (-1.0, -2.0) if item.gold[name].label == "both_good" else (-2.0, -1.0)
    assert value_of(tie_line(replace(received, mean=sure))) == 1.0
    wrong = tie_line(replace(received, mean=sure[..., [0, 1, 3, 2]]))
    assert value_of(wrong) == 0.0
    assert there(wrong.p) < 0.001 < LEAST_KNOWN


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
    assert value_of(line) == pytest.approx(0.1)
    assert "At the same human label, a response twice as long is preferred by 10.0 points" in line.sentence


def test_the_candidate_that_is_favoured_most_is_named_where_candidates_are() -> None:
    random = np.random.default_rng(0)
    drawn = World().drawn(random)
    received = drawn.received(Planted(), random)
    assert "favour" not in by_name(audit_of(received, drawn.dataset, "x"))
    writers = [("xy", "yz", "zx")[place % 3] for place in range(len(drawn.dataset))]
    sides = {name: [both[side] for both in writers] for side, name in enumerate(CANDIDATES)}
    named = replace(drawn.dataset, others=text_table(sides))
    of_item = dict(zip(drawn.dataset.ids, writers, strict=True))
    alike, harder = dict[JudgmentKey, HumanLabel](), dict[JudgmentKey, HumanLabel]()
    for key in received.human:
        row, place = received.criteria.index(key.criterion), received.place_of[key.item_id]
        alike[key] = harder[key] = PREFERENCES[received.labels[row, place]]
        if "z" in of_item[key.item_id]:  # annotators always prefer z
            harder[key] = (A, B)[of_item[key.item_id].index("z")]
    fair, unfair = (
        by_name(audit_of(replace(received, human=human), named, "x"))["favour"] for human in (alike, harder)
    )
    assert value_of(fair) == 0
    assert value_of(unfair) < -0.2
    assert unfair.sentence.startswith("z wins ")
    assert unfair.verdict is AuditVerdict.FAULT


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


# What is read of a run for its audit: the same numbers as in its readings, one by one.


GOLD = dataset({"safety": [A, B, GOOD]})
QUESTIONS = [question.name for question in METHODS[Method.PERMUTED_LABELS].questions(DEFAULT_WORDING)]


def drawn(random: np.random.Generator) -> Probabilities:
    values = log_softmax(random.normal(size=4) * 2) - 0.1
    return cast(Probabilities, tuple(values.tolist()))


def run_of(gold: Dataset, judged: tuple[JudgedItem, ...], methods: tuple[Method, ...]) -> RunResults:
    settings = {"mode": "labels", "orders": ["AB", "BA"], "ways": list(methods), "examples": ""}
    identity = replace(IDENTITY, items=len(gold), dataset_hash=gold.hash, settings=settings)
    run = StoredRun(1, datetime(2026, 1, 1, tzinfo=UTC), identity, len(judged))
    return RunResults(run, judged, {}).calibrated(None)


def judged_by(
    gold: Dataset, methods: tuple[Method, ...], random: np.random.Generator
) -> tuple[JudgedItem, ...]:
    items = []
    for place, item in enumerate(gold):
        raw_predictions: list[RawPrediction] = []
        for order in Order:
            if Method.LABEL_TOKENS in methods:
                raw_predictions.append(RawPrediction(order, drawn(random)))
            if Method.PERMUTED_LABELS in methods:
                answers = [AnswerLogProbs(name, drawn(random)) for name in QUESTIONS]
                raw_predictions.append(raw_prediction_of(Method.PERMUTED_LABELS, order, answers))
        readings = {"safety": tuple(raw_predictions)}
        items.append(JudgedItem(place, item.id, item.content_hash, readings, seconds=1.5, tokens_read=9))
    return tuple(items)


@pytest.mark.parametrize("methods", [(Method.LABEL_TOKENS,), (Method.LABEL_TOKENS, Method.PERMUTED_LABELS)])
def test_probabilities_and_labels_are_those_of_the_judgments(methods: tuple[Method, ...]) -> None:
    results = run_of(GOLD, judged_by(GOLD, methods, np.random.default_rng(0)), methods)
    received = JudgePredictions.of_run(results, GOLD)
    judgments = [each for each in results.judgments["safety"] if isinstance(each, Judgment)]
    assert np.allclose(received.probabilities[0], [each.probabilities for each in judgments])
    assert [PREFERENCES[label] for label in received.labels[0]] == [each.preference for each in judgments]
    alone = received.by_order[0].argmax(axis=2)
    assert [one != other for one, other in alone.tolist()] == [each.flipped for each in judgments]
    assert received.mass[0].tolist() == pytest.approx([each.answer_mass for each in judgments])
    assert {key.item_id: label for key, label in received.human.items()} == {"1": A, "2": B, "3": GOOD}
    assert received.seconds.tolist() == [1.5] * 3
    assert (received.letters is None) is (Method.PERMUTED_LABELS not in methods)
    others = JudgePredictions.of_run(results, GOLD, dataset({"safety": [B, B, None]}))
    assert list(others.human.values()) == [B, B]


def test_letters_are_those_of_the_questions_as_they_were_shown() -> None:
    methods = (Method.PERMUTED_LABELS,)
    judged = judged_by(GOLD, methods, np.random.default_rng(1))
    letters = cast(FloatArray, JudgePredictions.of_run(run_of(GOLD, judged, methods), GOLD).letters)
    for place, item in enumerate(judged):
        for order, reading in enumerate(item.raw_predictions["safety"]):
            for question, answer in enumerate(reading.answers):
                shares = np.exp(answer.log_probs) / sum(map(math.exp, answer.log_probs))
                assert np.allclose(np.exp(letters[0, place, order, question]), shares)


def test_what_could_not_be_judged_is_unknown_and_items_that_changed_are_left_out() -> None:
    methods = (Method.LABEL_TOKENS, Method.PERMUTED_LABELS)
    first, second, third = judged_by(GOLD, methods, np.random.default_rng(2))
    nothing = replace(second, raw_predictions={}, unscored={"safety": "too long"})
    changed = with_texts(GOLD, instruction=["question 1", "question 2", "another"])
    received = JudgePredictions.of_run(run_of(GOLD, (first, nothing, third), methods), changed)
    assert [item.id for item in received.items] == ["1", "2"]
    assert received.scored.tolist() == [[True, False]]
    assert received.labels.tolist()[0][1] == -1
    assert math.isnan(received.mass[0, 1])
    assert received.human[JudgmentKey("1", "safety")] is A


# The lines of an audit: Holm's procedure, and what is said of a value beside its bound.


def line(value: float, low: float, high: float, **more: Any) -> AuditLine:
    return AuditLine("x", "an x", Estimate(value, (low, high)), "It is so.", 0.02, p=0.5, **more)


@pytest.mark.parametrize(
    ("chances", "rejected"),
    [
        ([0.04], {0}),
        ([0.04, 0.04], set()),
        ([0.04, 0.02], {0, 1}),
        ([0.9, 0.012, None, 0.03, 0.02], {1}),
        ([0.9, 0.012, None, 0.02, 0.016], {1, 3, 4}),
        ([None], set()),
    ],
)
def test_the_more_lines_the_surer_one_must_be(chances: list[float | None], rejected: set[int]) -> None:
    found = judged_together([replace(line(0.06, 0.03, 0.09), p=p) for p in chances])
    assert {place for place, each in enumerate(found) if each.found} == rejected


@pytest.mark.parametrize(
    ("known", "is_fault", "verdict"),
    [
        (line(0.06, 0.03, 0.09), True, AuditVerdict.FAULT),
        (line(0.06, 0.03, 0.09), False, AuditVerdict.PERHAPS),
        (line(0.01, -0.03, 0.04), False, AuditVerdict.NONE_FOUND),
        (line(0.01, 0.005, 0.015), False, AuditVerdict.SOUND),
        (line(-0.06, -0.09, -0.03), False, AuditVerdict.SOUND),
        (line(-0.06, -0.09, -0.03, two_sided=True), False, AuditVerdict.PERHAPS),
        (line(-0.01, -0.09, 0.01, two_sided=True), False, AuditVerdict.NONE_FOUND),
        (line(0.01, 0.0, 0.03, below=True), False, AuditVerdict.PERHAPS),
        (line(0.9, 0.8, 0.95, below=True), False, AuditVerdict.SOUND),
    ],
)
def test_what_is_said_of_a_value(known: AuditLine, is_fault: bool, verdict: AuditVerdict) -> None:
    assert known.judged(is_fault).verdict is verdict
    assert known.judged(is_fault).found is is_fault


@pytest.mark.parametrize(
    ("ends", "more", "is_told"),
    [
        ((0.03, 0.09), {}, True),
        ((0.01, 0.09), {}, False),
        ((-0.5, 0.02), {}, True),
        ((0.03, 0.09), {"two_sided": True}, True),
        ((-0.09, -0.03), {"two_sided": True}, True),
        ((-0.09, 0.01), {"two_sided": True}, False),
        ((-0.02, 0.02), {"two_sided": True}, True),
        ((-0.09, 0.09), {"two_sided": True}, False),
        ((0.0, 0.01), {"below": True}, True),
        ((0.0, 0.03), {"below": True}, False),
        ((0.02, 0.03), {"below": True}, True),
    ],
)
def test_a_line_is_told_where_its_interval_lies_on_one_side_of_the_bound(
    ends: tuple[float, float], more: dict[str, bool], is_told: bool
) -> None:
    assert line(0.0, 0.0, 0.0, **more).is_told_by(Estimate(0.0, ends)) is is_told


def test_what_is_not_known_says_how_many_items_more_would_tell() -> None:
    open_line = line(0.01, -0.03, 0.04, times=4).judged(is_fault=False)
    assert open_line.with_more(40).sentence == (
        "It is so. Not significant whether it is within its bound: about 120 more items would be enough,"
        " if they are like these."
    )
    never = line(0.03, -0.03, 0.04).judged(is_fault=False)
    assert never.with_more(40).sentence == (
        "It is so. Not significant whether it is beyond its bound: 960 more items would not be enough,"
        " if they are like these."
    )


def test_only_what_can_be_told_is_a_fault_or_none() -> None:
    untold = AuditLine.untold("y", "a y", "Too few.")
    fact = AuditLine("z", "a z", None, "So fast.", shown="3.0")
    found = judged_together([untold, line(0.06, 0.03, 0.09), fact])
    assert [each.found for each in found] == [None, False, None]
    assert [each.value_text for each in found] == ["-", "6.0 (3.0 to 9.0)", "3.0"]
    assert found[1].bound_text == "over 2.0"
    assert found[0].as_json()["verdict"] == "cannot be told"
    assert found[1].as_json()["interval"] == [0.03, 0.09]
