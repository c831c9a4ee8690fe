"""Responses of candidate models to prompts: the job."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.events import MeasureProgress, Note, Preparing, followed
from engine.core.formatting import counted
from engine.core.tables import Section, Sentences, Sheet, Tone
from gui.widgets.notice import IN_THE_WINDOW
from gui.workspace.threads import AtWork, JobControl, job

if TYPE_CHECKING:
    from engine.operations.generate import GenerationRequest, ReadyGeneration


@dataclass(frozen=True)
class GenerationAsked:
    """As `GenerationRequest` and `GenerationSettings` have it."""

    prompts: Path
    models: tuple[Path, ...]
    folder: Path
    settings: Mapping[str, Any]

    def request(self) -> "GenerationRequest":
        from engine.judging.generation import GenerationSettings
        from engine.operations.generate import GenerationRequest

        models, settings = tuple(map(str, self.models)), GenerationSettings(**self.settings)
        return GenerationRequest(self.prompts, models, self.folder, settings)


@dataclass(frozen=True)
class WrittenResponses:
    """The files of responses, one of each model, and what is to be known of them."""

    paths: tuple[Path, ...]
    sheet: Sheet


@job
def plan(control: JobControl, asked: GenerationAsked) -> Sheet:
    """What is left to write, and what that takes. Reports Preparing; raises what `prepare` raises."""
    ready, notes = _prepared(control, asked)
    return _with_notes(ready.sheet, notes)


@job
def write(control: JobControl, asked: GenerationAsked) -> WrittenResponses:
    """Write what is not there yet. Reports Preparing and AtWork; raises what `generate` raises."""
    from engine.operations.generate import generate

    ready, _ = _prepared(control, asked)
    name = ""

    def follow(event: object) -> None:
        nonlocal name
        name = event.what if isinstance(event, Preparing) else name
        if isinstance(event, MeasureProgress):
            said = f"{name}: {event.done:,} of {event.total:,} responses …"
            event = AtWork(said, event.done, event.total)
        control.report(event)

    written = followed(generate(ready, control.cancel, apart=control.apart), follow)
    lines = [
        f"{each.path.name}: {counted(each.count, 'response', 'responses')}, {each.tokens:,} tokens"
        for each in written
    ]
    sheet = Sheet("Responses", [Section("responses", "Responses", [Sentences(lines)])])
    warnings = [warning for each in written for warning in each.warnings]
    return WrittenResponses(tuple(each.path for each in written), _with_notes(sheet, warnings))


def _prepared(control: JobControl, asked: GenerationAsked) -> "tuple[ReadyGeneration, list[str]]":
    control.report(Preparing("Reading the prompts"))
    from engine.operations.generate import prepare

    notes: list[str] = []

    def follow(event: Note | Preparing) -> None:
        if isinstance(event, Note):
            notes.append(IN_THE_WINDOW.of(event.said))
        else:
            control.report(event)

    return followed(prepare(asked.request(), control.cancel), follow), notes


def _with_notes(sheet: Sheet, notes: list[str]) -> Sheet:
    said = Section("notes", "Please note", [Sentences(notes, Tone.CAVEAT)])
    return replace(sheet, sections=[*sheet.sections, said]) if notes else sheet
