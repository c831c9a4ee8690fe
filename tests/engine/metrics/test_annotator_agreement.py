"""How far people agree: among themselves, with the judge, each against the others, and in its place."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import krippendorff
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from bench.coverage.annotators import AnnotatorWorld, is_held
from engine.annotations.records import new_override, new_review
from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, Preference, Tie, agree
from engine.core.judgments import JudgmentKey
from engine.core.numeric import BoolArray, IntArray
from engine.core.tables import Sentences
from engine.data.arrow_arrays import text_array
from engine.data.dataset import Dataset
from engine.metrics.annotator_agreement import (
    HUMAN,
    JUDGE,
    AgainstOthers,
    AltTest,
    AnnotatorAgreement,
    Annotators,
    SharedLabels,
    against_others,
    agreement_of_annotators,
    alt_tests,
    annotator_agreement,
    rejected,
)
from engine.metrics.beyond_chance import ALIKE, MetLabels, alpha_of
from engine.metrics.intervals import OverInstructions
from engine.report.annotators import among_in_words, annotator_sections, stands_in_table
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import BAD, GOOD, SURE_A, SURE_GOOD, A, B, dataset, judged_run
from tests.steps import there

# How far people agree: among themselves, with the model alone, with the dataset's labels.


GOLD = dataset({"safety": [A, A, GOOD, GOOD], "relevance": [A, A, None, None]})
Given = Mapping[str, Mapping[str, Sequence[Preference | None]]]


def run_of(folder: Path, given: Given) -> RunResults:
    """A run that says A, A, both good, both good on safety; by person and criterion the confirmed labels."""
    safety = [SURE_A, SURE_A, SURE_GOOD, SURE_GOOD]
    results = judged_run(folder, GOLD, {"safety": safety, "relevance": [SURE_A] * 4})
    with RunStore(folder / "runs.sqlite") as store:
        for author, criteria in given.items():
            for criterion, labels in criteria.items():
                for number, label in enumerate(labels):
                    if label is not None:
                        confirmed = {criterion: label}
                        store.annotate(results.run.id, new_review(str(number + 1), author, None, confirmed))
        return load_results(store, results.run.id)


def among(results: RunResults, gold: Dataset | None = None) -> AnnotatorAgreement:
    return there(agreement_of_annotators(results, gold))


def pair(results: RunResults, *of: str | None) -> SharedLabels:
    found = among(results, GOLD).pairs
    return next(each for each in found if (each.one, each.other, each.criterion) == of)


def test_without_human_labels_the_runs_own_dataset_has_the_instructions_for_intervals(tmp_path: Path) -> None:
    labels = {"safety": [A, A, GOOD, B], "relevance": [A, A, B, B]}
    results = run_of(tmp_path, {"Ada": labels, "Ben": {"safety": [A, B, GOOD, A], "relevance": [A] * 4}})
    bare = among(results)
    assert {one.equal.ends for one in bare.among.values()} == {None}
    assert {one.equal.ends for one in bare.pairs} == {None}
    instructions = pa.array([f"instruction {number}" for number in range(4)])
    table = GOLD.table.set_column(GOLD.table.column_names.index("instruction"), "instruction", instructions)
    own = replace(GOLD, table=table.select(["id", "instruction", "output_a", "output_b"]))
    hashes = {item.id: item.content_hash for item in own}
    judged = tuple(replace(item, content_hash=hashes[item.item_id]) for item in results.judged)
    found = there(agreement_of_annotators(replace(results, judged=judged), own=own))
    assert all(one.equal.ends is not None for one in found.among.values())
    assert all(one.equal.ends is not None for one in found.pairs)
    assert {pair.other for pair in found.pairs} == {"Ben", JUDGE}
    assert [one.equal.value for one in found.pairs] == [one.equal.value for one in bare.pairs]


def test_two_people_the_model_and_the_human_labels(tmp_path: Path) -> None:
    ada: dict[str, Sequence[Preference | None]] = {"safety": [A, A, GOOD, None], "relevance": [A]}
    results = run_of(tmp_path, {"Ada": ada, "Ben": {"safety": [A, B, GOOD, BAD]}})
    together = pair(results, "Ada", "Ben", "safety")
    # Expected by chance: (2 A x 1 A + 1 good x 1 good) / 9 = 3 / 9.
    assert (together.items, together.equal.value, together.between_annotators) == (3, 2 / 3, True)
    assert together.differing == {"2"}
    assert together.kappa.value == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    assert pair(results, "Ada", JUDGE, "safety").equal.value == 1
    assert pair(results, "Ada", JUDGE, None).items == 4
    assert pair(results, "Ben", HUMAN, "safety").equal.value == 0.5
    found = among(results, GOLD)
    assert not [each for each in found.pairs if {each.one, each.other} == {JUDGE, HUMAN}]
    assert [each.between_annotators for each in found.pairs[:2]] == [True, True]
    assert list(found.among) == ["safety", None]  # on relevance nobody shares an item with anybody
    assert (found.among["safety"].pairs, found.among["safety"].items) == (1, 3)


def test_two_people_count_by_the_items_that_both_labelled(tmp_path: Path) -> None:
    four: dict[str, Sequence[Preference | None]] = {"safety": [A, A, A, A]}
    others = {"Cy": {"safety": [A, B]}, "Dee": {"relevance": [B]}}
    found = among(run_of(tmp_path, {"Ada": four, "Ben": four, **others}))
    safety = found.among["safety"]
    assert (safety.annotators, safety.pairs, safety.items) == (3, 3, 4)
    assert safety.equal.value == pytest.approx((4 * 1 + 2 * 0.5 + 2 * 0.5) / 8)
    assert safety.equal.ends is None  # nobody knows which items have the same instruction
    assert (safety.kappa.value, safety.kappa.interval) == (
        0,
        None,
    )  # of Ada and Ben there is none: both know A only
    assert HUMAN not in {each.other for each in found.pairs}
    (tmp_path / "other").mkdir()
    four = {"safety": [A, A, B, B]}
    found = among(run_of(tmp_path / "other", {"Ada": four, "Ben": four, "Cy": {"safety": [A, B]}}))
    assert found.among["safety"].kappa.value == pytest.approx((4 * 1 + 2 * 0 + 2 * 0) / 8)


def test_the_model_is_held_against_people_as_it_judged(tmp_path: Path) -> None:
    results = run_of(tmp_path, {})
    assert agreement_of_annotators(results, GOLD) is None  # nobody labelled anything
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.annotate(1, new_override("1", "safety", B, explanation=None, author="Ada"))
        results = load_results(store, 1)
    assert pair(results, "Ada", JUDGE, "safety").equal.value == 0
    assert pair(results.model_alone(), "Ada", JUDGE, "safety").equal.value == 0
    # A person called as the model is a person.
    (tmp_path / "namesake").mkdir()
    results = run_of(tmp_path / "namesake", {JUDGE: {"safety": [B]}, "Ada": {"safety": [A]}})
    named = [each for each in among(results).pairs if each.criterion is None]
    assert [(each.one, each.other, each.equal.value, each.between_annotators) for each in named] == [
        *(("Ada", JUDGE, 0, True), ("Ada", JUDGE, 1, False), (JUDGE, JUDGE, 0, False))
    ]


PUBLISHED = ("123321412", "12332241253", "3332342251", "12332441251")
"""Krippendorff (2011), example C: four observers, five labels; the units' numbers of each are in SEEN."""
SEEN = (range(9), (*range(10), 11), (1, *range(2, 11)), range(11))


