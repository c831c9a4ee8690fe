"""Responses of candidate models, out of Python."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.api import arguments
from engine.api.refused import stoppable, with_notices
from engine.core.errors import SetupError
from engine.judging.generation import GenerationSettings
from engine.operations import generate as generating


@arguments.api_call
def generate(
    prompts: arguments.AnyPath,
    models: Sequence[arguments.AnyPath],
    folder: arguments.AnyPath,
    *,
    pairs: arguments.AnyPath | None = None,
    columns: Mapping[str, str] | None = None,
    max_tokens: int = 512,
    temperature: float = 0.0,
    top_p: float = 1.0,
    seed: int = 1,
    reasons: bool = True,
    at_once: int = 16,
    threads: int | None = None,
) -> list[Path]:
    """Have each model write a response to each prompt of a file; the file of each model, JSON Lines in
    `folder`, in the order of `models`. The same call resumes after a stop, and writes nothing twice.

    `pairs`: also write a dataset of all pairs of two candidates, for `Judge.run`. `columns`: of the prompts'
    file by ours, {"instruction": "prompt"}; ours are id, system, instruction, context, and reference,
    which no candidate sees. `max_tokens`: of a response at most, 1 or more. `temperature`: 0 takes the
    likeliest token each time. `top_p`: of sampled tokens the likeliest with this much probability together,
    above 0, at most 1. `reasons`: models that can reason do so first; that stands beside the responses.
    `at_once`: responses written together, 1 to 64.

    Raises Refused for prompts, models or settings that cannot be used, and for files of another request.

    >>> [path.name for path in generate(demo_dataset(), ["demo"], "responses", max_tokens=2)]
    ['demo-judge.jsonl']
    """
    words = tuple(str(arguments.name_or_path("models", model)) for model in models)
    if pairs is not None and len(words) < 2:
        raise SetupError("pairs needs two models or more.", "Name more models.")
    settings = GenerationSettings(max_tokens, temperature, top_p, seed, reasons, at_once)
    request = generating.GenerationRequest(
        arguments.path_of("prompts", prompts),
        words,
        arguments.path_of("folder", folder),
        settings,
        dict(columns or {}),
        threads,
    )
    with stoppable() as cancel:
        ready = with_notices(generating.prepare(request, cancel))
        written = with_notices(generating.generate(ready, cancel))
        if pairs is not None:
            made = generating.pairs_of(written, cancel)
            made.write(arguments.path_of("pairs", pairs))
    return [each.path for each in written]
