"""Files that are known: published datasets, benchmarks and exports, each with how it is read.

Each has a file of its own in `known/`, with where it is published and documented, what tells it from every
other, and rows that try it. Knows: how such an entry is written. Does not know: how rows are read.
"""

import tomllib
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from engine.core.column_map import RECORDS, ColumnMap, label_column, targets
from engine.core.rubric import Rubric, overall_criterion

_FOLDER = Path(__file__).parent / "known"
_OVERALL = "overall_quality"


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One known kind of file, as its file in `known/` says it; `slug`: the name of that file.

    `published`, `documentation`: where; `looked_at`: when its documentation was read last. `needs`: what its
    records have, each a source, or `source=kind of content`; `without`: what they do not have; `alone`: they
    have no columns but those of `needs`. `columns`, `labels`: as in a ColumnMap. `kind`: "pairs", "outputs"
    of one model, "verdicts" without texts, or "refused". `labelled_by_model`: the labels are a model's.
    `lost`: what is not read. `rows`, `items`: JSON Lines of records in its shape, and of the items they give.
    """

    slug: str
    name: str
    published: str
    documentation: str
    looked_at: date
    needs: tuple[str, ...]
    columns: dict[str, str]
    without: tuple[str, ...] = ()
    alone: bool = False
    labels: dict[str, str] = {}
    kind: str = "pairs"
    labelled_by_model: bool = False
    lost: str = ""
    rows: str = ""
    items: str = ""

    def map_for(self, rubric: Rubric, overall: str = "") -> ColumnMap:
        """How it is read for the criteria of a rubric. `overall`: the one that labels of overall quality are
        on, if not that of `overall_criterion`.
        """
        overall = overall or overall_criterion(rubric.names)
        known = {*targets(rubric)}
        sources = {name.replace(_OVERALL, overall): source for name, source in self.columns.items()}
        kept = {name: source for name, source in sources.items() if label_column(name) in known}
        return ColumnMap.of(kept, self.labels)


@cache
def every_known() -> tuple[Known, ...]:
    """All of them, by the names of their files."""
    files = ((path.stem, path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("*.toml")))
    return tuple(msgspec.convert({"slug": slug, **tomllib.loads(text)}, Known) for slug, text in files)


def records_keys() -> frozenset[str]:
    """The keys of JSON objects under which the records of known files lie."""
    return frozenset(known.columns[RECORDS] for known in every_known() if RECORDS in known.columns)
