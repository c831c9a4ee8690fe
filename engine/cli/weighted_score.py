"""`weighted-score`: weighted decisions on the items of a run or submission, or on scored comparisons.

Knows: its arguments and what it prints.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from engine.cli.shared.console import DONE, add_store, command_parser, printable, printed_section, tell
from engine.cli.shared.data_arguments import (
    add_table_files,
    items_of_run,
    read_dataset,
    read_labels,
    rubric_of,
    table_targets,
    write_table_files,
)
from engine.cli.shared.measure_arguments import (
    add_gold,
    add_labels_of,
    add_slices,
    add_weights,
    check_measure_outputs,
    divided,
    given_weights,
    kept,
    say_what_was_left_out,
    slices_json,
    table_sections,
    tie_threshold,
    weigh_system,
    weight_errors,
)
from engine.core.errors import SetupError
from engine.core.formatting import counted, listed
from engine.core.judgments import KeptFit
from engine.core.rubric import ELOQUENT, rubric_for_labels
from engine.core.tables import Part, Section, Sentences, Sheet
from engine.data.dataset import Dataset
from engine.metrics.matching import System, annotator_caveats, match_items, open_system
from engine.ranking.weight_fit import WeightFit, fit_json, fit_weights, kept_of, load_comparisons
from engine.ranking.weighted_scoring import (
    ScoredPairs,
    SlicedWeightedScoring,
    WeightedScoring,
    human_winners,
    weigh,
    weigh_slices,
)
from engine.report.slices import slice_caveats, weighed_slice_table
from engine.report.weighted_scoring import RANGES, fit_table, fitted_weight_table, weighted_scoring_section
from engine.system.files import write_json


def parser() -> argparse.ArgumentParser:
    """The arguments of `weighted-score`."""
    arguments = command_parser(
        "weighted-score",
        "Decide by the weighted sum of criterion scores. WHAT is the id of a run or a submission file: the\n"
        "score of a response is 10 x (P(it is preferred) + P(both_good)); or a JSON file of comparisons:\n"
        'a list of {"id": ..., "scores_a": {criterion: number}, "scores_b": {...}}, whose result is JSON.',
    )
    arguments.add_argument("what", metavar="WHAT", help="the id of a run, SUBMISSION.tsv or SCORES.json")
    add_weights(arguments)
    add_gold(arguments, required=False)
    arguments.add_argument(
        "--fit-weights",
        action="store_true",
        help="fit the weights that best predict the human overall label",
    )
    arguments.add_argument("--json", type=Path, metavar="FILE", help="every winner and margin, as JSON")
    add_table_files(arguments)
    add_slices(arguments)
    add_labels_of(arguments)
    add_store(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Decide, write the JSON, and print."""
    if options.fit_weights and options.gold is None:
        raise SetupError("--fit-weights needs human labels.", "Name the labelled dataset with --gold.")
    check_measure_outputs(options, {"--json": options.json, **table_targets(options)}, [options.what])
    if Path(options.what).name.removesuffix(".gz").endswith(".json"):
        if options.by or options.slice:
            raise SetupError("--by and --slice are for runs and submissions.", "Remove them.")
        if options.latex or options.markdown:
            raise SetupError(
                "--latex and --markdown are for runs and submissions; scored comparisons have no tables.",
                "Remove them.",
            )
        return _weigh_scores(options)
    return _weigh_system(options)


def _weigh_scores(options: argparse.Namespace) -> int:
    """Scored comparisons: the result is printed as JSON."""
    if options.grades:
        raise SetupError(
            "--grades is for runs; scored comparisons have their own scores.", "Remove --grades."
        )
    rubric = rubric_of(options) or ELOQUENT
    gold = read_dataset(options, options.gold, rubric=rubric_for_labels([rubric])) if options.gold else None
    given = given_weights(options)
    if given is None:
        raise SetupError(
            "Scored comparisons need --weights.",
            "Name their criteria: --weights quality=0.6,relevance=0.4",
        )
    weights = given.weights
    pairs = ScoredPairs(load_comparisons(Path(options.what), list(weights)))
    with weight_errors():
        result = weigh(pairs, weights, tie_threshold(options, given, rubric), gold)
    if gold is not None and result.agreement is None:
        raise SetupError(
            f"No id of {options.what} has a human overall label in {gold.name}.",
            "Name the dataset of these items.",
        )
    if gold is not None:
        known = set(gold.ids)
        joined = sum(row["id"] in known for row in pairs.rows)
        names = printable(Path(options.what).name), printable(gold.name)
        tell(
            f"{joined:,} of {len(pairs.rows):,} ids of {names[0]} are in {names[1]}. Scored comparisons"
            " have no texts: the items are matched by id only."
        )
        weighed = {row["id"] for row in pairs.rows}
        overlap = given.kept and given.kept.fitted_on.overlap(item for item in gold if item.id in weighed)
        if overlapping := given.kept.in_words(overlap) if given.kept and overlap else given.unknown:
            tell(printable(overlapping))
    fit = _fitted(pairs, result, gold) if options.fit_weights and gold is not None else None
    text = _as_json(result, fit)
    if options.json:
        write_json(options.json, text)
    print(json.dumps(text, indent=2, ensure_ascii=False))
    return DONE


