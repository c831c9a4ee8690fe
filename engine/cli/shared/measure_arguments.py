"""What the commands that measure take: human labels, models, weights, slices, files."""

import argparse
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.annotations.records import LabelSourceKind
from engine.cli.shared import arguments as shared
from engine.cli.shared import console
from engine.cli.shared.progress import with_notes
from engine.core.column_map import NO_COLUMN
from engine.core.errors import SetupError
from engine.core.events import CancelToken, followed
from engine.core.formatting import SLICES_NOTE
from engine.core.items import Method
from engine.core.tables import Part, Section
from engine.data.dataset import Dataset
from engine.data.slices import Noted, Slicing, is_by_annotators, select, slicing
from engine.data.verdicts import has_column
from engine.metrics.evaluation import SlicedMeasures, measure_slices
from engine.metrics.matching import Matched, System, open_system, told_apart
from engine.metrics.mix import Mix
from engine.operations import opening
from engine.operations.model_scores import ModelMeasures
from engine.report.methods import Statement, bibliography, methods_latex, methods_text
from engine.results.run_dataset import noted_of_items
from engine.settings.identity import refuse_submitted
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system import files
from engine.system.paths import reason_of, shown

if TYPE_CHECKING:
    from engine.operations.measuring import Weighing
    from engine.ranking.weighted_scoring import SlicedWeightedScoring


def add_systems(arguments: console.Parser) -> None:
    words = "the id of a run, SUBMISSION.tsv, or another judge's file; two or more"
    arguments.add_argument("systems", nargs="+", metavar="SYSTEM", help=words)
    shared.add_judge_file(arguments)


def add_gold(arguments: console.Parser, required: bool = True) -> None:
    arguments.file("--gold", "the dataset with human labels", metavar="DATASET", required=required)
    arguments.flag("--partial", "use the items that both have, and print how many")
    shared.add_rubric(arguments, "the criteria of submissions and labels; a run has its own")
    shared.add_columns(arguments, "human labels")


def system_of(options: argparse.Namespace, word: str, labels_of: str | None = None) -> System:
    """The system that a word of the command names; --judge-column is of the files that have such a column."""
    column = shared.judge_column(options)
    others = [Path(each) for each in _words(options) if each != word and not each.isdecimal()]
    if column.name and others and not word.isdecimal() and not has_column(Path(word), column.name):
        column = NO_COLUMN if any(has_column(each, column.name) for each in others) else column
    return open_system(word, options.store, labels_of or options.labels_of, column)


def _words(options: argparse.Namespace) -> list[str]:
    """All systems that a command names."""
    given = vars(options)
    return given.get("systems") or [given[name] for name in ("system", "what", "run") if name in given]


def read_labels(
    options: argparse.Namespace, path: Path, systems: Iterable[System], cancel: CancelToken | None = None
) -> Dataset:
    """The labelled dataset by the options, else as a run read it; on all criteria of `systems`, too."""
    systems = list(systems)
    rubric = opening.label_rubric(shared.rubric_of(options), systems)
    if shared.columns_of(options, rubric) is not None:
        return shared.read_dataset(options, path, cancel, rubric)
    read = opening.read_labels(path, systems, rubric, cancel)
    return followed(read, lambda note: console.tell(console.printable(str(note.said))))


def read_systems(
    options: argparse.Namespace, words: Iterable[str], cancel: CancelToken
) -> tuple[list[System], Dataset, list[Slicing]]:
    """The systems that words name, the labels of --gold, and the divisions that --by requests."""
    systems = told_apart([system_of(options, word) for word in words])
    gold = read_labels(options, options.gold, systems, cancel)
    return systems, gold, divided(options, gold)


def say_what_was_left_out(matched: Matched) -> None:
    for sentence in opening.left_out_in_words(matched):
        console.tell(console.printable(sentence))
    if matched.system.overrides:
        console.tell("To measure the judge only: --labels-of judge.")


