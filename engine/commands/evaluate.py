"""`evaluate`: what a run or a submission is worth against human labels.

Knows: its arguments and what it prints. The measures are `evaluation.py`'s.
"""

import argparse
from pathlib import Path

from engine.commands.console import DONE, command_parser, interruptible, percent, table
from engine.commands.measuring import (
    SlowMeasures,
    add_gold,
    add_slow_measures,
    add_store,
    as_number,
    as_range,
    say_what_was_left_out,
    write_json,
)
from engine.dataset import load_dataset
from engine.evaluation import Evaluation, evaluate, mean_of, official_json
from engine.explanations import ExplanationMeasures
from engine.files import check_targets
from engine.label_measures import UNSCORED, LabelMeasures
from engine.matching import match
from engine.records import PREFERENCES
from engine.systems import open_system


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
    add_store(arguments)
    add_slow_measures(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Measure, print, and write the JSON."""
    check_targets({"--json": options.json}, {"dataset": options.gold, "run store": options.store})
    with interruptible() as cancel:
        system = open_system(options.system, options.store)
        matched = match(system, load_dataset(options.gold, cancel=cancel), options.partial)
        slow = SlowMeasures(options, cancel)
        say_what_was_left_out(matched)
        evaluation = evaluate(matched, slow.of(matched))
    print(f"{evaluation.name} against the human labels of {matched.dataset.name}: {matched.items:,} items\n")
    print(accuracy_table(evaluation))
    print(f"\n{bias_table(evaluation)}")
    if evaluation.explanations:
        print(f"\n{explanation_table(evaluation)}")
    if options.confusion:
        print("".join(f"\n{confusion_table(one)}\n" for one in evaluation.labels.values()), end="")
    if options.json:
        write_json(options.json, official_json(evaluation, slow.judge_name))
        print(f"\nScores: {options.json}")
    return DONE


def accuracy_table(evaluation: Evaluation) -> str:
    """Accuracy with its interval, beside trivial judges on the same items."""
    measures = list(evaluation.labels.values())
    rows = [
        [
            one.criterion,
            f"{one.items}",
            percent(one.accuracy),
            as_range(one.interval, 100),
            percent(one.baselines.most_frequent),
            percent(one.baselines.always_a),
            percent(one.baselines.longer),
            percent(one.baselines.random),
            as_number(one.kappa, 3),
            as_number(one.macro_f1, 3),
        ]
        for one in measures
    ]
    means = [
        percent(mean_of(values))
        for values in (
            [one.baselines.most_frequent for one in measures],
            [one.baselines.always_a for one in measures],
            [one.baselines.longer for one in measures],
            [one.baselines.random for one in measures],
        )
    ]
    rows.append(["mean", "", percent(evaluation.accuracy), "", *means, "", ""])
    header = ["criterion", "labels", "accuracy", "95 %", "most frequent", "always A", "longer", "random"]
    return table([*header, "kappa", "macro-F1"], rows)


def bias_table(evaluation: Evaluation) -> str:
    """What the labels lean to, and what could not be scored."""
    rows = [
        [
            one.criterion,
            *(f"{one.predicted.get(label, 0)}/{one.human.get(label, 0)}" for label in PREFERENCES),
            str(one.unscored),
            percent(one.flipped),
            as_number(one.format_mass, 3),
            f"{percent(one.longer)} / {percent(one.longer_human)}",
        ]
        for one in evaluation.labels.values()
    ]
    header = ["system/human", *PREFERENCES, "unscored", "flipped", "format mass", "for the longer"]
    return table(header, rows)


def explanation_table(evaluation: Evaluation) -> str:
    """The explanations' measures, beside the most typical human explanation."""
    measures = list(evaluation.explanations.values())
    rows = [[one.criterion, str(one.items), *_explanation_cells(one)] for one in measures]
    means = [
        as_number(evaluation.explanation_mean(name))
        for name in ("rouge_l", "typical", "bertscore", "agreement", "p_yes", "words", "human_words")
    ]
    rows.append(["mean", "", means[0], "", *means[1:], str(sum(one.unexplained for one in measures))])
    header = ["explanations", "items", "ROUGE-L", "95 %", "most typical", "BERTScore", "agreement"]
    return table([*header, "P(yes)", "words", "human words", "missing"], rows)


def _explanation_cells(one: ExplanationMeasures) -> list[str]:
    return [
        as_number(one.rouge_l),
        as_range(one.interval),
        as_number(one.typical),
        as_number(one.bertscore),
        as_number(one.agreement),
        as_number(one.p_yes),
        as_number(one.words),
        as_number(one.human_words),
        str(one.unexplained),
    ]


def confusion_table(measures: LabelMeasures) -> str:
    """Human labels down, predicted ones across."""
    rows = [
        [f"human {label}", *map(str, row)] for label, row in zip(PREFERENCES, measures.confusion, strict=True)
    ]
    return table([measures.criterion, *PREFERENCES, UNSCORED], rows)