def test_alpha_is_that_of_the_paper() -> None:
    counts = [[0] * 5 for _unit in range(12)]
    for labels, units in zip(PUBLISHED, SEEN, strict=True):
        for label, unit in zip(labels, units, strict=True):
            counts[unit][int(label) - 1] += 1
    assert _alpha([row for row in counts if sum(row) > 1]) == pytest.approx(0.743, abs=0.0005)
    assert [_alpha(each) for each in ([[2, 0], [0, 2]], [[2, 0]] * 2)] == [1.0, None]
    assert _alpha([[1, 1]] * 2) == pytest.approx(-0.5)


def _alpha(counts: Sequence[Sequence[int]], alike: BoolArray | None = None) -> float | None:
    same = np.eye(len(counts[0]), dtype=bool) if alike is None else alike
    return MetLabels.among(counts, range(len(counts)), same).measured(alpha_of).value


ITEMS = st.lists(st.integers(0, 3), min_size=2, max_size=5)
"""The labels of one item, by two to five people."""


@given(st.lists(ITEMS, min_size=1, max_size=20))
def test_alpha_is_that_of_the_reference(items: list[list[int]]) -> None:
    counts = [[labels.count(label) for label in range(4)] for labels in items]
    different = len({label for labels in items for label in labels}) > 1
    reference = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal") if different else None
    assert _alpha(counts) == (reference if reference is None else pytest.approx(reference))


