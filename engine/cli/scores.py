"""`evaluate`, `compare`, `report`: runs and submissions against human labels."""

import argparse
from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING, Any

from engine.cli.shared import arguments as shared
from engine.cli.shared import console
from engine.cli.shared import measure_arguments as measures
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.progress import health_lines, show_measure
from engine.core.errors import SetupError
from engine.core.formatting import counted, did_you_mean, listed
from engine.core.tables import Part, Section, Sentences, Sheet
from engine.data.column_content import finite_number
from engine.data.slices import Slicing
from engine.metrics.accuracy import UNSCORED
from engine.metrics.comparison import Comparison, match_all
from engine.metrics.comparison import compare as compared
from engine.metrics.evaluation import Evaluation, evaluating, mixed_accuracies, official_json
from engine.metrics.evaluation import evaluate as evaluated
from engine.metrics.matching import Matched, match
from engine.report.accuracy import confusion_section
from engine.report.evaluation import evaluation_methods, evaluation_sheet
from engine.report.methods import Statement
from engine.report.slices import (
    compared_slice_table,
    compared_slices_in_short,
    compared_slices_in_words,
    compared_win_table,
    mix_section,
    slice_sections,
)
from engine.system.files import write_whole

if TYPE_CHECKING:
    from engine.ranking.weighted_scoring import SlicedWeightedScoring


def evaluate() -> console.Parser:
    """Score SYSTEM against human labels: accuracy by criterion and, for explanations, ROUGE-L,
    BERTScore (--encoder) and agreement by a judge model (--judge-model); with baselines.
    SYSTEM is a submission file, or the id of a run.
    """
    arguments = console.command_parser(evaluate, _evaluate)
    what = "the id of a run, SUBMISSION.tsv, or another judge's file"
    arguments.add_argument("system", metavar="SYSTEM", help=what)
    shared.add_judge_file(arguments)
    measures.add_gold(arguments)
    arguments.file("--json", "the scores as JSON, under the task's keys")
    shared.add_table_files(arguments)
    measures.add_methods(arguments)
    arguments.flag("--confusion", "also print the confusion matrices")
    arguments.repeated(
        "--require",
        "CONDITION",
        "exit with code 1 unless this is so: accuracy>=0.7, safety:kappa>=0.4, accuracy.low>=0.6 (the lower"
        " end of its interval); may be repeated",
    )
    measures.add_slices(arguments)
    measures.add_mix(arguments)
    shared.add_labels_of(arguments)
    arguments.store()
    measures.add_model_measures(arguments)
    return arguments


def _evaluate(options: argparse.Namespace) -> int:
    measures.check_measure_outputs(options, [options.system])
    conditions = [_condition(text) for text in options.require]
    with console.interruptible() as cancel:
        [system], gold, divisions = measures.read_systems(options, [options.system], cancel)
        matched = measures.kept(options, match(system, gold, options.partial))
        mix = measures.mix_of(options, divisions)
        mixed = None if mix is None else mixed_accuracies(matched, mix)
        by_model = measures.model_measures(options, cancel)
        measures.say_what_was_left_out(matched)
        scores = show_measure("explanations", by_model.scores(matched))
        evaluation = show_measure("Criteria", evaluating(matched, scores, cancel))
    favoured, as_json, said = _favour(matched)
    slices, (shares, corrected) = measures.sliced(matched, divisions), _shares(matched, divisions)
    if options.json:
        found = official_json(evaluation, by_model.judge_name)
        found["details"] |= measures.slices_json(slices) | as_json | corrected
        if mix is not None and mixed is not None:
            rates = {name: [rate.value, rate.ends] for name, rate in mixed.items()}
            found["details"]["mix"] = {"shares": mix.shares, "accuracy": rates}
        shared.write_json_file(options, "Scores", found)
    more = [*([confusion_section(evaluation)] if options.confusion else ()), *favoured]
    more += shares
    more += slice_sections(slices)
    more += [mix_section(evaluation, mix, mixed)] if mix is not None and mixed is not None else []
    sheet = evaluation_sheet(evaluation, OPTIONS.of, more)
    shared.write_table_files(options, "evaluate", sheet)
    if options.methods_text:
        models = by_model.encoder_name, by_model.judge_name
        statements = evaluation_methods(evaluation, *models, said)
        measures.write_methods(options, "evaluate", statements)
    console.print_sheet(sheet)
    met = [_is_met(evaluation, *each) for each in conditions]
    return console.DONE if all(met) else console.INCOMPLETE


