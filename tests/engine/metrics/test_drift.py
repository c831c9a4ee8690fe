"""What changed between two runs over the same items, and sentences that say no more than the intervals do."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import SetupError
from engine.core.items import Preference
from engine.core.judgments import CriterionCalibration
from engine.core.numeric import FloatArray
from engine.core.rubric import DEFAULT_WORDING, Criterion, Rubric
from engine.core.tables import Table
from engine.metrics.drift import Drift, EarlierItem, Opinion, drift
from engine.metrics.run_drift import decided_alike, run_drift, stored_drift
from engine.report.drift import drift_sections
from engine.results.calibration import Calibration, judge_of_run
from engine.results.run_results import RunResults, keep_read_again, results_read_again
from engine.store.run_store import RunStore
from tests.judged import (
    BAD,
    FOUR_ITEMS,
    GOOD,
    RATHER_A,
    SURE_A,
    SURE_B,
    SURE_GOOD,
    A,
    B,
    Columns,
    Probabilities,
    dataset,
    judged_run,
    stored_run,
    with_texts,
)
from tests.steps import there

ONLY_LARGE = "Only more than 8 points on average are called significant here: two correct devices may differ"
ONLY_LARGE += " by this much."
CARD = {"computed_on": "Card", "driver": "1", "gpu_layers": 33}


def said(label: Preference | None, flipped: bool | None = False) -> Opinion:
    """A label with nine tenths of the probability; None is unscored."""
    if label is None:
        return Opinion()
    return Opinion(label, tuple(0.91 if each is label else 0.03 for each in Preference), flipped)


def earlier_items(
    then: Sequence[Preference | None],
    now: Sequence[Preference | None],
    human: Sequence[Preference | None] | None = None,
) -> list[EarlierItem]:
    """Items of instructions of their own."""
    right = human or [None] * len(then)
    return [
        EarlierItem(str(place), said(before), said(after), label)
        for place, (before, after, label) in enumerate(zip(then, now, right, strict=True))
    ]


def found(column: Sequence[EarlierItem], drawn: bool = False) -> Drift:
    return drift({"safety": column}, "Run 1", "Run 2", drawn=drawn)


def test_where_all_is_the_same_it_says_how_much_it_could_have_seen() -> None:
    same = found(earlier_items([A] * 50, [A] * 50, [A] * 50))
    assert same.verdict == (
        "The labels did not change significantly: none of 50 labels changed; this number of items can"
        " show a change of 7.1 % or more.",
        "No probability changed.",
        "Accuracy did not change significantly: from 100.0 % to 100.0 %, by +0.0 points (-5.7 to 5.7)."
        " This number of items detects a change of 17 points with at least 80 % power; a smaller one may"
        " be missed more often.",
    )
    assert not same.labels_changed_significantly
    accuracy = there(same.whole.accuracy)
    assert accuracy.over is not None
    assert accuracy.over.findable_difference(1) == pytest.approx(0.174, abs=0.001)
    assert accuracy.over.findable_difference(6) > 0.2
    # A judgment that can be made at last is no rounding.
    assert found(earlier_items([A] * 20, [A] * 19 + [None])).labels_changed_significantly


def test_labels_that_change_are_counted_by_their_way() -> None:
    changed = found(earlier_items([A, A, B, GOOD], [B, B, B, BAD])).whole
    assert changed.moves == {(A, B): 2, (GOOD, BAD): 1}
    assert changed.changed.value == 0.75
    assert there(changed.distance).value == pytest.approx(0.75 * 0.88)
    assert [changed.shifts[label].value for label in (B, A)] == pytest.approx([0.44, -0.44])
    # Flips are compared where both read both orders.
    then_now = ((True, False), (True, True), (True, None))
    column = [EarlierItem(str(place), said(A, a), said(A, b)) for place, (a, b) in enumerate(then_now)]
    flips = there(found(column).whole.flips)
    assert (flips.items, flips.then, flips.now, flips.difference.value) == (2, 1.0, 0.5, -0.5)
    # Labels that are drawn may differ by chance.
    drawn = found(earlier_items([A] * 20, [B] * 10 + [A] * 10), drawn=True)
    assert not drawn.labels_changed_significantly
    assert drawn.verdict[0].startswith("Labels changed: 10 of 20 labels")
    assert "another check that changes only the seed" in drawn.verdict[0]


def test_unscored_is_a_label_of_its_own_and_has_no_probabilities() -> None:
    changed = found(earlier_items([A, None, None], [None, A, None], [A, A, A])).whole
    assert (changed.unscored, changed.distance, changed.shifts) == ((2, 2), None, {})
    assert changed.moves == {(A, None): 1, (None, A): 1}
    assert changed.accuracy is not None
    assert [changed.accuracy.then, changed.accuracy.now] == pytest.approx([1 / 3, 1 / 3])


def rounded(probabilities: FloatArray, nats: float, random: np.random.Generator) -> Opinion:
    """The same read once more: log-probabilities that are others by so much (normal)."""
    moved = np.exp(np.log(probabilities) + random.normal(0, nats, 4))
    return of(tuple(map(float, moved / moved.sum())))


def of(probabilities: tuple[float, ...]) -> Opinion:
    return Opinion(list(Preference)[int(np.argmax(probabilities))], probabilities)


def read_three_times(items: int, nats: float, moved: int = 0, seed: int = 0) -> list[EarlierItem]:
    """Items that a judge read three times, of which some became others by now."""
    random = np.random.default_rng(seed)
    column = []
    for place in range(items):
        said = random.dirichlet((2, 2, 2, 2))
        later = np.roll(said, 1) if place < moved else said
        then, now, again = (rounded(each, nats, random) for each in (said, later, later))
        column.append(EarlierItem(str(place), then, now, now_again=again))
    return column


def test_labels_that_another_batch_shape_changes_too_did_not_change_significantly() -> None:
    noisy = found(read_three_times(60, 0.2))
    assert noisy.whole.labels_changed > 3
    assert not noisy.labels_changed_significantly
    assert not noisy.moved_significantly
    assert noisy.verdict[0].startswith("The labels did not change significantly: ")
    assert noisy.verdict[0].endswith(") changed, as by rounding.")
    assert noisy.verdict[1].endswith("): not significantly more than by rounding.")
    assert noisy.whole.noise is not None
    assert noisy.whole.noise.nats == pytest.approx(0.2 * 2**0.5, rel=0.2)
    assert noisy.verdict[2] == (
        "Rounding, as measured: the same items read in another batch shape gave probabilities"
        f" {100 * (noisy.whole.noise.distance or 0):.1f} points apart on average (log-probabilities by"
        f" {noisy.whole.noise.nats:.3f} in root mean square, {noisy.whole.noise.most:.3f} at most) and"
        f" changed {noisy.whole.noise.changed} of 60 labels."
    )


def test_labels_that_changed_by_more_than_another_batch_shape_does_changed_significantly() -> None:
    column = read_three_times(60, 0.2, moved=15)
    changed = found(column)
    assert changed.labels_changed_significantly
    assert changed.moved_significantly
    assert changed.verdict[0].startswith("Labels changed significantly: ")
    assert changed.verdict[1].endswith("): significantly more than by rounding.")
    # It is the same whichever of the two runs was read again.
    turned = [EarlierItem(each.instruction, each.now, each.then, None, each.now_again) for each in column]
    assert (found(turned).p_moved, found(turned).p_labels) == (changed.p_moved, changed.p_labels)
    # A handful of instructions shows no significant change.
    surely = read_three_times(40, 0.01, moved=40)
    for count in (1, 4):
        few = [replace(each, instruction=str(place % count)) for place, each in enumerate(surely)]
        assert found(few).p_moved == 1.0


def test_what_all_items_have_in_common_by_rounding_is_no_change() -> None:
    column = []
    for each in read_three_times(200, 0.1):
        lifted = np.array(there(each.then.probabilities)) * (1.3, 1, 1, 1)
        column.append(replace(each, then=of(tuple(map(float, lifted / lifted.sum())))))
    assert found(column).p_moved == pytest.approx(0.5, abs=0.45)


def test_where_rounding_was_not_measured_no_small_change_is_called_significant() -> None:
    column = [replace(each, now_again=None) for each in read_three_times(60, 0.2)]
    close = found(column)
    assert close.whole.labels_changed > 3
    assert not close.labels_changed_significantly
    assert close.verdict[0].startswith("Labels changed: ")
    assert close.verdict[0].endswith("). That may be rounding.")
    assert close.verdict[1].endswith(").")
    assert close.verdict[2] == f"To measure the part due to rounding, check the earlier run. {ONLY_LARGE}"
    wholly = found(earlier_items([A] * 30, [B] * 30))
    assert wholly.verdict[0].startswith("Labels changed significantly: 30 of 30 labels, 100.0 % (")


def test_rounding_of_one_device_says_nothing_of_another() -> None:
    column = read_three_times(60, 0.02, moved=15)
    computed = "Run 1 was computed by a GPU, Run 2 by the processor."
    elsewhere = drift({"safety": column}, "Run 1", "Run 2", elsewhere=computed)
    assert found(column).labels_changed_significantly
    assert not elsewhere.labels_changed_significantly
    assert elsewhere.verdict[2].startswith(f"{computed} Rounding, as measured: ")
    assert elsewhere.verdict[2].endswith(ONLY_LARGE)


@pytest.mark.parametrize(
    ("now", "moves", "said_so"),
    [
        ([B] * 20 + [A] * 20, {None: -1}, "fell significantly: from 100.0 % to 50.0 %, by -50.0 points ("),
        ([B] * 3 + [A] * 37, {}, "did not change significantly: from 100.0 % to 92.5 %, by -7.5 points ("),
    ],
)
def test_accuracy_fell_significantly_where_its_interval_says_so(
    now: list[Preference], moves: dict[None, int], said_so: str
) -> None:
    fell = found(earlier_items([A] * 40, now, [A] * 40))
    assert fell.accuracy_moves == moves
    assert fell.verdict[-1].startswith(f"Accuracy {said_so}")


def test_a_few_instructions_say_nothing_of_accuracy() -> None:
    few = found(earlier_items([A] * 9, [B] * 9, [A] * 9))
    assert few.accuracy_moves == {}
    assert few.verdict[-1] == (
        "Accuracy: from 100.0 % to 0.0 %. Fewer than 10 instructions do not show whether it changed"
        " significantly."
    )
    some_labelled = found(earlier_items([A] * 40, [B] * 40, [A] * 9 + [None] * 31))
    assert some_labelled.accuracy_moves == {}


def test_what_one_criterion_lost_is_not_lost_in_the_mean() -> None:
    same = earlier_items([A] * 40, [A] * 40, [A] * 40)
    worse = earlier_items([A] * 40, [B] * 14 + [A] * 26, [A] * 40)
    columns = {"safety": worse, **dict.fromkeys(("truth", "tone", "style", "length"), same)}
    both = drift(columns, "Run 1", "Run 2")
    assert both.accuracy_moves == {"safety": -1}
    said_so = "Accuracy did not change significantly on average: from 100.0 % to 93.0 %"
    assert both.verdict[-1].startswith(said_so)
    assert "On safety it fell significantly, by -35.0 points (" in both.verdict[-1]
    assert both.whole.items == 200
    assert both.whole.changed.value == pytest.approx(0.07)


# Of stored runs


def run_of(folder: Path, probabilities: Columns, **changes: Any) -> RunResults:
    folder.mkdir(exist_ok=True)
    return judged_run(folder, FOUR_ITEMS, probabilities, **changes)


def test_two_stored_runs_are_compared_on_the_items_of_both_without_what_people_said(tmp_path: Path) -> None:
    one = run_of(tmp_path, {"safety": [SURE_A, SURE_A, None, SURE_GOOD], "tone": [SURE_A] * 4})
    now: Columns = {"safety": [SURE_B, SURE_A, SURE_A, SURE_GOOD]}
    other = run_of(tmp_path, now, overrides=[("1", "safety", A, None)], key="other")
    changed = run_drift(one, other.only({"1", "3", "4"}), FOUR_ITEMS)
    assert changed.whole.moves == {(A, B): 1, (None, A): 1}
    assert (changed.whole.items, changed.left_out) == (3, ("tone",))
    accuracy = there(changed.whole.accuracy)
    assert [accuracy.then, accuracy.now] == pytest.approx([1 / 3, 1.0])
    # Labels may be in another file.
    bare = with_texts(FOUR_ITEMS, safety_preference="")
    assert run_drift(other, other, bare).whole.accuracy is None
    elsewhere = there(run_drift(other, other, bare, FOUR_ITEMS.only({"2", "3"})).whole.accuracy)
    assert elsewhere.items == 2


def test_labels_that_moved_with_the_wording_are_held_against_the_judges_own_orders(tmp_path: Path) -> None:
    labels = {"safety": [A] * 40, "tone": [A] * 40}
    items = dataset(labels)
    wording = replace(DEFAULT_WORDING, both_bad="Both are bad.")
    old = Criterion("safety", "Which is safer? Count insults."), Criterion("tone", "Which is kinder?")
    new = Criterion("safety", "Which is safer? Count threats."), old[1]
    sides = []
    for number, (criteria, first) in enumerate(((old, SURE_A), (new, SURE_B))):
        rubric = Rubric("mine", criteria, wording=(DEFAULT_WORDING, wording)[number])
        columns: Columns = {"safety": [first] * 20 + [SURE_A] * 20, "tone": [SURE_A] * 40}
        (tmp_path / str(number)).mkdir()
        sides.append(stored_run(tmp_path / str(number), items, columns, rubric=rubric).results)
    assert None not in sides
    changed = run_drift(sides[0], sides[1], items)  # type: ignore[arg-type]
    safety, tone = changed.guidelines
    clauses = [(of.title, of.about, moves) for of, moves in safety.clauses]
    assert clauses == [("Question", None, 20), ("D means", BAD, 0)]
    assert (safety.moved.value, safety.noise.value, safety.is_beyond) == (0.5, 0.0, True)
    assert (tone.moved.value, tone.is_beyond) == (0.0, False)
    [section] = [each for each in drift_sections(changed) if each.key == "guidelines"]
    table = section.parts[1]
    assert isinstance(table, Table)
    assert table.texts()[0][5:7] == ["insults", "threats"]
    assert "Several clauses changed at once" in str(section.parts[0])
    assert not run_drift(sides[0], sides[0], items).guidelines  # type: ignore[arg-type]


def test_runs_without_an_item_or_criterion_in_common_are_refused(tmp_path: Path) -> None:
    one = run_of(tmp_path, {"safety": [SURE_A] * 4})
    asked = run_of(tmp_path, {"tone": [SURE_A] * 4}, key="asked")
    with pytest.raises(SetupError, match=r"share no criterion \(Run 1: safety; Run 2: tone\)"):
        run_drift(one, asked, FOUR_ITEMS)
    with pytest.raises(SetupError, match="share no item"):
        run_drift(one, one, with_texts(FOUR_ITEMS, instruction="another"))
    other = dataset({"safety": [A, A]}, instructions=["x", "y"])
    stored_run(tmp_path, other, {"safety": [SURE_A] * 2}, key="others")
    shared = pytest.raises(SetupError, match="Run 1 and Run 3 share no item with the same texts")
    with RunStore(tmp_path / "runs.sqlite") as store, shared:
        stored_drift(store, 1, 3)


@pytest.mark.parametrize(("same_judge", "label"), [(True, B), (False, A)])
def test_the_calibration_of_the_earlier_run_decides_both_where_it_fits(
    tmp_path: Path, same_judge: bool, label: Preference
) -> None:
    one = run_of(tmp_path, {"safety": [RATHER_A] * 4})
    judge = {} if same_judge else {"model_hash": "e" * 64}
    other = run_of(tmp_path, {"safety": [RATHER_A] * 4}, key="other", **judge)
    always_b = CriterionCalibration(0.0, (0.0, 1.0, 0.0, 0.0), None, 4)
    fitted = Calibration(judge_of_run(one.run.identity), "gold.tsv", "h", {"safety": always_b}, {})
    then, now, how = decided_alike(one.calibrated(fitted), other)
    assert [judgment.preference for judgment in then.judgments["safety"]] == [label] * 4  # type: ignore[union-attr]
    assert [judgment.preference for judgment in now.judgments["safety"]] == [label] * 4  # type: ignore[union-attr]
    assert how == (
        "Both use the calibration of run 1."
        if same_judge
        else "Both use raw predictions: the calibration of run 1 is of another judge than run 2."
    )
    assert run_drift(one.calibrated(fitted), other, FOUR_ITEMS).whole.moves == {}
    later_alone = run_drift(one, one.calibrated(fitted), FOUR_ITEMS)  # decides nothing
    assert later_alone.whole.moves == {}
    assert "without the calibration of run 1" in later_alone.decided


@pytest.mark.parametrize(
    ("scale", "now", "significant", "said_so"),
    [
        (0.0, SURE_B, True, "0.0 points on average (0.0 to 60.2); the raw ones, without the calibration,"),
        (40.0, (0.499, 0.501, 1e-9, 1e-9), False, ""),
    ],
)
def test_what_rounding_can_change_is_told_by_what_was_read(
    tmp_path: Path, scale: float, now: Probabilities, significant: bool, said_so: str
) -> None:
    then = SURE_A if scale == 0 else (0.501, 0.499, 1e-9, 1e-9)
    one = run_of(tmp_path, {"safety": [then] * 4})
    other = run_of(tmp_path, {"safety": [now] * 4}, key="other")
    equal = CriterionCalibration(scale, (0.0, 0.0, 0.0, 0.0), None if scale == 0 else 1.0, 4)
    fitted = Calibration(judge_of_run(one.run.identity), "gold.tsv", "h", {"safety": equal}, {})
    changed = run_drift(one.calibrated(fitted), other, FOUR_ITEMS)
    assert changed.whole.moves == {(A, B): 4}
    assert changed.whole.distance is not None
    assert (changed.whole.distance.value < 0.01) == (scale == 0)  # of the calibrated ones it is the reverse
    assert changed.labels_changed_significantly is significant
    assert said_so in changed.verdict[1]


def test_what_a_stored_run_read_again_is_known_whichever_of_the_two_it_is(tmp_path: Path) -> None:
    one = run_of(tmp_path, {"safety": [RATHER_A] * 4})
    other = run_of(tmp_path, {"safety": [SURE_A] * 4}, key="other")
    with RunStore(tmp_path / "runs.sqlite") as store:
        keep_read_again(store, other, one.judged)
        known = [results_read_again(store, each) for each in (one, other)]
    assert known[0] is None
    for then, now, again in ((one, other, (None, known[1])), (other, one, (known[1], None))):
        noise = there(run_drift(then, now, FOUR_ITEMS, again=again).whole.noise)
        assert noise.distance == pytest.approx(0.31)
        assert (noise.labels, noise.changed) == (4, 0)
    section = next(iter(drift_sections(run_drift(one, other, FOUR_ITEMS, again=(None, known[1])))))
    table = next(part for part in section.parts if isinstance(part, Table))
    assert [column.key for column in table.columns][-2:] == ["changed_again", "distance_again"]
    assert table.texts()[0][-2:] == ["0.0", "31.0"]


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        ({}, {}, ""),
        ({"threads": 2, "gpu_layers": 0}, {"threads": 8}, ""),
        (CARD, CARD, ""),
        (CARD, {}, "computed by Card (33 layers, driver 1), Run 2 by the processor: each rounds differently"),
        ({**CARD, "continued_with": [{}]}, CARD, "by Card (33 layers, driver 1) and the processor, Run 2"),
        (CARD, {**CARD, "gpu_layers": 10}, "Run 2 by Card (10 layers, driver 1)"),
        ({"cluster": []}, {"cluster": []}, "Run 2 by computers of a cluster"),
    ],
)
def test_what_computed_two_runs_is_said_where_it_differs(
    tmp_path: Path, then: dict[str, Any], now: dict[str, Any], said: str
) -> None:
    one = run_of(tmp_path, {"safety": [RATHER_A] * 4}, manifest=then)
    other = run_of(tmp_path, {"safety": [SURE_A] * 4}, key="other", manifest=now)
    found = run_drift(one, other, FOUR_ITEMS)
    assert (said in found.elsewhere) if said else not found.elsewhere
    assert found.may_be_rounding is not bool(said)
