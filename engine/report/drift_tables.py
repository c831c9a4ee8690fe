"""What changed between two runs: what differs in how they were made, labels, probabilities, accuracy.

Knows: which columns stand side by side, and what they mean. Does not know: how changes are measured, where
they are shown.
"""

from collections.abc import Iterator, Sequence

from engine.core.formatting import counted, listed, without_middle, words
from engine.core.items import PREFERENCES
from engine.core.run_records import CHOSEN, SAMPLE
from engine.core.sheets import Facts, Part, Section, Sentences
from engine.core.value_tables import Column, Estimate, Kind, Row, Table, Value
from engine.measure.accuracy import label_name
from engine.measure.drift import Drift, LabelDrift, ThenAndNow
from engine.measure.rounding import Noise
from engine.report.columns import CRITERION

_MOST_MOVES = 12
_LONGEST = 120  # letters of a fact
_MEAN = "mean"

_DISTANCE = (
    "How far apart the probabilities of the four labels are, × 100: half the sum of the absolute differences,"
    " 0 where they are the same, 100 where nothing is left of them; with its 95 % interval."
)
_CHANGED = (
    CRITERION,
    Column("items", "items", Kind.COUNT, "How many items both runs judged."),
    Column(
        "changed",
        "labels changed, %",
        Kind.ESTIMATE,
        "The share of items with another label, with its 95 % interval; unscored counts as a label.",
    ),
    Column("distance", "probabilities moved, points", Kind.ESTIMATE, _DISTANCE),
)
_AGAIN = (
    Column(
        "changed_again",
        "by rounding, %",
        Kind.ESTIMATE,
        "The share of items with another label where the same judge reads them in another batch shape.",
    ),
    Column(
        "distance_again",
        "by rounding, points",
        Kind.ESTIMATE,
        "How far the probabilities moved there, as they were read.",
    ),
)
_UNSCORED = (
    Column("unscored_then", "unscored then", Kind.COUNT, "Judgments that the earlier run could not make."),
    Column("unscored_now", "unscored now", Kind.COUNT, "Judgments that the later run could not make."),
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
_CHANGE = (
    CRITERION,
    Column("items", "items", Kind.COUNT, "Of how many of these items it is known."),
    Column("then", "then", Kind.SHARE, "The share in the earlier run."),
    Column("now", "now", Kind.SHARE, "The share in the later run."),
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
        yield _made_otherwise(differences, drift.left_out)
    yield _changed(drift)
    if drift.whole.moved:
        shifts: list[Row] = [[_name(each), *map(each.shifts.get, PREFERENCES)] for each in _rows(drift)]
        title = "How much likelier each label became, in points"
        yield Section("shifts", title, [Table(_SHIFTS, shifts)])
    if drift.whole.moves:
        yield _moves(drift)
    flips = [(each, each.flips) for each in _rows(drift)]
    yield from _then_and_now("flips", "Flipped then and now", flips)
    right = [(each, each.accuracy) for each in _rows(drift)]
    yield from _then_and_now("accuracy_then_and_now", "Accuracy then and now", right)


def _made_otherwise(differences: Table, left_out: Sequence[str]) -> Section:
    untold = WHICH_ITEMS | {f"question, {words(name)}" for name in left_out}
    pairs = [
        (str(fact), f"{_short(then)} → {_short(now)}")
        for fact, differs, then, now in differences.rows
        if differs and fact not in untold
    ]
    part: Part = Facts(pairs) if pairs else Sentences(["Nothing that the store knows of."])
    return Section("made_otherwise", "What differs between the two runs", [part])


def _short(value: Value) -> str:
    return "-" if value is None else without_middle(str(value), _LONGEST)


def _changed(drift: Drift) -> Section:
    unscored = _UNSCORED if any(drift.whole.unscored) else ()
    again = _AGAIN if drift.whole.noise is not None else ()
    rows: list[Row] = [
        [
            _name(each),
            "" if each.criterion is None else each.items,
            each.changed,
            each.distance,
            *(_by_rounding(each.noise) if again else ()),
            *(each.unscored if unscored else ()),
        ]
        for each in _rows(drift)
    ]
    items = counted(drift.by_criterion[0].items, "item", "items")
    instructions = counted(drift.whole.instructions, "instruction", "instructions")
    said = [*drift.verdict, *filter(None, [drift.decided])]
    if drift.left_out:
        names = listed([words(name) for name in drift.left_out])
        said.append(f"Asked in one of the two runs alone, and not compared: {names}.")
    return Section(
        "drift",
        f"What changed from {drift.then} to {drift.now}",
        [Sentences(said), Table((*_CHANGED, *again, *unscored), rows)],
        f"The judge alone, on {items} of {instructions} that both judged. In brackets 95 % intervals over"
        " instructions.",
    )


def _by_rounding(noise: Noise | None) -> Row:
    if noise is None:
        return [None, None]
    moved = None if noise.distance is None else Estimate(noise.distance, None)
    return [Estimate(noise.changed / noise.labels, None), moved]


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


def _then_and_now(
    key: str, title: str, changes: Sequence[tuple[LabelDrift, ThenAndNow | None]]
) -> Iterator[Section]:
    """A share in both runs; nothing where it is not known."""
    rows: list[Row] = [
        [
            _name(each),
            "" if each.criterion is None else change.items,
            change.then,
            change.now,
            change.difference,
        ]
        for each, change in changes
        if change is not None
    ]
    if rows:
        yield Section(key, title, [Table(_CHANGE, rows)])


def _rows(drift: Drift) -> list[LabelDrift]:
    """The criteria, and below several what they are together."""
    return [*drift.by_criterion, *([drift.whole] if len(drift.by_criterion) > 1 else ())]


def _name(each: LabelDrift) -> str:
    return _MEAN if each.criterion is None else words(each.criterion)
