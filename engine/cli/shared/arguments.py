"""What most commands take: models, rubrics, columns of datasets, files of tables; and what they become.

Light: commands that need no model do not wait for llama.cpp.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from engine.cli.shared.console import file_option, flag, tell, text_option
from engine.core import VERSION
from engine.core.column_map import ColumnMap, check_targets, parse_columns, parse_labels
from engine.core.errors import SetupError, Step
from engine.core.events import CancelToken
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.tables import Sheet, sheet_latex, sheet_markdown
from engine.data.dataset import Dataset, load_dataset
from engine.data.rubrics.files import find_rubric
from engine.operations.opening import find_model, remember_columns
from engine.results.run_dataset import dataset_of_run
from engine.settings.identity import StoredRun
from engine.settings.sampling import DEFAULT_SEED
from engine.system.files import write_whole

MODEL_WORDS = "a GGUF file, a part of the name of a listed model, or 'demo'"


def model_file(word: str) -> Path:
    """The file of the model that a word names, as `find_model` finds it; prints which one."""
    path, told = find_model(word)
    if told:
        tell(told)
    return path


def option_of(dest: str) -> str:
    return f"--{dest.replace('_', '-')}"


def add_rubric(arguments: argparse._ActionsContainer, what: str) -> None:
    """--rubric; `what`: what it sets."""
    text_option(arguments, "--rubric", "NAME|FILE", f"{what}: a name listed by `rubrics`, or a TOML file")


def rubric_of(options: argparse.Namespace) -> Rubric | None:
    """The rubric that is named; None without --rubric. SetupError if it is missing or wrong."""
    return None if options.rubric is None else find_rubric(options.rubric)


def criteria_of(text: str, rubric: Rubric | None) -> tuple[str, ...]:
    """The criteria named in a comma-separated list. SetupError for an empty name, and for one that the rubric
    lacks, if it is known.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise SetupError(
            f"--criteria: cannot read {text!r}.",
            f"Write some of {','.join((rubric or ELOQUENT).names)}, separated by commas.",
        )
    if rubric is not None:
        rubric.only(names)
    return names


def add_columns(arguments: argparse._ActionsContainer, dataset: str) -> None:
    """--columns, --labels and --save-columns; `dataset`: the file that they describe."""
    group = arguments.add_argument_group(f"{dataset} with other columns (see: check FILE)")
    text_option(group, "--columns", "OURS=THEIRS,...", "column names: id=uid,instruction=prompt")
    text_option(group, "--labels", "VALUE=LABEL,...", "label values: 1=A,2=B,0=tie,bad=none")
    flag(group, "--save-columns", "store both for all files with these columns")
    flag(
        group, "--skip-bad-rows", "leave out rows that cannot be read, by name, instead of refusing the file"
    )


def columns_of(options: argparse.Namespace, rubric: Rubric | None = None) -> ColumnMap | None:
    """The column map of the options; None without any. SetupError, also for labels on other criteria than
    those of `rubric`.
    """
    if options.columns is None and options.labels is None and not options.skip_bad_rows:
        if options.save_columns:
            raise SetupError("--save-columns: there are no columns to store.", "Name them with --columns.")
        return None
    sources = parse_columns(options.columns or "")
    if rubric is not None:
        check_targets(sources, rubric)
    made = ColumnMap.of(sources, parse_labels(options.labels or ""))
    return replace(made, skip_bad_rows=options.skip_bad_rows)


def keep_columns(options: argparse.Namespace, dataset: Dataset) -> None:
    """Store the columns by which a dataset was read, if requested."""
    if options.save_columns and (told := remember_columns(dataset)):
        tell(told)


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


def seed_of(options: argparse.Namespace) -> int:
    """The seed of samples: that of --seed, else the default."""
    return DEFAULT_SEED if options.seed is None else int(options.seed)


def check_suffix(option: str, path: Path | None, what: str, *suffixes: str) -> None:
    """SetupError for an output file of another kind; `what`: what it is, `a report is HTML`."""
    if path is not None and path.suffix.lower() not in suffixes:
        raise SetupError(f"{option} {path}: {what}.", f"Name it {path.stem}{suffixes[0]}")


def add_table_files(arguments: argparse.ArgumentParser) -> None:
    """--latex and --markdown."""
    file_option(arguments, "--latex", "the tables for a paper, in LaTeX")
    file_option(arguments, "--markdown", "the printed report as Markdown")


def table_targets(options: argparse.Namespace) -> Mapping[str, Path | None]:
    """The files to write, to be checked before long work."""
    return {"--latex": options.latex, "--markdown": options.markdown}


def write_table_files(
    options: argparse.Namespace, command: str, sheet: Sheet, paper: Sheet | None = None
) -> None:
    """Write the requested files, and print their paths; `paper`: the part for LaTeX, if not all."""
    made_by = f"Made by Tiebreak {VERSION}, command {command}"
    forms: list[tuple[Path | None, Callable[[Sheet, str], str], Sheet]] = [
        (options.latex, sheet_latex, paper or sheet),
        (options.markdown, sheet_markdown, sheet),
    ]
    for path, text, shown in forms:
        if path is not None:
            write_whole(path, text(shown, made_by).encode("utf-8"))
            print(f"Tables: {path}\n")
