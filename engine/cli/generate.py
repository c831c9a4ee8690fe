"""`generate`: have candidate models write responses to prompts, and make pairs of them."""

import argparse
from functools import partial
from pathlib import Path

from engine.cli.shared import arguments as shared
from engine.cli.shared import cluster, console, progress
from engine.cluster.cluster_run import write_over_cluster
from engine.core.column_map import parse_columns
from engine.core.errors import SetupError
from engine.core.events import Cancelled
from engine.core.formatting import counted
from engine.data.outputs import OF_PROMPTS
from engine.data.submission import check_suffix
from engine.judging.generation import GenerationSettings
from engine.operations import generate as generating
from engine.report.pairs import pairs_sheet
from engine.system.files import check_targets
from engine.system.paths import program


def generate() -> console.Parser:
    """Have each model write a response to each prompt in PROMPTS, a table with an instruction in each row.
    The responses of a model go into FOLDER/MODEL.jsonl, which `pairs` reads; the same command resumes after a
    stop.
    """
    arguments = console.command_parser(generate, _generate)
    arguments.add_argument("prompts", type=Path, metavar="PROMPTS")
    arguments.add_argument(
        "--model",
        action="append",
        dest="models",
        required=True,
        metavar="MODEL",
        help=f"a candidate: {shared.MODEL_WORDS}; once for each, at most {generating.MOST_MODELS}",
    )
    arguments.file("--out", "the folder for the responses", metavar="FOLDER", required=True)
    arguments.file("--pairs", "also make a dataset of all pairs (.tsv, .json, .parquet)", metavar="DATASET")
    arguments.flag("--plan", "print what it will take, and write nothing")
    arguments.text("--columns", "OURS=THEIRS,...", f"the columns for {', '.join(OF_PROMPTS)}")
    group, default = arguments.add_argument_group("responses"), GenerationSettings()
    group.number("--max-tokens", "the most tokens of a response (%(default)s)", default=default.max_tokens)
    temperature = "0: always the likeliest token; higher: sampled (%(default)s)"
    group.number("--temperature", temperature, metavar="T", kind=float, default=default.temperature)
    top_p = "sample from the likeliest tokens with this much probability together (%(default)s)"
    group.number("--top-p", top_p, metavar="P", kind=float, default=default.top_p)
    group.number("--seed", "the seed of sampled responses (%(default)s)", default=default.seed)
    group.flag("--no-reasoning", "models that can reason answer at once; else reasoning is kept aside")
    group.number("--at-once", "the responses written together (%(default)s)", default=default.at_once)
    arguments.number("--threads", "the threads that compute; as many as are free")
    cluster.add_cluster(arguments.add_argument_group("other computers"), judges=False)
    return arguments


def _generate(options: argparse.Namespace) -> int:
    if options.pairs is not None:
        check_suffix(options.pairs)
        if len(options.models) < 2:
            raise SetupError("--pairs needs two models or more.", "Name each with --model.")
        check_targets({"--pairs": options.pairs}, {"file of the prompts": options.prompts})
    request = generating.GenerationRequest(
        options.prompts,
        tuple(options.models),
        options.out,
        GenerationSettings(
            max_tokens=options.max_tokens,
            temperature=options.temperature,
            top_p=options.top_p,
            seed=options.seed,
            reasons=not options.no_reasoning,
            at_once=options.at_once,
        ),
        parse_columns(options.columns or "", OF_PROMPTS),
        options.threads,
    )
    over = cluster.cluster_of(options)
    elsewhere = None if over is None else partial(write_over_cluster, over)
    with console.interruptible() as cancel:
        ready = progress.with_notes(generating.prepare(request, cancel))
        console.print_sheet(ready.sheet)
        if over is not None:
            console.tell("Memory and times of the plan are those of this computer alone.")
        if options.plan:
            return console.DONE
        try:
            writing = generating.generate(ready, cancel, elsewhere=elsewhere)
            written = progress.show_measure("responses", writing)
        except Cancelled:
            console.tell("Stopped. What is complete is kept: the same command resumes.")
            return console.INCOMPLETE
        for each in written:
            responses = counted(each.count, "response", "responses")
            print(f"{console.printable(str(each.path))}: {responses}, {each.tokens:,} tokens")
        if options.pairs is None:
            files = " ".join(str(each.path) for each in written)
            print(f"\nMake pairs of them: {program()} pairs {files} --out DATASET.tsv")
            return console.DONE
        made = generating.pairs_of(written, cancel)
    made.write(options.pairs)
    console.print_sheet(pairs_sheet(made, options.pairs))
    print(f"\nDataset: {options.pairs}. Judge it: {program()} judge {options.pairs} --model ANOTHER")
    return console.DONE
