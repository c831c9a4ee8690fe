"""`rank`, `weighted-score`: candidate models by judged pairs, and decisions by weighted criteria."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from textwrap import indent
from typing import Any

from engine.cli.shared import arguments as shared
from engine.cli.shared import console
from engine.cli.shared import measure_arguments as measures
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.progress import health_lines, show_measure
from engine.core.codec import plain
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.formatting import counted, listed
from engine.core.judgments import KeptFit
from engine.core.rubric import ELOQUENT, OVERALL, default_criterion, rubric_for_labels
from engine.core.tables import Part, Section, Sentences, Sheet
from engine.data.dataset import Dataset
from engine.metrics.matching import System, annotator_caveats, match_items
from engine.operations.measuring import fit_weights_to, weight_errors
from engine.ranking import ranking
from engine.ranking import weighted_scoring as scoring
from engine.ranking.bradley_terry import side_by_side
from engine.ranking.labelled_part import by_labels
from engine.ranking.weight_fit import WeightFit, load_comparisons
from engine.ranking.weighted_judge import not_zero
from engine.report.ranking import paper_sheet, ranking_csv, ranking_sheet
from engine.report.rankings import RankedBy, ranking_methods, side_by_side_json, side_by_side_section, stopped
from engine.report.slices import slice_caveats, weighed_slice_table
from engine.report.weighted_scoring import RANGES, fit_table, fitted_weight_table, weighted_scoring_section
from engine.settings.sampling import DEFAULT_SEED, checked_seed
from engine.system.files import write_json, write_whole


def rank() -> console.Parser:
    """Rank the candidate models, which wrote the responses, by judged pairs: win rates, Bradley-Terry
    scores, differences that are not significant, and the effect of length. WHAT is the id of a run, a
    submission file with --gold, or a dataset, which is ranked by its human labels. The dataset names
    the candidates in its columns candidate_a and candidate_b.
    """
    arguments = console.command_parser(rank, _rank)
    what = "the id of a run, SUBMISSION.tsv, another judge's file, or a dataset"
    arguments.add_argument("what", metavar="WHAT", help=what)
    shared.add_judge_file(arguments)
    arguments.text("--criterion", "NAME", f"rank by this criterion (default: {OVERALL}, else the last one)")
    arguments.flag("--weighted", "rank by the weighted decisions on all criteria")
    measures.add_weights(arguments)
    arguments.flag("--many-candidates", "rank candidates that are nearly all in only one or two items")
    arguments.flag("--accepted", "use only those labels of a run that may stand: see `trust --keep`")
    measures.add_gold(arguments, required=False)
    arguments.add_argument(
        "--with",
        dest="beside",
        metavar="OTHER",
        help="compare with a second ranking of the same items: a run, a submission or a dataset",
    )
    arguments.file("--json", "every rate, pair and interval, as JSON")
    arguments.file("--csv", "candidates and pairs, one row each")
    shared.add_table_files(arguments)
    measures.add_methods(arguments)
    arguments.number("--seed", "the seed of the bootstrap", default=DEFAULT_SEED)
    arguments.repeated("--by", "WHAT", "what the slices of --mix are by: as for evaluate")
    measures.add_mix(arguments)
    arguments.set_defaults(slice=())
    shared.add_labels_of(arguments)
    arguments.store()
    return arguments


def _rank(options: argparse.Namespace) -> None:
    measures.check_measure_outputs(options, filter(None, (options.what, options.beside)))
    if options.weighted and options.criterion is not None:
        raise SetupError("--weighted uses all criteria, --criterion one.", "Remove one of them.")
    for name in ("weights", "tie_threshold", "grades"):
        value = getattr(options, name)  # a threshold of 0 is given, too
        if value is not None and value is not False and not options.weighted:
            option = shared.option_of(name)
            raise SetupError(f"{option} needs --weighted.", f"Add --weighted, or remove {option}.")
    if options.by and options.mix is None:
        raise SetupError("--by is what the slices of --mix are by.", "Add --mix, or remove --by.")
    seed = checked_seed(options.seed)
    with console.interruptible() as cancel:
        ranked = _ranked(options, options.what, cancel)
        ranked = ranked.by_accepted() if options.accepted else ranked
        other = _ranked(options, options.beside, cancel) if options.beside else None
        for by in filter(None, (ranked, other)):
            health = by.system.health if by.system is not None else None
            if health is not None and health.doubted:
                console.tell(f"{console.printable(by.title)}:\n{indent(health_lines(health), '    ')}")
        comparisons = ranked.comparisons
        divisions = measures.divided(options, ranked.dataset)
        mix = measures.mix_of(options, divisions)
        beside = None if other is None else side_by_side(comparisons, other.comparisons, seed, cancel)
        many = options.many_candidates
        work = ranking.rank(comparisons, seed, cancel, many_candidates=many, dataset=ranked.dataset, mix=mix)
        made = show_measure("bootstrap", work)
        found = None if beside is None else show_measure("bootstrap", beside)
        corrected = ranked.judge and show_measure(
            "bootstrap of the correction", by_labels(*ranked.judge, seed=seed, cancel=cancel)
        )
        sheet = ranking_sheet(
            made, ranked.title, corrected, until=ranked.until, remark=ranked.remark, word=OPTIONS.of
        )
        as_json = {"ranked": ranked.title, **ranking.ranking_json(made, corrected, ranked.remark)}
        if other is not None and found is not None:
            of_both = side_by_side_section(found, ranked.title, other.title, stopped(ranked, other))
            sheet = sheet.with_section(of_both)
            as_json["side_by_side"] = side_by_side_json(found, other.title)
    shared.write_json_file(options, "Ranking", as_json)
    if options.csv:
        write_whole(options.csv, ranking_csv(made, corrected))
        print(f"Candidates and pairs: {options.csv}\n")
    # Files first: they are whole even if the reader of the output goes away.
    shared.write_table_files(options, "rank", sheet, paper_sheet(made, ranked.title, corrected))
    measures.write_methods(options, "rank", ranking_methods(ranked, made, seed, corrected))
    console.print_sheet(sheet)


def _ranked(options: argparse.Namespace, what: str, cancel: CancelToken) -> RankedBy:
    is_file = not what.isdecimal()
    if is_file and not options.judge_column and options.gold in {None, Path(what)}:
        # A dataset is ranked by its human labels.
        if options.weighted:
            raise SetupError("--weighted is for runs and submissions.", "Remove it, or name a run.")
        given = shared.rubric_of(options)
        labels = shared.read_dataset(options, Path(what), cancel, rubric_for_labels([given] if given else []))
        if not labels.criteria:
            raise SetupError(
                f"{labels.name} has no human labels to rank by.",
                "Judge it first, then rank the run; for a submission, name its dataset with --gold.",
            )
        return RankedBy.by_annotators(labels, _criterion(options, labels.criteria, labels.name))
    system = measures.system_of(options, what)
    if options.gold is not None or is_file:
        dataset = measures.read_labels(options, options.gold or Path(what), [system], cancel)
    else:
        assert system.results is not None  # WHAT is an id
        dataset = shared.items_of_run(options, system.results.run, cancel=cancel)
    matched = match_items(system, dataset, options.partial or options.gold is None)
    measures.say_what_was_left_out(matched)
    if options.weighted:
        _, weighed = measures.weighing_of(options).of_system(system, None, matched.dataset)
        return RankedBy.by_weights(system, matched.dataset, weighed)
    criterion = _criterion(options, system.criteria, system.name)
    return RankedBy.by_system(system, matched.dataset, criterion)


def _criterion(options: argparse.Namespace, known: tuple[str, ...], name: str) -> str:
    if options.criterion is None:
        return default_criterion(known)
    if options.criterion not in known:
        raise SetupError(f"{name} has no criterion {options.criterion!r}.", f"It has {listed(known)}.")
    return str(options.criterion)


def weighted_score() -> console.Parser:
    """Decide by the weighted sum of criterion scores. WHAT is the id of a run or a submission file: the
    score of a response is 10 x (P(it is preferred) + P(both_good)); or a JSON file of comparisons:
    a list of {"id": ..., "scores_a": {criterion: number}, "scores_b": {...}}, whose result is JSON.
    """
    arguments = console.command_parser(weighted_score, _weighted_score)
    what = "the id of a run, SUBMISSION.tsv, another judge's file, or SCORES.json"
    arguments.add_argument("what", metavar="WHAT", help=what)
    shared.add_judge_file(arguments)
    measures.add_weights(arguments)
    measures.add_gold(arguments, required=False)
    arguments.flag("--fit-weights", "fit the weights that best predict the human overall label")
    arguments.file("--json", "every winner and margin, as JSON")
    shared.add_table_files(arguments)
    measures.add_slices(arguments)
    shared.add_labels_of(arguments)
    arguments.store()
    return arguments


def _weighted_score(options: argparse.Namespace) -> None:
    if options.fit_weights and options.gold is None:
        raise SetupError("--fit-weights needs human labels.", "Name the labelled dataset with --gold.")
    measures.check_measure_outputs(options, [options.what])
    if not Path(options.what).name.removesuffix(".gz").endswith(".json"):
        _weigh_system(options)
        return
    if options.by or options.slice:
        raise SetupError("--by and --slice are for runs and submissions.", "Remove them.")
    if options.latex or options.markdown:
        raise SetupError(
            "--latex and --markdown are for runs and submissions; scored comparisons have no tables.",
            "Remove them.",
        )
    if options.grades:
        raise SetupError(
            "--grades is for runs; scored comparisons have their own scores.", "Remove --grades."
        )
    _weigh_scores(options)


def _weigh_scores(options: argparse.Namespace) -> None:
    weighing = measures.weighing_of(options)
    rubric, given = weighing.rubric or ELOQUENT, weighing.weights
    gold = None
    if options.gold:
        gold = shared.read_dataset(options, options.gold, rubric=rubric_for_labels([rubric]))
    if given is None:
        raise SetupError(
            "Scored comparisons need --weights.",
            "Name their criteria: --weights quality=0.6,relevance=0.4",
        )
    pairs = scoring.ScoredPairs(load_comparisons(Path(options.what), list(not_zero(given.weights))))
    with weight_errors():
        result = scoring.weigh(pairs, given.weights, weighing.threshold(rubric), gold)
    if gold is not None and result.agreement is None:
        raise SetupError(
            f"No id of {options.what} has a human overall label in {gold.name}.",
            "Name the dataset of these items.",
        )
    if gold is not None:
        known, weighed = set(gold.ids), {row["id"] for row in pairs.rows}
        joined = sum(row["id"] in known for row in pairs.rows)
        names = console.printable(Path(options.what).name), console.printable(gold.name)
        console.tell(
            f"{joined:,} of {len(pairs.rows):,} ids of {names[0]} are in {names[1]}. Scored comparisons"
            " have no texts: the items are matched by id only."
        )
        overlap = given.kept and given.kept.fitted_on.overlap(item for item in gold if item.id in weighed)
        if overlapping := given.kept.in_words(overlap) if given.kept and overlap else given.unknown:
            console.tell(console.printable(overlapping))
    fit = _fitted(pairs, result, gold) if options.fit_weights and gold is not None else None
    text = _weighed_json(result, fit)
    if options.json:
        write_json(options.json, text)
    print(json.dumps(text, indent=2, ensure_ascii=False))


def _weigh_system(options: argparse.Namespace) -> None:
    system = measures.system_of(options, options.what)
    gold = _items(options, system)
    divisions = measures.divided(options, gold) if gold is not None else []
    matched = items = None
    if gold is not None:
        joined = match_items(system, gold, options.partial or options.gold is None)
        matched = measures.kept(options, joined)
        measures.say_what_was_left_out(matched)
    else:
        for caveat in annotator_caveats(system):
            console.tell(f"{console.printable(system.name)}: {caveat}")
        items = _own_items(options, system)
    pairs, result = measures.weighing_of(options).of_system(system, matched, items)
    result.informative.check()
    if options.gold and result.agreement is None:
        console.tell(f"{console.printable(options.gold.name)} has no human overall label of these items.")
    fit = _fitted(pairs, result, gold) if options.fit_weights and gold is not None else None
    slices = [scoring.weigh_slices(pairs, result, matched.dataset, each) for each in divisions if matched]
    shared.write_json_file(options, "Decisions", _weighed_json(result, fit) | measures.slices_json(slices))
    if result.left_out:
        console.tell(
            f"{counted(len(result.left_out), 'item', 'items')} not decided, because a criterion is unscored:"
            f" {listed(result.left_out)}"
        )
    first, *others = _sections(options, result, system, slices, fit)
    against = f" against the human labels of {gold.name}" if gold is not None and options.gold else ""
    shared.write_table_files(options, "weighted-score", Sheet(f"{system.name}{against}", [first, *others]))
    named = replace(first, title=f"{first.title}, {system.name}")
    print("\n\n".join(map(console.printed_section, (named, *others))))
    if fit:
        found = ",".join(f"{name}={weight:.4f}" for name, weight in fit[0].weights.items())
        print(
            f"\nFitted on all items: --weights {found} --tie-threshold {fit[0].tie_threshold:.4g}\n"
            f"With a record of these items: {'' if options.json else '--json FILE here, and later '}"
            f"--weights {options.json or 'FILE'}"
        )


def _items(options: argparse.Namespace, system: System) -> Dataset | None:
    """The dataset of --gold; else, for slices, which need no human labels, the run's own."""
    if options.gold:
        return measures.read_labels(options, options.gold, [system])
    if not (options.by or options.slice):
        return None
    if system.results is None:
        raise SetupError("--by and --slice need the dataset of the items.", "Name it with --gold.")
    return shared.items_of_run(options, system.results.run)


