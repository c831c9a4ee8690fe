"""llama-server asked for the same judgments, over HTTP as its users do; started and ended here."""

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import psutil

from bench.peers.asked import AskedItem, NotComparableError, Question
from bench.peers.ways import Clock, ObservedTask
from engine.core.rubric import ELOQUENT
from engine.llama.context import BATCH
from engine.llama.library import library_folder, special_layouts_work

_START_SECONDS = 300.0
_END_SECONDS = 10.0
_ANSWER_SECONDS = 3600.0
_LOG_LINES = 15
_NAMED = 20  # likeliest tokens in an answer; a letter that is not among them has next to no probability


@dataclass(frozen=True)
class ServerShape:
    """`slots` prompts at once of `context` tokens; `unified`: in one cache (--kv-unified)."""

    slots: int
    context: int
    unified: bool = False

    @property
    def words(self) -> list[str]:
        cache = "--kv-unified" if self.unified else "--no-kv-unified"
        return ["--parallel", str(self.slots), "--ctx-size", str(self.slots * self.context), cache]


class Server:
    """llama-server on a free port of 127.0.0.1, ready, for `with`; `libraries`: those of llama-cpp-python
    that it has loaded, where the system tells.
    """

    def __init__(self, program: Path, model: Path, shape: ServerShape, threads: int) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        self._address = f"http://127.0.0.1:{port}"
        folder = library_folder()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [str(program), *_options(model, shape, threads, port)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LD_LIBRARY_PATH": str(folder), "DYLD_LIBRARY_PATH": str(folder)},
        )
        try:
            self._wait_until_ready()
        except BaseException:
            self.close()
            raise

    def _wait_until_ready(self) -> None:
        began = time.monotonic()
        while True:
            if self._process.poll() is not None:
                raise NotComparableError(f"llama-server ended with {self._process.returncode}:\n{self.log()}")
            try:
                with urllib.request.urlopen(f"{self._address}/health", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):  # it loads the model
                pass
            if time.monotonic() - began > _START_SECONDS:
                raise NotComparableError(
                    f"llama-server is not ready after {_START_SECONDS:.0f} s:\n{self.log()}"
                )
            time.sleep(0.1)

    @property
    def libraries(self) -> list[str]:
        """The files of ggml and llama.cpp that it has loaded; none where the system does not tell."""
        maps = Path(f"/proc/{self._process.pid}/maps")
        if not maps.exists():
            return []
        files = {line.split()[-1] for line in maps.read_text("utf-8").splitlines() if ".so" in line}
        return sorted(file for file in files if Path(file).name.startswith(("libggml", "libllama.")))

    def processor_seconds(self) -> float:
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system) + time.process_time()

    def log(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").splitlines()
        return "\n".join(lines[-_LOG_LINES:])

    def complete(
        self, slot: int, prompt: Sequence[int], tokens: int, named: int = 0, ends: bool = False
    ) -> dict[str, Any]:
        """What it says after a prompt; `named`: how many of the likeliest tokens it names. `ends`: a text may
        be shorter than so many tokens.
        """
        asked = {
            "prompt": list(prompt),
            "n_predict": tokens,
            "n_probs": named,
            "id_slot": slot,
            "cache_prompt": True,
            "temperature": 0,
            "samplers": ["temperature"],
            "ignore_eos": tokens > 1 and not ends,
            "response_fields": ["completion_probabilities", "timings"],
        }
        request = urllib.request.Request(
            f"{self._address}/completion", json.dumps(asked).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:
                result: dict[str, Any] = json.load(answer)
        except urllib.error.URLError as error:
            raise NotComparableError(f"llama-server does not answer: {error}\n{self.log()}") from error
        return result

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def _options(model: Path, shape: ServerShape, threads: int, port: int) -> list[str]:
    """Flash attention is its default. Nothing is copied aside: a slot is asked next what goes on from it."""
    return [
        *("--host", "127.0.0.1", "--port", str(port), "--model", str(model), *shape.words),
        *("--threads", str(threads), "--threads-batch", str(threads), "--ubatch-size", str(BATCH)),
        *("--cache-ram", "0", "--no-cache-idle-slots", "--offline", "--no-ui", "--fit", "off"),
        *("--device", "none"),
        *([] if special_layouts_work() else ["--no-repack"]),
    ]


class Served:
    """A server with as many clients as it has slots, each of which asks the questions of one criterion.

    With one slot, one client asks all. With more slots than criteria, several items are asked at once.
    Nobody waits for another: what one slot reads is in a batch with what others write.
    """

    def __init__(self, server: Server, shape: ServerShape, asked: Sequence[AskedItem], clock: Clock) -> None:
        self._clock = clock
        kind = ", one cache" if shape.unified else ""
        self.name = f"llama-server, {shape.slots} at once{kind}" if shape.slots > 1 else "llama-server, cache"
        self._server = server
        self._slots = shape.slots
        self._asked = asked

    def judge(self, items: Sequence[int]) -> ObservedTask:
        criteria = len(ELOQUENT.criteria)
        started = self._clock()
        if self._slots == 1:
            parts = [self._client(0, items, range(criteria))]
        else:
            at_once = self._slots // criteria
            with ThreadPoolExecutor(self._slots) as clients:
                work = [
                    clients.submit(self._client, slot, items[slot // criteria :: at_once], [slot % criteria])
                    for slot in range(self._slots)
                ]
                parts = [each.result() for each in work]
        seconds = self._clock() - started
        rows = {place: row for part in parts for place, row in part.rows.items()}
        log_probs = [
            rows[place] for place in sorted(rows, key=lambda place: (items.index(place[0]), *place[1:]))
        ]
        return ObservedTask(
            seconds, sum(part.read for part in parts), sum(part.written for part in parts), log_probs
        )

    def _client(self, slot: int, items: Sequence[int], criteria: Sequence[int]) -> "_Answers":
        answers = _Answers({}, 0, 0)
        for item in items:
            asked = self._asked[item]
            for order, questions in enumerate(asked.orders):
                for criterion in criteria:
                    question = questions[criterion]
                    answer = self._server.complete(slot, question.prompt, 1, _NAMED)
                    answers.rows[item, order, criterion] = label_log_probs(question, answer)
                    answers.read += answer["timings"]["prompt_n"]
            for criterion in criteria if asked.texts else ():
                text = asked.texts[criterion]
                answer = self._server.complete(slot, text.prompt, text.tokens)
                answers.read += answer["timings"]["prompt_n"]
                answers.written += answer["timings"]["predicted_n"]
        return answers


@dataclass
class _Answers:
    """What a client was told, by item, order and criterion."""

    rows: dict[tuple[int, int, int], tuple[float, ...]]
    read: int
    written: int


def label_log_probs(question: Question, answer: dict[str, Any]) -> tuple[float, ...]:
    """Of a question's labels, nan for those that are not among the tokens that an answer names."""
    named = answer["completion_probabilities"][0]["top_logprobs"]
    by_token = {each["id"]: float(each["logprob"]) for each in named}
    return tuple(by_token.get(label, nan) for label in question.labels)
