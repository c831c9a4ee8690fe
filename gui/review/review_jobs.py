"""Jobs of the review: the list of judgments to look at, one item of it again, two texts compared, a history.

Knows: what a person looks at, and in which order. Does not know: windows.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.judgments import Override
from engine.core.review_filters import Filters
from gui.work.gc_pause import many_records
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults
    from engine.review.doubt import ReviewItem, ReviewRow


@dataclass(frozen=True)
class Review:
    """All judgments of a run. `rows`: item by item, each in `criteria`.

    By item id: `places`, which of the judged items; `gold_rows`, which row of the dataset with human labels.
    """

    criteria: tuple[str, ...]
    rows: "list[ReviewRow]"
    places: Mapping[str, int]
    gold_rows: Mapping[str, int]

    def of_item(self, item_id: str) -> "Sequence[ReviewRow]":
        """The rows of one item."""
        start = self.places[item_id] * len(self.criteria)
        return self.rows[start : start + len(self.criteria)]

    def change_item(self, item_id: str, rows: "Sequence[ReviewRow]") -> None:
        """Put other rows in the place of an item's."""
        start = self.places[item_id] * len(self.criteria)
        self.rows[start : start + len(self.criteria)] = rows


@dataclass(frozen=True)
class Listing:
    """The items that pass. `places`: by item id, the place in `items`.

    `passing`: by item id, the criteria of the rows that pass; empty where the wish leaves nothing out.
    """

    items: "list[ReviewItem]"
    places: Mapping[str, int]
    passing: Mapping[str, Sequence[str]]


def review(results: "RunResults", gold: "Dataset | None", own: "Dataset | None" = None) -> Job[Review]:
    """All judgments of a run; `gold`: where the human labels are, `own`: its dataset, for all others."""

    def work(control: JobControl) -> Review:
        from engine.review.doubt import review_rows

        with many_records():
            rows = review_rows(results, gold, own)
        control.cancel.raise_if_requested()
        places = {item.item_id: place for place, item in enumerate(results.judged)}
        gold_rows = {item_id: row for row, item_id in enumerate(gold.ids if gold is not None else ())}
        return Review(tuple(results.judgments), rows, places, gold_rows)

    return work


def list_items(of: Review, wish: Filters, by_doubt: bool, dataset: "Dataset | None") -> Job[Listing]:
    """The items with a judgment that passes; without a dataset the text is looked for in the ids."""

    def work(control: JobControl) -> Listing:
        ids = _matching_ids(of, wish.text, dataset, control)
        with many_records():
            return _listing(of, wish, by_doubt, ids)

    return work


def _listing(of: Review, wish: Filters, by_doubt: bool, ids: Container[str] | None) -> Listing:
    from engine.review.doubt import by_item, filtered

    rows = of.rows
    passing: dict[str, list[str]] = {}
    if wish.narrows:
        rows = filtered(rows, wish, ids)
        for row in rows:
            passing.setdefault(row.item_id, []).append(row.criterion)
    items = by_item(rows, by_doubt=False)
    if by_doubt:
        items = _most_doubtful_first(items)
    return Listing(items, {item.item_id: place for place, item in enumerate(items)}, passing)


def _most_doubtful_first(items: "list[ReviewItem]") -> "list[ReviewItem]":
    """The items by their doubt, as engine.review.doubt does it, without keeping the window waiting."""
    import numpy as np

    order = np.argsort([-item.doubt for item in items], kind="stable")
    return [items[place] for place in order]


def _matching_ids(
    of: Review, text: str, dataset: "Dataset | None", control: JobControl
) -> Container[str] | None:
    from engine.data.item_search import matching_rows

    words = text.casefold().split()
    if not words:
        return None
    if dataset is None:
        return {item_id for item_id in of.places if all(word in item_id.casefold() for word in words)}
    ids = dataset.ids
    return {ids[row] for row in matching_rows(dataset, text, control.cancel)}


@dataclass(frozen=True)
class ItemAgain:
    """One item after an override: its rows, and the doubt that the list shows."""

    item: "ReviewItem"
    rows: "Sequence[ReviewRow]"


def item_again(
    results: "RunResults", labels: "Sequence[Dataset | None]", place: int, wish: Filters
) -> Job[ItemAgain]:
    """The rows of one item as they are now; `labels`: as for `review`, `place`: which of the judged items."""

    def work(_control: JobControl) -> ItemAgain:
        from dataclasses import replace

        from engine.review.doubt import by_item, filtered, review_rows

        judged = results.judged[place]
        alone = replace(
            results,
            judged=(judged,),
            judgments={name: (column[place],) for name, column in results.judgments.items()},
        )
        rows = review_rows(alone, *(one and one.only({judged.item_id}) for one in labels))
        [item] = by_item(filtered(rows, replace(wish, text=""))) or by_item(rows)
        return ItemAgain(item, rows)

    return work


def history(store_path: Path, run_id: int) -> Job[Sequence[Override]]:
    """All overrides of a run, also those that were undone, the oldest first."""

    def work(_control: JobControl) -> Sequence[Override]:
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store:
            return store.overrides(run_id)

    return work


@dataclass(frozen=True)
class Highlights:
    """Where two texts as they are shown agree and differ: (start, end) in Qt's units, half an emoji each.

    `whole`: False where a text was too long to be compared to its end. `share`: of the words, those shared.
    """

    shared: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
    own: tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
    whole: bool
    share: float


def compare_wording(a: str, b: str) -> Job[Highlights]:
    """Two texts as they are shown, compared word by word."""

    def work(control: JobControl) -> Highlights:
        from engine.review.wording_diff import wording_diff

        diff = wording_diff(a, b, control.cancel)
        return Highlights(
            shared=(_in_units(a, diff.a.shared), _in_units(b, diff.b.shared)),
            own=(_in_units(a, diff.a.own), _in_units(b, diff.b.own)),
            whole=(diff.a.compared, diff.b.compared) == (len(a), len(b)),
            share=diff.share,
        )

    return work


def _in_units(text: str, spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Places in characters as places in UTF-16 units, in which Qt counts."""
    if text.isascii():
        return spans
    found = []
    units = last = 0
    for start, end in spans:
        first = units + _units(text[last:start])
        units, last = first + _units(text[start:end]), end
        found.append((first, units))
    return found


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
