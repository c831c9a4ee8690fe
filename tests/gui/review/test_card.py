"""The card of a judgment: its explanation, bars of both orders and of each elicitation method, reasoning."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.core.items import Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, Explanation, Judgment, RawPrediction
from engine.core.methods import raw_prediction_of
from gui.review.judgment_card import (
    JudgmentCard,
    MethodsView,
    OrderBars,
    OrdersView,
    own_shares,
    said_of_each,
)
from gui.review.session import ReviewedJudgment
from gui.widgets.actions import controls
from gui.widgets.text_views import TextPane
from gui.workspace.workspace import Workspace
from tests.gui.labels import text_of
from tests.gui.review.steps import A_WHILE, HOSTILE, Open, Page
from tests.steps import CHAIN_OF_THOUGHT, judge_in_methods

pytestmark = pytest.mark.usefixtures("demo_tried")

LETTERS = tuple(RawPrediction(order, (-0.1, -3.0, -4.0, -5.0)) for order in Order)


def logs(*probabilities: float) -> tuple[float, ...]:
    return tuple(map(math.log, probabilities))


def absolute(order: Order, first: float, second: float) -> RawPrediction:
    answers = [AnswerLogProbs(name, logs(good, 1 - good)) for name, good in (("A", first), ("B", second))]
    return raw_prediction_of(Method.POINTWISE_YES_NO, order, answers)


def graded(order: Order, first: int, second: int) -> RawPrediction:
    answers = [
        AnswerLogProbs(name, logs(*(0.96 if grade == best else 0.01 for grade in range(1, 6))))
        for name, best in (("A", first), ("B", second))
    ]
    return raw_prediction_of(Method.POINTWISE_GRADE, order, answers)


def thinking(order: Order, *reasoning_samples: str) -> RawPrediction:
    answers = [
        AnswerLogProbs(str(number), logs(0.7, 0.1, 0.1, 0.05), thought, cut=number == 2)
        for number, thought in enumerate(reasoning_samples, start=1)
    ]
    return raw_prediction_of(Method.CHAIN_OF_THOUGHT, order, answers)


def seen(panes: Sequence[TextPane]) -> Sequence[TextPane]:
    return [pane for pane in panes if pane.isVisible()]


@pytest.fixture
def view(qtbot: QtBot) -> MethodsView:
    view = MethodsView()
    qtbot.addWidget(view)
    view.resize(760, 400)
    return view


def names(view: MethodsView) -> list[list[str]]:
    """Those of the bars, by order."""
    told = (view.bars[order].toolTip().split(">")[1].splitlines() for order in Order)
    return [[line.split(":")[0] for line in lines] for lines in told]


def test_each_way_has_a_bar_in_each_order_and_one_alone_takes_no_room(view: MethodsView) -> None:
    view.show_raw_predictions([*LETTERS, absolute(Order.AB, 0.9, 0.2), absolute(Order.BA, 0.3, 0.8)])
    assert not view.isHidden()
    assert names(view) == [["all methods", "label tokens", "pointwise yes/no"]] * 2
    assert view.bars[Order.AB].accessibleName().startswith("A shown first: all methods: A ")
    view.grab()  # painted without an error
    for one in (LETTERS, ()):
        view.show_raw_predictions(one)
        assert view.isHidden()
    view.show_raw_predictions([LETTERS[0], absolute(Order.AB, 0.9, 0.2)])
    view.show()
    assert [view.bars[order].isVisible() for order in (Order.AB, Order.BA)] == [True, False]


def test_a_label_of_a_submission_in_a_panel_was_not_read_in_an_order_or_a_way(view: MethodsView) -> None:
    read = [replace(reading, judge=1) for reading in LETTERS]
    label = RawPrediction(Order.AB, (-3.4, -0.1, -3.4, -3.4), judge=2, label_alone=True)
    view.show_raw_predictions([*read, label])
    assert not view.isHidden()
    assert names(view) == [["judge 1, label tokens"]] * 2
    assert view.words.text().startswith("Judge 2 has only a label here: B")
    view.show_raw_predictions([label, replace(label, judge=1)])
    view.show()
    assert not any(bars.isVisible() for bars in view.bars.values())
    assert view.words.text().count("has only a label") == 2


def test_each_response_is_told_of_by_its_own_name_whichever_was_shown_first() -> None:
    said = [absolute(Order.AB, 0.9, 0.2), absolute(Order.BA, 0.4, 0.7)]
    assert list(said_of_each(said)) == [
        "Pointwise yes/no, probability of “yes”: A 80.0 %, B 30.0 %, mean of both orders."
    ]
    (grades,) = said_of_each([graded(Order.BA, 2, 5), *LETTERS])
    assert grades == "Pointwise grade, mean grade, 1 to 5: A 4.90, B 2.05."
    assert list(said_of_each(LETTERS)) == []


def test_thoughts_are_read_once_they_are_opened_as_text_and_with_what_followed(
    qtbot: QtBot, view: MethodsView
) -> None:
    view.show_raw_predictions([*LETTERS, thinking(Order.AB, HOSTILE, "x " * 1000), thinking(Order.BA, "")])
    view.show()
    assert view.reasoning_samples.fold.title == "Reasoning (3, 1 cut at the length limit)"
    assert not view.reasoning_samples.panes
    view.reasoning_samples.fold.set_open(True)
    first, second, third = view.reasoning_samples.panes
    qtbot.waitUntil(third.isVisible)
    assert first.text == HOSTILE.replace("\u202e", r"\u202e")
    assert first.view.accessibleName() == "A shown first, reasoning sample 1 of 2"
    assert first.note.startswith("then answers A ")
    assert second.note.endswith("; cut at the length limit")
    assert second.view.verticalScrollBar().maximum() > 0
    assert third.view.accessibleName() == "B shown first, reasoning sample 1 of 1"
    assert third.note.startswith("then answers B ")
    assert third.text == "(nothing was written)"
    view.show_raw_predictions(LETTERS)
    assert view.isHidden()


@pytest.mark.slow
def test_a_run_in_several_ways_is_reviewed_by_keys(
    qtbot: QtBot, workspace: Workspace, demo_gold: Path, open_page: Open
) -> None:
    judge_in_methods(demo_gold, workspace.store_path)
    page = open_page()
    card = page.desk.card
    assert card.each_method.isVisible()
    assert "Raw predictions by elicitation method" in text_of(card)
    assert "Pointwise yes/no, probability of “yes”: A " in text_of(card)
    assert card.orders.accessibleName().count("shown first") == 2
    page.list.setFocus()
    page.press("w")
    assert card.body.at_methods
    qtbot.waitUntil(lambda: card.body.verticalScrollBar().value() > 0)
    page.press("w")
    assert [card.body.at_methods, card.body.verticalScrollBar().value()] == [False, 0]
    page.press("f")
    page.press("w")
    assert card.open
    assert page.minimumSizeHint().width() < 1180


@pytest.mark.slow
def test_the_thoughts_of_a_model_that_reasons_are_read_by_keys(
    qtbot: QtBot, workspace: Workspace, demo_gold: Path, open_page: Open, tried_model: Callable[[str], Path]
) -> None:
    judge_in_methods(demo_gold, workspace.store_path, CHAIN_OF_THOUGHT, tried_model("thinker"))
    page: Page = open_page()
    reasoning_samples = page.desk.card.body.methods.reasoning_samples
    assert reasoning_samples.fold.title.startswith("Reasoning (4")
    page.list.setFocus()
    page.press("w")
    qtbot.keyClick(page.window().focusWidget(), Qt.Key.Key_Tab)
    qtbot.keyClick(page.window().focusWidget(), Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(seen(reasoning_samples.panes)) == 4, timeout=A_WHILE)
    order = controls(page)
    assert order[order.index(page.window().focusWidget()) + 1] is reasoning_samples.panes[0].view


A, B, GOOD, _ = Preference


@pytest.fixture
def card(qtbot: QtBot) -> JudgmentCard:
    made = JudgmentCard()
    qtbot.addWidget(made)
    return made


def test_the_card_says_of_the_text_for_the_label_in_force(card: JudgmentCard) -> None:
    written = (Explanation("A is safe.", A), Explanation("B is safer", B, cut=True))
    judgment = Judgment("1", "safety", B, (0.1, 0.7, 0.1, 0.1), None, 0.9, LETTERS[:1], written)
    for label, text, stale in (
        (A, "A is safe.", ""),
        (B, "B is safer (cut at the length limit)", ""),
        (GOOD, "A is safe.", "written for another label: A"),
    ):
        explanation = judgment.explanation_for(label)
        card.show_judgment(
            ReviewedJudgment(judgment, label=label, explanation=explanation.text, stale=bool(stale))
        )
        assert card.explanation.text() == text
        assert (card.stale.text if not card.stale.isHidden() else "") == stale


def test_the_card_says_how_many_judges_of_a_panel_decided(card: JudgmentCard) -> None:
    judgment = Judgment("1", "safety", A, (0.5, 0.2, 0.2, 0.1), None, None, ())
    for judges, missing, differ, pill in (
        (1, 2, None, "⚖ 1 of 3 judges"),
        (2, 1, True, "⚖ judges differ"),
        (3, 0, False, ""),
    ):
        judged = replace(judgment, judges=judges, judges_missing=missing, judges_differ=differ)
        card.show_judgment(ReviewedJudgment(judged, label=A))
        assert (card.flipped.text if not card.flipped.isHidden() else "") == pill


@pytest.mark.parametrize("order", list(Order))
def test_the_shares_of_a_reading_are_those_of_its_own_responses(order: Order) -> None:
    shares = own_shares(RawPrediction(order, (-1.0, -2.0, -3.0, -4.0)))
    best = Preference.A if order is Order.AB else Preference.B
    assert max(shares, key=shares.__getitem__) is best
    assert sum(shares.values()) == pytest.approx(1)
    assert shares[best] / shares[best.swapped] == pytest.approx(2.718281828)


def test_an_order_that_was_not_read_is_named_and_one_order_is_not_called_both(qtbot: QtBot) -> None:
    bars, view = OrderBars(), OrdersView()
    for made in (bars, view):
        qtbot.addWidget(made)
    bars.show_raw_predictions(LETTERS[:1])
    assert "B shown first: not used" in bars.accessibleName()
    one = bars.sizeHint().height()
    bars.grab()  # painted without an error
    bars.show_raw_predictions(LETTERS)
    assert "not used" not in bars.accessibleName()
    assert bars.sizeHint().height() == one
    bars.show_raw_predictions([])
    assert bars.accessibleName() == "Orders: none"
    view.show_raw_predictions(LETTERS[:1], (0.7, 0.1, 0.1, 0.1))
    assert list(view.titles) == ["A shown first", "Only this order was used"]
    view.show_raw_predictions([], (0.7, 0.1, 0.1, 0.1), panel=True)
    assert list(view.titles) == ["All judges"]
