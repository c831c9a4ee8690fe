"""Which thresholds of confidence pass: counts by which they must, levels that are handed on, judges in turn,
bets, and what is forecast.
"""

import numpy as np
import pytest

from engine.metrics.trust import UNSCORED, JudgedConfidence, Promise, Trust, TrustSample, forecast
from tests.steps import there


def part(*agreement: list[float], confidence: list[list[float]] | None = None) -> TrustSample:
    """Labelled items of an instruction each, all as sure unless it is said."""
    sure = np.array(confidence) if confidence else np.full((len(agreement), len(agreement[0])), 0.9)
    return TrustSample(sure, np.array(agreement), list(range(len(agreement[0]))))


def judged(*confidence: list[float]) -> JudgedConfidence:
    return JudgedConfidence(np.array(confidence), list(range(len(confidence[0]))))


ALL_ALIKE = judged([0.9] * 1000)


@pytest.mark.parametrize(
    ("target", "risk", "needed"),
    [
        (0.8, 0.1, [18, 25, 32, 38, 45]),
        (0.9, 0.1, [38, 52, 65, 78, 91]),
        (0.85, 0.05, [30, 40, 50, 59, 68]),
        (0.95, 0.05, [93, 124, 153, 181, 208]),
    ],
)
def test_it_needs_as_many_labels_as_a_binomial_test(target: float, risk: float, needed: list[int]) -> None:
    for disagreements, labels in enumerate(needed, start=1):
        for count, passes in ((labels, True), (labels - 1, False)):
            agreement = [0.0] * disagreements + [1.0] * (count - disagreements)
            found = Trust.of(ALL_ALIKE, part(agreement), Promise(target, risk))
            assert (found.taken is not None) is passes, (disagreements, count)
            assert found.accepted == (1.0 if passes else 0.0)


def test_labels_of_one_instruction_count_for_less() -> None:
    agreement = [1.0] * 40
    alike = TrustSample(np.full((1, 40), 0.9), np.array([agreement]), [each // 4 for each in range(40)])
    assert Trust.of(ALL_ALIKE, part(agreement), Promise(0.9)).taken
    assert not Trust.of(ALL_ALIKE, alike, Promise(0.9)).taken


def test_half_of_the_risk_starts_at_the_top_half_in_the_middle_and_is_handed_on() -> None:
    sure = [place / 100 for place in range(1, 101)]
    agreement = [0.0] * 50 + [1.0] * 50  # the surer half is right
    found = Trust.of(judged(sure), part(agreement, confidence=[sure]), Promise(0.6, 0.1))
    levels = {round(each.confidence, 2): each.level for each in found.thresholds}
    assert levels[0.91] == 0.05  # ten labels of ten instructions: the first that can pass
    assert levels[0.51] == pytest.approx(0.05)  # handed on from the top
    assert levels[0.41] == pytest.approx(0.1)  # the middle one has its own half, too
    assert levels[0.31] == pytest.approx(0.1)
    assert levels[0.21] == pytest.approx(0.1)
    assert levels[0.11] == 0.0  # nothing is handed on by one that failed
    assert found.accepted == pytest.approx(0.7)
    failed = [each.confidence for each in found.thresholds if not each.passed]
    assert max(failed) < there(found.taken).confidence


def test_a_threshold_is_not_chosen_by_what_the_labels_say() -> None:
    sure = [place / 100 for place in range(1, 101)]
    every = judged(sure)
    one, other = (part(list(map(float, own)), confidence=[sure]) for own in ([1] * 100, [0, 1] * 50))
    places = [[at.confidence for at in Trust.of(every, own, Promise()).thresholds] for own in (one, other)]
    assert places[0] == places[1]


def test_how_many_more_labels_are_needed_is_said_where_they_would_help() -> None:
    nearly = Trust.of(ALL_ALIKE, part([0.0] + [1.0] * 12), Promise(0.8))
    assert nearly.taken is None
    times = (13 + there(nearly.more_labels)) / 13
    more = part([0.0] * round(times) + [1.0] * round(12 * times))
    assert Trust.of(ALL_ALIKE, more, Promise(0.8)).taken
    assert Trust.of(ALL_ALIKE, part([0.0] * 6 + [1.0] * 14), Promise(0.8)).more_labels is None


def test_more_labels_are_for_the_thresholds_that_have_a_level() -> None:
    """With twice as many labels one of ten would pass at half the risk, but has none of it."""
    random = np.random.default_rng(6)
    sure = random.random(60)
    agreement = (random.random(60) < 0.75 + 0.2 * sure) * 1.0

    def of_times(times: int) -> Trust:
        more = TrustSample(np.tile(sure, (1, times)), np.tile(agreement, (1, times)), range(60 * times))
        return Trust.of(judged(sure.tolist()), more, Promise())

    found = of_times(1)
    times = (60 + there(found.more_labels)) / 60
    assert not any(of_times(each).taken for each in (1, 4, int(0.8 * times)))
    assert of_times(round(times) + 1).taken


def test_what_is_not_judged_never_stands() -> None:
    half = judged([UNSCORED] * 500 + [0.9] * 500)
    found = Trust.of(half, part([1.0] * 40), Promise(0.8))
    assert found.accepted == 0.5
    assert there(found.taken).confidence == 0.9


def test_a_second_judge_decides_what_the_first_is_not_sure_of() -> None:
    first, second = [0.9, 0.4] * 50, [0.2, 0.8] * 50
    labels = part([1.0, 0.0] * 50, [0.0, 1.0] * 50, confidence=[first, second])
    found = Trust.of(judged(first, second), labels, Promise(0.9))
    assert found.taken is not None
    assert found.taken.confidence == 0.8
    assert there(found.taken.agreement).value == 1.0
    assert judged(first, second).decided_by(0.8).tolist() == [0.5, 0.5]
    assert judged(first, second).decided_by(0.3).tolist() == [1.0, 0.0]  # by the first who is sure enough


def test_bets_count_an_instruction_once_and_hold_at_any_time() -> None:
    promise = Promise(0.8, 0.1, anytime=True)
    right = part([1.0] * 40)
    found = Trust.of(ALL_ALIKE, right, promise)
    won = [[1 + bet / 0.8 * 0.2] * 40 for bet in (0.1, 0.3, 0.5, 0.7, 0.9)]
    wealth = np.cumprod(won, axis=1).mean(axis=0)
    assert found.thresholds[0].p == pytest.approx(1 / wealth[-1])
    # Won once, a test stays won, whatever comes later.
    lost_later = Trust.of(ALL_ALIKE, part([1.0] * 40 + [0.0] * 20), promise)
    assert lost_later.thresholds[0].p == pytest.approx(found.thresholds[0].p)
    alike = TrustSample(right.confidence, right.agreement, [each // 2 for each in range(40)])
    assert Trust.of(ALL_ALIKE, alike, promise).thresholds[0].p == pytest.approx(1 / wealth[19])


def test_more_labels_are_forecast_to_let_more_stand() -> None:
    random = np.random.default_rng(1)
    sure = random.random(600)
    drawn = random.choice(600, 80, replace=False)
    agreement = (random.random(80) < 0.6 + 0.4 * sure[drawn]).astype(float)
    labels = TrustSample(sure[None, drawn], agreement[None], drawn.tolist())
    found = forecast(JudgedConfidence(sure[None], list(range(600))), labels, Promise(0.8))
    assert [each.labels for each in found] == [50, 100, 200, 400]
    assert found[-1].something > found[0].something
    assert all(0 <= each.low <= each.middle <= each.high <= 1 for each in found)
    assert forecast(ALL_ALIKE, part([1.0] * 9), Promise()) == []
