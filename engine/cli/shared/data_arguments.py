"""The printed report as files: LaTeX tables for papers, and Markdown.

The argument that names a model: the path of its file, a part of its name, or the demo model's.

--rubric; --columns, --labels, --save-columns: how the columns of another tool's dataset are read.

The options that choose items of a dataset: --items, --sample, --ids.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.shared.console import printable, table, tell
from engine.core import VERSION
from engine.core.column_map import NO_LABEL, ColumnMap, check_targets, parse_columns, parse_labels, targets
from engine.core.errors import FileKind, SetupError, Step, WrongKindError
from engine.core.events import CancelToken
from engine.core.formatting import clipped
from engine.core.rubric import ELOQUENT, Rubric, rubric_for_labels, rubric_of_names
from engine.core.tables import Sheet, sheet_latex, sheet_markdown
from engine.data.column_content import Sample, look_into
from engine.data.column_guess import Guess, guess_columns
from engine.data.column_memory import remember, remembered
from engine.data.dataset import Dataset, load_dataset
from engine.data.file_kinds import kind_of
from engine.data.id_list import ids_in, read_ids
from engine.data.mapped_table import MappedTable
from engine.data.rubrics.files import find_rubric
from engine.models.finder import ModelPlace, default_folders, models_named
from engine.results.run_dataset import dataset_of_run, load_as_judged
from engine.settings.identity import StoredRun
from engine.settings.sampling import DEFAULT_SEED, ItemSample
from engine.system.files import write_whole
from engine.system.paths import demo_model, is_there, program

if TYPE_CHECKING:
    from engine.metrics.matching import System

MODEL_WORDS = "a GGUF file, a part of the name of a listed model, or 'demo'"
_DEMO = "demo"
_MOST_LISTED = 10


def model_file(word: str) -> Path:
    """The file of the model that a word names; prints which one if it was found by name.

    A path stays as it is; reading it reports if it is missing. SetupError if no model has the word in its
    name, or several have.
    """
    path = Path(word)
    if word == _DEMO:
        return demo_model()
    if path.name != word or is_there(path):
        _refuse_others(path)
        return path
    found = models_named(word, default_folders())
    if not found:
        raise SetupError(
            f"{printable(word)}: there is no such file here, and no model on this computer has this in its"
            " name.",
            f"Check the name. {program()} models lists the models on this computer.",
        )
    if len(found) > 1:
        raise SetupError(_too_many(word, found), "Write more of the name, or the path of the file.")
    tell(f"{printable(word)} is {_shown(found[0])}")
    return found[0].path


def _refuse_others(path: Path) -> None:
    """Raise WrongKindError for another kind of file; an unreadable file is reported when it is read."""
    found = None
    if path.suffix.lower() != ".gguf":
        with suppress(SetupError):
            found = kind_of(path)
    if found is not None and found is not FileKind.MODEL:
        raise WrongKindError(path, found, FileKind.MODEL)


def _too_many(word: str, found: list[ModelPlace]) -> str:
    lines = [f"{printable(word)}: {len(found)} models on this computer have that in their names."]
    lines += [f"  {_shown(place)}" for place in found[:_MOST_LISTED]]
    if len(found) > _MOST_LISTED:
        lines.append(f"  and {len(found) - _MOST_LISTED} more.")
    return "\n".join(lines)


def _shown(place: ModelPlace) -> str:
    path = printable(str(place.path))
    known = place.name in (place.path.name, place.path.stem)
    return path if known else f"{path} ({printable(place.name)})"


_ITEMS_SHOWN = 3


def add_rubric(arguments: argparse._ActionsContainer, what: str) -> None:
    """--rubric; `what`: what it sets."""
    arguments.add_argument(
        "--rubric", metavar="NAME|FILE", help=f"{what}: a name listed by `rubrics`, or a TOML file"
    )


def rubric_of(options: argparse.Namespace) -> Rubric | None:
    """The rubric that is named; None without --rubric. SetupError if it is missing or wrong."""
    return None if options.rubric is None else find_rubric(options.rubric)


def add_columns(arguments: argparse._ActionsContainer, dataset: str) -> None:
    """--columns, --labels and --save-columns; `dataset`: the file that they describe."""
    group = arguments.add_argument_group(f"{dataset} with other columns (see: check FILE)")
    group.add_argument("--columns", metavar="OURS=THEIRS,...", help="column names: id=uid,instruction=prompt")
    group.add_argument("--labels", metavar="VALUE=LABEL,...", help="label values: 1=A,2=B,0=tie,bad=none")
    group.add_argument(
        "--save-columns", action="store_true", help="store both for all files with these columns"
    )


def columns_of(options: argparse.Namespace, rubric: Rubric | None = None) -> ColumnMap | None:
    """The column map of the options; None without any. SetupError, also for labels on other criteria than
    those of `rubric`.
    """
    if options.columns is None and options.labels is None:
        if options.save_columns:
            raise SetupError("--save-columns: there are no columns to store.", "Name them with --columns.")
        return None
    sources = parse_columns(options.columns or "")
    if rubric is not None:
        check_targets(sources, rubric)
    return ColumnMap.of(sources, parse_labels(options.labels or ""))


def read_dataset(
    options: argparse.Namespace, path: Path, cancel: CancelToken | None = None, rubric: Rubric | None = None
) -> Dataset:
    """The dataset, read by the options; with --save-columns they are stored.

    `rubric`: the criteria of its labels; None for that of --rubric, or the task's.
    """
    rubric = rubric or rubric_of(options) or ELOQUENT
    dataset = load_dataset(path, rubric, cancel, columns=columns_of(options, rubric))
    keep_columns(options, dataset)
    return dataset


def read_labels(
    options: argparse.Namespace, path: Path, systems: "Iterable[System]", cancel: CancelToken | None = None
) -> Dataset:
    """The dataset with human labels, read by the options; without them a run's own file as the run read it.

    The labels are on the criteria of --rubric, of the runs, and of the submissions.
    """
    systems = list(systems)
    rubric = rubric_of_systems(rubric_of(options), systems)
    if columns_of(options, rubric) is not None:
        return read_dataset(options, path, cancel, rubric)
    judged = [system.results.run for system in systems if system.results]
    dataset = load_as_judged(path, judged, cancel, rubric=rubric)
    if dataset.columns is not None and dataset.columns != remembered(dataset.file_columns):
        tell(f"{printable(path.name)} is read with the same columns as when it was judged.")
    if dataset.read_as:
        tell(printable(dataset.read_as))
    return dataset


def items_of_run(
    options: argparse.Namespace, run: StoredRun, path: Path | None = None, cancel: CancelToken | None = None
) -> Dataset:
    """The items of a run as `dataset_of_run` finds them, by the options, which are stored if requested. A
    command without --dataset has --gold, which names the file as well.
    """
    try:
        dataset = dataset_of_run(run, path, cancel, columns_of(options))
    except SetupError as error:
        if hasattr(options, "dataset") or Step.FIND_DATASET not in error.hint.parts:
            raise
        raise SetupError(error.problem, "Put it back, or name its file with --gold.") from error
    keep_columns(options, dataset)
    return dataset


def rubric_of_systems(given: Rubric | None, systems: "Iterable[System]") -> Rubric:
    """The criteria of the human labels of systems: those of a `given` rubric, of the runs, and of the
    submissions.
    """
    known = given or ELOQUENT
    found = [given] if given else []
    return rubric_for_labels(
        [*found, *(system.asked or rubric_of_names(system.criteria, known) for system in systems)]
    )


def keep_columns(options: argparse.Namespace, dataset: Dataset) -> None:
    """Store the columns by which a dataset was read, if requested."""
    if options.save_columns and dataset.columns is not None:
        remember(dataset.file_columns, dataset.columns)
        tell("The columns are stored: files with the same columns are read in this way from now on.")


def print_guess(path: Path, rubric: Rubric) -> None:
    """Print a guess of what the columns mean, and the first rows as they would be read."""
    sample = look_into(path, may_be_empty=True)
    guess = guess_columns(sample, rubric)
    sources, confidence = guess.map.source_of, guess.confidence
    rows = [
        [name, printable(clipped(sources.get(name) or "the number of the row")), confidence[name].value]
        for name in targets(rubric)
        if name in confidence
    ]
    rows += [[name, "?", "no guess"] for name in guess.open]
    print(f"{printable(path.name)}: a table with other columns than a dataset. A guess of their meaning:\n")
    print(table(["column", "is read from", "confidence"], rows))
    if found := _label_values(sample, guess):
        print(f"\nLabel values:\n\n{table(['value', 'times', 'means'], found)}")
    if not guess.open:
        _print_items(sample, guess, rubric)
    print()


def _label_values(sample: Sample, guess: Guess) -> list[list[str]]:
    """Each value of the label columns, how often it occurs, and its guessed meaning."""
    meant = guess.map.meaning_of
    counts: Counter[str] = Counter()
    for name, source in guess.map.sources:
        if name.endswith("_preference") and name != guess.scale:
            counts.update(sample.source_values(source))
    return [
        [printable(clipped(value)), f"{count:,}", "?" if value in guess.values else meant.get(value, value)]
        for value, count in counts.most_common()
    ]


def _print_items(sample: Sample, guess: Guess, rubric: Rubric) -> None:
    """The first rows, without labels whose meaning is not known."""
    known = ColumnMap(guess.map.sources, (*guess.map.labels, *((value, NO_LABEL) for value in guess.values)))
    if guess.scale:
        known = ColumnMap(tuple(pair for pair in known.sources if pair[0] != guess.scale), known.labels)
    mapped = MappedTable(sample.table.first(_ITEMS_SHOWN), known, rubric)
    rows = list(mapped.rows())
    names = [name for name in mapped.columns if name in targets(rubric)]
    print("\nIts first rows would be read as follows:")
    for row in rows:
        print()
        for name in names:
            print(f"  {name}: {printable(clipped(row.cells[name]).replace(chr(10), ' '))}")


_STANDARD_INPUT = "-"


def add_choice(group: argparse._ActionsContainer) -> None:
    """--items, --sample, --sample-by, --ids."""
    group.add_argument("--items", type=int, metavar="N", help="judge only the first N items")
    group.add_argument("--sample", type=int, metavar="N", help="judge a random sample of N items (--seed)")
    group.add_argument(
        "--sample-by",
        metavar="COLUMN",
        help="with --sample: stratify by the values of this column, which may be a human label",
    )
    group.add_argument(
        "--ids",
        metavar="FILE",
        help="judge only the items whose ids are in FILE, one per line (-: standard input)",
    )


def ids_file(options: argparse.Namespace) -> Path | None:
    """The file of --ids, if any. SetupError if other arguments choose other items."""
    named = {"--ids": options.ids, "--items": options.items, "--sample": options.sample}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        all_of_them = "both" if len(given) == 2 else "all"
        raise SetupError(f"{' and '.join(given)} {all_of_them} choose the items.", "Use one of them.")
    if options.ids is None:
        return None
    return None if options.ids == _STANDARD_INPUT else Path(options.ids)


def seed_of(options: argparse.Namespace) -> int:
    """The seed of samples: that of --seed, else the default."""
    return DEFAULT_SEED if options.seed is None else int(options.seed)


def sample_of(options: argparse.Namespace) -> ItemSample | None:
    """The sample that --sample requests; None without it. SetupError if it is impossible."""
    if options.sample is not None:
        return ItemSample(options.sample, seed_of(options), options.sample_by or "")
    if options.sample_by is not None:
        raise SetupError("--sample-by needs the number of items.", "Add --sample N.")
    return None


def chosen_ids(
    options: argparse.Namespace, dataset: Path, cancel: CancelToken
) -> tuple[Dataset | None, tuple[str, ...]]:
    """The dataset and its ids that --ids chooses; neither without --ids. SetupError, InputError."""
    if options.ids is None:
        return None, ()
    loaded = read_dataset(options, dataset, cancel)
    if options.ids == _STANDARD_INPUT:
        data = sys.stdin.buffer.read() if sys.stdin else b""
        return loaded, ids_in(data, Path("standard input"), loaded)
    return loaded, read_ids(Path(options.ids), loaded)


def add_table_files(arguments: argparse.ArgumentParser) -> None:
    """--latex and --markdown."""
    arguments.add_argument("--latex", type=Path, metavar="FILE", help="the tables for a paper, in LaTeX")
    arguments.add_argument("--markdown", type=Path, metavar="FILE", help="the printed report as Markdown")


def table_targets(options: argparse.Namespace) -> Mapping[str, Path | None]:
    """The files to write, to be checked before long work."""
    return {"--latex": options.latex, "--markdown": options.markdown}


def write_table_files(
    options: argparse.Namespace, command: str, sheet: Sheet, paper: Sheet | None = None
) -> None:
    """Write the requested files, and print their paths; `paper`: the part for LaTeX, if not all."""
    made_by = f"Made by Tiebreak {VERSION}, command {command}"
    _write(options.latex, sheet_latex, paper or sheet, made_by)
    _write(options.markdown, sheet_markdown, sheet, made_by)


def _write(path: Path | None, text: Callable[[Sheet, str], str], sheet: Sheet, made_by: str) -> None:
    if path is not None:
        write_whole(path, text(sheet, made_by).encode("utf-8"))
        print(f"Tables: {path}\n")
