"""A browser without a window, asked over a pipe: what a page shows, asks for and complains of."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PATIENCE = 60.0
# The browser reads what it is asked from its third file and answers into its fourth.
_AS_ITS_FILES = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def found_browser() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Tab:
    """One page of the browser. What it asks of the network and complains of is kept."""

    def __init__(self, pipe: "_Pipe", session: str) -> None:
        self._pipe = pipe
        self._session = session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        """The answer to a command of the protocol. RuntimeError where the browser refuses it."""
        return self._pipe.ask(method, parameters, self._session)

    def open(self, page: Path) -> None:
        self._pipe.events.clear()
        self.ask("Page.navigate", url=page.as_uri())
        self._pipe.until("Page.loadEventFired")

    def run(self, script: str) -> Any:
        asked = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in asked:
            raise RuntimeError(asked["exceptionDetails"]["exception"].get("description", script))
        return asked["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys as a hand does: letters, or names such as `Enter`."""
        for key in keys:
            code = f"Key{key.upper()}" if len(key) == 1 and key.isalpha() else key
            text = {"text": key} if len(key) == 1 else {}
            self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, **text)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1.0}
        self.ask("Emulation.setDeviceMetricsOverride", mobile=False, **size)

    def prefer(self, scheme: str, medium: str = "") -> None:
        """Let the reader want `light` or `dark`; `medium`: `print` shows the page as it is printed."""
        wishes = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", media=medium, features=wishes)

    def printed(self) -> bytes:
        pdf = self.ask("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        return base64.b64decode(pdf["data"])

    def asked_for(self) -> list[str]:
        """The addresses that the page wanted since it was opened, but for what stands in the page itself."""
        events = self._pipe.of("Network.requestWillBeSent")
        addresses = [str(event["request"]["url"]) for event in events]
        return [address for address in addresses if not address.startswith("data:")]

    def complaints(self) -> list[str]:
        """What the browser found wrong since the page was opened: errors, warnings, refusals."""
        logged = [event["entry"] for event in self._pipe.of("Log.entryAdded")]
        thrown = [event["exceptionDetails"] for event in self._pipe.of("Runtime.exceptionThrown")]
        failed = self._pipe.of("Network.loadingFailed")
        return [*(entry["text"] for entry in logged), *(str(entry) for entry in (*thrown, *failed))]


@contextmanager
def tab() -> Iterator[Tab]:
    """A new browser with one empty page, gone at the end; it keeps nothing and knows no one."""
    browser = found_browser()
    assert browser
    to_it, from_it = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        command = [
            *(sys.executable, "-c", _AS_ITS_FILES, str(to_it[0]), str(from_it[1]), browser),
            *("--headless", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run"),
            *("--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"),
            *(("--no-sandbox",) if os.geteuid() == 0 else ()),
        ]
        with subprocess.Popen(command, pass_fds=(to_it[0], from_it[1]), stderr=subprocess.DEVNULL) as process:
            os.close(to_it[0])
            os.close(from_it[1])
            pipe = _Pipe(to_it[1], from_it[0])
            try:
                target = pipe.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
                asked = {"targetId": target, "flatten": True}
                yield Tab(pipe, pipe.ask("Target.attachToTarget", asked)["sessionId"])
            finally:
                pipe.close()
                process.kill()


class _Pipe:
    """The two ends of the talk with a browser: JSON, each message ended by a zero."""

    def __init__(self, writing: int, reading: int) -> None:
        self._writing = os.fdopen(writing, "wb", buffering=0)
        self._reading = os.fdopen(reading, "rb", buffering=0)
        self._begun = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        self._writing.close()
        self._reading.close()

    def ask(self, method: str, parameters: Mapping[str, object], session: str = "") -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._writing.write(json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        found: dict[str, Any] = answer["result"]
        return found

    def until(self, event: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while not self.of(event):
            assert time.monotonic() < deadline, f"no {event} within {_PATIENCE:.0f} s"
            self._next()

    def of(self, event: str) -> list[dict[str, Any]]:
        return [found["params"] for found in self.events if found["method"] == event]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._begun:
            ready, _, _ = select.select([self._reading], [], [], _PATIENCE)
            assert ready, f"the browser says nothing for {_PATIENCE:.0f} s"
            more = self._reading.read(1 << 20)
            assert more, "the browser has ended"
            self._begun += more
        text, _, self._begun = self._begun.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message
