"""How annotators came to the items whose labels a dataset holds, where it says so: as a run's CSV does.

Knows: which columns of a dataset tell it. Does not know: runs, who reads it.
"""

from collections.abc import Iterator, Mapping

from engine.core.judgments import Origin
from engine.data.dataset import Dataset
from engine.data.origin_cells import (
    IN_SAMPLE,
    LABELS_BY_ANNOTATORS,
    ORIGINS_BY_ANNOTATORS,
    SAMPLED,
    SKIPPED,
    origin_column,
    origin_in,
    origin_of_several,
    origins_in_row,
)


def label_origins(dataset: Dataset, criterion: str) -> dict[str, Origin | None] | None:
    """By item, how the annotator came to it whose label on a criterion the dataset holds; None where that is
    not known, as of a CSV that an earlier version wrote. No mapping at all where the dataset does not say
    that its labels were given in a review.

    It is read from a column `<criterion>_origin`, else from the columns of a run's CSV. Of several annotators
    the one counts who came to the item by the least choice.
    """
    own = origin_column(criterion)
    if own in dataset.other_columns:
        cells = zip(dataset.ids, dataset.texts(own).to_pylist(), strict=True)
        return {item_id: origin_in(text) for item_id, text in cells if text}
    if not {ORIGINS_BY_ANNOTATORS, LABELS_BY_ANNOTATORS} & {*dataset.other_columns}:
        return None
    rows = zip(dataset.ids, dataset.cells_beside(), strict=True)
    return dict(_of_csv(rows))


def sampled_items(dataset: Dataset) -> frozenset[str]:
    """The ids of the items that belong to a random sample, labelled on any criterion or skipped, as far as
    the dataset says it.
    """
    return _where_in_sample(dataset, SAMPLED, SKIPPED)


def skipped_items(dataset: Dataset) -> frozenset[str]:
    """The ids of the items that were skipped in a random sample, as far as the dataset says it."""
    return _where_in_sample(dataset, SKIPPED)


def _where_in_sample(dataset: Dataset, *cells: str) -> frozenset[str]:
    texts: list[str] = dataset.texts(IN_SAMPLE).to_pylist()
    return frozenset(item_id for item_id, text in zip(dataset.ids, texts, strict=True) if text in cells)


def _of_csv(rows: Iterator[tuple[str, Mapping[str, str]]]) -> Iterator[tuple[str, Origin | None]]:
    for item_id, cells in rows:
        origins = origins_in_row(cells)
        if origins:
            yield item_id, origin_of_several(origins.values(), cells.get(IN_SAMPLE, ""))
