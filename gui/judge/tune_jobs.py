"""Jobs of the search for the best settings: do it, and open a recipe that one has written.

Knows: where recipes are kept, what of the engine's events the user sees. Does not know: windows.
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.events import Preparing, followed
from engine.core.file_names import file_stem
from engine.core.items import Method, digest
from engine.core.run_setup import RunSetup
from engine.core.sheets import Sheet
from engine.system.paths import recipes_folder, text_of_path
from gui.work.apart_jobs import worker
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.core.events import RunEvent
    from engine.data.dataset import Dataset
    from engine.judge.plan import RunPlan

_LONGEST_STEM = 60  # bytes, of each of the two names in that of a recipe
_DIGITS = 6  # of a hash
_READING = Preparing("Reading the files")


@dataclass(frozen=True)
class TuneAsked:
    """What the user asks for: `setup` as the page describes a run, how long it may take, which elicitation
    methods are tried, how many items are judged at most, None for all.
    """

    setup: RunSetup
    minutes: float
    methods: tuple[Method, ...]
    items: int | None = None


@dataclass(frozen=True)
class FoundSettings:
    """What came of it, as a sheet; `path`: the recipe."""

    path: Path
    sheet: Sheet


def find(asked: TuneAsked, store_path: Path, current: "Dataset | None") -> Job[FoundSettings]:
    """Find the best settings and keep them as a recipe; reports and raises what `tuning` does."""

    def work(control: JobControl) -> FoundSettings:
        control.report(_READING)
        from engine.judge.on_device import judging_by
        from engine.judge.work import judge_plan
        from engine.report.tuning_sheet import told, tuning_sheet
        from engine.system.files import make_folder
        from engine.tune.recipe import save_recipe
        from engine.tune.tuning import TuneRequest, tuning

        def judge(plan: "RunPlan") -> "Iterable[RunEvent]":
            another = partial(worker, judge_plan, control)
            return judging_by(another(), another, plan, store_path)

        path = _recipe_of(asked.setup)
        make_folder(path.parent)
        request = TuneRequest(asked.setup, 60 * asked.minutes, asked.items, methods=asked.methods)
        tuning_result = followed(tuning(request, store_path, judge, control.cancel, current), control.report)
        save_recipe(path, told(tuning_result), tuning_result.own_examples)
        return FoundSettings(path, tuning_sheet(tuning_result))

    return work


def _recipe_of(setup: RunSetup) -> Path:
    """A name for the recipe of this dataset, model and rubric, which no others share."""
    dataset, model = (file_stem(path.stem, _LONGEST_STEM) for path in (setup.dataset_path, setup.model_path))
    asked = [
        text_of_path(setup.dataset_path),
        text_of_path(setup.model_path),
        setup.criteria,
        setup.rubric.asked,
    ]
    return recipes_folder() / f"{dataset}-{model}-{digest(asked)[:_DIGITS]}.json"


def open_recipe(path: Path, setup: RunSetup) -> Job[RunSetup]:
    """A run of a setup's items by a recipe, with the model that it was made with where that is still there.
    SetupError where it is none.
    """

    def work(_control: JobControl) -> RunSetup:
        from engine.system.places import is_there
        from engine.tune.recipe import load_recipe

        recipe = load_recipe(path)
        made = recipe.in_setup(setup, path.absolute())
        model = recipe.judge.model_path
        return replace(made, model_path=model) if is_there(model) else made

    return work
