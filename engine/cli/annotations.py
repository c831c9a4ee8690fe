"""`annotations`: export the annotations of a run; import those of others; write a labelling sheet."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.cli.shared import arguments as shared
from engine.cli.shared import console
from engine.cli.shared.progress import tell_waiting
from engine.core.errors import FileKind, SetupError
from engine.core.formatting import counted, listed
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.assignment import AssignmentDesign, write_assignment
from engine.data.file_kinds import expecting
from engine.metrics.annotator_agreement import agreement_of_annotators
from engine.operations.opening import check_store
from engine.report.annotators import annotator_sections, joined_sentence, joining_sections
from engine.results.annotation_file import (
    AnnotationFile,
    annotation_file,
    load_annotations,
    save_annotation_file,
)
from engine.results.annotation_import import Joining, join, look_at
from engine.results.completeness import begin_by_hand
from engine.results.labelling_sheet import write_labelling_sheet
from engine.results.run_results import load_results
from engine.settings.run_lists import run_in_a_line
from engine.settings.sampling import DEFAULT_SEED, ItemSample
from engine.store.run_store import RunStore
from engine.system.files import check_targets
from engine.system.paths import default_store


def annotations() -> console.Parser:
    """Begin labels by hand, without a judge, or write a sheet with which others label in a browser. Export
    the annotations of a run: labels, explanations, accepted labels, states, notes and tags, each with its
    annotator and time. They can be imported into any run of the same items.
    """
    arguments = console.command_parser(annotations, _annotations)
    actions = arguments.add_subparsers(metavar="ACTION", title="actions", required=True)
    words = "a run in which annotators label a dataset by hand, without a judge; an existing one is kept"
    begin = console.add_action(actions, "begin", _begin, words)
    begin.add_argument("dataset", type=Path, metavar="DATASET")
    shared.add_rubric(begin, "what is labelled")
    begin.text("--criteria", "NAME,...", "only these of its criteria, separated by commas")
    shared.add_columns(begin, "dataset")
    _add_labelling_elsewhere(actions)
    words = "agreement of annotators, with others, the judge and themselves; their pace; anchoring"
    agree = console.add_action(actions, "agreement", _agreement, words, of_run="RUN")
    agree.file("--gold", "human labels, if the dataset has none")
    agree.file("--dataset", "the dataset, if it was moved")
    shared.add_columns(agree, "dataset")
    words = "write the annotations of a run into one small file"
    export = console.add_action(actions, "export", _export_annotations, words, of_run="RUN")
    export.file("--out", "the annotation file", metavar="FILE.json", required=True)
    export.repeated("--annotator", "NAME", "only those of this annotator; may be repeated")
    export.flag("--with-texts", "include the texts of the items")
    export.file("--dataset", "with --with-texts: the dataset, if it was moved")
    shared.add_columns(export, "dataset")
    words = "import annotation files, or labels of Argilla, Label Studio, Potato, into a run of the items"
    add = console.add_action(actions, "import", _import_annotations, words, of_run="RUN")
    add.add_argument("files", type=Path, nargs="+", metavar="FILE")
    add.text("--by", "NAME", "who labelled, where a file of another tool does not say it")
    shared.add_columns(add, "file of another tool")
    add.flag("--dry-run", "count the annotations; write nothing")
    words = "an annotator who is the same person in the file and in this store"
    add.repeated("--same", "NAME", words)
    add.repeated("--as", "NAME=OTHER", "import annotator NAME as OTHER", dest="names")
    for action in (begin, agree, export, add):
        action.add_argument(
            "--store", type=Path, default=default_store(), metavar="FILE", help="the run store"
        )
    return arguments


def _add_labelling_elsewhere(actions: console.Actions) -> None:
    words = "deal the items of a dataset to annotators: a file for each, with hidden repeats and gold items"
    deal = console.add_action(actions, "assign", _assign, words)
    deal.add_argument("dataset", type=Path, metavar="DATASET")
    deal.repeated("--annotator", "NAME", "who labels; once for each")
    deal.file("--out", "the folder of the files", metavar="FOLDER", required=True)
    deal.number("--overlap", "how many annotators label each item (1)", default=1)
    deal.number("--items", "how many items are dealt (all)")
    deal.number("--training", "items with a human label that all get first; they never count (0)", default=0)
    deal.number("--gold", "items with a human label that all get among the others (0)", default=0)
    deal.number("--repeats", "how many of their items each gets twice, unmarked (0)", default=0)
    deal.number("--seed", "of what is dealt (0)", default=0)
    shared.add_rubric(deal, "what is labelled")
    shared.add_columns(deal, "dataset")
    words = "write a labelling sheet: an HTML file in which others label in a browser, without this program"
    sheet = console.add_action(actions, "sheet", _sheet, words)
    sheet.add_argument("dataset", type=Path, metavar="DATASET")
    sheet.file("--out", "the sheet", metavar="FILE.html", required=True)
    sheet.flag("--blind", "without the labels and explanations of the dataset")
    shared.add_rubric(sheet, "what is labelled")
    sheet.text("--criteria", "NAME,...", "only these of its criteria, separated by commas")
    sheet.number("--sample", "only a random sample of N items, in the order in which it is drawn (--seed)")
    sheet.number("--seed", f"the seed of this sample ({DEFAULT_SEED})")
    shared.add_columns(sheet, "dataset")


def _annotations(options: argparse.Namespace) -> int:
    if options.action in (_sheet, _assign):  # which need no store
        return int(options.action(options) or console.DONE)
    path = options.store if options.action is _begin else check_store(options.store)
    with expecting(path, FileKind.RUN_STORE), RunStore(path) as store:
        tell_waiting(store)
        return int(options.action(store, options) or console.DONE)


def _asked(options: argparse.Namespace) -> Rubric:
    rubric = shared.rubric_of(options) or ELOQUENT
    if options.criteria is None:
        return rubric
    return rubric.only(shared.criteria_of(options.criteria, rubric))


def _sheet(options: argparse.Namespace) -> None:
    shared.check_suffix("--out", options.out, "a labelling sheet is HTML", ".html", ".htm")
    if options.seed is not None and options.sample is None:
        raise SetupError("--seed is that of a sample.", "Add --sample N, or leave --seed out.")
    sample = None if options.sample is None else ItemSample(options.sample, options.seed or DEFAULT_SEED)
    rubric = _asked(options)
    dataset = shared.read_dataset(options, options.dataset, rubric=rubric)
    said = write_labelling_sheet(options.out, dataset, rubric, options.blind, sample)
    print(console.printable(said))
    print("Open it in a browser. `annotations import` takes the file that it gives back.")


def _begin(store: RunStore, options: argparse.Namespace) -> None:
    rubric = _asked(options)
    run = begin_by_hand(shared.read_dataset(options, options.dataset, rubric=rubric), rubric, store)
    print(f"{run_in_a_line(run)}.")
    print(f"It is run {run.id} of {store.path}. Label it in the window, on the page Review.")


def _assign(options: argparse.Namespace) -> None:
    rubric = shared.rubric_of(options) or ELOQUENT
    numbers = {name: getattr(options, name) for name in ("overlap", "training", "gold", "repeats", "seed")}
    design = AssignmentDesign(tuple(options.annotator), items=options.items, **numbers)
    dataset = shared.read_dataset(options, options.dataset, rubric=rubric)
    print("\n".join(map(console.printable, write_assignment(dataset, design, options.out))))


def _agreement(store: RunStore, options: argparse.Namespace) -> None:
    results = load_results(store, options.id)
    own = shared.items_of_run(options, results.run, options.dataset)
    gold = own if options.gold is None else shared.read_dataset(options, options.gold)
    agreement = agreement_of_annotators(results, gold, own)
    if agreement is None:
        raise SetupError(f"There are no annotations of {results.run.called}.", "Review it first.")
    for section in annotator_sections(agreement, judge=not results.run.by_hand):
        print(f"{console.printed_section(section)}\n")


def _export_annotations(store: RunStore, options: argparse.Namespace) -> None:
    out: Path = options.out
    shared.check_suffix("--out", out, "an annotation file is JSON", ".json")
    stored = store.run(options.id)
    check_targets({"--out": out}, shared.files_of_run(options, stored, store.path))
    dataset = shared.items_of_run(options, stored, options.dataset) if options.with_texts else None
    made = annotation_file(store, options.id, options.annotator, dataset)
    save_annotation_file(out, made)
    annotations = counted(len(made.words), "annotation", "annotations")
    items = counted(len(made.items), "item", "items")
    by = console.printable(listed(made.annotators))
    print(f"{console.printable(str(out))}: {annotations} by {by} on {items} of {stored.called}.")
    print(made.texts_in_words)


def _import_annotations(store: RunStore, options: argparse.Namespace) -> int:
    rubric = store.run(options.id).identity.asked
    columns = shared.columns_of(options, rubric)
    save = options.save_columns and not options.dry_run
    files = [
        (path.name, load_annotations(path, store, options.id, options.by or "", columns, save_columns=save))
        for path in options.files
    ]
    joining = look_at(store, options.id, files, _answers(store, options, files))
    print("\n\n".join(map(console.printed_section, joining_sections(joining))))
    if options.dry_run:
        print(f"\n{counted(joining.new, 'annotation', 'annotations')} would be imported; nothing is written.")
    # Only now: the question is of names that stand in what was just printed.
    if joining.namesakes:
        raise _question(joining)
    if not options.dry_run:
        join(store, joining)
        print(f"\n{console.printable(joined_sentence(joining))}")
    return console.DONE if all(file.is_whole for file in joining.files) else console.INCOMPLETE


def _answers(
    store: RunStore, options: argparse.Namespace, files: Sequence[tuple[str, AnnotationFile]]
) -> Mapping[tuple[str, str], str]:
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
            everybody = listed(sorted({each for _, made in files for each in made.annotators}))
            raise SetupError(f"No file has annotations by {name}.", f"They have annotations by {everybody}.")
        unknown = {each for each in stores if (each, name) not in met}
        if other != name and len(unknown) > 1:
            raise SetupError(
                f"Several of these files, from different computers, have annotations by {name}.",
                "Import them one after the other, each with its own --same or --as.",
            )
        answers |= {(each, name): other for each in stores if other != name or each in unknown}
    return answers


def _question(joining: Joining) -> SetupError:
    first = joining.namesakes[0]
    others = len(joining.namesakes) - 1
    more = f" The same question is open for {counted(others, 'other name', 'other names')}." if others else ""
    return SetupError(
        f"Nothing is written. {first.in_words}",
        f'One person: --same "{first.name}". Two: --as "{first.name}={first.suggested}".{more}',
    )
