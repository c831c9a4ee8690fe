"""llama.cpp is started once, whichever thread asks first."""

import subprocess
import sys

from tests.commands import ROOT

# In a process of its own: here it was started long ago.
_PROGRAM = """
import threading, time
from engine.llama import library
begun, start = [], library.llama_cpp.llama_backend_init
def slow():
    begun.append(1)
    time.sleep(0.3)
    start()
library.llama_cpp.llama_backend_init = slow
threads = [threading.Thread(target=library.start_library) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(begun))
"""


def test_threads_that_ask_at_once_start_it_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "1"
