"""What is known of a run by what it reports, by a clock that the test moves."""

import pytest

from engine.core.events import (
    ClusterUnderWay,
    DeviceLeft,
    GroupUnderWay,
    HealthSeen,
    ItemJudged,
    ModelOpened,
    Preparing,
    RunFollower,
    RunProgress,
    RunStarted,
    TokensEvaluated,
)
from engine.core.health import NOT_LOOKED_AT
from engine.core.judgments import JudgedItem, Unscored
from tests.steps import there

GROUP = GroupUnderWay(0, 1, 0, "x7", False, 512, 1200, seconds=40, seconds_left=80, run_seconds_left=300)
JUDGED = ItemJudged(JudgedItem(0, "x7", "", {}), (Unscored("x7", "safety", "no letter"),))


class Clock:
    """Stands still until it is moved."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def run(clock: Clock) -> RunFollower:
    return RunFollower("Waiting …", clock)


def far(run: RunFollower) -> RunProgress:
    return there(run.progress)


def test_items_are_counted_from_what_was_judged_before(run: RunFollower) -> None:
    assert (run.note, run.progress, run.health) == ("Waiting …", None, None)
    run.follow(Preparing("Loading the model"))
    assert run.note == "Loading the model …"
    run.follow(ModelOpened(""))
    assert (run.note, run.progress) == ("", None)  # before it has begun only what is done is known
    for event in (RunStarted(7, 30, 5), JUDGED, JUDGED, HealthSeen(NOT_LOOKED_AT)):
        run.follow(event)
    assert far(run) == RunProgress(7, 30, judged=7, judged_before=5, unscored=2, tokens_per_second=None)
    assert run.health is NOT_LOOKED_AT


def test_what_a_gpu_had_judged_is_of_this_session_where_the_processor_begins_anew(run: RunFollower) -> None:
    for event in (RunStarted(1, 30, 5), JUDGED, GROUP, DeviceLeft("A card", "it hung"), RunStarted(1, 30, 6)):
        run.follow(event)
    assert far(run) == RunProgress(1, 30, judged=6, judged_before=5, unscored=1, left=300)


def test_the_rate_is_that_of_the_last_half_minute(run: RunFollower, clock: Clock) -> None:
    run.follow(RunStarted(1, 30, 0))
    run.follow(ModelOpened(""))
    assert far(run).tokens_per_second is None
    for tokens in (100, 100, 100, 500, 500, 500, 500):
        clock.now += 10
        run.follow(TokensEvaluated(tokens))
    assert far(run).tokens_per_second == 50
    assert (far(run).tokens, far(run).elapsed) == (2300, 70)
    clock.now += 10  # nothing is heard of it
    assert far(run).tokens_per_second == 37.5


def test_what_is_left_and_a_stop_loses_go_on_where_nothing_is_heard(run: RunFollower, clock: Clock) -> None:
    run.follow(RunStarted(1, 30, 0))
    run.follow(GROUP)
    clock.now += 20
    group = there(far(run).group)
    assert (group.seconds, group.seconds_left, far(run).left) == (60, 60, 280)
    run.follow(JUDGED)
    assert (far(run).group, far(run).left) == (None, 280)
    clock.now += 400
    assert far(run).left == 0


def test_of_other_computers_it_is_known_who_judges_and_until_when(run: RunFollower) -> None:
    run.follow(RunStarted(1, 30, 0))
    for event in (ClusterUnderWay(2, 8, 90.0), ClusterUnderWay(3, 8, None)):
        run.follow(event)
    assert run.cluster == ClusterUnderWay(3, 8, None)
    assert far(run).left == 90


def test_at_the_end_time_stands_still(run: RunFollower, clock: Clock) -> None:
    for event in (RunStarted(1, 30, 0), ModelOpened("An unknown chat format."), GROUP, JUDGED):
        run.follow(event)
    assert run.note == "An unknown chat format."
    clock.now += 60
    run.end()
    clock.now += 60
    assert (far(run).elapsed, far(run).left, far(run).group, run.note) == (60, None, None, "")
