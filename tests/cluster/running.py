"""A cluster on this computer: a scheduler and workers as users start them, each a process of its own."""

import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from tests.commands import MAIN, ROOT

_READY_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@dataclass
class Part:
    """A scheduler or worker at work, or one that was killed; `log`: what it printed."""

    arguments: tuple[str, ...]
    log: Path
    process: subprocess.Popen[bytes]

    def said(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def judging(self) -> psutil.Process | None:
        """Of a worker: the process that judges, which the first one watches."""
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self.process.pid).children(recursive=True):
                if "spawn_main" in " ".join(child.cmdline()):
                    return child
        return None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()


@dataclass
class LocalCluster:
    """A scheduler and its workers in a folder, encrypted where that holds certificates."""

    folder: Path
    certificates: Path | None = None
    port: int = field(default_factory=free_port)
    parts: list[Part] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"{'tls' if self.certificates else 'tcp'}://127.0.0.1:{self.port}"

    @property
    def connection(self) -> list[str]:
        """The arguments that all ends need."""
        return ["--certificates", str(self.certificates)] if self.certificates else []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for part in reversed(self.parts):
            part.stop()

    def start(self, *arguments: str) -> Part:
        return self._start([str(MAIN), "cluster"], arguments)

    def start_module(self, name: str, *arguments: str) -> Part:
        return self._start(["-m", name], arguments)

    def _start(self, what: list[str], arguments: tuple[str, ...]) -> Part:
        log = self.folder / f"part-{len(self.parts)}-{time.monotonic_ns()}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, *what, *arguments],
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
            )
        part = Part(arguments, log, process)
        self.parts.append(part)
        return part

    def again(self, part: Part) -> Part:
        self.parts.remove(part)
        return self.scheduler() if part.arguments[0] == "scheduler" else self.start(*part.arguments)

    def stop(self, part: Part) -> None:
        part.stop()
        self.parts.remove(part)

    def scheduler(self) -> Part:
        """The scheduler, once it listens."""
        part = self.start("scheduler", self.address, *self.connection)
        wait_for(lambda: "The scheduler is at" in part.said(), part)
        return part

    def worker(self, *arguments: str, threads: int | None = 1) -> Part:
        """A worker with one thread, once the scheduler has it."""
        more = ["--threads", str(threads)] if threads else []
        part = self.start("worker", self.address, *self.connection, *more, *arguments)
        wait_for(lambda: "Working for" in part.said(), part)
        return part


def wait_for(there: Callable[[], bool], part: Part) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not there():
        assert part.process.poll() is None, f"it ended: {part.said()}"
        assert time.monotonic() < deadline, f"not in {_READY_SECONDS:.0f} s: {part.said()}"
        time.sleep(0.05)


@contextlib.contextmanager
def cluster_of_two(folder: Path, certificates: Path | None = None) -> Iterator[LocalCluster]:
    with LocalCluster(folder, certificates) as cluster:
        cluster.scheduler()
        parts = [
            cluster.start("worker", cluster.address, *cluster.connection, "--threads", "1") for _ in range(2)
        ]
        for part in parts:
            wait_for(lambda part=part: "Working for" in part.said(), part)  # type: ignore[misc]
        yield cluster
