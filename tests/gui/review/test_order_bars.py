"""The bars of both orders: shares by response, whichever was shown first."""

import pytest
from pytestqt.qtbot import QtBot

from engine.core.items import Order, Preference
from engine.core.judgments import Reading
from gui.review.order_bars import OrderBars, OrdersView, own_shares


@pytest.mark.parametrize("order", list(Order))
def test_the_shares_of_a_reading_are_those_of_its_own_responses(order: Order) -> None:
    shares = own_shares(Reading(order, (-1.0, -2.0, -3.0, -4.0)))
    best = Preference.A if order is Order.AB else Preference.B
    assert max(shares, key=shares.__getitem__) is best
    assert sum(shares.values()) == pytest.approx(1)
    assert shares[best] / shares[best.swapped] == pytest.approx(2.718281828)


def test_an_order_that_was_not_read_is_named(qtbot: QtBot) -> None:
    bars = OrderBars()
    qtbot.addWidget(bars)
    first, second = (Reading(order, (-0.1, -3.0, -4.0, -5.0)) for order in Order)
    bars.show_readings([first])
    assert "B shown first: not read" in bars.accessibleName()
    one = bars.sizeHint().height()
    bars.grab()  # painted without an error
    bars.show_readings([first, second])
    assert "not read" not in bars.accessibleName()
    assert bars.sizeHint().height() == one
    bars.show_readings([])
    assert bars.accessibleName() == "Orders: none"


def test_one_order_is_not_called_both(qtbot: QtBot) -> None:
    view = OrdersView()
    qtbot.addWidget(view)
    view.show_readings([Reading(Order.AB, (-0.1, -3.0, -4.0, -5.0))], (0.7, 0.1, 0.1, 0.1))
    assert list(view.titles) == ["A shown first", "Decided from this order alone"]
    view.show_readings([], (0.7, 0.1, 0.1, 0.1), panel=True)
    assert list(view.titles) == ["All judges together"]
