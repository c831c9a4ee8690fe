"""How many labels it takes, out of Python."""

import pandas as pd

from engine.api import arguments
from engine.api.tables import frame_of_rows
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.metrics.planning import LabelGoals, size_of_groups
from engine.system.paths import default_store


@arguments.api_call
def plan_labels(
    data: arguments.AnyPath | pd.DataFrame | None = None,
    *,
    each: float = 1.0,
    accuracy: float = LabelGoals.accuracy,
    kappa: float = LabelGoals.kappa,
    chance: float = LabelGoals.chance,
    baseline: float = LabelGoals.baseline,
    half: float = LabelGoals.half,
    target: float = LabelGoals.target,
    risk: float = LabelGoals.risk,
    power: float = LabelGoals.power,
) -> pd.DataFrame:
    """How many items to label at random, before any is labelled, by what the labels are to show; missing
    where no number does.

    `data`: what is to be labelled; else `each`, how many items an instruction has, for such labels say less.
    `accuracy`, `kappa`: what is expected, `chance`: the agreement by chance; to be known within `half`.
    `baseline`: the accuracy to be beaten. `target`: of the labels that stand which are to agree with people,
    at this `risk`, as for `trust`. `power`: in which share of cases what is so is found. All 0 to 1.

    >>> plan_labels(half=0.1)["items"].tolist()[0]
    89
    """
    wanted = LabelGoals(accuracy, kappa, chance, baseline, half, target, risk, power)
    if data is not None:
        given = arguments.path_or_frame(data, default_store())
        dataset = given.load(ELOQUENT) if isinstance(given, arguments.FramedItems) else load_dataset(given)
        each = size_of_groups(dataset.groups.values())
    columns = {"wanted": ("string", "What labels are to show."), "items": ("Int64", "Items to label.")}
    return frame_of_rows(columns, wanted.items(max(each, 1.0)).items())
