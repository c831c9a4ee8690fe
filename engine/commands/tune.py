"""`tune`: find the settings that make a model the best judge of a labelled dataset, and write a recipe.

Knows: its arguments, how progress is shown, what it prints.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from tqdm import tqdm

from engine.commands.shared.column_arguments import add_columns, add_rubric, columns_of, rubric_of
from engine.commands.shared.console import (
    DONE,
    INCOMPLETE,
    add_store,
    command_parser,
    interruptible,
    raw_stderr,
    tell,
)
from engine.commands.shared.judging import judged_here, tell_notices
from engine.commands.shared.model_argument import MODEL_WORDS, model_file
from engine.commands.shared.printed_sheet import print_sheet
from engine.commands.shared.setting_arguments import add_machine, given_settings
from engine.core.cancel import Cancelled
from engine.core.errors import SetupError
from engine.core.events import FilesRead, ItemJudged, MeasureProgress, Reports, RunEvent, TuningStage
from engine.core.item_sample import checked_seed
from engine.core.items import Way
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.run_setup import RunSetup
from engine.core.settings import USUAL_SHOTS
from engine.core.ways.all_ways import parse_ways
from engine.data.rubrics.offered import find_rubric
from engine.judge.plan import RunPlan
from engine.report.tuning_sheet import told, tuning_sheet
from engine.system.awake import Awake, KeepAwake
from engine.system.files import check_targets
from engine.tune.recipe import check_name, examples_beside, save_recipe
from engine.tune.tried import USUAL_TRIED
from engine.tune.tuned import TuneEvent
from engine.tune.tuning import TuneWish, tuning

_MINUTES = 30.0
_BAR = "  {desc} |{bar:24}| {elapsed} elapsed"
_SECONDS_ON_SCREEN, _SECONDS_IN_A_LOG = 0.2, 30.0


def parser() -> argparse.ArgumentParser:
    """The arguments of `tune`."""
    arguments = command_parser(
        "tune",
        "Try ways of asking, orders, wordings and labelled examples on a part of a labelled DATASET,\n"
        "and say what the best are worth on items that took no part. They are written as a recipe,\n"
        "which `judge --recipe` judges by. All that is judged is kept: the same command goes on where\n"
        "it was stopped, or where the time ended.",
    )
    arguments.add_argument("model", metavar="MODEL", help=MODEL_WORDS)
    arguments.add_argument("dataset", type=Path, metavar="DATASET", help="with human labels")
    arguments.add_argument("--out", type=Path, required=True, metavar="FILE.json", help="the recipe")
    arguments.add_argument(
        "--minutes", type=float, default=_MINUTES, metavar="M", help="for all of it (%(default)g)"
    )
    arguments.add_argument("--items", type=int, metavar="N", help="judge N items at most, drawn by --seed")
    arguments.add_argument("--seed", type=int, default=0, metavar="N", help="for what is drawn (%(default)s)")
    arguments.add_argument(
        "--ways",
        default=",".join(USUAL_TRIED),
        metavar="A,B",
        help=f"the ways of asking that are tried: some of {','.join(Way)} (%(default)s)",
    )
    add_rubric(arguments, "the criteria and their questions (those of the task)")
    arguments.add_argument(
        "--wording",
        action="append",
        default=[],
        metavar="NAME|FILE",
        help="another rubric that asks the same criteria in other words: it is tried, too. May be repeated",
    )
    arguments.add_argument(
        "--examples",
        type=Path,
        metavar="FILE",
        help="labelled items to show the model (else some of DATASET are put aside for that)",
    )
    arguments.add_argument(
        "--shots", type=int, default=USUAL_SHOTS, metavar="K", help="how many of them (%(default)s)"
    )
    add_columns(arguments, "DATASET")
    add_machine(arguments.add_argument_group("computer"))
    add_store(arguments, "runs")
    return arguments


def run(options: argparse.Namespace) -> int:
    """Search, write and print."""
    check_name(options.out)
    wish = _wish(options)
    read = {"dataset": options.dataset, "model": wish.run.model_path, "run store": options.store}
    if options.examples:
        read["examples"] = options.examples
    written = {"--out": options.out, "its examples": examples_beside(options.out)}
    check_targets(written, read)
    with interruptible() as cancel, _Progress() as progress, Awake(KeepAwake(options.keep_awake)) as awake:

        def judge(plan: RunPlan) -> Iterable[RunEvent]:
            return judged_here(plan, options.store, fresh=False, cancel=cancel)

        search = Reports(tuning(wish, options.store, judge, cancel))
        try:
            for event in search:
                awake.refresh()
                progress.show(event)
        except Cancelled:
            tell("\nStopped. What was judged is kept: the same command goes on from there.")
            return INCOMPLETE
    tuned = search.result
    save_recipe(options.out, told(tuned), tuned.own_examples)
    print_sheet(tuning_sheet(tuned))
    print(f"\nRecipe: {options.out}")
    return DONE


def _wish(options: argparse.Namespace) -> TuneWish:
    """What the arguments ask for. SetupError where they contradict each other."""
    if not options.minutes > 0:
        raise SetupError(f"--minutes is {options.minutes:g}.", "Use more than 0.")
    for option, given in (("--items", options.items), ("--shots", options.shots)):
        if given is not None and given < 1:
            raise SetupError(f"{option} is {given}.", "Use 1 or more.")
    rubric = rubric_of(options) or ELOQUENT
    setup = RunSetup(
        dataset_path=options.dataset,
        model_path=model_file(options.model),
        rubric=rubric,
        criteria=rubric.names,
        examples_path=options.examples,
        shots=options.shots,
        device=options.device,
        columns=columns_of(options, rubric),
        **{name: value for name, value in given_settings(options).items() if name not in {"shots", "seed"}},
    )
    return TuneWish(
        run=setup,
        seconds=60 * options.minutes,
        items=options.items,
        seed=checked_seed(options.seed),
        ways=parse_ways(options.ways),
        rubrics=tuple(_wording(word, rubric) for word in options.wording),
    )


def _wording(word: str, rubric: Rubric) -> Rubric:
    """A rubric that asks the same criteria. SetupError for another one."""
    found = find_rubric(word)
    if set(found.names) != set(rubric.names):
        raise SetupError(
            f"--wording {word}: it asks {', '.join(found.names)}, the rubric {', '.join(rubric.names)}.",
            "Name a rubric with the same criteria in other words.",
        )
    return found


class _Progress:
    """Shows how far the search is; to be used in a `with` block."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None
        self._judged = 0

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, event: TuneEvent) -> None:
        """Show one event."""
        if isinstance(event, TuningStage):
            self.__exit__()
            tell(f"{event.number} of {event.stages}: {event.what}")
            self._bar = tqdm(
                total=None,
                file=raw_stderr(),
                bar_format=_BAR,
                mininterval=_SECONDS_ON_SCREEN if sys.stderr.isatty() else _SECONDS_IN_A_LOG,
            )
        elif isinstance(event, FilesRead):
            tell_notices(event)
        elif self._bar is not None and isinstance(event, ItemJudged):
            self._judged += 1
            self._bar.set_description_str(f"{self._judged:,} items judged", refresh=False)
            self._bar.update(0)
        elif self._bar is not None and isinstance(event, MeasureProgress):
            self._bar.set_description_str(f"{event.done:,} of {event.total:,} compared", refresh=False)
            self._bar.update(0)