def _condition(text: str) -> tuple[str, float]:
    """`accuracy>=0.7` as its measure and bound. SetupError for anything else."""
    name, _, number = text.partition(">=")
    if not name.strip() or (bound := finite_number(number)) is None:
        raise SetupError(f"--require: cannot read {text!r}.", "Write a measure and its bound: accuracy>=0.7")
    return name.strip(), bound


def _is_met(evaluation: Evaluation, name: str, bound: float) -> bool:
    """Whether a measure reaches its bound, and tells it; what has no value reaches none. SetupError."""
    if name not in (values := evaluation.values):
        hint = f"{did_you_mean(name, values)}There are {listed([*values], len(values))}."
        raise SetupError(f"--require: there is no measure {name!r}.", hint)
    value = values[name]
    is_met = value is not None and value >= bound
    found = "unknown" if value is None else f"{value:.4g}"
    console.tell(f"Required: {name} >= {bound:g}. It is {found}: {'met' if is_met else 'not met'}.")
    return is_met


def _shares(matched: Matched, divisions: Sequence[Slicing]) -> tuple[list[Section], dict[str, Any]]:
    """Shares of labels, corrected by human ones, as sections and JSON; nothing where all items have one."""
    if all(len(pairs) == matched.items for pairs in matched.pairs.values()):
        return [], {}
    from engine.ranking.labelled_part import corrected_shares
    from engine.ranking.ranking import shares_json
    from engine.report.correction import share_sections

    found = corrected_shares(matched.system, matched.dataset, divisions)
    return share_sections(found), {"corrected_shares": shares_json(found)} if found else {}


def _favour(matched: Matched) -> tuple[Sequence[Section], dict[str, Any], Sequence[Statement]]:
    """Whom and what the judge favours: sections, JSON, methods; nothing where nobody names candidates."""
    if not matched.dataset.names_candidates and matched.system.results is None:
        return (), {}, ()
    from engine.ranking.ranking import favour_json
    from engine.report.correction import favour_sections
    from engine.report.rankings import apart_of, favour_methods

    found = apart_of(matched)
    return favour_sections(found), favour_json(found) if found else {}, favour_methods(found)


def compare() -> console.Parser:
    """Compare SYSTEMs (submission files or ids of runs) against human labels: all measures with ranks,
    Borda counts, agreement, accuracy differences, and the items on which they differ.
    """
    arguments = console.command_parser(compare, _compare)
    measures.add_systems(arguments)
    measures.add_gold(arguments)
    arguments.file("--json", "the comparison as JSON, with every difference")
    shared.add_table_files(arguments)
    arguments.number("--differences", "number of differences to print (%(default)s)", default=10)
    measures.add_slices(arguments)
    shared.add_labels_of(arguments)
    arguments.store()
    measures.add_model_measures(arguments)
    return arguments


def _compare(options: argparse.Namespace) -> int:
    from engine.report.comparison import comparison_json, comparison_sheet
    from engine.report.rankings import rankings_beside

    measures.check_measure_outputs(options, options.systems)
    with console.interruptible() as cancel:
        systems, gold, divisions = measures.read_systems(options, options.systems, cancel)
        matched = [measures.kept(options, each) for each in match_all(systems, gold, options.partial)]
        by_model = measures.model_measures(options, cancel)
        for each in matched:
            measures.say_what_was_left_out(each)
        scores = [show_measure("explanations", by_model.scores(each)) for each in matched]
    evaluations = [evaluated(each, known) for each, known in zip(matched, scores, strict=True)]
    result = compared(evaluations)
    slices = [measures.sliced(each, divisions) for each in matched]
    wins = [_wins(matched, division) for division in divisions]
    beside = rankings_beside(matched)
    found = comparison_json(
        result, evaluations, judge_name=by_model.judge_name, slices=slices, wins=wins, beside=beside
    )
    shared.write_json_file(options, "Comparison", found)
    for sentence in result.not_compared:
        console.tell(console.printable(sentence))
    for system in (each.system for each in matched if each.system.health.doubted):
        print(console.printable(f"{system.name}:"))
        print(indent(health_lines(system.health), "    "))
    sections = [*comparison_sheet(result, matched).sections, *([beside.section] if beside else ())]
    parts: list[Part] = []
    for of_each, weighed in zip(zip(*slices, strict=True), wins, strict=True):
        parts.append(Sentences([compared_slices_in_short(matched, of_each)]))
        parts.append(compared_slice_table(matched, of_each))
        if sentences := compared_slices_in_words(matched, of_each):
            parts.append(Sentences(sentences))
        if weighed:
            parts.append(compared_win_table(of_each[0], weighed))
    sections += measures.slices_section(parts)
    shared.write_table_files(options, "compare", Sheet(" against ".join(result.systems), sections))
    print("\n\n".join(map(console.printed_section, sections)))
    _print_differences(result, options.differences)
    return console.DONE