def annotated(ann: str, ben: str) -> Dataset:
    """GOLD with two annotators of safety; a letter for each item: A, B, good, tie, or a dot."""
    said = {"A": "A", "B": "B", "g": "both_good", "t": "tie", ".": ""}
    table = GOLD.table
    for name, letters in (("ann", ann), ("Ben", ben)):
        column = text_array([said[letter] for letter in letters])
        table = table.append_column(f"safety_preference|{name}", column)
    return replace(GOLD, table=table)


def test_annotators_of_a_dataset_are_held_against_each_other() -> None:
    found = there(annotator_agreement(annotated("AAt.", "ABgg")))
    [pair] = [pair for pair in found.pairs if pair.criterion == "safety"]
    # A tie and both good agree; by chance 2 x 1 A, 1 x 1 tie with both good, of 9.
    assert (pair.one, pair.other, pair.items, pair.equal.value) == ("ann", "Ben", 3, 2 / 3)
    assert pair.kappa.value == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    assert pair.kappa.interval is not None
    assert found.among["safety"].kappa.interval == pytest.approx(pair.kappa.interval)  # of one pair the mean
    share = "66.7 % (95 %: 9.4 to 99.2) of the items that both labelled"
    alpha = f"(Krippendorff's alpha {found.among['safety'].alpha.value:.2f})"
    assert among_in_words(found) == [f"Safety: of 2 annotators, two give the same label to {share} {alpha}."]
    assert annotator_agreement(GOLD) is None


def test_annotators_stand_beside_the_people_of_a_run_not_against_their_own_majority(tmp_path: Path) -> None:
    results = run_of(tmp_path, {"Ben": {"safety": [A, A, GOOD, GOOD]}})
    found = among(results, annotated("AAtt", "ABgg"))
    sides = {(each.one, each.other): each.equal.value for each in found.pairs if each.criterion == "safety"}
    assert sides == {
        ("Ben", "ann"): 1,
        ("Ben", "Ben (dataset)"): 0.75,
        ("ann", "Ben (dataset)"): 0.75,
        ("Ben", JUDGE): 1,
        ("Ben", HUMAN): 1,
        ("ann", JUDGE): 1,
        ("Ben (dataset)", JUDGE): 0.75,
    }


@given(st.lists(st.lists(st.sampled_from(HUMAN_LABELS), min_size=2, max_size=5), min_size=1, max_size=8))
def test_alpha_does_not_tell_ties_apart_that_agree(items: list[list[HumanLabel]]) -> None:
    """Where every tie is without polarity, alpha is that of three mere names."""
    as_one = [[Tie.TIE if agree(label, Tie.TIE) else label for label in labels] for labels in items]
    of_five = [[labels.count(label) for label in HUMAN_LABELS] for labels in as_one]
    of_three = [[row[0], row[1], row[4]] for row in of_five]
    assert _alpha(of_five, ALIKE) == pytest.approx(_alpha(of_three))


# Leave-one-out agreement: each annotator, and the judge, against the others, against the majority of the
# other people.


INSTRUCTIONS = {str(number): f"instruction {number}" for number in range(60)}


def held(judge: dict[str, HumanLabel | None], **annotators: dict[str, HumanLabel]) -> list[AgainstOthers]:
    said = {
        name: {JudgmentKey(item, "safety"): label for item, label in of.items()}
        for name, of in annotators.items()
    }
    labels = {JudgmentKey(item, "safety"): label for item, label in judge.items()}
    return against_others(said, labels, INSTRUCTIONS, ["safety"])


def test_where_one_of_three_is_alone_a_judge_may_agree_more_than_any_two_people() -> None:
    """Each two agree on a third of the items, and a judge that is with the two on all of them."""
    annotators: dict[str, dict[str, HumanLabel]] = {name: {} for name in ("ada", "ben", "cy")}
    for number in range(60):
        for place, name in enumerate(annotators):
            annotators[name][str(number)] = B if number % 3 == place else A
    in_turn, *each = held({str(number): A for number in range(60)}, **annotators)
    assert (in_turn.annotator, in_turn.items, in_turn.undecided) == (None, 60, 120)
    assert in_turn.own.value == 0
    assert there(in_turn.judge).value == 1
    found = [(one.annotator, one.items, one.own.value) for one in each]
    assert found == [(name, 20, 0) for name in annotators]
    assert held({"1": A}, ada={"1": A}) == []  # alone a person is held against nobody


