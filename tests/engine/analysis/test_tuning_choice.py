"""Which settings are tried on which items, and which are chosen."""

import pickle
import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest

from bench.coverage.heads import SKEWS
from bench.coverage.readings import CRITERION
from bench.coverage.settings import NO_EXAMPLES, WITH_EXAMPLES, Known, drawn_run, found_settings, labelled
from engine.analysis.tuning import TriedRun, held_out
from engine.analysis.tuning_choice import (
    LEAST,
    ItemCost,
    PartOfItems,
    SettingsChoice,
    SettingsRun,
    TriedSettings,
    choose,
    columns_of_examples,
    looks_at,
    parts_of,
)
from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken, MeasureProgress, followed
from engine.core.items import Method, Order, Preference
from engine.data.dataset import Dataset
from engine.data.label_origins import in_drawn_order
from engine.results.calibration import judge_of_run
from engine.results.run_results import RunResults
from tests.judged import A, dataset
from tests.steps import there

# What is chosen in drawn worlds, and what is said of it on items that took no part.


EVEN = (0.25, 0.25, 0.25, 0.25)
NOTHING = {Method.LABEL_TOKENS: 0.0, Method.POINTWISE_YES_NO: 0.0}


SIGNALS = {Method.LABEL_TOKENS: 2.0, Method.POINTWISE_YES_NO: 0.0}