def _wins(matched: Sequence[Matched], division: Slicing) -> "dict[str, SlicedWeightedScoring]":
    from engine.ranking.weighted_scoring import weigh_by_default

    found = {one.system.name: weigh_by_default(one, division) for one in matched}
    return {name: weighed for name, weighed in found.items() if weighed is not None}


def _print_differences(result: Comparison, most: int) -> None:
    found = result.differences
    print(f"\n{counted(len(found), 'label differs', 'labels differ')} between the systems.")
    if not found or most < 1:
        return
    rows = [
        [each.item_id, each.criterion, each.human.value, *(label or UNSCORED for label in each.labels)]
        for each in found[:most]
    ]
    print(console.table(["item", "criterion", "human", *result.systems], rows))
    if len(found) > most:
        print(f"and {len(found) - most:,} more; --json writes all of them.")


def report() -> console.Parser:
    """Write one HTML file that scores RUN against human labels: tables, figures, the largest
    disagreements, and how the run was made. It needs no network and contains no script. RUN may also
    be a submission file; then probabilities, model and settings are not known.
    """
    arguments = console.command_parser(report, _report)
    arguments.add_argument("run", metavar="RUN", help="the id of a run, or SUBMISSION.tsv")
    shared.add_judge_file(arguments)
    measures.add_gold(arguments)
    arguments.file("--out", "the report", metavar="FILE.html", required=True)
    arguments.file("--figures", "also write its figures, as PNG and SVG", metavar="DIR")
    arguments.flag("--curve", "include the learning curve of the calibration (takes some seconds)")
    measures.add_weights(arguments)
    measures.add_slices(arguments)
    shared.add_labels_of(arguments)
    arguments.store()
    measures.add_model_measures(arguments)
    return arguments


def _report(options: argparse.Namespace) -> None:
    from engine.calibration.learning import run_curve
    from engine.report.html_report import DEFAULT_WEIGHTS, REPORT_FIGURES, Report, report_html

    shared.check_suffix("--out", options.out, "a report is HTML", ".html", ".htm")
    measures.check_measure_outputs(options, [options.run])
    with console.interruptible() as cancel:
        [system], gold, divisions = measures.read_systems(options, [options.run], cancel)
        matched = measures.kept(options, match(system, gold, options.partial))
        _, weighted_scoring = measures.weighing_of(options).of_system(matched.system, matched)
        targets = measures.figure_targets(options, REPORT_FIGURES)
        measures.check_measure_outputs(options, [options.run], targets)
        by_model = measures.model_measures(options, cancel)
        measures.say_what_was_left_out(matched)
        curve = show_measure("learning", run_curve(matched, cancel)) if options.curve else None
        scores = show_measure("explanations", by_model.scores(matched))
        evaluation = show_measure("Criteria", evaluating(matched, scores, cancel))
    chosen = not (options.weights is None and options.tie_threshold is None and options.rubric is None)
    source = "as given to the command" if chosen else DEFAULT_WEIGHTS
    slices = measures.sliced(matched, divisions)
    made = Report(evaluation, weighted_scoring, source, slices, curve)
    drawn = {name: figure.as_bytes("svg") for name, figure in made.figures.items()}
    write_whole(options.out, report_html(made, drawn).encode("utf-8"))
    print(f"Report: {options.out}")
    for path, (name, form) in targets.items():
        if name in drawn:
            write_whole(path, drawn[name] if form == "svg" else made.figures[name].as_bytes(form))
    if options.figures:
        print(f"Figures: {options.figures}")
