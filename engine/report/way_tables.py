"""What each way of asking alone would have said, beside all of them together, as a table of values.

Knows: which columns stand side by side, and what they mean. Does not know: how a way asks, where it is shown.
"""

from collections.abc import Mapping

from engine.core.formatting import words
from engine.core.items import Order
from engine.core.value_tables import Column, Kind, Row, Table
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults
from engine.measure.accuracy import Accuracy, mean, run_accuracy
from engine.measure.label_counts import LabelCounts, count_run
from engine.report.columns import ACCURACY, FLIPPED, FORMAT_MASS

_WAY = Column(
    "way",
    "way of asking",
    Kind.NAME,
    "How the model was asked. One way's labels are decided by its readings alone, without a calibration.",
)
_TOGETHER = "all together"


def way_table(results: RunResults, dataset: Dataset | None = None) -> Table | None:
    """A row for each way of a run, and one for all of them; None for a run of one way.

    With a dataset that has human labels: how often the model's own labels are these, as the mean over the
    criteria and on each of them. What people overrode takes no part.
    """
    ways = results.ways
    if len(ways) < 2:
        return None
    of_model = results.model_alone().calibrated(None)
    alone: Mapping[str, RunResults] = {
        _TOGETHER: of_model,
        **{way.value: of_model.of_ways((way,)) for way in ways},
    }
    right = {name: run_accuracy(each, dataset) if dataset is not None else {} for name, each in alone.items()}
    criteria = tuple(right[_TOGETHER])
    columns = (
        _WAY,
        *((ACCURACY,) if criteria else ()),
        *(Column(name, words(name), Kind.SHARE, f"The accuracy on {words(name)}.") for name in criteria),
        *((FLIPPED,) if Order.BA.value in results.run.identity.settings["orders"] else ()),
        FORMAT_MASS,
    )
    rows = [_row(name, right[name], count_run(each), columns) for name, each in alone.items()]
    return Table(columns, rows)


def _row(
    name: str, right: Mapping[str, Accuracy], counts: list[LabelCounts], columns: tuple[Column, ...]
) -> Row:
    shares = {criterion: found.share for criterion, found in right.items()}
    values = {
        **shares,
        _WAY.key: name,
        ACCURACY.key: mean(list(shares.values())),
        FLIPPED.key: mean([count.flipped for count in counts if count.flipped is not None]),
        FORMAT_MASS.key: mean([count.format_mass for count in counts if count.format_mass is not None]),
    }
    return [values[column.key] for column in columns]
