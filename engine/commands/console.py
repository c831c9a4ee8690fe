"""What all commands share: how they start and end, how they stop, and how they print.

Knows: the terminal, exit codes, signals. Does not know: what any command does.
"""

import argparse
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from logging.handlers import RotatingFileHandler
from types import FrameType

from engine.cancel import Cancelled, CancelToken
from engine.errors import EngineBug, SetupError
from engine.paths import log_folder
from engine.version import VERSION

log = logging.getLogger(__name__)

DONE, INCOMPLETE, WRONG_INPUT, FAULT = 0, 1, 2, 3


def command_parser(name: str, description: str) -> argparse.ArgumentParser:
    """A parser whose help shows defaults and keeps the description's lines."""
    return argparse.ArgumentParser(
        prog=f"main.py {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def run_command(
    parser: argparse.ArgumentParser,
    run: Callable[[argparse.Namespace], int],
    arguments: Sequence[str],
) -> int:
    """Parse, run, and turn what went wrong into words and an exit code."""
    _speak_utf8()
    options = parser.parse_args(arguments)
    try:
        return run(options)
    except SetupError as error:
        tell(f"{error.problem}\n{error.remedy}")
        return WRONG_INPUT
    except (Cancelled, KeyboardInterrupt):
        tell("Stopped.")
        return INCOMPLETE
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody left to tell.
        sys.stdout = None
        return INCOMPLETE
    except Exception as error:  # the outermost place: nothing may end in a traceback
        return _report_fault(error)


def _report_fault(error: Exception) -> int:
    """Log a fault of the program whole, and say where."""
    path = log_folder() / "tiebreak.log"
    handler: logging.Handler = logging.NullHandler()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(path, maxBytes=1_000_000, backupCount=3, encoding="utf-8")
    log.addHandler(handler)
    log.error("Tiebreak %s, %s", VERSION, sys.argv, exc_info=error)
    log.removeHandler(handler)
    handler.close()
    what = str(error) if isinstance(error, EngineBug) else f"{type(error).__name__}: {error}"
    tell(f"This is a fault of Tiebreak, not yours: {what}\nWhat was judged is kept. Details: {path}")
    return FAULT


def tell(text: str) -> None:
    """Say something that is not the result, on stderr."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def interruptible() -> Iterator[CancelToken]:
    """A token that Ctrl-C or a request to end sets; a second Ctrl-C ends the program at once."""
    cancel = CancelToken()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        tell("\nStopping ...")
        cancel.cancel()
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield cancel
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side; the first is aligned left, the others right."""
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]
    lines = []
    for row in (header, *rows):
        first, *others = (cell for cell in row)
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def percent(share: float | None) -> str:
    """A share (0 to 1) for a table; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f} %"


def megabytes(size: float) -> str:
    """A size in bytes, for people."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _speak_utf8() -> None:
    """Ids and texts of any script can be printed, also on a Windows console with another code page."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
