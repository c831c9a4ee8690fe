"""Responses of candidate models to prompts: the job."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.events import Preparing, followed
from engine.core.formatting import counted
from engine.core.tables import Section, Sentences, Sheet, Tone
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from engine.operations.generate import GenerationRequest


@dataclass(frozen=True)
class GenerationAsked:
    """As `GenerationRequest` and `GenerationSettings` have it."""

    prompts: Path
    models: tuple[Path, ...]
    folder: Path
    max_tokens: int
    temperature: float
    seed: int
    reasons: bool

    def request(self) -> "GenerationRequest":
        from engine.judging.generation import GenerationSettings
        from engine.operations.generate import GenerationRequest

        settings = GenerationSettings(self.max_tokens, self.temperature, seed=self.seed, reasons=self.reasons)
        return GenerationRequest(self.prompts, tuple(map(str, self.models)), self.folder, settings)


@dataclass(frozen=True)
class WrittenResponses:
    """The files of responses, one of each model, and what is to be known of them."""

    paths: tuple[Path, ...]
    sheet: Sheet


@job
def write(control: JobControl, asked: GenerationAsked) -> WrittenResponses:
    """Write what is not there yet. Reports Preparing and MeasureProgress; raises what `generate` raises."""
    control.report(Preparing("Reading the prompts"))
    from engine.operations.generate import generate, prepare

    ready = followed(prepare(asked.request(), control.cancel), control.report)
    written = followed(generate(ready, control.cancel, apart=control.apart), control.report)
    lines = [
        f"{each.path.name}: {counted(each.count, 'response', 'responses')}, {each.tokens:,} tokens"
        for each in written
    ]
    warnings = [warning for each in written for warning in each.warnings]
    sections: Sequence[Section] = [
        Section("responses", "Responses", [Sentences(lines)]),
        *([Section("notes", "Please note", [Sentences(warnings, Tone.CAVEAT)])] if warnings else []),
    ]
    return WrittenResponses(tuple(each.path for each in written), Sheet("Responses", sections))
