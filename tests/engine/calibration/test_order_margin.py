"""The curve of margins: what is kept and saved, and what the choice is worth on other items."""

import numpy as np
import pytest

from engine.calibration.learning import OrderTokens, margin_report
from engine.core.errors import SetupError
from engine.results.second_order import BothOrders


def read(margins: list[float], equal: list[bool]) -> BothOrders:
    ids = tuple(map(str, range(len(margins))))
    return BothOrders(("safety",), ids, np.array([margins]).T, np.array([equal]).T)


def test_the_least_margin_keeps_the_wanted_share() -> None:
    """Of 100 items the ten of the least margins would change."""
    margins = [place / 100 for place in range(100)]
    report = margin_report(read(margins, [place >= 10 for place in range(100)]), margins, keep=0.95)
    assert report.reached
    assert report.least.below == 0.05  # reads five of the ten, and keeps 95
    assert (report.least.read, report.least.equal, report.least.kept) == (0.05, 0.95, {"safety": 0.95})
    assert [point.below for point in report.points] == sorted(point.below or 0 for point in report.points)
    assert report.points[-1].below == 1.0


def test_tokens_are_saved_of_the_items_that_are_not_read_again() -> None:
    tokens = [OrderTokens(100, 60), OrderTokens(200, 40)]
    report = margin_report(read([0.2, 0.9], [True, True]), ["a", "b"], 0.99, tokens)
    by_margin = {point.below: point.saved for point in report.points}
    assert by_margin[0.1] == pytest.approx(100 / 400)
    assert by_margin[0.5] == pytest.approx(40 / 400)
    assert by_margin[1.0] == 0
    without = margin_report(read([0.2, 0.9], [True, True]), ["a", "b"], 0.99)
    assert {point.saved for point in without.points} == {None}


def test_the_choice_is_checked_on_items_that_it_was_not_made_by() -> None:
    """One item in doubt decides the margin; without it, it is lost."""
    margins, equal = [0.4] + [0.9] * 19, [False] + [True] * 19
    report = margin_report(read(margins, equal), list(range(20)), keep=1.0)
    assert report.least.equal == 1.0
    assert report.checked is not None
    assert report.checked.equal == pytest.approx(19 / 20)
    assert report.checked.below is None


def test_items_of_one_instruction_are_on_one_side() -> None:
    margins, equal = [0.4, 0.4] + [0.9] * 18, [False, False] + [True] * 18
    report = margin_report(read(margins, equal), [0, 0, *range(1, 19)], keep=1.0)
    assert report.checked is not None
    assert report.checked.equal == pytest.approx(18 / 20)
    alone = margin_report(read(margins, equal), [0] * 20, keep=1.0)
    assert alone.checked is None


def test_where_the_first_order_is_surely_wrong_no_margin_helps() -> None:
    report = margin_report(read([1.0] * 20, [False] * 20), list(range(20)), keep=0.99)
    assert not report.reached
    assert report.least.below == 1.0


@pytest.mark.parametrize("keep", [0, -0.5, 1.5])
def test_a_share_that_is_none_is_refused(keep: float) -> None:
    with pytest.raises(SetupError, match="share of labels to keep"):
        margin_report(read([0.5], [True]), [0], keep)
