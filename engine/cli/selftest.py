"""`selftest`: whether each part of the program works here; it loads little, to run without llama.cpp."""

import argparse

from engine.cli.shared.console import DONE, INCOMPLETE, Parser, command_parser, interruptible, printable
from engine.cli.shared.hints import OPTIONS
from engine.core.events import followed
from engine.operations.diagnostics import tell_diagnostics
from engine.operations.self_test import self_test

_CHECK_WIDTH = 26


def selftest() -> Parser:
    """Test each part of the program on this computer: its folders, a run store, the demo model in a
    child process, judging two items. The exit code is 1 if a check failed.
    """
    made = command_parser(selftest, _selftest)
    made.flag(
        "--diagnostics",
        "test nothing; print versions, computer, settings and the last bug, for a bug report."
        " It contains no texts and no names of datasets, models or annotators",
    )
    return made


def _selftest(options: argparse.Namespace) -> int:
    if options.diagnostics:
        with interruptible() as cancel:
            for line in followed(tell_diagnostics(cancel)).splitlines():
                print(printable(line))
        return DONE
    failed = 0
    with interruptible() as cancel:
        for check in self_test(cancel):
            failed += not check.passed
            word = "passed" if check.passed else "FAILED"
            print(f"{word}  {check.name.ljust(_CHECK_WIDTH)}{printable(check.found)}", flush=True)
            if check.hint:
                print(f"        {''.ljust(_CHECK_WIDTH)}{printable(OPTIONS.of(check.hint))}", flush=True)
    print("All checks passed." if not failed else f"Failed: {failed}.")
    return INCOMPLETE if failed else DONE
