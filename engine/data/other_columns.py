"""The columns of a table that no dataset needs, kept as text next to those that it does."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from engine.core.formatting import counted, listed, quoted
from engine.data.tables import SourceTable

MOST_OTHER_COLUMNS = 100
_BEFORE_A_CLASH = "dataset_"

_MOST_SHOWN = 20


def distinct_names(others: Sequence[str], taken: Collection[str]) -> dict[str, str]:
    """What the other columns of a dataset are called next to columns that have names already: as in the file,
    with `dataset_` before a name that is one of these or empty, as often as it takes.
    """
    names: dict[str, str] = {}
    for name in others:
        shown, not_these = name, {"", *taken, *names.values()}
        while shown.strip() in not_these:
            shown, not_these = f"{_BEFORE_A_CLASH}{shown}", {*not_these, *others}
        names[name] = shown
    return names


class OtherColumns:
    """Finds them while the rows of a table are read: those that hold text and occur once, the first ones.

    A cell of theirs that is no text does not keep a file from being read.
    """

    def __init__(self, table: SourceTable, known: Collection[str]) -> None:
        self._table = table
        self._known = known
        self._met = 0
        self._why_not: dict[str, str] = {}
        self._look()
        table.must_be_text = known

    @property
    def names(self) -> list[str]:
        """Those that are stored of the columns met so far."""
        if not self._table.has_header and len(self._table.columns) != self._met:  # further ones may come
            self._look()
        return list(islice((name for name, why in self._why_not.items() if not why), MOST_OTHER_COLUMNS))

    def left_out_in_words(self) -> Iterator[str]:
        """A sentence for the columns that are not kept, and why."""
        kept = set(self.names)
        left_out = {name: why for name, why in self._why_not.items() if name not in kept}
        if left_out:
            most = f"at most {MOST_OTHER_COLUMNS} are stored"
            reasons = "; ".join(dict.fromkeys(why or most for why in left_out.values()))
            were = counted(len(left_out), "column was", "columns were")
            yield f"{were} omitted ({reasons}): {listed(list(left_out), _MOST_SHOWN, quoted)}."

    def _look(self) -> None:
        """Which columns there are next to the known ones, and why one cannot be kept."""
        columns = self._table.columns
        counts = Counter(columns) if self._table.has_header else {}
        self._met = len(columns)
        for name in columns:
            if name not in self._known and name not in self._why_not:
                twice = counts.get(name, 1) > 1
                why = "" if self._table.holds_text(name) else "they contain bytes, not text"
                self._why_not[name] = "several have the same name" if twice else why
