"""A small part of the bench of coverage: every thing that the program says, in few worlds."""

import time
from collections.abc import Iterator

import pytest

from bench.coverage.__main__ import PARTS
from bench.coverage.claims import Claim, Promise, worst

_WORLDS = 25
_SECONDS = 0.2  # of processor time for a part, after which no further kind of world is begun


def some(part: str) -> Iterator[Claim]:
    """The first kinds of worlds of a part, one at least."""
    begun = time.process_time()
    for claim in PARTS[part](_WORLDS):
        yield claim
        if time.process_time() - begun > _SECONDS:
            return


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_what_is_said_is_so_in_a_few_worlds(part: str) -> None:
    claims = list(some(part))
    assert claims
    assert not [claim.line for claim in claims if claim.is_broken]


def test_a_claim_is_broken_where_it_surely_misses_its_bar() -> None:
    interval = Promise("an interval", 0.95, 0.94)
    held = Claim(interval, "a world", 930, 1000)
    missed = Claim(interval, "another", 900, 1000)
    wrong = Claim(Promise("a yes", 0.025, 0.03, at_most=True), "a world", 60, 1000)
    assert [claim.is_broken for claim in (held, missed, wrong)] == [False, True, True]
    assert list(worst([held, missed, wrong])) == [missed, wrong]
    assert missed.line.endswith("BROKEN")


def test_the_worst_kind_is_drawn_again_in_other_worlds() -> None:
    promise = Promise("a yes", 0.5, 0.4)
    claim = Claim.drawn(promise, "a world", lambda random: random.random() < 0.5, 20, 1)
    again = claim.again(50)
    assert again is not None
    assert again.of == 1000
    assert again.rate == pytest.approx(0.5, abs=0.06)
    assert Claim(promise, "a world", 3, 20).again(50) is None
