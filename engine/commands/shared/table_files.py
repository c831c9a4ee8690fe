"""What the commands share that write files beside what they print: JSON, CSV, LaTeX for papers, Markdown.

Knows: arguments, how files of each form are called. Does not know: how sheets are written, what they say.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from engine.core import VERSION
from engine.core.sheet_texts import sheet_latex, sheet_markdown
from engine.core.sheets import Sheet
from engine.system.files import write_whole

_TEXTS = {"csv", "htm", "html", "json", "jsonl", "md", "tex", "toml", "tsv", "txt"}
_FORMS = _TEXTS | {"bib", "gguf", "parquet", "pdf", "png", "svg", "xlsx"}


def written_as(form: str, suffix: str, *others: str) -> Callable[[str], Path]:
    """For `type` of an argument: a path to which something is written in a form, whose names end in `suffix`
    or one of the others; refused where its own end says another form.
    """

    def path_of(text: str) -> Path:
        path = Path(text)
        if path.suffix.lower()[1:] in _FORMS - {suffix, *others}:
            raise argparse.ArgumentTypeError(f"{text}: {form} is written there. Name it {path.stem}.{suffix}")
        return path

    return path_of


as_json, as_csv = written_as("JSON", "json"), written_as("CSV", "csv")
_as_latex, _as_markdown = written_as("LaTeX", "tex"), written_as("Markdown", "md", "txt")


def add_table_files(arguments: argparse.ArgumentParser) -> None:
    """--latex and --markdown."""
    arguments.add_argument("--latex", type=_as_latex, metavar="FILE", help="its tables for a paper, LaTeX")
    arguments.add_argument(
        "--markdown", type=_as_markdown, metavar="FILE", help="what is printed, as Markdown"
    )


def table_targets(options: argparse.Namespace) -> Mapping[str, Path | None]:
    """What will be written of them, for who looks at that before long work."""
    return {"--latex": options.latex, "--markdown": options.markdown}


def write_table_files(
    options: argparse.Namespace, command: str, sheet: Sheet, paper: Sheet | None = None
) -> None:
    """Write what is asked for, and say so; `paper`: what of it goes into LaTeX, where that is not all."""
    made_by = f"Made by Tiebreak {VERSION}, command {command}"
    _write(options.latex, sheet_latex, paper or sheet, made_by)
    _write(options.markdown, sheet_markdown, sheet, made_by)


def _write(path: Path | None, text: Callable[[Sheet, str], str], sheet: Sheet, made_by: str) -> None:
    if path is not None:
        write_whole(path, text(sheet, made_by).encode("utf-8"))
        print(f"Tables: {path}\n")
