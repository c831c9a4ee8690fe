"""Sheets in a terminal.

What all commands share: how they start and end, how they stop, and how they print.
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
from textwrap import wrap
from types import FrameType
from typing import Any, TextIO

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken
from engine.core.formatting import HIDDEN
from engine.core.tables import Facts, Part, Section, Sentences, Sheet, Table
from engine.system.paths import default_store, program, said_of_system

DONE, INCOMPLETE, WRONG_INPUT, FAULT = 0, 1, 2, 3
_ERROR_BOX = 0x10  # MB_ICONERROR
_hears: ContextVar[Callable[[str], None] | None] = ContextVar("hears", default=None)


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Breaks help texts only at spaces, so that a name such as label-tokens can be copied."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width, break_on_hyphens=False)


def command_parser(name: str, description: str) -> argparse.ArgumentParser:
    """A parser whose help keeps the line breaks of the description."""
    return argparse.ArgumentParser(
        prog=f"{program()} {name}",
        description=description,
        formatter_class=_HelpFormatter,
        allow_abbrev=False,
    )


def add_store(arguments: argparse._ActionsContainer, kept: str = "runs and measures") -> None:
    """--store; `kept`: what it holds for this command."""
    arguments.add_argument(
        "--store",
        type=Path,
        default=default_store(),
        metavar="FILE",
        help=f"the run store, which holds {kept} (%(default)s)",
    )


def guarded(action: Callable[[], int]) -> int:
    """Run the program, and turn errors into messages and an exit code."""
    _prepare_streams()
    try:
        code = _exit_code_of(action)
        # Flushed here, where an error can be reported: Python would flush at its end.
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # the outermost handler: no error may end in a traceback
        code, text = _end_by(error)
        with suppress(NotPrintedError):  # this cannot be printed either
            if text:
                tell(text)
        _drop_output()
    return code


def _end_by(error: BaseException) -> tuple[int, str]:
    """The exit code for an error that ended the program, and its message; empty if nobody reads it."""
    error = said_of_system(error) or error
    if isinstance(error, SetupError):
        return WRONG_INPUT, f"{error.problem}\n{OPTIONS.of(error.hint)}"
    if isinstance(error, Cancelled | KeyboardInterrupt):
        return INCOMPLETE, "Stopped."
    if not isinstance(error, NotPrintedError):
        return FAULT, _report_fault(error)
    if isinstance(error.__cause__, BrokenPipeError):  # the reader of our output has closed it
        return INCOMPLETE, ""
    found = f"The output could not be written: {error.strerror}."
    return WRONG_INPUT, f"{found}\nFree some space, or write the output elsewhere."


def _exit_code_of(action: Callable[[], int]) -> int:
    try:
        return action()
    except SystemExit as end:  # how argparse ends, after --help too
        return end.code if isinstance(end.code, int) else DONE


def _drop_output() -> None:
    """Discard output that cannot be written: Python would try again at its end, and print an error."""
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                os.dup2(nothing.fileno(), stream.fileno())


def _report_fault(error: BaseException) -> str:
    """Log a bug of the program in full; its message, with the path of the log."""
    # Imported here: logging would slow every start, and bugs are rare.
    from engine.system.crash_reports import fault_words, log_fault  # noqa: PLC0415

    path = log_fault(error, str(sys.argv))
    return f"This is a bug in Tiebreak, not your error: {fault_words(error)}\nDetails: {path}"


def tell(text: str) -> None:
    """Report something that is not the result: to the current listener, else on stderr, or in a message box
    if Windows gave the program no stderr.
    """
    if (hear := _hears.get()) is not None:
        hear(text)
    else:
        _print(text)


@contextmanager
def told_to(hear: Callable[[str], None] | None) -> Iterator[None]:
    """Within the block `hear` is given what is reported on this thread; None: it is printed."""
    before = _hears.set(hear)
    try:
        yield
    finally:
        _hears.reset(before)


def _print(text: str) -> None:
    if sys.stderr is None:  # of a notebook kernel or a service, where no command has set it up
        return
    print(text, file=sys.stderr, flush=True)
    if sys.platform == "win32" and sys.stderr.name == os.devnull:
        ctypes.windll.user32.MessageBoxW(None, text, "Tiebreak", _ERROR_BOX)


@contextmanager
def interruptible(
    loss: Callable[[], str] = lambda: "",
    at_last: "signal.Handlers | Callable[[int, FrameType | None], Any]" = signal.SIG_DFL,
) -> Iterator[CancelToken]:
    """A token that Ctrl-C or a termination signal sets; a further Ctrl-C runs `at_last`, which ends the
    program at once.

    `loss`: what a stop would lose, and when it would lose nothing, as text. If it is not empty, the first
    Ctrl-C lets the work end there, and the second one stops it.
    """
    cancel = CancelToken()

    def stop(number: int, _frame: FrameType | None) -> None:
        lost = "" if cancel.ending or number != signal.SIGINT else loss()
        if lost:
            cancel.end_soon()
            text = f"{lost} Press Ctrl-C again to stop now."
        else:
            cancel.cancel()
            if number == signal.SIGINT:  # else an earlier Ctrl-C may arrive after the termination signal
                signal.signal(signal.SIGINT, at_last)
            text = "Stopping ..."
        # The signal may have come in the middle of another message, which must not be entered twice.
        with suppress(OSError, RuntimeError):
            _print(f"\n{text}")

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
    """Start a thread that wakes when a signal comes, so that the main thread checks for signals.

    Python before 3.13 forgets a pending signal if the system delivers the next one to another thread: the
    main thread would see neither as long as it computes and no other thread runs.
    """
    if sys.platform == "win32":  # there, a pending signal is never forgotten
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
    """Untrusted text for a terminal: unprintable characters, such as escape sequences, are escaped."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


