"""`compare`: runs and submissions side by side against the same human labels.

Knows: its arguments and what it prints. The comparison is `comparison.py`'s.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.commands.console import DONE, add_store, command_parser, interruptible, printable, table, tell
from engine.commands.measuring import (
    SlowMeasures,
    add_gold,
    add_slow_measures,
    check_measure_outputs,
    say_what_was_left_out,
)
from engine.comparison import Comparison, Difference, Measure, compare, match_all
from engine.dataset import load_dataset
from engine.evaluation import evaluate, mean_of, official_json
from engine.files import write_json
from engine.label_measures import UNSCORED
from engine.published import MEASURED_ON, PUBLISHED
from engine.shown import number, percent
from engine.systems import open_system, told_apart

_TITLES = {
    "accuracy": "accuracy (%)",
    "rouge_l": "ROUGE-L x 100",
    "bertscore": "BERTScore F1 x 100",
    "agreement": "LLM agreement (%)",
}


def parser() -> argparse.ArgumentParser:
    """The arguments of `compare`."""
    arguments = command_parser(
        "compare",
        "Compare SYSTEMs (submission files or ids of runs) against human labels: all measures with ranks,\n"
        "Borda counts, agreement, McNemar's test, and the items on which they differ.",
    )
    arguments.add_argument(
        "systems", nargs="+", metavar="SYSTEM", help="SUBMISSION.tsv, or the id of a run; two or more"
    )
    add_gold(arguments)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="all of it, with every difference")
    arguments.add_argument(
        "--differences", type=int, default=10, metavar="N", help="how many differences to print (%(default)s)"
    )
    add_store(arguments)
    add_slow_measures(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Compare, write the JSON, and print."""
    check_measure_outputs(options, {"--json": options.json}, options.systems)
    with interruptible() as cancel:
        systems = told_apart([open_system(word, options.store) for word in options.systems])
        matched = match_all(systems, load_dataset(options.gold, cancel=cancel), options.partial)
        slow = SlowMeasures(options, cancel)
        for one in matched:
            say_what_was_left_out(one)
        scores = [slow.of(one) for one in matched]
    evaluations = [evaluate(one, known) for one, known in zip(matched, scores, strict=True)]
    result = compare(evaluations)
    if options.json:
        each = {one.name: official_json(one, slow.judge_name) for one in evaluations}
        write_json(options.json, {**_as_json(result), "scores": each})
        print(f"Comparison: {options.json}\n")
    for name, lacking in result.left_out.items():
        tell(f"{name} is not compared: {', '.join(map(printable, lacking))} without it.")
    for system in systems:
        print(printable(f"{system.name}: {system.description}"))
    gold = printable(matched[0].dataset.name)
    print(f"\n{result.items:,} items of {gold}. In brackets: rank, 1 is the best.\n")
    print(_measure_table(result))
    print(f"\n{_borda_table(result)}")
    print(f"\n{_agreement_table(result)}")
    print(f"\n{_published_table()}")
    _print_differences(result, options.differences)
    return DONE


def _measure_table(result: Comparison) -> str:
    names = list(dict.fromkeys(one.name for one in result.measures))
    rows = []
    for name in names:
        measures = [one for one in result.measures if one.name == name]
        rows += [[f"{_TITLES[name]}, {one.criterion}", *_cells(one)] for one in measures]
        columns = zip(*(one.values for one in measures), strict=True)
        rows.append([f"{_TITLES[name]}, mean", *(number(mean_of(column)) for column in columns)])
    return table(["measure", *result.systems], rows)


def _cells(measure: Measure) -> list[str]:
    return [
        "-" if value is None or rank is None else f"{value:.2f} [{rank:g}]"
        for value, rank in zip(measure.values, measure.ranks, strict=True)
    ]


def _borda_table(result: Comparison) -> str:
    rows = [_borda_row("labels (sub-task 1)", result.borda_labels, result.systems)]
    if result.borda_explanations:
        rows.append(_borda_row("explanations (sub-task 2)", result.borda_explanations, result.systems))
    return table(["Borda count", *result.systems], rows)


def _borda_row(title: str, points: Mapping[str, float], systems: Sequence[str]) -> list[str]:
    return [title, *(f"{points[name]:g}" if name in points else "-" for name in systems)]


def _agreement_table(result: Comparison) -> str:
    rows = [
        [
            f"{one.one} / {one.other}",
            one.criterion,
            percent(one.same),
            number(one.kappa, 3),
            f"{one.only_one}/{one.only_other}",
            "<0.0001" if one.p_value < 0.0001 else number(one.p_value, 4),
        ]
        for one in result.agreements
    ]
    return (
        table(["systems", "criterion", "same label", "kappa", "only one right", "McNemar p"], rows)
        + "\n(p-values are not corrected for how many there are.)"
    )


def _published_table() -> str:
    criteria = list(PUBLISHED[0].accuracy)
    rows = [
        [
            f"{one.name} ({one.remark})" if one.remark else one.name,
            *(number(one.accuracy[name]) for name in criteria),
            number(one.mean_accuracy),
            *(number(one.explanations.get(name)) for name in ("rouge_l", "bertscore", "agreement")),
        ]
        for one in PUBLISHED
    ]
    header = ["published, 2025", *criteria, "mean", "ROUGE-L", "BERTScore", "agreement"]
    return f"For reference, measured on {MEASURED_ON}, so not ranked here:\n" + table(header, rows)


def _print_differences(result: Comparison, most: int) -> None:
    found = result.differences
    print(f"\n{len(found):,} labels differ between the systems.")
    if not found or most < 1:
        return
    rows = [[one.item_id, one.criterion, one.human.value, *_labels(one)] for one in found[:most]]
    print(table(["item", "criterion", "human", *result.systems], rows))
    if len(found) > most:
        print(f"and {len(found) - most:,} more; --json writes them all.")


def _labels(difference: Difference) -> list[str]:
    return [label.value if label else UNSCORED for label in difference.labels]


def _as_json(result: Comparison) -> dict[str, Any]:
    return {
        **asdict(result),
        "published": {"measured_on": MEASURED_ON, "results": [asdict(one) for one in PUBLISHED]},
    }
