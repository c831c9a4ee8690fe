"""What changed between two runs: what differs in how they were made, labels, probabilities, accuracy."""

from collections.abc import Iterator

from engine.analysis.wording_diff import wording_diff
from engine.core.formatting import counted, listed, without_middle, words
from engine.core.items import PREFERENCES
from engine.core.tables import Column, Estimate, Facts, Kind, Part, Row, Section, Sentences, Table, Value
from engine.metrics.accuracy import label_name
from engine.metrics.drift import Drift, LabelDrift, Noise
from engine.report.columns import CRITERION
from engine.settings.identity import CHOSEN, SAMPLE

_MOST_MOVES = 12
_LONGEST = 120  # letters of a fact
_MEAN = "mean"

_DISTANCE = (
    "The total variation distance between the probabilities of the four labels, × 100 (0: equal, 100:"
    " disjoint), with its 95 % interval."
)
_CHANGED = (
    CRITERION,
    Column("items", "items", Kind.COUNT, "How many items both runs judged."),
    Column("changed", "labels changed, %", Kind.ESTIMATE).means(
        "The share of items whose label changed, with its 95 % interval; unscored counts as a label."
    ),
    Column("distance", "probability change, points", Kind.ESTIMATE, _DISTANCE),
)
_REPEAT = (
    Column("changed_again", "by rounding, %", Kind.ESTIMATE).means(
        "The share of items whose label changes if the same judge reads them in another batch shape."
    ),
    Column(
        "distance_again", "by rounding, points", Kind.ESTIMATE, "The change of the raw probabilities there."
    ),
)
_UNSCORED = (
    Column("unscored_then", "unscored then", Kind.COUNT, "Judgments that are unscored in the earlier run."),
    Column("unscored_now", "unscored now", Kind.COUNT, "Judgments that are unscored in the later run."),
)
_SHIFTS = (
    CRITERION,
    *(
        Column(label.value, label.value, Kind.ESTIMATE).means(
            f"The mean change of the probability of “{words(label)}”, in percentage points, with its 95 %"
            " interval."
        )
        for label in PREFERENCES
    ),
)
_MOVES = (
    CRITERION,
    Column("then", "then", Kind.TEXT, "The label of the earlier run."),
    Column("now", "now", Kind.TEXT, "The label of the later run."),
    Column("labels", "labels", Kind.COUNT, "How many labels changed in this way."),
)
_CHANGE = (
    CRITERION,
    Column("items", "items", Kind.COUNT, "For how many of these items it is known."),
    Column("then", "then", Kind.SHARE, "The share in the earlier run."),
    Column("now", "now", Kind.SHARE, "The share in the later run."),
    Column("change", "change", Kind.ESTIMATE, "The difference in percentage points, with its 95 % interval."),
)
_GUIDELINES = (
    CRITERION,
    Column("moved", "labels changed, %", Kind.ESTIMATE, "The share of items whose label changed."),
    Column("noise", "by order, %", Kind.ESTIMATE).means(
        "How often the judge's label changes with the order of the responses, as a mean of both runs."
    ),
    Column("beyond", "difference", Kind.ESTIMATE, "The first minus the second, with its 95 % interval."),
    Column("clause", "clause", Kind.TEXT, "A part of the wording that differs."),
    Column("was", "was", Kind.TEXT, "Passages of the earlier run alone; letter case does not count."),
    Column("now", "now", Kind.TEXT, "Passages of the later run alone."),
    Column("about", "its label", Kind.TEXT, "The label that the clause describes, if it describes one."),
    Column("moves", "changes", Kind.COUNT, "Labels changed on the criterion, to or from that label."),
)
WHICH_ITEMS = frozenset(
    ("items", "dataset, SHA-256", words(CHOSEN), words(SAMPLE), "instructions in a random order")
)
"""Facts that identify the items of a run: drift is measured on the items that both runs judged."""


