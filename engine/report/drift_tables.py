"""What changed between two runs: what differs in how they were made, labels, probabilities, accuracy.

Knows: which columns stand side by side, and what they mean. Does not know: how changes are measured, where
they are shown.
"""

from collections.abc import Iterator
from dataclasses import replace

from engine.core.formatting import counted, listed, words
from engine.core.items import PREFERENCES
from engine.core.run_records import CHOSEN, SAMPLE
from engine.core.sheets import Part, Section, Sentences, Tone
from engine.core.value_tables import Column, Kind, Row, Table
from engine.measure.accuracy import label_name
from engine.measure.drift import Change, Drift, LabelDrift
from engine.report.columns import CRITERION

_MOST_MOVES = 12
_MEAN = "mean"

_DISTANCE = (
    "How far apart the probabilities of the four labels are, × 100: half the sum of the absolute differences,"
    " 0 where they are the same, 100 where nothing is left of them; with its 95 % interval."
)
_CHANGED = (
    CRITERION,
    Column("items", "items", Kind.COUNT, "How many items both runs judged; in the mean, how many labels."),
    Column(
        "changed",
        "labels changed, %",
        Kind.ESTIMATE,
        "The share of items with another label, with its 95 % interval; unscored counts as a label.",
    ),
    Column("distance", "probabilities moved, points", Kind.ESTIMATE, _DISTANCE),
    Column("unscored_then", "unscored then", Kind.COUNT, "Judgments that the earlier run could not make."),
    Column("unscored_now", "now", Kind.COUNT, "Judgments that the later run could not make."),
)
_FLIPS = (
    Column(
        "flipped_then", "flipped then", Kind.SHARE, "The share that the order decided in the earlier run."
    ),
    Column("flipped_now", "now", Kind.SHARE, "The share that the order decides in the later run."),
    Column("flipped_change", "change", Kind.ESTIMATE, "The difference, in points, with its 95 % interval."),
)
_SHIFTS = (
    CRITERION,
    *(
        Column(
            label.value,
            label.value,
            Kind.ESTIMATE,
            f"By how many points “{words(label)}” became likelier on average, with its 95 % interval.",
        )
        for label in PREFERENCES
    ),
)
_MOVES = (
    CRITERION,
    Column("then", "then", Kind.TEXT, "The label of the earlier run."),
    Column("now", "now", Kind.TEXT, "The label of the later run."),
    Column("labels", "labels", Kind.COUNT, "How many labels changed so."),
)
_ACCURACY = (
    CRITERION,
    Column("labels", "labels", Kind.COUNT, "How many of these items have a human label."),
    Column("then", "then", Kind.SHARE, "The share of them that the earlier run gives, too."),
    Column("now", "now", Kind.SHARE, "The share of them that the later run gives, too."),
    Column("change", "change", Kind.ESTIMATE, "The difference, in points, with its 95 % interval."),
)
WHICH_ITEMS = frozenset(
    ("items", "dataset, SHA-256", words(CHOSEN), words(SAMPLE), "instructions in a random order")
)
"""Facts that say which items a run judged: of two runs, what changed is told of those that both judged."""


def drift_sections(drift: Drift, differences: Table | None = None) -> Iterator[Section]:
    """What changed between two runs. `differences`: the facts of both, as `run_differences` tells them; None
    where they are told elsewhere.
    """
    if differences is not None:
        yield _made_otherwise(differences)
    yield _changed(drift)
    if drift.whole.moved:
        rows = [[_name(each), *(each.shifts.get(label) for label in PREFERENCES)] for each in _rows(drift)]
        yield Section(
            "shifts",
            "How much likelier each label became, in points",
            [Table(_SHIFTS, rows)],
            spelt_out=True,
        )
    if drift.whole.moves:
        yield _moves(drift)
    if drift.whole.accuracy is not None:
        yield _accuracy(drift)


def _made_otherwise(differences: Table) -> Section:
    fact, _differs, first, other = differences.columns
    rows = [
        [row[0], *row[2:]] for row in differences.rows if row[1] is True and str(row[0]) not in WHICH_ITEMS
    ]
    columns = (fact, replace(first, title="then"), replace(other, title="now"))
    part: Part = Table(columns, rows) if rows else Sentences(["Nothing that is known of them."])
    return Section("made_otherwise", "What differs between the two runs", [part])


def _changed(drift: Drift) -> Section:
    flips = any(each.flips for each in _rows(drift))
    columns = (*_CHANGED, *(_FLIPS if flips else ()))
    rows: list[Row] = [
        [
            _name(each),
            each.items,
            each.changed,
            each.distance,
            *each.unscored,
            *(_of_change(each.flips) if flips else ()),
        ]
        for each in _rows(drift)
    ]
    items = counted(drift.by_criterion[0].items, "item", "items")
    instructions = counted(drift.whole.instructions, "instruction", "instructions")
    said = [*drift.verdict, *filter(None, [drift.decided])]
    if drift.left_out:
        names = listed([words(name) for name in drift.left_out])
        said.append(f"Asked in one of the two runs alone, and not compared: {names}.")
    tone = Tone.CAVEAT if drift.labels_surely_changed or drift.whole.accuracy_moved < 0 else Tone.PLAIN
    return Section(
        "drift",
        f"What changed from {drift.then} to {drift.now}",
        [Sentences(said, tone), Table(columns, rows)],
        f"The judge alone, on {items} of {instructions} that both judged. In brackets 95 % intervals over"
        " instructions.",
        help=("drift",),
        spelt_out=True,
    )


def _moves(drift: Drift) -> Section:
    moves = [(count, each, move) for each in drift.by_criterion for move, count in each.moves.items()]
    moves.sort(key=lambda found: -found[0])
    rows: list[Row] = [
        [_name(each), label_name(move[0]), label_name(move[1]), count]
        for count, each, move in moves[:_MOST_MOVES]
    ]
    parts: list[Part] = [Table(_MOVES, rows)]
    if rest := sum(count for count, *_ in moves[_MOST_MOVES:]):
        parts.append(Sentences([f"{counted(rest, 'other label', 'other labels')} changed in rarer ways."]))
    return Section("moves", "From which label to which", parts)


def _accuracy(drift: Drift) -> Section:
    rows: list[Row] = []
    for each in _rows(drift):
        if (found := each.accuracy) is not None:
            rows.append([_name(each), found.items, *_of_change(found)])
    return Section("accuracy_then_and_now", "Accuracy then and now", [Table(_ACCURACY, rows)], spelt_out=True)


def _of_change(change: Change | None) -> Row:
    return [None] * 3 if change is None else [change.then, change.now, change.difference]


def _rows(drift: Drift) -> list[LabelDrift]:
    """The criteria, and below several what they are together."""
    return [*drift.by_criterion, *([drift.whole] if len(drift.by_criterion) > 1 else ())]


def _name(each: LabelDrift) -> str:
    return _MEAN if each.criterion is None else words(each.criterion)
