"""Errors and warnings of Python, in place of the messages of the terminal.

Knows: how the engine's errors and notices become these. Does not know: what any call does.
"""

import contextlib
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.api.wording import PARAMETERS
from engine.commands.shared.console import interruptible, told_to
from engine.core.cancel import Cancelled, CancelToken
from engine.core.errors import SetupError
from engine.system.places import said_of_system

_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
_NOT_THE_CALLER = (str(Path(__file__).resolve().parents[1]), str(contextlib.__file__))
"""Path prefixes of the engine's files, and of those between a decorated function and its caller."""


class Refused(Exception):
    """A request cannot be done as given; the user can fix it.

    `problem`: the place and what was found. `hint`: the next step, by parameters and methods, or by a command
    if these have no such step. `str` gives both. Its cause is the engine's own error.
    """

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem, hint)
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return "\n".join(map(str, (self.problem, self.hint)))


class TiebreakNotice(UserWarning):
    """A notice on data, a model or a run, which can be used all the same.

    To hide notices: `warnings.simplefilter("ignore", tiebreak.Notice)`.
    """


def notice(text: str) -> None:
    """Warn, with the calling line outside of the engine as the source."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_CALLER):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, TiebreakNotice, stacklevel=level)


@contextmanager
def in_python() -> Iterator[None]:
    """Within the block, or in a decorated function, messages become warnings; SetupError and errors of the
    system are raised as Refused, a stop as KeyboardInterrupt.
    """
    with told_to(notice):
        try:
            yield
        except SetupError as error:
            raise _refused(error) from error
        except OSError as error:
            known = said_of_system(error)
            if known is None:
                raise
            raise _refused(known) from error
        except Cancelled as error:
            raise KeyboardInterrupt("Stopped.") from error


def _refused(error: SetupError) -> Refused:
    return Refused(_by_parameters(str(error.problem)), _by_parameters(PARAMETERS.of(error.hint)))


def _by_parameters(text: str) -> str:
    """A text with parameters in place of the options of the same names; a text with a command is left as it
    is.
    """
    return text if "main.py" in text else _OPTION.sub(_parameter, text)


def _parameter(option: re.Match[str]) -> str:
    return "methods" if option[1] == "method" else option[1].replace("-", "_")


@contextmanager
def stoppable(loss: Callable[[], str] = lambda: "") -> Iterator[CancelToken]:
    """A token that Ctrl-C sets; on another thread than the main one, which alone receives Ctrl-C, it is never
    set. `loss`: what a stop would lose, as text.
    """
    if threading.current_thread() is not threading.main_thread():
        yield CancelToken()
        return
    # A further Ctrl-C must not end the program, which is a notebook.
    with interruptible(loss, signal.default_int_handler) as cancel:
        yield cancel
