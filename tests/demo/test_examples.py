"""The files of examples/ of the demo's world: what their script writes, and nothing of it was trained on."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from engine.core.events import followed
from engine.core.items import PREFERENCES
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.ranking.comparisons import comparisons_of, human_said, labels_said
from engine.ranking.ranking import win_rates
from models.demo import make_examples
from models.demo.candidates import CANDIDATES, LABELLED, QUESTIONS, candidate_contests, true_win_rates
from models.demo.manners import MANNERS
from models.demo.topics import all_topics
from models.demo.wording import REQUESTS
from models.demo.world import Comparison, World, is_held_out
from tests.commands import ROOT

DEMO = ROOT / "examples" / "demo.tsv"
OF_MANNERS = ROOT / "examples" / "demo-manners.tsv"
OF_CANDIDATES = ROOT / "examples" / "demo-candidates.tsv"


def test_the_file_is_what_its_script_writes(tmp_path: Path) -> None:
    make_examples.write_examples(tmp_path / "demo.tsv")
    assert (tmp_path / "demo.tsv").read_bytes() == DEMO.read_bytes()
    make_examples.write_manners(tmp_path / "manners.tsv")
    assert (tmp_path / "manners.tsv").read_bytes() == OF_MANNERS.read_bytes()
    make_examples.write_candidates(tmp_path / "candidates.tsv")
    assert (tmp_path / "candidates.tsv").read_bytes() == OF_CANDIDATES.read_bytes()


def test_the_file_loads_as_the_items_that_were_made() -> None:
    dataset = load_dataset(DEMO)
    assert list(dataset) == list(make_examples.demo_items())
    assert len(dataset) >= 200
    assert not dataset.notices


def test_the_file_of_manners_loads_by_its_rubric() -> None:
    dataset = load_dataset(OF_MANNERS, MANNERS)
    assert list(dataset) == list(make_examples.manners_items())
    assert len(dataset) >= 120
    assert not dataset.notices


@pytest.mark.parametrize("comparisons", [make_examples.demo_comparisons, make_examples.manners_comparisons])
def test_every_question_is_held_out_and_asked_once(comparisons: Callable[[], Iterator[Comparison]]) -> None:
    questions = [comparison.question for comparison in comparisons()]
    assert all(map(is_held_out, questions))
    assert len(set(questions)) == len(questions)


def test_no_instruction_can_occur_in_training() -> None:
    questions = {question for topic in all_topics().topics for question in topic.questions}
    trained = {
        frame.format(question=question)
        for question in questions
        if not is_held_out(question)
        for frame in REQUESTS
    }
    assert not trained & {item.instruction for item in load_dataset(DEMO)}
    assert not trained & {item.instruction for item in load_dataset(OF_MANNERS, MANNERS)}
    drawn = islice(World().comparisons(Random(0), held_out=False), 500)
    assert all(comparison.instruction in trained for comparison in drawn)


@pytest.mark.parametrize("criterion", ELOQUENT.names)
def test_all_four_labels_occur_often(criterion: str) -> None:
    counts = Counter(item.gold[criterion].label for item in load_dataset(DEMO))
    assert min(counts[label] for label in PREFERENCES) >= 20


@pytest.mark.parametrize("criterion", MANNERS.names)
def test_all_four_labels_of_manners_occur_often(criterion: str) -> None:
    counts = Counter(item.gold[criterion].label for item in load_dataset(OF_MANNERS, MANNERS))
    assert min(counts[label] for label in PREFERENCES) >= 15


def test_each_candidate_meets_each_other_once_on_each_instruction() -> None:
    dataset = load_dataset(OF_CANDIDATES)
    contests = comparisons_of(dataset, human_said(dataset, "overall_quality"))
    assert len(dataset) == QUESTIONS * 6
    assert int(contests.known.sum()) == LABELLED
    met = Counter(
        (instruction, *sorted((one, other)))
        for instruction, one, other in zip(
            contests.instructions.tolist(), contests.first.tolist(), contests.second.tolist(), strict=True
        )
    )
    assert len(met) == QUESTIONS * 6
    assert set(contests.names) == set(CANDIDATES)
    assert all(is_held_out(contest.comparison.question) for contest in candidate_contests())


def test_the_labels_of_all_contests_rank_the_candidates_as_they_were_made() -> None:
    dataset = load_dataset(OF_CANDIDATES)
    labels = [contest.comparison.preferences["overall_quality"] for contest in candidate_contests()]
    found = followed(win_rates(comparisons_of(dataset, labels_said(labels))), id).candidates
    truth = true_win_rates()
    assert sum(truth.values()) == pytest.approx(len(CANDIDATES) / 2)
    assert sorted(found, key=lambda name: -found[name].rate.value) == sorted(
        truth, key=lambda name: -truth[name]
    )
    for name, rate in truth.items():
        ends = found[name].rate.ends
        assert ends is not None
        assert ends[0] <= rate <= ends[1]
        assert f"| {name} |" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
