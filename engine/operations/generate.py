"""Responses of candidate models to prompts, and pairs of them: one model after the other, each in a process
of its own. Does not know: who asks, how anything is shown, who judges.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.core.errors import SetupError
from engine.core.events import CancelToken, MeasureProgress, Note, Preparing, Reports, TokensEvaluated
from engine.core.formatting import amount, counted, duration
from engine.core.tables import Facts
from engine.data.outputs import read_outputs, read_prompts
from engine.data.pairs import Pairs, make_pairs, match_outputs
from engine.judging.generation import (
    GenerationPlan,
    GenerationSettings,
    Responses,
    finished,
    size_by_vocabulary,
    write_responses,
)
from engine.models.checked_model import checked_model
from engine.models.memory import check_memory, memory_needed
from engine.models.model_file import ModelFile, read_model_file
from engine.models.opening import machine_settings, remembered_speed
from engine.operations.opening import find_model
from engine.settings.sampling import PairsPlan
from engine.system.computer import Awake, KeepAwake
from engine.system.files import check_writable, make_folder
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

MOST_MODELS = 8


@dataclass(frozen=True)
class GenerationRequest:
    """`models`: files, or names of models on this computer, 1 to MOST_MODELS. `folder`: for a file of each.
    `columns`: what is read of the prompts' file for what.
    """

    prompts: Path
    models: tuple[str, ...]
    folder: Path
    settings: GenerationSettings = field(default_factory=GenerationSettings)
    columns: Mapping[str, str] = field(default_factory=dict)
    threads: int | None = None


@dataclass(frozen=True)
class ReadyGeneration:
    """What each model is to write, in the order of the request; `facts`: what that takes at most."""

    plans: tuple[GenerationPlan, ...]
    facts: Facts


def prepare(
    request: GenerationRequest, cancel: CancelToken
) -> Generator[Note | Preparing, None, ReadyGeneration]:
    """Read the prompts, check models and sizes. SetupError for what excludes each other, or is there already
    of another request; InputError, ModelFileError, NoRoomError, Cancelled.
    """
    if not 1 <= len(request.models) <= MOST_MODELS:
        raise SetupError(
            f"{counted(len(request.models), 'model', 'models')}: 1 to {MOST_MODELS} can write at a time.",
            "Two or more make pairs.",
        )
    prompts = read_prompts(request.prompts, request.columns, cancel)
    described: dict[str, ModelFile] = {}
    for word in request.models:
        model = read_model_file((yield from find_model(word)))
        if model.name in described:
            raise SetupError(f"Two models are called {model.name}.", "Rename one of the files.")
        described[model.name] = model
    make_folder(request.folder)
    plans, lines, seconds = [], [("prompts", f"{len(prompts):,}")], 0.0
    for name, model in described.items():
        yield Preparing(f"Checking {name}")
        machine = machine_settings(request.threads)
        checked = checked_model(model, cancel)
        plan = GenerationPlan(checked, prompts, request.settings, machine, request.folder / f"{name}.jsonl")
        check_writable(plan.out)
        finished(plan)  # refuses another request's file now, not after hours of the models before
        sizes = size_by_vocabulary(plan, cancel)
        if sizes.note:
            yield Note(f"{name}: {sizes.note}")
        if warning := check_memory(model, sizes.context):
            yield Note(warning)
        speed, most = remembered_speed(checked.hash, machine), len(prompts) * request.settings.max_tokens
        took = "time not known (models speed measures it)"
        if speed is not None:
            seconds += sizes.to_read / speed.reading + most / speed.writing(request.settings.at_once)
            took = f"at most {duration(seconds)} in all up to here"
        needed = amount(memory_needed(model, sizes.context).total)
        lines.append((name, f"{sizes.to_read:,} tokens to read, at most {most:,} to write, {needed}, {took}"))
        plans.append(plan)
    return ReadyGeneration(tuple(plans), Facts((*lines, ("settings", request.settings.in_words))))


def generate(
    ready: ReadyGeneration, cancel: CancelToken, apart: bool = True
) -> Generator[Note | Preparing | MeasureProgress | TokensEvaluated, None, list[Responses]]:
    """Write what is not there yet; the same again resumes after a stop. `apart`: in processes of their own.
    On mains the computer is kept awake meanwhile. Raises what `write_responses` raises.
    """
    found = []
    for plan in ready.plans:
        responses = finished(plan)
        if responses is None:
            yield Preparing(plan.model.name)
            kind = SubprocessWorker if apart else InProcessWorker
            with kind(write_responses, cancel) as worker, Awake(KeepAwake.MAINS) as awake:
                reports = Reports(worker.do(plan))
                for event in reports:
                    awake.refresh()
                    yield event
                responses = reports.result
        else:
            yield Note(f"{plan.out.name} is there already: nothing is written again.")
        for warning in responses.warnings:
            yield Note(warning)
        found.append(responses)
    return found


def pairs_of(written: Sequence[Responses], cancel: CancelToken) -> Pairs:
    """All pairs of what several models wrote. SetupError for fewer than two."""
    read = [read_outputs(each.path, cancel=cancel) for each in written]
    return make_pairs(match_outputs(read), PairsPlan(None, None, PairsPlan.seed))
