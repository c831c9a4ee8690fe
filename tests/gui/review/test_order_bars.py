"""The bars of both orders: shares by response, whichever was shown first."""

import pytest

from engine.core.items import Order, Preference
from engine.core.judgments import Reading
from gui.review.order_bars import own_shares


@pytest.mark.parametrize("order", list(Order))
def test_the_shares_of_a_reading_are_those_of_its_own_responses(order: Order) -> None:
    shares = own_shares(Reading(order, (-1.0, -2.0, -3.0, -4.0)))
    best = Preference.A if order is Order.AB else Preference.B
    assert max(shares, key=shares.__getitem__) is best
    assert sum(shares.values()) == pytest.approx(1)
    assert shares[best] / shares[best.swapped] == pytest.approx(2.718281828)
