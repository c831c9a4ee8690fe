"""Which judgments may stand: tables and sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

from engine.core.formatting import counted, percent, words
from engine.core.tables import Column, Estimate, Kind, Row, Section, Sentences, Table
from engine.metrics.trust import CriterionTrust, Trust
from engine.report import columns

_NOTE = (
    "A label may stand where its confidence is at least the threshold. The thresholds are tenths of all"
    " judged items. Each is tested on labels of items that were drawn at random. The risk: that a threshold"
    " is taken whose labels agree with people less often than the target, for each criterion by itself."
)
_TAKEN = (
    columns.CRITERION,
    Column("confidence", "threshold", Kind.NUMBER, "The lowest confidence of a label that may stand.", 3),
    Column("accepted", "may stand", Kind.SHARE, "The share of all judged items whose label may stand."),
    Column("labels", "labels", Kind.COUNT, "The human labels of these items."),
    Column("agreement", "agreement (%)", Kind.ESTIMATE).means(
        "How often the human labels of these items agree with the judge's, with the 95 % interval."
    ),
    Column("most_frequent", "most-frequent label (%)", Kind.ESTIMATE).means(
        "How often their most frequent human label would agree: a judge that says only this is as good."
    ),
)
_TESTED = (
    *_TAKEN[:5],
    Column(
        "p", "p", Kind.NUMBER, "How probable so much agreement is if the true one is below the target.", 4
    ),
    Column("level", "level", Kind.NUMBER, "The test is passed if p is no larger; empty: too few labels.", 4),
    Column("passed", "passed?", Kind.FLAG, "Whether all labels from this confidence on may stand."),
)


def trust_sections(found: Mapping[str, CriterionTrust]) -> list[Section]:
    taken = Table(_TAKEN, [_taken_row(name, of_one) for name, of_one in found.items()])
    sentences = [said for name, of_one in found.items() for said in _sentences(name, of_one)]
    tested: list[Row] = [
        [
            words(name),
            each.confidence,
            each.accepted,
            each.labels,
            each.agreement,
            each.p,
            each.level,
            each.passed,
        ]
        for name, of_one in found.items()
        for each in of_one.trust.thresholds
    ]
    return [
        Section("trust", "Which labels may stand", [Sentences(sentences), taken], _NOTE),
        Section("thresholds", "Each threshold", [Table(_TESTED, tested)]),
    ]


def _taken_row(name: str, of_one: CriterionTrust) -> Row:
    taken = of_one.trust.taken
    if taken is None:
        return [words(name), None, 0.0, None, None, None]
    return [
        *(words(name), taken.confidence, taken.accepted, taken.labels, taken.agreement),
        of_one.most_frequent,
    ]


def _sentences(name: str, of_one: CriterionTrust) -> Iterator[str]:
    trust, taken = of_one.trust, of_one.trust.taken
    target, risk = percent(trust.target), percent(trust.risk)
    labels = counted(trust.labels, "label", "labels")
    if taken is not None:
        yield (
            f"On {words(name)}, {percent(taken.accepted)} of the labels may stand: at least {target} of them"
            f" agree with people, at a risk of {risk}, by {labels}."
        )
    else:
        yield (
            f"On {words(name)}, trust no label yet: no threshold passed its test, by {labels}. {_more(trust)}"
        )
    if of_one.picked:
        picked = counted(of_one.picked, "label of an item", "labels of items")
        yield f"{picked} that annotators picked count for nothing here: they are no random sample."


def _more(trust: Trust) -> str:
    if trust.more_labels is None:
        return "More labels would change nothing if agreement stays as seen: it is not above the target."
    more = counted(trust.more_labels, "more label", "more labels")
    return f"About {more} would be needed if agreement stays as seen."


def trust_json(found: Mapping[str, CriterionTrust]) -> dict[str, Any]:
    """By criterion; shares and confidences from 0 to 1."""
    return {name: _criterion_json(of_one) for name, of_one in found.items()}


def _criterion_json(of_one: CriterionTrust) -> dict[str, Any]:
    trust, taken = of_one.trust, of_one.trust.taken
    return {
        "target": trust.target,
        "risk": trust.risk,
        "labels": trust.labels,
        "picked_labels": of_one.picked,
        "threshold": taken.confidence if taken else None,
        "accepted": taken.accepted if taken else 0.0,
        "agreement": _estimate(taken.agreement if taken else None),
        "most_frequent_label": _estimate(of_one.most_frequent),
        "more_labels": None if taken else trust.more_labels,
        "thresholds": [
            {
                "confidence": each.confidence,
                "accepted": each.accepted,
                "labels": each.labels,
                "agreement": _estimate(each.agreement),
                "p": each.p,
                "level": each.level,
                "passed": each.passed,
            }
            for each in trust.thresholds
        ],
    }


def _estimate(found: Estimate | None) -> dict[str, Any] | None:
    return None if found is None else {"share": found.value, "interval": found.ends}
