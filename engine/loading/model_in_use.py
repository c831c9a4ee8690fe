"""A model while a process of its own works with it, and why that process was ended.

Knows: what the end of such a process has to do with the model's file. Does not know: processes, runs.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from engine.core.errors import ModelFileError, ProcessEnded
from engine.core.remedies import Remedy
from engine.loading.checked_model import CheckedModel


@contextmanager
def in_use(checked: CheckedModel) -> Iterator[None]:
    """While work with a model is done apart: ModelFileError where the process ended and the file has changed.

    llama.cpp reads the weights from the file while it works; where the file is cut short, the system ends
    whoever reads on.
    """
    try:
        yield
    except ProcessEnded as ended:
        try:
            checked.check_unchanged()
        except ModelFileError as found:
            raise ModelFileError(
                f"{found.problem} {ended.problem}",
                Remedy("What was done until then is kept. ", *found.remedy.parts),
            ) from ended
        raise
