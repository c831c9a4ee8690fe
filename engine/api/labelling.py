"""Labels by hand, out of Python: without a judge, here or in a browser elsewhere."""

from pathlib import Path

import pandas as pd

from engine.api import arguments
from engine.api.run import Run
from engine.core.errors import FileKind
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.dataset import Dataset, load_dataset
from engine.data.file_kinds import expecting
from engine.data.rubrics.files import find_rubric
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
