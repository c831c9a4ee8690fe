"""`evaluate`: what a run or a submission is worth against human labels.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.commands.shared.column_arguments import read_labels
from engine.commands.shared.console import (
    DONE,
    add_store,
    command_parser,
    interruptible,
    printable,
    printed,
    tell,
)
from engine.commands.shared.measure_arguments import (
    ModelMeasures,
    add_gold,
    add_model_alone,
    add_model_measures,
    check_measure_outputs,
    find_judge_model,
    say_what_was_left_out,
)
from engine.commands.shared.run_outputs import health_lines, print_by_way
from engine.commands.shared.slice_arguments import (
    add_slices,
    divided,
    kept,
    print_slices,
    sliced,
    slices_json,
)
from engine.measure.evaluation import Evaluation, evaluate, official_json
from engine.measure.matching import match
from engine.measure.systems import open_system
from engine.report.measure_tables import accuracy_table, confusion_table, explanation_table, label_table
from engine.report.people_tables import among_people_table, people_pairs_table
from engine.system.files import write_json


def parser() -> argparse.ArgumentParser:
    """The arguments of `evaluate`."""
    arguments = command_parser(
        "evaluate",
        "Score SYSTEM against human labels: accuracy by criterion and, where it explains, ROUGE-L,\n"
        "BERTScore (--encoder) and agreement by a judge model (--judge-model), beside trivial judges.\n"
        "SYSTEM is a submission file, or the id of a run.",
    )
    arguments.add_argument("system", metavar="SYSTEM", help="SUBMISSION.tsv, or the id of a run")
    add_gold(arguments)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="the scores under the task's keys")
    arguments.add_argument("--confusion", action="store_true", help="print the confusion matrices too")
    add_slices(arguments)
    add_model_alone(arguments)
    add_store(arguments)
    add_model_measures(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Measure, write the JSON, and print."""
    find_judge_model(options)
    check_measure_outputs(options, {"--json": options.json}, [options.system])
    with interruptible() as cancel:
        system = open_system(options.system, options.store, options.model_alone)
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
    against = printable(matched.dataset.name)
    print(f"{printable(evaluation.name)} against the human labels of {against}: {matched.items:,} items")
    print(f"{health_lines(matched.system.health)}\n")
    if matched.system.results and matched.system.results.one_labels:
        tell(matched.system.results.one_label_sentence)
    _print_tables(evaluation, options.confusion)
    if matched.system.results is not None:
        print_by_way(matched.system.results, matched.dataset)
    print_slices(slices)
    return DONE


def _print_tables(evaluation: Evaluation, confusion: bool) -> None:
    tables = [accuracy_table(evaluation), label_table(evaluation)]
    if evaluation.people:
        tables += [among_people_table(evaluation.people)] if evaluation.people.among else []
        tables.append(people_pairs_table(evaluation.people))
    if evaluation.explanations:
        tables.append(explanation_table(evaluation))
    if confusion:
        tables += [confusion_table(measures) for measures in evaluation.labels.values()]
    print("\n\n".join(map(printed, tables)))
