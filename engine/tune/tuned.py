"""What came of the search for the best settings, and what is reported while it lasts: plain records.

Knows: values. Does not know: how they are found, how they are worded.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.events import FilesRead, MeasureProgress, Preparing, RunEvent, TuningStage
from engine.tune.choosing import SettingsChoice
from engine.tune.held_out import HeldOut
from engine.tune.recipe import Recipe
from engine.tune.tried import Prompt


@dataclass(frozen=True)
class GivenUp:
    """A prompt that was tried no further: after how many items, by how many nats the best one was better on
    them, None where nothing could be compared; `why`: a clause.
    """

    prompt: Prompt
    items: int
    behind: float | None
    why: str


@dataclass(frozen=True)
class TuningResult:
    """`criteria`: those that were asked; `runs`: the number of the run of each prompt. `held_out`: None where
    too few items took no part. `own_examples`: whether the examples of the recipe were held out for it.
    `seconds`: of work in all; `out_of_time`: whether the time ended something.
    """

    choice: SettingsChoice
    held_out: HeldOut | None
    criteria: tuple[str, ...]
    recipe: Recipe
    own_examples: bool
    given_up: tuple[GivenUp, ...]
    runs: Mapping[Prompt, int]
    seconds: float
    out_of_time: bool


TuneEvent = TuningStage | FilesRead | Preparing | MeasureProgress | RunEvent
