"""When a limit is surely passed: exactly as seldom by chance as is said, however often it is looked at."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

from engine.core.errors import Hint
from engine.core.health import Sign
from engine.core.numeric import clopper_pearson, worth_of
from engine.core.rubric import ELOQUENT
from engine.results.health import (
    LEAST_ITEMS,
    LIMITS,
    MOST_ITEMS,
    UNCERTAINTY,
    HealthWatch,
    Mean,
    looked_for,
    mean_of,
)

LOOKS = (10, 20, 40, 80, 160, 320, 640, 1280, MOST_ITEMS)


def alarms(limit: float, uncertainty: float) -> float:
    """How probable an alarm is at any of the looks, where the true share is the limit itself."""
    still, said = np.ones(1), 0.0  # of each count that was found so far, and no alarm
    for seen, items in pairwise((0, *LOOKS)):
        more = items - seen
        still = np.convolve(still, binom.pmf(np.arange(more + 1), more, limit))
        found = [Mean(count / items, items) for count in range(items + 1)]
        beyond = [one.is_significantly_beyond(limit, below=False, uncertainty=uncertainty) for one in found]
        said += float(still[beyond].sum())
        still[beyond] = 0
    return said


@pytest.mark.parametrize(
    ("limit", "criteria"), [(LIMITS[Sign.FLIPPED].look, 1), (LIMITS[Sign.FLIPPED].look, 5), (0.05, 5)]
)
def test_in_few_runs_chance_alone_makes_a_sign_at_any_look(limit: float, criteria: int) -> None:
    of_one = alarms(limit, UNCERTAINTY / criteria)
    assert 0.02 < 1 - (1 - of_one) ** criteria < 0.05


def test_a_watch_is_due_at_these_looks_alone() -> None:
    watch, due = HealthWatch(ELOQUENT, explains=False), []
    for item in range(1, MOST_ITEMS):
        watch.items = item
        if watch.is_due:
            due.append(item)
    assert (*due, MOST_ITEMS) == LOOKS
    assert due[0] == LEAST_ITEMS


def test_a_limit_is_passed_where_the_whole_interval_has_passed_it() -> None:
    # Of Clopper and Pearson's table: 8 of 10 with a tail of 2.5 %.
    assert clopper_pearson(0.8, 10) == pytest.approx((0.4439, 0.9748), abs=1e-4)
    assert clopper_pearson(1.0, 10) == pytest.approx((0.025**0.1, 1.0))
    assert clopper_pearson(0.0, 10) == pytest.approx((0.0, 1 - 0.025**0.1))
    (sure,) = looked_for(Sign.FLIPPED, {"a": Mean(0.8, 10)}, str, Hint(""))
    (unsure,) = looked_for(Sign.FLIPPED, {"a": Mean(0.7, 10)}, str, Hint(""))
    assert (sure.sure, unsure.sure, unsure.serious) == (True, False, False)
    assert not list(looked_for(Sign.FLIPPED, {"a": Mean(0.3, 10)}, str, Hint("")))


def test_means_that_vary_little_are_worth_more_than_shares() -> None:
    assert worth_of([0.0, 1.0, 1.0, 1.0]) == pytest.approx(4)
    assert worth_of([1.0] * 10) == 10
    assert worth_of([0.8] * 10) == pytest.approx(60)


def test_in_few_runs_chance_alone_makes_a_format_mass_low() -> None:
    random, low = np.random.default_rng(30), 0
    limit = LIMITS[Sign.ANSWER_MASS].look
    for _ in range(400):
        masses = random.beta(10 * limit, 10 * (1 - limit), 80)
        low += any(
            mean_of(masses[:items].tolist()).is_significantly_beyond(
                limit, below=True, uncertainty=UNCERTAINTY
            )
            for items in (10, 20, 40, 80)
        )
    assert low < 0.05 * 400
