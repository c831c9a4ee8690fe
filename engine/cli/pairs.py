"""`pairs`: make a dataset of pairs from the outputs of several candidate models, one file each.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path

from engine.cli.shared.console import DONE, command_parser, interruptible, print_sheet
from engine.core.column_map import parse_columns
from engine.data.outputs import read_instructions, read_outputs
from engine.data.pairs import make_pairs, match_outputs
from engine.data.submission import check_suffix
from engine.report.pairs import pairs_sheet
from engine.settings.sampling import PairsPlan
from engine.system.files import check_targets
from engine.system.paths import program


def parser() -> argparse.ArgumentParser:
    """The arguments of `pairs`."""
    arguments = command_parser(
        "pairs",
        "Make a dataset of pairs from the outputs of several candidate models for the same instructions.\n"
        "Each FILE holds the outputs of one model: a table with an instruction and its output in each row,\n"
        "as AlpacaEval, Arena-Hard and MT-Bench write them. The default pairing is round robin.",
    )
    arguments.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="the outputs of one candidate model"
    )
    arguments.add_argument(
        "--out", type=Path, required=True, metavar="DATASET", help="the dataset (.tsv, .json, .parquet)"
    )
    arguments.add_argument("--baseline", metavar="NAME", help="pair each candidate only with this baseline")
    arguments.add_argument(
        "--pairs",
        type=int,
        metavar="N",
        help="sample N pairs: a balanced subset, with every candidate and instruction equally often",
    )
    arguments.add_argument(
        "--seed", type=int, default=PairsPlan.seed, metavar="N", help="the seed of this sample (%(default)s)"
    )
    arguments.add_argument(
        "--instructions",
        type=Path,
        metavar="FILE",
        help="the instructions by id, if the outputs have only ids (Arena-Hard's question.jsonl)",
    )
    arguments.add_argument(
        "--columns",
        default="",
        metavar="OURS=THEIRS,...",
        help="the columns for id, instruction, output and candidate: instruction=prompt,output=text",
    )
    return arguments


def run(options: argparse.Namespace) -> int:
    """Read, pair, write and print."""
    plan = PairsPlan(options.baseline, options.pairs, options.seed)
    columns = parse_columns(options.columns, of_outputs=True)
    check_suffix(options.out)
    read = {f"outputs {path}": path for path in options.files}
    if options.instructions is not None:
        read["instructions"] = options.instructions
    check_targets({"--out": options.out}, read)
    with interruptible() as cancel:
        questions = None
        if options.instructions is not None:
            questions = read_instructions(options.instructions, columns, cancel)
        matched = match_outputs([read_outputs(path, columns, cancel) for path in options.files], questions)
    made = make_pairs(matched, plan)
    made.write(options.out)
    print_sheet(pairs_sheet(made, options.out))
    print(f"\nDataset: {options.out}. Judge it: {program()} judge {options.out} --model FILE")
    return DONE
