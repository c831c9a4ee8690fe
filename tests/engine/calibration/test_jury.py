"""Several judges decided together: what each says, what the store keeps, what labels say of them."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.analysis.review_order import by_item, review_rows
from engine.calibration.fitting import Views, fitted
from engine.calibration.jury import NOT_SAID, Jury, items_of, make_jury
from engine.calibration.jury_worth import effective_number, jury_worth
from engine.calibration.run_calibration import (
    SECOND_ORDER,
    CalibratedRun,
    CalibrationInputs,
    Labelled,
    RawPredictionSource,
    Wishes,
)
from engine.core.errors import SetupError
from engine.core.events import CancelToken, followed
from engine.core.items import HUMAN_LABELS, PREFERENCES, HumanLabel, Order, Prediction, Preference, Tie
from engine.core.judgments import (
    LENGTHS,
    CriterionCalibration,
    Feature,
    FeatureKind,
    Judgment,
    JudgmentKey,
    RawPrediction,
    Unscored,
)
from engine.core.methods import together
from engine.core.numeric import FloatArray, log_softmax
from engine.core.rubric import ELOQUENT
from engine.core.tables import Sentences
from engine.data.dataset import Dataset
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import System, match, system_of_run
from engine.report.run import method_sections
from engine.results.calibration import Calibration, judge_of_run
from engine.results.decision import SWAPPED, PredictionSource, decide
from engine.results.exports import as_json, write_results_csv
from engine.results.run_results import ALL_METHODS, load_results
from engine.settings.identity import JUDGES
from engine.store.run_store import RunStore
from tests.judged import (
    GOOD,
    RATHER_A,
    SURE_A,
    SURE_B,
    SURE_GOOD,
    TIE,
    A,
    B,
    Probabilities,
    calibrate_run,
    dataset,
    stored_run,
    system,
)
from tests.steps import there

THREE = dataset({"safety": [A, B, GOOD]})
ALWAYS_B = CriterionCalibration(0.0, (0.0, 9.0, 0.0, 0.0), 1.0, 9)
RATHER_B = (0.2, 0.6, 0.1, 0.1)


def run(
    folder: Path, name: str, *probabilities: Probabilities | None, gold: Dataset = THREE, **changes: Any
) -> System:
    """A run of its own store."""
    place = folder / name
    place.mkdir()
    made = stored_run(place, gold, {"safety": list(probabilities)}, key=name, **changes)
    return replace(made, name=name)


def labels(panel: Jury) -> list[HumanLabel | None]:
    results = panel.results
    return [results.label(judgment) for judgment in results.judgments["safety"]]


def test_the_mean_of_the_log_probabilities_decides(tmp_path: Path) -> None:
    one = run(tmp_path, "one", RATHER_A, SURE_A, SURE_GOOD)
    panel = make_jury([one, run(tmp_path, "two", SURE_B, RATHER_A, SURE_B)], THREE)
    first = panel.results.judgments["safety"][0]
    assert isinstance(first, Judgment)
    expected = log_softmax((np.log(RATHER_A) + np.log(SURE_B)) / 2)
    assert first.probabilities == pytest.approx(np.exp(expected))
    assert (first.preference, first.flipped, first.judges_differ) == (B, None, True)
    differ = [each.judges_differ for each in panel.results.judgments["safety"] if isinstance(each, Judgment)]
    assert differ == [True, False, True]


def test_a_label_alone_is_a_reading_of_a_stated_certainty_and_others_break_a_tie(tmp_path: Path) -> None:
    undecided = (0.45, 0.45, 0.05, 0.05)
    one = run(tmp_path, "one", undecided, undecided, SURE_A)
    panel = make_jury([one, system({"safety": [B, A, B]})], THREE, certainty=0.7)
    assert labels(panel)[:2] == [B, A]
    third = panel.results.judgments["safety"][2]
    assert isinstance(third, Judgment)
    mean = (np.log(SURE_A) + np.log([0.1, 0.7, 0.1, 0.1])) / 2
    assert third.probabilities == pytest.approx(np.exp(log_softmax(mean)))
    # Each judge counts alike however often it was read: a run in both orders, a submission once.
    rather_b = run(tmp_path, "rather", RATHER_B, RATHER_B, RATHER_B)
    assert labels(make_jury([rather_b, system({"safety": [A, A, A]})], THREE, certainty=0.9)) == [A, A, A]


def test_a_mere_tie_is_shared_by_both_ties_and_a_judge_that_says_how_sure_it_is_has_that_certainty(
    tmp_path: Path,
) -> None:
    one = run(tmp_path, "one", SURE_A, SURE_A, SURE_A)
    other = system({"safety": [TIE, B, B]})
    rows = list(other.submission.rows)
    for place, sure in ((1, 0.8), (2, 1.0)):
        rows[place] = replace(rows[place], predictions={"safety": Prediction(B, confidence=sure)})
    panel = make_jury([one, replace(other, submission=replace(other.submission, rows=tuple(rows)))], THREE)
    said = [(0.05, 0.05, 0.45, 0.45), (0.2 / 3, 0.8, 0.2 / 3, 0.2 / 3), (0.001 / 3, 0.999, *[0.001 / 3] * 2)]
    for judgment, each in zip(panel.results.judgments["safety"], said, strict=True):
        assert isinstance(judgment, Judgment)
        assert judgment.probabilities == pytest.approx(
            np.exp(log_softmax((np.log(SURE_A) + np.log(each)) / 2))
        )


def test_what_people_changed_takes_no_part_and_what_one_cannot_score_others_decide(tmp_path: Path) -> None:
    by_ada = run(tmp_path, "one", SURE_A, SURE_A, SURE_A, overrides=[("1", "safety", B, None)])
    assert by_ada.labels[JudgmentKey("1", "safety")] is B
    assert labels(make_jury([by_ada, run(tmp_path, "two", RATHER_A, RATHER_A, RATHER_A)], THREE)) == [A, A, A]
    failing = [run(tmp_path, "three", None, None, SURE_A), run(tmp_path, "four", SURE_B, None, SURE_A)]
    panel = make_jury(failing, THREE)
    assert labels(panel) == [B, None, A]
    second = panel.results.judgments["safety"][1]
    assert isinstance(second, Unscored)
    assert second.reason == NOT_SAID


def test_a_panel_of_which_judges_failed_is_less_sure_and_says_how_many_decided(tmp_path: Path) -> None:
    """By the files of a panel of three of which two failed, which said P = .90 and that judges agree."""
    columns: tuple[list[Preference | None], ...] = ([A, A, B], [None, A, B], [None, None, A])
    judges = [system({"safety": column}, name=f"{place}.tsv") for place, column in enumerate(columns)]
    panel = make_jury(judges, THREE)
    one, two, three = panel.results.judgments["safety"]
    assert isinstance(one, Judgment)
    assert isinstance(two, Judgment)
    assert isinstance(three, Judgment)
    assert labels(panel) == [A, A, B]
    # A judge that says nothing: all four labels alike.
    for judgment, received in ((one, 1), (two, 2)):
        sure = received * np.log([0.9, *[0.1 / 3] * 3]) / 3
        assert judgment.probabilities == pytest.approx(np.exp(log_softmax(sure)))
    assert [(each.judges, each.judges_missing) for each in (one, two, three)] == [(1, 2), (2, 1), (3, 0)]
    assert [each.judges_differ for each in (one, two, three)] == [None, False, True]
    assert panel.results.judges_missing_sentence.startswith(
        "Not all 3 judges of the jury decided 2 of 3 judgments (1 by 1, 1 by 2): the others have no"
        " answer there"
    )
    assert [item.item_id for item in by_item(review_rows(panel.results))] == ["1", "3", "2"]
    write_results_csv(tmp_path / "all.csv", panel.results)
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["judges"], row["judges_missing"]) for row in csv.DictReader(file)]
    assert rows == [("1", "2"), ("2", "1"), ("3", "0")]
    alone = panel.results.by_method()["1: 0.tsv"].judgments["safety"][0]
    assert isinstance(alone, Judgment)
    assert alone.probabilities == pytest.approx([0.9, *[0.1 / 3] * 3])


@pytest.mark.slow
def test_calibrated_what_is_left_of_a_panel_claims_what_it_is_worth() -> None:
    """Of three judges that are right in 70 % each, two failed on the last third: there one decides, and is
    right as often as it says, though the calibration learned from all three.
    """
    random = np.random.default_rng(4)
    true = random.integers(4, size=600)
    said = np.where(random.random((3, 600)) < 0.7, true, (true + random.integers(1, 4, (3, 600))) % 4)
    gold = dataset({"safety": [PREFERENCES[place] for place in true[:400]] + [None] * 200})
    judges: list[System] = []
    for judge, column in enumerate(said.tolist()):
        told: list[Preference | None] = [PREFERENCES[own] for own in column[: 400 if judge else None]]
        told += [None] * (600 - len(told))
        judges.append(system({"safety": told}, name=f"{judge}.tsv"))
    panel = make_jury(judges, gold)
    made = calibrate_run(match(system_of_run(panel.results), gold))
    column = panel.results.calibrated(made.calibration).judgments["safety"]
    for places, least, most in ((slice(0, 400), 0.75, 0.9), (slice(400, 600), 0.62, 0.78)):
        found = [each for each in column[places] if isinstance(each, Judgment)]
        both = zip(found, true[places], strict=True)
        right = np.mean([each.preference is PREFERENCES[own] for each, own in both])
        claimed = np.mean([max(each.probabilities) for each in found])
        assert least < right < most
        assert claimed == pytest.approx(right, abs=0.08)


def test_a_judge_that_failed_in_one_order_says_nothing_in_a_panel(tmp_path: Path) -> None:
    """Alone it is unscored there: half of what it was asked is no label of its."""
    one = run(tmp_path, "one", SURE_A, SURE_A, SURE_A)
    assert one.results is not None
    first, *others = one.results.judged
    ab, ba = first.raw_predictions["safety"]
    failed = replace(ba, log_probs=(np.nan,) * 4)
    judged = (replace(first, raw_predictions={"safety": (ab, failed)}), *others)
    one = replace(one, results=replace(one.results, judged=judged).calibrated(None))
    assert labels(make_jury([one, run(tmp_path, "two", RATHER_B, RATHER_B, RATHER_B)], THREE))[0] is B


def test_a_label_is_explained_by_a_judge_that_wrote_for_it(tmp_path: Path) -> None:
    one = run(tmp_path, "one", RATHER_A, RATHER_A, RATHER_A, explanations={"safety": "A is kind."})
    texts = {"safety": ["B is kinder.", None, None]}
    panel = make_jury([one, system({"safety": [B, A, A]}, texts)], THREE)
    first, second, _ = panel.results.judgments["safety"]
    assert labels(panel)[0] is B
    assert panel.results.explanation(first) == "B is kinder."
    assert panel.results.explanation(second) == "A is kind."


def test_a_panel_in_the_store_is_a_run_made_of_what_it_says(tmp_path: Path) -> None:
    judges = [run(tmp_path, "one", RATHER_A, SURE_A, None), system({"safety": [B, A, GOOD]})]
    panel = make_jury(judges, THREE)
    with RunStore(tmp_path / "runs.sqlite") as store:
        kept = panel.keep(store, "both")
        again = panel.keep(store)
        results = load_results(store, kept.id)
    assert again.id == kept.id
    assert (kept.title, kept.judges, kept.complete) == (f"Jury {kept.id} “both”", ("one", "judge.tsv"), True)
    assert results.judged == panel.judged
    assert results.judgments == panel.results.judgments
    found = evaluate(match(system_of_run(results), THREE))
    assert found.labels["safety"].accuracy == pytest.approx(1 / 3)
    alone = results.by_method()
    assert list(alone) == [ALL_METHODS, "1: one", "2: judge.tsv"]
    second = alone["2: judge.tsv"]
    assert [second.label(each) for each in second.judgments["safety"]] == [B, A, GOOD]


def test_what_was_not_read_has_no_order_and_no_format_mass(tmp_path: Path) -> None:
    judges = [run(tmp_path, "one", RATHER_A, SURE_A, None), system({"safety": [B, A, GOOD]})]
    panel = make_jury(judges, THREE)
    first, _, third = panel.results.judgments["safety"]
    assert isinstance(first, Judgment)
    assert isinstance(third, Judgment)
    assert first.answer_mass == pytest.approx(1)
    assert third.answer_mass is None
    assert [each.judge for each in together(first.raw_predictions)] == [1, 1]
    assert (len(third.raw_predictions), together(third.raw_predictions)) == (1, ())
    write_results_csv(tmp_path / "all.csv", panel.results)
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = ("flipped", "judges_differ", "format_mass", "log_probability_AB_A")
    assert [rows[2][name] for name in columns] == ["", "", "", ""]
    assert [row["judges_differ"] for row in rows] == ["yes", "no", ""]
    raw_predictions = [
        each["readings"] for item in as_json(panel.results)["items"] for each in item["judgments"].values()
    ]
    assert [set(reading) for reading in raw_predictions[2]] == [{"judge", "label_taken_as"}]
    assert raw_predictions[2][0]["label_taken_as"]["both_good"] == pytest.approx(np.log(0.9))


def test_panels_of_before_know_their_submissions_too(tmp_path: Path) -> None:
    """Their judges have no orders, but what was no run was a submission."""
    panel = make_jury([run(tmp_path, "one", SURE_A, SURE_A, SURE_A), system({"safety": [B] * 3})], THREE)
    judges = [{name: judge[name] for name in judge if name != "orders"} for judge in panel.manifest[JUDGES]]
    of_before = replace(panel, manifest={**panel.manifest, JUDGES: judges})
    with RunStore(tmp_path / "runs.sqlite") as store:
        results = load_results(store, of_before.keep(store).id)
    assert results.judged == panel.judged


def test_all_together_is_none_of_the_judges_that_are_chosen_from(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B] * 12})
    judges = [run(tmp_path, "one", *[SURE_A, RATHER_A] * 12, gold=gold), system({"safety": [A, A, B] * 8})]
    (section,) = method_sections(make_jury(judges, gold).results, gold)
    said = [each for part in section.parts if isinstance(part, Sentences) for each in part.texts]
    assert said[0].startswith("The best of 2 judges is selected on these items")


def test_of_a_run_that_went_on_another_panel_is_made(tmp_path: Path) -> None:
    one, other = run(tmp_path, "one", SURE_A, SURE_A, SURE_A), system({"safety": [A, A, A]})
    part = THREE.head(2)
    shorter = make_jury([one, other], part, partial=True)
    assert len(shorter.judged) == 2
    assert shorter.identity.key != make_jury([one, other], THREE).identity.key
    # The judges are the same: what was fitted to one decides the other.
    assert judge_of_run(shorter.identity) == replace(
        judge_of_run(make_jury([one, other], THREE).identity), model_name=shorter.identity.model_name
    )


def test_between_equals_the_first_judge_decides() -> None:
    one, other = system({"safety": [GOOD, B, A]}), system({"safety": [A, A, A]}, name="other.tsv")
    assert labels(make_jury([one, other], THREE)) == [GOOD, B, A]
    assert labels(make_jury([other, one], THREE)) == [A, A, A]


def test_made_again_by_the_mean_it_is_not_calibrated_any_more_and_not_in_the_archive(tmp_path: Path) -> None:
    panel = make_jury([run(tmp_path, "one", SURE_A, SURE_A, SURE_A), system({"safety": [B, B, B]})], THREE)
    always_b = Calibration(
        judge_of_run(panel.identity), "gold.tsv", "e" * 64, {"safety": ALWAYS_B}, {"safety": {}}
    )
    with RunStore(tmp_path / "runs.sqlite") as store:
        kept = panel.keep(store, calibration=always_b)
        assert load_results(store, kept.id).one_labels
        store.archive([kept.id], "Ada")
        again = panel.keep(store)
        assert (again.id, again.archived, again.calibration) == (kept.id, None, None)


def test_what_a_judge_lacks_is_left_out_and_said(tmp_path: Path) -> None:
    one = run(tmp_path, "one", SURE_A, SURE_A, SURE_A)
    panel = make_jury([one, system({"safety": [A, A]})], THREE, partial=True)
    assert len(panel.judged) == 2
    assert panel.remarks[-1] == "judge.tsv lacks 1 item of gold.tsv, not scored: 3"


def test_what_cannot_be_a_panel_is_refused(tmp_path: Path) -> None:
    sure = [SURE_A] * 3
    other_texts = dataset({"safety": [A, B, A]}, outputs=[("x", "y")] * 3)
    asked = ELOQUENT.only(("safety",))
    other_question = replace(asked, criteria=(replace(asked.criteria[0], question="Which one is kinder?"),))
    one = run(tmp_path, "one", *sure)
    alone = system({"relevance": [A, A, A]}, name="other.tsv")
    of_two = make_jury([one, system({"safety": [A] * 3})], THREE).results
    of_jury = replace(system_of_run(of_two), name="panel 2")
    for judges, problem in (
        ([one], "two judges or more"),
        ([one, one], "The judge one is listed twice"),
        ([one, alone], "no criterion in common"),
        ([one, of_jury], "panel 2 is a jury"),
        ([one, system({"safety": [A, A]})], "ids missing"),
        ([one, run(tmp_path, "texts", *sure, gold=other_texts)], "has other texts"),
        ([one, run(tmp_path, "asked", *sure, rubric=other_question)], "were asked different questions"),
    ):
        with pytest.raises(SetupError, match=problem):
            make_jury(judges, THREE)
    for certainty in (0.25, 1.0, float("nan")):
        with pytest.raises(SetupError, match="The certainty of a label is"):
            make_jury([one, system({"safety": [A, A, A]})], THREE, certainty=certainty)


def test_submissions_alone_need_a_dataset() -> None:
    judges = [system({"safety": [A]}), system({"safety": [B]}, name="other.tsv")]
    with pytest.raises(SetupError, match="no run among these"):
        items_of(judges, None)
    assert items_of(judges, THREE) is THREE


def test_labels_say_which_judge_is_to_be_believed(tmp_path: Path) -> None:
    """One is right, the other one never, and louder."""
    human: list[HumanLabel] = [PREFERENCES[place % 4] for place in range(48)]
    gold = dataset({"safety": human})
    right = run(tmp_path, "right", *(_rather(HUMAN_LABELS.index(label)) for label in human), gold=gold)
    wrong = [PREFERENCES[(place + 1 + place // 4 % 3) % 4] for place in range(48)]
    loud = system({"safety": wrong}, name="loud.tsv")
    panel = make_jury([right, loud], gold)
    before = evaluate(match(system_of_run(panel.results), gold)).labels["safety"].accuracy
    made = calibrate_run(match(system_of_run(panel.results), gold))
    after = panel.results.calibrated(made.calibration)
    assert before < 0.5
    assert evaluate(match(system_of_run(after), gold)).labels["safety"].accuracy > 0.9
    assert set(made.without) >= {"judge 1", "judge 2"}
    assert np.mean(made.without["judge 1"]["safety"].nats) > np.mean(made.without["judge 2"]["safety"].nats)


def _rather(label: int) -> tuple[float, float, float, float]:
    a, b, good, bad = (0.4 if place == label else 0.2 for place in range(4))
    return a, b, good, bad


def test_lengths_are_those_of_the_dataset(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, B] * 20}, outputs=[("long" * 9, "x"), ("x", "long" * 9)] * 20)
    silent = [(0.25, 0.25, 0.25, 0.25)] * 40
    judges = [run(tmp_path, name, *silent, gold=gold) for name in ("one", "two")]
    panel = make_jury(judges, gold)
    assert panel.judged[0].lengths == (36, 1)
    matched = match(system_of_run(panel.results), gold)
    assert calibrate_run(matched).reports["safety"].after.accuracy < 0.7
    made = calibrate_run(matched, wishes=Wishes(lengths=True))
    assert LENGTHS in made.calibration.parts


# Real judges: PandaLM's test set, labelled by GPT-3.5 and by PandaLM-7B, with the majority of three people


@pytest.fixture(scope="module")
def pandalm_judges(shared_data: Path) -> tuple[list[System], Dataset]:
    with (shared_data / "ranking" / "pandalm_systems.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    with (shared_data / "human" / "pandalm.jsonl").open(encoding="utf-8") as file:
        texts = {str(each["id"]): each for each in map(json.loads, file)}
    chosen = [texts[row["id"]] for row in rows]
    gold = dataset(
        {"overall_quality": [_majority(row) for row in rows]},
        instructions=[each["instruction"] for each in chosen],
        outputs=[(each["output_a"], each["output_b"]) for each in chosen],
    )
    judges = [
        system({"overall_quality": [_label(row[name]) for row in rows]}, name=name)
        for name in ("judge_gpt_3_5", "judge_pandalm_7b")
    ]
    return judges, gold


def test_two_real_judges_err_alike_and_are_worth_less_than_one_and_a_half(
    pandalm_judges: tuple[list[System], Dataset],
) -> None:
    judges, gold = pandalm_judges
    found = followed(jury_worth(judges, gold, gold, CancelToken()))
    assert found.effective is not None
    assert found.effective.value == pytest.approx(2 / (1 + 0.40088), abs=1e-4)
    assert there(found.effective.ends)[1] < 2
    # The first judge decides where they differ, but where it said nothing: so the second one adds little.
    adds = {judge.name: judge.adds.value for judge in found.judges}
    assert 0 < adds["judge_pandalm_7b"] < 0.02 < adds["judge_gpt_3_5"]


def test_a_copy_adds_nothing_and_what_is_rare_is_not_called_independent() -> None:
    wrong = np.arange(60) // 6 == np.array([[0], [1]])  # a tenth each, nowhere both
    criteria, groups = np.zeros(60, np.int64), np.arange(60)
    same = there(effective_number(wrong[[0, 0]], criteria, groups))
    assert same.value == pytest.approx(1)
    few = there(effective_number(wrong, criteria, groups))
    assert few.ends is not None
    assert few.ends[0] < 2 < few.value < few.ends[1]
    assert effective_number(np.zeros((2, 60), np.bool_), criteria, groups) is None
    # Always A and always B: of such two it is not known either, rather than a division by 0.
    assert effective_number(np.stack([wrong[0], ~wrong[0]]), criteria, groups) is None


@pytest.fixture(scope="module")
def pandalm(pandalm_judges: tuple[list[System], Dataset]) -> Labelled:
    judges, gold = pandalm_judges
    results = make_jury(judges, gold).results
    pairs = match(system_of_run(results), gold).pairs["overall_quality"]
    return CalibrationInputs(results, alike=True, lengths=False).labelled("overall_quality", pairs)


def _majority(row: dict[str, str]) -> HumanLabel:
    ((label, _),) = Counter(row[f"annotator_{number}"] for number in (1, 2, 3)).most_common(1)
    return Tie.TIE if label == "tie" else Preference(label)


def _label(said: str) -> Preference | None:
    return GOOD if said == "tie" else Preference(said) if said else None


@pytest.mark.slow
@pytest.mark.parametrize(("known", "most_lost"), [(100, -0.025), (30, 0.01)])
def test_two_real_judges_know_more_together_than_the_better_one(
    pandalm: Labelled, known: int, most_lost: float
) -> None:
    """In log-loss on items that took no part, nats; with 100 labels as many of them right."""
    of_each = [RawPredictionSource("", partial(_is_of, judge)) for judge in (1, 2)]
    seen = [pandalm.views(), *(pandalm.views(judge).looking_at(()) for judge in of_each)]
    found = np.mean([[_worth(views, known, seed) for views in seen] for seed in range(8)], axis=0)
    together, better = found[0], found[1:][found[1:, 0].argmin()]
    assert together[0] < better[0] + most_lost
    if known == 100:
        assert together[1] > better[1] - 0.005


def _is_of(judge: int, read_by: PredictionSource) -> bool:
    return read_by.judge == judge


def _worth(views: Views, known: int, seed: int) -> tuple[float, float]:
    order = np.random.default_rng(seed).permutation(len(views.groups))
    asked = views.only(order[known:])
    log_probs = asked.decided(fitted(views.only(order[:known])))
    return float(asked.losses(log_probs).mean()), asked.quality(log_probs, asked.log_probs).accuracy


ITEMS = 160
TOKEN_BIAS = np.array([3.0, 0, 0, 0])


@pytest.fixture(scope="module")
def gold() -> Dataset:
    places = np.random.default_rng(0).choice(4, ITEMS, p=[0.4, 0.4, 0.1, 0.1]).tolist()
    return dataset({"safety": [PREFERENCES[place] for place in places]})


def position_bias(folder: Path, gold: Dataset, name: str, orders: Sequence[Order]) -> System:
    """A run that read these orders."""
    (folder / name).mkdir()
    settings = {"mode": "labels", "orders": list(orders), "examples": ""}
    made = stored_run(folder / name, gold, {"safety": [(0.25,) * 4] * ITEMS}, key=name, settings=settings)
    assert made.results is not None
    random = np.random.default_rng(len(name))
    known = np.array([PREFERENCES.index(item.gold["safety"].label) for item in gold])
    said = random.normal(size=(ITEMS, 4))
    said[np.arange(ITEMS), known] += 1.5
    judged = tuple(
        replace(item, raw_predictions={"safety": tuple(_reading(row, order) for order in orders)})
        for item, row in zip(made.results.judged, said, strict=True)
    )
    return replace(made, name=name, results=replace(made.results, judged=judged).calibrated(None))


def _reading(own: FloatArray, order: Order) -> RawPrediction:
    seen = own if order is Order.AB else own[SWAPPED]
    a, b, both_good, both_bad = log_softmax(seen + TOKEN_BIAS).tolist()
    return RawPrediction(order, (a, b, both_good, both_bad))


def calibrated_by(system: System, gold: Dataset) -> CalibratedRun:
    return calibrate_run(match(system, gold))


@pytest.mark.slow
def test_a_panel_of_runs_in_one_order_mends_what_they_lean_to(tmp_path: Path, gold: Dataset) -> None:
    judges = [position_bias(tmp_path, gold, name, [Order.AB]) for name in ("one", "other")]
    alone = max(calibrated_by(judge, gold).reports["safety"].after.accuracy for judge in judges)
    panel = make_jury(judges, gold)
    made = calibrated_by(system_of_run(panel.results), gold)
    assert not made.calibration.alike
    assert made.reports["safety"].after.accuracy > alone
    after = panel.results.calibrated(made.calibration).judgments["safety"]
    assert {each.place_decides for each in after if isinstance(each, Judgment)} == {None}
    judges = [position_bias(tmp_path, gold, name, tuple(Order)) for name in ("third", "fourth")]
    made = calibrated_by(system_of_run(make_jury(judges, gold).results), gold)
    assert made.calibration.alike  # of runs in both orders


def test_the_second_order_adds_what_a_run_without_it_lacks(tmp_path: Path, gold: Dataset) -> None:
    both = calibrated_by(position_bias(tmp_path, gold, "judge", tuple(Order)), gold)
    first = calibrated_by(position_bias(tmp_path, gold, "first", [Order.AB]), gold)
    lost = float(np.mean(both.without[SECOND_ORDER]["safety"].right))
    right, without = (each.reports["safety"].after.accuracy for each in (both, first))
    assert lost == pytest.approx(right - without, abs=0.08)
    assert abs(lost) < 0.1


def test_what_is_not_said_of_an_item_stands_as_in_the_mean_of_the_fit(tmp_path: Path, gold: Dataset) -> None:
    part = Feature(FeatureKind.CRITERION, criterion="relevance")
    mean = (1.0, -1.0, 0.5, -0.5)
    made = CriterionCalibration(0.0, (0.0,) * 4, 1.0, 9, parts={part: 2.0}, part_means={part: mean})
    item = there(position_bias(tmp_path, gold, "judge", [Order.AB]).results)
    found = decide(item.judged[0], "safety", made)
    assert isinstance(found, Judgment)
    assert found.probabilities == pytest.approx(np.exp(log_softmax(2 * np.array(mean))))


def test_a_calibration_that_looks_at_a_criterion_fits_no_run_without_it(tmp_path: Path) -> None:
    labels = [PREFERENCES[place % 4] for place in range(48)]
    of_both = dataset({"safety": labels, "relevance": labels})
    near = [tuple(0.55 if place == at % 4 else 0.15 for place in range(4)) for at in range(48)]
    unsure = [(0.25,) * 4] * 48
    run = stored_run(tmp_path, of_both, {"safety": unsure, "relevance": near})  # type: ignore[dict-item]
    made = calibrate_run(match(run, of_both)).calibration
    assert Feature(FeatureKind.CRITERION, criterion="relevance") in made.criteria["safety"].parts
    (tmp_path / "alone").mkdir()
    alone = stored_run(tmp_path / "alone", of_both, {"safety": unsure}, key="alone")
    with pytest.raises(SetupError, match="also uses the raw predictions on relevance"):
        made.check_fits(judge_of_run(there(alone.results).run.identity))
