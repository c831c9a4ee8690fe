"""Actions of `runs` that put things in order: name, note, archive, restore and delete runs.

Knows: what is asked and said before runs are deleted. Does not know: results, SQL.
"""

import argparse
import sys

from engine.commands.shared.console import DONE, INCOMPLETE, printable
from engine.core.errors import SetupError
from engine.core.formatting import counted
from engine.core.run_records import AnyRun, RunContents
from engine.store.run_store import RunStore
from engine.system.paths import account_name


def add_keeping(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> list[argparse.ArgumentParser]:
    """Add these actions."""
    name = actions.add_parser("name", help="give a run a name, or none with an empty text")
    name.add_argument("id", type=int, metavar="ID")
    name.add_argument("text", nargs="+", metavar="NAME")
    name.set_defaults(action=_name)
    note = actions.add_parser("note", help="note something of a run, or nothing with an empty text")
    note.add_argument("id", type=int, metavar="ID")
    note.add_argument("text", nargs="+", metavar="TEXT")
    note.set_defaults(action=_note)
    archive = actions.add_parser("archive", help="leave runs out of the lists; nothing of them is lost")
    archive.set_defaults(action=_archive)
    restore = actions.add_parser("restore", help="take runs out of the archive")
    restore.set_defaults(action=_restore)
    delete = actions.add_parser("delete", help="delete runs for good, after a question")
    delete.add_argument("--yes", action="store_true", help="do not ask")
    delete.add_argument(
        "--with-decisions", action="store_true", help="also runs in which people decided something"
    )
    delete.set_defaults(action=_delete)
    for several in (archive, restore, delete):
        several.add_argument("ids", type=int, nargs="+", metavar="ID")
    return [name, note, archive, restore, delete]


def _name(store: RunStore, options: argparse.Namespace) -> int:
    store.name(options.id, " ".join(options.text))
    run = store.run(options.id)
    print(f"It is {run.called} now." if run.name else f"Run {run.id} has no name now.")
    return DONE


def _note(store: RunStore, options: argparse.Namespace) -> int:
    store.note_run(options.id, " ".join(options.text))
    run = store.run(options.id)
    print(f"{run.title}: {printable(run.note)}" if run.note else f"{run.title} has no note now.")
    return DONE


def _archive(store: RunStore, options: argparse.Namespace) -> int:
    store.archive(options.ids, account_name())
    print(f"{_numbered(store, options.ids)} in the archive, which `runs --all` shows.")
    return DONE


def _restore(store: RunStore, options: argparse.Namespace) -> int:
    store.restore(options.ids)
    print(f"{_numbered(store, options.ids)} in the list again.")
    return DONE


def _numbered(store: RunStore, ids: list[int]) -> str:
    titles = [store.run(run_id).title for run_id in dict.fromkeys(ids)]
    return f"{', '.join(titles)} {'is' if len(titles) == 1 else 'are'}"


def _delete(store: RunStore, options: argparse.Namespace) -> int:
    held = store.contents(dict.fromkeys(options.ids))
    for run in held:
        print(printable(run.in_words))
    refused = any(run.decided for run in held) and not options.with_decisions
    if not (refused or options.yes or _agreed(held)):  # what is refused needs no question
        print("Nothing is deleted.")
        return INCOMPLETE
    print(store.delete(options.ids, options.with_decisions).in_words)
    return DONE


def _agreed(held: list[RunContents]) -> bool:
    """Ask whether runs shall be deleted. SetupError where nobody is there to answer."""
    runs: list[AnyRun] = [each.run for each in held]
    number = counted(len(runs), "run", "runs")
    if not sys.stdin.isatty():
        raise SetupError(f"{number} would be deleted for good.", "Say that you want it: --yes")
    print("Deleted is deleted: `runs export` writes what you may still need. Notes and tags of items stay.")
    return input(f"Delete {number}? [y/N] ").strip().lower() in ("y", "yes")
