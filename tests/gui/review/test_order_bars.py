"""The bars of both orders: shares by response, whichever was shown first."""

import pytest
from pytestqt.qtbot import QtBot

from engine.core.items import Order, Preference
from engine.core.judgments import RawPrediction
from gui.review.card import OrderBars, OrdersView, own_shares


@pytest.mark.parametrize("order", list(Order))
def test_the_shares_of_a_reading_are_those_of_its_own_responses(order: Order) -> None:
    shares = own_shares(RawPrediction(order, (-1.0, -2.0, -3.0, -4.0)))
    best = Preference.A if order is Order.AB else Preference.B
    assert max(shares, key=shares.__getitem__) is best
    assert sum(shares.values()) == pytest.approx(1)
    assert shares[best] / shares[best.swapped] == pytest.approx(2.718281828)


def test_an_order_that_was_not_read_is_named(qtbot: QtBot) -> None:
    bars = OrderBars()
    qtbot.addWidget(bars)
    first, second = (RawPrediction(order, (-0.1, -3.0, -4.0, -5.0)) for order in Order)
    bars.show_raw_predictions([first])
    assert "B shown first: not used" in bars.accessibleName()
    one = bars.sizeHint().height()
    bars.grab()  # painted without an error
    bars.show_raw_predictions([first, second])
    assert "not used" not in bars.accessibleName()
    assert bars.sizeHint().height() == one
    bars.show_raw_predictions([])
    assert bars.accessibleName() == "Orders: none"


def test_one_order_is_not_called_both(qtbot: QtBot) -> None:
    view = OrdersView()
    qtbot.addWidget(view)
    view.show_raw_predictions([RawPrediction(Order.AB, (-0.1, -3.0, -4.0, -5.0))], (0.7, 0.1, 0.1, 0.1))
    assert list(view.titles) == ["A shown first", "Only this order was used"]
    view.show_raw_predictions([], (0.7, 0.1, 0.1, 0.1), panel=True)
    assert list(view.titles) == ["All judges"]