def _weigh_system(options: argparse.Namespace) -> int:
    system = open_system(options.what, options.store, options.labels_of)
    gold = _items(options, system)
    divisions = divided(options, gold) if gold is not None else []
    matched = None
    if gold is not None:
        matched = kept(options, match_items(system, gold, options.partial or options.gold is None))
        say_what_was_left_out(matched)
    for caveat in annotator_caveats(system) if matched is None else ():
        tell(f"{printable(system.name)}: {caveat}")
    items = _own_items(options, system) if gold is None else None
    pairs, result = weigh_system(options, system, matched, items)
    result.informative.check()
    if options.gold and result.agreement is None:
        tell(f"{printable(options.gold.name)} has no human overall label of these items.")
    fit = _fitted(pairs, result, gold) if options.fit_weights and gold is not None else None
    slices = [weigh_slices(pairs, result, matched.dataset, each) for each in divisions if matched]
    if options.json:
        write_json(options.json, _as_json(result, fit) | slices_json(slices))
        print(f"Decisions: {options.json}\n")
    if result.left_out:
        tell(
            f"{counted(len(result.left_out), 'item', 'items')} not decided, because a criterion is unscored:"
            f" {listed(result.left_out)}"
        )
    first, *others = _sections(options, result, system, slices, fit)
    against = f" against the human labels of {gold.name}" if gold is not None and options.gold else ""
    write_table_files(options, "weigh", Sheet(f"{system.name}{against}", [first, *others]))
    named = replace(first, title=f"{first.title}, {system.name}")
    print("\n\n".join(map(printed_section, (named, *others))))
    if fit:
        print(f"\n{_fit_words(fit[0], options.json)}")
    return DONE


def _items(options: argparse.Namespace, system: System) -> Dataset | None:
    """The dataset of --gold; else, for slices, which need no human labels, the run's own."""
    if options.gold:
        return read_labels(options, options.gold, [system])
    if not (options.by or options.slice):
        return None
    if system.results is None:
        raise SetupError("--by and --slice need the dataset of the items.", "Name it with --gold.")
    return items_of_run(options, system.results.run)


def _own_items(options: argparse.Namespace, system: System) -> Dataset | None:
    """A run's own dataset, needed for intervals over instructions; None if it cannot be read."""
    if system.results is None:
        return None
    try:
        return items_of_run(options, system.results.run)
    except SetupError as error:
        tell(f"Intervals need the instructions of the items, and are omitted: {printable(error.problem)}")
        return None


def _fitted(pairs: ScoredPairs, result: WeightedScoring, gold: Dataset) -> tuple[WeightFit, KeptFit]:
    """Weights of the criteria that count."""
    criteria = [name for name, weight in result.weights.items() if weight > 0]
    human = human_winners(gold)
    fit = fit_weights(pairs.rows, human, gold.groups, criteria)
    return fit, kept_of(fit, gold, human.keys() & {row["id"] for row in pairs.rows})


def _sections(
    options: argparse.Namespace,
    result: WeightedScoring,
    system: System,
    slices: Sequence[SlicedWeightedScoring],
    fit: tuple[WeightFit, KeptFit] | None,
) -> list[Section]:
    """The decisions, then their slices, then the fitted weights."""
    section = weighted_scoring_section(result, system)
    note = "" if options.grades else section.note  # the note explains probability scores
    parts: list[Part] = []
    for found in slices:
        caveats = slice_caveats(found)
        parts += [weighed_slice_table(found), *([Sentences(caveats)] if caveats else ())]
    sections = [replace(section, note=note), *table_sections(parts)]
    if fit:
        tables = [fit_table(fit[0]), fitted_weight_table(fit[0])]
        sections.append(Section("fit", "", [*tables, Sentences([RANGES])]))
    return sections


def _fit_words(fit: WeightFit, file: Path | None) -> str:
    found = ",".join(f"{name}={weight:.4f}" for name, weight in fit.weights.items())
    return (
        f"Fitted on all items: --weights {found} --tie-threshold {fit.tie_threshold:.4g}\n"
        f"With a record of these items: {'' if file else '--json FILE here, and later '}"
        f"--weights {file or 'FILE'}"
    )


def _as_json(result: WeightedScoring, fit: tuple[WeightFit, KeptFit] | None) -> dict[str, Any]:
    """The result of pairwise_preference_judge, with intervals, agreement and fitted weights."""
    more: dict[str, Any] = result.informative.as_json()
    if any(result.intervals.values()):
        more["intervals"] = result.intervals
    if result.left_out:
        more["left_out"] = list(result.left_out)
    if result.agreement:
        more["agreement"] = asdict(result.agreement)
    if fit:
        more["fitted"] = fit_json(*fit)
    return {**result.result, **more}
