"""The short part of the hostile bench: the same generators, a fixed seed, and nothing that is not sound."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from bench.hostile import datasets, models, structure
from bench.hostile.gguf_parts import take_apart
from bench.hostile.outcomes import Ending, ValueCounts
from bench.hostile.readers import Nested, Unreadable, raw_predictions
from bench.hostile.tables import KNOWN
from bench.hostile.workers import Attempt, Worker, tried
from tests.small_models import FAMILIES
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


def test_cases_are_the_same_each_time(tmp_path: Path) -> None:
    made = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        for number in range(1, 20):
            datasets.try_case(Attempt(number, Random(f"{SEED}/{number}"), folder, lambda *_: None))
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1]


def test_a_worker_that_breaks_down_is_counted_and_replaced(tmp_path: Path) -> None:
    tally = tried("breaking_down", SEED, range(3), tmp_path)
    assert tally.counts == {Ending.BROKE_IN_TRIAL: 2, Ending.CRASH: 1}
    assert [number for number, _ in tally.unsound] == [1]
    assert "exit code" in (tmp_path / f"breaking_down-{SEED}-1" / "report.txt").read_text()


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("lost row", b"id\tinstruction\toutput_a\toutput_b\n1\ta\tb\tc\n", Ending.TAKEN),
        ("short row", b"id\tinstruction\toutput_a\toutput_b\n1\ta\tb\n", Ending.REFUSED),
    ],
)
def test_the_oracle_takes_and_refuses(name: str, data: bytes, expected: Ending, tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    path.write_bytes(data)
    assert datasets.of_damaged(path, data, name).ending is expected


def test_the_oracle_sees_a_loss(tmp_path: Path) -> None:
    """The engine is given another file than the independent reader: as if it had left a row out."""
    path, header = tmp_path / "data.csv", b"id,instruction,output_a,output_b\n"
    path.write_bytes(header + b"1,a,b,c\n")
    assert datasets.of_damaged(path, header + b"1,a,b,c\n2,a,b,c\n", "").ending is Ending.LOSS
    assert datasets.of_damaged(path, header + b"1,a,b,C\n", "").ending is Ending.LOSS
    assert datasets.of_damaged(path, header + b'1,a,b,"c\n', "").ending is Ending.LOSS


def test_the_independent_reader_keeps_to_the_file() -> None:
    data = b'[{"id": 1.50, "instruction": {"a": [1e999]}, "output_a": null, "output_b": true}]'
    ((row,),) = raw_predictions(data, ".json", KNOWN)
    assert (row["id"], row["output_a"], row["output_b"]) == ("1.50", "", "true")
    assert isinstance(row["instruction"], Nested)
    assert row["instruction"].spelt_by('{"a": [1e999]}')
    assert not row["instruction"].spelt_by('{"a": [1e998]}')
    with pytest.raises(Unreadable):
        raw_predictions(b'[{"id": 1, "id": 2}]', ".json", KNOWN)


@pytest.mark.slow
def test_a_carriage_return_can_be_read_in_two_ways() -> None:
    methods = raw_predictions(b"id,instruction\n1,a\rb\n", ".csv", ("id", "instruction"))
    assert methods == [[{"id": "1", "instruction": "a\rb"}]]
    assert len(raw_predictions(b"id,note\n1,a\r2,b\n", ".csv", ("id",))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("family", models.FAMILY_NAMES)
def test_a_model_taken_apart_is_the_same_again(family: str, tmp_path: Path) -> None:
    path = FAMILIES[family](tmp_path / "model.gguf")
    assert take_apart(path).joined() == path.read_bytes()
