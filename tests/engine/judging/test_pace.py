"""How long work takes, from how long work took."""

import numpy as np
import pytest

from engine.core.events import GroupUnderWay
from engine.core.items import Item
from engine.judging.forecast import rate_of
from engine.judging.item_reader import Remaining, TimeEstimate
from engine.settings.identity import Effort

READING, WRITING = 0.01, 0.08  # seconds for a token


def time_estimate_of(items: int, tokens: int = 1000, length: int = 30) -> TimeEstimate:
    """So many items with five explanations each were judged, of 100 letters and of 200 tokens without."""
    time_estimate = TimeEstimate()
    for _ in range(items):
        time_estimate.sized(Item("1", "x" * 100, "", ""), tokens)
        time_estimate.read(tokens, READING * tokens)
        time_estimate.wrote(5 * length, 5, WRITING * 5 * length)
    return time_estimate


def test_what_is_left_is_counted_by_letters_and_explanations() -> None:
    left = Remaining(np.array([100.0, 100.0, 200.0, 50.0]), [2, 2], fixed=200, texts=5)
    time_estimate = time_estimate_of(4)  # 800 tokens for 100 letters
    reading = READING * (200 + 1600 + 200 + 400)
    assert left.after(0, time_estimate) == pytest.approx(reading + 2 * WRITING * 150)
    assert left.after(1, time_estimate) == 0


def test_what_is_left_is_not_known_before_something_was_read_and_written() -> None:
    left = Remaining(np.array([100.0, 100.0]), [1, 1], fixed=200, texts=5)
    assert left.after(0, TimeEstimate()) is None
    assert left.after(0, time_estimate_of(3)) is None
    reads = TimeEstimate()
    for _ in range(4):
        reads.sized(Item("1", "x", "", ""), 1000)
        reads.read(1000, 1.0)
    assert left.after(0, reads) is None
    labels = Remaining(np.array([100.0, 100.0]), [1, 1], fixed=200, texts=0)
    assert labels.after(0, reads) is not None


def test_second_orders_are_expected_as_often_as_they_were_needed() -> None:
    time_estimate = TimeEstimate()
    assert time_estimate.share_of_second_orders == 1.0  # nothing is known: all may be
    for place in range(4):
        time_estimate.sized(Item("1", "x" * 100, "", ""), 200)
        time_estimate.read(200, 2.0)
        time_estimate.decided(80 if place == 0 else None)
    time_estimate.read(80, 0.8)
    assert time_estimate.share_of_second_orders == 0.25
    # 880 tokens for 400 letters, at 0.01 s: a second order for one item of four is in it.
    left = Remaining(np.array([100.0, 100.0]), [1, 1], fixed=0, texts=0)
    assert left.after(0, time_estimate) == pytest.approx(2.2)


def test_a_rate_tells_tokens_that_are_read_from_those_that_are_written() -> None:
    random = np.random.default_rng(0)
    efforts = [
        Effort(READING * read + WRITING * written, read, written)
        for read, written in random.integers((800, 100), (4000, 400), (40, 2)).tolist()
    ]
    rate = rate_of(efforts, 5, run_id=1)
    assert rate.seconds_per_token == pytest.approx(READING)
    assert rate.ratio == pytest.approx(WRITING / READING)


@pytest.mark.parametrize("items", [1, 30])
def test_items_that_all_read_and_write_as_much_take_what_they_took(items: int) -> None:
    rate = rate_of([Effort(30.0, 1000, 200)] * items, 5, run_id=1)
    assert rate.tokens_per_text == 40
    assert rate.seconds_per_token * (1000 + rate.ratio * 200) == pytest.approx(30)


def test_a_group_says_what_a_stop_would_lose() -> None:
    group = GroupUnderWay(
        first=8, last=9, position=8, item_id="x", writing=False, done=5, total=9, seconds=40, seconds_left=125
    )
    assert group.loss_in_words == (
        "Stopping now loses 40 s of work on the 2 items judged now; in about 2 min it is stored."
    )
    later = group.after(200)
    assert (later.seconds, later.seconds_left) == (240, 0)
    assert "2 min" in group.ending_in_words
