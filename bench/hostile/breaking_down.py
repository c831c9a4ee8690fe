"""A kind of cases that ends the process which tries it: so the workers themselves are tested.

Knows: how to end a process. Does not know: anything else.
"""

import os

from bench.hostile.outcomes import Outcome
from bench.hostile.workers import Attempt, Step


def try_case(attempt: Attempt) -> Outcome:
    """Break down: in the trial of a model where the number is even."""
    attempt.step(Step("breaking down", in_trial=attempt.number % 2 == 0))
    os.abort()
