"""What a person at a notebook meets in the place of the terminal's messages: errors and warnings of Python.

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
"""Where the files begin that are ours, or lie between a decorated function and whoever calls it."""


class Refused(Exception):
    """What was asked for cannot be done, and the person who asked can mend it.

    `problem`: where it is and what was found. `remedy`: the next step, in parameters and methods, or by a
    command where these have no such step. As text it is both. Its cause is the engine's own error.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return "\n".join(map(str, (self.problem, self.remedy)))


class TiebreakNotice(UserWarning):
    """What a person should know of data, a model or a run, and what does not keep it from being used.

    To see none: `warnings.simplefilter("ignore", tiebreak.Notice)`.
    """


def notice(text: str) -> None:
    """Warn of something, in the name of the line outside of the engine that called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_CALLER):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, TiebreakNotice, stacklevel=level)


@contextmanager
def in_python() -> Iterator[None]:
    """Within the block, or in a function decorated with it, what would be told is warned of; SetupError and
    what the system refuses are raised as Refused, a stop as KeyboardInterrupt.
    """
    with told_to(notice):
        try:
            yield
        except SetupError as error:
            raise _refused(error) from error
        except OSError as error:
            said = said_of_system(error)
            if said is None:
                raise
            raise _refused(said) from error
        except Cancelled as error:
            raise KeyboardInterrupt("Stopped.") from error


def _refused(error: SetupError) -> Refused:
    return Refused(_by_parameters(str(error.problem)), _by_parameters(PARAMETERS.of(error.remedy)))


def _by_parameters(text: str) -> str:
    """What a command would say of its options, of the parameters of the same names; a command is left as it
    is.
    """
    return text if "main.py" in text else _OPTION.sub(lambda option: option[1].replace("-", "_"), text)


@contextmanager
def stoppable(loss: Callable[[], str] = lambda: "") -> Iterator[CancelToken]:
    """A token that Ctrl-C sets; elsewhere than on the main thread, which alone hears of it, one that nobody
    sets. `loss`: what a stop would lose, in words.
    """
    if threading.current_thread() is not threading.main_thread():
        yield CancelToken()
        return
    # One more Ctrl-C does not end the program, which is a notebook.
    with interruptible(loss, signal.default_int_handler) as cancel:
        yield cancel
