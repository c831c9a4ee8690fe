"""The program as its user starts it: in a child process, or without one where only the words count."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from engine.cli.shared.console import WRONG_INPUT, guarded
from main import parser_of

ROOT = Path(__file__).resolve().parent.parent
MAIN = ROOT / "main.py"
_HANGS = 600  # seconds: the whole demo on one core that others use too takes some minutes


def start(*arguments: object) -> subprocess.Popen[str]:
    """A command at work; its output is text."""
    return start_python(MAIN, *arguments)


def start_python(*arguments: object, cwd: Path | None = None, **how: Any) -> subprocess.Popen[str]:
    """This Python at work, in a folder."""
    own_group = 0
    if sys.platform == "win32":
        own_group = subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        creationflags=own_group,
        cwd=cwd,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        **how,
    )


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A command that has ended."""
    child = start(*arguments)
    try:
        out, err = child.communicate(timeout=_HANGS)
    except subprocess.TimeoutExpired:
        child.kill()  # else it goes on beside all other tests
        child.communicate()
        raise
    return subprocess.CompletedProcess(list(map(str, arguments)), child.returncode, out, err)


def parsed(command: object, *arguments: object) -> Namespace:
    """The options of a command line."""
    return parser_of(str(command)).parse_args(list(map(str, arguments)))


def give(command: object, *arguments: object) -> int:
    """A command in this process, whose errors are raised; the exit code."""
    options = parsed(command, *arguments)
    return int(options.command(options))


def run_here(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A command in this process: quicker by a start, its problems in the same words."""
    words, out, err = list(map(str, arguments)), _Printed(), _Printed()
    with redirect_stdout(out), redirect_stderr(err):
        code = guarded(lambda: give(*words))
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def ended(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A command in this process that ends well."""
    done = run_here(*arguments)
    assert done.returncode == 0, done.stderr
    return done


def printed(*arguments: object) -> str:
    """What a command prints that ends well."""
    return ended(*arguments).stdout


def refusal(command: object, *arguments: object) -> str:
    """What is said of a command line that is refused: the problem and the next step."""
    done = run_here(command, *arguments)
    assert done.returncode == WRONG_INPUT, done
    return done.stderr


def facts(printed: str) -> dict[str, str]:
    """The lines `name  value` of what was printed."""
    pairs = (line.split("  ", 1) for line in printed.splitlines() if "  " in line)
    return {name.strip(): value.strip() for name, value in pairs}


class _Printed(StringIO):
    """Takes what is printed; on Windows a stream is asked for its name."""

    name = "<printed>"


def wait_until(condition: Callable[[], bool], child: subprocess.Popen[str]) -> None:
    """Wait for something that a command at work brings about."""
    deadline = time.monotonic() + 60
    while not condition():
        assert child.poll() is None, f"it ended before that: {child.communicate()}"
        assert time.monotonic() < deadline, "it did not come about in a minute"
        time.sleep(0.01)


def interrupt(child: subprocess.Popen[str]) -> None:
    """What Ctrl-C does."""
    if sys.platform == "win32":
        if not ctypes.windll.kernel32.GetConsoleCP():  # as under Wine, whose output is a pipe
            child.kill()
            child.communicate()
            pytest.skip("no console in which a key could be pressed")
        child.send_signal(signal.CTRL_BREAK_EVENT)
    else:
        child.send_signal(signal.SIGINT)


def said_by(code: str, *arguments: object, **variables: str) -> str:
    """What a process of its own prints that runs this Python code in the checkout, however it ends."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    environment = os.environ | variables
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, encoding="utf-8", check=False
    )
    return done.stdout.strip()
