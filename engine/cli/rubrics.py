"""`rubrics`: list the bundled rubrics and your own; show, draft or check one.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path
from textwrap import fill

from engine.cli.shared.console import DONE, command_parser, printable
from engine.cli.shared.data_arguments import add_columns, columns_of, read_dataset
from engine.core.errors import InputError, SetupError
from engine.core.formatting import counted
from engine.core.rubric import Rubric
from engine.data.column_memory import remembered
from engine.data.rubrics.files import (
    draft_rubric,
    find_rubric,
    load_rubric,
    own_rubrics,
    rubric_text,
    save_rubric,
    shipped_rubrics,
)
from engine.data.tables import columns_of as file_columns
from engine.system.files import check_targets
from engine.system.paths import is_there, rubrics_folder

_WIDTH = 100


def parser() -> argparse.ArgumentParser:
    """The arguments of `rubrics`."""
    arguments = command_parser(
        "rubrics",
        "List the bundled rubrics with their sources, and your own. A rubric is a TOML file of criteria;\n"
        "judge, prompt and the commands that read labels take one with --rubric.",
    )
    arguments.set_defaults(action=_list)
    actions = arguments.add_subparsers(metavar="ACTION", title="actions (none: list the rubrics)")
    show = actions.add_parser("show", help="print a rubric as TOML, to edit and use as your own")
    show.add_argument("rubric", metavar="NAME|FILE")
    show.set_defaults(action=_show)
    draft = actions.add_parser("draft", help="make a rubric from the label columns of a dataset")
    draft.add_argument("dataset", type=Path, metavar="DATASET")
    draft.add_argument("--out", type=Path, required=True, metavar="FILE.toml", help="the rubric")
    add_columns(draft, "DATASET")
    draft.set_defaults(action=_draft)
    check = actions.add_parser("check", help="print a rubric's questions, or list the problems of its file")
    check.add_argument("file", type=Path, metavar="FILE")
    check.set_defaults(action=_check)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Run the action; the exit code."""
    return int(options.action(options))


def _list(_options: argparse.Namespace) -> int:
    for rubric in shipped_rubrics():
        print(_in_short(rubric.name, rubric))
    if own := own_rubrics():
        print(f"\nYour own, in {printable(str(rubrics_folder()))}:\n")
    for path in own:
        try:
            print(_in_short(path.stem, load_rubric(path)))
        except InputError as error:
            print("\n".join(map(printable, error.problem.splitlines())))
    return DONE


def _in_short(name: str, rubric: Rubric) -> str:
    """Its criteria and its source, one paragraph each."""
    shown = [fill(f"{printable(name)}: {', '.join(rubric.names)}", _WIDTH)]
    indent = "    "
    if rubric.source:
        source = printable(" ".join(rubric.source.split()))
        shown.append(fill(source, _WIDTH, initial_indent=indent, subsequent_indent=indent))
    return "\n".join(shown)


def _show(options: argparse.Namespace) -> int:
    print(rubric_text(find_rubric(options.rubric)), end="")
    return DONE


def _draft(options: argparse.Namespace) -> int:
    path, out = options.dataset, options.out
    if out.suffix.lower() != ".toml":
        raise SetupError(f"--out {out}: a rubric is TOML.", f"Name it {out.stem}.toml")
    if is_there(out):
        raise SetupError(f"--out {out} already exists.", "Choose another name: a draft overwrites nothing.")
    check_targets({"--out": out}, {"dataset": path})
    found, chosen = file_columns(path), columns_of(options)
    known = chosen or remembered(found)
    rubric = draft_rubric([*found, *(known.source_of if known else ())], path.name.partition(".")[0])
    if rubric is None:
        raise InputError(
            path,
            ["has no labels on criteria besides the task's."],
            "A column of labels is called CRITERION_preference, or is named: --columns"
            " clarity_preference=COLUMN. To list the rubrics: rubrics",
        )
    if chosen is not None:
        read_dataset(options, path, rubric=rubric)
    save_rubric(out, rubric)
    print(f"Rubric: {out} with {counted(len(rubric.criteria), 'criterion', 'criteria')}: {_names(rubric)}.")
    print("Its questions are a draft: replace them with the questions of your annotators.")
    return DONE


def _check(options: argparse.Namespace) -> int:
    rubric = load_rubric(options.file)
    n_criteria, own = len(rubric.criteria), len(rubric.wording.own)
    print(
        f"{printable(options.file.name)}: the rubric {printable(rubric.name)} of"
        f" {counted(n_criteria, 'criterion', 'criteria')}, tie threshold {rubric.tie_threshold:g}."
    )
    print(
        "Its wording is the default."
        if not own
        else f"It has its own wording of: {', '.join(rubric.wording.own)}."
    )
    for criterion in rubric.criteria:
        print(f"\n{printable(criterion.name)} (weight {criterion.weight:g}): {printable(criterion.question)}")
        for how, meaning in (("good", criterion.good), ("bad", criterion.bad)):
            if meaning:
                print(f"    {how}: {printable(meaning)}")
    return DONE


def _names(rubric: Rubric) -> str:
    return ", ".join(map(printable, rubric.names))
