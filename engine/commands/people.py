"""`people`: what people said of a run, handed over as a file, and that of others added.

Knows: its arguments and what it prints.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.commands.shared.column_arguments import add_columns, items_of_run
from engine.commands.shared.console import DONE, INCOMPLETE, command_parser, printable, tell
from engine.commands.shared.printed_sheet import printed_section
from engine.core.errors import SetupError, StoreError
from engine.core.formatting import counted, listed
from engine.people.hand_over import HandOver, hand_over, load_hand_over, save_hand_over
from engine.people.joining import Joining, join, look_at
from engine.report.hand_over_tables import joined_sentence, joining_sections
from engine.store.opening import is_there
from engine.store.run_store import RunStore
from engine.system.files import check_targets
from engine.system.paths import default_store

_SUFFIX = ".json"


def parser() -> argparse.ArgumentParser:
    """The arguments of `people`."""
    arguments = command_parser(
        "people",
        "Hand over what people said of a run: labels, explanations, agreements, states, notes and tags,\n"
        "each with its author and time. The run of whoever adds them need only have the same items.",
    )
    actions = arguments.add_subparsers(metavar="ACTION", title="actions", required=True)
    export = actions.add_parser("export", help="write what people said of a run into one small file")
    export.add_argument("id", type=int, metavar="RUN")
    export.add_argument("--out", type=Path, required=True, metavar="FILE.json", help="the file")
    export.add_argument("--person", action="append", default=[], metavar="NAME", help="of this person alone")
    export.add_argument("--with-texts", action="store_true", help="with the texts of the items")
    export.add_argument(
        "--dataset", type=Path, metavar="FILE", help="with --with-texts: where the dataset is now"
    )
    add_columns(export, "dataset")
    export.set_defaults(action=_export)
    add = actions.add_parser("add", help="add such files of others to a run of the same items")
    add.add_argument("id", type=int, metavar="RUN")
    add.add_argument("files", type=Path, nargs="+", metavar="FILE")
    add.add_argument("--dry-run", action="store_true", help="count only; nothing is written")
    add.add_argument(
        "--same", action="append", default=[], metavar="NAME", help="who is the same person there and here"
    )
    add.add_argument(
        "--as", action="append", default=[], dest="names", metavar="NAME=OTHER", help="who is called so here"
    )
    add.set_defaults(action=_add)
    for action in (export, add):
        action.add_argument(
            "--store", type=Path, default=default_store(), metavar="FILE", help="the run store"
        )
    return arguments


def run(options: argparse.Namespace) -> int:
    """Do what the action says."""
    if not is_there(options.store):
        raise StoreError(f"There is no run store {options.store}.", "Name the right file with --store.")
    with RunStore(options.store) as store:
        if waiting := store.waiting_words():
            what = counted(waiting, "thing that people said waits", "things that people said wait")
            tell(f"{what} beside the run store, until that can be written; what follows is without.")
        return int(options.action(store, options))


def _export(store: RunStore, options: argparse.Namespace) -> int:
    out: Path = options.out
    if out.suffix.lower() != _SUFFIX:
        raise SetupError(f"--out {out}: a file of people's words is JSON.", f"Name it {out.stem}{_SUFFIX}")
    stored = store.run(options.id)
    identity = stored.identity
    check_targets(
        {"--out": out},
        {
            "dataset": options.dataset or identity.dataset_path,
            "model": identity.model_path,
            "run store": store.path,
        },
    )
    dataset = items_of_run(options, stored, options.dataset) if options.with_texts else None
    made = hand_over(store, options.id, options.person, dataset)
    save_hand_over(out, made)
    words = counted(sum(1 for _ in made.words.all), "word", "words")
    items = counted(len(made.items), "item", "items")
    print(
        f"{printable(str(out))}: {words} of {printable(listed(made.people))} on {items} of {stored.called}."
    )
    print(made.texts_in_words)
    return DONE


def _add(store: RunStore, options: argparse.Namespace) -> int:
    files = [(path.name, load_hand_over(path)) for path in options.files]
    joining = look_at(store, options.id, files, _answers(store, options, files))
    print("\n\n".join(map(printed_section, joining_sections(joining))))
    if options.dry_run:
        print(f"\n{counted(joining.new, 'word', 'words')} would be added; nothing is written.")
    if joining.namesakes:
        raise _question(joining)
    if not options.dry_run:
        join(store, joining)
        print(f"\n{printable(joined_sentence(joining))}")
    whole = all(len(file.items.same) == len(file.made.items) and not file.lacking for file in joining.files)
    return DONE if whole else INCOMPLETE


def _answers(
    store: RunStore, options: argparse.Namespace, files: Sequence[tuple[str, HandOver]]
) -> Mapping[tuple[str, str], str]:
    """How people of the files are called here, as the options say."""
    called = {name: name for name in options.same}
    for words in options.names:
        name, equals, other = words.partition("=")
        if not (name and equals and other.strip()):
            raise SetupError(f"--as {words}: it is no pair of names.", 'Write it so: --as "Ada=Ada (2)"')
        if name in called:
            raise SetupError(f"{name} has two answers.", "Give one: --same NAME or --as NAME=OTHER")
        called[name] = other.strip()
    met = store.met_people()
    answers: dict[tuple[str, str], str] = {}
    for name, other in called.items():
        stores = {made.store for _, made in files if name in made.people}
        if not stores:
            raise SetupError(f"No file has words of {name}.", f"They have words of {_everybody(files)}.")
        unknown = {each for each in stores if (each, name) not in met}
        if other != name and len(unknown) > 1:
            raise SetupError(
                f"Several of these files, of different computers, have words of {name}.",
                "Add them one after the other, each with its own answer.",
            )
        answers |= {(each, name): other for each in stores if other != name or each in unknown}
    return answers


def _everybody(files: Sequence[tuple[str, HandOver]]) -> str:
    return listed(sorted({name for _, made in files for name in made.people}))


def _question(joining: Joining) -> SetupError:
    """What somebody must say before these files can be added."""
    first = joining.namesakes[0]
    others = len(joining.namesakes) - 1
    more = f" The same is to be said of {counted(others, 'other name', 'other names')}." if others else ""
    return SetupError(
        f"Nothing is written. {first.in_words}",
        f'One person: --same "{first.name}". Two: --as "{first.name}={first.suggested}".{more}',
    )
