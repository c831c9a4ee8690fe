"""Actions of `runs` that look: the list, what is found by words, two runs side by side.

Knows: which of the runs are listed. Does not know: results, other actions, how a run is worded.
"""

import argparse
from pathlib import Path

from engine.commands.shared.console import DONE, INCOMPLETE, printable, table, tell
from engine.commands.shared.remedies import OPTIONS
from engine.core.errors import SetupError
from engine.core.formatting import counted, without_middle
from engine.core.remedies import Remedy, Step
from engine.core.run_list import run_list
from engine.core.value_tables import Table
from engine.report.run_differences import difference_count, differences_table
from engine.store.run_store import RunStore

_LONGEST_CELL, _LONGEST_FACT = 100, 60  # letters; of two runs side by side each has half a line


def add_all(arguments: argparse.ArgumentParser) -> None:
    """--all."""
    arguments.add_argument("--all", action="store_true", help="those in the archive, too")


def add_listing(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> list[argparse.ArgumentParser]:
    """Add `find` and `diff`."""
    find = actions.add_parser(
        "find", help="the runs whose name, note, model, dataset or settings have all words"
    )
    find.add_argument("text", nargs="+", metavar="WORD")
    add_all(find)
    find.set_defaults(action=_find)
    diff = actions.add_parser("diff", help="two runs side by side: settings, model, dataset, times")
    diff.add_argument("id", type=int, metavar="ID")
    diff.add_argument("other", type=int, metavar="OTHER")
    diff.set_defaults(action=_diff)
    return [find, diff]


def list_runs(store: RunStore, options: argparse.Namespace) -> int:
    """Print the runs of a store."""
    runs, damaged = store.runs(), store.damaged_runs()
    shown = [run for run in runs if options.all or not run.archived]
    away = len(runs) - len(shown)
    hidden = f"{counted(away, 'run is', 'runs are')} in the archive: runs --all" if away else ""
    if shown or damaged:
        print(_printed(run_list([*shown, *damaged])))
    else:
        print(f"No runs {'outside the archive' if away else 'yet'} in {store.path}.")
    if hidden:
        print(hidden)
    for run in damaged:
        tell(printable(run.problem))
    if damaged:
        tell(OPTIONS.of(damaged[0].remedy))
    return DONE


def _find(store: RunStore, options: argparse.Namespace) -> int:
    text = " ".join(options.text)
    found = [run for run in store.runs() if run.found_by(text)]
    shown = [run for run in found if options.all or not run.archived]
    if shown:
        print(_printed(run_list(shown)))
    elif found:
        print(f"{counted(len(found), 'run', 'runs')} with {text!r} in the archive: add --all to see it.")
    else:
        print(f"No run has {text!r} in its name, note, model, dataset or settings.")
    return DONE if shown else INCOMPLETE


def _diff(store: RunStore, options: argparse.Namespace) -> int:
    if options.id == options.other:
        raise SetupError(f"Both are run {options.id}.", Remedy(Step.CHOOSE_RUN))
    runs = [store.run(options.id), store.run(options.other)]
    made = differences_table(runs[0], runs[1], {run.id: store.efforts(run.id) for run in runs})
    print(_printed(made, _LONGEST_FACT))
    number = difference_count(made)
    print(f"\n{counted(number, 'difference', 'differences')}." if number else "\nNo differences.")
    return DONE


def _printed(made: Table, longest: int = _LONGEST_CELL) -> str:
    """A table with the middle of long texts left out, and the columns that say nothing of any run."""
    rows = [[without_middle(" ".join(text.split()), longest) for text in row] for row in made.texts()]
    told = [place for place in range(len(made.columns)) if any(row[place] for row in rows)]
    texts = [at for at, place in enumerate(told) if not (at and made.columns[place].kind.is_number)]
    return table(
        [made.titles[place] for place in told], [[row[place] for place in told] for row in rows], texts
    )


def no_store(path: Path) -> str:
    """What is said where there is no store to list."""
    return f"No runs yet: there is no run store {path}."
