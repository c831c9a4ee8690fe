"""A small part of the bench of coverage: every thing that the program says, in few worlds."""

import time
from collections.abc import Iterator

import numpy as np
import pytest

import bench.coverage.__main__  # noqa: F401 - its parts come into the table as it is imported
from bench.coverage import calibrations
from bench.coverage.calibrations import Judge
from bench.coverage.claims import PARTS, Claim, Part
from bench.coverage.learning import Truth, World

_WORLDS = 25
_SECONDS = 0.2  # of processor time for a part, after which no further kind of world is begun
FREQUENT = (0.38, 0.32, 0.2, 0.1)


def some(part: Part) -> Iterator[Claim]:
    """The first kinds of worlds of a part, one at least."""
    begun = time.process_time()
    for claim in part(_WORLDS):
        yield claim
        if time.process_time() - begun > _SECONDS:
            return


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_what_is_said_is_so_in_a_few_worlds(name: str) -> None:
    for part in PARTS[name]:
        claims = list(some(part))
        assert claims
        assert not [claim.line for claim in claims if claim.is_broken]


def test_readings_are_kept_where_they_help_and_hardly_cost_where_they_do_not() -> None:
    random = np.random.default_rng(0)
    helping, idle = (
        np.array([calibrations._losses(Judge(FREQUENT, signal), 50, random) for _ in range(4)]).mean(axis=0)
        for signal in (0.8, 0.0)
    )
    chosen, frequencies, fitted = helping
    assert chosen < frequencies - 0.15
    assert chosen < fitted + 0.01
    assert idle[0] < idle[1] + 0.02


def test_no_label_depends_on_the_place() -> None:
    random = np.random.default_rng(0)
    judges = (Judge(FREQUENT, signal) for signal in (0.0, 1.5))
    assert not any(calibrations.depend_on_place(random, judge, 40).any() for judge in judges)


@pytest.mark.slow
def test_the_least_margin_keeps_what_is_wanted_calibrated_too() -> None:
    random, judge = np.random.default_rng(0), Judge(FREQUENT, 1.5, token_bias=1.5, of_order=0.3)
    drawn = np.array([calibrations.labels_kept(random, judge) for _ in range(3)])
    assert drawn[:, 2:].mean() < 0.02


def test_what_labels_teach_in_a_world_is_what_a_curve_of_it_says() -> None:
    world = World(FREQUENT, 1.5, 60)
    (before, _), (after, right) = Truth(world, (3, 48), 0, draws=4).means
    curve = world.curve(np.random.default_rng(1))
    assert after < before - 0.3  # three labels: how frequent they are is all that is used
    assert abs(curve.points[-1].log_loss.value - after) < 0.25
    assert abs(curve.points[-1].right.value - right) < 0.2
