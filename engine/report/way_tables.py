"""What each way of asking alone would have said, beside all of them together.

Knows: which columns stand side by side, what they mean. Does not know: how a way asks, where it is shown.
"""

from collections.abc import Mapping

from engine.core.formatting import words
from engine.core.items import Order
from engine.core.sheets import Section
from engine.core.value_tables import Column, Kind, Row, Table
from engine.data.dataset import Dataset
from engine.decisions.run_results import ALL_WAYS, RunResults
from engine.measure.accuracy import Accuracy, accuracy_by_way, mean
from engine.measure.label_counts import LabelCounts, count_run
from engine.report.columns import ACCURACY, FLIPPED, FORMAT_MASS

_WAY = Column(
    "way",
    "way of asking",
    Kind.NAME,
    "How the model was asked. One way's labels are decided by its readings alone, without a calibration.",
)

AccuracyByWay = Mapping[str, Mapping[str, Accuracy]]
"""By way, of all together too, and criterion."""


def way_sections(results: RunResults | None, dataset: Dataset | None = None) -> list[Section]:
    """The ways of a run, held against the labels of a dataset; none where there is one way."""
    by_way = results.by_way() if results else {}
    table = way_table(by_way, accuracy_by_way(by_way, dataset))
    if table is None:
        return []
    return [
        Section(
            "ways",
            "By way of asking",
            [table],
            "What the model would have said, had it been asked in one way alone, and what all of its ways say"
            " together: its own labels, without a calibration and without what people overrode.",
        )
    ]


def way_table(by_way: Mapping[str, RunResults], right: AccuracyByWay) -> Table | None:
    """A row for all ways of a run together, and one for each; None for a run of one way.

    `by_way`: what `RunResults.by_way` gave. `right`: as `accuracy_by_way` gives it: how often the model's own
    labels are the human ones, where there are any. What people overrode takes no part.
    """
    if not by_way:
        return None
    criteria = tuple(right[ALL_WAYS])
    columns = (
        _WAY,
        *((ACCURACY,) if criteria else ()),
        *(Column(name, words(name), Kind.SHARE, f"The accuracy on {words(name)}.") for name in criteria),
        *((FLIPPED,) if Order.BA.value in by_way[ALL_WAYS].run.identity.settings["orders"] else ()),
        FORMAT_MASS,
    )
    rows = [_row(name, right[name], count_run(each), columns) for name, each in by_way.items()]
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
