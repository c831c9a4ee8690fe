"""A desktop of its own: a screen in memory, a window manager, a message bus, and the program on it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

from PIL import Image, ImageGrab

ROOT = Path(__file__).resolve().parent.parent.parent
SIZE = (1280, 720)
TOOLS = ("Xvfb", "openbox", "dbus-daemon", "xdotool")
PATIENCE = 60.0
_STEP = 0.05
T = TypeVar("T")


def missing_tools() -> list[str]:
    return [name for name in TOOLS if not shutil.which(name)]


def wait_for(look: Callable[[], T], what: str, patience: float = PATIENCE) -> T:
    """Look until there is something, and give it. AssertionError where it does not come."""
    deadline = time.monotonic() + patience
    while not (found := look()):
        assert time.monotonic() < deadline, f"not within {patience:.0f} s: {what}"
        time.sleep(_STEP)
    return found


@dataclass(frozen=True)
class Desk:
    display: str
    environment: dict[str, str]

    @contextmanager
    def program(self, *words: str, home: Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
        """Tiebreak with a home of its own, started by `main.py` with `words`; ended with its children."""
        environment = {**self.environment, "TIEBREAK_HOME": str(home), **variables}
        command = [sys.executable, str(ROOT / "main.py"), *words]
        with subprocess.Popen(command, env=environment, cwd=home, start_new_session=True) as process:
            try:
                yield process
            except AssertionError as error:
                path = Path(mkdtemp(prefix="tiebreak-desktop-")) / "seen.png"
                self.picture().save(path)
                error.add_note(f"What the screen showed then: {path}")
                raise
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
                    try:
                        process.wait(timeout=PATIENCE)
                    except subprocess.TimeoutExpired:
                        os.killpg(process.pid, signal.SIGKILL)

    def window(self, title: str = "Tiebreak") -> str:
        """The number of the window that is to be seen and whose title has this in it, once it is there."""
        return wait_for(lambda: self.windows(title), f"a window {title!r}")[0]

    def windows(self, title: str) -> list[str]:
        return self.tool("xdotool", "search", "--onlyvisible", "--name", title, may_fail=True).split()

    def press(self, *keys: str) -> None:
        """Press keys one after the other, such as `ctrl+r`, in whatever window has the focus."""
        self.tool("xdotool", "key", "--clearmodifiers", "--delay", "40", *keys)

    def type(self, text: str) -> None:
        self.tool("xdotool", "type", "--clearmodifiers", "--delay", "20", text)

    def click(self, x: int, y: int, button: int = 1) -> None:
        self.tool("xdotool", "mousemove", str(x), str(y), "click", str(button))

    def picture(self) -> Image.Image:
        return ImageGrab.grab(xdisplay=self.display).convert("RGB")

    def tool(self, *words: str, may_fail: bool = False) -> str:
        """What a program prints that is run on this desk."""
        how: dict[str, Any] = {"env": self.environment, "timeout": PATIENCE, "text": True}
        return str(subprocess.run(words, capture_output=True, check=not may_fail, **how).stdout)


@contextmanager
def desk(folder: Path, size: tuple[int, int] = SIZE) -> Iterator[Desk]:
    """A new desktop, gone at the end; `folder`: for the sockets and settings of what runs on it."""
    with ExitStack() as stack:
        display = stack.enter_context(_screen(size))
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("QT_", "XDG_"))},
            "DISPLAY": display,
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder),
            "PYTHONPATH": str(ROOT),
        }
        folder.chmod(0o700)
        environment["DBUS_SESSION_BUS_ADDRESS"] = stack.enter_context(_bus(environment))
        stack.enter_context(_ended("openbox", "--sm-disable", env=environment))
        made = Desk(display, environment)
        # It is the window manager that says how many desktops there are: before it there are none.
        count = ("xdotool", "get_num_desktops")
        wait_for(lambda: int(made.tool(*count, may_fail=True) or 0), "a window manager")
        yield made


@contextmanager
def _screen(size: tuple[int, int]) -> Iterator[str]:
    reading, writing = os.pipe()
    options = ("-screen", "0", f"{size[0]}x{size[1]}x24", "-noreset", "-nolisten", "tcp")
    with _ended("Xvfb", "-displayfd", str(writing), *options, pass_fds=[writing]):
        os.close(writing)
        with os.fdopen(reading) as number:
            yield f":{number.readline().strip()}"


@contextmanager
def _bus(environment: dict[str, str]) -> Iterator[str]:
    options = ("--session", "--nofork", "--nopidfile", "--print-address")
    with _ended("dbus-daemon", *options, env=environment, stdout=subprocess.PIPE) as bus:
        assert bus.stdout is not None
        yield bus.stdout.readline().decode().strip()


@contextmanager
def _ended(*command: str, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs until the end; what it says is dropped, but for what `how` keeps."""
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **how}
    with subprocess.Popen(command, **how) as process:
        try:
            yield process
        finally:
            process.terminate()
