"""What a run says by itself, in all its elicitation methods and in each alone, and how often that is right.

Knows: which columns stand side by side, and what they mean. Does not know: terminals, windows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from engine.core.formatting import words
from engine.core.items import PREFERENCES, Order, Preference
from engine.core.judgments import AnyJudgment, Judgment, Unscored
from engine.core.measure_words import best_of
from engine.core.sheets import Section, Sentences, Tone
from engine.core.value_tables import Column, Kind, Row, Table
from engine.data.dataset import Dataset
from engine.decisions.run_results import ALL_METHODS, RunResults
from engine.measure.accuracy import Accuracy, accuracy_by_method, mean, mean_accuracy
from engine.measure.choosing import cost_of_choosing
from engine.measure.intervals import Interval
from engine.measure.label_counts import LabelCounts, count_run
from engine.report.columns import (
    ACCURACY,
    ANSWER_MASS,
    CRITERION,
    FLIPPED,
    LABELS,
    LABELS_GIVEN,
    MOST_FREQUENT,
    SHARE_INTERVAL,
    with_both_orders,
)

_DISTRIBUTION = (CRITERION, *LABELS_GIVEN, FLIPPED, replace(ANSWER_MASS, least=0.001))
_RUN_ACCURACY = (
    CRITERION,
    LABELS,
    ACCURACY,
    SHARE_INTERVAL,
    replace(MOST_FREQUENT, title="most-frequent-label baseline"),
    Column("label", "label", Kind.TEXT, "The most frequent human label."),
)
_CHANGES = (
    CRITERION,
    Column("calibrated", "calibrated?", Kind.FLAG, "Whether the calibration decides this criterion."),
    Column("items", "items", Kind.COUNT, "How many items of the run were judged on this criterion."),
    Column(
        "changed", "labels changed", Kind.COUNT, "How many of the judge's labels the calibration changes."
    ),
    Column(
        "place_decides",
        "flip rate",
        Kind.SHARE,
        "The share of labels that depend on which response is A, of those read in both orders: 0 if the"
        " calibration treats A and B alike.",
    ),
    Column(
        "one_label",
        "one label",
        Kind.TEXT,
        "The label that every item of the run gets with it; empty if there are several.",
    ),
)
_UNSCORED = (
    Column("item", "item", Kind.TEXT, "The id of the item."),
    CRITERION,
    Column("reason", "reason", Kind.TEXT, "Why it is unscored."),
    Column("label", "human override", Kind.TEXT, "The human override, if any."),
)

_METHOD = Column(
    "way",
    "method",
    Kind.NAME,
    "The elicitation method. A method's labels are from its raw predictions only, without calibration.",
)
_JUDGE = replace(_METHOD, title="judge", meaning="The judge of the jury, by its number and name.")
_OF_METHODS = (
    "The labels of the judge by each elicitation method, and by all methods combined: without"
    " calibration and without human overrides."
)
_OF_JUDGES = (
    "The labels of each judge of the jury, by its number, and of all combined by the mean of their"
    " log-probabilities: without calibration and without human overrides."
)

AccuracyByMethod = Mapping[str, Mapping[str, Accuracy]]
"""By method (all combined, too) and criterion."""


def labels_given_section(results: RunResults) -> Section:
    """The labels of a run, without a dataset of human labels."""
    return Section(
        "labels_given",
        "Labels given",
        [distribution_table(count_run(results)), *_missing(results)],
        "The effective labels. Flip rate: the share of position-inconsistent judgments, where the label"
        " changes if the responses are swapped. Answer mass near 1: the model understood the question.",
    )


def _missing(results: RunResults) -> Iterator[Sentences]:
    if results.judges_missing_sentence:
        yield Sentences([results.judges_missing_sentence], Tone.CAVEAT)


def distribution_table(counts: Sequence[LabelCounts]) -> Table:
    """The effective labels of each criterion, how often the order decided, and the answer mass."""
    partly = any(count.partly_in_both_orders for count in counts)
    rows: list[Row] = [
        [
            words(count.criterion),
            *(count.predicted.get(label, 0) for label in PREFERENCES),
            count.unscored,
            count.flipped,
            *([count.in_both_orders] if partly else []),
            count.answer_mass,
        ]
        for count in counts
    ]
    return Table(with_both_orders(_DISTRIBUTION) if partly else _DISTRIBUTION, rows)


def run_accuracy_table(accuracies: Mapping[str, Accuracy]) -> Table:
    """The accuracy of each criterion, next to that of the most frequent label, and their means."""
    rows: list[Row] = [
        [words(name), found.items, found.share, found.interval, found.baseline, found.most_frequent]
        for name, found in accuracies.items()
    ]
    shares = mean([found.share for found in accuracies.values()])
    baselines = mean([found.baseline for found in accuracies.values()])
    return Table(_RUN_ACCURACY, [*rows, ["mean", "", shares, _of_mean(accuracies), baselines, ""]])


def _of_mean(accuracies: Mapping[str, Accuracy]) -> Interval | None:
    found = mean_accuracy(accuracies)
    return found.share_interval() if found else None


def changes_section(before: RunResults, after: RunResults) -> Section:
    """What another calibration of the same run does to its labels."""
    said = after.fit_in_words
    return Section(
        "changes",
        "Labels that the calibration changes",
        [changes_table(before, after), *([Sentences([said])] if said else [])],
    )


def changes_table(before: RunResults, after: RunResults) -> Table:
    """How many of the judge's own labels another calibration of the same run changes."""
    rows: list[Row] = []
    for name, column in after.judgments.items():
        pairs = zip(column, before.judgments[name], strict=True)
        changed = sum(_own_label(judgment) is not _own_label(other) for judgment, other in pairs)
        used = after.calibration is not None and name in after.calibration.criteria
        one = after.one_labels.get(name)
        moved = [each.place_decides for each in column if isinstance(each, Judgment)]
        share = mean([each for each in moved if each is not None])
        rows.append([words(name), used, len(column), changed, share, one.in_words if one else ""])
    return Table(_CHANGES, rows)


