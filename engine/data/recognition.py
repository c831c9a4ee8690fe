"""Which known kind of file a file is, by what its first rows hold."""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from engine.core.column_map import RECORDS, ColumnMap, annotators_of
from engine.data.catalogue import Known, every_known
from engine.data.column_content import Sample
from engine.data.column_source import SourceProblem, parse_source
from engine.data.column_words import EXPLANATIONS, is_id, plain_name
from engine.data.label_guess import may_be_label


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
    return (
        all(_has(sample, need) for need in known.needs)
        and not any(_has(sample, other) for other in known.without)
        and _can_be_read(sample, known)
    )


def _can_be_read(sample: Sample, known: Known) -> bool:
    """Whether the file has all columns that the entry reads."""
    sources = [source for name, source in known.columns.items() if source and name != RECORDS]
    try:
        list(_columns_read(sources, sample.columns))
    except SourceProblem:
        return False
    return True


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
