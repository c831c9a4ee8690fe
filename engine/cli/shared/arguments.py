"""What most commands take: models, rubrics, columns, files of tables; the options of settings, made
from their rows, and by hand those of the computer, of examples and of orders. What reads files is loaded
once one is read: each command waits for its own libraries alone (tests/test_layout.py).
"""

import argparse
import re
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.annotations.records import LabelSourceKind
from engine.cli.shared.console import Options, Parser, tell
from engine.core import VERSION
from engine.core.column_map import ColumnMap, JudgeColumn, check_targets, parse_columns, parse_labels
from engine.core.errors import SetupError, Step
from engine.core.events import CancelToken
from engine.core.items import Method
from engine.core.rubric import ELOQUENT, Rubric
from engine.core.tables import Sheet, sheet_latex, sheet_markdown
from engine.settings import rows
from engine.settings.identity import StoredRun
from engine.settings.run_setup import RunSetup
from engine.system.computer import KeepAwake
from engine.system.files import write_json, write_whole

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

MODEL_WORDS = "a GGUF file, a part of the name of a listed model, or 'demo'"


def model_file(word: str) -> Path:
    """The file of the model that a word names, as `find_model` finds it; prints which one."""
    from engine.cli.shared.progress import with_notes
    from engine.operations.opening import find_model

    return with_notes(find_model(word))


def option_of(dest: str) -> str:
    return f"--{dest.replace('_', '-')}"


def add_rubric(arguments: Options, what: str) -> None:
    arguments.text("--rubric", "NAME|FILE", f"{what}: a name listed by `rubrics`, or a TOML file")


def rubric_of(options: argparse.Namespace) -> Rubric | None:
    if options.rubric is None:
        return None
    from engine.data.rubrics.files import find_rubric

    return find_rubric(options.rubric)


def criteria_of(text: str, rubric: Rubric | None) -> tuple[str, ...]:
    """The criteria of a comma-separated list. SetupError, also for one that the `rubric` lacks."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise SetupError(
            f"--criteria: cannot read {text!r}.",
            f"Write some of {','.join((rubric or ELOQUENT).names)}, separated by commas.",
        )
    if rubric is not None:
        rubric.only(names)
    return names


def add_columns(arguments: Parser, dataset: str) -> None:
    group = arguments.add_argument_group(f"{dataset} with other columns (see: check FILE)")
    group.text("--columns", "OURS=THEIRS,...", "column names: id=uid,instruction=prompt")
    group.text("--labels", "VALUE=LABEL,...", "label values: 1=A,2=B,0=tie,bad=none")
    group.flag("--save-columns", "store both for all files with these columns")
    group.flag("--skip-bad-rows", "leave out rows that cannot be read, by name, instead of refusing the file")


def columns_of(options: argparse.Namespace, rubric: Rubric | None = None) -> ColumnMap | None:
    """The column map of the options; None without any. SetupError, also for labels that `rubric` lacks."""
    if options.columns is None and options.labels is None and not options.skip_bad_rows:
        if options.save_columns:
            raise SetupError("--save-columns: there are no columns to store.", "Name them with --columns.")
        return None
    sources = parse_columns(options.columns or "")
    if rubric is not None:
        check_targets(sources, rubric)
    made = ColumnMap.of(sources, parse_labels(options.labels or ""))
    return replace(made, skip_bad_rows=options.skip_bad_rows)


def keep_columns(options: argparse.Namespace, dataset: "Dataset") -> None:
    if options.save_columns:
        from engine.operations.opening import remember_columns

        if told := remember_columns(dataset):
            tell(told)


def read_dataset(
    options: argparse.Namespace, path: Path, cancel: CancelToken | None = None, rubric: Rubric | None = None
) -> "Dataset":
    """The dataset, read by the options. `rubric`: of its labels; None: that of --rubric, or the task's."""
    from engine.data.dataset import load_dataset

    rubric = rubric or rubric_of(options) or ELOQUENT
    dataset = load_dataset(path, rubric, cancel, columns=columns_of(options, rubric))
    keep_columns(options, dataset)
    return dataset


def items_of_run(
    options: argparse.Namespace, run: StoredRun, path: Path | None = None, cancel: CancelToken | None = None
) -> "Dataset":
    """The items of a run, read by the options. Without --dataset there is --gold, which names the file."""
    from engine.results.run_dataset import dataset_of_run

    try:
        dataset = dataset_of_run(run, path, cancel, columns_of(options))
    except SetupError as error:
        if hasattr(options, "dataset") or Step.FIND_DATASET not in error.hint.parts:
            raise
        raise SetupError(error.problem, "Put it back, or name its file with --gold.") from error
    keep_columns(options, dataset)
    return dataset


def files_of_run(options: argparse.Namespace, run: StoredRun, store: Path) -> dict[str, Path]:
    """What is read of a run, its dataset where the options say, so that no output overwrites it."""
    dataset = options.dataset or run.identity.dataset_path
    return {"dataset": dataset, "model": run.identity.model_path, "run store": store}


def add_judge_file(arguments: Parser) -> None:
    """What to say of a SYSTEM that is a file of another judge."""
    arguments.text(
        "--judge-column",
        "COLUMN",
        "of a file with several columns: that of the verdicts",
    )
    arguments.text("--judge-labels", "VALUE=LABEL,...", "what its values mean, such as 1=A,2=B,0=tie")