def _own_items(options: argparse.Namespace, system: System) -> Dataset | None:
    """A run's own dataset, needed for intervals over instructions; None if it cannot be read."""
    if system.results is None:
        return None
    try:
        return shared.items_of_run(options, system.results.run)
    except SetupError as error:
        why = console.printable(error.problem)
        console.tell(f"Intervals need the instructions of the items, and are omitted: {why}")
        return None


def _fitted(
    pairs: scoring.ScoredPairs, result: scoring.WeightedScoring, gold: Dataset
) -> tuple[WeightFit, KeptFit]:
    return fit_weights_to(gold, pairs, list(not_zero(result.weights)))


def _sections(
    options: argparse.Namespace,
    result: scoring.WeightedScoring,
    system: System,
    slices: Sequence[scoring.SlicedWeightedScoring],
    fit: tuple[WeightFit, KeptFit] | None,
) -> list[Section]:
    section = weighted_scoring_section(result, system)
    note = "" if options.grades else section.note  # the note explains probability scores
    parts: list[Part] = []
    for found in slices:
        parts.append(weighed_slice_table(found))
        if caveats := slice_caveats(found):
            parts.append(Sentences(caveats))
    sections = [replace(section, note=note), *measures.slices_section(parts)]
    if fit:
        tables = [fit_table(fit[0]), fitted_weight_table(fit[0])]
        sections.append(Section("fit", "", [*tables, Sentences([RANGES])]))
    return sections


def _weighed_json(result: scoring.WeightedScoring, fit: tuple[WeightFit, KeptFit] | None) -> dict[str, Any]:
    more: dict[str, Any] = result.informative.as_json()
    if any(result.intervals.values()):
        more["intervals"] = result.intervals
    if result.left_out:
        more["left_out"] = list(result.left_out)
    if result.agreement:
        more["agreement"] = asdict(result.agreement)
    if fit:
        more["fitted"] = plain(fit[0]) | plain(fit[1])
    return {**result.result, **more}
