"""`report`: an HTML report of what a run is worth against human labels, and its figures as files.

Knows: its arguments and what it prints. The report is `report.py`'s, the figures are `figures.py`'s.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from engine.commands.console import DONE, command_parser
from engine.commands.measuring import add_gold, add_store, say_what_was_left_out
from engine.commands.weigh import parse_weights
from engine.dataset import Dataset, load_dataset
from engine.errors import SetupError
from engine.evaluation import evaluate
from engine.figures import FIGURE_NAMES, as_png, as_svg
from engine.files import check_targets, write_whole
from engine.matching import match
from engine.report import gather, report_html
from engine.rubric import ELOQUENT
from engine.systems import System, open_system
from engine.weighing import Weighing, comparisons_of, weigh

_FORMS = {"png": as_png, "svg": as_svg}
_SUFFIXES = (".html", ".htm")


def parser() -> argparse.ArgumentParser:
    """The arguments of `report`."""
    arguments = command_parser(
        "report",
        "Write one HTML file that says what RUN is worth against human labels: tables, figures, the largest\n"
        "disagreements, and how the run was made. It needs no network and holds no script. RUN may be a\n"
        "submission file too; then nothing is known of probabilities, model and settings.",
    )
    arguments.add_argument("run", metavar="RUN", help="the id of a run, or SUBMISSION.tsv")
    add_gold(arguments)
    arguments.add_argument("--out", type=Path, required=True, metavar="FILE.html", help="the report")
    arguments.add_argument("--figures", type=Path, metavar="DIR", help="its figures too, as PNG and SVG")
    arguments.add_argument(
        "--weights", metavar="NAME=W,...", help="of the weighted judge (default: all criteria alike)"
    )
    arguments.add_argument(
        "--tie-threshold",
        type=float,
        default=ELOQUENT.tie_threshold,
        metavar="T",
        help="differences up to T are ties (%(default)s)",
    )
    add_store(arguments)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Measure, draw and write."""
    if options.out.suffix.lower() not in _SUFFIXES:
        raise SetupError(f"--out {options.out}: a report is HTML.", f"Name it {options.out.stem}.html")
    read = {"dataset": options.gold, "run store": options.store}
    if not options.run.isdecimal():
        read["submission"] = Path(options.run)
    check_targets({"--out": options.out}, read)
    system = open_system(options.run, options.store)
    gold = load_dataset(options.gold)
    matched = match(system, gold, options.partial)
    weights = _weights(options.weights, system)
    targets = _figure_targets(options.figures) if options.figures else {}
    check_targets({"--out": options.out} | {f"--figures {path.name}": path for path in targets}, read)
    say_what_was_left_out(matched)
    weighing = _weighed(system, gold, weights, options.tie_threshold)
    report = gather(evaluate(matched), weighing)
    figures = report.figures()
    write_whole(options.out, report_html(report, figures).encode("utf-8"))
    print(f"Report: {options.out}")
    _write_figures(targets, figures)
    if options.figures:
        print(f"Figures: {options.figures}")
    return DONE


def _weights(text: str | None, system: System) -> Mapping[str, float]:
    """What --weights says, else those of the rubric."""
    if text is None:
        return {one.name: one.weight for one in ELOQUENT.criteria if one.name in system.criteria}
    weights = parse_weights(text)
    unknown = [name for name in weights if name not in system.criteria]
    if unknown:
        raise SetupError(
            f"--weights: {system.name} has no criterion {', '.join(unknown)}.",
            f"It has {', '.join(system.criteria)}.",
        )
    return weights


def _weighed(system: System, gold: Dataset, weights: Mapping[str, float], tie_threshold: float) -> Weighing:
    try:
        return weigh(comparisons_of(system, list(weights)), weights, tie_threshold, gold, system)
    except ValueError as error:
        raise SetupError(str(error), "Mend --weights or --tie-threshold.") from error


def _figure_targets(folder: Path) -> dict[Path, tuple[str, str]]:
    """Where each figure would go in each form; the folder is made where it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            f"--figures {folder}: the folder cannot be made: {error.strerror}.", "Name another folder."
        ) from error
    return {folder / f"{name}.{form}": (name, form) for name in FIGURE_NAMES for form in _FORMS}


def _write_figures(targets: Mapping[Path, tuple[str, str]], figures: Mapping[str, Figure]) -> None:
    for path, (name, form) in targets.items():
        if name in figures:
            write_whole(path, _FORMS[form](figures[name]))
