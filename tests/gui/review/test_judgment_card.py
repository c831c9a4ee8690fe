"""The card of one judgment: what it says of the explanation."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from engine.core.items import Order, Preference
from engine.core.judgments import Explanation, Judgment, RawPrediction
from gui.review.judgment_card import JudgmentCard
from gui.review.session import ReviewedJudgment

A, B, GOOD, _ = Preference


@pytest.mark.parametrize(
    ("label", "text", "stale"),
    [
        (A, "A is safe.", ""),
        (B, "B is safer (cut at the length limit)", ""),
        (GOOD, "A is safe.", "written for another label: A"),
    ],
)
def test_the_card_says_of_the_text_for_the_label_in_force(
    qtbot: QtBot, label: Preference, text: str, stale: str
) -> None:
    card = JudgmentCard()
    qtbot.addWidget(card)
    written = (Explanation("A is safe.", A), Explanation("B is safer", B, cut=True))
    reading = RawPrediction(Order.AB, (-2.0, -0.3, -2.0, -3.0))
    judgment = Judgment("1", "safety", B, (0.1, 0.7, 0.1, 0.1), None, 0.9, (reading,), written)
    explanation = judgment.explanation_for(label)
    assert explanation is not None
    card.show_judgment(
        ReviewedJudgment(
            judgment=judgment,
            label=label,
            explanation=explanation.text,
            stale=bool(stale),
        )
    )
    assert card.explanation.text() == text
    assert (card.stale.text if not card.stale.isHidden() else "") == stale


@pytest.mark.parametrize(
    ("judges", "missing", "differ", "pill"),
    [(1, 2, None, "⚖ 1 of 3 judges"), (2, 1, True, "⚖ judges differ"), (3, 0, False, "")],
)
def test_the_card_says_how_many_judges_of_a_panel_decided(
    qtbot: QtBot, judges: int, missing: int, differ: bool | None, pill: str
) -> None:
    card = JudgmentCard()
    qtbot.addWidget(card)
    judgment = Judgment("1", "safety", A, (0.5, 0.2, 0.2, 0.1), None, None, (), judges_differ=differ)
    judgment = replace(judgment, judges=judges, judges_missing=missing)
    card.show_judgment(ReviewedJudgment(judgment=judgment, label=A))
    assert (card.flipped.text if not card.flipped.isHidden() else "") == pill
