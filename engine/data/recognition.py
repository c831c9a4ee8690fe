"""Which known kind of file a file is, by what its first rows hold; which columns of foreign files are ours,
remembered by the set of a file's columns.

These are kept as `columns.json` in the data folder. Where that is damaged, or not there, nothing is
remembered.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.core.codec import plain_values
from engine.core.column_map import RECORDS, ColumnMap, annotators_of
from engine.data.catalogue import Known, every_known
from engine.data.column_content import Sample
from engine.data.column_source import SourceProblem, parse_source
from engine.data.column_words import EXPLANATIONS, is_id, plain_name
from engine.data.label_guess import may_be_label
from engine.system.files import make_folder, write_json
from engine.system.paths import data_folder


def known_as(sample: Sample) -> Known | None:
    """Which known file it is: the one of those that fit which needs most; None where two need as much."""
    fitting = [known for known in every_known() if _fits(sample, known)]
    # TRL's three columns are in many files: what needs more of a file says more of it.
    most = max((len(known.needs) for known in fitting), default=0)
    best = [known for known in fitting if len(known.needs) == most]
    return best[0] if len(best) == 1 else None


def _fits(sample: Sample, known: Known) -> bool:
    columns = {re.split(r"[.\[=]", need)[0] for need in known.needs}
    if known.alone and not {*sample.file_columns} <= columns:
        return False
    sources = [source for name, source in known.columns.items() if source and name != RECORDS]
    with suppress(SourceProblem):  # a column that the entry reads is not there
        list(_columns_read(sources, sample.columns))
        others = any(_has(sample, other) for other in known.without)
        return not others and all(_has(sample, need) for need in known.needs)
    return False


def unread(names: Iterable[str], columns: ColumnMap | None) -> list[str]:
    """Those of a file's columns that are not read for a column of ours with another name."""
    names = list(names)
    read: set[str] = set()
    for ours, source in columns.sources if columns is not None else ():
        with suppress(SourceProblem):
            read.update(_columns_read([source] if source not in ("", ours) else [], names))
    return [name for name in names if name not in read]


def _columns_read(sources: Iterable[str], columns: Collection[str]) -> Iterator[str]:
    """The columns of a file that sources read. SourceProblem where one is not there."""
    for source in sources:
        for text in annotators_of(source):
            yield from parse_source(text.removeprefix("-"), columns).columns


def _has(sample: Sample, need: str) -> bool:
    """Whether some of the first rows hold what is needed: `chosen`, `chosen=dialogue`, `score=number`."""
    source, _, kind = need.partition("=")
    try:
        found = sample.held(source)
    except SourceProblem:
        return False
    if not kind:
        return bool(found) or source in sample.columns
    return bool(found) and sample.kind_of(source) == kind


def holds_verdicts(sample: Sample) -> bool:
    """Whether a file without texts says what a judge preferred: a log that is known, or ids with verdicts."""
    known = known_as(sample)
    if known is not None:
        return known.kind == "verdicts" and known.labelled_by_model
    labels = [name for name in sample.columns if may_be_label(sample, name)]
    others = [name for name in sample.columns if not is_id(name) and name not in labels]
    texts = {plain_name(name) for name in others if sample.holds_texts(name)}
    has_id, own = any(map(is_id, sample.columns)), any(name.endswith("_preference") for name in labels)
    return has_id and bool(labels) and not own and texts <= {*EXPLANATIONS}


_MOST = 500  # maps; the oldest is forgotten


def remembered(columns: Collection[str]) -> ColumnMap | None:
    """The map for files with these columns, in whatever order; None where none is remembered."""
    key = _key(columns)
    return next((columns for names, columns in reversed(_all()) if names == key), None)


def remember(columns: Collection[str], column_map: ColumnMap) -> None:
    """Keep a map for files with these columns, in the place of an earlier one. Raises SetupError."""
    key = _key(columns)
    _keep([*(pair for pair in _all() if pair[0] != key), (key, column_map)])


def forget(columns: Collection[str]) -> None:
    """Keep no map for files with these columns. Raises SetupError."""
    key, known = _key(columns), _all()
    left = [pair for pair in known if pair[0] != key]
    if len(left) < len(known):
        _keep(left)


def _path() -> Path:
    return data_folder() / "columns.json"


def _key(columns: Collection[str]) -> list[str]:
    # In whatever order a file has them: the next one of its kind may have another.
    return sorted(set(columns))


def _keep(pairs: list[tuple[list[str], ColumnMap]]) -> None:
    make_folder(_path().parent)
    write_json(_path(), [{"file": names, **columns.as_json()} for names, columns in pairs[-_MOST:]])


def _all() -> list[tuple[list[str], ColumnMap]]:
    entries: Any = []
    with suppress(OSError, ValueError):
        entries = plain_values(_path().read_bytes())
    found = []
    for entry in entries if isinstance(entries, list) else []:
        columns = ColumnMap.of_json(entry)
        names = entry.get("file") if columns is not None else None
        if columns is not None and isinstance(names, list) and all(isinstance(name, str) for name in names):
            found.append((names, columns))
    return found
