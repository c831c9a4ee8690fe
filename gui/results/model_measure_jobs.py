"""Jobs that measure explanations with a model: BERTScore, agreement, and an encoder cut to its first layers.

Knows: which model each measure needs. Does not know: windows.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.core.events import MeasureProgress, followed
from gui.results.score_jobs import Measuring, Scores, with_explanations
from gui.work.apart_jobs import worker
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.measure.evaluation import Evaluation
    from engine.measure.explanation_measures import ModelScores

PathKind = TypeVar("PathKind")


class ModelMeasure(StrEnum):
    """The measures of explanations that need a model."""

    BERTSCORE = "BERTScore"
    AGREEMENT = "agreement"


@dataclass(frozen=True)
class MeasureModel:
    """A model file that could measure. `notice`: what to know before, empty for nothing."""

    path: Path
    name: str
    notice: str


def look_at_model(measure: ModelMeasure, path: Path) -> Job[MeasureModel]:
    """See by its header whether a file can serve. Raises ModelFileError."""

    def work(_control: JobControl) -> MeasureModel:
        if measure is ModelMeasure.BERTSCORE:
            from engine.gguf.encoder_file import read_encoder_file

            encoder = read_encoder_file(path)
            return MeasureModel(path, encoder.name, encoder.notice)
        from engine.gguf.judge_file import read_model_file

        model = read_model_file(path)
        return MeasureModel(path, model.name, " ".join(model.remarks))

    return work


def cut_encoder(path: Path, target: Path, in_use: Mapping[str, Path]) -> Job[Path]:
    """Write a copy of an encoder with the layers alone that bert-score computes with, over no file in use."""

    def work(control: JobControl) -> Path:
        from engine.gguf.encoder_cut import cut_to_scored_layers
        from engine.system.files import check_targets

        check_targets({"the copy": target}, {**in_use, "encoder": path})
        with worker(cut_to_scored_layers, control) as cutter:
            return followed(cutter.do(path, target), control.report)

    return work


def measure_with_model(measure: ModelMeasure, scores: Scores, path: Path, store_path: Path) -> Job[Scores]:
    """The same scores with what a model says of the explanations; reports Measuring.

    What the store remembers is not measured again; a job that was cancelled goes on where it was.
    """
    ask = _bertscore if measure is ModelMeasure.BERTSCORE else _agreement
    return lambda control: ask(scores, path, store_path, control)


def _bertscore(scores: Scores, path: Path, store_path: Path, control: JobControl) -> Scores:
    from engine.gguf.encoder_file import read_encoder_file
    from engine.loading.checked_model import checked_encoder, in_use
    from engine.loading.opening import machine_settings
    from engine.measure.explanation_measures import ModelScores
    from engine.measure.model_measures import measure_bertscore, score_texts

    evaluation = _evaluated(scores)
    described = read_encoder_file(path)
    control.report(Measuring(f"Trying {described.name} …"))
    with worker(score_texts, control) as scorer:
        encoder = checked_encoder(described, control.cancel)
        score = partial(scorer.do, encoder, machine_settings(None), store_path)
        with in_use(encoder):
            found = _followed("BERTScore", measure_bertscore(evaluation.matched, score), control)
    model_scores = {name: ModelScores(bertscores=column) for name, column in found.items()}
    return _with_model_scores(scores, model_scores, [described.notice] if described.notice else [])


def _agreement(scores: Scores, path: Path, store_path: Path, control: JobControl) -> Scores:
    from engine.core.settings import default_context
    from engine.gguf.judge_file import read_model_file
    from engine.gguf.memory import check_memory
    from engine.loading.checked_model import checked_model, in_use
    from engine.loading.opening import machine_settings
    from engine.measure.explanation_measures import ModelScores
    from engine.measure.model_measures import agreement_warnings, ask_questions, measure_agreements

    evaluation = _evaluated(scores)
    described = read_model_file(path)
    tight = check_memory(described, default_context(described.trained_context))
    control.report(Measuring(f"Trying {described.name} …"))
    with worker(ask_questions, control) as asker:
        model = checked_model(described, control.cancel)
        ask = partial(asker.do, model, machine_settings(None), store_path)
        with in_use(model):
            found = _followed("Agreement", measure_agreements(evaluation.matched, ask), control)
    model_scores = {name: ModelScores(agreements=column) for name, column in found.items()}
    return _with_model_scores(scores, model_scores, [*filter(None, [tight]), *agreement_warnings(found)])


def _evaluated(scores: Scores) -> "Evaluation":
    assert scores.evaluation is not None  # without human explanations there is nothing to ask about
    return scores.evaluation


def _followed(
    what: str, asking: "Generator[MeasureProgress, None, PathKind]", control: JobControl
) -> PathKind:
    """What a measure returns; its progress is reported."""

    def tell(event: MeasureProgress) -> None:
        text = f"{what}: {event.done:,} of {event.total:,} explanations …"
        control.report(Measuring(text, event.done, event.total))

    return followed(asking, tell)


def _with_model_scores(
    scores: Scores, model_scores: "Mapping[str, ModelScores]", warnings: Sequence[str]
) -> Scores:
    from engine.measure.evaluation import with_model_scores

    evaluation = with_model_scores(_evaluated(scores), model_scores)
    warned = replace(scores, warnings=[*scores.warnings, *warnings])
    return with_explanations(warned, evaluation, explained=True)
