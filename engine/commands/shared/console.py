"""What all commands share: how they start and end, how they stop, and how they print.

Knows: the terminal, exit codes, signals. Does not know: what any command does.
"""

import argparse
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from engine.commands.shared.remedies import OPTIONS
from engine.core.cancel import Cancelled, CancelToken
from engine.core.errors import SetupError
from engine.core.formatting import HIDDEN
from engine.core.value_tables import Table
from engine.system.paths import default_store, program
from engine.system.places import said_of_system

DONE, INCOMPLETE, WRONG_INPUT, FAULT = 0, 1, 2, 3
_ERROR_BOX = 0x10  # MB_ICONERROR
_hears: ContextVar[Callable[[str], None] | None] = ContextVar("hears", default=None)


def command_parser(name: str, description: str) -> argparse.ArgumentParser:
    """A parser whose help keeps the lines of the description."""
    return argparse.ArgumentParser(
        prog=f"{program()} {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_store(arguments: argparse._ActionsContainer, kept: str = "runs and measures") -> None:
    """--store; `kept`: what the command keeps there."""
    arguments.add_argument(
        "--store",
        type=Path,
        default=default_store(),
        metavar="FILE",
        help=f"where {kept} are kept (%(default)s)",
    )


def guarded(action: Callable[[], int]) -> int:
    """Do the whole work of the program, and turn what went wrong into words and an exit code."""
    _prepare_streams()
    try:
        code = _exit_code_of(action)
        # Here, where its failure can be said: Python would write the rest after its end.
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # the outermost place: nothing may end in a traceback
        code, said = _end_by(error)
        with suppress(NotPrintedError):  # neither can this be said
            if said:
                tell(said)
        _drop_output()
    return code


def _end_by(error: BaseException) -> tuple[int, str]:
    """The exit code where an error ended the program, and what is said of it; nothing where nobody reads."""
    error = said_of_system(error) or error
    if isinstance(error, SetupError):
        return WRONG_INPUT, f"{error.problem}\n{OPTIONS.of(error.remedy)}"
    if isinstance(error, Cancelled | KeyboardInterrupt):
        return INCOMPLETE, "Stopped."
    if not isinstance(error, NotPrintedError):
        return FAULT, _report_fault(error)
    if isinstance(error.__cause__, BrokenPipeError):  # whoever read our output has gone
        return INCOMPLETE, ""
    found = f"What was to be printed could not be written: {error.strerror}."
    return WRONG_INPUT, f"{found}\nMake room, or print elsewhere."


def _exit_code_of(action: Callable[[], int]) -> int:
    try:
        return action()
    except SystemExit as end:  # how argparse ends, after --help too
        return end.code if isinstance(end.code, int) else DONE


def _drop_output() -> None:
    """Let what cannot be written go nowhere: Python would try again at its end, and complain."""
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                os.dup2(nothing.fileno(), stream.fileno())


def _report_fault(error: BaseException) -> str:
    """Log a fault of the program whole; what is said of it, with where."""
    # Only now: every start would wait for what logging imports, and faults are rare.
    from engine.system.fault_log import fault_words, log_fault  # noqa: PLC0415

    path = log_fault(error, str(sys.argv))
    return f"This is a fault of Tiebreak, not yours: {fault_words(error)}\nDetails: {path}"


def tell(text: str) -> None:
    """Say something that is not the result: to whoever hears it, else on stderr, or in a box of its own where
    Windows gave us none.
    """
    if (hear := _hears.get()) is not None:
        hear(text)
    else:
        _print(text)


@contextmanager
def told_to(hear: Callable[[str], None] | None) -> Iterator[None]:
    """Within the block `hear` is given what is told, on this thread; None: it is printed."""
    before = _hears.set(hear)
    try:
        yield
    finally:
        _hears.reset(before)


def _print(text: str) -> None:
    if sys.stderr is None:  # of a notebook's kernel or a service, which no command has prepared
        return
    print(text, file=sys.stderr, flush=True)
    if sys.platform == "win32" and sys.stderr.name == os.devnull:
        ctypes.windll.user32.MessageBoxW(None, text, "Tiebreak", _ERROR_BOX)


@contextmanager
def interruptible(
    loss: Callable[[], str] = lambda: "",
    at_last: "signal.Handlers | Callable[[int, FrameType | None], Any]" = signal.SIG_DFL,
) -> Iterator[CancelToken]:
    """A token that Ctrl-C or a request to end sets; one more Ctrl-C after that does what `at_last` says: it
    ends the program at once.

    `loss`: what a stop would lose and when it would lose nothing, in words. Where it is not empty, the first
    Ctrl-C lets the work end there, and the second one stops it.
    """
    cancel = CancelToken()

    def stop(number: int, _frame: FrameType | None) -> None:
        lost = "" if cancel.ending or number != signal.SIGINT else loss()
        if lost:
            cancel.end_soon()
            said = f"{lost} Press Ctrl-C again to stop now."
        else:
            cancel.cancel()
            if number == signal.SIGINT:  # else a Ctrl-C from before the request to end may come after it
                signal.signal(signal.SIGINT, at_last)
            said = "Stopping ..."
        # The signal may have come in the middle of another message, which must not be entered twice.
        with suppress(OSError, RuntimeError):
            _print(f"\n{said}")

    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform == "win32":
        numbers.append(signal.SIGBREAK)
    with _signals_noticed():
        before = {number: signal.signal(number, stop) for number in numbers}
        try:
            yield cancel
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _signals_noticed() -> Iterator[None]:
    """Have a thread wake when a signal comes, which has the main thread look for signals.

    Python before 3.13 takes the note of a signal away again where the system gives the next one to another
    thread: the main thread would not see either, as long as it computes and no thread wants its turn.
    """
    if sys.platform == "win32":  # there, that note is always left
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    waking = threading.Thread(target=_read_to_end, args=(reading,), name="wakes at signals", daemon=True)
    waking.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        waking.join()
        os.close(reading)


def _read_to_end(pipe: int) -> None:
    while os.read(pipe, 4096):
        pass


def printed(made: Table) -> str:
    """A table of values as text."""
    return table(made.titles, made.texts())


def table(header: Sequence[str], rows: Sequence[Sequence[str]], texts: Collection[int] = (0,)) -> str:
    """Columns side by side; those of `texts` are aligned left, the others right."""
    shown = [[printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[index]) for row in shown) for index in range(len(header))]
    lines = []
    for row in shown:
        cells = [
            cell.ljust(width) if index in texts else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def printable(text: str) -> str:
    """Foreign text for a terminal: what is not printable, such as an escape sequence, is written out."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


class NotPrintedError(OSError):
    """What was printed could not be written; its cause is what the system said."""


class _MarkedStream:
    """A text stream that says of its own errors whose they are. Everything else is that of the one below."""

    def __init__(self, stream: TextIO) -> None:
        self.stream: Any = stream

    def write(self, text: str) -> int:
        """Write a text. NotPrintedError."""
        with _printing():
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what waits. NotPrintedError."""
        with _printing():
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def _printing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotPrintedError(error.errno, error.strerror) from error


class SafeStream(_MarkedStream):
    """A text stream to which foreign text can be printed: its control characters are written out.

    All that the commands print goes through one, so that no file can move the cursor or change the title of a
    terminal. `stream`: the one below, for what moves the cursor itself.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = _MarkedStream(stream)

    def write(self, text: str) -> int:
        """Write a text; what is written out is valid in JSON, too. NotPrintedError."""
        self.stream.write(HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        return len(text)


def raw_stderr() -> TextIO:
    """The stream for a progress bar, which goes back to the beginning of its line; where there is none, one
    that nobody reads.
    """
    stream: TextIO = sys.stderr or StringIO()
    return stream.stream if isinstance(stream, SafeStream) else stream


def _prepare_streams() -> None:
    """Text of any script can be printed, also on a Windows console, and closed streams take it quietly."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, SafeStream):
            continue
        if stream is None:
            stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for good
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
        setattr(sys, name, SafeStream(stream))
