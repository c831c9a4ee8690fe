"""What another process measures with a model is what this one measures; one thread, for others work too."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.events import CancelToken, MeasureProgress, followed
from engine.metrics.model_measures import ask_questions, score_texts
from engine.settings.rows import MachineSettings
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker
from tests.commands import ROOT
from tests.engine.metrics.test_agreement import QUESTIONS, checked

ENCODER = ROOT / "tests" / "encoders" / "roberta.gguf"
TEXTS = [("Response A is kind.", "Both are kind."), ("", "Nothing."), ("The same.", "The same.")]


@pytest.mark.slow
def test_agreement_is_asked_apart_as_here(small_model: Callable[[str], Path], tmp_path: Path) -> None:
    model, told = checked(small_model("headers")), []
    answers = []
    for kind in (InProcessWorker, SubprocessWorker):
        received: list[MeasureProgress] = []
        with kind(ask_questions, CancelToken()) as asker:
            asking = asker.do(model, MachineSettings(1, 0), tmp_path / f"{kind.__name__}.sqlite", QUESTIONS)
            answers.append(followed(asking, received.append))
        told.append(received)
    assert answers[0] == answers[1]
    assert told[0] == told[1]
    assert len(answers[0]) == len(QUESTIONS)


def test_texts_are_scored_apart_as_here(tmp_path: Path) -> None:
    scores = []
    for kind in (InProcessWorker, SubprocessWorker):
        with kind(score_texts, CancelToken()) as scorer:
            scoring = scorer.do(
                checked(ENCODER), MachineSettings(1, 0), tmp_path / f"{kind.__name__}.sqlite", TEXTS
            )
            scores.append(followed(scoring, lambda _event: None))
    assert scores[0] == scores[1]
    assert [round(score, 4) for score in scores[0][1:]] == [0.0, 1.0]