def test_what_the_others_have_no_majority_on_takes_no_part() -> None:
    found = held({"1": A, "2": A}, ada={"1": A, "2": A}, ben={"1": A, "2": B}, cy={"1": A, "2": GOOD})
    told = [(one.annotator, one.items, one.undecided, one.own.value) for one in found]
    assert told == [(None, 3, 3, 1), *((name, 1, 1, 1) for name in ("ada", "ben", "cy"))]
    # Ties of two kinds are a majority for a tie.
    found = held({"1": BAD}, ada={"1": GOOD}, ben={"1": GOOD}, cy={"1": BAD})
    assert [(one.annotator, one.own.value) for one in found[1:]] == [("ada", 1), ("ben", 1), ("cy", 0)]


def test_a_judge_is_right_on_the_same_items_and_wrong_where_it_is_unscored() -> None:
    annotators: dict[str, dict[str, HumanLabel]] = {
        name: {str(number): A for number in range(4)} for name in ("ada", "ben")
    }
    [in_turn, *_] = held({"0": A, "1": None, "2": B}, **annotators)
    assert in_turn.items == 6  # the judge does not know the fourth item
    assert there(in_turn.judge).value == pytest.approx(1 / 3)
    assert there(in_turn.lead).value == pytest.approx(-2 / 3)


def test_the_intervals_hold_the_truth() -> None:
    """A small part of `python -m bench.coverage --only people`."""
    world = AnnotatorWorld(3, 15, 3, 0.7, 0.7, 0.4)
    random = np.random.default_rng(1)
    drawn = [world.drawn(random, world.instructions) for _ in range(100)]
    held = {name: sum(is_held(found, name, truth) for found in drawn) for name, truth in world.truth.items()}
    assert min(held.values()) >= 91  # of a hundred, with three standard errors
    assert sum(is_held(found, "lead", 0.0) for found in drawn) >= 91


# The alternative annotator test: in worlds whose truth is known, and against its formulas by hand.


SKILLED = Annotators.SKILLED


def keyed(labels: list[HumanLabel | None], criterion: str = "safety") -> dict[JudgmentKey, HumanLabel | None]:
    return {JudgmentKey(str(number), criterion): label for number, label in enumerate(labels)}


