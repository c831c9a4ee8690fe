"""The printed report as files: LaTeX tables for papers, and Markdown.

Knows: arguments. Does not know: how reports are written, their content.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.core import VERSION
from engine.core.sheet_texts import sheet_latex, sheet_markdown
from engine.core.sheets import Sheet
from engine.system.files import write_whole


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
