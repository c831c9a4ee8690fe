"""The methods paragraph for a paper, with its bibliography, for the commands that write one.

Knows: arguments. Does not know: the text.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from engine.core import VERSION
from engine.core.errors import SetupError
from engine.report.methods import Statement, methods_latex, methods_text
from engine.report.works import bibliography
from engine.system.files import write_whole


def add_methods(arguments: argparse.ArgumentParser) -> None:
    """--methods-text and --bib."""
    arguments.add_argument(
        "--methods-text",
        type=Path,
        metavar="FILE",
        help="a paragraph on the methods for a paper, with references",
    )
    arguments.add_argument(
        "--bib",
        type=Path,
        metavar="FILE.bib",
        help="with --methods-text: its references as BibTeX; the paragraph is then LaTeX",
    )


def methods_targets(options: argparse.Namespace) -> Mapping[str, Path | None]:
    """The files to write, to be checked before long work. SetupError for --bib alone."""
    if options.bib and not options.methods_text:
        raise SetupError(
            "--bib writes the references of a methods paragraph, and none is requested.",
            "Also name a file for the paragraph: --methods-text FILE.tex",
        )
    return {"--methods-text": options.methods_text, "--bib": options.bib}


def write_methods(options: argparse.Namespace, command: str, statements: Sequence[Statement]) -> None:
    """Write the requested files, and print their paths."""
    if not options.methods_text:
        return
    made_by = f"Made by Tiebreak {VERSION}, command {command}"
    text = methods_latex(statements, made_by) if options.bib else methods_text(statements)
    write_whole(options.methods_text, text.encode("utf-8"))
    print(f"Methods: {options.methods_text}\n")
    if options.bib:
        works = chain.from_iterable(each.works for each in statements)
        write_whole(options.bib, bibliography(works).encode("utf-8"))
        print(f"References: {options.bib}\n")