def judge_column(options: argparse.Namespace) -> JudgeColumn:
    return JudgeColumn.of(options.judge_column, options.judge_labels)


def add_labels_of(arguments: Parser) -> None:
    arguments.add_argument(
        "--labels-of",
        metavar="WHOSE",
        default=LabelSourceKind.LAST.option,
        help="the labels of a run that are used: effective (adjudicated labels, else the latest of the"
        " annotators, else the judge's), adjudicated, majority, judge (only the judge's), or an"
        " annotator's name",
    )
    arguments.add_argument(
        "--judge-only",
        action="store_const",
        dest="labels_of",
        const=LabelSourceKind.JUDGE.option,
        help="the same as --labels-of judge",
    )


def check_suffix(option: str, path: Path | None, what: str, *suffixes: str) -> None:
    """SetupError for an output file of another kind; `what`: what it is, `a report is HTML`."""
    if path is not None and path.suffix.lower() not in suffixes:
        raise SetupError(f"{option} {path}: {what}.", f"Name it {path.stem}{suffixes[0]}")


def add_table_files(arguments: Parser) -> None:
    arguments.file("--latex", "the tables for a paper, in LaTeX")
    arguments.file("--markdown", "the printed report as Markdown")


_WRITTEN = ("out", "json", "csv", "latex", "markdown", "methods_text", "bib")


def written_files(options: argparse.Namespace) -> dict[str, Path | None]:
    """What a command is to write, by the options that name it."""
    return {option_of(name): getattr(options, name, None) for name in _WRITTEN}


def write_json_file(options: argparse.Namespace, what: str, found: object) -> None:
    """Write what --json asks for, if anything, and print its path."""
    if options.json:
        write_json(options.json, found)
        print(f"{what}: {options.json}\n")


def made_by(command: str) -> str:
    return f"Made by Tiebreak {VERSION}, command {command}"


def write_table_files(
    options: argparse.Namespace, command: str, sheet: Sheet, paper: Sheet | None = None
) -> None:
    for path, text, shown in (
        (options.latex, sheet_latex, paper or sheet),
        (options.markdown, sheet_markdown, sheet),
    ):
        if path is not None:
            write_whole(path, text(shown, made_by(command)).encode("utf-8"))
            print(f"Tables: {path}\n")


def option_names(methods: Iterable[Method] = Method) -> str:
    return ", ".join(method.option for method in methods)


def add_settings(group: Options, *names: str) -> None:
    for row in map(rows.row_of, names):
        _add(group, row, row.help)


def add_settings_of(group: Options, surface: rows.Surface, *groups: rows.Group) -> None:
    for row in rows.rows_on(surface, *groups):
        if row.help:
            words = (surface is rows.Surface.PROMPT and row.brief) or row.help
            _add(group, row, re.sub(r"{(\w+)}", lambda name: rows.row_of(name[1]).option, words))


def add_device(group: Options, otherwise: str = "") -> None:
    otherwise = otherwise or "the fastest, if `models devices` has tried this model, else cpu"
    group.text(
        "--device",
        "NAME",
        f"compute device: cpu, or (part of) the name of a GPU, as `models devices` lists them ({otherwise})",
    )
    add_settings(group, "gpu_layers")


def add_machine(group: Options, surface: rows.Surface) -> None:
    add_settings_of(group, surface, rows.Group.COMPUTER)
    add_device(group)
    words = "keep the computer from sleeping meanwhile: always, never, or only on mains power (default)"
    group.choice("--keep-awake", [when.value for when in KeepAwake], words, KeepAwake.MAINS.value)


def add_examples(group: Options) -> None:
    group.file("--examples", "labelled items to show the model as examples")
    group.number("--few-shot", f"number of examples in each prompt ({rows.DEFAULT_SHOTS})", metavar="K")
    group.choice(
        "--few-shot-selection",
        rows.EXAMPLE_KINDS,
        "which examples: fixed, the same for all items (default), or nearest, those whose instructions are"
        " most similar to the item's",
    )


def given_examples(options: argparse.Namespace) -> dict[str, Any]:
    from engine.operations.judge_request import example_settings

    return example_settings(options.examples, options.few_shot, options.few_shot_selection)


def _add(group: Options, row: rows.SettingRow, words: str) -> None:
    words = words.replace("%(default)s", str(getattr(RunSetup, row.name)))  # not argparse's: that is None
    if row.kind is bool:
        group.add_argument(row.option, action="store_true", default=None, help=words)
    elif issubclass(row.kind, StrEnum):
        group.choice(row.option, [member.value for member in row.kind], words)
    else:
        group.add_argument(row.option, type=row.kind, metavar=row.metavar, help=words)


def add_orders(group: Options) -> None:
    from engine.operations.judge_request import BOTH, ONE, UNCERTAIN
    from engine.results.second_order import KEEP

    group.choice(
        "--orders",
        (BOTH, ONE, UNCERTAIN),
        "show the responses in both orders (default); in one, for half the time; or in the second one only"
        " for items that are uncertain after the first",
    )
    group.number(
        "--margin-threshold",
        "an item is uncertain if the margin between its two likeliest labels is below M, 0 to 1"
        f" ({rows.DEFAULT_MARGIN:g})",
        metavar="M",
        kind=float,
    )
    group.number(
        "--margin-threshold-from",
        f"the smallest margin threshold that keeps {KEEP:.0%}".replace("%", " %%")
        + " of this run's labels, as computed by the command orders",
        metavar="RUN",
    )
