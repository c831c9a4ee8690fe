"""Which kinds of computers judged which items, kept in short; and how near labels are to others."""

import math
from dataclasses import asdict, replace

import pytest

from engine.cluster.cluster_run import margin
from engine.cluster.task_queue import KindRecord
from engine.cluster.worker_model import WorkerFacts, device_of, differences, facts_here, refused
from engine.core.codec import record_of
from engine.core.errors import SetupError
from engine.core.items import Preference
from engine.core.judgments import Judgment
from engine.settings.identity import kind_in_words
from engine.settings.rows import MachineSettings

OLD, NEW = {"llama_cpp": "1", "processor": "AVX"}, {"llama_cpp": "1", "processor": "AVX2"}
HERE = WorkerFacts("here", "1.0", "1", "3.11", "build 1", "AVX2", "", "", 4)


def test_the_record_is_short_whatever_the_order() -> None:
    record = KindRecord()
    for place in (4, 0, 2, 6):
        record.add(OLD, [place, place + 1])
    record.add(NEW, [9])
    assert record.as_json() == [{**OLD, "judged": "0-7"}, {**NEW, "judged": "9"}]


def test_a_record_goes_on_and_who_judges_again_takes_over() -> None:
    record = KindRecord([{**OLD, "judged": "0-7"}, {**NEW, "judged": "9"}])
    record.add(NEW, [2, 3])
    assert record.as_json() == [{**OLD, "judged": "0-1,4-7"}, {**NEW, "judged": "2-3,9"}]
    assert record.kinds == [OLD, NEW]


def test_people_read_how_many_items_a_kind_judged() -> None:
    assert kind_in_words({**OLD, "judged": "0-1,4-7,9"}) == "7 items by 1, AVX"


def test_a_damaged_record_is_no_fault() -> None:
    assert KindRecord([{**OLD, "judged": "x,3-,-4,5"}]).as_json() == [{**OLD, "judged": "3,5"}]


def test_facts_come_back_and_nothing_else_is_believed() -> None:
    own = facts_here(MachineSettings(2))
    assert record_of(asdict(own), WorkerFacts) == own
    for wrong in (
        None,
        {},
        {**asdict(own), "threads": "2"},
        {**asdict(own), "threads": 10**400},
        {**asdict(own), "llama_cpp": "x" * 5000},
    ):
        with pytest.raises(ValueError, match=r"threads|llama_cpp|an object|missing"):
            record_of(wrong, WorkerFacts)


@pytest.mark.parametrize("name", ["version", "prompt_version", "python", "llama_cpp"])
def test_a_worker_that_could_judge_otherwise_is_refused(name: str) -> None:
    other = record_of({**asdict(HERE), name: "another"}, WorkerFacts)
    assert refused(HERE, HERE) is None
    found = refused(other, HERE)
    assert found is not None
    assert "another" in found.problem
    assert (refused(other, HERE, mixed_builds=True) is None) == (name == "llama_cpp")


def test_other_processors_are_allowed_and_told() -> None:
    other = replace(HERE, processor="AVX512")
    assert refused(other, HERE) is None
    assert differences([HERE.kind, other.kind]) == "the processor"
    assert differences([HERE.kind, HERE.kind]) == ""


def test_all_workers_compute_with_one_device() -> None:
    gpu = replace(HERE, device="Vulkan: X")
    assert device_of([HERE]) is None
    assert device_of([gpu, gpu]) == "Vulkan: X"
    with pytest.raises(SetupError, match="different compute devices"):
        device_of([HERE, gpu])


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [((0.5, 0.25, 0.125, 0.125), math.log(2)), ((0.25,) * 4, 0.0), ((1.0, 0.0, 0.0, 0.0), math.inf)],
)
def test_the_margin_of_a_label(probabilities: tuple[float, float, float, float], expected: float) -> None:
    judgment = Judgment("1", "safety", Preference.A, probabilities, None, 1.0, ())
    assert margin(judgment) == pytest.approx(expected)
