"""What all commands share: how they start and end, how they stop, and how they print, sheets among it."""

import argparse
import ctypes
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from inspect import cleandoc
from io import StringIO
from pathlib import Path
from textwrap import wrap
from typing import Any, NoReturn, TextIO, TypeAlias

from engine.cli.shared.hints import OPTIONS
from engine.core import events
from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken
from engine.core.formatting import HIDDEN
from engine.core.tables import Facts, Part, Section, Sentences, Sheet, Table
from engine.system.paths import default_store, program, said_of_system

DONE, INCOMPLETE, WRONG_INPUT, FAULT = 0, 1, 2, 3
_ERROR_BOX = 0x10  # MB_ICONERROR


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    # Breaks help texts only at spaces, so that a name such as label-tokens can be copied.
    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Options(argparse._ActionsContainer):
    """What has options, a parser or a group of one, and takes them in one line each."""

    def file(self, name: str, words: str, *, metavar: str = "FILE", required: bool = False) -> None:
        self.add_argument(name, type=Path, metavar=metavar, required=required, help=words)

    def text(self, name: str, metavar: str, words: str) -> None:
        self.add_argument(name, metavar=metavar, help=words)

    def repeated(self, name: str, metavar: str, words: str, dest: str | None = None) -> None:
        self.add_argument(name, action="append", default=[], metavar=metavar, help=words, dest=dest)

    def number(
        self,
        name: str,
        words: str,
        *,
        metavar: str = "N",
        kind: type[int] | type[float] = int,
        default: float | None = None,
    ) -> None:
        self.add_argument(name, type=kind, default=default, metavar=metavar, help=words)

    def choice(self, name: str, choices: Iterable[str], words: str, default: str | None = None) -> None:
        self.add_argument(name, choices=list(choices), default=default, help=words)

    def flag(self, name: str, words: str) -> None:
        self.add_argument(name, action="store_true", help=words)

    def store(self, kept: str = "runs and measures") -> None:
        words = f"the run store, which holds {kept} (%(default)s)"
        self.add_argument("--store", type=Path, default=default_store(), metavar="FILE", help=words)


class OptionGroup(Options, argparse._ArgumentGroup):
    """Options under a heading of their own."""


class Parser(Options, argparse.ArgumentParser):
    """The parser of a command, or of one of its actions."""

    def add_argument_group(self, *title: Any, **more: Any) -> OptionGroup:
        group = OptionGroup(self, *title, **more)
        self._action_groups.append(group)  # as argparse does with its own
        return group

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """As argparse does, but the message is seen without a terminal, too."""
        if message:
            tell(message.rstrip())
        sys.exit(status)


def command_parser(
    named: Callable[[], "Parser"], run: Callable[[argparse.Namespace], int | None], description: str = ""
) -> Parser:
    """The parser of the command that is called as the function `named`, whose docstring describes it unless
    `description` does. `run`, which returns the exit code, None for DONE, is its `command`.
    """
    title = f"{program()} {named.__name__.replace('_', '-')}"
    words = description or cleandoc(named.__doc__ or "")
    made = Parser(prog=title, description=words, formatter_class=_HelpFormatter, allow_abbrev=False)
    made.set_defaults(command=lambda options: run(options) or DONE)
    return made


Actions: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_action(
    actions: Actions, name: str, do: Callable[..., int | None], words: str, *, of_run: str = ""
) -> Parser:
    """One of the actions of a command, `do` as its `action`; `of_run`: how the id that it takes is called."""
    made = actions.add_parser(name, help=words)
    made.set_defaults(action=do)
    if of_run:
        made.add_argument("id", type=int, metavar=of_run)
    return made


def guarded(action: Callable[[], int]) -> int:
    _prepare_streams()
    try:
        try:
            code = action()
        except SystemExit as end:  # how argparse ends, after --help too
            code = end.code if isinstance(end.code, int) else DONE
        # Flushed here, where an error can be reported: Python would flush at its end.
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # the outermost handler: no error may end in a traceback
        code, text = _end_by(error)
        with suppress(NotPrintedError):  # this cannot be printed either
            if text:
                tell(text)
        # Python would try again at its end, and print an error.
        with Path(os.devnull).open("w", encoding="utf-8") as nothing:
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except OSError:
                    os.dup2(nothing.fileno(), stream.fileno())
    return code


def _end_by(error: BaseException) -> tuple[int, str]:
    error = said_of_system(error) or error
    if isinstance(error, SetupError):
        return WRONG_INPUT, f"{OPTIONS.of(error.said)}\n{OPTIONS.of(error.hint)}"
    if isinstance(error, Cancelled | KeyboardInterrupt):
        return INCOMPLETE, "Stopped."
    if not isinstance(error, NotPrintedError):
        # Imported here: logging would slow every start, and bugs are rare.
        from engine.system.crash_reports import fault_words, log_fault

        path = log_fault(error, str(sys.argv))
        return FAULT, f"This is a bug in Tiebreak, not your error: {fault_words(error)}\nDetails: {path}"
    if isinstance(error.__cause__, BrokenPipeError):  # the reader of our output has closed it
        return INCOMPLETE, ""
    found = f"The output could not be written: {error.strerror}."
    return WRONG_INPUT, f"{found}\nFree some space, or write the output elsewhere."


def tell(text: str) -> None:
    """Report what is not the result: on stderr, or in a message box where Windows gave the program none."""
    print(text, file=sys.stderr, flush=True)
    if sys.platform == "win32" and not has_terminal():
        ctypes.windll.user32.MessageBoxW(None, text, "Tiebreak", _ERROR_BOX)


def has_terminal() -> bool:
    """Whether what is printed on stderr can be read: on Windows a program of the window has none."""
    # `_prepare_streams` gave it one that nobody reads. A program that embeds us may have one without a name.
    return getattr(sys.stderr, "name", "") != os.devnull


def interruptible(loss: Callable[[], str] = lambda: "") -> AbstractContextManager[CancelToken]:
    """A token that Ctrl-C or a termination signal sets; a further Ctrl-C ends the program at once."""
    return events.interruptible(tell, loss)


def printed(made: Table) -> str:
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


# Else a full disk under the output would look like one under a file that the command writes.
class _MarkedStream:
    """A text stream whose own write errors are NotPrintedError; the rest is passed to the stream below."""

    def __init__(self, stream: TextIO) -> None:
        self.stream: Any = stream

    def write(self, text: str) -> int:
        with _printing():
            self.stream.write(text)
        return len(text)

    def flush(self) -> None:
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
    """A text stream to which foreign text can be printed: its control characters are escaped. So no file can
    move the cursor of a terminal. `stream`: the one below, for output that moves it on purpose.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = _MarkedStream(stream)

    def write(self, text: str) -> int:
        """Its escapes are valid in JSON, too. NotPrintedError."""
        self.stream.write(HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
        return len(text)


def raw_stderr() -> TextIO:
    """For a progress bar, which returns to the beginning of its line; without stderr nobody reads it."""
    stream: TextIO = sys.stderr or StringIO()
    return stream.stream if isinstance(stream, SafeStream) else stream


def _prepare_streams() -> None:
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
    print("\n\n".join([printable(sheet.title), *map(printed_section, sheet.sections)]))


def printed_section(section: Section) -> str:
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
