"""The garbage collector rests while jobs make records, and works again after the last of them."""

import gc
from collections.abc import Iterator

import pytest

from gui.work.gc_pause import many_records


@pytest.fixture(autouse=True)
def _unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_the_first_of_two_jobs_to_end_leaves_the_collector_off() -> None:
    one, other = many_records(), many_records()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert not gc.isenabled()
    other.__exit__(None, None, None)
    assert gc.isenabled()


def test_a_job_that_fails_leaves_it_on() -> None:
    with pytest.raises(ValueError, match="no"), many_records():
        raise ValueError("no")
    assert gc.isenabled()


@pytest.mark.parametrize(("count", "kept"), [(1_000, False), (300_000, True)])
def test_only_very_many_records_are_never_looked_at(count: int, kept: bool) -> None:
    gc.unfreeze()
    with many_records():
        made = [[place] for place in range(count)]
    assert (gc.get_freeze_count() > 0) is kept
    assert len(made) == count
