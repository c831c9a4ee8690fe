"""Which labels may correct a judge: of real stores, labelled at random, by doubt, or as items came."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.annotations.records import (
    JUDGE_ALONE,
    Annotation,
    LabelSource,
    LabelSourceKind,
    new_override,
    new_review,
)
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import followed
from engine.core.items import HumanLabel
from engine.core.judgments import Origin, ReviewState
from engine.core.tables import Sentences, Table
from engine.data.dataset import Dataset
from engine.data.label_origins import in_drawn_order
from engine.data.slices import slicing
from engine.metrics.evaluation import evaluate, measure_slices
from engine.metrics.matching import System, match, system_of_run
from engine.ranking.labelled_part import (
    ALL,
    CorrectedShares,
    LabelledPart,
    RankedByLabels,
    by_labels,
    corrected_shares,
    judge_expects,
    labelled_part,
)
from engine.ranking.ranking import shares_json
from engine.report.correction import corrected_in_short, correction_sections, share_sections
from engine.report.html_report import Report, report_sheet
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from tests.judged import (
    GOOD,
    SURE_A,
    SURE_B,
    TIE,
    A,
    B,
    Probabilities,
    dataset,
    stored_run,
    system,
    text_table,
)
from tests.steps import there

ITEMS = 60
NAMES = ("llama", "opt", "pythia")


def test_shares_of_labels_are_corrected_without_candidates_and_by_slice() -> None:
    random = np.random.default_rng(1)
    is_a, right = random.random(300) < 0.3, random.random(300) < 0.6
    truth: list[HumanLabel | None] = [A if each else B for each in is_a]
    judge = system({"safety": [label if fine else A for label, fine in zip(truth, right, strict=True)]})
    items = dataset({"safety": [label if place % 4 == 0 else None for place, label in enumerate(truth)]})
    kinds = ["code" if place < 150 else "chat" for place in range(300)]
    items = replace(items, others=text_table({"kind": kinds}))
    found = corrected_shares(judge, items, [slicing(items, by) for by in ("kind", "label")])
    shares = found["safety"]
    assert isinstance(shares, CorrectedShares)
    assert [*shares.shares] == [ALL, "kind: chat", "kind: code"]
    for name, rows in {
        ALL: slice(0, 300),
        "kind: code": slice(0, 150),
        "kind: chat": slice(150, 300),
    }.items():
        one, of_these = shares.shares[name]["A"], float(np.mean(is_a[rows]))
        assert one.judge > of_these + 0.15  # the judge alone is far off
        assert one.of_these[0] < of_these < one.of_these[1]
    made = shares_json({**found, "wit": SetupError("Picked by hand.", "")})
    assert made["wit"] == {"refused": "Picked by hand."}
    one = shares.shares["kind: code"]["A"]
    assert made["safety"]["kind: code"]["A"]["share"] == 100 * one.rate.value
    labelled = match(judge, items, partial=True)
    sliced = [measure_slices(labelled, slicing(items, "kind"))]
    [reported] = [
        part
        for section in report_sheet(Report(evaluate(labelled), slices=sliced)).sections
        if section.key == "shares"
        for part in section.parts
        if isinstance(part, Table)
    ]
    assert [row[1] for row in reported.rows[::4]] == [ALL, "kind: chat", "kind: code"]
    assert corrected_shares(judge, dataset({"safety": truth})) == {}
    assert not share_sections({"safety": SetupError("Picked by hand.", "")})


def with_candidates(labels: Sequence[HumanLabel | None]) -> Dataset:
    """Items with these labels, of three candidates in turn."""
    beside = {
        column: [NAMES[(place + step) % 3] for place in range(len(labels))]
        for column, step in (("candidate_a", 0), ("candidate_b", 1))
    }
    return replace(dataset({"safety": labels}), others=text_table(beside))


GOLD = with_candidates([None] * ITEMS)
DRAWN = in_drawn_order(GOLD.ids, 0)


def annotated(
    folder: Path, new: Iterable[Annotation | tuple[Annotation, ...]], judge: Sequence[Probabilities]
) -> System:
    """A run whose judge says this of the items, and annotators that."""
    stored_run(folder, GOLD, {"safety": judge})
    with RunStore(folder / "runs.sqlite") as store:
        for each in new:
            store.annotate(1, each)
        return system_of_run(load_results(store, 1))


def says_b(item: str, origin: Origin, **more: Any) -> Annotation:
    return new_override(item, "safety", B, None, "Ada", origin=origin, **more)


def run_of(folder: Path, said: Iterable[tuple[str, Origin]], *more: tuple[Annotation, ...]) -> System:
    """A run whose judge calls all even items A, in which Ada said B of some, and how she came to each."""
    judge = [(SURE_A, SURE_B)[place % 2] for place in range(ITEMS)]
    return annotated(folder, [*(says_b(*each) for each in said), *more], judge)


def by(run: System, source: LabelSource) -> System:
    """The same run, of which the labels of others count."""
    return system_of_run(there(run.results).by(source))


def taken(system: System, dataset: Dataset = GOLD) -> LabelledPart:
    """The labels that may correct the judge, which there are."""
    return there(labelled_part(system, dataset, "safety"))


ADA = LabelSource(LabelSourceKind.ANNOTATOR, "Ada")


def of_origin(items: Iterable[str], origin: Origin) -> list[tuple[str, Origin]]:
    return [(item, origin) for item in items]


def test_labels_of_the_random_sample_count_and_picked_ones_are_left_out(tmp_path: Path) -> None:
    said = of_origin(DRAWN[:20], Origin.RANDOM) + of_origin(DRAWN[40:45], Origin.UNCERTAINTY)
    run = run_of(tmp_path, said)
    part = taken(run)
    assert {GOLD.ids[place] for place in np.flatnonzero(~np.isnan(part.said[:, 0]))} == set(DRAWN[:20])
    assert part.sentences == (
        "20 items have labels of annotators, by the random sample on Review.",
        "5 labels are omitted: their items were selected in another way.",
    )
    # So it is of one person.
    assert taken(by(run, ADA)).sentences[0].startswith("20 items have labels of Ada")
    assert labelled_part(by(run, JUDGE_ALONE), GOLD, "safety") is None


def test_labels_of_people_and_of_the_dataset_are_one_random_part(tmp_path: Path) -> None:
    run = run_of(tmp_path, of_origin(DRAWN[:20], Origin.RANDOM))
    gold = with_candidates([A if item in DRAWN[15:35] else None for item in GOLD.ids])
    part = taken(run, gold)
    assert part.labels == 35
    said = dict(zip(gold.ids, part.said[:, 0].tolist(), strict=True))
    assert [said[item] for item in (DRAWN[0], DRAWN[15], DRAWN[34])] == [0.0, 1.0, 1.0]
    assert part.whose == "human labels of gold.tsv and labels of annotators"
    assert part.sentences[-1] == "5 items have both: the labels of the dataset count."
    alone = taken(by(run, ADA), gold)
    assert alone.labels == 20  # of whom the dataset's are, nobody knows


def test_labels_that_are_left_out_beside_others_are_named(tmp_path: Path) -> None:
    """The ranking that is not corrected takes them: that this one does not is not to be guessed."""
    run = run_of(tmp_path, of_origin(DRAWN[:8], Origin.RANDOM))
    gold = with_candidates([A if item in DRAWN[15:35] else None for item in GOLD.ids])
    part = taken(run, gold)
    assert part.labels == 20
    assert part.sentences[-1] == (
        "Omitted: There are 8 labels of annotators, on fewer than 10 instructions: too few for an estimate."
    )
    with pytest.raises(SetupError, match="8 labels of annotators, on fewer than 10 instructions"):
        labelled_part(run, GOLD, "safety")
    (tmp_path / "more").mkdir()
    more = run_of(tmp_path / "more", of_origin(DRAWN[:12], Origin.RANDOM))
    alone = taken(by(more, ADA), gold)
    assert alone.sentences[-1] == "Omitted: There are also 12 labels of Ada, which are fewer."


def test_few_labels_say_next_to_nothing_and_no_more_are_asked_for_than_there_are_items() -> None:
    few = with_candidates([A] * 5 + [None] * 15)
    with pytest.raises(
        SetupError, match=r"on fewer than 10 instructions.*too few for an estimate"
    ) as refused:
        labelled_part(system({"safety": [A] * 20}), few, "safety")
    assert "Label 15 items more" in str(refused.value.hint)
    # What is refused is shown with its remedy.
    shown = there(corrected_in_short(found(system({"safety": [A, B] * 10}), few)))
    assert shown.texts[0].startswith("Not corrected. There are 5 human labels")
    assert "Random sample" in shown.texts[1]


def test_a_confirmed_label_is_a_label_and_those_given_beside_the_judges_are_counted(tmp_path: Path) -> None:
    new = [new_review(item, "Ada", confirmed={"safety": A}, origin=Origin.RANDOM) for item in DRAWN[:15]]
    assert taken(annotated(tmp_path, new, [SURE_A] * ITEMS)).labels == 15
    seen = [says_b(item, Origin.RANDOM, blind=place >= 5) for place, item in enumerate(DRAWN[:15])]
    (tmp_path / "seen").mkdir()
    part = taken(annotated(tmp_path / "seen", seen, [SURE_A] * ITEMS))
    assert part.sentences[-1].startswith("5 labels were given with the judge's label visible")


def test_labels_of_the_hardest_items_are_refused_with_what_to_do(tmp_path: Path) -> None:
    run = run_of(tmp_path, of_origin(DRAWN[:20], Origin.UNCERTAINTY))
    with pytest.raises(SetupError, match="selected by uncertainty or by hand") as refused:
        labelled_part(run, GOLD, "safety")
    assert isinstance(refused.value.hint, Hint)
    assert Step.LABEL_AT_RANDOM in refused.value.hint.parts
    assert "Label 50 items more" in str(refused.value.hint)


def test_items_of_the_sample_without_a_label_belong_to_it_skipped_or_passed_over(tmp_path: Path) -> None:
    labelled = [(item, Origin.RANDOM) for item in DRAWN[:20] if item not in (DRAWN[3], DRAWN[5])]
    run = run_of(tmp_path, labelled, new_review(DRAWN[5], "Ada", ReviewState.SKIPPED, origin=Origin.RANDOM))
    part = taken(run)
    assert (part.labels, part.missing) == (18, frozenset({DRAWN[3], DRAWN[5]}))
    assert part.sentences == (
        "18 items have labels of annotators, by the random sample on Review.",
        "2 items of the random sample have no such label, 1 of them skipped: the intervals are valid for"
        " any labels of them.",
    )
    of = found(run, GOLD)
    assert "\nThe intervals are valid if this part is random and the judge has seen none" in texts(of)
    assert "\nBradley-Terry scores are not corrected: 2 of the 20 items" in texts(of)
    assert there(of.correction).bradley_terry is None


def test_labels_in_order_of_the_dataset_take_in_what_was_labelled_and_passed_over(tmp_path: Path) -> None:
    in_order = [item for item in GOLD.ids[:20] if item not in (GOLD.ids[2], GOLD.ids[7])]
    said = [*of_origin(in_order, Origin.DATASET), (GOLD.ids[7], Origin.UNCERTAINTY)]
    part = taken(run_of(tmp_path, said))
    assert (part.labels, part.missing) == (19, frozenset({GOLD.ids[2]}))
    assert "as good as random only if that order is arbitrary" in part.sentences[0]


def test_labels_in_an_order_of_the_dataset_that_the_judge_knows_are_refused(tmp_path: Path) -> None:
    """The file begins with what the judge is sure of."""
    unsure = (0.4, 0.3, 0.2, 0.1)
    new = [says_b(item, Origin.DATASET) for item in GOLD.ids[:20]]
    run = annotated(tmp_path, new, [SURE_A] * 30 + [unsure] * 30)
    not_random = "in the order of the dataset, and these were probably not sampled at random"
    with pytest.raises(SetupError, match=not_random):
        labelled_part(run, GOLD, "safety")


def test_settled_labels_are_no_random_part(tmp_path: Path) -> None:
    new = [says_b(item, Origin.RANDOM, settles=True) for item in DRAWN[:20]]
    run = annotated(tmp_path, new, [SURE_A] * ITEMS)
    with pytest.raises(SetupError, match="where annotators disagreed"):
        labelled_part(by(run, LabelSource(LabelSourceKind.ADJUDICATED)), GOLD, "safety")


def test_what_people_say_where_the_judge_is_silent_is_not_taken_for_its_word(tmp_path: Path) -> None:
    probabilities = [SURE_A if place else None for place in range(ITEMS)]
    said = [(item, "safety", B, None) for item in GOLD.ids[:15]]
    run = stored_run(tmp_path, GOLD, {"safety": probabilities}, overrides=said)
    expected = judge_expects(run, GOLD, "safety")
    assert np.isnan(expected[0]).all()
    assert expected[1, 0] == pytest.approx(SURE_A[0], abs=0.01)


def test_labels_of_a_dataset_count_unless_something_speaks_against_it() -> None:
    numbers = [str(number + 1) for number in range(200)]
    at_random = in_drawn_order(numbers, 3)[:80]
    labels = [A if number in at_random else None for number in numbers]
    part = taken(system({"safety": [A, B] * 100}), with_candidates(labels))
    assert part.labels == 80
    assert "They count as a random part of all" in part.sentences[0]
    # Now labels of those items alone that the judge calls ties.
    ties = system({"safety": [GOOD] * 40 + [A] * 160})
    with pytest.raises(SetupError, match="the judge's rate of ties on them is 100 %"):
        labelled_part(ties, with_candidates([A] * 40 + [None] * 160), "safety")


def found(judge: System, gold: Dataset) -> RankedByLabels:
    return followed(by_labels(judge, gold, "safety"), id)


def texts(of: RankedByLabels) -> str:
    return "\n".join(
        text
        for section in correction_sections(of)
        for part in section.parts
        if isinstance(part, Sentences)
        for text in part.texts
    )


def test_what_labels_make_of_a_judge_is_shown_beside_both_alone() -> None:
    random = np.random.default_rng(1)
    annotators = [A if random.random() < 0.6 else B for _ in range(300)]
    judge = system({"safety": [label if random.random() < 0.8 else A for label in annotators]})
    labelled = random.permutation(300) < 120
    gold = [label if here else None for label, here in zip(annotators, labelled, strict=True)]
    of = found(judge, with_candidates(gold))
    sections = correction_sections(of)
    assert [section.key for section in sections] == ["corrected", "favour", "features", "how_many"]
    table = next(part for part in sections[0].parts if isinstance(part, Table))
    titles = ["candidate", "corrected (%)", "of these items", "labels only (%)", "judge only"]
    assert [column.title for column in table.columns][:5] == titles
    assert {row[0] for row in table.rows} == set(NAMES)
    assert "With the judge on all items, labels of 120 of 300 items are worth" in texts(of)
    assert "120 labels on 300 items detect differences of two win rates from" in texts(of)
    assert "of which" in texts(of)
    # Items that the judge has not come to take no part.
    some = found(
        system({"safety": [A, B, B, A] * 30}), with_candidates([(A, B, None)[n % 3] for n in range(200)])
    )
    assert some.correction is not None
    assert (some.correction.labelled, some.correction.items) == (80, 120)


def test_a_judge_of_one_answer_adds_nothing_and_it_says_so() -> None:
    random = np.random.default_rng(1)
    labels = [(A, B, TIE, None)[place] for place in random.integers(0, 4, 200)]
    of = found(system({"safety": [GOOD] * 200}), with_candidates(labels))
    assert "The judge adds nothing to the labels of" in texts(of)
    assert all(one.rate == one.labels for one in there(of.correction).candidates.values())


def test_without_labels_it_says_how_many_it_takes_and_of_all_labelled_that_there_is_nothing_to_do() -> None:
    none = found(system({"safety": [A, B] * 100}), with_candidates([None] * 200))
    assert (none.part, none.correction) == (None, None)
    assert "with a judge whose correlation with annotators is 0.6" in texts(none)
    everything = found(system({"safety": [A, B] * 100}), with_candidates([A, B] * 100))
    assert everything.correction is None
    assert "there is nothing to correct" in texts(everything)
    assert [section.key for section in correction_sections(everything)] == ["corrected", "favour", "features"]


def test_of_a_dataset_items_of_the_sample_without_this_label_belong_to_it() -> None:
    """As those of the run that it was exported from: labelled on another criterion alone, or skipped."""
    gold = with_candidates([A if item in DRAWN[:20] else None for item in GOLD.ids])
    cells = dict.fromkeys(DRAWN[:28], "labelled") | dict.fromkeys(DRAWN[28:30], "skipped")
    beside = {name: gold.texts(name).to_pylist() for name in ("candidate_a", "candidate_b")}
    beside["random_sample"] = [cells.get(item, "") for item in gold.ids]
    beside["safety_origin"] = ["random" if item in DRAWN[:20] else "" for item in gold.ids]
    told = replace(gold, others=text_table(beside))
    part = taken(system({"safety": [A] * ITEMS}), told)
    assert part.missing == set(DRAWN[20:30])
    assert "10 items of it have no such label, 2 of them skipped" in " ".join(part.sentences)
