"""A wish to stop that comes in the middle of what llama.cpp does.

Knows: stops. Does not know: what is stopped.
"""

from engine.core.cancel import Cancelled, CancelToken


class CountingToken(CancelToken):
    """Asks for a stop when it has been asked itself often enough."""

    def __init__(self, patience: int) -> None:
        super().__init__()
        self.asked = 0
        self.patience = patience

    @property
    def requested(self) -> bool:
        self.asked += 1
        return self.asked > self.patience

    def raise_if_requested(self) -> None:
        if super().requested:
            raise Cancelled
