"""Files that are known: published datasets, benchmarks and exports, each with how it is read.

Each has a file of its own in `known/`, with where it is published and documented, what tells it from every
other, and rows that try it. Knows: how such an entry is written. Does not know: how rows are read.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from engine.core.column_map import RECORDS, ColumnMap, label_column, targets
from engine.core.rubric import Rubric, default_criterion

_FOLDER = Path(__file__).parent / "known"
_OVERALL = "overall_quality"


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    published: str
    documentation: str
    looked_at: date
    needs: list[str]
    columns: dict[str, str]
    without: list[str] = []
    alone: bool = False
    labels: dict[str, str] = {}
    kind: str = "pairs"
    lost: str = ""
    rows: str = ""
    items: str = ""


@dataclass(frozen=True)
class Known:
    """One known kind of file.

    `published`, `documentation`: where; `looked_at`: when its documentation was read last. `kind`: "pairs",
    "outputs" of one model, or "verdicts" of another judge. `needs`: what its records have, each a source, or
    `source=kind of content`; `without`: what they do not have; `alone`: they have no columns but those of
    `needs`. `columns`, `labels`: as in a ColumnMap.
    `lost`: what is not read of it. `rows`, `items`: JSON Lines of records in its shape, and of the items they
    give.
    """

    slug: str
    name: str
    published: str
    documentation: str
    looked_at: date
    kind: str
    needs: tuple[str, ...]
    without: tuple[str, ...]
    alone: bool
    columns: Mapping[str, str]
    labels: Mapping[str, str]
    lost: str
    rows: str = field(repr=False)
    items: str = field(repr=False)

    def map_for(self, rubric: Rubric) -> ColumnMap:
        """How it is read for the criteria of a rubric; overall quality is the criterion that sums up."""
        overall = default_criterion(rubric.names)
        known = {*targets(rubric)}
        sources = {name.replace(_OVERALL, overall): source for name, source in self.columns.items()}
        kept = {name: source for name, source in sources.items() if label_column(name) in known}
        return ColumnMap.of(kept, self.labels)


def every_known() -> Sequence[Known]:
    """All of them, by name."""
    return _all()


@cache
def _all() -> tuple[Known, ...]:
    found = []
    for path in sorted(_FOLDER.glob("*.toml")):
        form = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _Form)
        found.append(
            Known(
                path.stem,
                form.name,
                form.published,
                form.documentation,
                form.looked_at,
                form.kind,
                tuple(form.needs),
                tuple(form.without),
                form.alone,
                form.columns,
                form.labels,
                form.lost,
                form.rows,
                form.items,
            )
        )
    return tuple(found)


def records_keys() -> frozenset[str]:
    """The keys of JSON objects under which the records of known files lie."""
    return frozenset(known.columns[RECORDS] for known in every_known() if RECORDS in known.columns)