def judged_by_run(options: argparse.Namespace, cancel: CancelToken) -> tuple[System, Dataset]:
    """The run by its judge only, for measures of raw predictions, and the labels of --gold."""
    system = open_system(options.run, options.store, labels_of=LabelSourceKind.JUDGE)
    if system.results is not None:
        refuse_submitted(system.results.run, "be calibrated")
    return system, read_labels(options, options.gold, [system], cancel)


def add_calibration_wishes(arguments: console.Parser) -> None:
    arguments.flag(
        "--places-matter",
        "fit A and B separately: for data where the position has a meaning, for example if A is always"
        " the new model's response. By default both are treated alike, and no label depends on the position",
    )
    arguments.flag(
        "--lengths",
        "use the lengths of the responses as a feature (annotators may prefer longer ones): such labels"
        " depend less on the content",
    )


def add_model_measures(arguments: console.Parser) -> None:
    group = arguments.add_argument_group("measures that need a model")
    group.file("--encoder", "a RoBERTa or BERT, for BERTScore", metavar="FILE.gguf")
    group.text("--judge-model", "MODEL", f"judges whether explanations agree: {shared.MODEL_WORDS}")
    shared.add_settings(group, "threads")


def model_measures(options: argparse.Namespace, cancel: CancelToken) -> ModelMeasures:
    models = options.encoder, options.judge_model
    return with_notes(ModelMeasures.of(options.store, *models, options.threads, cancel))


def add_weights(arguments: console.Parser) -> None:
    arguments.text(
        "--weights",
        "NAME=W,...",
        "quality=0.6,relevance=0.4, or a FILE.json written by weighted-score --fit-weights --json"
        " (default: those of the rubric)",
    )
    arguments.number(
        "--tie-threshold",
        "differences up to T are ties (default: that of the rubric)",
        metavar="T",
        kind=float,
    )
    arguments.flag(
        "--grades",
        f"use the grades of the model as scores (a run with the method {Method.POINTWISE_GRADE.option})",
    )


def weighing_of(options: argparse.Namespace) -> "Weighing":
    from engine.operations.measuring import GivenWeights, Weighing

    text, given = options.weights, None
    if text is not None and text.lower().endswith(".json"):
        again = "Write it again: weighted-score SYSTEM --gold DATASET --fit-weights --json FILE.json"
        given = GivenWeights.of_file(Path(text), again)
    elif text is not None:
        given = GivenWeights(parse_weights(text))
    return Weighing(shared.rubric_of(options), given, options.tie_threshold, options.grades)


