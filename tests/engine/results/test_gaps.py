"""The sentences on what a run lacks."""

from pathlib import Path

import pytest

from engine.results.completeness import IncompleteKind, IncompletePart, gaps, incomplete
from tests.judged import B, Overridden, results_of

UNSCORED = "1 judgment is unscored; its cell is empty."
STALE = "1 explanation was written for another label than the effective one (stale): a submission omits it."
UNEXPLAINED = "1 judgment has no explanation: the model generated no text."


@pytest.mark.parametrize(
    ("overrides", "sentences"),
    [
        ([], [UNSCORED, STALE]),
        (
            [("3", "safety", B, None)],
            ["1 judgment of run 1 is overridden by annotators: 1 label, by Ada.", UNEXPLAINED, STALE],
        ),
        (
            [("1", "safety", B, None), ("2", "safety", None, "Why.")],
            [
                "2 judgments of run 1 are overridden by annotators: 1 label and 1 explanation, by Ada.",
                UNSCORED,
                "2 explanations were written for another label than the effective one (stale): a"
                " submission omits them.",
            ],
        ),
        ([(item, "safety", B, "B is safe.") for item in "1234"], None),
    ],
)
def test_each_gap_is_a_sentence(tmp_path: Path, overrides: Overridden, sentences: list[str] | None) -> None:
    found = [gap.sentence for gap in gaps(results_of(tmp_path, overrides))]
    everything = ["4 judgments of run 1 are overridden by annotators: 4 labels and 4 explanations, by Ada."]
    assert found == (everything if sentences is None else sentences)


def test_the_models_own_has_no_gap_for_what_people_overrode(tmp_path: Path) -> None:
    results = results_of(tmp_path, [("1", "safety", B, "B is safe.")])
    kinds = [[gap.kind for gap in gaps(each)] for each in (results, results.model_alone())]
    own = [IncompleteKind.UNSCORED, IncompleteKind.STALE]
    assert kinds == [[IncompleteKind.OVERRIDDEN, *own], own]


def test_large_numbers_are_in_groups() -> None:
    assert (
        IncompletePart(IncompleteKind.UNSCORED, 12_345, "judgments are", "judgment is").sentence
        == "12,345 judgments are"
    )


def test_how_far_a_run_is(tmp_path: Path) -> None:
    results = results_of(tmp_path, [])
    assert incomplete(results) == "The run is not complete: 4 of 4 items are judged."
    assert incomplete(results, "Run 7") == "Run 7 is not complete: 4 of 4 items are judged."
