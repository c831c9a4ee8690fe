"""The measures of explanations that need a model: llama.cpp is loaded where one is named. Does not know:
where systems and labels come from, how anything is shown.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.events import CancelToken, MeasureProgress, Note, Preparing
from engine.core.judgments import Agreement, Unscored
from engine.metrics.explanations import ModelScores
from engine.metrics.matching import Matched
from engine.models.encoder_file import read_encoder_file
from engine.models.memory import check_memory
from engine.models.model_file import read_model_file
from engine.settings.rows import MachineSettings, default_context
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

if TYPE_CHECKING:
    from engine.models.checked_model import CheckedModel


@dataclass(frozen=True)
class ModelMeasures:
    """The measures of explanations by checked models; `apart`: in processes of their own, which may crash."""

    store: Path
    machine: MachineSettings
    encoder: "CheckedModel | None"
    judge: "CheckedModel | None"
    cancel: CancelToken
    apart: bool

    @classmethod
    def of(
        cls,
        store: Path,
        encoder: Path | None,
        judge: Path | None,
        threads: int | None,
        cancel: CancelToken,
        *,
        apart: bool = False,
    ) -> "Generator[Note, None, ModelMeasures]":
        """BERTScore by an encoder, agreement by a judge model: those that are given."""
        if encoder is None and judge is None:
            return cls(store, MachineSettings(1 if threads is None else threads), None, None, cancel, apart)
        from engine.models.checked_model import checked_model  # noqa: PLC0415
        from engine.models.opening import machine_settings  # noqa: PLC0415

        machine, checked, asked = machine_settings(threads), None, None
        if encoder is not None:
            described = read_encoder_file(encoder)
            if described.notice:
                yield Note(f"{described.notice} See: models cut")
            checked = checked_model(described, cancel)
        if judge is not None:
            model = read_model_file(judge)
            if warning := check_memory(model, default_context(model.trained_context)):
                yield Note(warning)
            asked = checked_model(model, cancel)
        return cls(store, machine, checked, asked, cancel, apart)

    @property
    def judge_name(self) -> str | None:
        return self.judge.name if self.judge else None

    @property
    def encoder_name(self) -> str | None:
        return self.encoder.name if self.encoder else None

    def scores(
        self, matched: Matched
    ) -> Generator[Note | Preparing | MeasureProgress, None, dict[str, ModelScores]]:
        """The scores of one system by criterion; empty if none are requested."""
        name = matched.system.name
        if not (self.encoder or self.judge):
            return {}
        if not matched.system.explains:
            yield Note(f"{name} has no explanations: BERTScore and agreement are not computed.")
            return {}
        from engine.metrics import model_measures  # noqa: PLC0415

        kind = SubprocessWorker if self.apart else InProcessWorker
        bertscores: Mapping[str, Sequence[float]] = {}
        agreements: Mapping[str, Sequence[Agreement | Unscored]] = {}
        if self.encoder:
            yield Preparing(f"BERTScore of {name}")
            with kind(model_measures.score_texts, self.cancel) as scorer:
                score = partial(scorer.do, self.encoder, self.machine, self.store)
                bertscores = yield from model_measures.measure_bertscore(matched, score)
        if self.judge:
            yield Preparing(f"agreement of {name}")
            with kind(model_measures.ask_questions, self.cancel) as asker:
                ask = partial(asker.do, self.judge, self.machine, self.store)
                agreements = yield from model_measures.measure_agreements(matched, ask)
            for warning in model_measures.agreement_warnings(agreements):
                yield Note(warning)
        return {
            criterion: ModelScores(bertscores.get(criterion), agreements.get(criterion))
            for criterion in matched.pairs
        }
