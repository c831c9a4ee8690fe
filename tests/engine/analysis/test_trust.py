"""Which labels decide what may stand: drawn ones of annotators and datasets; what does not count, by name;
and what is kept with a run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.analysis.trust import CriterionTrust, TrustRequest, trust_of
from engine.annotations.records import Annotation, new_override, new_review
from engine.core.codec import plain
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.items import HumanLabel, Order, Prediction, Preference
from engine.core.judgments import FittedOn, Judgment, JudgmentKey, Origin, RawPrediction, ReviewState
from engine.core.tables import Sentences
from engine.data.arrow_arrays import text_array
from engine.data.dataset import Dataset
from engine.data.label_origins import in_drawn_order
from engine.data.submission import Submission, SubmissionRow
from engine.metrics.matching import System, system_of_run
from engine.metrics.trust import Promise
from engine.report.trust import trust_json, trust_sections
from engine.results.run_results import load_results
from engine.results.trust import ConfidenceMeasure, confidences, escalated, kept_trust, may_stand
from engine.settings.identity import EXAMPLES_SHOWN
from engine.store.run_store import RunStore
from tests.judged import A, B, Probabilities, dataset, stored_run
from tests.steps import there

ITEMS = 80
SURE: Probabilities = (0.9, 0.04, 0.03, 0.03)
UNSURE: Probabilities = (0.4, 0.3, 0.2, 0.1)
JUDGE = [SURE] * 40 + [UNSURE] * 40
"""The judge says A of all items, and is sure of the first half."""
RIGHT: Sequence[HumanLabel] = [A] * 40 + [A, B] * 20
GOLD = dataset({"safety": RIGHT})
UNLABELLED = dataset({"safety": [None] * ITEMS})
DRAWN = in_drawn_order(GOLD.ids, 0)
PROMISE = Promise(0.8, 0.1)


def found(*systems: System, gold: Dataset = GOLD, **more: Any) -> CriterionTrust:
    request = TrustRequest(systems, gold, more.pop("promise", PROMISE), **more)
    return trust_of(request, CancelToken()).criteria["safety"]


def judged(folder: Path, said: Iterable[Annotation | tuple[Annotation, ...]] = (), **more: Any) -> System:
    stored_run(folder, GOLD, {"safety": JUDGE}, **more)
    with RunStore(folder / "runs.sqlite") as store:
        for each in said:
            store.annotate(1, each)
        return system_of_run(load_results(store, 1))


def says(item: str, origin: Origin = Origin.RANDOM) -> Annotation:
    """What is right, by an annotator."""
    label = Preference(str(RIGHT[GOLD.ids.index(item)]))
    return new_override(item, "safety", label, None, "Ada", origin=origin)


def test_the_sure_half_may_stand_and_the_rest_is_escalated(tmp_path: Path) -> None:
    run = judged(tmp_path)
    trusted = trust_of(TrustRequest([run], GOLD, PROMISE), CancelToken())
    one = trusted.criteria["safety"]
    assert one.taken is not None
    assert one.taken.confidence == pytest.approx(0.9)
    assert (one.taken.accepted, one.taken.labels) == (0.5, 40)
    assert there(one.most_frequent).value == 1.0  # a judge that says A of all would do here
    assert trust_json(trusted)["criteria"]["safety"]["threshold"] == pytest.approx(0.9)
    first = next(part for part in trust_sections(trusted)[0].parts if isinstance(part, Sentences))
    assert "On safety, 50.0 % of the labels may stand: at least 80.0 % of them agree" in first.texts[0]
    with RunStore(tmp_path / "runs.sqlite") as store:
        trusted.kept.keep(store, 1)
        store.annotate(1, says(GOLD.ids[79]))
        store.annotate(1, new_override(GOLD.ids[78], "safety", None, "An explanation alone.", "Ada"))
        store.annotate(1, new_review(GOLD.ids[40], "Ada", confirmed={"safety": Preference.A}))
        results = load_results(store, 1)
    kept = kept_trust(results)
    assert kept == trusted.kept
    assert may_stand(results, kept) == {JudgmentKey(own, "safety") for own in (*GOLD.ids[:41], GOLD.ids[79])}
    assert escalated(results, kept) == tuple(GOLD.ids[41:79])  # what a person labelled or accepted is decided


def test_thresholds_hold_for_no_other_calibration(tmp_path: Path) -> None:
    run = judged(tmp_path)
    with pytest.raises(SetupError, match="may stand is not known"):
        kept_trust(there(run.results))
    kept = trust_of(TrustRequest([run], GOLD, PROMISE), CancelToken()).kept
    with RunStore(tmp_path / "runs.sqlite") as store:
        msgspec.structs.replace(kept, calibration="another").keep(store, 1)
        with pytest.raises(SetupError, match="is calibrated otherwise than when"):
            kept_trust(load_results(store, 1))


def test_labels_given_at_random_on_the_run_count_and_picked_ones_are_named(tmp_path: Path) -> None:
    said = [says(item) for item in DRAWN[:50]] + [says(item, Origin.UNCERTAINTY) for item in DRAWN[70:]]
    one = found(judged(tmp_path, said), gold=UNLABELLED)
    assert there(one.trust).labels == 50
    assert "10 labels are omitted: their items were selected in another way." in one.remarks
    assert one.accepted == 0.5


def test_labels_given_surest_first_are_refused(tmp_path: Path) -> None:
    said = [says(item, Origin.UNCERTAINTY) for item in GOLD.ids[:40]]
    with pytest.raises(SetupError, match="selected by uncertainty or by hand"):
        found(judged(tmp_path, said), gold=UNLABELLED)


def test_skipped_items_of_the_sample_count_against_the_judge(tmp_path: Path) -> None:
    skipped = [new_review(item, "Ada", ReviewState.SKIPPED) for item in DRAWN[:10]]
    said = [says(item) for item in DRAWN[10:60]]
    one = found(judged(tmp_path, [*said, *skipped]), gold=UNLABELLED)
    assert there(one.trust).labels == 60
    assert any("10 items of the sample have no label" in each for each in one.remarks)
    all_labelled = found(judged(tmp_path / "other", map(says, DRAWN[:60])), gold=UNLABELLED)
    assert all_labelled.trust is not None
    lowest, without = (each.trust.thresholds[-1].agreement for each in (one, all_labelled) if each.trust)
    assert there(lowest).value < there(without).value


def test_labels_that_a_prompt_showed_do_not_count(tmp_path: Path) -> None:
    shown = [item for item in GOLD if item.id in GOLD.ids[:3]]
    settings = {"mode": "labels", "orders": ["AB", "BA"], "context": 4096, "examples": "e" * 64}
    kept = {EXAMPLES_SHOWN: plain(FittedOn.of(shown))}
    one = found(judged(tmp_path, settings=settings, manifest=kept))
    assert there(one.trust).labels == ITEMS - 3
    assert any(each.startswith("3 labels count for nothing here: the judge saw") for each in one.remarks)
    with pytest.raises(SetupError, match="an earlier version did not keep which"):
        found(judged(tmp_path / "old", settings=settings))


def test_another_judges_file_needs_its_confidence() -> None:
    def file(confidence: float | None) -> System:
        rows = [
            SubmissionRow(item_id, {"safety": Prediction(A, confidence=confidence and sure[0])})
            for item_id, sure in zip(GOLD.ids, JUDGE, strict=True)
        ]
        return System("judge.tsv", Submission(tuple(rows), ("safety",), with_explanations=False))

    assert found(file(1.0)).accepted == 0.5
    with pytest.raises(SetupError, match=r"judge\.tsv does not say how confident its judge is"):
        found(file(None))


def test_the_agreement_of_several_people_is_the_share_who_say_the_same(tmp_path: Path) -> None:
    table = GOLD.table
    for name in ("Ada", "Ben", "Cyd"):
        labels = ["A", "B" if name == "Cyd" else "A"] * (ITEMS // 2)
        table = table.append_column(f"safety_preference|{name}", text_array(labels))
    one = found(judged(tmp_path), gold=replace(GOLD, table=table))
    lowest = there(there(one.trust).thresholds[-1].agreement)
    assert lowest.value == pytest.approx(5 / 6)
    assert one.people is not None
    assert one.people.value == 0.75  # of 160 labels where two others agree, the 40 of Cyd that are B differ


def test_a_risk_shared_by_measures_and_criteria(tmp_path: Path) -> None:
    run = judged(tmp_path)
    both = found(run, confidences=confidences("both"))
    assert there(both.trust).promise.risk == pytest.approx(0.05)
    joint = found(run, jointly=True)
    assert there(joint.trust).promise.risk == pytest.approx(0.1)  # of one criterion


def test_agreement_of_orders_is_part_of_confidence() -> None:
    said = (-0.1, -3.0, -3.0, -3.0)
    one = Judgment(
        item_id="1",
        criterion="safety",
        preference=A,
        probabilities=(0.8, 0.1, 0.05, 0.05),
        flipped=True,
        answer_mass=1.0,
        raw_predictions=(RawPrediction(Order.AB, said), RawPrediction(Order.BA, said)),
    )
    assert ConfidenceMeasure.PROBABILITY.of(one) == 0.8
    assert ConfidenceMeasure.AGREEMENT.of(one) == pytest.approx(0.4)  # as it saw both times the first one


@pytest.mark.parametrize(("promise", "named"), [(Promise(target=1.0), "target"), (Promise(risk=0.0), "risk")])
def test_a_promise_of_nothing_is_refused(promise: Promise, named: str) -> None:
    with pytest.raises(SetupError, match=named):
        found(promise=promise)
