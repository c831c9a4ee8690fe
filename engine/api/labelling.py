"""Labels by hand, out of Python: how many it takes; without a judge, here or in a browser elsewhere."""

from pathlib import Path

import pandas as pd

from engine.api import arguments
from engine.api.run import Run
from engine.api.tables import frame_of_rows
from engine.core.errors import FileKind
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.dataset import Dataset, load_dataset
from engine.data.file_kinds import expecting
from engine.data.rubrics.files import find_rubric
from engine.metrics.planning import LabelGoals, size_of_groups
from engine.results.completeness import begin_by_hand
from engine.results.labelling_sheet import write_labelling_sheet
from engine.settings.sampling import DEFAULT_SEED, ItemSample
from engine.store.run_store import RunStore
from engine.system.paths import default_store


def _items(
    data: arguments.AnyPath | pd.DataFrame, rubric: arguments.AnyPath | None, store: Path, keep: bool = False
) -> tuple[Dataset, Rubric]:
    """A dataset and what is labelled of it; `keep`: a frame is kept beside the store."""
    asked = ELOQUENT if rubric is None else find_rubric(arguments.name_or_path("rubric", rubric))
    given = arguments.path_or_frame(data, store)
    if isinstance(given, Path):
        return load_dataset(given, asked), asked
    if keep:
        given.keep()
    return given.load(asked), asked


@arguments.api_call
def labelling_sheet(
    data: arguments.AnyPath | pd.DataFrame,
    path: arguments.AnyPath,
    rubric: arguments.AnyPath | None = None,
    *,
    blind: bool = False,
    sample: int | None = None,
    seed: int = DEFAULT_SEED,
) -> Path:
    """Write an HTML file in which others label a dataset in a browser, without this program; its path. It
    gives back a file that `annotations import` takes. `data`, `rubric`: as for `label_by_hand`. `blind`: the
    labels of the dataset are left out. `sample`: only so many items, as `seed` draws them.

    >>> labelling_sheet(demo_dataset(), "sheet.html", blind=True).name
    'sheet.html'
    """
    target = arguments.target_of(path, "HTML", ".html", ".htm")
    drawn = None if sample is None else ItemSample(sample, seed)
    dataset, asked = _items(data, rubric, default_store())
    write_labelling_sheet(target, dataset, asked, blind, drawn)
    return target


@arguments.api_call
def label_by_hand(
    data: arguments.AnyPath | pd.DataFrame,
    rubric: arguments.AnyPath | None = None,
    store: arguments.AnyPath | None = None,
) -> Run:
    """A run in which annotators label a dataset by hand, without a judge, on the page Review of the window;
    an existing one is kept. `data`: as for `Judge.run`; `rubric`: what is labelled, a name or a file.

    >>> label_by_hand(demo_dataset()).labels.empty  # nobody has labelled anything yet
    True
    """
    path = default_store() if store is None else arguments.path_of("store", store).absolute()
    dataset, asked = _items(data, rubric, path, keep=True)
    with expecting(path, FileKind.RUN_STORE), RunStore(path) as opened:
        return Run(begin_by_hand(dataset, asked, opened).id, store)


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
        dataset, _ = _items(data, None, default_store())
        each = size_of_groups(dataset.groups.values())
    columns = {"wanted": ("string", "What labels are to show."), "items": ("Int64", "Items to label.")}
    return frame_of_rows(columns, wanted.items(max(each, 1.0)).items())
