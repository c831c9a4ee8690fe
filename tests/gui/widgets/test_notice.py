"""Errors in the words of the window."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gui.widgets.notice import problem_of
from tests.refusals import REFUSALS, Bench, refusal

SHOWN = {
    "cache of a session": "Use f16 (“KV-cache type”: f16).",
    "room of a session": "Use a smaller “Context”, or close other programs.",
    "memory of a batch": "Use a smaller “Context”, or close other programs.",
    "cache by the header": "Use f16 (“KV-cache type”: f16).",
    "memory": (
        "Use a smaller context (“Context”) or a smaller quantisation of this model, or close programs."
    ),
    "memory, rounder": (
        "Use a smaller context (“Context”), a KV cache in q8_0 (“KV-cache type”: q8_0) or a smaller"
        " quantisation of this model, or close programs."
    ),
    "no examples": "Use 1 or more, or omit “Labelled examples”.",
    "too few examples": "Use “Few-shot examples”: 2 or fewer, or a file with more labelled items.",
    "stem": "Use a larger “Context”, fewer “Few-shot examples” or shorter examples.",
    "trained context": "Use “Context”: 1024 or less.",
    "no item fits": "Use a larger “Context”, or “Shorten responses that do not fit”.",
    "newer store": "Move it away, or set TIEBREAK_HOME to another folder; then start Tiebreak again.",
    "no store": (
        "The file is damaged or of another kind. Move it away, or set TIEBREAK_HOME to another folder; then"
        " start Tiebreak again."
    ),
    "store in a file": (
        "Make its folder writable, or set TIEBREAK_HOME to another folder; then start Tiebreak again."
    ),
    "store of a run": "Choose an existing run, or a submission file: ./3",
    "other judge": "Calibrate a run of this judge on the Results page, under “Calibration”.",
    "no calibration": "Make it again on the Results page, under “Calibration”.",
    "impossible calibration": "Make it again on the Results page, under “Calibration”.",
    "moved dataset": "Put the dataset back there, or open it on the Dataset page.",
    "unlabelled run": (
        "Label or accept some first, on the page Review; or tick “Include the judge's labels”."
    ),
    "examples too many": "Leave “Labelled examples” out.",
    "examples missing": (
        "Name the same file with “Labelled examples”, the same number with “Few-shot examples”, and the same"
        " selection with “Examples are”."
    ),
    "other ids": (  # this and the next are of commands alone: the window scores what all have
        "Choose the judged dataset for the human labels, or score what both have with “Shared items only”."
    ),
    "incomplete run": (
        "The run is not complete: 1 of 2 items are judged. Resume the run on the Judge page, or score what"
        " both have with “Shared items only”."
    ),
    "other texts": (
        "Choose the judged dataset for the human labels. If its texts were only saved in another"
        " format, export the run's submission on the Results page and compare that."
    ),
    "submission calibrated": "Choose a run on the Results page.",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_remedy_names_the_fields_and_places_of_the_window(
    name: str, tmp_path: Path, small_model: Callable[[str], Path]
) -> None:
    error = refusal(Bench(tmp_path, small_model), name)
    assert problem_of(error) == (error.problem, SHOWN[name])