def drawn(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def runs_of(random: np.random.Generator, count: int, *judges: Known) -> tuple[Any, ...]:
    """So many labelled items, and a run of each judge on them."""
    labels = random.integers(4, size=count)
    gold = labelled(labels)
    return gold, *(drawn_run(random, gold, labels, judge) for judge in judges)


def without_judgments(run: RunResults, item_ids: set[str]) -> RunResults:
    judged = tuple(
        replace(item, raw_predictions={}, unscored={CRITERION: "too long"})
        if item.item_id in item_ids
        else item
        for item in run.judged
    )
    return replace(run, judged=judged).calibrated(None)


def test_the_one_way_that_knows_is_chosen_and_surely_beats_the_most_frequent_label() -> None:
    knows = {Method.LABEL_TOKENS: 0.1, Method.POINTWISE_YES_NO: 3.0}
    choice, worth = found_settings(
        drawn(), 100, EVEN, [Known(NO_EXAMPLES, NOTHING), Known(WITH_EXAMPLES, knows)]
    )
    look = choice.chosen.look
    assert (look.prompt, Method.POINTWISE_YES_NO in look.methods) == (WITH_EXAMPLES, True)
    assert worth.beats_frequent
    assert there(worth.over_default).significantly_better
    assert worth.right.value > worth.frequent.value


@pytest.mark.slow
def test_where_nothing_knows_anything_nothing_is_said_to_beat_the_most_frequent_label() -> None:
    judges = [Known(prompt, NOTHING) for prompt in (NO_EXAMPLES, WITH_EXAMPLES)]
    worlds = 12
    random = drawn(3)
    said = sum(
        found_settings(random, 60, SKEWS["overall_quality"], judges)[1].beats_frequent for _ in range(worlds)
    )
    assert said <= 2  # of so many at most .05: three or more in 2 of 100 such tests


def test_of_those_that_are_as_good_the_cheapest_is_chosen() -> None:
    judges = [
        Known(prompt, {Method.LABEL_TOKENS: 1.5, Method.POINTWISE_YES_NO: 1.5})
        for prompt in (NO_EXAMPLES, WITH_EXAMPLES)
    ]
    choice, _ = found_settings(drawn(1), 100, EVEN, judges)
    as_good = [each for each in choice.standings if each.as_good]
    assert choice.chosen in as_good
    assert choice.chosen.cost.tokens == min(each.cost.tokens for each in as_good)
    assert choice.standings[0].behind == 0


def compared(
    unscored: int = 0,
    cancel: CancelToken | None = None,
    told: list[MeasureProgress] | None = None,
    time_left: Callable[[], float] = lambda: inf,
    in_time: int = 40,
) -> SettingsChoice:
    """Of two prompts on 40 items; with examples so many got no judgment, and so many were in time."""
    random = drawn()
    gold, run, other = runs_of(random, 40, Known(NO_EXAMPLES, NOTHING), Known(WITH_EXAMPLES, NOTHING))
    other = without_judgments(other, set(gold.ids[:unscored])).only(frozenset(gold.ids[:in_time]))
    methods = (Method.LABEL_TOKENS, Method.POINTWISE_YES_NO)
    seen = [
        SettingsRun(prompt, each, dict.fromkeys(looks_at(prompt, methods), ItemCost(1.0, 1.0)))
        for prompt, each in ((NO_EXAMPLES, run), (WITH_EXAMPLES, other))
    ]
    progress = told if told is not None else []
    work = choose(seen, gold, (CRITERION,), cancel or CancelToken(), time_left)
    return followed(work, progress.append)


def test_a_prompt_that_leaves_many_items_without_a_judgment_takes_no_part_and_few_are_left_out() -> None:
    choice = compared(unscored=8)
    assert choice.left_out == {WITH_EXAMPLES: "it left 8 items without a judgment"}
    assert {each.look.prompt for each in choice.standings} == {NO_EXAMPLES}
    assert choice.items == 40
    few = compared(unscored=3)
    assert (few.left_out, few.items) == ({}, 37)


def test_progress_goes_from_none_to_all_and_stop_is_heard() -> None:
    told: list[MeasureProgress] = []
    compared(told=told)
    assert [(event.done, event.total) for event in told] == [(done, 12) for done in range(13)]
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        compared(cancel=cancel)


def test_where_the_time_is_over_what_was_compared_decides() -> None:
    choice = compared(time_left=lambda: 0.0)
    assert [each.look for each in choice.standings] == [TriedSettings(NO_EXAMPLES, orders=(Order.AB,))]
    assert choice.chosen == choice.standings[0]
    assert choice.uncompared == 11
    assert choice.left_out == {WITH_EXAMPLES: "no time was left for it"}
    left = iter([1.0, 1.0, 0.0])
    choice = compared(time_left=lambda: next(left))
    assert [each.look.prompt for each in choice.standings].count(WITH_EXAMPLES) == 1
    assert (len(choice.standings), choice.uncompared, choice.left_out) == (3, 9, {})


def test_a_run_that_is_looked_at_in_part_is_the_judge_of_a_run_that_asks_just_that() -> None:
    _, run = runs_of(drawn(), 12, Known(NO_EXAMPLES, NOTHING))
    part = run.as_asked((Method.POINTWISE_YES_NO,), (Order.AB,))
    judge = judge_of_run(part.run.identity)
    assert (judge.methods, judge.orders) == (("absolute",), ("AB",))
    assert not part.run.in_both_orders
    readings = [each for item in part.judged for each in item.raw_predictions[CRITERION]]
    assert {(each.method, each.order) for each in readings} == {(Method.POINTWISE_YES_NO, Order.AB)}
    default = run.as_asked((Method.LABEL_TOKENS,), tuple(Order))
    assert "ways" not in default.run.identity.settings
    assert TriedSettings(NO_EXAMPLES).in_words == "label tokens, both orders, no examples"


def test_a_prompt_that_had_time_for_few_items_does_not_cut_what_all_are_compared_on() -> None:
    choice = compared(in_time=12)
    assert choice.items == 40
    assert "12 items of 40" in choice.left_out[WITH_EXAMPLES]


@pytest.mark.slow
def test_what_places_mean_in_the_data_makes_one_order_no_better_than_both() -> None:
    lopsided = (0.62, 0.08, 0.15, 0.15)
    judges = [Known(NO_EXAMPLES, {Method.LABEL_TOKENS: 0.8})]
    worlds, random = 10, drawn(5)
    found = [found_settings(random, 120, lopsided, judges) for _ in range(worlds)]
    said = [worth.over_default is not None and worth.over_default.significantly_better for _, worth in found]
    assert sum(said) <= 1


def test_the_most_frequent_label_is_that_of_the_places_as_they_are() -> None:
    judges = [Known(NO_EXAMPLES, NOTHING)]
    _, worth = found_settings(drawn(2), 300, (0.6, 0.1, 0.2, 0.1), judges)
    assert worth.frequent.value == pytest.approx(0.6, abs=0.1)


def test_items_that_one_side_cannot_score_are_left_out_for_both() -> None:
    gold, run = runs_of(drawn(4), 100, Known(NO_EXAMPLES, SIGNALS))
    parts = parts_of(gold, (CRITERION,), 0, None, own_examples=False)
    lacks = without_judgments(run, set(parts.held_out[:3]))
    chosen, default = (
        TriedRun(TriedSettings(prompt), each) for prompt, each in ((WITH_EXAMPLES, lacks), (NO_EXAMPLES, run))
    )
    worth = there(held_out(chosen, default, gold, parts, CancelToken()))
    assert (worth.unscored, worth.instructions) == (3, len(parts.held_out) - 3)
    assert worth.over_default is not None
    assert worth.over_default.nats.value == pytest.approx(0, abs=1e-9)  # the very same judge
    assert worth.over_default.right.value == 0
    # What the chosen settings are worth does not wait for the usual ones.
    default = TriedRun(TriedSettings(NO_EXAMPLES), run.only(frozenset(parts.to_choose_by)))
    worth = there(held_out(TriedRun(TriedSettings(WITH_EXAMPLES), run), default, gold, parts, CancelToken()))
    assert (worth.over_default, worth.items) == (None, len(parts.held_out))


# How labelled items are divided, and the inquiry by which a run judges a part of them.


def items_with_labels(instructions: int, twice: int = 0, unlabelled: int = 0) -> Dataset:
    """So many instructions, the first of them with two items each; then items without labels."""
    asked = [f"question {place}" for place in (*range(instructions), *range(twice))]
    asked += [f"unlabelled {place}" for place in range(unlabelled)]
    labels: list[Preference | None] = [A] * (instructions + twice) + [None] * unlabelled
    return dataset({"safety": labels}, instructions=asked)


def test_instructions_stay_together_and_only_labelled_items_take_part() -> None:
    gold = items_with_labels(100, twice=20, unlabelled=7)
    parts = parts_of(gold, ("safety",), 0, None, own_examples=True)
    named = {item.id: item.instruction for item in gold}
    ids_by_part = (parts.examples, parts.first, parts.rest, parts.held_out)
    by_part = [{named[item_id] for item_id in ids} for ids in ids_by_part]
    assert sum(map(len, by_part)) == len(set().union(*by_part)) == 100
    assert [len(part) for part in by_part] == [12, 18, 35, 35]
    assert len((*parts.examples, *parts.judged)) == 120
    columns = columns_of_examples(gold, parts)  # written with their labels
    assert sorted(map(str, columns["id"])) == sorted(parts.examples)
    assert set(columns["safety_preference"]) == {"A"}


def test_the_order_is_that_in_which_runs_draw_instructions_and_fewer_are_the_first() -> None:
    gold = items_with_labels(80)
    named = {item.id: item.instruction for item in gold}
    whole, other = (parts_of(gold, ("safety",), seed, None, own_examples=False) for seed in (0, 7))
    assert [named[item_id] for item_id in other.judged] == in_drawn_order(named.values(), 7)
    assert whole.judged != other.judged
    fewer = parts_of(gold, ("safety",), 0, 40, own_examples=False)
    assert fewer.judged == whole.judged[:40]
    # Items without an instruction are divided each by itself.
    gold = dataset({"safety": [A] * 60}, instructions=[""] * 60)
    assert len(parts_of(gold, ("safety",), 0, 40, own_examples=False).judged) == 40


@pytest.mark.parametrize(("instructions", "most"), [(LEAST - 1, None), (60, LEAST - 1)])
def test_too_few_are_refused_with_their_number(instructions: int, most: int | None) -> None:
    with pytest.raises(SetupError, match=str(LEAST - 1)):
        parts_of(items_with_labels(instructions), ("safety",), 0, most, own_examples=False)


def test_no_examples_are_put_aside_where_too_few_would_be_left() -> None:
    assert not parts_of(items_with_labels(LEAST + 7), ("safety",), 0, None, own_examples=True).examples
    assert len(parts_of(items_with_labels(LEAST + 8), ("safety",), 0, None, own_examples=True).examples) == 8


def test_a_part_is_wanted_until_it_is_judged_or_time_is_over_also_in_another_process() -> None:
    part = pickle.loads(pickle.dumps(PartOfItems({"1", "2"}, 0, "safety", 60)))
    assert (part.wants("1"), part.wants("3")) == (True, False)
    part.add({"1": A, "3": None})
    assert (part.wants("1"), part.is_answered) == (False, False)
    part.add({"2": None})
    assert part.is_answered
    part = PartOfItems({"1"}, 0, "safety", 0.05)
    assert part.wants("1")
    time.sleep(0.1)
    assert (part.is_answered, part.wants("1")) == (True, False)
