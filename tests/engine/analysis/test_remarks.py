"""What is said of items beside their own texts, and who may see it."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.analysis.review_order import NOTE, TAG, Remarks
from engine.annotations.records import new_note
from engine.core.judgments import JudgmentKey
from engine.results.run_results import RunResults
from tests.judged import OWN, A, B, results_of

FIRST = JudgmentKey("1", "safety")


@pytest.fixture
def results(tmp_path: Path) -> RunResults:
    """Of Ada two explanations of item 1 and a label of item 2; of Ben a note with a tag on item 1."""
    overridden = [
        ("1", "safety", B, "B is safer."),
        ("1", "safety", B, "B is kind."),
        ("2", "safety", A, None),
    ]
    made = results_of(tmp_path, overridden)
    content = made.judged[0].content_hash
    note = new_note(content, "Ask Cy.", ("odd", "long"), "Ben")
    return replace(made, notes={content: (note,)})


def test_all_that_was_ever_said_of_an_item_is_there_once_the_latest_first(results: RunResults) -> None:
    said = [("safety", "B is kind."), ("safety", "B is safer."), ("safety", OWN)]
    noted = [(NOTE, "Ask Cy."), (TAG, "odd"), (TAG, "long")]
    remarks = Remarks(results, "Cy")
    assert list(remarks.of(0)) == said + noted
    assert list(remarks.of(1)) == [("safety", OWN)]
    assert list(remarks.of(2)) == []


@pytest.mark.parametrize(
    ("author", "sees"),
    [
        ("Cy", []),
        ("Ada", [("safety", "B is kind."), ("safety", "B is safer.")]),
        ("Ben", [(NOTE, "Ask Cy."), (TAG, "odd"), (TAG, "long")]),
    ],
)
def test_of_a_hidden_judgment_one_sees_his_own_words_alone(
    results: RunResults, author: str, sees: list[tuple[str, str]]
) -> None:
    hidden = Remarks(results, author, seen=frozenset())
    assert list(hidden.of(0)) == sees
    shown = Remarks(results, author, seen=frozenset({FIRST}))
    assert list(shown.of(0)) == list(Remarks(results).of(0))
    assert list(shown.of(1)) == []