def _own_label(judgment: AnyJudgment) -> Preference | None:
    return None if isinstance(judgment, Unscored) else judgment.preference


def unscored_table(results: RunResults) -> Table:
    """What could not be judged, with the reason and what an annotator gave instead, if anything."""
    rows: list[Row] = []
    for index in range(len(results.judged)):
        for column in results.judgments.values():
            judgment = column[index]
            if isinstance(judgment, Unscored):
                rows.append([judgment.item_id, judgment.criterion, judgment.reason, results.label(judgment)])
    item, criterion, *others = _UNSCORED
    criterion = replace(criterion, instead={name: words(name) for name in results.run.identity.criteria})
    return Table((item, criterion, *others), rows)


def method_sections(results: RunResults | None, dataset: Dataset | None = None) -> list[Section]:
    """The methods of a run, compared with the labels of a dataset; none where there is one method."""
    by_method = results.by_method() if results else {}
    right = accuracy_by_method(by_method, dataset)
    table = method_table(by_method, right)
    if table is None:
        return []
    what = "judges" if results is not None and results.run.panel else "ways"
    # All together is what a run decides by: it was not chosen.
    alone = [mean_accuracy(found) for name, found in right.items() if name != ALL_METHODS]
    chosen = best_of(what, cost_of_choosing(alone))
    parts = [table, *([Sentences(chosen)] if chosen else ())]
    if results is not None and results.run.panel:
        return [Section("ways", "By judge of the jury", parts, _OF_JUDGES)]
    return [Section("ways", "By elicitation method", parts, _OF_METHODS)]


def method_table(by_method: Mapping[str, RunResults], right: AccuracyByMethod) -> Table | None:
    """A row for all methods of a run combined, and one for each; None for a run of one method.

    `by_method`: what `RunResults.by_method` gave. `right`: as `accuracy_by_method` gives it: how often the
    model's own labels are the human ones, where there are any. What annotators overrode takes no part.
    """
    if not by_method:
        return None
    criteria = tuple(right[ALL_METHODS])
    method = _JUDGE if by_method[ALL_METHODS].run.panel else _METHOD
    columns = (
        method,
        *((ACCURACY, SHARE_INTERVAL) if criteria else ()),
        *(Column(name, words(name), Kind.SHARE, f"The accuracy on {words(name)}.") for name in criteria),
        *((FLIPPED,) if Order.BA.value in by_method[ALL_METHODS].run.identity.settings["orders"] else ()),
        ANSWER_MASS,
    )
    rows = [_row(name, right[name], count_run(each), columns) for name, each in by_method.items()]
    return Table(columns, rows)


def _row(
    name: str, right: Mapping[str, Accuracy], counts: list[LabelCounts], columns: tuple[Column, ...]
) -> Row:
    shares = {criterion: found.share for criterion, found in right.items()}
    values = {
        **shares,
        _METHOD.key: name,
        ACCURACY.key: mean(list(shares.values())),
        SHARE_INTERVAL.key: _of_mean(right),
        FLIPPED.key: mean([count.flipped for count in counts if count.flipped is not None]),
        ANSWER_MASS.key: mean([count.answer_mass for count in counts if count.answer_mass is not None]),
    }
    return [values[column.key] for column in columns]
