"""What stops a context of llama.cpp in the middle, and another thread that meddles with one."""

import threading
from collections.abc import Callable

from engine.core.errors import EngineBug
from engine.core.events import Cancelled, CancelToken


class CountingToken(CancelToken):
    """Asks for a stop when it has been asked itself often enough."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.patience = 0, 1_000_000

    @property
    def requested(self) -> bool:
        self.asked += 1
        return self.asked > self.patience

    def raise_if_requested(self) -> None:
        if super().requested:
            raise Cancelled


def refused_to_others(do: Callable[[], object]) -> bool:
    """Whether another thread may not do this, and is named."""
    caught: list[EngineBug] = []

    def intrude() -> None:
        try:
            do()
        except EngineBug as error:
            caught.append(error)

    thread = threading.Thread(target=intrude, name="intruder")
    thread.start()
    thread.join()
    return "intruder" in str(caught[0])