def drift_sections(drift: Drift, differences: Table | None = None) -> Iterator[Section]:
    """What changed between two runs. `differences`: the facts of both, unless they are told elsewhere."""
    if differences is not None:
        untold = WHICH_ITEMS | {f"question, {words(name)}" for name in drift.left_out}
        pairs = [
            (str(fact), f"{_short(then)} → {_short(now)}")
            for fact, differs, then, now in differences.rows
            if differs and fact not in untold
        ]
        part: Part = Facts(pairs) if pairs else Sentences(["Nothing that the run store records."])
        yield Section("made_otherwise", "What differs between the two runs", [part])
    yield _changed(drift)
    if drift.guidelines:
        yield guidelines_section(drift)
    if drift.whole.moved:
        shifts: list[Row] = [[_name(each), *map(each.shifts.get, PREFERENCES)] for each in _rows(drift)]
        title = "Change of each label's probability, in points"
        yield Section("shifts", title, [Table(_SHIFTS, shifts)])
    if drift.whole.moves:
        moves = [(count, each, move) for each in drift.by_criterion for move, count in each.moves.items()]
        moves.sort(key=lambda found: -found[0])
        most: list[Row] = [
            [_name(each), label_name(then), label_name(now), count]
            for count, each, (then, now) in moves[:_MOST_MOVES]
        ]
        rest = counted(sum(count for count, *_ in moves[_MOST_MOVES:]), "other label", "other labels")
        rarer = [Sentences([f"{rest} changed in rarer ways."])] if len(moves) > _MOST_MOVES else []
        yield Section("moves", "Label changes", [Table(_MOVES, most), *rarer])
    for key, title, of in (
        ("flips", "Flip rate then and now", "flips"),
        ("accuracy_then_and_now", "Accuracy then and now", "accuracy"),
    ):
        rows: list[Row] = [
            [_name(each), change.items if each.criterion else "", change.then, change.now, change.difference]
            for each in _rows(drift)
            if (change := getattr(each, of)) is not None
        ]
        if rows:
            yield Section(key, title, [Table(_CHANGE, rows)])


def _short(value: Value) -> str:
    return "-" if value is None else without_middle(str(value), _LONGEST)


def _changed(drift: Drift) -> Section:
    unscored = _UNSCORED if any(drift.whole.unscored) else ()
    again = _REPEAT if drift.whole.noise is not None else ()
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
        said.append(f"Judged in only one of the two runs, so not compared: {names}.")
    return Section(
        "drift",
        f"Drift from {drift.then} to {drift.now}",
        [Sentences(said), Table((*_CHANGED, *again, *unscored), rows)],
        f"The judge only, without overrides, on {items} of {instructions} that both runs judged."
        " Brackets: 95 % intervals over instructions.",
    )


def _by_rounding(noise: Noise | None) -> Row:
    if noise is None:
        return [None, None]
    moved = None if noise.distance is None else Estimate(noise.distance, None)
    return [Estimate(noise.changed / noise.labels, None), moved]


def guidelines_section(drift: Drift) -> Section:
    """Which labels moved with a wording, of a `drift` that has guidelines."""
    said = [
        f"{words(each.criterion).capitalize()}: labels moved with the wording significantly more than the"
        f" judge differs between its own two orders, by {each.beyond} points."
        for each in drift.guidelines
        if each.is_beyond
    ]
    if not said:
        said = ["Labels did not move significantly more than the judge differs between its own two orders."]
    if any(len(each.clauses) > 1 for each in drift.guidelines):
        said.append("Several clauses changed at once: two runs cannot tell which of them moved a label.")
    rows: list[Row] = []
    for each in drift.guidelines:
        shares: Row = [words(each.criterion), each.moved, each.noise, each.beyond]
        rows += [] if each.clauses else [[*shares, "", "", "", "", None]]
        for clause, moves in each.clauses:
            diff = wording_diff(clause.then, clause.now)
            sides = ((clause.then, diff.a.own), (clause.now, diff.b.own))
            texts = [_short(" … ".join(text[start:end] for start, end in own)) for text, own in sides]
            about = "" if clause.about is None else words(clause.about)
            rows.append([*shares, clause.title, *texts, about, moves])
    title, where = "What the wording changed", "The judge only, on items that both runs read in both orders."
    return Section("guidelines", title, [Sentences(said), Table(_GUIDELINES, rows)], where)


def _rows(drift: Drift) -> list[LabelDrift]:
    return [*drift.by_criterion, *([drift.whole] if len(drift.by_criterion) > 1 else ())]


def _name(each: LabelDrift) -> str:
    return _MEAN if each.criterion is None else words(each.criterion)
