"""Responses of candidate models to prompts, and pairs of them: one model after the other, each in a process
of its own. Does not know: who asks, how anything is shown, who judges.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken, MeasureProgress, Note, Preparing, Reports, TokensEvaluated
from engine.core.formatting import amount, counted, duration, short_name
from engine.core.tables import Column, Kind, PartOf, Section, Sheet, Table
from engine.data.outputs import read_outputs, read_prompts
from engine.data.pairs import Pairs, make_pairs, match_outputs
from engine.judging.generation import (
    GenerationPlan,
    GenerationSettings,
    ResponseFile,
    Responses,
    WriteGroups,
    finished,
    size_by_vocabulary,
    write_responses,
)
from engine.models.checked_model import checked_model, in_use
from engine.models.memory import check_memory, memory_needed
from engine.models.model_file import ModelFile, read_model_file
from engine.models.opening import machine_settings, remembered_speed
from engine.operations.opening import find_model
from engine.settings.sampling import PairsPlan
from engine.system.computer import Awake, KeepAwake
from engine.system.files import check_writable, make_folder
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

MOST_MODELS = 8
_PLANNED = (
    Column("model", "model", Kind.TEXT, "Who writes."),
    Column("prompts", "prompts left", Kind.PART, "The prompts to which it has not responded yet."),
    Column("read", "tokens to read", Kind.COUNT, "Those of these prompts, in its own chat format."),
    Column("write", "to write, at most", Kind.COUNT, "The most tokens that its responses may have."),
    Column("time", "time, at most", Kind.TEXT, "By its measured speed, if all responses are that long."),
    Column("memory", "memory", Kind.TEXT, "What it takes while it writes."),
)


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
    """What each model is to write, in the order of the request; `sheet`: what that takes at most."""

    plans: tuple[GenerationPlan, ...]
    sheet: Sheet


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
        name = short_name(model.name)  # of its file, too: no system takes a longer one
        if name in described:
            raise SetupError(f"Two models are called {name}.", "Rename one of the files.")
        described[name] = model
    plans, rows, in_all, untimed = [], [], 0.0, False
    for name, model in described.items():
        yield Preparing(f"Checking {name}")
        machine = machine_settings(request.threads)
        checked = checked_model(model, cancel)
        plan = GenerationPlan(checked, prompts, request.settings, machine, request.folder / f"{name}.jsonl")
        sizes = size_by_vocabulary(plan, cancel)
        # Both refuse another request's file now, not after hours of the models before.
        left = [] if finished(plan) else ResponseFile(plan).missing(sizes.groups)
        if sizes.note:
            yield Note(f"{name}: {sizes.note}")
        if warning := check_memory(model, sizes.context):
            yield Note(warning)
        speed, count = remembered_speed(checked.hash, machine), sum(map(len, left))
        to_read, most, took = sizes.to_read(left), count * request.settings.max_tokens, ""
        if speed is not None:
            seconds = to_read / speed.reading + most / speed.writing(request.settings.at_once)
            in_all, took = in_all + seconds, duration(seconds) if left else ""
        elif left:
            untimed, took = True, "not known"
            yield Note(Hint(f"{name}: its speed is not measured yet. ", Step.MEASURE_SPEED))
        needed = amount(memory_needed(model, sizes.context).total)
        rows.append((name, PartOf(count, len(prompts)), to_read, most, took, needed))
        plans.append(plan)
    said = f"{counted(len(prompts), 'prompt', 'prompts')}; {request.settings.in_words}."
    if in_all and not untimed:
        said += f" At most {duration(in_all)} in all."
    section = Section("plan", "Plan", [Table(_PLANNED, rows)], said)
    return ReadyGeneration(tuple(plans), Sheet("Responses", [section]))


def generate(
    ready: ReadyGeneration, cancel: CancelToken, apart: bool = True, elsewhere: WriteGroups | None = None
) -> Generator[Note | Preparing | MeasureProgress | TokensEvaluated, None, list[Responses]]:
    """Write what is not there yet, or have it written `elsewhere`; the same again resumes after a stop.
    `apart`: here in processes of their own. On mains the computer is kept awake. Raises as `write_responses`.
    """
    found = []
    for plan in ready.plans:
        make_folder(plan.out.parent)
        check_writable(plan.out)
    for plan in ready.plans:
        responses = finished(plan)
        if responses is None:
            yield Preparing(plan.model.name)
            kind = SubprocessWorker if apart and elsewhere is None else InProcessWorker
            with kind(write_responses, cancel) as worker, in_use(plan.model), Awake(KeepAwake.MAINS) as awake:
                reports = Reports(worker.do(plan, elsewhere))
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
