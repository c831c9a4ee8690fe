"""`annotations`: export the annotations of a run as a file; import those of other annotators.

Knows: its arguments and what it prints.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.cli.shared import arguments as shared
from engine.cli.shared.console import (
    DONE,
    INCOMPLETE,
    command_parser,
    file_option,
    flag,
    printable,
    printed_section,
    repeated_option,
)
from engine.cli.shared.progress import tell_waiting
from engine.core.errors import SetupError
from engine.core.formatting import counted, listed
from engine.operations.opening import check_store
from engine.report.annotators import joined_sentence, joining_sections
from engine.results.annotation_file import (
    AnnotationFile,
    annotation_file,
    load_annotation_file,
    save_annotation_file,
)
from engine.results.annotation_import import Joining, join, look_at
from engine.store.run_store import RunStore
from engine.system.files import check_targets
from engine.system.paths import default_store


def annotations() -> argparse.ArgumentParser:
    arguments = command_parser(
        "annotations",
        _annotations,
        "Export the annotations of a run: labels, explanations, accepted labels, states, notes and tags,\n"
        "each with its annotator and time. They can be imported into any run of the same items.",
    )
    actions = arguments.add_subparsers(metavar="ACTION", title="actions", required=True)
    export = actions.add_parser("export", help="write the annotations of a run into one small file")
    export.add_argument("id", type=int, metavar="RUN")
    file_option(export, "--out", "the annotation file", metavar="FILE.json", required=True)
    repeated_option(export, "--annotator", "NAME", "only those of this annotator; may be repeated")
    flag(export, "--with-texts", "include the texts of the items")
    file_option(export, "--dataset", "with --with-texts: the dataset, if it was moved")
    shared.add_columns(export, "dataset")
    export.set_defaults(action=_export_annotations)
    add = actions.add_parser("import", help="import annotation files into a run of the same items")
    add.add_argument("id", type=int, metavar="RUN")
    add.add_argument("files", type=Path, nargs="+", metavar="FILE")
    flag(add, "--dry-run", "count the annotations; write nothing")
    repeated_option(
        add, "--same", "NAME", "an annotator who is the same person in the file and in this store"
    )
    add.add_argument(
        "--as",
        action="append",
        default=[],
        dest="names",
        metavar="NAME=OTHER",
        help="import annotator NAME as OTHER",
    )
    add.set_defaults(action=_import_annotations)
    for action in (export, add):
        action.add_argument(
            "--store", type=Path, default=default_store(), metavar="FILE", help="the run store"
        )
    return arguments


def _annotations(options: argparse.Namespace) -> int:
    with RunStore(check_store(options.store)) as store:
        tell_waiting(store)
        return int(options.action(store, options))


def _export_annotations(store: RunStore, options: argparse.Namespace) -> int:
    out: Path = options.out
    shared.check_suffix("--out", out, "an annotation file is JSON", ".json")
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
    dataset = shared.items_of_run(options, stored, options.dataset) if options.with_texts else None
    made = annotation_file(store, options.id, options.annotator, dataset)
    save_annotation_file(out, made)
    annotations = counted(len(made.words), "annotation", "annotations")
    items = counted(len(made.items), "item", "items")
    print(
        f"{printable(str(out))}: {annotations} by {printable(listed(made.annotators))} on {items}"
        f" of {stored.called}."
    )
    print(made.texts_in_words)
    return DONE


def _import_annotations(store: RunStore, options: argparse.Namespace) -> int:
    files = [(path.name, load_annotation_file(path)) for path in options.files]
    joining = look_at(store, options.id, files, _answers(store, options, files))
    print("\n\n".join(map(printed_section, joining_sections(joining))))
    if options.dry_run:
        print(f"\n{counted(joining.new, 'annotation', 'annotations')} would be imported; nothing is written.")
    if joining.namesakes:
        raise _question(joining)
    if not options.dry_run:
        join(store, joining)
        print(f"\n{printable(joined_sentence(joining))}")
    whole = all(len(file.items.same) == len(file.made.items) and not file.lacking for file in joining.files)
    return DONE if whole else INCOMPLETE


def _answers(
    store: RunStore, options: argparse.Namespace, files: Sequence[tuple[str, AnnotationFile]]
) -> Mapping[tuple[str, str], str]:
    """The names in this store of the files' annotators, by the options."""
    called = {name: name for name in options.same}
    for words in options.names:
        name, equals, other = words.partition("=")
        if not (name and equals and other.strip()):
            raise SetupError(f"--as {words}: this is not a pair of names.", 'Write it as --as "Ada=Ada (2)"')
        if name in called:
            raise SetupError(f"{name} is named twice.", "Use one of --same NAME and --as NAME=OTHER")
        called[name] = other.strip()
    met = store.imported_annotators()
    answers: dict[tuple[str, str], str] = {}
    for name, other in called.items():
        stores = {made.store for _, made in files if name in made.annotators}
        if not stores:
            raise SetupError(
                f"No file has annotations by {name}.", f"They have annotations by {_everybody(files)}."
            )
        unknown = {each for each in stores if (each, name) not in met}
        if other != name and len(unknown) > 1:
            raise SetupError(
                f"Several of these files, from different computers, have annotations by {name}.",
                "Import them one after the other, each with its own --same or --as.",
            )
        answers |= {(each, name): other for each in stores if other != name or each in unknown}
    return answers


def _everybody(files: Sequence[tuple[str, AnnotationFile]]) -> str:
    return listed(sorted({name for _, made in files for name in made.annotators}))


def _question(joining: Joining) -> SetupError:
    """The question to answer before these files can be imported."""
    first = joining.namesakes[0]
    others = len(joining.namesakes) - 1
    more = f" The same question is open for {counted(others, 'other name', 'other names')}." if others else ""
    return SetupError(
        f"Nothing is written. {first.in_words}",
        f'One person: --same "{first.name}". Two: --as "{first.name}={first.suggested}".{more}',
    )
