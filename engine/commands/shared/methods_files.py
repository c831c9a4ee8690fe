"""What the commands share that say for a paper how something was made: the paragraph and its bibliography.

Knows: arguments. Does not know: what is said of what.
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
    """--methods and --bib."""
    arguments.add_argument(
        "--methods", type=Path, metavar="FILE", help="a paragraph on how it was made, with sources"
    )
    arguments.add_argument(
        "--bib",
        type=Path,
        metavar="FILE.bib",
        help="with --methods: the works that it cites, as BibTeX; the paragraph is LaTeX then",
    )


def methods_targets(options: argparse.Namespace) -> Mapping[str, Path | None]:
    """What will be written, for who looks at that before long work. SetupError for --bib alone."""
    if options.bib and not options.methods:
        raise SetupError(
            "--bib holds the works that a paragraph cites, and none is asked for.",
            "Name a file for the paragraph too: --methods FILE.tex",
        )
    return {"--methods": options.methods, "--bib": options.bib}


def write_methods(options: argparse.Namespace, command: str, said: Sequence[Statement]) -> None:
    """Write what is asked for, and say so."""
    if not options.methods:
        return
    made_by = f"Made by Tiebreak {VERSION}, command {command}"
    text = methods_latex(said, made_by) if options.bib else methods_text(said)
    write_whole(options.methods, text.encode("utf-8"))
    print(f"Methods: {options.methods}\n")
    if options.bib:
        works = chain.from_iterable(each.works for each in said)
        write_whole(options.bib, bibliography(works).encode("utf-8"))
        print(f"Works that it cites: {options.bib}\n")
