"""Actions of `runs` that look: the list, what is found by words, two runs side by side.

Knows: which of the runs are listed, how a run is written in one line. Does not know: results, other actions.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from engine.commands.shared.console import DONE, INCOMPLETE, printable, table, tell
from engine.commands.shared.remedies import OPTIONS
from engine.core.errors import SetupError
from engine.core.formatting import counted, short_name
from engine.core.remedies import Remedy, Step
from engine.core.run_records import DamagedRun, StoredRun
from engine.core.value_tables import Table, Value
from engine.report.run_differences import difference_count, differences_table
from engine.store.run_store import RunStore

_LONGEST_CELL = 60  # letters


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
        print(_lines(shown, damaged))
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
        print(_lines(shown))
    elif found:
        print(f"{counted(len(found), 'run', 'runs')} with {text!r} in the archive: add --all to see it.")
    else:
        print(f"No run has {text!r} in its name, note, model, dataset or settings.")
    return DONE if shown else INCOMPLETE


def _lines(runs: Sequence[StoredRun], damaged: Sequence[DamagedRun] = ()) -> str:
    """Runs as a table, damaged ones last; columns that say nothing of any of them are left out."""
    columns = ["run", "created (UTC)", "items", "mode", "dataset", "model", "archived", "name"]
    rows = [_summary(run) for run in runs]
    rows += [[str(run.id), "", f"{run.judged}", "damaged", "", "", "", ""] for run in damaged]
    told = [place for place in range(len(columns)) if place < 6 or any(row[place] for row in rows)]
    lines = [[row[place] for place in told] for row in rows]
    named = (len(told) - 1,) if columns[told[-1]] == "name" else ()
    return table([columns[place] for place in told], lines, texts=(0, *named))


def _summary(run: StoredRun) -> list[str]:
    identity = run.identity
    mode = str(identity.settings["mode"])
    return [
        str(run.id),
        f"{run.created:%Y-%m-%d %H:%M}",
        " ".join(filter(None, (f"{run.judged}/{identity.items}", identity.items_are))),
        f"submission, {mode}" if run.submitted else mode,
        identity.dataset_path.name,
        identity.model_name,
        f"{run.archived.when:%Y-%m-%d}" if run.archived else "",
        short_name(run.name),
    ]


def _diff(store: RunStore, options: argparse.Namespace) -> int:
    if options.id == options.other:
        raise SetupError(f"Both are run {options.id}.", Remedy(Step.CHOOSE_RUN))
    runs = [store.run(options.id), store.run(options.other)]
    made = differences_table(runs[0], runs[1], {run.id: store.efforts(run.id) for run in runs})
    narrow = _narrow(made)
    print(table(narrow.titles, narrow.texts(), texts=range(len(narrow.titles))))
    number = difference_count(made)
    print(f"\n{counted(number, 'difference', 'differences')}." if number else "\nNo differences.")
    return DONE


def _narrow(made: Table) -> Table:
    """The same with the middle of long values left out."""
    rows = [[_shortened(value) for value in row] for row in made.rows]
    return Table(made.columns, rows)


def _shortened(value: Value) -> Value:
    return short_name(value) if isinstance(value, str) and len(value) > _LONGEST_CELL else value


def no_store(path: Path) -> str:
    """What is said where there is no store to list."""
    return f"No runs yet: there is no run store {path}."