class NotPrintedError(OSError):
    """Output could not be written; its cause is the error of the system."""


class _MarkedStream:
    """A text stream that marks its own write errors. Everything else is passed to the stream below."""

    def __init__(self, stream: TextIO) -> None:
        self.stream: Any = stream

    def write(self, text: str) -> int:
        """Write a text. NotPrintedError."""
        with _printing():
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream. NotPrintedError."""
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
    """A text stream to which untrusted text can be printed: its control characters are escaped.

    All output of the commands goes through one, so that no file can move the cursor or change the title of a
    terminal. `stream`: the one below, for output that moves the cursor on purpose.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = _MarkedStream(stream)

    def write(self, text: str) -> int:
        """Write a text; its escapes are valid in JSON, too. NotPrintedError."""
        self.stream.write(HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        return len(text)


def raw_stderr() -> TextIO:
    """The stream for a progress bar, which returns to the beginning of its line; without stderr, one that
    nobody reads.
    """
    stream: TextIO = sys.stderr or StringIO()
    return stream.stream if isinstance(stream, SafeStream) else stream


def _prepare_streams() -> None:
    """Allow text of any script, also on a Windows console; ignore closed streams."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, SafeStream):
            continue
        if stream is None:
            stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - never closed
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
        setattr(sys, name, SafeStream(stream))


def print_sheet(sheet: Sheet) -> None:
    """Print its title and sections, separated by empty lines."""
    print("\n\n".join([printable(sheet.title), *map(printed_section, sheet.sections)]))


def printed_section(section: Section) -> str:
    """The title, the parts that a terminal can show, and the note in brackets."""
    title = f"{printable(section.title)}:" if section.title else ""
    parts = "\n\n".join(filter(None, map(_printed_part, section.parts)))
    note = f"({printable(section.note)})" if section.note else ""
    return "\n".join(filter(None, [title, parts, note]))


def _printed_part(part: Part) -> str:
    match part:
        case Table():
            return printed(part)
        case Sentences():
            return "\n".join(map(printable, part.texts))
        case Facts():
            width = max((len(name) for name, _ in part.pairs), default=0)
            return "\n".join(f"{name.ljust(width)}  {printable(value)}" for name, value in part.pairs)
        case _:
            return ""  # a picture
