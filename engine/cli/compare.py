"""`compare`: several runs and submissions against the same human labels.

Knows: its arguments and what it prints.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

from engine.cli.shared.console import (
    DONE,
    add_store,
    command_parser,
    interruptible,
    printable,
    printed_section,
    table,
    tell,
)
from engine.cli.shared.data_arguments import add_table_files, read_labels, table_targets, write_table_files
from engine.cli.shared.measure_arguments import (
    ModelMeasures,
    add_gold,
    add_labels_of,
    add_model_measures,
    add_slices,
    check_measure_outputs,
    divided,
    find_judge_model,
    kept,
    say_what_was_left_out,
    sliced,
    table_sections,
)
from engine.cli.shared.outputs import health_lines
from engine.core.formatting import counted
from engine.core.tables import Part, Section, Sentences, Sheet
from engine.data.slices import Slicing
from engine.metrics.accuracy import UNSCORED
from engine.metrics.comparison import Comparison, Difference, compare, match_all
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import Matched, open_system, told_apart
from engine.metrics.slices import SlicedMeasures
from engine.ranking.weighted_scoring import SlicedWeightedScoring, weigh_by_default
from engine.report.comparison import comparison_json, comparison_sheet
from engine.report.rankings import rankings_beside
from engine.report.slices import compared_slice_table, compared_slices_in_words, compared_win_table
from engine.system.files import write_json


def parser() -> argparse.ArgumentParser:
    """The arguments of `compare`."""
    arguments = command_parser(
        "compare",
        "Compare SYSTEMs (submission files or ids of runs) against human labels: all measures with ranks,\n"
        "Borda counts, agreement, accuracy differences, and the items on which they differ.",
    )
    arguments.add_argument(
        "systems", nargs="+", metavar="SYSTEM", help="SUBMISSION.tsv, or the id of a run; two or more"
    )
    add_gold(arguments)
    arguments.add_argument(
        "--json", type=Path, metavar="FILE", help="the comparison as JSON, with every difference"
    )
    add_table_files(arguments)
    arguments.add_argument(
        "--differences",
        type=int,
        default=10,
        metavar="N",
        help="number of differences to print (%(default)s)",
    )
    add_slices(arguments)
    add_labels_of(arguments)
    add_store(arguments)
    add_model_measures(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Compare, write the JSON, and print."""
    find_judge_model(options)
    check_measure_outputs(options, {"--json": options.json, **table_targets(options)}, options.systems)
    with interruptible() as cancel:
        systems = told_apart(
            [open_system(word, options.store, options.labels_of) for word in options.systems]
        )
        gold = read_labels(options, options.gold, systems, cancel)
        divisions = divided(options, gold)
        matched = [kept(options, joined) for joined in match_all(systems, gold, options.partial)]
        measures = ModelMeasures(options, cancel)
        for joined in matched:
            say_what_was_left_out(joined)
        scores = [measures.of(joined) for joined in matched]
    evaluations = [evaluate(joined, known) for joined, known in zip(matched, scores, strict=True)]
    result = compare(evaluations)
    slices = [sliced(joined, divisions) for joined in matched]
    wins = [_wins(matched, division) for division in divisions]
    beside = rankings_beside(matched)
    if options.json:
        found = comparison_json(
            result, evaluations, judge_name=measures.judge_name, slices=slices, wins=wins, beside=beside
        )
        write_json(options.json, found)
        print(f"Comparison: {options.json}\n")
    for sentence in result.not_compared:
        tell(printable(sentence))
    for system in (joined.system for joined in matched if joined.system.health.doubted):
        print(printable(f"{system.name}:"))
        print(indent(health_lines(system.health), "    "))
    shown = [*comparison_sheet(result, matched).sections, *([beside.section] if beside else ())]
    shown += _slice_sections(matched, slices, wins)
    write_table_files(options, "compare", Sheet(" against ".join(result.systems), shown))
    print("\n\n".join(map(printed_section, shown)))
    _print_differences(result, options.differences)
    return DONE


def _wins(matched: Sequence[Matched], division: Slicing) -> dict[str, SlicedWeightedScoring]:
    """The weighted decisions on each slice, for the systems that can be decided."""
    found = {one.system.name: weigh_by_default(one, division) for one in matched}
    return {name: weighed for name, weighed in found.items() if weighed is not None}


def _slice_sections(
    matched: Sequence[Matched],
    slices: Sequence[Sequence[SlicedMeasures]],
    wins: Sequence[dict[str, SlicedWeightedScoring]],
) -> list[Section]:
    """Accuracies and win rates for each division; `slices` are those of each system."""
    parts: list[Part] = []
    for of_each, weighed in zip(zip(*slices, strict=True), wins, strict=True):
        parts.append(compared_slice_table(matched, of_each))
        if sentences := compared_slices_in_words(matched, of_each):
            parts.append(Sentences(sentences))
        if weighed:
            parts.append(compared_win_table(of_each[0], weighed))
    return table_sections(parts)


def _print_differences(result: Comparison, most: int) -> None:
    found = result.differences
    print(f"\n{counted(len(found), 'label differs', 'labels differ')} between the systems.")
    if not found or most < 1:
        return
    rows = [
        [difference.item_id, difference.criterion, difference.human.value, *_labels(difference)]
        for difference in found[:most]
    ]
    print(table(["item", "criterion", "human", *result.systems], rows))
    if len(found) > most:
        print(f"and {len(found) - most:,} more; --json writes all of them.")


def _labels(difference: Difference) -> list[str]:
    return [label.value if label else UNSCORED for label in difference.labels]
