"""The arguments for the orders in which the two responses are shown.

The options of settings: those made from their rows, with the values given for them; and those made by
hand, of the computer and of labelled examples.
"""

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.cli.shared.console import tell
from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.core.items import Method
from engine.core.rubric import Rubric
from engine.prompt.examples import ExamplePool
from engine.results.calibration import judge_of_run, load_calibration
from engine.results.second_order import KEEP, learned_from
from engine.settings.identity import RunIdentity, StoredRun
from engine.settings.rows import (
    DEFAULT_MARGIN,
    DEFAULT_SHOTS,
    ExampleKind,
    Group,
    SettingRow,
    Surface,
    check_margin,
    row_of,
    rows_of,
    rows_on,
)
from engine.settings.run_setup import RunSetup
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.computer import KeepAwake

FEW_SHOT_SELECTION = {"fixed": ExampleKind.FIXED, "nearest": ExampleKind.NEAR}
"""How examples are selected, by the values of --few-shot-selection."""


def option_names(methods: Iterable[Method] = Method) -> str:
    """Elicitation methods as --method takes them: `label-tokens, permuted-labels`."""
    return ", ".join(method.option for method in methods)


def add_settings(group: argparse._ActionsContainer, *names: str) -> None:
    """An option for each of these settings, whose help names the default; None if it is not given."""
    for row in map(row_of, names):
        _add(group, row, row.help)


