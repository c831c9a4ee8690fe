"""`tune`: find the settings that make a model the best judge of a labelled dataset, and write a recipe.

Knows: its arguments, how progress is shown, what it prints.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from tqdm import tqdm

from engine.analysis.recipe import check_name, examples_beside, save_recipe
from engine.analysis.tuning import TuneEvent, TuneRequest, tuning
from engine.analysis.tuning_choice import DEFAULT_TRIED
from engine.cli.shared.console import (
    DONE,
    INCOMPLETE,
    add_store,
    command_parser,
    interruptible,
    print_sheet,
    raw_stderr,
    tell,
)
from engine.cli.shared.data_arguments import (
    MODEL_WORDS,
    add_columns,
    add_rubric,
    columns_of,
    model_file,
    rubric_of,
)
from engine.cli.shared.judging import judged_here, tell_notices
from engine.cli.shared.setting_arguments import add_machine, add_settings_of, given_settings, option_names
from engine.core.errors import SetupError
from engine.core.events import (
    Cancelled,
    FilesRead,
    ItemJudged,
    MeasureProgress,
    Reports,
    RunEvent,
    TuningStage,
)
from engine.core.methods import parse_methods
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.rubrics.files import find_rubric
from engine.judging.plan import RunPlan
from engine.report.tuning import told, tuning_sheet
from engine.settings.rows import DEFAULT_SHOTS, JUDGED_BY, Surface
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import checked_seed
from engine.system.computer import Awake, KeepAwake
from engine.system.files import check_targets

_MINUTES = 30.0
_BAR = "  {desc} |{bar:24}| {elapsed} elapsed"
_SECONDS_ON_SCREEN, _SECONDS_IN_A_LOG = 0.2, 30.0


def parser() -> argparse.ArgumentParser:
    """The arguments of `tune`."""
    arguments = command_parser(
        "tune",
        "Try elicitation methods, orders, wordings and labelled examples on a part of a labelled DATASET,\n"
        "and evaluate the best on held-out items. They are written as a recipe for `judge --recipe`. Every\n"
        "judgment is stored: the same command resumes a search that was stopped or ran out of time.",
    )
    arguments.add_argument("model", metavar="MODEL", help=MODEL_WORDS)
    arguments.add_argument("dataset", type=Path, metavar="DATASET", help="a dataset with human labels")
    arguments.add_argument("--out", type=Path, required=True, metavar="FILE.json", help="the recipe")
    arguments.add_argument(
        "--minutes", type=float, default=_MINUTES, metavar="M", help="time limit in minutes (%(default)g)"
    )
    arguments.add_argument(
        "--items", type=int, metavar="N", help="judge at most N items, sampled with --seed"
    )
    arguments.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of all samples (%(default)s)"
    )
    arguments.add_argument(
        "--method",
        default=option_names(DEFAULT_TRIED),
        metavar="A,B",
        help=f"the elicitation methods to try: some of {option_names()} (%(default)s)",
    )
    add_rubric(arguments, "the criteria and their questions (the task's)")
    arguments.add_argument(
        "--wording",
        action="append",
        default=[],
        metavar="NAME|FILE",
        help="also try this rubric, which has the same criteria in other words; may be repeated",
    )
    arguments.add_argument(
        "--examples",
        type=Path,
        metavar="FILE",
        help="labelled items to show the model as examples (default: some of DATASET, held out for this)",
    )
    arguments.add_argument(
        "--few-shot", type=int, default=DEFAULT_SHOTS, metavar="K", help="examples per prompt (%(default)s)"
    )
    add_columns(arguments, "DATASET")
    add_settings_of(arguments, Surface.TUNE, *JUDGED_BY)
    add_machine(arguments.add_argument_group("computer"), Surface.TUNE)
    add_store(arguments, "runs")
    return arguments


def run(options: argparse.Namespace) -> int:
    """Search, write and print."""
    check_name(options.out)
    request = _request(options)
    read = {"dataset": options.dataset, "model": request.run.model_path, "run store": options.store}
    if options.examples:
        read["examples"] = options.examples
    written = {"--out": options.out, "its examples": examples_beside(options.out)}
    check_targets(written, read)
    with interruptible() as cancel, _Progress() as progress, Awake(KeepAwake(options.keep_awake)) as awake:

        def judge(plan: RunPlan) -> Iterable[RunEvent]:
            return judged_here(plan, options.store, fresh=False, cancel=cancel)

        search = Reports(tuning(request, options.store, judge, cancel))
        try:
            for event in search:
                awake.refresh()
                progress.show(event)
        except Cancelled:
            tell("\nStopped. All judgments are stored: the same command resumes the search.")
            return INCOMPLETE
    tuning_result = search.result
    save_recipe(options.out, told(tuning_result), tuning_result.own_examples)
    print_sheet(tuning_sheet(tuning_result))
    print(f"\nRecipe: {options.out}")
    return DONE


def _request(options: argparse.Namespace) -> TuneRequest:
    """The request. SetupError if arguments contradict each other."""
    if not options.minutes > 0:
        raise SetupError(f"--minutes is {options.minutes:g}.", "Use more than 0.")
    for option, given in (("--items", options.items), ("--few-shot", options.few_shot)):
        if given is not None and given < 1:
            raise SetupError(f"{option} is {given}.", "Use 1 or more.")
    rubric = rubric_of(options) or ELOQUENT
    setup = RunSetup(
        dataset_path=options.dataset,
        model_path=model_file(options.model),
        rubric=rubric,
        criteria=rubric.names,
        examples_path=options.examples,
        shots=options.few_shot,
        device=options.device,
        columns=columns_of(options, rubric),
        **{name: value for name, value in given_settings(options).items() if name != "seed"},
    )
    return TuneRequest(
        run=setup,
        seconds=60 * options.minutes,
        items=options.items,
        seed=checked_seed(options.seed),
        methods=parse_methods(options.method),
        rubrics=tuple(_wording(word, rubric) for word in options.wording),
    )


def _wording(word: str, rubric: Rubric) -> Rubric:
    """A rubric with the same criteria. SetupError for another one."""
    found = find_rubric(word)
    if set(found.names) != set(rubric.names):
        raise SetupError(
            f"--wording {word}: its criteria are {', '.join(found.names)}, those of the rubric"
            f" {', '.join(rubric.names)}.",
            "Name a rubric with the same criteria in other words.",
        )
    return found


class _Progress:
    """Shows the progress of the search; use it in a `with` block."""

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