def parse_weights(text: str, option: str = "--weights", of: str = "criterion") -> dict[str, float]:
    """`quality=0.6,relevance=0.4` as a dict. SetupError for anything else."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        try:
            weight = float(value)
        except ValueError:
            equals = ""
        if not name or not equals or name in weights:
            raise SetupError(
                f"{option}: cannot read {part!r}.",
                f"Write each {of} once, as NAME=NUMBER, with commas between: quality=0.6,relevance=0.4",
            )
        weights[name] = weight
    return weights


def add_slices(arguments: console.Parser) -> None:
    group = arguments.add_argument_group("slices of the items")
    group.repeated(
        "--by",
        "WHAT",
        "add a table with a row for each slice: a COLUMN of the dataset, length (of both responses),"
        " instruction (its length), longer (which response), script, label (label:CRITERION), tag, or"
        " random-sample; column:NAME for a column with one of these names; may be repeated",
    )
    group.repeated(
        "--slice",
        "WHAT=VALUE",
        "use only this slice: COLUMN=value, length=short, longer=A, random-sample=labelled; if repeated,"
        " only items that are in all of them",
    )


def add_mix(arguments: console.Options) -> None:
    arguments.text("--mix", "SLICE=SHARE,...", "with one --by: also the rate for these shares of its slices")


def mix_of(options: argparse.Namespace, divisions: Sequence[Slicing]) -> Mix | None:
    """The mix that --mix states, of the slices by the one --by. SetupError."""
    if options.mix is None:
        return None
    if len(divisions) != 1:
        raise SetupError("--mix needs to know what its slices are by.", "Name it once: --by COLUMN")
    return Mix(divisions[0], parse_weights(options.mix, "--mix", "slice"))


def divided(options: argparse.Namespace, gold: Dataset) -> list[Slicing]:
    """The divisions that --by requests. SetupError, before long work, if one or a --slice does not exist."""
    noted = _noted(options, gold)
    for request in options.slice:
        select(gold, request, noted)
    return [slicing(gold, by, noted) for by in dict.fromkeys(options.by)]


def _noted(options: argparse.Namespace, dataset: Dataset) -> Noted:
    if not any(map(is_by_annotators, (*options.by, *options.slice))) or not has_store(options.store):
        return Noted()
    with RunStore(options.store) as store:
        return noted_of_items(store, dataset)


def kept(options: argparse.Namespace, matched: Matched) -> Matched:
    if not options.slice:
        return matched
    noted = _noted(options, matched.dataset)
    chosen = [select(matched.dataset, request, noted) for request in options.slice]
    names = " and ".join(division.in_words(part) for division, part in chosen)
    ids = frozenset.intersection(*(part.known for _, part in chosen))
    return matched.only(ids, names, *(part.caveat for _, part in chosen))


def sliced(matched: Matched, divisions: Sequence[Slicing]) -> list[SlicedMeasures]:
    return [measure_slices(matched, division) for division in divisions]


def slices_json(found: "Sequence[SlicedMeasures | SlicedWeightedScoring]") -> dict[str, Any]:
    return {"slices": [measured.as_json() for measured in found]} if found else {}


def slices_section(parts: Sequence[Part]) -> list[Section]:
    return [Section("slices", "", parts, SLICES_NOTE)] if parts else []


def check_measure_outputs(
    options: argparse.Namespace, systems: Iterable[str], figures: Iterable[Path] = ()
) -> None:
    """Before long work: whether there is such a judge model, and the outputs overwrite no input."""
    written = shared.written_files(options)
    if written["--bib"] and not written["--methods-text"]:
        raise SetupError(
            "--bib writes the references of a methods paragraph, and none is requested.",
            "Also name a file for the paragraph: --methods-text FILE.tex",
        )
    if isinstance(word := getattr(options, "judge_model", None), str):
        options.judge_model = shared.model_file(word)
    given = {
        "dataset": options.gold,
        "encoder": getattr(options, "encoder", None),
        "judge model": getattr(options, "judge_model", None),
    }
    read = {"run store": options.store, **{what: path for what, path in given.items() if path}}
    words = list(systems)
    read |= {f"file {word}": Path(word) for word in words if not word.isdecimal()}
    read |= opening.files_of_runs(options.store, [int(word) for word in words if word.isdecimal()])
    files.check_targets(written | {f"--figures {path.name}": path for path in figures}, read)


def add_methods(arguments: console.Parser) -> None:
    arguments.file("--methods-text", "a paragraph on the methods for a paper, with references")
    arguments.file(
        "--bib",
        "with --methods-text: its references as BibTeX; the paragraph is then LaTeX",
        metavar="FILE.bib",
    )


def write_methods(options: argparse.Namespace, command: str, statements: Sequence[Statement]) -> None:
    if not options.methods_text:
        return
    made_by = shared.made_by(command)
    text = methods_latex(statements, made_by) if options.bib else methods_text(statements)
    files.write_whole(options.methods_text, text.encode("utf-8"))
    print(f"Methods: {options.methods_text}\n")
    if options.bib:
        works = chain.from_iterable(each.works for each in statements)
        files.write_whole(options.bib, bibliography(works).encode("utf-8"))
        print(f"References: {options.bib}\n")


def figure_targets(options: argparse.Namespace, names: Sequence[str]) -> dict[Path, tuple[str, str]]:
    """The files of --figures, by the name and the form of each; the folder is made. SetupError."""
    folder: Path | None = options.figures
    if folder is None:
        return {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            f"--figures {shown(folder)}: the folder cannot be made: {reason_of(error)}.",
            "Name another folder.",
        ) from error
    return {folder / f"{name}.{form}": (name, form) for name in names for form in ("png", "svg")}
