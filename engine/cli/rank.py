"""`rank`: rank candidate models by judged pairs: win rates, Bradley-Terry scores, intervals.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path
from textwrap import indent

from engine.cli.shared.console import (
    DONE,
    add_store,
    command_parser,
    interruptible,
    print_sheet,
    printable,
    tell,
)
from engine.cli.shared.data_arguments import (
    add_table_files,
    items_of_run,
    read_dataset,
    read_labels,
    rubric_of,
    table_targets,
    write_table_files,
)
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.judging import show_measure
from engine.cli.shared.measure_arguments import (
    add_gold,
    add_labels_of,
    add_methods,
    add_weights,
    check_measure_outputs,
    methods_targets,
    say_what_was_left_out,
    weigh_system,
    write_methods,
)
from engine.cli.shared.outputs import health_lines
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.formatting import listed
from engine.core.rubric import OVERALL, default_criterion, rubric_for_labels
from engine.metrics.matching import match_items, open_system
from engine.ranking.bradley_terry import side_by_side
from engine.ranking.labelled_part import by_labels
from engine.ranking.ranking import rank, ranking_json
from engine.report.ranking import paper_sheet, ranking_csv, ranking_sheet
from engine.report.rankings import RankedBy, ranking_methods, side_by_side_json, side_by_side_section, stopped
from engine.settings.sampling import DEFAULT_SEED, checked_seed
from engine.system.files import write_json, write_whole


def parser() -> argparse.ArgumentParser:
    """The arguments of `rank`."""
    arguments = command_parser(
        "rank",
        "Rank the candidate models, which wrote the responses, by judged pairs: win rates, Bradley-Terry\n"
        "scores, differences that are not significant, and the effect of length. WHAT is the id of a run, a\n"
        "submission file with --gold, or a dataset, which is ranked by its human labels. The dataset names\n"
        "the candidates in its columns candidate_a and candidate_b.",
    )
    arguments.add_argument("what", metavar="WHAT", help="the id of a run, SUBMISSION.tsv or a dataset")
    arguments.add_argument(
        "--criterion", metavar="NAME", help=f"rank by this criterion (default: {OVERALL}, else the last one)"
    )
    arguments.add_argument(
        "--weighted", action="store_true", help="rank by the weighted decisions on all criteria"
    )
    add_weights(arguments)
    add_gold(arguments, required=False)
    arguments.add_argument(
        "--with",
        dest="beside",
        metavar="OTHER",
        help="compare with a second ranking of the same items: a run, a submission or a dataset",
    )
    arguments.add_argument("--json", type=Path, metavar="FILE", help="every rate, pair and interval, as JSON")
    arguments.add_argument("--csv", type=Path, metavar="FILE", help="candidates and pairs, one row each")
    add_table_files(arguments)
    add_methods(arguments)
    arguments.add_argument(
        "--seed", type=int, default=DEFAULT_SEED, metavar="N", help="the seed of the bootstrap"
    )
    add_labels_of(arguments)
    add_store(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Rank, write the files, and print."""
    written = {"--json": options.json, "--csv": options.csv}
    written |= {**table_targets(options), **methods_targets(options)}
    words = [options.what, *([options.beside] if options.beside else ())]
    check_measure_outputs(options, written, words)
    _check_weighted(options)
    seed = checked_seed(options.seed)
    with interruptible() as cancel:
        ranked = _ranked(options, options.what, cancel)
        other = _ranked(options, options.beside, cancel) if options.beside else None
        for by in filter(None, (ranked, other)):
            _say_whether_it_judged(by)
        comparisons = ranked.comparisons
        beside = None if other is None else side_by_side(comparisons, other.comparisons, seed, cancel)
        found = None if beside is None else show_measure("bootstrap", beside)
        ranking = show_measure("bootstrap", rank(comparisons, seed, cancel))
        corrected = ranked.judge and show_measure(
            "bootstrap of the correction", by_labels(*ranked.judge, seed=seed, cancel=cancel)
        )
        sheet = ranking_sheet(
            ranking, ranked.title, corrected, until=ranked.until, remark=ranked.remark, word=OPTIONS.of
        )
        made = {"ranked": ranked.title, **ranking_json(ranking, corrected, ranked.remark)}
        if other is not None and found is not None:
            of_both = side_by_side_section(found, ranked.title, other.title, stopped(ranked, other))
            sheet = sheet.with_section(of_both)
            made["side_by_side"] = side_by_side_json(found, other.title)
    if options.json:
        write_json(options.json, made)
        print(f"Ranking: {options.json}\n")
    if options.csv:
        write_whole(options.csv, ranking_csv(ranking, corrected))
        print(f"Candidates and pairs: {options.csv}\n")
    write_table_files(options, "rank", sheet, paper_sheet(ranking, ranked.title, corrected))
    write_methods(options, "rank", ranking_methods(ranked, ranking, seed, corrected))
    print_sheet(sheet)
    return DONE


def _check_weighted(options: argparse.Namespace) -> None:
    """SetupError for options that need --weighted, or exclude it."""
    if options.weighted and options.criterion is not None:
        raise SetupError("--weighted uses all criteria, --criterion one.", "Remove one of them.")
    given = {
        "--weights": options.weights is not None,
        "--tie-threshold": options.tie_threshold is not None,
        "--grades": options.grades,
    }
    for option in (option for option, is_given in given.items() if is_given and not options.weighted):
        raise SetupError(f"{option} needs --weighted.", f"Add --weighted, or remove {option}.")


def _say_whether_it_judged(by: RankedBy) -> None:
    health = by.system.health if by.system is not None else None
    if health is not None and health.doubted:
        tell(f"{printable(by.title)}:\n{indent(health_lines(health), '    ')}")


def _ranked(options: argparse.Namespace, what: str, cancel: CancelToken) -> RankedBy:
    """The labels and items by which candidates are ranked."""
    if not what.isdecimal() and options.gold in {None, Path(what)}:
        return _by_annotators(options, Path(what), cancel)
    system = open_system(what, options.store, options.labels_of)
    if options.gold is not None:
        dataset = read_labels(options, options.gold, [system], cancel)
    else:
        assert system.results is not None  # WHAT is an id
        dataset = items_of_run(options, system.results.run, cancel=cancel)
    matched = match_items(system, dataset, options.partial or options.gold is None)
    say_what_was_left_out(matched)
    if options.weighted:
        _, weighed = weigh_system(options, system, None, matched.dataset)
        weighed.informative.check()
        return RankedBy.by_weights(system, matched.dataset, weighed)
    criterion = _criterion(options, system.criteria, system.name)
    return RankedBy.by_system(system, matched.dataset, criterion)


def _by_annotators(options: argparse.Namespace, path: Path, cancel: CancelToken) -> RankedBy:
    if options.weighted:
        raise SetupError("--weighted is for runs and submissions.", "Remove it, or name a run.")
    given = rubric_of(options)
    dataset = read_dataset(options, path, cancel, rubric_for_labels([given] if given else []))
    if not dataset.criteria:
        raise SetupError(
            f"{dataset.name} has no human labels to rank by.",
            "Judge it first, then rank the run; for a submission, name its dataset with --gold.",
        )
    return RankedBy.by_annotators(dataset, _criterion(options, dataset.criteria, dataset.name))


def _criterion(options: argparse.Namespace, known: tuple[str, ...], name: str) -> str:
    if options.criterion is None:
        return default_criterion(known)
    if options.criterion not in known:
        raise SetupError(f"{name} has no criterion {options.criterion!r}.", f"It has {listed(known)}.")
    return str(options.criterion)