def add_settings_of(group: argparse._ActionsContainer, surface: Surface, *groups: Group) -> None:
    """The same for all settings that a command offers in some groups."""
    for row in rows_on(surface, *groups):
        if row.help:
            words = (surface is Surface.PROMPT and row.brief) or row.help
            _add(group, row, re.sub(r"{(\w+)}", lambda name: row_of(name[1]).option, words))


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The values given for those settings of a RunSetup that have an option made from their row, by name."""
    given = ((row, getattr(options, row.name, None)) for row in rows_of(RunSetup) if row.help)
    return {row.name: row.kind(value) for row, value in given if value is not None}


def add_device(group: argparse._ActionsContainer, otherwise: str = "") -> None:
    """--device and --gpu-layers. `otherwise`: the default device, if not the fastest known."""
    otherwise = otherwise or "the fastest, if `models devices` has tried this model, else cpu"
    group.add_argument(
        "--device",
        metavar="NAME",
        help="compute device: cpu, or (part of) the name of a GPU, as `models devices` lists them"
        f" ({otherwise})",
    )
    add_settings(group, "gpu_layers")


def add_machine(group: argparse._ActionsContainer, surface: Surface) -> None:
    """The options for the computer: --context, --kv-type, --threads, --device, --keep-awake."""
    add_settings_of(group, surface, Group.COMPUTER)
    add_device(group)
    group.add_argument(
        "--keep-awake",
        choices=[when.value for when in KeepAwake],
        default=KeepAwake.MAINS.value,
        help="keep the computer from sleeping meanwhile: always, never, or only on mains power (default)",
    )


def add_examples(group: argparse._ActionsContainer) -> None:
    """--examples, --few-shot and --few-shot-selection."""
    group.add_argument(
        "--examples", type=Path, metavar="FILE", help="labelled items to show the model as examples"
    )
    group.add_argument(
        "--few-shot", type=int, metavar="K", help=f"number of examples in each prompt ({DEFAULT_SHOTS})"
    )
    group.add_argument(
        "--few-shot-selection",
        choices=list(FEW_SHOT_SELECTION),
        help="which examples: fixed, the same for all items (default), or nearest, those whose instructions"
        " are most similar to the item's",
    )


def given_examples(options: argparse.Namespace) -> dict[str, Any]:
    """The options of examples, by their names in a RunSetup. SetupError if --examples is missing."""
    for option, given, aim in (
        ("--few-shot", options.few_shot, "show"),
        ("--few-shot-selection", options.few_shot_selection, "choose from"),
    ):
        if given is not None and options.examples is None:
            raise SetupError(
                f"{option} without --examples has nothing to {aim}.", "Name a file with --examples."
            )
    return {
        "examples_path": options.examples,
        "shots": DEFAULT_SHOTS if options.few_shot is None else options.few_shot,
        "example_choice": FEW_SHOT_SELECTION[options.few_shot_selection or "fixed"],
    }


def examples_of(options: argparse.Namespace, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    """The examples that the options request; none without --examples. SetupError if the file has too few."""
    path, shots, choice = given_examples(options).values()
    if path is None:
        return ExamplePool()
    # The arguments alone need no llama.cpp.
    from engine.judging.prepare import example_pool  # noqa: PLC0415

    return example_pool(path, shots, rubric, cancel, choice=choice)


def _add(group: argparse._ActionsContainer, row: SettingRow, words: str) -> None:
    words = words.replace("%(default)s", str(getattr(RunSetup, row.name)))  # not argparse's: that is None
    if row.kind is bool:
        group.add_argument(row.option, action="store_true", default=None, help=words)
    elif issubclass(row.kind, StrEnum):
        names = [member.value for member in row.kind]
        group.add_argument(row.option, choices=names, help=words)
    else:
        group.add_argument(row.option, type=row.kind, metavar=row.metavar, help=words)


BOTH, ONE, UNCERTAIN = "both", "one", "uncertain"


@dataclass(frozen=True)
class Orders:
    """The requested orders. `below`: the margin threshold for the second order; None to read it always.

    `learned_from`: the run that this threshold was learned from, if any.
    """

    both: bool = True
    below: float | None = None
    learned_from: StoredRun | None = None

    def check_fits(self, identity: RunIdentity) -> None:
        """SetupError if the margin threshold was learned from a run of another judge."""
        if self.learned_from is None:
            return
        run, judge = self.learned_from, judge_of_run(identity)
        before = judge_of_run(run.identity)
        for what, then, now in (
            ("model content", before.model_hash, judge.model_hash),
            ("prompts", before.prompt_version, judge.prompt_version),
            ("labelled examples", before.examples, judge.examples),
        ):
            if then != now:
                raise SetupError(
                    f"--margin-threshold-from {run.id}: that run had other {what} ({then[:12] or 'none'})"
                    f" than this one ({now[:12] or 'none'}).",
                    "Name a run of the same judge, or give a number: --margin-threshold M",
                )
        if other := [name for name, asked in judge.asked.items() if before.asked_of(name) != asked]:
            raise SetupError(
                f"--margin-threshold-from {run.id}: that run had other questions for {', '.join(other)}.",
                "Name a run of the same rubric, or give a number: --margin-threshold M",
            )


def add_orders(group: argparse._ArgumentGroup) -> None:
    """--orders, --margin-threshold and --margin-threshold-from."""
    group.add_argument(
        "--orders",
        choices=[BOTH, ONE, UNCERTAIN],
        help="show the responses in both orders (default); in one, for half the time; or in the second one"
        " only for items that are uncertain after the first",
    )
    group.add_argument(
        "--margin-threshold",
        type=float,
        metavar="M",
        help="an item is uncertain if the margin between its two likeliest labels is below M, 0 to 1"
        f" ({DEFAULT_MARGIN:g})",
    )
    group.add_argument(
        "--margin-threshold-from",
        type=int,
        metavar="RUN",
        help=f"the smallest margin threshold that keeps {KEEP:.0%}".replace("%", " %%")
        + " of this run's labels, as computed by the command orders",
    )


def orders_of(options: argparse.Namespace, criteria: Sequence[str], default: Orders | None = None) -> Orders:
    """The orders that the arguments request, else `default`; prints where a margin threshold comes from.

    SetupError if they contradict each other, or no threshold can be learned.
    """
    given = {
        "--margin-threshold": options.margin_threshold,
        "--margin-threshold-from": options.margin_threshold_from,
    }
    named = [name for name, value in given.items() if value is not None]
    if default is not None and options.orders is None and not named:
        return default
    asked = options.orders or BOTH
    if asked != UNCERTAIN:
        if named:
            raise SetupError(
                f"{named[0]} has no effect with --orders {asked}.",
                f"Add --orders {UNCERTAIN}, or remove {named[0]}.",
            )
        return Orders(asked == BOTH)
    if len(named) > 1:
        raise SetupError(
            "--margin-threshold and --margin-threshold-from both set the margin threshold.",
            "Remove one of them.",
        )
    if options.margin_threshold is not None:
        check_margin(options.margin_threshold)
        return Orders(below=options.margin_threshold)
    if options.margin_threshold_from is None:
        tell(
            f"Margin threshold: {DEFAULT_MARGIN:g}, the default. A run in both orders shows whether it suits"
            " this model: see the command orders."
        )
        return Orders(below=DEFAULT_MARGIN)
    return _learned(options, criteria)


def _learned(options: argparse.Namespace, criteria: Sequence[str]) -> Orders:
    if not has_store(options.store):
        raise SetupError(f"There is no run store {options.store}.", "Name the right file with --store.")
    with RunStore(options.store) as store, store.reading():
        run = store.run(options.margin_threshold_from)
        calibration = load_calibration(options.calibration) if options.calibration else None
        found = learned_from(run, tuple(store.judged(run.id)), criteria, calibration)
    below = found.least_margin(KEEP)
    tell(f"Margin threshold: {below:g}, learned from {len(found.ids):,} items of run {run.id}.")
    return Orders(below=below, learned_from=run)
