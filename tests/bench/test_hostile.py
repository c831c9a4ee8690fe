"""The short part of the hostile bench: the same generators, a fixed seed, and nothing that is not sound."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench.hostile import structure
from bench.hostile.cases import ValueCounts, Worker, tried
from tests.tokenizer_kinds import KINDS

SEED = 20_240
LIMIT = 120.0  # a hang is a hang also where many tests share a processor


def unsound(tally: ValueCounts) -> str:
    """What to say of cases that are not sound, with how to try them again."""
    return "\n".join(
        f"--seed {SEED} --only {tally.kind}:{number}: {outcome.ending}\n{outcome.case}\n{outcome.words}"
        for number, outcome in tally.unsound
    )


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """One process for the cases of all kinds: to start it takes longer than most of them."""
    with closing(Worker(tmp_path_factory.mktemp("worker"), LIMIT)) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        # 0, 100, ... go through the commands, which takes seconds.
        pytest.param("datasets", range(1), marks=pytest.mark.models),
        ("datasets", range(1, 60)),
        ("records", range(1, 50)),
        ("models", range(1, 13)),
        ("templates", range(2)),
        pytest.param("stores", range(1), marks=pytest.mark.models),
        ("paths", range(0, 1100, 220)),
        ("structure", range(len(structure.SMALL))),
        ("turns", range(4)),
        ("tokenizers", range(len(KINDS))),
    ],
)
def test_hostile_files_do_no_harm(kind: str, numbers: range, tmp_path: Path, worker: Worker) -> None:
    tally = tried(kind, SEED, numbers, tmp_path, worker=worker)
    assert not tally.unsound, unsound(tally)
    assert tally.counts.total() == len(numbers)
