"""`evaluate`: score a run or a submission against human labels.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.cli.shared.console import DONE, add_store, command_parser, interruptible, print_sheet
from engine.cli.shared.data_arguments import add_table_files, read_labels, table_targets, write_table_files
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.measure_arguments import (
    ModelMeasures,
    add_gold,
    add_labels_of,
    add_methods,
    add_model_measures,
    add_slices,
    check_measure_outputs,
    divided,
    find_judge_model,
    kept,
    methods_targets,
    say_what_was_left_out,
    sliced,
    slices_json,
    write_methods,
)
from engine.metrics.evaluation import evaluate, official_json
from engine.metrics.matching import match, open_system
from engine.report.accuracy import confusion_section
from engine.report.evaluation import evaluation_methods, evaluation_sheet
from engine.report.slices import slice_sections
from engine.system.files import write_json


def parser() -> argparse.ArgumentParser:
    """The arguments of `evaluate`."""
    arguments = command_parser(
        "evaluate",
        "Score SYSTEM against human labels: accuracy by criterion and, for explanations, ROUGE-L,\n"
        "BERTScore (--encoder) and agreement by a judge model (--judge-model); with baselines.\n"
        "SYSTEM is a submission file, or the id of a run.",
    )
    arguments.add_argument("system", metavar="SYSTEM", help="SUBMISSION.tsv, or the id of a run")
    add_gold(arguments)
    arguments.add_argument(
        "--json", type=Path, metavar="FILE", help="the scores as JSON, under the task's keys"
    )
    add_table_files(arguments)
    add_methods(arguments)
    arguments.add_argument("--confusion", action="store_true", help="also print the confusion matrices")
    add_slices(arguments)
    add_labels_of(arguments)
    add_store(arguments)
    add_model_measures(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Measure, write the JSON, and print."""
    find_judge_model(options)
    written = {"--json": options.json, **table_targets(options), **methods_targets(options)}
    check_measure_outputs(options, written, [options.system])
    with interruptible() as cancel:
        system = open_system(options.system, options.store, options.labels_of)
        gold = read_labels(options, options.gold, [system], cancel)
        divisions = divided(options, gold)
        matched = kept(options, match(system, gold, options.partial))
        measures = ModelMeasures(options, cancel)
        say_what_was_left_out(matched)
        scores = measures.of(matched)
    evaluation = evaluate(matched, scores)
    slices = sliced(matched, divisions)
    if options.json:
        found = official_json(evaluation, measures.judge_name)
        found["details"] |= slices_json(slices)
        write_json(options.json, found)
        print(f"Scores: {options.json}\n")
    more = [*([confusion_section(evaluation)] if options.confusion else ()), *slice_sections(slices)]
    sheet = evaluation_sheet(evaluation, OPTIONS.of, more)
    write_table_files(options, "evaluate", sheet)
    statements = evaluation_methods(evaluation, measures.encoder_name, measures.judge_name)
    write_methods(options, "evaluate", statements)
    print_sheet(sheet)
    return DONE