def found_of(
    judge: list[HumanLabel | None], *annotators: list[HumanLabel | None], each: int = 1
) -> list[AltTest]:
    """Of labels by item; None of a person for an item that he did not label."""
    said = {
        str(place): {key: label for key, label in keyed(labels).items() if label is not None}
        for place, labels in enumerate(annotators)
    }
    instructions = {str(number): str(number // each) for number in range(len(judge))}
    return list(alt_tests(said, keyed(judge), instructions, ["safety", None]))


def noisy(random: np.random.Generator, truth: IntArray, knows: float) -> list[HumanLabel | None]:
    """Labels of somebody who sees the truth so often, and else guesses."""
    guessed = random.integers(len(PREFERENCES), size=len(truth))
    said = np.where(random.random(len(truth)) < knows, truth, guessed)
    return [PREFERENCES[place] for place in said]


def passes(knows: float, seeds: int, items: int = 100) -> float:
    """How often a judge who knows so much may stand in for one of three skilled people who know .8."""
    passed = 0
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        truth = random.integers(len(PREFERENCES), size=items)
        [found] = found_of(noisy(random, truth, knows), *(noisy(random, truth, 0.8) for _ in range(3)))
        passed += found.may_replace(SKILLED)
    return passed / seeds


def test_a_judge_as_good_as_people_passes_and_a_coin_does_not() -> None:
    assert passes(0.85, 30) >= 0.9
    assert passes(0.0, 30) == 0


def test_the_rates_are_those_of_the_formulas() -> None:
    """Three people; the judge is with one of two others where the person is with none, and so on."""
    rounds: list[tuple[HumanLabel | None, ...]] = [(A, A, B, A), (B, A, A, A), (None, A, B, GOOD)]
    judge, *annotators = (list(column) for column in zip(*rounds * 10, strict=True))
    [found] = found_of(judge, *annotators)
    first = found.annotators[0]
    # Of person 0 the others say (B, A), (A, A), (B, GOOD); the judge A, B, nothing: 1/2, 0, 0; he 1/2, 1, 0.
    assert first.judge.value == pytest.approx(2 / 3)
    assert (first.items, first.own.value) == (30, 1)
    assert found.advantage.value == pytest.approx(np.mean([held.judge.value for held in found.annotators]))


def test_a_tie_that_says_no_more_agrees_with_both_kinds_of_ties() -> None:
    [found] = found_of([GOOD] * 40, [Tie.TIE] * 40, [Tie.TIE] * 40)
    assert found.advantage.value == 1
    assert found.winning_rate(Annotators.CROWD) == 1
    [other] = found_of([GOOD] * 40, [BAD] * 40, [Tie.TIE] * 40)
    assert [held.judge.value for held in other.annotators] == [1, 0]


@pytest.mark.parametrize(
    ("items", "annotators", "each"),
    [(29, 2, 1), (60, 1, 1), (60, 3, 10)],
    ids=["29 items", "one annotator", "6 instructions"],
)
def test_of_too_little_nothing_is_said(items: int, annotators: int, each: int) -> None:
    labels: list[HumanLabel | None] = [A] * items
    assert found_of(labels, *[labels] * annotators, each=each) == []
    # Only people with enough items are left out in turn.
    [found] = found_of([A] * 40, [A] * 40, [A] * 40, [B] * 20 + [None] * 20)
    assert [held.annotator for held in found.annotators] == ["0", "1"]


def test_several_criteria_are_told_apart_and_together() -> None:
    labels = {**keyed([A] * 40), **keyed([B] * 40, "relevance")}
    annotators = {name: {key: label for key, label in labels.items() if label} for name in ("ada", "ben")}
    of = {str(number): str(number) for number in range(40)}
    found = list(alt_tests(annotators, labels, of, ["safety", "relevance", None]))
    items = {one.criterion: one.annotators[0].items for one in found}
    assert items == {"safety": 40, "relevance": 40, None: 80}


@pytest.mark.parametrize(
    ("instructions", "each", "epsilon"), [(30, 1, 0.15), (40, 5, 0.1)], ids=["30 items", "5 alike"]
)
def test_a_judge_that_is_worse_by_epsilon_rarely_wins_where_it_is_never_better(
    instructions: int, each: int, epsilon: float
) -> None:
    """The plain t-test lets it win in one of seven such worlds of thirty items; an error without a least one
    in one of twelve where five items of an instruction are alike.
    """
    random = np.random.default_rng(0)
    drawn = np.repeat(random.random((1500, instructions)) < epsilon, each, axis=1).astype(float)
    groups = np.repeat(np.arange(instructions), each).tolist()
    found = [OverInstructions.of_one(row.tolist(), groups) for row in drawn]
    assert np.mean([one is not None and one.p_below(epsilon) < 0.05 for one in found]) <= 0.06


@pytest.mark.slow
def test_the_interval_of_the_advantage_holds_the_truth() -> None:
    """Ten items for each instruction, which are hard or easy together."""

    def drawn(random: np.random.Generator, instructions: int) -> AltTest:
        truth = random.integers(2, size=instructions * 10)
        knows = np.repeat(random.choice([0.3, 0.95], instructions), 10)

        def labels() -> list[HumanLabel | None]:
            said = np.where(random.random(len(truth)) < knows, truth, random.integers(2, size=len(truth)))
            return [PREFERENCES[place] for place in said]

        [found] = found_of(labels(), labels(), labels(), labels(), each=10)
        return found

    random = np.random.default_rng(2)
    truth = drawn(random, 2000).advantage.value
    ends = [drawn(random, 15).advantage.ends for _ in range(100)]
    assert sum(each is not None and each[0] <= truth <= each[1] for each in ends) >= 91


def test_the_correction_is_that_of_scipy() -> None:
    random = np.random.default_rng(1)
    for count in (1, 2, 3, 8):
        for _ in range(50):
            p_values = random.random(count) ** 4
            theirs = false_discovery_control(p_values, method="by") <= 0.05
            assert rejected(p_values.tolist()) == theirs.tolist()


def test_what_is_shown_names_the_kinds_of_people_and_what_is_not_shown() -> None:
    random = np.random.default_rng(3)
    truth = random.integers(4, size=60)
    found = found_of(noisy(random, truth, 0.3), noisy(random, truth, 0.9), noisy(random, truth, 0.9))
    section = annotator_sections(AnnotatorAgreement((), {}, alt_tests=tuple(found)))[1]
    assert section.key == "stands_in"
    said = section.parts[0]
    assert isinstance(said, Sentences)
    [sentence] = said.texts
    assert sentence.startswith("Safety: not shown that the judge can replace skilled annotators (.15)")
    assert "experts (.2)" in sentence
    assert "With two annotators" in sentence
    assert [row[1] for row in stands_in_table(found).rows] == ["all, in turn", "0", "1"]
    plain = found[0].as_json()
    assert [kind["epsilon"] for kind in plain["by_annotators"]] == [0.2, 0.15, 0.1]
    assert plain["people"][0]["items"] == 60
